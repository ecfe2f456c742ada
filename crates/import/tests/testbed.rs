// SPDX-License-Identifier: GPL-2.0-or-later
//! The importer against recordings of a real kernel. The counts are from `grep -c` of the text.

use std::path::PathBuf;

use idlelab_import::{ImportError, open, read};
use idlelab_recording::{Fidelity, NoteKind, WakeCauses, WhatFollowed};
use idlelab_states::{CpuId, Nanoseconds, TickRate};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(name)
}

#[test]
fn nothing_of_a_recording_is_lost() {
    for (name, governor, idle_events, complete) in [
        ("teo-7.3-4cpu.txt.gz", "teo", 49_394, 24_078),
        ("menu-7.3-4cpu.txt.gz", "menu", 48_912, 23_826),
    ] {
        let recording = open(&path(name)).unwrap();
        assert_eq!(recording.fidelity, Fidelity::Inputs);
        assert_eq!(recording.governor.as_deref(), Some(governor));
        assert_eq!(recording.tick_rate.map(TickRate::hertz), Some(250));
        assert_eq!(recording.cpus.iter().map(|cpu| cpu.cpu.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(recording.complete_decisions(), complete);
        assert!(recording.cpus.iter().all(|cpu| cpu.tick_phase == Some(Nanoseconds::ZERO)));
        // Each event is half of a period, or noted: three CPUs were idle at either end.
        let noted: u64 = recording.notes.iter().map(|note| note.count).sum();
        assert_eq!(recording.periods() as u64 * 2 + noted, idle_events, "{name}");
        assert!(
            recording
                .notes
                .iter()
                .all(|note| { matches!(note.kind, NoteKind::IdleAtStart | NoteKind::IdleAtEnd) })
        );
        assert!(recording.notes.len() == 6);
    }
}

/// What one stretch of the recording says, read by hand: a timer due at 765.120848 ms ends 729.216
/// us in state 1, for which the governor was told 745.840 us, and a task runs.
#[test]
fn a_period_holds_what_the_text_says() {
    let recording = open(&path("teo-7.3-4cpu.txt.gz")).unwrap();
    let cpu = recording.cpus.iter().find(|cpu| cpu.cpu == CpuId(1)).unwrap();
    let period = cpu
        .periods
        .iter()
        .find(|period| period.enter == Nanoseconds::from_micros(764_392))
        .unwrap();
    assert_eq!(period.exit, Nanoseconds::from_micros(765_122));
    assert_eq!(period.state.get(), 1);
    assert_eq!(period.residency, Some(Nanoseconds::new(729_216)));
    assert_eq!(period.causes, WakeCauses::HRTIMER);
    assert_eq!(period.followed_by, WhatFollowed::Task);
    assert_eq!(period.next_timer, Some(Nanoseconds::new(765_120_848)));
    assert_eq!(period.expired_timer, Some(Nanoseconds::new(765_120_848)));
    // 765,120,848 less 745,840.
    assert_eq!(period.idle_start, Some(Nanoseconds::new(764_375_008)));
    assert_eq!(period.latency_limit, Some(Nanoseconds::new(2_000_000_000_000)));
    let decision = cpu.decisions.iter().rfind(|decision| decision.time < period.enter).unwrap();
    assert_eq!(decision.time, Nanoseconds::from_micros(764_388));
    assert_eq!((decision.state.get(), decision.stop_tick), (1, false));
    let told = Nanoseconds::new(745_840);
    assert_eq!(decision.sleep_length, Some((told, told)));
    assert_eq!(decision.reflection.unwrap().residency, Nanoseconds::new(729_216));
}

#[test]
fn what_is_no_recording_is_refused_in_a_sentence() {
    let refusal = |text: &[u8]| read(text, "file").unwrap_err().to_string();
    for (text, says) in [
        (&b""[..], "is empty"),
        (b"\x17\x08\x44tracing7\0", "at byte 10 of 12 there should be the start of a trace.dat"),
        (b"PERFILE2\0\0", "at byte 0 of 10 there should be the header of a perf.data"),
        (b"hello\nworld\n", "no trace event in 2 lines"),
        (b"          <idle>-0       [000] d..1.     1.000000: tick_stop: x=1\n", "no whole idle"),
        (b"          <idle>-0       [000] d..1.        70608: cpu_idle: state=1 cpu_id=0\n", ":1:"),
        (b"\x00\x01\x02", "binary data"),
    ] {
        let message = refusal(text);
        assert!(message.contains(says), "{message}");
        assert!(message.starts_with("file"), "{message}");
    }
    let directory = open(&path("")).unwrap_err();
    assert!(matches!(directory, ImportError::Directory { .. }));
    assert!(matches!(open(&path("absent")).unwrap_err(), ImportError::Io { .. }));
}

fn periods(lines: &[&str]) -> Result<idlelab_recording::Recording, ImportError> {
    read(lines.join("\n").as_bytes(), "test")
}

const ENTER: &str = "          <idle>-0       [001] d..1.     1.000100: cpu_idle: state=1 cpu_id=1";
const EXIT: &str =
    "          <idle>-0       [001] d..1.     1.000300: cpu_idle: state=4294967295 cpu_id=1";

#[test]
fn lost_events_void_the_period_they_fall_in_and_no_other() {
    let later_enter = ENTER.replace("1.0001", "2.0001");
    let later_exit = EXIT.replace("1.0003", "2.0003");
    let lost = "CPU:1 [LOST 12 EVENTS]";
    let recording = periods(&[ENTER, lost, EXIT, &later_enter, &later_exit]).unwrap();
    assert_eq!(recording.periods(), 1);
    let period = recording.cpus[0].periods.get(0).unwrap();
    assert_eq!(period.enter, Nanoseconds::from_micros(2_000_100));
    assert!(period.events_lost_before);
    assert!(recording.notes.iter().any(|n| n.kind == NoteKind::LostEvents && n.count == 12));
}

#[test]
fn the_cpu_of_an_idle_event_is_its_own_field() {
    let remote = EXIT.replace("[001]", "[000]");
    let recording = periods(&[ENTER, &remote]).unwrap();
    assert_eq!(recording.cpus.len(), 1);
    assert_eq!(recording.cpus[0].cpu, CpuId(1));
}

#[test]
fn an_exit_before_its_entry_in_time_is_a_stay_of_no_length() {
    let early = EXIT.replace("1.000300", "1.000098");
    let recording = periods(&[ENTER, &early]).unwrap();
    let period = recording.cpus[0].periods.get(0).unwrap();
    assert_eq!(period.exit, period.enter);
    assert!(recording.notes.iter().any(|note| note.kind == NoteKind::OutOfOrder));
}

#[test]
fn a_file_may_end_in_the_midst_of_a_line() {
    let recording =
        periods(&[ENTER, EXIT, "          <idle>-0       [001] d..1.     1.0004"]).unwrap();
    assert_eq!(recording.periods(), 1);
    assert!(recording.notes.iter().any(|note| note.kind == NoteKind::CutFile));
}

#[test]
fn partial_periods_at_the_ends_are_noted() {
    let before = EXIT.replace("1.0003", "1.0000");
    let after = ENTER.replace("1.0001", "1.0004");
    let recording = periods(&[&before, ENTER, EXIT, &after]).unwrap();
    assert_eq!(recording.periods(), 1);
    let kinds: Vec<NoteKind> = recording.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::IdleAtStart, NoteKind::IdleAtEnd]);
}

#[test]
fn a_deferrable_timer_is_not_waited_for() {
    let start = |flags: &str| {
        format!(
            "          <idle>-0       [001] d..1.     1.000050: timer_start: timer=00aa function=f \
             expires=300 [timeout=50] bucket_expiry=300 cpu=1 idx=1 flags={flags}"
        )
    };
    let tick = |at: u32, due: u32| {
        format!(
            "          <idle>-0       [001] d..1.     1.{at:06}: hrtimer_start: hrtimer=00bb \
             function=tick_nohz_handler expires={due} softexpires={due} mode=ABS"
        )
    };
    let next = |flags: &str| {
        let lines = [
            tick(10, 1_000_000_000),
            tick(20, 1_004_000_000),
            start(flags),
            ENTER.into(),
            EXIT.into(),
        ];
        let recording = periods(&lines.each_ref().map(String::as_str)).unwrap();
        recording.cpus[0].periods.get(0).unwrap().next_timer
    };
    // At 1.000050 s jiffy 250 has begun at 1.000000 s; jiffy 300 is 50 ticks of 4 ms later.
    assert_eq!(next(""), Some(Nanoseconds::from_micros(1_200_000)));
    assert_eq!(next("D|I"), Some(Nanoseconds::MAX));
}
