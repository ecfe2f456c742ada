// SPDX-License-Identifier: GPL-2.0-or-later
//! Replay of recordings of a few periods, with results worked out on paper. The machine has POLL,
//! C1 2/2 us and C6 100/300 us, a tick of 4 ms on whole multiples, and no overheads.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use idlelab_governors::catalog;
use idlelab_outcome::Outcome;
use idlelab_platform::{Platform, StateTable};
use idlelab_recording::{CpuRecording, Fidelity, Period, Recording, WakeCauses, WhatFollowed};
use idlelab_replay::{ExitLatency, LatencyLimit, Prepared, WhatIf};
use idlelab_states::{CpuId, IdleState, IdleStates, Nanoseconds, StateIndex, TickRate};

fn us(microseconds: i64) -> Nanoseconds {
    Nanoseconds::from_micros(microseconds)
}

/// A period in C1, from and to so many microseconds.
fn period(from: i64, to: i64, causes: WakeCauses, followed_by: WhatFollowed) -> Period {
    Period {
        idle_start: Some(us(from)),
        enter: us(from),
        exit: us(to),
        state: StateIndex::new(1).unwrap(),
        causes,
        followed_by,
        next_timer: Some(Nanoseconds::MAX),
        next_wheel_timer: Some(Nanoseconds::MAX),
        tick_stoppable: Some(true),
        ..Period::default()
    }
}

fn replay(periods: &[Period], governor: &str, exit_latency: ExitLatency) -> Outcome {
    what_if(periods, governor, &WhatIf { exit_latency, ..WhatIf::default() })
}

fn what_if(periods: &[Period], governor: &str, what_if: &WhatIf<'_>) -> Outcome {
    let states = IdleStates::new(&[
        IdleState::polling("POLL"),
        IdleState::new("C1", us(2), us(2)),
        IdleState::new("C6", us(100), us(300)),
    ])
    .unwrap();
    let table = StateTable::new("all", None, states);
    let platform = Platform::new("by-hand", "a test", vec![table]).unwrap();
    let mut cpu = CpuRecording::new(CpuId(0));
    periods.iter().for_each(|period| cpu.periods.push(period));
    let recording = Recording {
        cpus: vec![cpu],
        fidelity: Fidelity::Timers,
        tick_rate: TickRate::from_hertz(250),
        ..Recording::default()
    };
    let prepared = Prepared::new(&recording, &platform, what_if).unwrap();
    prepared.run(catalog::find(governor).unwrap()).remove(0)
}

fn usage(outcome: &Outcome) -> Vec<u64> {
    outcome.states.iter().map(|state| state.usage).collect()
}

fn microseconds(outcome: &Outcome) -> Vec<u64> {
    outcome.states.iter().map(|state| state.time_ns / 1_000).collect()
}

/// The recorded governor kept the tick and was woken by it at 4 and 8 ms; an interrupt at 9 ms.
fn ticks_then_interrupt() -> [Period; 3] {
    [
        period(1_000, 4_000, WakeCauses::TICK, WhatFollowed::Idle),
        period(4_000, 8_000, WakeCauses::TICK, WhatFollowed::Idle),
        period(8_000, 9_000, WakeCauses::INTERRUPT, WhatFollowed::Task),
    ]
}

#[test]
fn recorded_ticks_are_taken_out() {
    let outcome = replay(&ticks_then_interrupt(), "deepest", ExitLatency::None);
    // The tick is stopped: one stay from 1 to 9 ms.
    assert_eq!((usage(&outcome), microseconds(&outcome)), (vec![0, 0, 1], vec![0, 0, 8_000]));
    assert_eq!(outcome.ticks, Some(0));
}

#[test]
fn ticks_that_cannot_be_stopped_are_made_anew() {
    let held =
        ticks_then_interrupt().map(|period| Period { tick_stoppable: Some(false), ..period });
    let outcome = replay(&held, "deepest", ExitLatency::None);
    assert_eq!((usage(&outcome), microseconds(&outcome)), (vec![0, 0, 3], vec![0, 0, 8_000]));
    assert_eq!(outcome.ticks, Some(2));
}

#[test]
fn polling_goes_on_at_its_limit() {
    let outcome = replay(&ticks_then_interrupt(), "state:0", ExitLatency::None);
    // C6's residency of 300 us is above a sixteenth of the tick: 8 ms are 32 stays of 250 us, the
    // last of which the task ends.
    assert_eq!((usage(&outcome), microseconds(&outcome)), (vec![32, 0, 0], vec![8_000, 0, 0]));
    assert_eq!(outcome.ticks, Some(2), "they fire while the CPU polls");
}

