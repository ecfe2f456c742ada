// SPDX-License-Identifier: GPL-2.0-or-later
//! perf.data files that are written for the purpose, by the format's public description
//! (`tools/perf/Documentation/perf.data-file-format.txt`, `include/uapi/linux/perf_event.h`).

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use common::{CPU_IDLE, File, PLAIN, Shape, note, periods};
use idlelab_import::{ImportError, read};
use idlelab_recording::{NoteKind, Recording};
use idlelab_states::CpuId;

const EXIT: u32 = u32::MAX;

const LOST: u32 = 2;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
const HEADER_ATTR: u32 = 64;
const TRACING_DATA: u32 = 66;
const FINISHED_ROUND: u32 = 68;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;

const KERNEL: u16 = 1;
const GUEST_KERNEL: u16 = 4;

/// How the records are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    File,
    Pipe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Zstd,
    /// Each record with the size of what is packed, and padding.
    Zstd2,
}

/// A perf.data in the making: two events, of a tracepoint and of a counter that has raw data too.
#[derive(Clone, Debug)]
struct PerfData {
    shape: Shape,
    container: Container,
    packing: Packing,
    /// As newer kernels have it.
    attr_size: u32,
    clock: Option<u32>,
    records: Vec<Vec<u8>>,
}

const TRACEPOINT_ID: u64 = 71;
const COUNTER_ID: u64 = 72;

/// IP, TID, TIME, CPU, RAW and the id in front.
const SAMPLE_TYPE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 16;

impl PerfData {
    fn new(shape: Shape) -> Self {
        let (container, packing) = (Container::File, Packing::None);
        Self { shape, container, packing, attr_size: 120, clock: Some(1), records: Vec::new() }
    }

    fn record(&mut self, kind: u32, misc: u16, body: &[u8]) {
        self.records.push(self.raw_record(kind, misc, body));
    }

    fn raw_record(&self, kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let size = self.shape.n16((body.len() + 8) as u16);
        [self.shape.n32(kind), self.shape.n16(misc), size, body.to_vec()].concat()
    }

    fn sample(&mut self, id: u64, misc: u16, cpu: u32, time: u64, raw: &[u8]) {
        let shape = self.shape;
        let raw = [shape.n32(raw.len() as u32), raw.to_vec()].concat();
        let body = [
            shape.n64(id),
            shape.n64(0xffff_ffff_8100_0000),
            shape.n64(0),
            shape.n64(time),
            shape.n32(cpu),
            shape.n32(0),
            raw,
        ];
        self.record(SAMPLE, misc, &body.concat());
    }

    fn cpu_idle(&mut self, cpu: u32, time: u64, state: u32) {
        let raw = self.shape.cpu_idle(cpu, state);
        self.sample(TRACEPOINT_ID, KERNEL, cpu, time, &raw);
    }

    fn end_of_round(&mut self) {
        self.record(FINISHED_ROUND, 0, &[]);
    }

    /// TID, time, CPU and id, at the end of what is no sample.
    fn sample_id(&self, time: u64, cpu: u32) -> Vec<u8> {
        let shape = self.shape;
        let cpu = [shape.n32(cpu), shape.n32(0)].concat();
        [shape.n64(0), shape.n64(time), cpu, shape.n64(TRACEPOINT_ID)].concat()
    }

    fn lost(&mut self, cpu: u32, time: u64, events: u64) {
        let shape = self.shape;
        let body = [shape.n64(TRACEPOINT_ID), shape.n64(events), self.sample_id(time, cpu)];
        self.record(LOST, 0, &body.concat());
    }

    fn attr(&self, kind: u32) -> Vec<u8> {
        let shape = self.shape;
        let bit = |number: usize| if shape.big_endian { 7 - number % 8 } else { number % 8 };
        let mut flags = vec![0_u8; 8];
        flags[18 / 8] |= 1 << bit(18);
        if self.clock.is_some() {
            flags[25 / 8] |= 1 << bit(25);
        }
        let mut attr = [shape.n32(kind), shape.n32(self.attr_size), shape.n64(CPU_IDLE.into())];
        let mut attr: Vec<u8> = attr.iter_mut().flat_map(std::mem::take).collect();
        attr.extend([shape.n64(1), shape.n64(SAMPLE_TYPE), shape.n64(0), flags].concat());
        attr.resize(92, 0);
        attr.extend(shape.n32(self.clock.unwrap_or(0)));
        attr.resize(self.attr_size as usize, 0);
        attr
    }

