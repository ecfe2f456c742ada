// SPDX-License-Identifier: GPL-2.0-or-later
//! trace.dat files that are written for the purpose, of every kind that there is.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::process::Command;

use common::{
    Buffer, CPU_IDLE, File, IRQ, LAT, PLAIN, Page, REFL, SEL, SELR, SL, Shape, note, periods,
};
use idlelab_import::{ImportError, read};
use idlelab_recording::{Fidelity, NoteKind, Recording, WakeCauses};
use idlelab_states::{CpuId, Nanoseconds, StateIndex};

const EXIT: u32 = u32::MAX;

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for big_endian in [false, true] {
        for long in [4, 8] {
            for rt in [false, true] {
                for (version, compression) in [(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")] {
                    shapes.push(Shape { version, big_endian, long, compression, rt });
                }
            }
        }
    }
    shapes
}

fn import(file: &File) -> Recording {
    read(&file.write()[..], "test").unwrap()
}

/// Two CPUs, one with two pages.
fn two_cpus(shape: Shape) -> File {
    let first = [
        Page::new(shape, 1_000_000_007)
            .record(0, &shape.cpu_idle(0, 2))
            .extend(10_000_000_000)
            .record(5, &shape.cpu_idle(0, EXIT))
            .end(),
        Page::new(shape, 20_000_000_001)
            .discarded(3, 24)
            .long_record(1, &shape.cpu_idle(0, 1))
            .absolute(20_000_000_900)
            .record(100, &shape.cpu_idle(0, EXIT))
            .end(),
    ]
    .concat();
    let second = Page::new(shape, 1_000_000_000)
        .record(0, &shape.cpu_idle(1, 0))
        .record(250, &shape.cpu_idle(1, EXIT))
        .end();
    File::new(shape, vec![(0, first), (1, second)])
}

#[test]
fn every_shape_of_file_says_the_same() {
    for shape in shapes() {
        let recording = import(&two_cpus(shape));
        assert_eq!(
            periods(&recording),
            [
                (0, 2, 1_000_000_007, 11_000_000_012),
                (0, 1, 20_000_000_005, 20_000_001_000),
                (1, 0, 1_000_000_000, 1_000_000_250),
            ],
            "{shape:?}"
        );
        assert!(
            recording.notes.iter().all(|note| note.kind == NoteKind::UnnamedFunctions),
            "{shape:?}: {:?}",
            recording.notes
        );
    }
}

/// The writer of these files, and so this test's understanding of the format, holds against
/// trace-cmd. Debian's has no zlib.
#[test]
fn trace_cmd_reads_the_same_times() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("written.dat");
    for shape in shapes().into_iter().filter(|shape| shape.compression != "zlib") {
        std::fs::write(&path, two_cpus(shape).write()).unwrap();
        let Ok(printed) = Command::new("trace-cmd").args(["report", "-t"]).arg(&path).output()
        else {
            eprintln!("skipped: trace-cmd is not installed");
            return;
        };
        let text = String::from_utf8_lossy(&printed.stdout);
        let times: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split_whitespace().find(|word| word.contains('.')))
            .collect();
        let expected = [
            "1.000000000:",
            "1.000000007:",
            "1.000000250:",
            "11.000000012:",
            "20.000000005:",
            "20.000001000:",
        ];
        assert_eq!(times, expected, "{shape:?}: {text}");
    }
}

#[test]
fn an_absolute_stamp_borrows_its_upper_bits() {
    // 2^59 ns and a little, of which the stamp keeps but the little.
    let base = 1 << 59;
    let pages = Page::new(PLAIN, base + 100)
        .absolute(700)
        .record(0, &PLAIN.cpu_idle(0, 1))
        .absolute(300)
        .record(1, &PLAIN.cpu_idle(0, EXIT))
        .end();
    let base = base as i64;
    // The second stamp is less than the time before: 59 bits have wrapped.
    let expected = [(0, 1, base + 700, 2 * base + 301)];
    assert_eq!(periods(&import(&File::new(PLAIN, vec![(0, pages)]))), expected);
}

