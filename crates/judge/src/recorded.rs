// SPDX-License-Identifier: GPL-2.0-or-later
//! What recorded CPUs went through, as steps on any machine.

use std::collections::HashSet;

use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_governors::{NO_LATENCY_LIMIT, SleepLength};
use idlelab_platform::{Platform, embedded};
use idlelab_recording::{CpuRecording, Decision, Period, Recording, WakeCauses};
use idlelab_states::{IdleStates, Nanoseconds, TickRate};

use crate::case::{Case, disabled};
use crate::scenario::Step;

/// Taken where a recording does not tell its own.
const USUAL_RATE: u32 = 250;

/// Every CPU of a recording, on every kind of CPU that is built in, and its own where that is
/// known: the same wakeups, and other states to choose from.
///
/// Where the governor's inputs were recorded they are what governors are told; else what the idle
/// periods tell of them.
pub fn cases(recording: &Recording) -> impl Iterator<Item = Case> {
    let rate = recording.tick_rate.or(TickRate::from_hertz(USUAL_RATE));
    let tables = tables(recording.machine.as_ref());
    let cpus = recording.cpus.iter().filter_map(move |cpu| Some((rate?, inputs(cpu, rate?))));
    cpus.flat_map(move |(rate, inputs)| {
        let tables = tables.clone();
        tables.into_iter().map(move |states| {
            let disabled = disabled(&states);
            let steps = inputs.iter().map(|&inputs| Step { inputs, disabled }).collect();
            Case { rate, states, steps }
        })
    })
}

fn tables(own: Option<&Platform>) -> Vec<IdleStates> {
    let built_in: Vec<_> = embedded::names().filter_map(embedded::get).collect();
    let mut seen = HashSet::new();
    own.into_iter()
        .chain(&built_in)
        .flat_map(Platform::tables)
        .map(|table| table.states)
        // Asked with a single state, some governors leave their table; no kernel asks them then.
        .filter(|states| states.len() > 1 && seen.insert(format!("{:?}", states.as_slice())))
        .collect()
}

fn inputs(cpu: &CpuRecording, rate: TickRate) -> Vec<StepInputs> {
    let tick = rate.tick();
    if cpu.decisions.is_empty() {
        let phase = cpu.tick_phase.unwrap_or_default();
        return cpu.periods.iter().map(|period| of_period(&period, tick, phase)).collect();
    }
    cpu.decisions.iter().map(|decision| of_decision(decision, tick)).collect()
}

fn of_decision(decision: &Decision, tick: Nanoseconds) -> StepInputs {
    let reflection = decision.reflection;
    let residency = reflection.map_or(Nanoseconds::ZERO, |reflection| reflection.residency);
    // The recorded governor may not have asked. That the CPU was woken then is the next best.
    let (sleep, delta_tick) = decision.sleep_length.unwrap_or((residency, residency.min(tick)));
    StepInputs {
        sleep_length: SleepLength { sleep, delta_tick },
        latency_limit: decision.latency_limit.unwrap_or(NO_LATENCY_LIMIT),
        tick: decision.tick.unwrap_or_default(),
        entry: if reflection.is_some() { Entry::Entered } else { Entry::Rejected },
        got_tick: reflection.and_then(|reflection| reflection.got_tick).unwrap_or_default(),
        poll_time_limit: reflection.is_some_and(|reflection| reflection.poll_time_limit),
        ..StepInputs::of_residency(residency)
    }
}

fn of_period(period: &Period, tick: Nanoseconds, phase: Nanoseconds) -> StepInputs {
    let begun = period.idle_start.unwrap_or(period.enter);
    let residency = period.residency.unwrap_or(period.exit - period.enter).max(Nanoseconds::ZERO);
    let until_tick = tick.get() - (begun - phase).get().rem_euclid(tick.get());
    let sleep = match period.next_timer {
        Some(timer) => timer - begun,
        None => residency,
    };
    StepInputs {
        sleep_length: SleepLength { sleep, delta_tick: sleep.min(Nanoseconds::new(until_tick)) },
        latency_limit: period.latency_limit.unwrap_or(NO_LATENCY_LIMIT),
        tick: period.tick.unwrap_or_default(),
        got_tick: period.causes.intersects(WakeCauses::TICK | WakeCauses::WHEEL_TIMER),
        poll_time_limit: period.causes.contains(WakeCauses::POLL_LIMIT),
        ..StepInputs::of_residency(residency)
    }
}
