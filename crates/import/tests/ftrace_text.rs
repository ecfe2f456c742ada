// SPDX-License-Identifier: GPL-2.0-or-later
//! Odd text, as people have it, and what is made of it.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use idlelab_import::{ImportError, read};
use idlelab_recording::{NoteKind, Recording, WakeCauses};
use idlelab_states::{CpuId, Nanoseconds};

fn import(text: &str) -> Recording {
    read(text.as_bytes(), "test").unwrap()
}

/// Entry and exit of each period, in microseconds.
fn periods(recording: &Recording) -> Vec<(i64, i64)> {
    let all = recording.cpus.iter().flat_map(|cpu| cpu.periods.iter());
    all.map(|period| (period.enter.get() / 1_000, period.exit.get() / 1_000)).collect()
}

fn count(recording: &Recording, kind: NoteKind) -> u64 {
    recording.notes.iter().filter(|note| note.kind == kind).map(|note| note.count).sum()
}

/// A line of the idle task on CPU 1.
fn idle(micros: u32, event: &str) -> String {
    format!("          <idle>-0       [001] d..1.     1.{micros:06}: {event}\n")
}

fn enter(micros: u32) -> String {
    idle(micros, "cpu_idle: state=1 cpu_id=1")
}

fn exit(micros: u32) -> String {
    idle(micros, "cpu_idle: state=4294967295 cpu_id=1")
}

#[test]
fn lines_that_a_mail_wrapped_are_put_together() {
    let whole = enter(100) + &exit(250);
    // At 72 columns, as mail programs do, and narrower.
    for width in [72, 60, 44, 30] {
        let mut wrapped = String::new();
        for line in whole.lines() {
            let mut column = 0;
            for word in line.split_whitespace() {
                if column > 0 && column + 1 + word.len() > width {
                    wrapped.push('\n');
                    column = 0;
                } else if column > 0 {
                    wrapped.push(' ');
                    column += 1;
                }
                wrapped += word;
                column += word.len();
            }
            wrapped.push('\n');
        }
        let recording = import(&wrapped);
        assert_eq!(periods(&recording), [(1_000_100, 1_000_250)], "{width}: {wrapped}");
        assert_eq!(recording.notes, [], "{width}");
    }
}

#[test]
fn a_line_that_nothing_completes_is_counted() {
    let odd = "hello\nthere\n";
    let incomplete = idle(150, "cpu_idle: state=1");
    let recording =
        import(&(enter(100) + odd + &exit(250) + &incomplete + &enter(300) + &exit(400)));
    assert_eq!(periods(&recording), [(1_000_100, 1_000_250), (1_000_300, 1_000_400)]);
    assert_eq!(count(&recording, NoteKind::UnknownLine), 2);
    assert_eq!(count(&recording, NoteKind::IncompleteEvent), 1);
}

#[test]
fn line_ends_of_another_system_are_line_ends() {
    let recording = import(&(enter(100) + &exit(250)).replace('\n', "\r\n"));
    assert_eq!(periods(&recording), [(1_000_100, 1_000_250)]);
    assert_eq!(recording.notes, []);
}

#[test]
fn text_may_end_at_any_byte() {
    let whole = enter(100) + &exit(250) + &enter(300) + &exit(400);
    let complete = import(&whole);
    for length in 0..whole.len() {
        match read(&whole.as_bytes()[..length], "test") {
            Err(error) => assert!(error.to_string().starts_with("test"), "{error}"),
            Ok(recording) => {
                assert!(recording == complete || recording.periods() == 1, "{length}");
                // Padding alone, or a line without its end, does not show that it is cut.
                let tail = whole[..length].rsplit('\n').next().unwrap_or_default();
                if !tail.trim().is_empty() && !tail.ends_with("cpu_id=1") {
                    assert_eq!(count(&recording, NoteKind::CutFile), 1, "{tail}");
                }
            }
        }
    }
}

#[test]
fn an_exit_that_is_printed_before_its_entry_is_its_exit() {
    // As a tool printed it that sorts by CPU: the exit of 811 belongs to the entry of 809.
    let text = idle(624, "cpu_idle: state=0 cpu_id=1")
        + &exit(811)
        + &enter(809)
        + &enter(900)
        + &exit(950);
    let recording = import(&text);
    assert_eq!(periods(&recording), [(1_000_809, 1_000_811), (1_000_900, 1_000_950)]);
    assert_eq!(count(&recording, NoteKind::EntryWithoutExit), 1);
    assert_eq!(count(&recording, NoteKind::OutOfOrder), 1);
    // The same at the start, where the exit stands alone.
    let recording = import(&(exit(811) + &enter(809) + &enter(900) + &exit(950)));
    assert_eq!(periods(&recording), [(1_000_809, 1_000_811), (1_000_900, 1_000_950)]);
    assert_eq!(count(&recording, NoteKind::IdleAtStart), 0);
}