    fn data(&self) -> Vec<u8> {
        let plain = self.records.concat();
        let compressed = |kind, body: Vec<u8>| self.raw_record(kind, 0, &body);
        if self.packing == Packing::None {
            return plain;
        }
        // One stream over all of them, cut anywhere.
        let packed = zstd::encode_all(&plain[..], 1).unwrap();
        let mut data = Vec::new();
        for part in packed.chunks(50) {
            data.extend(match self.packing {
                Packing::Zstd2 => {
                    let mut body = [self.shape.n64(part.len() as u64), part.to_vec()].concat();
                    body.resize(body.len().next_multiple_of(8), 0xee);
                    compressed(COMPRESSED2, body)
                }
                _ => compressed(COMPRESSED, part.to_vec()),
            });
        }
        data
    }

    fn write(&self) -> Vec<u8> {
        let shape = self.shape;
        let tracing_data = File::new(shape, Vec::new()).tracing_data();
        let magic = if shape.big_endian { b"2ELIFREP" } else { b"PERFILE2" };
        let events = [(2, TRACEPOINT_ID), (0, COUNTER_ID)];
        if self.container == Container::Pipe {
            let mut file = [magic.to_vec(), shape.n64(16)].concat();
            for (kind, id) in events {
                let body = [self.attr(kind), shape.n64(id)].concat();
                file.extend(self.raw_record(HEADER_ATTR, 0, &body));
            }
            let padded = tracing_data.len().next_multiple_of(8);
            file.extend(self.raw_record(TRACING_DATA, 0, &shape.n32(padded as u32)));
            file.extend(&tracing_data);
            file.resize(file.len() + padded - tracing_data.len(), 0);
            file.extend(self.data());
            return file;
        }
        let (ids_at, attrs_at) = (104, 104 + 16);
        let entry = u64::from(self.attr_size) + 16;
        let data_at = attrs_at + 2 * entry;
        let data = self.data();
        let feature_at = data_at + data.len() as u64;
        let section = |at: u64, size: u64| [shape.n64(at), shape.n64(size)].concat();
        let mut file = [magic.to_vec(), shape.n64(104), shape.n64(entry)].concat();
        file.extend(section(attrs_at, 2 * entry));
        file.extend(section(data_at, data.len() as u64));
        file.extend(section(0, 0));
        // Tracing data, and a feature after it.
        file.extend([shape.n64(1 << 1 | 1 << 3), vec![0; 24]].concat());
        file.extend([shape.n64(TRACEPOINT_ID), shape.n64(COUNTER_ID)].concat());
        for (number, (kind, _)) in events.into_iter().enumerate() {
            file.extend([self.attr(kind), section(ids_at + 8 * number as u64, 8)].concat());
        }
        file.extend(data);
        file.extend(section(feature_at + 32, tracing_data.len() as u64));
        file.extend(section(feature_at + 32 + tracing_data.len() as u64, 0));
        file.extend(tracing_data);
        file
    }
}

fn import(file: &PerfData) -> Recording {
    read(&file.write()[..], "test").unwrap()
}

/// Two CPUs, whose buffers are read one after the other in two rounds.
fn two_cpus(shape: Shape) -> PerfData {
    let mut file = PerfData::new(shape);
    file.cpu_idle(0, 1_000, 2);
    file.cpu_idle(0, 1_500, EXIT);
    file.cpu_idle(1, 900, 1);
    file.end_of_round();
    file.cpu_idle(0, 2_000, 1);
    file.cpu_idle(1, 1_400, EXIT);
    file.end_of_round();
    file.cpu_idle(0, 2_100, EXIT);
    file
}

const TWO_CPUS: [(u32, usize, i64, i64); 3] =
    [(0, 2, 1_000, 1_500), (0, 1, 2_000, 2_100), (1, 1, 900, 1_400)];

