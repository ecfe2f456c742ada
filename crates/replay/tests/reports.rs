// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports from mailing lists that need an idle loop round the governor: what it does to the next
//! idle period, and what the kernel then counts.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use idlelab_governors::catalog;
use idlelab_outcome::Outcome;
use idlelab_platform::{Platform, StateTable};
use idlelab_recording::{CpuRecording, Fidelity, Period, Recording, WakeCauses, WhatFollowed};
use idlelab_replay::{ExitLatency, Prepared, WhatIf};
use idlelab_states::{CpuId, IdleState, IdleStates, Nanoseconds, StateIndex, TickRate};

fn us(microseconds: i64) -> Nanoseconds {
    Nanoseconds::from_micros(microseconds)
}

fn replay(states: &[IdleState], hertz: u32, periods: &[Period], governor: &str) -> Outcome {
    let table = StateTable::new("all", None, IdleStates::new(states).unwrap());
    let platform = Platform::new("reported", "a report", vec![table]).unwrap();
    let mut cpu = CpuRecording::new(CpuId(0));
    periods.iter().for_each(|period| cpu.periods.push(period));
    let recording = Recording {
        cpus: vec![cpu],
        fidelity: Fidelity::Timers,
        tick_rate: TickRate::from_hertz(hertz),
        ..Recording::default()
    };
    let what_if = WhatIf { exit_latency: ExitLatency::Table, ..WhatIf::default() };
    let prepared = Prepared::new(&recording, &platform, &what_if).unwrap();
    prepared.run(catalog::find(governor).unwrap()).remove(0)
}

/// Idle from and to so many microseconds, then a task runs.
fn period(from: i64, to: i64, causes: WakeCauses, next_timer: Nanoseconds) -> Period {
    Period {
        idle_start: Some(us(from)),
        enter: us(from),
        exit: us(to),
        state: StateIndex::ZERO,
        causes,
        followed_by: WhatFollowed::Task,
        next_timer: Some(next_timer),
        next_wheel_timer: Some(Nanoseconds::MAX),
        tick_stoppable: Some(true),
        ..Period::default()
    }
}

/// Share of entries in a state that were too deep.
fn above(outcome: &Outcome) -> f64 {
    let above: u64 = outcome.states.iter().filter_map(|state| state.above).sum();
    above as f64 / outcome.idles.unwrap() as f64
}

/// A phone whose CPU is woken early a few times and then by nothing but a timer each 60 ms. The
/// tick, kept for fear of another early wakeup, fires 59 times between two timers for teo of 6.12,
/// for ever; since 6.19 it is stopped before long.
#[test]
fn b2_teo_of_6_12_keeps_its_tick_for_ever_after_early_wakeups_and_teo_since_6_19_stops_it() {
    let states = [
        IdleState::new("WFI", us(1), us(1)),
        IdleState::new("cpuoff", us(147), us(2_580)),
        IdleState::new("clusteroff", us(181), us(2_580)),
        IdleState::new("s2idle", us(20_000), us(4_294_967_295)),
    ];
    const TIMERS: i64 = 100;
    let timer = |number: i64| us(100_000 + number * 60_000);
    let early = (0..20).map(|number| {
        period(number * 1_000, number * 1_000 + 300, WakeCauses::INTERRUPT, timer(0))
    });
    let quiet = (0..TIMERS).map(|number| {
        let from = if number == 0 { 25_000 } else { timer(number - 1).as_micros() + 10 };
        period(from, timer(number).as_micros(), WakeCauses::HRTIMER, timer(number))
    });
    let periods: Vec<_> = early.chain(quiet).collect();
    let ticks = |governor| replay(&states, 1000, &periods, governor).ticks.unwrap();
    let all = TIMERS.unsigned_abs() * 59;
    assert!(ticks("teo@6.12.117") > all, "{}", ticks("teo@6.12.117"));
    for governor in ["teo@6.19", "teo@7.0", "teo"] {
        assert!(ticks(governor) < all / 10, "{governor}: {}", ticks(governor));
    }
}

/// CEDE takes 12 µs to leave and 120 to be worth it. With wakeups every 10 to 70 µs it was entered
/// 12 735 820 times, 11 401 520 of them in vain; since 6.19 the CPU snoozes instead.
#[test]
fn b14_menu_enters_a_state_of_120_microseconds_for_shorter_idle_periods_up_to_6_18() {
    let states = [IdleState::polling("snooze"), IdleState::new("CEDE", us(12), us(120))];
    for wakeup in (10..=70).step_by(10) {
        let periods: Vec<_> = (0..1_000)
            .map(|number| {
                let from = number * (wakeup + 30);
                period(from, from + wakeup, WakeCauses::IPI, Nanoseconds::MAX)
            })
            .collect();
        let share = |governor| above(&replay(&states, 250, &periods, governor));
        assert!(share("menu@6.17") > 0.9, "{wakeup} us: {}", share("menu@6.17"));
        for governor in ["menu@6.19", "menu"] {
            assert!(share(governor) < 0.05, "{wakeup} us: {governor}: {}", share(governor));
        }
    }
}

/// A ping-pong of 20 µs with the tick stopped meanwhile by a longer idle period: the prediction is
/// discarded, and the deepest state is entered in vain.
#[test]
fn b19_menu_of_6_6_enters_the_deepest_state_for_20_microseconds_once_the_tick_is_stopped() {
    let states = [
        IdleState::polling("POLL"),
        IdleState::new("C1", us(1), us(1)),
        IdleState::new("C6", us(170), us(600)),
    ];
    // Interrupts without work for the CPU: it stays in the idle loop, and the tick stopped.
    let mut periods: Vec<_> = (0..1_000)
        .map(|number| {
            let from = 50_000 + number * 200;
            Period {
                followed_by: WhatFollowed::Idle,
                ..period(from, from + 20, WakeCauses::INTERRUPT, Nanoseconds::MAX)
            }
        })
        .collect();
    let first = period(0, 49_990, WakeCauses::INTERRUPT, Nanoseconds::MAX);
    periods.insert(0, Period { followed_by: WhatFollowed::Idle, ..first });
    let outcome = replay(&states, 250, &periods, "menu@6.6");
    assert_eq!(outcome.states[2].usage, 1_001);
    assert_eq!(outcome.states[2].above, Some(1_000));
}