#[test]
fn an_idle_event_of_another_cpu_counts_for_the_one_it_names() {
    let remote = exit(250).replace("[001]", "[000]").replace("<idle>-0 ", " waker-10");
    let recording = import(&(enter(100) + &remote));
    assert_eq!(periods(&recording), [(1_000_100, 1_000_250)]);
    assert_eq!(recording.cpus[0].cpu, CpuId(1));
    assert_eq!(count(&recording, NoteKind::TracedElsewhere), 1);
}

#[test]
fn idle_during_suspend_is_nobodys_choice() {
    let suspend =
        |micros, what| idle(micros, &format!("suspend_resume: machine_suspend[1] {what}"));
    let text = enter(100)
        + &exit(200)
        + &enter(300)
        + &suspend(400, "begin")
        + &exit(500)
        + &enter(600)
        + &exit(700)
        + &suspend(800, "end")
        + &enter(900)
        + &exit(950);
    let recording = import(&text);
    assert_eq!(periods(&recording), [(1_000_100, 1_000_200), (1_000_900, 1_000_950)]);
    assert_eq!(count(&recording, NoteKind::Suspended), 3);
    assert!(recording.cpus[0].periods.get(1).unwrap().events_lost_before);
}

#[test]
fn a_cpu_that_goes_offline_does_not_sleep_till_it_is_back() {
    let down = idle(250, "cpuhp_enter: cpu: 0001 target:   0 step: 237 (sched_cpu_wait_empty)")
        .replace("[001]", "[000]");
    let recording = import(
        &(enter(100) + &exit(200) + &enter(220) + &down + &exit(900) + &enter(910) + &exit(950)),
    );
    assert_eq!(periods(&recording), [(1_000_100, 1_000_200), (1_000_910, 1_000_950)]);
    assert_eq!(count(&recording, NoteKind::Offline), 1);
}

#[test]
fn a_short_stay_without_a_verdict_looks_rejected() {
    let above = |micros| idle(micros, "cpu_idle_miss: cpu_id=1 state=1 type=above");
    // 100 us is too short, so 30 us must be; 200 us need not be.
    let text =
        enter(100) + &exit(200) + &above(201) + &enter(300) + &exit(330) + &enter(400) + &exit(600);
    assert_eq!(count(&import(&text), NoteKind::LooksRejected), 1);
    let without = enter(100) + &exit(200) + &enter(300) + &exit(330);
    assert_eq!(count(&import(&without), NoteKind::LooksRejected), 0);
}

#[test]
fn x86_has_vectors_where_others_have_interrupts() {
    let woken = |event: &str| {
        let text = enter(100) + &exit(200) + &idle(201, event).replace("d..1.", "d.h1.");
        import(&text).cpus[0].periods.get(0).unwrap().causes
    };
    assert_eq!(woken("reschedule_entry: vector=253"), WakeCauses::IPI);
    assert_eq!(woken("call_function_single_entry: vector=251"), WakeCauses::IPI);
    assert_eq!(woken("thermal_apic_entry: vector=250"), WakeCauses::INTERRUPT);
    // What the timer's interrupt is for, timer events tell.
    assert_eq!(woken("local_timer_entry: vector=236"), WakeCauses::NONE);
}

#[test]
fn deadlines_are_brought_to_the_clock_of_the_trace() {
    // The trace's clock is 38 ms ahead of the timers' (mono), as `local` often is.
    let timer = |micros, event: &str| idle(micros, event);
    let text = timer(40_002, "hrtimer_expire_entry: hrtimer=0a function=f now=1002000000")
        + &timer(40_100, "hrtimer_start: hrtimer=0b function=g expires=1003000000 softexpires=1")
        + &enter(40_200)
        + &exit(41_010);
    let recording = import(&text);
    let period = recording.cpus[0].periods.get(0).unwrap();
    // 1.040002 s against 1.002 s: 38.002 ms.
    assert_eq!(period.next_timer, Some(Nanoseconds::from_micros(1_041_002)));
    assert_eq!(count(&recording, NoteKind::OtherTimerClock), 1);
}

