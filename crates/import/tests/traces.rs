// SPDX-License-Identifier: GPL-2.0-or-later
//! A folder of recordings of many kernels and tools, against counts from other tools (trace-cmd,
//! grep). The folder is no part of this repository: `IDLELAB_TRACES` names it.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;

use idlelab_import::{open, read};
use idlelab_recording::{Note, NoteKind, Recording};
use idlelab_states::{CpuId, Nanoseconds};

/// How many `cpu_idle` events a recording accounts for: two a period, one a note.
fn idle_events(recording: &Recording) -> u64 {
    let partial = recording.notes.iter().filter(|note| {
        matches!(
            note.kind,
            NoteKind::IdleAtStart
                | NoteKind::IdleAtEnd
                | NoteKind::EntryWithoutExit
                | NoteKind::ExitWithoutEntry
        )
    });
    recording.periods() as u64 * 2 + partial.map(|note| note.count).sum::<u64>()
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("IDLELAB_TRACES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: IDLELAB_TRACES does not name a folder of recordings");
    }
    folder
}

#[test]
fn every_idle_event_is_accounted_for() {
    let Some(folder) = folder() else { return };
    // Counts by `trace-cmd report -F power/cpu_idle` and by `grep -cE '[0-9]: cpu_idle: +state='`.
    for (name, expected) in [
        ("testbed/teo-7.3-4cpu.txt.gz", 49_394),
        ("testbed/menu-7.3-4cpu.txt.gz", 48_912),
        ("guest/menu-sweep.dat", 42_796),
        ("guest/haltpoll0-sweep.dat", 21_910),
        ("guest/ladder-sweep.dat", 22_924),
        ("guest/menu-idle.dat", 213),
        ("guest/menu-pingpong.dat", 12_977),
        ("guest/menu-qos0.dat", 7_836),
        ("guest/menu-state1-disabled.dat", 7_931),
        ("guest/menu-sweep-v6.dat.gz", 10_162),
        ("guest/menu-sweep-v7-nocompress.dat.gz", 3_498),
        ("guest/menu-lost-v7.dat", 8_093),
        ("guest/odd-comms-v7.dat", 303),
        ("guest/menu-sweep.perf.data.gz", 10_630),
        ("guest/menu-sweep-zstd.perf.data", 11_276),
        ("guest/menu-sweep-pipe.perf.data.gz", 4_572),
        ("guest/menu-sweep-pipe-zstd.perf.data", 5_426),
        ("guest/haltpoll-sweep-localclock.perf.data.gz", 3_966),
        ("guest/menu-lost.perf.data.gz", 2_406),
        ("guest/bpf-menu-bothcpus.txt.gz", 58_736),
        ("guest/text-default-local.txt.gz", 312),
        ("guest/text-tgid.txt.gz", 312),
        ("guest/text-latency-format.txt.gz", 307),
        ("guest/text-noirqinfo.txt.gz", 295),
        ("guest/text-overrun.txt.gz", 110),
        ("guest/text-tracepipe-lost.txt.gz", 161),
        ("guest/text-odd-comms.txt.gz", 318),
        ("lisa/tests/assets/sched_load/trace.dat.gz", 474),
        ("trappy/tests/trace_idle.dat.gz", 17),
        ("trappy/tests/trace_idle_unsorted.txt", 8),
        ("trappy/tests/trace_no_trailing_line.txt", 9),
    ] {
        let recording = open(&folder.join(name)).unwrap();
        assert_eq!(idle_events(&recording), expected, "{name}: {:?}", recording.notes);
    }
}

/// What trace-cmd prints of a trace.dat says the same as the file: every period, to the
/// nanosecond.
#[test]
fn a_trace_dat_says_what_trace_cmd_prints_of_it() {
    let Some(folder) = folder() else { return };
    for name in [
        "menu-sweep.dat",
        "menu-idle.dat",
        "menu-qos0.dat",
        "menu-lost-v7.dat",
        "menu-pingpong.dat",
        "odd-comms-v7.dat",
    ] {
        let path = folder.join("guest").join(name);
        for options in [&["report", "-t"][..], &["report", "-t", "-R"], &["report", "-t", "-l"]] {
            let Ok(printed) = Command::new("trace-cmd").args(options).arg(&path).output() else {
                eprintln!("skipped: trace-cmd is not installed");
                return;
            };
            let (text, file) = (read(&printed.stdout[..], name).unwrap(), open(&path).unwrap());
            assert_eq!(text.fidelity, file.fidelity);
            assert_eq!(text.tick_rate, file.tick_rate);
            assert_eq!(text.span, file.span);
            let (start, _) = file.span.unwrap();
            let cpus = |recording: &Recording| {
                recording.cpus.iter().map(|cpu| (cpu.cpu, cpu.periods.len())).collect::<Vec<_>>()
            };
            assert_eq!(cpus(&text), cpus(&file), "{name} {options:?}");
            for (text, file) in text.cpus.iter().zip(&file.cpus) {
                for (text, mut file) in text.periods.iter().zip(file.periods.iter()) {
                    if options.contains(&"-R") {
                        // Raw text names a timer's function where it is started, so the first tick
                        // is not known as one.
                        if file.exit < start + Nanoseconds::from_micros(20_000) {
                            file.causes = text.causes;
                        }
                    } else {
                        // But only raw text tells which wheel timers an idle CPU wakes for.
                        file.next_timer = text.next_timer;
                        file.next_wheel_timer = text.next_wheel_timer;
                    }
                    assert_eq!(text, file, "{name} {options:?}");
                }
            }
        }
    }
}

