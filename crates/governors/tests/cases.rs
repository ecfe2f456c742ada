// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports from mailing lists turned into inputs and right answers, and what the golden hashes
//! cannot see, each with its arithmetic.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Cpu, POLL, governor, ns, sleeping, state, step, table, triple, without};
use idlelab_governors::catalog::{AnyGovernor, CATALOGUE};
use idlelab_governors::clairvoyant::{Clairvoyant, StateCost, StateCosts};
use idlelab_governors::haltpoll::{Haltpoll, Parameters, Shrinking};
use idlelab_governors::steps::{Entry, StepDriver, StepInputs};
use idlelab_governors::{Foresight, Governor, SleepLength, Tick};
use idlelab_states::{IdleStates, Nanoseconds, PerState};

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

fn stopped(inputs: StepInputs) -> StepInputs {
    StepInputs { tick: Tick::Stopped, ..inputs }
}

fn limited(limit: i64, inputs: StepInputs) -> StepInputs {
    StepInputs { latency_limit: ns(limit), ..inputs }
}

fn poll_c1_c6() -> IdleStates {
    table(&[POLL, sleeping(2_000, 2_000), sleeping(133_000, 600_000)])
}

fn wfi_c1_c6() -> IdleStates {
    table(&[sleeping(1_000, 1_000), sleeping(2_000, 2_000), sleeping(133_000, 600_000)])
}

/// The two deep states are entered from the same residency on.
fn phone() -> IdleStates {
    table(&[sleeping(1_000, 1_000), sleeping(349_000, 6_710_000), sleeping(434_000, 6_710_000)])
}

// teo

/// An update for state 0 with residency 0 and sleep length 0: short; the timer's bin and the
/// duration's are 0, but 0 − 0 < 0/2 is false: an intercept, within a tick. Then 2·1024 > 1024 − 0
/// leads down to state 0, and short idle periods dominate: 2·1024 ≥ 1024.
#[test]
fn teo_on_a_fresh_cpu_with_a_polling_state_learns_an_intercept_and_polls() {
    let mut cpu = Cpu::new("teo", 250, poll_c1_c6());
    assert_eq!(triple(&cpu.step(&step(SECOND, SECOND))), (0, false, false));
    assert_eq!(cpu.metrics("intercepts"), [1024, 0, 0]);
    assert_eq!(cpu.metrics("hits"), [0, 0, 0]);
    for metric in ["total", "tick_intercepts", "short_idles"] {
        assert_eq!(cpu.metric(metric), 1024, "{metric}");
    }
}

/// With a latency of 1 µs 0 − 0 < 500 is true: a hit, and nothing leads down.
#[test]
fn teo_on_a_fresh_cpu_without_a_polling_state_learns_a_hit_and_goes_deep() {
    let mut cpu = Cpu::new("teo", 250, wfi_c1_c6());
    assert_eq!(triple(&cpu.step(&step(SECOND, SECOND))), (2, true, true));
    assert_eq!(cpu.metrics("hits"), [1024, 0, 0]);
    assert_eq!(cpu.metric("tick_intercepts"), 0);
}

/// x − ⌊x/8⌋ + 1024 = x from 8192 on.
#[test]
fn a_teo_metric_that_alone_grows_converges_to_8192() {
    let mut cpu = Cpu::new("teo", 250, wfi_c1_c6());
    cpu.repeat(300, &step(SECOND, SECOND + 200_000));
    assert_eq!(cpu.metrics("hits"), [0, 0, 8192]);
    assert_eq!(cpu.metric("total"), 8192);
}

/// With the tick stopped, the walk after intercepts (all in bin 0) passes the zero-size bin of
/// state 1. Up to 6.19 it stops there as the last state of a tick or more; 7.0 does not start on a
/// bin without size; since 7.1 state 0 is reached and left again for the deepest that the timer
/// leaves time for.
#[test]
fn b3_of_two_states_with_the_same_residency_teo_never_chooses_the_shallower_with_the_tick_stopped()
{
    for (name, expected) in [("teo", 2), ("teo@7.0", 2), ("teo@6.19", 1), ("teo@6.14", 1)] {
        let mut cpu = Cpu::new(name, 250, phone());
        cpu.repeat(20, &step(SECOND, 100_000));
        let outcome = cpu.step(&stopped(step(SECOND, SECOND)));
        assert_eq!(outcome.selection.state, state(expected), "{name}");
    }
}

