// SPDX-License-Identifier: GPL-2.0-or-later
//! What came of a run.
//!
//! Every bench ends in [`Outcome`]s, and everything that compares or prints starts from them. An
//! outcome says which bench it is from, and keeps measured and modelled energy apart.
//!
//! Serialised, times are whole nanoseconds (`…_ns`), energies joules (`…_joules`), and what is not
//! known is `null`.
//!
//! ```
//! use idlelab_outcome::{Bench, CpuOutcome, Outcome, StateOutcome};
//!
//! let state = StateOutcome {
//!     name: "C1".into(),
//!     usage: 10,
//!     above: Some(2),
//!     below: Some(1),
//!     ..Default::default()
//! };
//! let cpu = CpuOutcome { cpu: 0, states: vec![state], ..Default::default() };
//! let outcome = Outcome::of_cpus(Bench::Replay, Some("teo"), Some("my-machine"), vec![cpu]);
//! assert_eq!((outcome.idles, outcome.misses), (Some(10), Some(3)));
//! ```

pub mod count;
pub mod file;
mod latency;
mod merge;

use idlelab_cpuidle::Statistics;
use idlelab_states::IdleStates;
use serde::{Deserialize, Serialize};

pub use latency::WakeupLatency;

/// Where an outcome is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bench {
    /// A recording, replayed through a governor.
    Replay,
    /// A simulation, in which the governor's choices feed back into the workload.
    Simulate,
    /// Counters of a machine, before and after.
    Count,
    /// A table that someone published: measured by whoever posted it.
    Published,
}

/// What a replay had to assume of wakeups whose cause its recording does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// Every wakeup was a timer that the governor could know of.
    AllTimers,
    /// Every wakeup was an interrupt that it could not know of.
    AllInterrupts,
}

/// What came of one run of one governor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The bench.
    pub bench: Bench,
    /// The governor, by its canonical name; null where counters do not tell.
    pub governor: Option<String>,
    /// The platform whose idle states were used; null for counters of a machine without a name.
    pub platform: Option<String>,
    /// What ran, by the name that its bench or its table gave it; null where that is not told, as in
    /// a replay.
    #[serde(default)]
    pub workload: Option<String>,
    /// Which repetition of this governor it is, from 0.
    pub iteration: u32,
    /// Its place among all runs of the experiment, from 0, whatever their governor: what drift is
    /// judged by; null where the order is not known.
    #[serde(default)]
    pub order: Option<u32>,
    /// How long the run lasted; null where that is not known.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// One of two bounds, where the recording does not tell the causes of wakeups.
    pub assumption: Option<Assumption>,
    /// Idle periods; null where a published table does not tell.
    pub idles: Option<u64>,
    /// Idle periods in a wrong state: `above` and `below` together.
    pub misses: Option<u64>,
    /// Idle periods in a state that was too deep; null where the kernel does not count them.
    pub above: Option<u64>,
    /// Idle periods in a state that was too shallow; null where the kernel does not count them.
    pub below: Option<u64>,
    /// Ticks that fired while a CPU was in the idle loop.
    pub ticks: Option<u64>,
    /// How often the governor asked for the sleep length.
    pub sleep_length_queries: Option<u64>,
    /// Energy.
    pub energy: Energy,
    /// The workload's own results, in the order in which it reports them.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Wakeup latency that the states added.
    pub wakeup_latency: Option<WakeupLatency>,
    /// Distance to the clairvoyant bound.
    pub regret: Option<Regret>,
    /// How many states the stays were off the clairvoyant choice, ascending; null without a bound.
    #[serde(default)]
    pub off_by: Option<Vec<OffBy>>,
    /// Each idle state, all CPUs together.
    pub states: Vec<StateOutcome>,
    /// Each CPU.
    pub per_cpu: Vec<CpuOutcome>,
}

/// Energy in joules. What was measured and what was modelled are never added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Read from a counter.
    pub measured_joules: Option<f64>,
    /// Computed from the platform's power model: idle states, transitions and shared parts, in a
    /// simulation also executing, which in a replay is the same for every governor.
    pub modelled_joules: Option<f64>,
}

/// A result that a workload reports of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is, for instance `throughput`.
    pub name: String,
    /// How much it is, in `unit`.
    pub value: f64,
    /// Its unit as one writes it, for instance `MB/s`; empty for a bare number.
    pub unit: String,
    /// Which direction is an improvement; null where neither is.
    pub better: Option<Better>,
}

/// Which direction of a figure is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better: throughput.
    Higher,
    /// Less is better: latency, time, energy.
    Lower,
}

/// How far a run is from what a governor could have done that knew every wakeup beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Regret {
    /// Idle time in states shallower than the clairvoyant choice.
    pub too_shallow_ns: u64,
    /// Idle time in states deeper than the clairvoyant choice.
    pub too_deep_ns: u64,
    /// Modelled energy beyond the clairvoyant bound; null without power numbers.
    pub joules: Option<f64>,
}

/// Stays that were as far from the clairvoyant choice as one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffBy {
    /// By how many states they were deeper; negative if they were shallower.
    pub states: i8,
    /// How many stays.
    pub stays: u64,
}

/// The counters of one idle state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateOutcome {
    /// The state's name. Where CPUs have different states of one number, all names, with slashes.
    pub name: String,
    /// How often it was entered.
    pub usage: u64,
    /// How long CPUs were in it.
    pub time_ns: u64,
    /// How often it was too deep; null where the kernel does not count it.
    pub above: Option<u64>,
    /// How often it was too shallow; null where the kernel does not count it.
    pub below: Option<u64>,
    /// How often the driver refused it; null where the kernel does not count it.
    pub rejected: Option<u64>,
}

/// What came of a run on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuOutcome {
    /// The CPU's number.
    pub cpu: u32,
    /// Ticks that fired in the idle loop.
    pub ticks: Option<u64>,
    /// How often the governor asked for the sleep length.
    pub sleep_length_queries: Option<u64>,
    /// Modelled energy of this CPU's idle states, as if its core were its own; nothing shared.
    pub modelled_joules: Option<f64>,
    /// Wakeup latency that the states added.
    pub wakeup_latency: Option<WakeupLatency>,
    /// Distance to the clairvoyant bound.
    pub regret: Option<Regret>,
    /// How many states the stays were off the clairvoyant choice, ascending.
    #[serde(default)]
    pub off_by: Option<Vec<OffBy>>,
    /// Each idle state.
    pub states: Vec<StateOutcome>,
}

impl Outcome {
    /// All idle time of all CPUs, in nanoseconds.
    #[must_use]
    pub fn idle_ns(&self) -> u64 {
        idle_ns(&self.states)
    }
}

impl CpuOutcome {
    /// All idle time of the CPU, in nanoseconds.
    #[must_use]
    pub fn idle_ns(&self) -> u64 {
        idle_ns(&self.states)
    }
}

impl StateOutcome {
    /// What an idle loop counted in each state of its CPU.
    #[must_use]
    pub fn counted(states: &IdleStates, statistics: &Statistics) -> Vec<Self> {
        states
            .indices()
            .map(|state| {
                let counters = &statistics.states[state];
                Self {
                    name: states[state].name.as_str().to_owned(),
                    usage: counters.usage,
                    time_ns: counters.time.get().max(0).cast_unsigned(),
                    above: Some(counters.above),
                    below: Some(counters.below),
                    rejected: Some(counters.rejected),
                }
            })
            .collect()
    }
}

fn idle_ns(states: &[StateOutcome]) -> u64 {
    states.iter().fold(0, |sum, state| sum.saturating_add(state.time_ns))
}
