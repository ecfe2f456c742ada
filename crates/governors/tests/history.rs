// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports from mailing lists that set one revision of a governor apart from another, each with its
//! arithmetic.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Cpu, POLL, ns, sleeping, state, step, table, triple, without};
use idlelab_governors::Tick;
use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_states::IdleStates;

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

/// All that keep bins.
const WITH_BINS: [&str; 10] = [
    "teo@5.14",
    "teo@6.3",
    "teo@6.6",
    "teo@6.11",
    "teo@6.12.117",
    "teo@6.14",
    "teo@over-eager",
    "teo@6.19",
    "teo@7.0",
    "teo",
];

fn poll_c1_c6() -> IdleStates {
    table(&[POLL, sleeping(2_000, 2_000), sleeping(133_000, 600_000)])
}

fn wfi_c1_c6() -> IdleStates {
    table(&[sleeping(1_000, 1_000), sleeping(2_000, 2_000), sleeping(133_000, 600_000)])
}

fn limited(limit: i64, inputs: StepInputs) -> StepInputs {
    StepInputs { latency_limit: ns(limit), ..inputs }
}

/// The state of 2580 µs is chosen for a timer 60 ms away, and the tick wakes the CPU each time. Up
/// to 6.18 that is a hit of the timer. From 6.19 on it counts for the last state, which no timer
/// reaches: 3 · ticks > 2 · all from the third on.
#[test]
fn teo_counts_wakeups_by_the_tick_for_the_timer_up_to_6_18_and_then_for_the_deepest_state() {
    let states = table(&[
        sleeping(1_000, 1_000),
        sleeping(147_000, 2_580_000),
        sleeping(20_000_000, 4_294_967_295_000),
    ]);
    let tick = StepInputs { got_tick: true, ..step(60 * MILLISECOND, 997 * MICROSECOND) };
    for (name, bin) in [
        ("teo@6.11", 1),
        ("teo@6.12.117", 1),
        ("teo@6.14", 1),
        ("teo@6.19", 2),
        ("teo@7.0", 2),
        ("teo", 2),
    ] {
        let mut cpu = Cpu::new(name, 1000, states);
        cpu.repeat(50, &tick);
        let hits = cpu.metrics("hits");
        assert!(hits[bin] > 4096 && hits[3 - bin] < 1024, "{name}: {hits:?}");
    }
}

/// Sleeps of 4 µs make intercepts in the bin of the 2 µs state: 4 − 1 ≥ 2. Going down to it, 6.6 to
/// 6.13 spare the question only where state 0 polls.
#[test]
fn teo_of_6_6_to_6_13_asks_for_the_sleep_length_in_a_shallow_state_unless_state_0_polls() {
    for name in ["teo@6.6", "teo@6.11", "teo@6.12.117"] {
        for (states, queries) in [(poll_c1_c6(), 0), (wfi_c1_c6(), 1)] {
            let mut cpu = Cpu::new(name, 250, states);
            let outcome = cpu.repeat(20, &step(SECOND, 4 * MICROSECOND));
            assert_eq!(outcome.selection.state, state(1), "{name}");
            assert_eq!(outcome.sleep_length_queries, queries, "{name}");
        }
    }
}

/// One intercept, then timers of a second: hits of a tick or longer, that 6.6 counts apart and
/// forgets to remember. The intercept is learnt with the second selection, taken out nine later and
/// once more nine later: 1, 0, and 0 − 1 in 32 bits.
#[test]
fn teo_of_6_6_counts_recent_intercepts_below_zero_and_teo_of_5_14_does_not() {
    for (name, counts) in
        [("teo@6.6", [1, 0, 4_294_967_295]), ("teo@5.14", [1, 0, 0]), ("teo@6.3", [1, 0, 0])]
    {
        let mut cpu = Cpu::new(name, 250, poll_c1_c6());
        cpu.step(&step(SECOND, 100 * MICROSECOND));
        let long = step(SECOND, SECOND);
        for (selections, count) in [9, 1, 9].into_iter().zip(counts) {
            cpu.repeat(selections, &long);
            assert_eq!(cpu.metrics("recent")[1], count, "{name}");
        }
    }
}