/// First a hit in bin 0 and a stay in state 1 or 2 with the timer 100 ms away. Woken after 200 µs:
/// within the latency, so 100 µs: an intercept in bin 0, shorter than the 4 ms tick. Woken after
/// 5 ms: 5 ms − 217 µs, an intercept in bin 0, longer than the tick.
#[test]
fn b5_teo_counts_intercepts_within_a_tick_and_teo_of_6_14_those_beyond() {
    for (residency, teo, teo_6_14) in [(200_000, 1024, 0), (5 * MILLISECOND, 0, 1024)] {
        for (name, expected) in
            [("teo", teo), ("teo@7.0", teo), ("teo@6.19", teo), ("teo@6.14", teo_6_14)]
        {
            let mut cpu = Cpu::new(name, 250, phone());
            assert_eq!(cpu.step(&step(100 * MILLISECOND, residency)).selection.state, state(2));
            cpu.step(&step(100 * MILLISECOND, residency));
            assert_eq!(cpu.metrics("intercepts")[0], 1024);
            assert_eq!(cpu.metric("tick_intercepts"), expected, "{name} after {residency} ns");
        }
    }
}

/// 6.6 to 6.18 kept the 600 µs state for a 100 µs timer, because the 2 µs state was below a tick;
/// Debian's 6.12.117 has the correction.
#[test]
fn b6_teo_chooses_no_state_deeper_than_the_timer_whether_the_tick_is_stopped_or_not() {
    for (name, with_tick_stopped) in [
        ("teo", 1),
        ("teo@7.0", 1),
        ("teo@6.19", 1),
        ("teo@6.14", 2),
        ("teo@6.12.117", 1),
        ("teo@6.11", 2),
        ("teo@6.6", 2),
    ] {
        let running = Cpu::new(name, 250, wfi_c1_c6()).step(&step(100_000, 100_000));
        assert_eq!(triple(&running), (1, false, true), "{name}");
        let outcome = Cpu::new(name, 250, wfi_c1_c6()).step(&stopped(step(100_000, 100_000)));
        assert_eq!(triple(&outcome), (with_tick_stopped, true, true), "{name}");
    }
}

/// Short idle periods dominate, all in bin 0 or 1: both tables lead to a shallow state at once.
/// (Up to 6.13 a shallow state other than 0 spared the question only if state 0 polls.)
#[test]
fn b7_teo_asks_for_no_sleep_length_in_a_shallow_state_whether_state_0_polls_or_not() {
    for name in ["teo", "teo@6.14"] {
        for states in [poll_c1_c6(), wfi_c1_c6()] {
            let mut cpu = Cpu::new(name, 250, states);
            let outcome = cpu.repeat(20, &step(SECOND, 4_000));
            assert_eq!(outcome.sleep_length_queries, 0, "{name}");
            assert_eq!(cpu.metric("sleep_length_ns"), i64::MAX, "{name}");
        }
    }
}

/// 7.499 µs are below half of 15 µs, 7.5 µs are not; both allow the 2 µs state only. The sleeps
/// are long, so that it is the limit that spares the question.
#[test]
fn teo_asks_for_no_sleep_length_under_a_tight_latency_limit() {
    for name in ["teo", "teo@6.14"] {
        let mut cpu = Cpu::new(name, 250, poll_c1_c6());
        cpu.repeat(20, &step(SECOND, SECOND + 200_000));
        let long = step(SECOND, SECOND + 200_000);
        assert_eq!(triple(&cpu.step(&limited(7_499, long))), (1, false, false), "{name}");
        assert_eq!(triple(&cpu.step(&limited(7_500, long))), (1, true, true), "{name}");
    }
}