#[test]
fn every_shape_of_file_says_the_same() {
    for big_endian in [false, true] {
        for rt in [false, true] {
            for container in [Container::File, Container::Pipe] {
                for packing in [Packing::None, Packing::Zstd, Packing::Zstd2] {
                    for attr_size in [96, 136, 160] {
                        let shape = Shape { big_endian, rt, ..PLAIN };
                        let mut file = two_cpus(shape);
                        (file.container, file.packing) = (container, packing);
                        file.attr_size = attr_size;
                        let recording = import(&file);
                        assert_eq!(periods(&recording), TWO_CPUS, "{file:?}");
                        assert_eq!(recording.clock.as_deref(), Some("mono"));
                        let unnamed = note(&recording, NoteKind::UnnamedFunctions);
                        assert_eq!((recording.notes.len(), unnamed), (1, Some((None, 1))));
                    }
                }
            }
        }
    }
}

#[test]
fn perfs_own_clock_is_called_perf() {
    let recording = import(&PerfData { clock: None, ..two_cpus(PLAIN) });
    assert_eq!(recording.clock.as_deref(), Some("perf"));
}

#[test]
fn guests_and_other_raw_data_are_left_out() {
    let mut file = two_cpus(PLAIN);
    let raw = PLAIN.cpu_idle(0, 1);
    file.sample(TRACEPOINT_ID, GUEST_KERNEL, 0, 1_200, &raw);
    file.sample(COUNTER_ID, KERNEL, 0, 1_300, &raw);
    let recording = import(&file);
    assert_eq!(periods(&recording), TWO_CPUS);
    assert_eq!(note(&recording, NoteKind::GuestEvents), Some((None, 1)));
    assert_eq!(note(&recording, NoteKind::EntryWithoutExit), None);
}

/// CPU 0's first period has a gap in it. What is counted in all is told in part already.
#[test]
fn lost_events_void_the_period_that_they_fall_in() {
    let mut file = two_cpus(PLAIN);
    file.lost(0, 1_200, 7);
    // In the second round, as it comes from the buffer.
    let lost = file.records.pop().unwrap();
    file.records.insert(4, lost);
    let (all, id) = (PLAIN.n64(10), file.sample_id(3_000, 0));
    file.record(LOST_SAMPLES, 0, &[all, id].concat());
    let recording = import(&file);
    assert_eq!(periods(&recording), TWO_CPUS[1..]);
    let lost = recording.notes.iter().filter(|note| note.kind == NoteKind::LostEvents);
    let lost: Vec<_> = lost.map(|note| (note.cpu, note.count)).collect();
    assert_eq!(lost, [(Some(CpuId(0)), 7), (None, 3)]);
}

#[test]
fn a_file_that_ends_anywhere_gives_notes_or_an_error() {
    for (container, packing) in [
        (Container::File, Packing::None),
        (Container::Pipe, Packing::None),
        (Container::Pipe, Packing::Zstd),
    ] {
        let whole = PerfData { container, packing, ..two_cpus(PLAIN) }.write();
        let complete = read(&whole[..], "test").unwrap();
        let mut read_with_loss = 0;
        for length in 0..whole.len() {
            match read(&whole[..length], "test") {
                Err(error) => assert!(error.to_string().starts_with("test"), "{error}"),
                Ok(recording) => {
                    read_with_loss += 1;
                    assert!(recording.periods() <= complete.periods());
                }
            }
        }
        // A file's descriptions stand at its end, and so little is packed as one block.
        let shows = container == Container::Pipe && packing == Packing::None;
        assert_eq!(read_with_loss > 0, shows, "{container:?} {packing:?}");
    }
}

#[test]
fn damage_is_noted_or_refused() {
    let mut file = two_cpus(PLAIN);
    file.records[2][6..8].copy_from_slice(&[4, 0]);
    let recording = import(&file);
    assert_eq!(periods(&recording), TWO_CPUS[..1]);
    assert_eq!(note(&recording, NoteKind::DamagedRecord), Some((None, 1)));

    // Places beyond the file's end, and sizes that nobody has.
    let whole = two_cpus(PLAIN).write();
    for at in [16, 24, 32, 40, 48] {
        let mut damaged = whole.clone();
        damaged[at..at + 8].fill(0xff);
        let error = read(&damaged[..], "test").unwrap_err();
        assert!(matches!(error, ImportError::Damaged { .. }), "{at}: {error}");
    }
    let mut without = whole;
    without[72] = 0;
    let error = read(&without[..], "test").unwrap_err();
    assert!(matches!(error, ImportError::NoTracepoints { .. }), "{error}");
}