/// Sleeps of 1 µs, below half of the first enabled state's latency: all intercepts are in bin 0.
/// The walk down covers them there only, and state 1 is the last that is enabled above it.
#[test]
fn teo_with_state_0_disabled_walks_down_to_its_bin_and_chooses_the_first_enabled_state() {
    for name in WITH_BINS {
        let mut cpu = Cpu::new(name, 250, without(poll_c1_c6(), &[0]));
        let outcome = cpu.repeat(20, &step(SECOND, MICROSECOND));
        assert_eq!(outcome.selection.state, state(1), "{name}");
        assert!(cpu.metrics("intercepts")[0] > 4096, "{name}");
    }
}

/// The first selection learns that the timer woke the CPU. Then come 101 to 109 µs. Of eight places
/// the ninth and tenth duration take the first two. Up to 5.5 there is a ninth place, so to speak,
/// and what was written there, 108 µs, is never seen again.
#[test]
fn teo_up_to_5_5_loses_every_ninth_idle_duration() {
    const NEVER: i64 = 4_294_967_295 * MICROSECOND;
    let states = table(&[sleeping(0, 1_000), sleeping(0, 600_000)]);
    let seen = |name: &str| {
        let mut cpu = Cpu::new(name, 250, states);
        for duration in 101..=109 {
            cpu.step(&step(SECOND, duration * MICROSECOND));
        }
        let eight = cpu.metrics("intervals");
        cpu.step(&step(SECOND, 0));
        (eight, cpu.metrics("intervals"))
    };
    let microseconds = |durations: [i64; 8]| durations.map(|duration| duration * MICROSECOND);
    for name in ["teo@rfc-v5", "teo@rfc-v6", "teo@5.1", "teo@5.3"] {
        let (before, after) = seen(name);
        assert_eq!(before[1..], microseconds([0, 101, 102, 103, 104, 105, 106, 107])[1..]);
        assert_eq!(before[0], NEVER, "{name}");
        assert_eq!(after, microseconds([109, 101, 102, 103, 104, 105, 106, 107]), "{name}");
    }
    let (before, after) = seen("teo@5.10");
    assert_eq!(before, microseconds([108, 101, 102, 103, 104, 105, 106, 107]));
    assert_eq!(after, microseconds([108, 109, 102, 103, 104, 105, 106, 107]));
}

/// The states within the limit are below the 1 ms tick, and the timer, 1 s away, wakes the CPU each
/// time. In 5.1 the too slow state ends the search, and 600 µs are expected. From 5.3 on all of the
/// timer is, but the first too slow state is admitted. 5.14 respects the limit.
#[test]
fn teo_under_a_latency_limit_keeps_the_tick_up_to_5_2_and_sleeps_one_state_too_deep_up_to_5_13() {
    let states = table(&[
        POLL,
        sleeping(2_000, 2_000),
        sleeping(133_000, 600_000),
        sleeping(1_034_000, 3_102_000),
    ]);
    let chosen = |name: &str| {
        let long = step(SECOND, SECOND + 200 * MICROSECOND);
        triple(&Cpu::new(name, 1000, states).repeat(10, &limited(500_000, long)))
    };
    assert_eq!(chosen("teo@rfc-v5"), (2, false, true));
    assert_eq!(chosen("teo@5.1"), (2, false, true));
    assert_eq!(chosen("teo@5.3"), (3, true, true));
    assert_eq!(chosen("teo@5.10"), (3, true, true));
    for name in WITH_BINS {
        assert_eq!(chosen(name), (2, true, true), "{name}");
    }
    for name in ["menu@5.10", "menu@5.14", "menu@6.6", "menu@6.12", "menu@6.12.117", "menu@6.19"] {
        assert_eq!(chosen(name), (2, true, true), "{name}");
    }
}

