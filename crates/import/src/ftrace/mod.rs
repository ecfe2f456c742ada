// SPDX-License-Identifier: GPL-2.0-or-later
//! ftrace text, as `cat /sys/kernel/tracing/trace` prints it.
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

/// Counts lines and hands their events to the tracker.
#[derive(Default)]
struct Reader {
    tracker: Tracker,
    lines: u64,
    events: u64,
    unknown_lines: u64,
    incomplete_events: u64,
    cut: bool,
    first_without_time: Option<u64>,
}

impl Reader {
    fn line(&mut self, text: &[u8]) {
        self.lines += 1;
        match line::parse(text) {
            Line::Event(found) => {
                self.events += 1;
                if found.in_interrupt {
                    self.tracker.interrupt(found.cpu, found.time);
                }
                match fields::parse(found.name, found.arguments) {
                    Some(event) => self.tracker.event(found.cpu, found.time, event),
                    None => self.incomplete_events += 1,
                }
            }
            Line::Lost { cpu, events } => self.tracker.lost(cpu, events),
            Line::NoTime => {
                self.first_without_time.get_or_insert(self.lines);
            }
            Line::Comment => {}
            Line::Unknown => self.unknown_lines += 1,
        }
    }

    /// A line that the file's end cuts off is read if it is whole, and noted if it is not.
    fn last_line(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let whole = match line::parse(text) {
            Line::Event(found) => fields::parse(found.name, found.arguments).is_some(),
            Line::Unknown => false,
            _ => true,
        };
        if whole {
            self.line(text);
        } else {
            self.lines += 1;
            self.cut = true;
        }
    }

    fn finish(self, name: &str) -> Result<Recording, ImportError> {
        let name = name.to_owned();
        if self.events == 0 {
            return Err(match self.first_without_time {
                Some(line) => ImportError::NoTimes { name, line },
                None => ImportError::NoEvents { name, lines: self.lines },
            });
        }
        let mut recording = self.tracker.finish();
        if recording.periods() == 0 {
            return Err(ImportError::NoIdle { name, events: self.events });
        }
        recording.source = format!("{name}, ftrace text");
        for (kind, count) in [
            (NoteKind::UnknownLine, self.unknown_lines),
            (NoteKind::IncompleteEvent, self.incomplete_events),
            (NoteKind::CutFile, u64::from(self.cut)),
        ] {
            if count > 0 {
                recording.notes.push(Note { kind, cpu: None, count });
            }
        }
        Ok(recording)
    }
}
