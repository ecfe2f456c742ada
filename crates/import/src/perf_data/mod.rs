// SPDX-License-Identifier: GPL-2.0-or-later
//! perf's `perf.data`, as a file and through a pipe.
//!
//! ```text
//!  file ──file──▶ attributes, tracing data
//!       ──stream──▶ records ──attr──▶ samples ──rounds──▶ by time ──tracepoint──▶ tracker
//! ```
//!
//! Only samples of tracepoints are read. Their records are the kernel's own, described by the
//! tracing data, which is what trace-cmd saves too.

mod attr;
mod file;
mod rounds;
mod stream;

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use idlelab_recording::{Note, NoteKind, Recording};
use idlelab_states::Nanoseconds;

use self::attr::{Attr, Layout};
use self::file::{Contents, Event, Start};
use self::rounds::{Next, Rounds};
use self::stream::{End, Record, kind};
use crate::ImportError;
use crate::bytes::{ByteOrder, Bytes};
use crate::tracepoint::saved::Saved;
use crate::tracepoint::{Head, Records};
use crate::tracker::Tracker;

/// How much is read from the source at once, in bytes.
const BUFFER: usize = 1 << 18;

/// What tracing data begins with.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The bits of a record's flags that say what was running (`PERF_RECORD_MISC_CPUMODE_MASK`), and
/// the two values that stand for a guest.
const CPU_MODE: u16 = 7;
const GUEST: [u16; 2] = [4, 5];

/// Reads a perf.data as a file, which may be read at any place.
pub(crate) fn read(mut source: impl Read + Seek, name: &str) -> Result<Recording, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let mut start = Vec::new();
    source.by_ref().take(16).read_to_end(&mut start).map_err(failed)?;
    match file::start(&start) {
        Some(Start::File { order }) => {
            let Contents { events, records, tracing_data } =
                file::contents(&mut source, order, name)?;
            source.seek(SeekFrom::Start(records.offset)).map_err(failed)?;
            let source = BufReader::with_capacity(BUFFER, source);
            let mut reader = Reader::new(order);
            events.into_iter().for_each(|event| reader.event(event));
            reader.described(&tracing_data, name)?;
            reader.run(stream::Records::new(source, Some(records.size), order), name)
        }
        Some(Start::Pipe { order }) => {
            let source = BufReader::with_capacity(BUFFER, source);
            Reader::new(order).run(stream::Records::new(source, None, order), name)
        }
        None => {
            let expected = "the header of a perf.data";
            let length = start.len() as u64;
            Err(ImportError::Damaged { name: name.to_owned(), offset: 0, length, expected })
        }
    }
}

/// Whether what begins so came through a pipe, and so can be read as it comes.
pub(crate) fn is_pipe(start: &[u8]) -> bool {
    matches!(file::start(start), Some(Start::Pipe { .. }))
}

/// Reads a perf.data that came through a pipe.
pub(crate) fn read_pipe(mut source: impl Read, name: &str) -> Result<Recording, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let mut start = Vec::new();
    source.by_ref().take(16).read_to_end(&mut start).map_err(failed)?;
    let order = if start.starts_with(b"P") { ByteOrder::Little } else { ByteOrder::Big };
    Reader::new(order).run(stream::Records::new(source, None, order), name)
}

/// Takes records and hands their events, in order, to the tracker.
struct Reader {
    order: ByteOrder,
    attrs: Vec<Attr>,
    /// The number of the attribute that an event's id belongs to.
    by_id: HashMap<u64, usize>,
    rounds: Rounds,
    taker: Taker,
    guests: u64,
    incomplete: u64,
    /// Events that the kernel lost, as it told between the records, and as it told at the end.
    lost: u64,
    lost_in_all: u64,
    clock: Option<u32>,
    /// The earliest and the latest time of a tracepoint, of kinds that are not read too.
    span: Option<(u64, u64)>,
}

impl Reader {
    fn new(order: ByteOrder) -> Self {
        Self {
            order,
            attrs: Vec::new(),
            by_id: HashMap::new(),
            rounds: Rounds::default(),
            taker: Taker::default(),
            guests: 0,
            incomplete: 0,
            lost: 0,
            lost_in_all: 0,
            clock: None,
            span: None,
        }
    }