/// The tick is 4 ms.
#[test]
fn teo_stops_the_tick_for_a_timer_one_tick_away_but_not_a_nanosecond_nearer() {
    for name in ["teo", "teo@6.14"] {
        let select = |sleep| triple(&Cpu::new(name, 250, wfi_c1_c6()).step(&step(sleep, sleep)));
        assert_eq!(select(4 * MILLISECOND), (2, true, true), "{name}");
        assert_eq!(select(4 * MILLISECOND - 1), (2, false, true), "{name}");
    }
}

/// A timer at the very residency is enough, and a nanosecond less leads to the next state down.
#[test]
fn teo_accepts_a_state_whose_residency_equals_the_sleep_length() {
    for name in ["teo", "teo@6.14"] {
        let select = |sleep| triple(&Cpu::new(name, 250, wfi_c1_c6()).step(&step(sleep, sleep)));
        assert_eq!(select(600_000), (2, false, true), "{name}");
        assert_eq!(select(599_999), (1, false, true), "{name}");
    }
}

/// The tick in 500 µs would cut 600 µs short; one in 600 µs would not.
#[test]
fn teo_keeps_the_tick_only_with_a_state_that_it_does_not_cut_short() {
    for name in ["teo", "teo@6.14"] {
        let select = |delta_tick| {
            let sleep_length =
                SleepLength { sleep: ns(3 * MILLISECOND), delta_tick: ns(delta_tick) };
            let inputs = StepInputs { sleep_length, ..step(0, 100_000) };
            triple(&Cpu::new(name, 250, wfi_c1_c6()).step(&inputs))
        };
        assert_eq!(select(500_000), (1, false, true), "{name}");
        assert_eq!(select(600_000), (2, false, true), "{name}");
    }
}

/// Twice the 4 ms tick is 8 ms. Intercepts lead to state 0; with the tick stopped and the timer
/// further away than that it is left for the deepest enabled state within limit and timer.
#[test]
fn teo_with_the_tick_stopped_leaves_a_shallow_state_for_a_timer_more_than_two_ticks_away() {
    let rows = [
        sleeping(1_000, 1_000),
        sleeping(100_000, 1_000_000),
        sleeping(147_000, 2_580_000),
        sleeping(900_000, 20_000_000),
    ];
    let select = |disabled: &[usize], inputs: StepInputs| {
        let mut cpu = Cpu::new("teo", 250, without(table(&rows), disabled));
        cpu.repeat(20, &step(SECOND, 10_000));
        triple(&cpu.step(&stopped(inputs)))
    };
    let safe = 8 * MILLISECOND;
    // In state 0 the answer "keep" stands, since there is nothing to stop.
    assert_eq!(select(&[], step(safe, 0)), (0, false, true));
    assert_eq!(select(&[], step(safe + 1, 0)), (2, true, true));
    assert_eq!(select(&[], step(20 * MILLISECOND, 0)), (3, true, true));
    assert_eq!(select(&[2], step(safe + 1, 0)), (1, true, true));
    assert_eq!(select(&[], limited(899_999, step(SECOND, 0))), (2, true, true));
    assert_eq!(select(&[1, 2], limited(899_999, step(SECOND, 0))), (0, true, true));
}

/// The latency limit is not looked at, and the residency alone decides over the 4 ms tick.
#[test]
fn teo_with_a_single_enabled_state_asks_nothing() {
    for name in ["teo", "teo@6.14"] {
        let select =
            |states, inputs: &StepInputs| triple(&Cpu::new(name, 250, states).step(inputs));
        let inputs = limited(0, step(SECOND, SECOND));
        let only_c6 = without(poll_c1_c6(), &[0, 1]);
        assert_eq!(select(only_c6, &inputs), (2, false, false), "{name}");
        assert_eq!(select(only_c6, &stopped(inputs)), (2, true, false), "{name}");
        let only_deep = without(phone(), &[0, 1]);
        assert_eq!(select(only_deep, &inputs), (2, true, false), "{name}");
        let only_poll = without(poll_c1_c6(), &[1, 2]);
        assert_eq!(select(only_poll, &inputs), (0, false, false), "{name}");
        let nothing = without(poll_c1_c6(), &[0, 1, 2]);
        assert_eq!(select(nothing, &stopped(inputs)), (0, false, false), "{name}");
    }
}

