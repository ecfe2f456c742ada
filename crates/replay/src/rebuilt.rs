// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions where the governor's inputs were not recorded but timers were (fidelity 3): the inputs
//! are rebuilt from what the trace shows, and the recorded governor is asked what it makes of them.
//!
//! What is rebuilt is not what the kernel said: it knows the time to microseconds, and whether RCU
//! or a softirq forbade stopping the tick not at all. So the share that comes out as recorded says
//! how far the recording can be trusted, and fails no check.

use std::collections::HashMap;

use idlelab_governors::{Device, Governor, TickRequest};
use idlelab_platform::Platform;
use idlelab_recording::{
    CpuRecording, Decision, Period, Recording, Reflection, WakeCauses, WhatFollowed,
};
use idlelab_states::{IdleStates, Nanoseconds, StateIndex, Tick, TickRate};
use rayon::prelude::*;
use serde::Serialize;

use crate::decisions::{Recorded, constant_guess, reflect};
use crate::{Candidate, ReplayError};

/// How many choices a governor makes as recorded when its inputs are rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RebuiltCheck {
    /// Idle periods of which the inputs could be rebuilt.
    pub decisions: u64,
    /// Those whose state and tick came out as recorded.
    pub reproduced: u64,
    /// Those whose state alone did.
    pub states_reproduced: u64,
    /// Those of which the best constant guess of state and tick would have been right.
    pub constant_guess: u64,
}

/// The state, and whether the tick is stopped in it.
type Choice = (StateIndex, bool);

/// Feeds a governor inputs that are rebuilt from timers.
///
/// # Errors
///
/// A recorded CPU without idle states in the platform.
pub fn check_rebuilt_decisions<'a>(
    recording: &Recording,
    platform: &Platform,
    rate: TickRate,
    governor: impl Into<Candidate<'a>>,
) -> Result<RebuiltCheck, ReplayError> {
    let governor = governor.into();
    let per_cpu = recording
        .cpus
        .par_iter()
        .map(|cpu| {
            let states = platform
                .states_of(cpu.cpu)
                .ok_or_else(|| ReplayError::no_states(cpu.cpu, &platform.name))?;
            Ok(check_cpu(cpu, states, rate, governor))
        })
        .collect::<Result<Vec<_>, ReplayError>>()?;
    let mut sum = RebuiltCheck {
        constant_guess: constant_guess(per_cpu.iter().map(|(_, choices)| choices)),
        ..RebuiltCheck::default()
    };
    for (check, _) in per_cpu {
        sum.decisions += check.decisions;
        sum.reproduced += check.reproduced;
        sum.states_reproduced += check.states_reproduced;
    }
    Ok(sum)
}

fn check_cpu(
    cpu: &CpuRecording,
    states: &IdleStates,
    rate: TickRate,
    candidate: Candidate<'_>,
) -> (RebuiltCheck, HashMap<Choice, u64>) {
    let mut governor = candidate.build(cpu.cpu, rate);
    let mut device = Device::default();
    governor.enable(states, &mut device);
    let mut check = RebuiltCheck::default();
    let mut choices: HashMap<Choice, u64> = HashMap::new();
    let mut before = Tick::Running;
    for period in cpu.periods.iter().filter(|period| !period.bypassed_cpuidle) {
        let tick_before = std::mem::replace(&mut before, tick_after(&period));
        let Some(decision) = rebuilt(&period, tick_before, cpu.tick_phase, rate) else { continue };
        let Some(reflection) = decision.reflection else { continue };
        let mut kernel = Recorded::new(&decision, &mut device);
        let selection = governor.select(states, &mut kernel);
        // A tick that is stopped stays so, and one that could not be stopped runs on whatever is
        // asked for.
        let stopped = tick_before == Tick::Stopped
            || selection.tick == TickRequest::Stop && period.tick_stoppable != Some(false);
        let recorded = decision.stop_tick;
        *choices.entry((period.state, recorded)).or_default() += 1;
        check.decisions += 1;
        check.states_reproduced += u64::from(selection.state == period.state);
        check.reproduced += u64::from((selection.state, stopped) == (period.state, recorded));
        reflect(&mut governor, &mut device, &decision, reflection);
    }
    (check, choices)
}