/// At a latency limit of zero menu polls; it has asked before: 3 ms to the timer. The first of the
/// intervals is "no idea" where rejected entries are recorded, since none was entered before it.
#[test]
fn menu_since_5_10_takes_a_poll_timeout_for_the_whole_time_to_the_timer() {
    let timeout = StepInputs { poll_time_limit: true, ..step(3 * MILLISECOND, 10_000) };
    for (name, place) in [
        ("menu@5.10", 0),
        ("menu@5.14", 0),
        ("menu@6.1.192", 1),
        ("menu@6.6", 0),
        ("menu@6.12", 0),
        ("menu@6.12.117", 1),
        ("menu@6.15", 0),
        ("menu@6.19", 1),
    ] {
        let mut cpu = Cpu::new(name, 250, poll_c1_c6());
        assert_eq!(triple(&cpu.step(&limited(0, timeout))), (0, false, true), "{name}");
        cpu.step(&step(SECOND, SECOND));
        assert_eq!(cpu.metrics("intervals")[place], 3 * MILLISECOND, "{name}");
    }
}

/// −3 µs as an unsigned number is farther away than any timer.
#[test]
fn an_expired_timer_is_far_away_up_to_5_12() {
    let expired = step(-3_000, 1_000);
    let teo = |name: &str| triple(&Cpu::new(name, 250, wfi_c1_c6()).step(&expired));
    assert_eq!(teo("teo@5.10"), (2, true, true));
    for name in ["teo@5.14", "teo@6.3", "teo@6.11", "teo@6.14", "teo@6.19"] {
        assert_eq!(teo(name), (0, false, true), "{name}");
    }
    for (name, next_timer) in [("menu@5.10", -3_000), ("menu@5.14", 0), ("menu@6.12", 0)] {
        let mut menu = Cpu::new(name, 250, wfi_c1_c6());
        menu.step(&expired);
        assert_eq!(menu.metric("next_timer_ns"), next_timer, "{name}");
    }
}

/// Eight sleeps of 300 µs by timers, then nothing but rejected entries, with the timer far away.
/// Where those are not recorded 300 µs stay what is typical, and the tick runs on; where they are,
/// eight of them leave no idea, and the timer is believed.
#[test]
fn menu_that_does_not_record_rejected_entries_keeps_the_tick_running() {
    let states = table(&[
        sleeping(1_000, 1_000),
        sleeping(1_500_000, 2_000_000),
        sleeping(1_600_000, 2_500_000),
    ]);
    let last_choice = |name: &str| {
        let mut cpu = Cpu::new(name, 250, states);
        cpu.repeat(10, &step(300 * MICROSECOND, 300 * MICROSECOND));
        let rejected = StepInputs { entry: Entry::Rejected, ..step(SECOND, 0) };
        triple(&cpu.repeat(20, &rejected))
    };
    for name in ["menu@5.10", "menu@5.14", "menu@6.6", "menu@6.12", "menu@6.15"] {
        assert_eq!(last_choice(name), (0, false, true), "{name}");
    }
    for name in ["menu@6.1.192", "menu@6.12.117", "menu@6.17", "menu@6.18", "menu@6.19", "menu"] {
        assert_eq!(last_choice(name), (2, true, true), "{name}");
    }
}

/// Typically 100 µs, the timer 1 s away, the tick stopped: 100 µs are not trusted. Before 6.6 the
/// timers were known; up to 7.0, but for Debian's 6.12.117, a typical interval of up to 15 µs
/// leaves them unasked, and then nothing is in the way of the deepest state.
#[test]
fn menu_with_the_tick_stopped_may_go_deep_without_asking_for_the_timer() {
    for (name, asks) in [
        ("menu@5.14", true),
        ("menu@6.6", false),
        ("menu@6.12", false),
        ("menu@6.12.117", true),
        ("menu@6.19", false),
        ("menu", true),
    ] {
        let mut cpu = Cpu::new(name, 250, poll_c1_c6());
        cpu.repeat(20, &step(SECOND, 10 * MICROSECOND));
        let stopped = StepInputs { tick: Tick::Stopped, ..step(3 * MICROSECOND, 0) };
        // With the timer 3 µs away C1 is right; who does not ask goes to C6.
        let chosen = if asks { 1 } else { 2 };
        assert_eq!(triple(&cpu.step(&stopped)), (chosen, true, asks), "{name}");
    }
}