#[test]
fn lost_events_void_the_period_they_fall_in() {
    for (lost, expected) in [(Some(179), 179), (None, 1)] {
        for shape in [PLAIN, Shape { long: 4, version: 6, ..PLAIN }] {
            let pages = [
                Page::new(shape, 100).record(0, &shape.cpu_idle(0, 1)).end(),
                Page::new(shape, 200)
                    .record(0, &shape.cpu_idle(0, EXIT))
                    .record(10, &shape.cpu_idle(0, 1))
                    .record(10, &shape.cpu_idle(0, EXIT))
                    .end_lost(lost),
            ]
            .concat();
            let recording = import(&File::new(shape, vec![(0, pages)]));
            assert_eq!(periods(&recording), [(0, 1, 210, 220)]);
            let period = recording.cpus[0].periods.get(0).unwrap();
            assert!(period.events_lost_before);
            let lost = note(&recording, NoteKind::LostEvents);
            assert_eq!(lost, Some((Some(CpuId(0)), expected)), "{shape:?}");
        }
    }
}

#[test]
fn cpus_may_be_sparse_and_buffers_several() {
    let pages = |cpu, time| {
        Page::new(PLAIN, time)
            .record(0, &PLAIN.cpu_idle(cpu, 1))
            .record(50, &PLAIN.cpu_idle(cpu, EXIT))
            .end()
    };
    let interrupt = Page::new(PLAIN, 7_052)
        .record(
            0,
            &PLAIN.record(
                IRQ,
                8,
                &[PLAIN.n32(5), PLAIN.n32(4 << 16 | 16), b"eth\0".to_vec()].concat(),
            ),
        )
        .end();
    let mut file = File::new(PLAIN, vec![(5, pages(5, 7_000))]);
    // The same again, with what the first one lacks.
    let twice = Buffer {
        name: "second",
        clock: "mono",
        cpus: vec![(5, [pages(5, 7_001), interrupt].concat())],
    };
    let other = Buffer { name: "third", clock: "local", cpus: vec![(9, pages(9, 1))] };
    file.buffers.extend([twice, other]);
    let recording = import(&file);
    assert_eq!(periods(&recording), [(5, 1, 7_000, 7_050)]);
    assert_eq!(recording.cpus[0].periods.get(0).unwrap().causes, WakeCauses::INTERRUPT);
    assert_eq!(note(&recording, NoteKind::RecordedTwice), Some((None, 2)));
    assert_eq!(note(&recording, NoteKind::OtherClock), Some((None, 1)));
}

/// teo is asked, asks, chooses state 1 and is told of the outcome; the idle loop asks for the
/// sleep length as well.
fn probes(shape: Shape, kallsyms: &str) -> File {
    let (teo_select, in_teo, in_loop) = (0x1000, 0x1040, 0x3010);
    let probe = |id, parts: &[Vec<u8>]| shape.record(id, 1, &parts.concat());
    let called = |by| [shape.address(0x5000), shape.address(by)].concat();
    let page = Page::new(shape, 1_000)
        .record(0, &probe(SL, &[called(in_loop), shape.n64(77), shape.n64(77)]))
        .record(1, &probe(SEL, &[shape.address(teo_select)]))
        .record(1, &probe(LAT, &[called(in_teo), shape.n64(2_000)]))
        .record(
            1,
            &probe(SL, &[called(in_teo), shape.n64((-42_i64).cast_unsigned()), shape.n64(9)]),
        )
        .record(1, &probe(SELR, &[called(0x2010), shape.n32(1), vec![1]]))
        .record(1, &shape.cpu_idle(0, 1))
        .record(100, &shape.cpu_idle(0, EXIT))
        .record(
            1,
            &probe(REFL, &[shape.address(0x1100), shape.n32(1), shape.n64(98), shape.n32(4)]),
        )
        .end();
    File { kallsyms: kallsyms.to_owned(), ..File::new(shape, vec![(0, page)]) }
}

#[test]
fn probes_tell_what_the_governor_was_told() {
    let named = "1000 t teo_select\n1100 t teo_reflect\n2000 T cpuidle_select\n3000 t do_idle\n";
    for shape in shapes() {
        for (kallsyms, governor) in [(named, Some("teo")), ("", None)] {
            let recording = import(&probes(shape, kallsyms));
            assert_eq!(recording.fidelity, Fidelity::Inputs, "{shape:?}");
            assert_eq!(recording.governor.as_deref(), governor);
            let decision = recording.cpus[0].decisions[0];
            assert_eq!(decision.time, Nanoseconds::new(1_004));
            assert_eq!(decision.latency_limit, Some(Nanoseconds::new(2_000)));
            let told = (Nanoseconds::new(-42), Nanoseconds::new(9));
            assert_eq!(decision.sleep_length, Some(told));
            assert_eq!((decision.state, decision.stop_tick), (StateIndex::new(1).unwrap(), true));
            let outcome = decision.reflection.unwrap();
            assert_eq!(outcome.residency, Nanoseconds::new(98));
            assert!(outcome.poll_time_limit);
        }
    }
}