    /// Learns of an event that was recorded.
    fn event(&mut self, Event { attr, ids }: Event) {
        let number = self.attrs.len();
        if attr.is_tracepoint() {
            self.clock = attr.clock;
        }
        self.by_id.extend(ids.into_iter().map(|id| (id, number)));
        self.attrs.push(attr);
    }

    /// Learns how tracepoints are laid out.
    fn described(&mut self, data: &[u8], name: &str) -> Result<(), ImportError> {
        let mut expected = "the start of tracing data: version, byte order, page size";
        let mut bytes = Bytes::new(data, ByteOrder::Little);
        let records = (|| {
            bytes = Bytes::new(data.strip_prefix(MAGIC)?, ByteOrder::Little);
            let _version = bytes.text()?;
            bytes.order = match bytes.take(2)? {
                [0, _user_space_long] => ByteOrder::Little,
                [1, _] => ByteOrder::Big,
                _ => return None,
            };
            let _page_size = bytes.u32()?;
            let saved = Saved::read(&mut bytes, &mut expected)?;
            expected = "descriptions of events (events/*/format)";
            Records::new(&saved.formats, bytes.order, saved.names)
        })();
        let offset = (data.len() - bytes.rest.len()) as u64;
        let length = data.len() as u64;
        let damaged = || ImportError::Damaged {
            name: format!("{name}, tracing data"),
            offset,
            length,
            expected,
        };
        self.taker.records = Some(records.ok_or_else(damaged)?);
        Ok(())
    }

    fn run<R: Read>(
        mut self,
        mut records: stream::Records<R>,
        name: &str,
    ) -> Result<Recording, ImportError> {
        let failed = |source| ImportError::Io { name: name.to_owned(), source };
        while let Some(record) = records.next().map_err(failed)? {
            self.record(&record, name)?;
        }
        let end = records.end();
        let Self { mut rounds, mut taker, .. } = self;
        rounds.finish(|cpu, time, next| taker.take(cpu, time, next));
        let name = name.to_owned();
        let Some(records) = &taker.records else {
            return Err(ImportError::NoTracepoints { name });
        };
        let unnamed = !records.name_functions();
        let mut recording = taker.tracker.finish();
        if recording.periods() == 0 {
            return Err(ImportError::NoIdle { name, events: taker.events });
        }
        recording.source = format!("{name}, perf.data");
        recording.span = self.span.and_then(|(first, last)| {
            let time = |time| i64::try_from(time).ok().map(Nanoseconds::new);
            time(first).zip(time(last))
        });
        recording.clock = Some(clock_name(self.clock).to_owned());
        let incomplete = self.incomplete + taker.incomplete;
        // What the kernel counts in all it has told in part already, where it happened.
        let untold = self.lost_in_all.saturating_sub(self.lost);
        for (kind, count) in [
            (NoteKind::LostEvents, untold),
            (NoteKind::GuestEvents, self.guests),
            (NoteKind::IncompleteEvent, incomplete),
            (NoteKind::TimeOutOfRange, taker.out_of_range),
            (NoteKind::CutFile, u64::from(end == End::Cut)),
            (NoteKind::DamagedRecord, u64::from(end == End::Damaged)),
            (NoteKind::UnnamedFunctions, u64::from(unnamed)),
        ] {
            if count > 0 {
                recording.notes.push(Note { kind, cpu: None, count });
            }
        }
        Ok(recording)
    }