/// Whether the tick is stopped when the loop next selects: a task has it started again.
fn tick_after(period: &Period) -> Tick {
    match period.followed_by {
        WhatFollowed::Idle => period.tick.unwrap_or_default(),
        WhatFollowed::Task | WhatFollowed::Unknown => Tick::Running,
    }
}

/// What the kernel would have told its governor; none where timers or tick are not known.
fn rebuilt(
    period: &Period,
    tick: Tick,
    phase: Option<Nanoseconds>,
    rate: TickRate,
) -> Option<Decision> {
    let (start, next) = (period.idle_start.unwrap_or(period.enter), period.next_timer?);
    let in_state = period.tick?;
    let length = rate.tick();
    let to_tick = length.get() - (start.get() - phase?.get()).rem_euclid(length.get());
    let to_timer = next.get().saturating_sub(start.get());
    let to_event = match tick {
        Tick::Running => to_timer.min(to_tick),
        Tick::Stopped => to_timer,
    };
    // With a wheel timer due by the next tick the kernel does not try to stop it.
    let wheel_is_near = period.next_wheel_timer.is_some_and(|wheel| wheel <= start + length);
    let stoppable = period.tick_stoppable != Some(false) && !wheel_is_near;
    let sleep = if tick == Tick::Stopped || stoppable { to_timer } else { to_event };
    Some(Decision {
        time: start,
        latency_limit: period.latency_limit,
        tick: Some(tick),
        sleep_length: Some((Nanoseconds::new(sleep), Nanoseconds::new(to_event))),
        state: period.state,
        stop_tick: in_state == Tick::Stopped,
        reflection: Some(Reflection {
            entered: period.state,
            residency: period.residency.unwrap_or(period.exit - period.enter),
            poll_time_limit: period.causes.contains(WakeCauses::POLL_LIMIT),
            got_tick: Some(period.causes.contains(WakeCauses::TICK)),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> TickRate {
        TickRate::from_hertz(250).unwrap()
    }

    fn period() -> Period {
        Period {
            enter: Nanoseconds::from_micros(9_001),
            exit: Nanoseconds::from_micros(9_500),
            idle_start: Some(Nanoseconds::from_micros(9_000)),
            next_timer: Some(Nanoseconds::from_micros(20_000)),
            tick: Some(Tick::Stopped),
            ..Period::default()
        }
    }

    /// Ticks of 4 ms at 1, 5, 9, 13 ms: from 9 ms on the next is 4 ms away, the timer 11 ms.
    #[test]
    fn the_sleep_length_is_the_time_to_the_timer_where_the_tick_can_be_stopped() {
        let phase = Some(Nanoseconds::from_micros(1_000));
        let told = |period: &Period, tick| {
            let (sleep, next) = rebuilt(period, tick, phase, rate()).unwrap().sleep_length.unwrap();
            (sleep.as_micros(), next.as_micros())
        };
        assert_eq!(told(&period(), Tick::Running), (11_000, 4_000));
        assert_eq!(told(&period(), Tick::Stopped), (11_000, 11_000));
        let forbidden = Period { tick_stoppable: Some(false), ..period() };
        assert_eq!(told(&forbidden, Tick::Running), (4_000, 4_000));
        let wheel = Some(Nanoseconds::from_micros(12_000));
        let near = Period { next_timer: wheel, next_wheel_timer: wheel, ..period() };
        assert_eq!(told(&near, Tick::Running), (3_000, 3_000));
    }

    #[test]
    fn what_was_not_recorded_is_not_rebuilt() {
        let phase = Some(Nanoseconds::ZERO);
        let no_timers = Period { next_timer: None, ..period() };
        assert_eq!(rebuilt(&no_timers, Tick::Running, phase, rate()), None);
        let no_tick = Period { tick: None, ..period() };
        assert_eq!(rebuilt(&no_tick, Tick::Running, phase, rate()), None);
        assert_eq!(rebuilt(&period(), Tick::Running, None, rate()), None);
    }
}
