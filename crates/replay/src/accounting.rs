// SPDX-License-Identifier: GPL-2.0-or-later
//! Accounting: the idle loop's rules, applied to the recorded stays, must count what the kernel
//! counted.

use idlelab_cpuidle::{Verdict, verdict};
use idlelab_platform::Platform;
use idlelab_recording::{Miss, Period, Recording};
use idlelab_states::{IdleStates, Nanoseconds};
use serde::Serialize;

use crate::ReplayError;
use crate::free_run::residency;

/// How far the time between the trace points may be from what the kernel measured: a microsecond
/// at either end, to which the trace cuts its times, and up to two between the trace points and
/// the kernel's clock readings.
const TRACE_CLOCK_ERROR: Nanoseconds = Nanoseconds::from_micros(4);

/// What the kernel counted and what its rules give, over all periods of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AccountingCheck {
    /// Each idle state, by its number.
    pub states: Vec<StateAccounting>,
    /// Periods on which kernel and rules differ.
    pub disagreements: u64,
    /// Periods without a recorded residency that are too close to a threshold for the trace's own
    /// times; they are counted as the kernel did.
    pub too_close_to_call: u64,
    /// Periods in which the kernel idled without cpuidle, and so counted nothing.
    pub bypassed_cpuidle: u64,
}

/// What the kernel counted of one state, and what its rules give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateAccounting {
    /// Whole idle periods: one `cpu_idle` entry and exit each.
    pub entries: u64,
    /// Periods that the kernel called too deep (`cpu_idle_miss`).
    pub recorded_above: u64,
    /// Periods that the rules call too deep.
    pub computed_above: u64,
    /// Periods that the kernel called too shallow (`cpu_idle_miss`).
    pub recorded_below: u64,
    /// Periods that the rules call too shallow.
    pub computed_below: u64,
}

impl AccountingCheck {
    /// Whether the rules count in every state what the kernel counted.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.disagreements == 0
    }

    /// All states together.
    #[must_use]
    pub fn total(&self) -> StateAccounting {
        self.states.iter().fold(StateAccounting::default(), |sum, state| StateAccounting {
            entries: sum.entries + state.entries,
            recorded_above: sum.recorded_above + state.recorded_above,
            computed_above: sum.computed_above + state.computed_above,
            recorded_below: sum.recorded_below + state.recorded_below,
            computed_below: sum.computed_below + state.computed_below,
        })
    }
}

/// Applies the kernel's rules for above and below to a recording that holds its verdicts; `None`
/// if it does not.
///
/// # Errors
///
/// A recorded CPU without idle states in the platform.
pub fn check_accounting(
    recording: &Recording,
    platform: &Platform,
) -> Result<Option<AccountingCheck>, ReplayError> {
    if !recording.misses_recorded {
        return Ok(None);
    }
    let mut check = AccountingCheck::default();
    for cpu in &recording.cpus {
        let states = platform
            .states_of(cpu.cpu)
            .ok_or_else(|| ReplayError::no_states(cpu.cpu, &platform.name))?;
        for period in cpu.periods.iter() {
            let index = period.state.get();
            if check.states.len() <= index {
                check.states.resize(index + 1, StateAccounting::default());
            }
            let computed = check.compute(states, &period);
            let Some(counters) = check.states.get_mut(index) else { continue };
            counters.entries += 1;
            counters.recorded_above += u64::from(period.miss == Some(Miss::Above));
            counters.recorded_below += u64::from(period.miss == Some(Miss::Below));
            counters.computed_above += u64::from(computed == Some(Miss::Above));
            counters.computed_below += u64::from(computed == Some(Miss::Below));
            check.disagreements += u64::from(computed != period.miss);
        }
    }
    Ok(Some(check))
}

impl AccountingCheck {
    fn compute(&mut self, states: &IdleStates, period: &Period) -> Option<Miss> {
        if period.bypassed_cpuidle {
            self.bypassed_cpuidle += 1;
            return None;
        }
        let miss = |residency| match verdict(states, period.state, residency) {
            Verdict::Right => None,
            Verdict::Above => Some(Miss::Above),
            Verdict::Below => Some(Miss::Below),
        };
        let longest = residency(period);
        if period.residency.is_some() {
            return miss(longest);
        }
        let (shortest, longest) = (miss(longest - TRACE_CLOCK_ERROR), miss(longest));
        if shortest == longest {
            return longest;
        }
        self.too_close_to_call += 1;
        if shortest == period.miss { shortest } else { longest }
    }
}