#[test]
fn an_interrupt_without_work_does_not_end_polling_but_any_other_state() {
    let periods = [
        period(1_000, 1_100, WakeCauses::INTERRUPT, WhatFollowed::Idle),
        period(1_110, 1_200, WakeCauses::INTERRUPT, WhatFollowed::Task),
    ];
    let polling = replay(&periods, "state:0", ExitLatency::None);
    // From 1000 to 1200 us, the handler's 10 us spent spinning.
    assert_eq!((usage(&polling), microseconds(&polling)), (vec![1, 0, 0], vec![200, 0, 0]));
    let sleeping = replay(&periods, "state:1", ExitLatency::None);
    assert_eq!((usage(&sleeping), microseconds(&sleeping)), (vec![0, 2, 0], vec![0, 190, 0]));
}

#[test]
fn polling_ends_where_the_recording_ends() {
    let periods = [period(1_000, 1_100, WakeCauses::INTERRUPT, WhatFollowed::Idle)];
    assert_eq!(usage(&replay(&periods, "state:0", ExitLatency::None)), [1, 0, 0]);
}

#[test]
fn a_timer_ends_the_gap_for_every_governor() {
    let timer = Period {
        next_timer: Some(us(9_000)),
        ..period(1_000, 9_000, WakeCauses::HRTIMER, WhatFollowed::Task)
    };
    for governor in ["state:1", "deepest", "clairvoyant", "teo", "menu", "ladder"] {
        let outcome = replay(&[timer], governor, ExitLatency::None);
        let idle: u64 = microseconds(&outcome).iter().sum();
        assert_eq!(idle, 8_000, "{governor}");
    }
}

#[test]
fn exit_latency_is_in_the_measured_residency_and_in_the_wakeup() {
    let periods = [period(1_000, 1_400, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    let outcome = replay(&periods, "deepest", ExitLatency::Table);
    // 400 us until the event, 100 us to leave C6.
    assert_eq!(microseconds(&outcome), [0, 0, 500]);
    assert_eq!(outcome.wakeup_latency.unwrap().max_ns, 100_000);
}

#[test]
fn above_and_below_are_the_kernels() {
    let short = [period(1_000, 1_299, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    assert_eq!(replay(&short, "deepest", ExitLatency::None).above, Some(1), "299 us in C6");
    let long = [period(1_000, 1_302, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    // 302 us less C1's 2 us are the 300 us of C6.
    assert_eq!(replay(&long, "state:1", ExitLatency::None).below, Some(1));
    assert_eq!(replay(&long, "clairvoyant", ExitLatency::None).misses, Some(0));
}

#[test]
fn the_clairvoyant_choice_is_what_regret_is_held_against() {
    let periods = [period(1_000, 1_400, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    let shallow = replay(&periods, "state:1", ExitLatency::None).regret.unwrap();
    assert_eq!((shallow.too_shallow_ns, shallow.too_deep_ns), (400_000, 0));
    let short = [period(1_000, 1_100, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    let deep = replay(&short, "deepest", ExitLatency::None).regret.unwrap();
    assert_eq!((deep.too_shallow_ns, deep.too_deep_ns), (0, 100_000));
}

#[test]
fn a_disabled_state_is_not_chosen_and_not_missed() {
    let long = [period(1_000, 2_000, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    for given in ["C6", "2"] {
        let disabled = WhatIf {
            disabled: vec![given.to_owned()],
            exit_latency: ExitLatency::None,
            ..WhatIf::default()
        };
        let outcome = what_if(&long, "deepest", &disabled);
        assert_eq!((usage(&outcome), outcome.below), (vec![0, 1, 0], Some(0)));
    }
}

#[test]
fn a_latency_limit_holds_on_the_cpus_it_names() {
    let long = [period(1_000, 2_000, WakeCauses::INTERRUPT, WhatFollowed::Task)];
    // C6 takes 100 us to leave.
    for (cpus, chosen) in [(None, 1), (Some("0"), 1), (Some("1-3"), 2)] {
        let cpus = cpus.map(|cpus| cpus.parse().unwrap());
        let limited = WhatIf {
            latency_limits: vec![LatencyLimit { limit: us(99), cpus }],
            ..WhatIf::default()
        };
        assert_eq!(what_if(&long, "deepest", &limited).states[chosen].usage, 1);
    }
}

#[test]
fn another_tick_rate_makes_other_ticks() {
    let held =
        ticks_then_interrupt().map(|period| Period { tick_stoppable: Some(false), ..period });
    let rate = TickRate::from_hertz(1000);
    let outcome = what_if(&held, "deepest", &WhatIf { rate, ..WhatIf::default() });
    // From 1 ms on they fire at 2, 3 … 8 ms; the one at 9 ms comes with the interrupt.
    assert_eq!((outcome.idles, outcome.ticks), (Some(8), Some(8)));
}
