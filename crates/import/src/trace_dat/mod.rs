// SPDX-License-Identifier: GPL-2.0-or-later
//! trace-cmd's `trace.dat`, versions 6 and 7.
//!
//! ```text
//!  file ──container──▶ descriptions, names, CPUs' areas
//!             │ areas
//!             ▼
//!  per CPU: area ──pages──▶ records ──┐
//!  per CPU: area ──pages──▶ records ──┼─by time──▶ tracepoint ──event──▶ tracker
//!  …                                  ┘
//! ```
//!
//! Times stay those of the recorded machine's own clock: what trace-cmd adds to bring them to a
//! calendar or to another machine's clock is left out, since timers' deadlines are told in the
//! recorded machine's.

mod area;
mod container;
mod options;
mod page;
pub(crate) mod pages;
mod unpack;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Seek};

use idlelab_recording::{Note, NoteKind, Recording};
use idlelab_states::{CpuId, Nanoseconds};

use self::area::AreaReader;
use self::container::{Contents, Input};
use self::options::Clock;
pub(crate) use self::options::clock_name;
use crate::ImportError;
use crate::tracepoint::{Head, Records};
use crate::tracker::Tracker;

/// Reads a whole file.
pub(crate) fn read(source: impl Read + Seek, name: &str) -> Result<Recording, ImportError> {
    let mut input = Input::new(source, name)?;
    let contents = container::read(&mut input)?;
    let mut merge = Merge::new(&mut input, contents)?;
    merge.run()?;
    merge.finish()
}

/// Brings the records of all CPUs and buffers in the order of their times.
struct Merge<'a, R> {
    input: &'a mut Input<R>,
    records: Records,
    clock: Clock,
    /// The clock's name, if the file gives one.
    clock_name: Option<String>,
    readers: Vec<AreaReader>,
    tracker: Tracker,
    /// From which buffer each kind of record is taken, by the kind's number.
    taken_from: Vec<Option<usize>>,
    events: u64,
    incomplete_events: u64,
    recorded_twice: u64,
    other_clock: u64,
    time_out_of_range: u64,
    shifted: bool,
}

impl<'a, R: Read + Seek> Merge<'a, R> {
    fn new(input: &'a mut Input<R>, contents: Contents) -> Result<Self, ImportError> {
        let Some(records) = Records::new(&contents.formats, contents.order, contents.names) else {
            return Err(input.damaged(0, "descriptions of events (events/*/format)"));
        };
        let mut readers = Vec::new();
        let mut other_clock = 0;
        let first_clock = contents.areas.first().map(|area| area.clock.clone());
        for area in contents.areas {
            // Times of two clocks have no common order.
            if Some(&area.clock) == first_clock.as_ref() {
                readers.push(AreaReader::new(area, contents.layout, contents.order));
            } else {
                other_clock += 1;
            }
        }
        let clock_name = first_clock.unwrap_or_default();
        let clock = Clock::new(&clock_name, contents.tsc_to_nanoseconds)
            .map_err(|clock| ImportError::ClockIsNoTime { name: input.name.clone(), clock })?;
        Ok(Self {
            input,
            records,
            clock,
            clock_name: Some(clock_name).filter(|name| !name.is_empty()),
            readers,
            tracker: Tracker::default(),
            taken_from: Vec::new(),
            events: 0,
            incomplete_events: 0,
            recorded_twice: 0,
            other_clock,
            time_out_of_range: 0,
            shifted: contents.shifted,
        })
    }

    fn run(&mut self) -> Result<(), ImportError> {
        let mut next = BinaryHeap::with_capacity(self.readers.len());
        for (number, reader) in self.readers.iter_mut().enumerate() {
            if let Some(time) = reader.advance(self.input)? {
                next.push(Reverse((time, number)));
            }
        }
        while let Some(Reverse((time, number))) = next.pop() {
            self.take(number, time);
            let Some(reader) = self.readers.get_mut(number) else { continue };
            // Most often the same CPU is next: the heap is spared.
            let mut following = reader.advance(self.input)?;
            while let Some(time) = following
                && next.peek().is_none_or(|&Reverse(other)| (time, number) < other)
            {
                self.take(number, time);
                let Some(reader) = self.readers.get_mut(number) else { break };
                following = reader.advance(self.input)?;
            }
            if let Some(time) = following {
                next.push(Reverse((time, number)));
            }
        }
        Ok(())
    }

    /// Takes the record that a reader stands at.
    #[inline]
    fn take(&mut self, number: usize, time: u64) {
        let Some(reader) = self.readers.get_mut(number) else { return };
        if let Some(lost) = reader.take_lost() {
            self.tracker.lost(reader.cpu(), lost);
        }
        let cpu = reader.cpu();
        let record = reader.record();
        let Some(Head { id, in_interrupt }) = self.records.head(record) else {
            self.incomplete_events += 1;
            return;
        };
        self.events += 1;
        let Some(time) = self.clock.nanoseconds(time) else {
            self.time_out_of_range += 1;
            return;
        };
        let time = Nanoseconds::new(time);
        if !in_interrupt && !self.records.reads(id) {
            self.tracker.passed(time);
            return;
        }
        // An event that two buffers recorded would count twice.
        let buffer = reader.buffer();
        if self.taken_from.len() <= usize::from(id) {
            self.taken_from.resize(usize::from(id) + 1, None);
        }
        let from = self.taken_from.get_mut(usize::from(id));
        if from.is_some_and(|from| *from.get_or_insert(buffer) != buffer) {
            self.recorded_twice += 1;
            return;
        }
        if in_interrupt {
            self.tracker.interrupt(cpu, time);
        }
        // Borrowed where it is: moving it would be the dearest step of all.
        match &self.records.event(id, record) {
            Some(event) => self.tracker.event(cpu, time, event),
            None => self.incomplete_events += 1,
        }
    }

    fn finish(mut self) -> Result<Recording, ImportError> {
        for reader in &mut self.readers {
            if let Some(lost) = reader.take_lost() {
                self.tracker.lost(reader.cpu(), lost);
            }
        }
        let unnamed = !self.records.name_functions();
        let name = self.input.name.clone();
        if self.events == 0 {
            return Err(ImportError::NoRecords { name });
        }
        let mut recording = self.tracker.finish();
        if recording.periods() == 0 {
            return Err(ImportError::NoIdle { name, events: self.events });
        }
        recording.source = format!("{name}, trace.dat");
        recording.clock = self.clock_name;
        for reader in &self.readers {
            let cpu = Some(CpuId(reader.cpu()));
            for (kind, count) in [
                (NoteKind::CutFile, u64::from(reader.cut())),
                (NoteKind::DamagedPage, reader.damaged_pages()),
            ] {
                if count > 0 {
                    recording.notes.push(Note { kind, cpu, count });
                }
            }
        }
        for (kind, count) in [
            (NoteKind::IncompleteEvent, self.incomplete_events),
            (NoteKind::RecordedTwice, self.recorded_twice),
            (NoteKind::OtherClock, self.other_clock),
            (NoteKind::TimeOutOfRange, self.time_out_of_range),
            (NoteKind::UnnamedFunctions, u64::from(unnamed)),
            (NoteKind::ShiftNotApplied, u64::from(self.shifted)),
        ] {
            if count > 0 {
                recording.notes.push(Note { kind, cpu: None, count });
            }
        }
        Ok(recording)
    }
}
