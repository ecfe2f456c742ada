// SPDX-License-Identifier: GPL-2.0-or-later
//! Free run: the recorded governor, with ticks and polls made anew, against what was recorded.

use idlelab_cpuidle::{Statistics, Verdict, verdict};
use idlelab_outcome::{Outcome, StateOutcome};
use idlelab_recording::{CpuRecording, Miss, Period};
use idlelab_states::{IdleStates, Nanoseconds};
use serde::Serialize;

use crate::Prepared;
use crate::gap::governed;

/// How close a replay of the recorded governor comes to what was recorded. Its error is the honest
/// bound on what a replay says of other governors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FreeRun {
    /// Each idle state.
    pub states: Vec<FreeRunState>,
    /// The largest difference of any state's share of idle time, in percentage points.
    pub worst_share_error: f64,
}

/// One idle state, recorded and replayed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FreeRunState {
    /// The state's name.
    pub name: String,
    /// What was recorded.
    pub recorded: StateOutcome,
    /// What was replayed.
    pub replayed: StateOutcome,
    /// Recorded share of idle time, in per cent.
    pub recorded_share: f64,
    /// Replayed share of idle time, in per cent.
    pub replayed_share: f64,
}

impl Prepared {
    /// What was recorded, in the form of an outcome's states. Where the governor's inputs are
    /// recorded, from its first decision on.
    #[must_use]
    pub fn recorded_states(&self) -> Vec<StateOutcome> {
        let mut sums: Vec<StateOutcome> = Vec::new();
        for cpu in &self.cpus {
            for (index, state) in
                StateOutcome::counted(&cpu.states, &cpu.recorded).iter().enumerate()
            {
                match sums.get_mut(index) {
                    None => sums.push(state.clone()),
                    Some(sum) => sum.add(state),
                }
            }
        }
        sums
    }
}

impl FreeRun {
    /// Holds an outcome, of the recorded governor or a prediction of another one from elsewhere,
    /// against states that were recorded.
    #[must_use]
    pub fn new(recorded: &[StateOutcome], replayed: &Outcome) -> Self {
        let share = |time: u64, all: u64| 100.0 * time as f64 / all.max(1) as f64;
        let recorded_ns = recorded.iter().map(|state| state.time_ns).sum();
        let replayed_ns = replayed.idle_ns();
        let states: Vec<FreeRunState> = recorded
            .iter()
            .zip(&replayed.states)
            .map(|(recorded, replayed)| FreeRunState {
                name: recorded.name.clone(),
                recorded_share: share(recorded.time_ns, recorded_ns),
                replayed_share: share(replayed.time_ns, replayed_ns),
                recorded: recorded.clone(),
                replayed: replayed.clone(),
            })
            .collect();
        let worst_share_error = states
            .iter()
            .map(|state| (state.recorded_share - state.replayed_share).abs())
            .fold(0.0, f64::max);
        Self { states, worst_share_error }
    }
}

/// The counters that the kernel kept for a CPU during the recording, as far as it shows them.
pub(crate) fn recorded(cpu: &CpuRecording, states: &IdleStates) -> Statistics {
    let mut statistics = Statistics::default();
    for (period, _) in governed(cpu).filter(|(period, _)| !period.bypassed_cpuidle) {
        let residency = residency(&period);
        let counters = &mut statistics.states[period.state];
        counters.usage += 1;
        counters.time += residency;
        let miss = period.miss.or(match verdict(states, period.state, residency) {
            Verdict::Right => None,
            Verdict::Above => Some(Miss::Above),
            Verdict::Below => Some(Miss::Below),
        });
        match miss {
            Some(Miss::Above) => counters.above += 1,
            Some(Miss::Below) => counters.below += 1,
            None => {}
        }
    }
    statistics
}

/// The kernel's own measurement, or else the time between the trace points, which is a little
/// longer.
pub(crate) fn residency(period: &Period) -> Nanoseconds {
    period.residency.unwrap_or(period.exit - period.enter)
}