/// Wakeups every microsecond, the timer 100 ms away, C1 with a residency of 2 µs: 4.6 leaves
/// polling for it because of the timer, the others do not, 1 < 2. Every 10 µs all do, 10 > 2, until
/// a load of one divides 4.5's prediction by 21: neither start, 0 ≤ 20, nor latency, 2 > 0, admit
/// C1 then.
#[test]
fn menu_of_4_6_leaves_polling_if_the_timer_is_far_and_those_before_if_the_wakeup_is() {
    let chosen = |name: &str, wakeup: i64, load: u32| {
        let mut cpu = Cpu::new(name, 250, poll_c1_c6());
        let inputs = StepInputs { load, ..step(100 * MILLISECOND, wakeup * MICROSECOND) };
        cpu.repeat(30, &inputs).selection.state.get()
    };
    for (name, after_1, after_10_loaded) in
        [("menu@4.5", 0, 0), ("menu@4.6-reverted", 0, 1), ("menu@4.6", 1, 1)]
    {
        assert_eq!(chosen(name, 1, 0), after_1, "{name}");
        assert_eq!(chosen(name, 10, 0), 1, "{name}");
        assert_eq!(chosen(name, 10, 2048), after_10_loaded, "{name}");
    }
}

/// A disabled state is passed on the way down and on the way up, and where only the polling state
/// is enabled that is what is left. Shipped ladder stays in front of it, or in it.
#[test]
fn ladder_as_it_was_to_be_fixed_passes_disabled_states() {
    let rows = [POLL, sleeping(2_000, 2_000), sleeping(10_000, 20_000), sleeping(133_000, 600_000)];
    let long = step(SECOND, SECOND);
    let settled = |name: &str, disabled: &[usize]| {
        let mut cpu = Cpu::new(name, 250, without(table(&rows), disabled));
        cpu.repeat(100, &long).selection.state.get()
    };
    assert_eq!(settled("ladder", &[2]), 1);
    assert_eq!(settled("ladder@fixed", &[2]), 3);
    assert_eq!(settled("ladder", &[1, 2, 3]), 1);
    assert_eq!(settled("ladder@fixed", &[1, 2, 3]), 0);
    // Four idle periods of less than the exit latency lead up, past state 2.
    let mut cpu = Cpu::new("ladder@fixed", 250, without(table(&rows), &[2]));
    assert_eq!(cpu.repeat(100, &long).selection.state, state(3));
    let short = step(SECOND, 20 * MICROSECOND);
    let states: Vec<_> = (0..6).map(|_| cpu.step(&short).selection.state.get()).collect();
    assert_eq!(states, [3, 3, 3, 3, 1, 1]);
}

/// A halt of 150 µs makes the limit 50 µs, and each long halt halves it: 25, 12.5, 6.25 µs. Later
/// kernels give it up below the starting size, and halt at once.
#[test]
fn haltpoll_up_to_6_8_goes_on_polling_for_ever_shorter_times() {
    let timeout = StepInputs { poll_time_limit: true, ..step(SECOND, 50_000) };
    for (name, limits) in [("haltpoll@6.8", &[25_000, 12_500, 6_250][..]), ("haltpoll", &[0])] {
        let mut cpu = Cpu::new(name, 250, table(&[POLL, sleeping(1_000, 1_000)]));
        cpu.step(&step(SECOND, 150_000));
        assert_eq!(cpu.driver.device().poll_limit, ns(50_000));
        for &limit in limits {
            assert_eq!(cpu.step(&timeout).selection.state, state(0), "{name}");
            cpu.step(&step(SECOND, SECOND));
            assert_eq!(cpu.driver.device().poll_limit, ns(limit), "{name}");
        }
    }
}
