// SPDX-License-Identifier: GPL-2.0-or-later
//! The simulator: a machine whose workload feels its governor's choices.
//!
//! A replay holds the world still; here a late wakeup delays the task, which delays whom it wakes,
//! who then sleeps longer. A [`Model`] is a platform, its kernel's costs and tasks as small
//! programs; it comes from a [scenario](mod@scenario) in TOML. [`simulate`] runs it under one
//! governor, in the same idle loop (crate `cpuidle`) that a replay uses.
//!
//! ```text
//!  scenario ──▶ Model ──▶ simulate(governor, seed) ──▶ Outcome, energy by part, Recording
//!
//!  queue ──▶ CPU: run ─▶ enter ─▶ idle ─▶ exit ─▶ handle ─┬▶ run     tasks: compute, sleep, post,
//!              ▲                                          └▶ enter          wait, read, barrier
//! ```
//!
//! Time is whole nanoseconds. A run is single-threaded and depends on nothing but model, governor
//! and seed: the same bytes come out wherever and beside whatever it runs. Tasks draw from streams
//! of their own, so governors see the same workload (common random numbers).
//!
//! ```
//! use idlelab_governors::catalog;
//! use idlelab_machine::{Keep, Model, Policy, scenario, simulate};
//!
//! let mut model = scenario::embedded("pipe-cross-core").ok_or("no such scenario")??;
//! model.duration = idlelab_states::Nanoseconds::from_micros(10_000);
//! let teo = catalog::find("teo").map_err(|error| error.to_string())?;
//! let run = simulate(&model, Policy::Named(teo), 1, Keep::Outcome)?;
//! assert!(run.outcome.figures.iter().any(|figure| figure.name == "iterations"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cpu;
mod energy;
mod error;
mod ftrace;
mod histogram;
mod latency;
mod model;
mod outcome;
mod queue;
mod random;
mod record;
pub mod scenario;
mod simulation;
mod timers;
mod utilisation;

use std::fmt;

use idlelab_cpuidle::Boxed;
use idlelab_governors::Governor;
use idlelab_governors::catalog::{AnyGovernor, GovernorName};
use idlelab_outcome::Outcome;
use idlelab_recording::Recording;
use idlelab_states::CpuId;

pub use cpu::CpuTime;
pub use energy::EnergyParts;
pub use error::SimulationError;
pub use ftrace::write_ftrace;
pub use model::{Costs, Device, ExitLatencies, Model, Operation, RemoteWake, Source, Task};
pub use random::Duration;
pub use simulation::Balance;

use record::Recorder;
use simulation::{Finished, Simulation};

/// The governor of a run.
#[derive(Clone, Copy)]
pub enum Policy<'a> {
    /// One of the catalogue.
    Named(GovernorName),
    /// One from elsewhere, such as a kernel's C file.
    Foreign {
        /// What to call it.
        name: &'a str,
        /// Makes the governor of one CPU, which starts from nothing.
        build: &'a (dyn Fn(CpuId) -> Box<dyn Governor> + Sync),
    },
}

impl fmt::Display for Policy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Foreign { name, .. } => f.pad(name),
        }
    }
}

impl fmt::Debug for Policy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({self})")
    }
}

/// What to keep of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its outcome: memory does not grow with simulated time.
    Outcome,
    /// Also a recording of all that the CPUs did, some hundred bytes for each idle period.
    Recording,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// As of every bench.
    pub outcome: Outcome,
    /// Where the energy went; none without power numbers.
    pub energy: Option<EnergyParts>,
    /// Where the time of each CPU went.
    pub times: Vec<CpuTime>,
    /// What was posted, taken and timed.
    pub balance: Balance,
    /// How many events were simulated.
    pub events: u64,
    /// If it was to be kept.
    pub recording: Option<Recording>,
}

/// Runs a model under a governor.
///
/// # Errors
///
/// A CPU without idle states; the clairvoyant governor.
pub fn simulate(
    model: &Model,
    policy: Policy<'_>,
    seed: u64,
    keep: Keep,
) -> Result<Run, SimulationError> {
    let recorder = (keep == Keep::Recording).then(|| Recorder::new(&model.cpus));
    let rate = model.rate;
    // Each of the usual governors gets a simulation of its own, without a branch per call.
    match policy {
        Policy::Named(GovernorName::Clairvoyant) => Err(SimulationError::NoForesight),
        Policy::Named(name) => match name.build(rate) {
            AnyGovernor::Teo(teo) => run(model, policy, seed, recorder, |_| teo.clone()),
            AnyGovernor::Menu(menu) => run(model, policy, seed, recorder, |_| menu.clone()),
            other => run(model, policy, seed, recorder, |_| other.clone()),
        },
        Policy::Foreign { build, .. } => {
            let boxed =
                |number: usize| Boxed(build(model.cpus.get(number).copied().unwrap_or_default()));
            run(model, policy, seed, recorder, boxed)
        }
    }
}

fn run<G: Governor>(
    model: &Model,
    policy: Policy<'_>,
    seed: u64,
    recorder: Option<Recorder>,
    build: impl FnMut(usize) -> G,
) -> Result<Run, SimulationError> {
    let finished: Finished<G> = Simulation::new(model, build, seed, recorder)?.run();
    Ok(outcome::run_of(model, &policy.to_string(), seed, finished))
}