#[test]
fn only_a_limit_of_latency_is_one() {
    let qos = |micros, event: &str| idle(micros, event);
    let text = qos(10, "pm_qos_update_target: action=UPDATE_REQ prev_value=0 curr_value=7")
        + &enter(20)
        + &exit(30)
        + &qos(40, "pm_qos_update_request: CPU_DMA_LATENCY value=5")
        + &qos(41, "pm_qos_update_target: action=UPDATE_REQ prev_value=2000000000 curr_value=5")
        + &enter(50)
        + &exit(60);
    let recording = import(&text);
    let limits: Vec<_> = recording.cpus[0].periods.iter().map(|p| p.latency_limit).collect();
    // The first is of some other kind: no request of latency stands before it.
    assert_eq!(limits, [None, Some(Nanoseconds::from_micros(5))]);
}

#[test]
fn overwritten_events_are_told_by_the_header() {
    let header = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1021/23879   #P:2\n";
    let recording = import(&(header.to_owned() + &enter(100) + &exit(200)));
    assert_eq!(count(&recording, NoteKind::OverwrittenEvents), 22_858);
}

#[test]
fn raw_text_is_refused_with_the_remedy() {
    let error = read(&b"# tracer: nop\n14857 0 4099214055777 type: 372\n"[..], "test").unwrap_err();
    assert!(matches!(error, ImportError::RawText { line: 2, .. }), "{error}");
    assert!(error.to_string().contains("noraw"), "{error}");
}

/// Kernels up to 2.6.37 know no `cpu_idle`. The CPU that `power_end` names may be wrong (their
/// polling state always says 0); the one that traces it is not.
#[test]
fn kernels_without_cpu_idle_tell_it_by_power_start() {
    let text = idle(100, "power_start: type=1 state=2 cpu_id=1")
        + &idle(150, "power_start: type=2 state=1600000 cpu_id=1")
        + &idle(250, "power_end: cpu_id=0")
        + &idle(300, "power_start: type=1 state=0 cpu_id=1")
        + &idle(380, "power_end: cpu_id=1");
    let recording = import(&text);
    assert_eq!(periods(&recording), [(1_000_100, 1_000_250), (1_000_300, 1_000_380)]);
    assert_eq!(recording.cpus[0].periods.get(0).unwrap().state.get(), 2);
    assert_eq!(count(&recording, NoteKind::PowerEvents), 2);
    assert_eq!(recording.notes.len(), 1, "{:?}", recording.notes);
}

/// Kernels 2.6.38 to 3.8 can have both events, this one first.
#[test]
fn power_start_beside_cpu_idle_counts_for_nothing() {
    let both = idle(100, "power_start: type=1 state=1 cpu_id=1")
        + &enter(100)
        + &idle(250, "power_end: cpu_id=1")
        + &exit(250)
        + &idle(300, "power_start: type=1 state=1 cpu_id=1")
        + &enter(300)
        + &idle(380, "power_end: cpu_id=1")
        + &exit(380);
    let recording = import(&both);
    assert_eq!(periods(&recording), [(1_000_100, 1_000_250), (1_000_300, 1_000_380)]);
    assert_eq!(recording.notes, []);
    // Begun while the CPU was idle.
    let late = both.lines().skip(2).map(|line| format!("{line}\n")).collect::<String>();
    let recording = import(&late);
    assert_eq!(periods(&recording), [(1_000_300, 1_000_380)]);
    assert_eq!(count(&recording, NoteKind::IdleAtStart), 1);
    assert_eq!(recording.notes.len(), 1, "{:?}", recording.notes);
}

#[test]
fn the_verbose_latency_format_is_read() {
    let line = |flags: u32, micros: u32, event: &str| {
        format!(
            "          <idle>       0   1 {flags} 00000001 000000a3 [{micros:08x}] 18.671ms \
             (+0.643ms): {event}\n"
        )
    };
    let text = line(1, 1_000_100, "cpu_idle: state=1 cpu_id=1")
        + &line(1, 1_000_250, "cpu_idle: state=4294967295 cpu_id=1")
        + &line(9, 1_000_252, "irq_handler_entry: irq=5 name=eth0");
    let recording = import(&text);
    assert_eq!(periods(&recording), [(1_000_100, 1_000_250)]);
    assert_eq!(recording.cpus[0].periods.get(0).unwrap().causes, WakeCauses::INTERRUPT);
    assert_eq!(recording.notes, []);
}