/// Neither C1 nor C6 is within the limit, so state 0 it is, disabled or not.
#[test]
fn teo_under_a_latency_limit_that_no_enabled_state_meets_chooses_state_0_though_disabled() {
    for name in ["teo", "teo@6.14"] {
        let mut cpu = Cpu::new(name, 250, without(poll_c1_c6(), &[0]));
        let outcome = cpu.step(&limited(1_000, step(SECOND, SECOND)));
        assert_eq!(outcome.selection.state, state(0), "{name}");
    }
}

/// Polling timed out: the measurement does not count, the idle period is taken as endless. The
/// timers were not asked, so the timer's bin is the deepest too, but 0 < 0/2 is false: intercept,
/// and not within a tick. The tick's metric only decays: 1024 − 128.
#[test]
fn teo_takes_a_poll_timeout_for_an_endless_idle_period() {
    let mut cpu = Cpu::new("teo", 250, poll_c1_c6());
    let timeout = StepInputs { poll_time_limit: true, ..step(SECOND, 250_000) };
    assert_eq!(cpu.step(&timeout).selection.state, state(0));
    cpu.step(&step(SECOND, SECOND));
    assert_eq!(cpu.metrics("intercepts"), [896, 0, 1024]);
    assert_eq!(cpu.metric("tick_intercepts"), 896);
    assert_eq!(cpu.metric("short_idles"), 896);
    assert!(!cpu.driver.device().poll_time_limit);
}

// teo and menu

/// The states within the limit are below the 1 ms tick, but the timer is 1 s away and reached each
/// time: menu predicts all of it, teo has next to no intercepts.
#[test]
fn b20_a_latency_limit_that_forbids_all_states_of_a_tick_or_more_does_not_keep_the_tick() {
    let states = table(&[
        POLL,
        sleeping(2_000, 2_000),
        sleeping(133_000, 600_000),
        sleeping(1_034_000, 3_102_000),
    ]);
    for name in ["teo", "teo@6.14", "menu"] {
        let mut cpu = Cpu::new(name, 1000, states);
        let outcome = cpu.repeat(10, &limited(500_000, step(SECOND, SECOND + 200_000)));
        assert_eq!(triple(&outcome), (2, true, true), "{name}");
    }
}

// menu

/// At a latency limit of zero menu polls; it has asked before: 3 ms to the timer.
#[test]
fn b21_menu_takes_a_poll_timeout_for_the_whole_time_to_the_timer() {
    let mut cpu = Cpu::new("menu", 250, poll_c1_c6());
    let timeout = StepInputs { poll_time_limit: true, ..step(3 * MILLISECOND, 10_000) };
    assert_eq!(triple(&cpu.step(&limited(0, timeout))), (0, false, true));
    cpu.step(&step(SECOND, SECOND));
    // The first is "no idea": there was no idle period before the first selection.
    let no_idea = 4_294_967_295_000;
    assert_eq!(cpu.metrics("intervals"), [no_idea, 3 * MILLISECOND, 0, 0, 0, 0, 0, 0]);
}

/// The tick was kept, fired, and the timer was 1 s away: 45 ms, in microseconds.
#[test]
fn menu_takes_a_wakeup_by_the_tick_for_45_milliseconds() {
    let mut cpu = Cpu::new("menu", 250, poll_c1_c6());
    cpu.step(&StepInputs { got_tick: true, ..step(SECOND, 4 * MILLISECOND) });
    cpu.step(&step(SECOND, SECOND));
    assert_eq!(cpu.metrics("intervals")[1], 45 * MILLISECOND);
}

/// Nothing but "no idea" is recorded, so the timer is believed and the tick stopped; recording
/// nothing at all would have kept the last short intervals, and the tick.
#[test]
fn b16_menu_records_rejected_entries_as_no_idea_and_goes_on_stopping_the_tick() {
    let states = table(&[
        sleeping(1_000, 1_000),
        sleeping(1_500_000, 2_000_000),
        sleeping(1_600_000, 2_500_000),
    ]);
    let mut cpu = Cpu::new("menu", 250, states);
    let rejected = StepInputs { entry: Entry::Rejected, ..step(100 * MILLISECOND, 300_000) };
    for _ in 0..20 {
        assert_eq!(triple(&cpu.step(&rejected)), (2, true, true));
    }
    assert_eq!(cpu.metrics("intervals"), [4_294_967_295_000; 8]);
}