#[test]
fn options_that_are_not_known_are_skipped() {
    for shape in [PLAIN, Shape { version: 6, ..PLAIN }] {
        let mut file = two_cpus(shape);
        file.options = vec![(999, vec![1, 2, 3]), (1, b"0x12\0".to_vec())];
        let recording = import(&file);
        assert_eq!(recording.periods(), 3);
        assert_eq!(note(&recording, NoteKind::ShiftNotApplied), Some((None, 1)));
    }
}

#[test]
fn the_clock_is_named_where_the_file_names_it() {
    for version in [6, 7] {
        for clock in ["mono", "local"] {
            let mut file = two_cpus(Shape { version, ..PLAIN });
            file.buffers[0].clock = clock;
            assert_eq!(import(&file).clock.as_deref(), Some(clock));
        }
    }
    let mut file = two_cpus(PLAIN);
    file.buffers[0].clock = "";
    assert_eq!(import(&file).clock, None);
}

#[test]
fn a_clock_that_tells_no_time_is_refused() {
    for (clock, version) in [("counter", 7), ("x86-tsc", 7), ("uptime", 6)] {
        let mut file = two_cpus(Shape { version, ..PLAIN });
        file.buffers[0].clock = clock;
        let message = read(&file.write()[..], "test").unwrap_err().to_string();
        assert!(message.contains(clock), "{message}");
    }
    // With its rate, the time stamp counter does: 0.5 ns a count.
    let mut file = two_cpus(PLAIN);
    file.buffers[0].clock = "x86-tsc";
    file.options = vec![(14, [PLAIN.n32(1), PLAIN.n32(1), PLAIN.n64(0)].concat())];
    assert_eq!(periods(&import(&file))[2], (1, 0, 500_000_000, 500_000_125));
}

#[test]
fn a_file_that_ends_anywhere_gives_notes_or_an_error() {
    for shape in [
        PLAIN,
        Shape { version: 6, long: 4, ..PLAIN },
        Shape { compression: "zstd", big_endian: true, ..PLAIN },
    ] {
        let whole = two_cpus(shape).write();
        let complete = read(&whole[..], "test").unwrap();
        let mut read_with_loss = 0;
        for length in 0..whole.len() {
            match read(&whole[..length], "test") {
                Err(error) => assert!(error.to_string().starts_with("test"), "{error}"),
                Ok(recording) => {
                    read_with_loss += 1;
                    let cut = note(&recording, NoteKind::CutFile).is_some();
                    assert!(cut || recording == complete, "{shape:?} cut at {length}");
                }
            }
        }
        // Version 7 keeps the list of its parts at the end.
        assert_eq!(read_with_loss > 0, shape.version == 6, "{shape:?}");
    }
}

#[test]
fn damage_is_refused_or_noted() {
    let whole = two_cpus(Shape { version: 6, ..PLAIN }).write();
    // A record that reaches beyond its page: the first event's head becomes a length of 28 words.
    let first = whole.windows(2).position(|w| w == CPU_IDLE.to_le_bytes()).unwrap();
    let mut damaged = whole.clone();
    damaged[first - 4] = 0;
    damaged[first..first + 4].copy_from_slice(&[0xff; 4]);
    let recording = read(&damaged[..], "test").unwrap();
    assert_eq!(note(&recording, NoteKind::DamagedPage), Some((Some(CpuId(0)), 1)));

    let mut unknown = two_cpus(PLAIN).write();
    unknown[10] = b'8';
    let error = read(&unknown[..], "test").unwrap_err();
    assert!(matches!(error, ImportError::TraceDatVersion { version: 8, .. }), "{error}");
    let mut packed = two_cpus(PLAIN).write();
    packed[18..22].copy_from_slice(b"lzma");
    let error = read(&packed[..], "test").unwrap_err();
    assert!(matches!(error, ImportError::UnknownCompression { .. }), "{error}");
}