/// What perf prints of a perf.data says the same as the file: every period, to the nanosecond, and
/// what was lost.
#[test]
fn a_perf_data_says_what_perf_prints_of_it() {
    let Some(folder) = folder() else { return };
    for name in [
        "menu-sweep.perf.data.gz",
        "menu-sweep-zstd.perf.data",
        "menu-sweep-pipe.perf.data.gz",
        "haltpoll-sweep-localclock.perf.data.gz",
        "menu-lost.perf.data.gz",
    ] {
        let path = folder.join("guest").join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        if name.ends_with(".gz") {
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
            bytes = unpacked;
        }
        let mut plain = tempfile::NamedTempFile::new().unwrap();
        plain.write_all(&bytes).unwrap();
        let printed = Command::new("perf")
            .args(["script", "--ns", "--show-lost-events", "-i"])
            .arg(plain.path())
            .output();
        let Some(printed) = printed.ok().filter(|printed| printed.status.success()) else {
            eprintln!("skipped: perf is not installed, or too old for {name}");
            return;
        };
        let (text, file) = (read(&printed.stdout[..], name).unwrap(), open(&path).unwrap());
        assert_eq!(text.periods(), file.periods(), "{name}");
        assert_eq!(text.span, file.span, "{name}");
        let lost = |recording: &Recording| {
            let lost = |note: &&Note| note.kind == NoteKind::LostEvents && note.cpu.is_some();
            recording.notes.iter().filter(lost).map(|note| note.count).sum::<u64>()
        };
        assert_eq!(lost(&text), lost(&file), "{name}");
        for (text, file) in text.cpus.iter().zip(&file.cpus) {
            for (text, file) in text.periods.iter().zip(file.periods.iter()) {
                assert_eq!(
                    (text.enter, text.exit, text.state, text.causes),
                    (file.enter, file.exit, file.state, file.causes),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn what_is_no_recording_is_refused_by_what_it_is() {
    let Some(folder) = folder() else { return };
    for (name, says) in [
        ("guest/text-counter.txt.gz", ":13: time stamps without a decimal point"),
        ("guest/text-x86tsc.txt.gz", ":13: time stamps without a decimal point"),
        ("guest/text-raw.txt.gz", ":13: events in raw form"),
        ("guest/text-hex.txt.gz", ":13: events in raw form"),
        ("guest/menu-sweep.after", "no trace event in 37 lines"),
        ("perfetto/perfetto-skills/api32_startup_warm.perfetto-trace", "a Perfetto trace"),
        ("tracecompass-test-traces/uneven-streams-ch3/channel0_3", "a CTF trace"),
        ("trappy/tests/trace_surfaceflinger.html", "an HTML page"),
        ("catapult/tracing/test_data/chromeos_system_trace.json", "JSON"),
        ("catapult/systrace/systrace/test_data/compressed_atrace_data.txt", "compressed atrace"),
        ("schedviz/test.tar.gz", "a tar archive"),
        ("schedviz/traceparser-cpu0", "binary data of no known format"),
        // Numbers of events by `trace-cmd report | grep -c`.
        ("trappy/tests/trace.dat.gz", "525 trace events but no whole idle period"),
        ("trappy/tests/raw_trace.dat.gz", "757 trace events but no whole idle period"),
        ("lisa/ipynb/deprecated/tutorial/example_rtapp/trace.dat.gz", "7820 trace events but no"),
        // The file has 2,941 lines that begin with a task.
        ("lisa/tests/assets/trace_txt/trace.txt", "2941 trace events but no whole idle period"),
        ("trappy/tests/trace_failed_to_parse.txt", "11 trace events but no whole idle period"),
    ] {
        let message = open(&folder.join(name)).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}

/// A CPU that the scheduler sends to idle, and that yet has no idle events, is left out and said.
#[test]
fn a_cpu_without_idle_events_is_not_called_busy() {
    let Some(folder) = folder() else { return };
    let recording = open(&folder.join("guest/menu-sweep.dat")).unwrap();
    assert_eq!(recording.cpus.len(), 1);
    let note = recording.notes.iter().find(|note| note.kind == NoteKind::NoIdleEvents).unwrap();
    // `trace-cmd report -R -F sched_switch --cpu 1 | grep -c next_pid=0`
    assert_eq!((note.cpu, note.count), (Some(CpuId(1)), 21_563));
}

/// The latency limit of nought from 4042.479359 to 4043.479547 s leaves but the polling state.
#[test]
fn a_latency_limit_is_read_off_its_events() {
    let Some(folder) = folder() else { return };
    let recording = open(&folder.join("guest/menu-qos0.dat")).unwrap();
    let limited = |limit| {
        let periods = recording.cpus[0].periods.iter();
        periods.filter(|p| p.latency_limit == Some(limit)).collect::<Vec<_>>()
    };
    // The one period that was under way, or about to be, is the twelfth of state 1.
    let polled = limited(Nanoseconds::ZERO);
    assert!(polled.len() > 3_840, "{}", polled.len());
    assert!(polled.iter().filter(|p| p.state.get() != 0).count() <= 1);
    let none = limited(Nanoseconds::from_micros(2_000_000_000));
    assert!(none.iter().filter(|p| p.state.get() == 0).count() <= 1);
}