/// menu takes −3 µs for 0: less than C1's residency, so state 0. teo keeps the sign: no residency
/// fits −3 µs, so the first enabled state.
#[test]
fn b23_an_expired_timer_is_zero_to_menu_and_negative_to_teo() {
    let mut menu = Cpu::new("menu", 250, wfi_c1_c6());
    assert_eq!(triple(&menu.step(&step(-3_000, 1_000))), (0, true, true));
    assert_eq!(menu.metric("next_timer_ns"), 0);
    for name in ["teo", "teo@6.14"] {
        let mut cpu = Cpu::new(name, 250, wfi_c1_c6());
        assert_eq!(triple(&cpu.step(&step(-3_000, 1_000))), (0, false, true), "{name}");
        assert_eq!(cpu.metric("sleep_length_ns"), -3_000, "{name}");
        let mut cpu = Cpu::new(name, 250, without(wfi_c1_c6(), &[0]));
        assert_eq!(triple(&cpu.step(&step(-3_000, 1_000))), (1, false, true), "{name}");
    }
}

// ladder

/// As shipped: a disabled next state blocks the way down, and the first rung is not checked.
#[test]
fn b25_ladder_stays_in_a_disabled_first_rung_and_never_passes_a_disabled_state() {
    let all_disabled = without(poll_c1_c6(), &[1, 2]);
    let outcome = Cpu::new("ladder", 250, all_disabled).repeat(100, &step(SECOND, SECOND));
    assert_eq!(triple(&outcome), (1, true, false));

    let rows = [POLL, sleeping(2_000, 2_000), sleeping(10_000, 20_000), sleeping(133_000, 600_000)];
    let without_c1e = without(table(&rows), &[2]);
    let outcome = Cpu::new("ladder", 250, without_c1e).repeat(100, &step(SECOND, SECOND));
    assert_eq!(triple(&outcome), (1, true, false));
}

/// As shipped: 1 µs − 2 µs compares as an enormous time. The first selection counts too: 0 − 2 µs.
/// Four promote. In C6 1 µs − 133 µs is enormous as well, but 150 − 133 = 17 < 133 demotes.
#[test]
fn ladder_is_promoted_by_idle_periods_shorter_than_the_exit_latency() {
    let mut cpu = Cpu::new("ladder", 250, poll_c1_c6());
    let states: Vec<_> =
        (0..6).map(|_| cpu.step(&step(SECOND, 1_000)).selection.state.get()).collect();
    assert_eq!(states, [1, 1, 1, 2, 2, 2]);
    cpu.step(&step(SECOND, 150_000));
    assert_eq!(cpu.step(&step(SECOND, 150_000)).selection.state, state(1));
}

// haltpoll

fn haltpoll_with_a_limit_of_200_microseconds() -> Cpu {
    let mut cpu = Cpu::new("haltpoll", 250, table(&[POLL, sleeping(1_000, 1_000)]));
    let timeout = StepInputs { poll_time_limit: true, ..step(SECOND, 50_000) };
    // No limit: halt for 150 µs, start with 50 µs.
    assert_eq!(triple(&cpu.step(&step(SECOND, 150_000))), (1, true, false));
    for limit in [50_000, 100_000] {
        assert_eq!(cpu.driver.device().poll_limit, ns(limit));
        assert_eq!(triple(&cpu.step(&timeout)), (0, false, false));
        assert_eq!(triple(&cpu.step(&step(SECOND, 150_000))), (1, true, false));
    }
    assert_eq!(cpu.driver.device().poll_limit, ns(200_000));
    cpu
}

