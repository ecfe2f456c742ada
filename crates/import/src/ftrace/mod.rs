// SPDX-License-Identifier: GPL-2.0-or-later
//! ftrace text, as `cat /sys/kernel/tracing/trace`, `trace_pipe` and `trace-cmd report` print it.
//!
//! ```text
//!  bytes ──line──▶ who, where, when, what ──event──▶ fields ──tracker──▶ idle periods per CPU
//! ```

mod fields;
mod line;

use std::io::BufRead;

use idlelab_recording::{Note, NoteKind, Recording};

use crate::ImportError;
use crate::tracker::Tracker;
use line::Line;

/// The longest line that is kept. The kernel prints no more than a page per event.
const LONGEST_LINE: usize = 1 << 16;

/// Reads a whole trace.
pub(crate) fn read(mut source: impl BufRead, name: &str) -> Result<Recording, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let mut reader = Reader::default();
    let mut carried = Vec::new();
    loop {
        let buffer = source.fill_buf().map_err(failed)?;
        if buffer.is_empty() {
            break;
        }
        let length = buffer.len();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', buffer) {
            let line = buffer.get(start..end).unwrap_or_default();
            if carried.is_empty() {
                reader.line(line);
            } else {
                carried.extend_from_slice(line);
                reader.line(&carried);
                carried.clear();
            }
            start = end + 1;
        }
        let rest = buffer.get(start..).unwrap_or_default();
        // What is beyond the longest line is dropped, so that a file without line ends cannot
        // fill the memory; the line then counts as unknown.
        let room = LONGEST_LINE.saturating_sub(carried.len()).min(rest.len());
        carried.extend_from_slice(rest.get(..room).unwrap_or_default());
        source.consume(length);
    }
    reader.last_line(&carried);
    reader.finish(name)
}

/// How many lines a mail's wrapping makes of one, and how long they may be together, in bytes.
const WRAPPED_LINES: u32 = 6;
const WRAPPED_LENGTH: usize = 1 << 10;

/// Counts lines and hands their events to the tracker.
#[derive(Default)]
struct Reader {
    tracker: Tracker,
    lines: u64,
    events: u64,
    unknown_lines: u64,
    incomplete_events: u64,
    overwritten: u64,
    cut: bool,
    without_time: u64,
    first_without_time: Option<u64>,
    first_raw: Option<u64>,
    wrapped: Wrapped,
}

/// The beginning of an event that the following lines may complete: mail programs wrap lines.
#[derive(Default)]
struct Wrapped {
    text: Vec<u8>,
    lines: u32,
    /// Whether it is an event that lacks a field, or no event yet.
    is_event: bool,
}

impl Reader {
    fn line(&mut self, text: &[u8]) {
        self.lines += 1;
        let line = line::parse(text);
        if self.wrapped.lines > 0 && self.wrapped_line(text, line) {
            return;
        }
        match line {
            Line::Event(found) => {
                if !self.event(found) {
                    self.hold(text, true);
                }
            }
            Line::Lost { cpu, events } => self.tracker.lost(cpu, events),
            Line::Overwritten { events } => self.overwritten += events,
            Line::NoTime => {
                self.without_time += 1;
                self.first_without_time.get_or_insert(self.lines);
            }
            Line::Raw => {
                self.first_raw.get_or_insert(self.lines);
                self.unknown_lines += 1;
            }
            Line::Comment => {}
            Line::Unknown => self.hold(text, false),
        }
    }

    /// Takes an event, unless it lacks a field.
    fn event(&mut self, found: line::Event<'_>) -> bool {
        let Some(event) = fields::parse(found.name, found.arguments) else { return false };
        self.events += 1;
        if found.in_interrupt {
            self.tracker.interrupt(found.cpu, found.time);
        }
        self.tracker.event(found.cpu, found.time, &event);
        true
    }

    /// Keeps a line that the next ones may complete.
    fn hold(&mut self, text: &[u8], is_event: bool) {
        self.give_up();
        if text.len() > WRAPPED_LENGTH {
            self.count_incomplete(1, is_event);
            return;
        }
        self.wrapped.text.extend_from_slice(text.trim_ascii_end());
        self.wrapped.lines = 1;
        self.wrapped.is_event = is_event;
    }

    /// Tries a line as what goes on with the one before; says whether it is that.
    fn wrapped_line(&mut self, text: &[u8], line: Line<'_>) -> bool {
        let goes_on = matches!(line, Line::Unknown)
            && self.wrapped.lines < WRAPPED_LINES
            && self.wrapped.text.len() + text.len() < WRAPPED_LENGTH;
        if !goes_on {
            self.give_up();
            return false;
        }
        let mut whole = core::mem::take(&mut self.wrapped.text);
        whole.push(b' ');
        whole.extend_from_slice(text.trim_ascii());
        let complete = match line::parse(&whole) {
            Line::Event(found) => {
                self.wrapped.is_event = true;
                self.event(found)
            }
            _ => false,
        };
        if complete {
            self.wrapped = Wrapped::default();
        } else {
            self.wrapped.text = whole;
            self.wrapped.lines += 1;
        }
        true
    }

    /// Counts the lines that nothing completed.
    fn give_up(&mut self) {
        let Wrapped { lines, is_event, .. } = core::mem::take(&mut self.wrapped);
        self.count_incomplete(u64::from(lines), is_event);
    }

    /// Of the lines of one event all but one are no events.
    fn count_incomplete(&mut self, lines: u64, is_event: bool) {
        let incomplete = u64::from(is_event).min(lines);
        self.incomplete_events += incomplete;
        self.events += incomplete;
        self.unknown_lines += lines - incomplete;
    }

    /// A line that the file's end cuts off is read if it is whole, and noted if it is not.
    fn last_line(&mut self, text: &[u8]) {
        if !text.is_empty() {
            let before = (self.unknown_lines, self.incomplete_events);
            self.give_up();
            let waiting = (self.unknown_lines, self.incomplete_events) != before;
            self.line(text);
            // Neither an event nor anything else that is known: cut.
            self.cut = self.wrapped.lines > 0 && !waiting;
            if self.cut {
                self.wrapped = Wrapped::default();
            }
        }
        self.give_up();
    }

    fn finish(self, name: &str) -> Result<Recording, ImportError> {
        let name = name.to_owned();
        if self.events == 0 {
            return Err(match (self.first_without_time, self.first_raw) {
                (Some(line), _) => ImportError::NoTimes { name, line },
                (None, Some(line)) => ImportError::RawText { name, line },
                (None, None) => ImportError::NoEvents { name, lines: self.lines },
            });
        }
        let mut recording = self.tracker.finish();
        if recording.periods() == 0 {
            return Err(ImportError::NoIdle { name, events: self.events });
        }
        recording.source = format!("{name}, ftrace text");
        for (kind, count) in [
            (NoteKind::OverwrittenEvents, self.overwritten),
            (NoteKind::UnknownLine, self.unknown_lines),
            (NoteKind::IncompleteEvent, self.incomplete_events),
            (NoteKind::NoTime, self.without_time),
            (NoteKind::CutFile, u64::from(self.cut)),
        ] {
            if count > 0 {
                recording.notes.push(Note { kind, cpu: None, count });
            }
        }
        Ok(recording)
    }
}