    fn record(&mut self, record: &Record<'_>, name: &str) -> Result<(), ImportError> {
        let body = record.body;
        match record.kind {
            kind::SAMPLE if GUEST.contains(&(record.misc & CPU_MODE)) => self.guests += 1,
            kind::SAMPLE => self.sample(body),
            kind::LOST => {
                let lost = body.get(8..).and_then(|body| self.order.u64(body)).unwrap_or(0);
                self.lost = self.lost.saturating_add(lost);
                self.gap(body, lost);
            }
            // Until it is over the kernel drops samples, and does not tell how many.
            kind::THROTTLE => self.gap(body, 0),
            kind::LOST_SAMPLES => {
                let lost = self.order.u64(body).unwrap_or(0);
                self.lost_in_all = self.lost_in_all.saturating_add(lost);
            }
            kind::FINISHED_ROUND => {
                let Self { rounds, taker, .. } = self;
                rounds.finish_round(|cpu, time, next| taker.take(cpu, time, next));
            }
            kind::HEADER_ATTR => {
                if let Some((attr, size)) = Attr::parse(body, self.order) {
                    let ids = usize::try_from(size).ok().and_then(|size| body.get(size..));
                    let ids = ids.unwrap_or_default().chunks_exact(8);
                    let ids = ids.filter_map(|id| self.order.u64(id)).collect();
                    self.event(Event { attr, ids });
                }
            }
            kind::TRACING_DATA => self.described(body, name)?,
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, body: &[u8]) {
        // Every layout that leads to an id of an event with that layout is right; where events
        // differ in layout, perf puts the id first.
        let sample = self.layouts().find_map(|layout| {
            let sample = layout.sample(body, self.order)?;
            let number = sample.id.and_then(|id| self.by_id.get(&id));
            let attr = number.and_then(|&number| self.attrs.get(number));
            (sample.id.is_none() || attr.is_none_or(|attr| attr.layout() == layout))
                .then_some((sample, attr.is_none_or(Attr::is_tracepoint)))
        });
        match sample {
            // Others' raw data is no tracepoint's record.
            Some((_, false)) => {}
            Some((sample, true)) => {
                let (first, last) = self.span.unwrap_or((sample.time, sample.time));
                self.span = Some((first.min(sample.time), last.max(sample.time)));
                if self.taker.reads(sample.raw) {
                    self.rounds.record(sample.cpu, sample.time, sample.raw);
                }
            }
            None => self.incomplete += 1,
        }
    }

    /// The layouts of all events, most often one and the same.
    fn layouts(&self) -> impl Iterator<Item = Layout> + '_ {
        let mut last = None;
        self.attrs.iter().filter_map(move |attr| {
            let layout = attr.layout();
            (last.replace(layout) != Some(layout)).then_some(layout)
        })
    }

    /// Events were lost on the CPU that the record names at its end.
    fn gap(&mut self, body: &[u8], lost: u64) {
        let end = self.layouts().find_map(|layout| layout.end(body, self.order));
        match end {
            Some((cpu, time)) => self.rounds.lost(cpu, time, lost),
            None => self.lost_in_all = self.lost_in_all.saturating_add(lost),
        }
    }
}

/// Takes events in order.
#[derive(Default)]
struct Taker {
    records: Option<Records>,
    tracker: Tracker,
    events: u64,
    incomplete: u64,
    out_of_range: u64,
}

impl Taker {
    /// Whether a tracepoint's record is worth keeping. Counts it.
    fn reads(&mut self, record: &[u8]) -> bool {
        self.events += 1;
        let Some(records) = &self.records else { return false };
        match records.head(record) {
            Some(Head { id, in_interrupt }) => in_interrupt || records.reads(id),
            None => {
                self.incomplete += 1;
                false
            }
        }
    }

    fn take(&mut self, cpu: u32, time: u64, next: Next<'_>) {
        let record = match next {
            Next::Record(record) => record,
            Next::Lost(events) => return self.tracker.lost(cpu, events),
        };
        let Some(records) = &self.records else { return };
        let Some(Head { id, in_interrupt }) = records.head(record) else { return };
        let Ok(time) = i64::try_from(time) else {
            self.out_of_range += 1;
            return;
        };
        let time = Nanoseconds::new(time);
        if in_interrupt {
            self.tracker.interrupt(cpu, time);
        }
        match &records.event(id, record) {
            Some(event) => self.tracker.event(cpu, time, event),
            None => self.incomplete += 1,
        }
    }
}

/// A clock's name as the kernel gives it to trace clocks, by its number (`CLOCK_*`).
const fn clock_name(clock: Option<u32>) -> &'static str {
    match clock {
        None => "perf",
        Some(0) => "realtime",
        Some(1) => "mono",
        Some(4) => "mono_raw",
        Some(7) => "boot",
        Some(11) => "tai",
        Some(_) => "unknown",
    }
}