/// A long halt shrinks it: 200 → 100 → 50 µs, then 25 µs is below the starting size: none.
#[test]
fn haltpoll_polls_first_and_gives_polling_up_after_long_halts() {
    let mut cpu = haltpoll_with_a_limit_of_200_microseconds();
    let timeout = StepInputs { poll_time_limit: true, ..step(SECOND, 50_000) };
    for limit in [100_000, 50_000, 0] {
        assert_eq!(cpu.step(&timeout).selection.state, state(0));
        assert_eq!(cpu.step(&step(SECOND, SECOND)).selection.state, state(1));
        assert_eq!(cpu.driver.device().poll_limit, ns(limit));
    }
    assert_eq!(cpu.step(&timeout).selection.state, state(1));
}

/// As shipped.
#[test]
fn b27_haltpoll_goes_on_polling_with_a_maximum_of_zero_while_shrinking_is_forbidden() {
    let mut cpu = haltpoll_with_a_limit_of_200_microseconds();
    let parameters =
        Parameters { maximum: 0, shrinking: Shrinking::Forbidden, ..Parameters::default() };
    // A parameter is written; the governor stays in force.
    cpu.governor = AnyGovernor::Haltpoll(Haltpoll::with_parameters(parameters));
    let timeout = StepInputs { poll_time_limit: true, ..step(SECOND, 50_000) };
    assert_eq!(cpu.step(&timeout).selection.state, state(0));
    assert_eq!(cpu.step(&step(SECOND, SECOND)).selection.state, state(1));
    assert_eq!(cpu.driver.device().poll_limit, ns(200_000));
    assert_eq!(cpu.step(&timeout).selection.state, state(0));
}

// all

#[test]
fn b26_every_governor_chooses_the_only_state_of_a_table() {
    for only in [POLL, sleeping(1_000, 1_000)] {
        for entry in &CATALOGUE {
            let name = entry.name.replace('N', "9");
            let mut cpu = Cpu::new(&name, 250, table(&[only]));
            for inputs in [step(SECOND, 10_000), stopped(step(SECOND, 0)), limited(0, step(0, 1))] {
                assert_eq!(cpu.repeat(10, &inputs).selection.state, state(0), "{name}");
            }
        }
    }
}

// idlelab's own

#[test]
fn a_fixed_state_gives_way_to_the_next_shallower_enabled_one() {
    let select = |name, states| triple(&Cpu::new(name, 250, states).step(&step(SECOND, SECOND)));
    assert_eq!(select("state:1", poll_c1_c6()), (1, true, false));
    assert_eq!(select("state:0", poll_c1_c6()), (0, false, false));
    assert_eq!(select("state:9", poll_c1_c6()), (2, true, false));
    assert_eq!(select("state:2", without(poll_c1_c6(), &[2])), (1, true, false));
    assert_eq!(select("state:1", without(poll_c1_c6(), &[0, 1])), (0, false, false));
}

#[test]
fn the_deepest_state_is_the_deepest_that_the_latency_limit_allows() {
    let select = |states, limit| {
        let inputs = limited(limit, step(SECOND, SECOND));
        triple(&Cpu::new("deepest", 250, states).step(&inputs))
    };
    assert_eq!(select(poll_c1_c6(), 133_000), (2, true, false));
    assert_eq!(select(poll_c1_c6(), 132_999), (1, true, false));
    assert_eq!(select(poll_c1_c6(), 0), (0, false, false));
    assert_eq!(select(without(poll_c1_c6(), &[0]), 0), (1, true, false));
}

fn foreseen(idle: i64, tick: Option<i64>, stoppable: bool) -> StepInputs {
    let foresight = Foresight { idle: ns(idle), tick: tick.map(ns), stoppable };
    StepInputs { foresight: Some(foresight), ..step(0, idle) }
}

#[test]
fn clairvoyant_without_costs_goes_by_target_residency() {
    let select =
        |inputs: StepInputs| triple(&Cpu::new("clairvoyant", 250, wfi_c1_c6()).step(&inputs));
    assert_eq!(select(foreseen(600_000, None, true)), (2, false, false));
    assert_eq!(select(foreseen(599_999, None, true)), (1, false, false));
    assert_eq!(select(foreseen(999, None, true)), (0, false, false));
    assert_eq!(select(limited(132_999, foreseen(600_000, None, true))), (1, false, false));
    assert_eq!(select(limited(0, foreseen(600_000, None, true))), (0, false, false));
    // Nothing foreseen: as `deepest`.
    assert_eq!(select(step(SECOND, 0)), (2, true, false));
}

#[test]
fn clairvoyant_stops_a_tick_that_would_cut_the_idle_period() {
    let select =
        |inputs: StepInputs| triple(&Cpu::new("clairvoyant", 250, wfi_c1_c6()).step(&inputs));
    assert_eq!(select(foreseen(600_000, Some(599_999), true)), (2, true, false));
    // It fires just as the idle period ends anyway.
    assert_eq!(select(foreseen(600_000, Some(600_000), true)), (2, false, false));
    // It cannot be stopped and cuts: 599 999 ns are too short for C6.
    assert_eq!(select(foreseen(600_000, Some(599_999), false)), (1, false, false));
    assert_eq!(select(foreseen(600_000, Some(900_000), false)), (2, false, false));
}

/// Energies in femtojoules, with µW · ns and 10⁶ fJ a nJ. State 1 draws 100 000 µW less than state
/// 0 for 100 nJ more: even at 100 · 10⁶ / 100 000 = 1000 ns. State 2 draws 799 999 µW less than
/// state 1 for 9000 nJ more: even at 9000 · 10⁶ / 799 999 = 11 250.01 ns.
#[test]
fn clairvoyant_with_costs_chooses_the_least_energy_and_of_equals_the_shallower() {
    let cost = |power_microwatts, transition_nanojoules| StateCost {
        power_microwatts,
        transition_nanojoules,
    };
    let mut costs: StateCosts = PerState::default();
    costs[state(0)] = cost(1_000_000, 0);
    costs[state(1)] = cost(900_000, 100);
    costs[state(2)] = cost(100_001, 9_100);
    let select = |disabled: &[usize], inputs: StepInputs| {
        let mut cpu = Cpu::new("clairvoyant", 250, without(wfi_c1_c6(), disabled));
        cpu.governor = AnyGovernor::Clairvoyant(Clairvoyant::with_costs(costs));
        triple(&cpu.step(&inputs)).0
    };
    assert_eq!(select(&[], foreseen(1_000, None, true)), 0);
    assert_eq!(select(&[], foreseen(1_001, None, true)), 1);
    assert_eq!(select(&[], foreseen(11_250, None, true)), 1);
    assert_eq!(select(&[], foreseen(11_251, None, true)), 2);
    assert_eq!(select(&[2], foreseen(11_251, None, true)), 1);
    assert_eq!(select(&[], limited(2_000, foreseen(SECOND, None, true))), 1);
    assert_eq!(select(&[0], limited(0, foreseen(SECOND, None, true))), 1);
    // Cut at the tick, or not.
    assert_eq!(select(&[], foreseen(SECOND, Some(1_000), false)), 0);
    assert_eq!(select(&[], foreseen(SECOND, Some(1_000), true)), 2);
    // Never is not too long to reckon with.
    assert_eq!(select(&[], foreseen(i64::MAX, None, true)), 2);
    assert_eq!(select(&[], foreseen(-5, None, true)), 0);
}

#[test]
fn a_governor_that_is_enabled_again_starts_from_zero() {
    for entry in &CATALOGUE {
        let name = entry.name.replace('N', "1");
        let mut cpu = Cpu::new(&name, 250, poll_c1_c6());
        let mut fresh = Vec::new();
        cpu.governor.explain(&mut |metric| fresh.push(metric));
        cpu.repeat(50, &step(SECOND, 30_000));
        cpu.driver.enable(&mut cpu.governor, &cpu.states);
        let mut again = Vec::new();
        cpu.governor.explain(&mut |metric| again.push(metric));
        assert_eq!(fresh, again, "{name}");
    }
}

#[test]
fn governors_are_objects_too() {
    let mut boxed: Box<dyn Governor> = Box::new(governor("menu", 250));
    let mut driver = StepDriver::new();
    let states = poll_c1_c6();
    driver.enable(&mut *boxed, &states);
    let outcome = driver.step(&mut *boxed, &states, &StepInputs::of_residency(Nanoseconds::ZERO));
    assert_eq!(triple(&outcome), (0, false, true));
}
