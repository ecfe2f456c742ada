// SPDX-License-Identifier: GPL-2.0-or-later
//! Recording × governor × platform → outcome.
//!
//! A recording's ticks and poll timeouts were made by the governor that was in force, so they are
//! taken out and the new governor makes its own. What is left are [gaps](Gap) that end with an
//! event from outside: a timer, an interrupt, an IPI. In each gap the idle loop of crate `cpuidle`
//! runs:
//!
//! ```text
//!  recorded   ├─WFI─┤t├─off──────────┤t├─off──┤irq        t: the tick, which the recorded
//!                                                            governor had kept
//!  gap        ├───────────────────────────────┤irq
//!
//!  replayed   ├─off───────────────────────────┤irq        another governor stops the tick
//! ```
//!
//! Events from outside stay where they were (open loop): what a choice would have done to the
//! workload is beyond a replay.
//!
//! [`Prepared`] holds what does not depend on the governor; [`Prepared::run`] replays one.
//! [`check_decisions`], [`check_accounting`] and [`FreeRun`] are the self-checks that say what the
//! replay is worth.
//!
//! ```
//! use idlelab_governors::catalog;
//! use idlelab_platform::embedded;
//! use idlelab_recording::{CpuRecording, Period, Recording};
//! use idlelab_replay::{Prepared, WhatIf};
//! use idlelab_states::{CpuId, Nanoseconds};
//!
//! let mut cpu = CpuRecording::new(CpuId(0));
//! cpu.periods.push(&Period { exit: Nanoseconds::from_micros(500), ..Period::default() });
//! let recording = Recording { cpus: vec![cpu], ..Recording::default() };
//!
//! let machine = embedded::get("testbed-arm64-4cpu").ok_or("no such machine")?;
//! let prepared = Prepared::new(&recording, &machine, &WhatIf::default())?;
//! let governor = catalog::find("clairvoyant").map_err(|error| error.to_string())?;
//! // Only bounds: the recording does not tell what ended the period.
//! let outcomes = prepared.run(governor);
//! assert_eq!(outcomes.len(), 2);
//! assert_eq!(outcomes[0].states[1].name, "cpu-retention-0");
//! assert_eq!(outcomes[0].states[1].usage, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accounting;
mod candidate;
mod decisions;
mod difference;
mod energy;
mod error;
mod explain;
mod free_run;
mod gap;
mod overhead;
mod rebuilt;
mod run;
mod timeline;
mod what_if;

use idlelab_governors::catalog::GovernorName;
use idlelab_outcome::{Assumption, Bench, CpuOutcome, Outcome};
use idlelab_platform::Platform;
use idlelab_recording::{CpuRecording, Fidelity, Recording};
use idlelab_states::{CpuId, IdleStates, Nanoseconds, PerState, TickRate};
use rayon::prelude::*;

pub use accounting::{AccountingCheck, StateAccounting, check_accounting};
pub use candidate::{Candidate, Foreign};
pub use decisions::{DecisionsCheck, Divergence, check_decisions};
pub use difference::{Choice, Difference, Differences};
pub use energy::Stay;
pub use error::ReplayError;
pub use explain::Explanation;
pub use free_run::{FreeRun, FreeRunState};
pub use gap::{Gap, GapEnd, Gaps, Step};
pub use overhead::{ExitLatency, Overheads, Round};
pub use rebuilt::{RebuiltCheck, check_rebuilt_decisions};
pub use timeline::Timeline;
pub use what_if::{LatencyLimit, WhatIf};

/// A recording made ready to be replayed on a platform by any number of governors.
#[derive(Clone, Debug)]
pub struct Prepared {
    platform: Platform,
    rate: TickRate,
    fidelity: Fidelity,
    cpus: Vec<PreparedCpu>,
    /// The first and the last event of the recording.
    span: (Nanoseconds, Nanoseconds),
}

/// One CPU of a [`Prepared`] recording.
#[derive(Clone, Debug)]
pub(crate) struct PreparedCpu {
    pub(crate) cpu: CpuId,
    pub(crate) states: IdleStates,
    pub(crate) phase: Nanoseconds,
    pub(crate) gaps: Gaps,
    pub(crate) overheads: Overheads,
    /// From an event to the exit of each state.
    pub(crate) latency: PerState<Nanoseconds>,
    pub(crate) power: Option<energy::Power>,
    pub(crate) recorded: idlelab_cpuidle::Statistics,
}

impl Prepared {
    /// Takes ticks and poll timeouts out of a recording, and measures its overheads; `recorded` is
    /// the recorded machine.
    ///
    /// # Errors
    ///
    /// A recorded CPU without idle states in a platform, no tick rate from anywhere, or a state to
    /// disable that the platform does not have.
    pub fn new(
        recording: &Recording,
        recorded: &Platform,
        what_if: &WhatIf<'_>,
    ) -> Result<Self, ReplayError> {
        let platform = what_if.platform.unwrap_or(recorded);
        what_if.check(platform)?;
        let rate = what_if
            .rate
            .or(recording.tick_rate)
            .or(platform.tick_rate)
            .ok_or(ReplayError::NoTickRate)?;
        let cpus = recording
            .cpus
            .par_iter()
            .map(|cpu| PreparedCpu::new(cpu, recorded, what_if))
            .collect::<Result<Vec<_>, ReplayError>>()?;
        Ok(Self {
            platform: platform.clone(),
            rate,
            fidelity: recording.fidelity,
            cpus,
            span: recording.span.unwrap_or_default(),
        })
    }

    /// The machine that is replayed on.
    #[must_use]
    pub const fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The tick rate that is used.
    #[must_use]
    pub const fn tick_rate(&self) -> TickRate {
        self.rate
    }

    /// Idle periods between events from outside, all CPUs together.
    #[must_use]
    pub fn gaps(&self) -> usize {
        self.cpus.iter().map(|cpu| cpu.gaps.gaps.len()).sum()
    }

    /// Replays a governor. Where the recording does not tell the causes of wakeups, there are two
    /// outcomes, which bound the truth.
    #[must_use]
    pub fn run<'a>(&self, governor: impl Into<Candidate<'a>>) -> Vec<Outcome> {
        let governor = governor.into();
        if !self.is_bounded() {
            return vec![self.run_assuming(governor, None)];
        }
        [Assumption::AllTimers, Assumption::AllInterrupts]
            .map(|assumption| self.run_assuming(governor, Some(assumption)))
            .into()
    }

    /// Whether the recording does not tell the causes of wakeups, so that only bounds can be given.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.fidelity < Fidelity::Timers
    }

    /// Replays several governors and adds to each its modelled energy beyond that of the
    /// clairvoyant bound.
    #[must_use]
    pub fn compare<'a, G: Into<Candidate<'a>> + Copy>(&self, governors: &[G]) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> =
            governors.iter().flat_map(|&governor| self.run(governor)).collect();
        if self.cpus.iter().all(|cpu| cpu.power.is_none()) {
            return outcomes;
        }
        let bounds = self.run(GovernorName::Clairvoyant);
        for outcome in &mut outcomes {
            let bound = bounds.iter().find(|bound| bound.assumption == outcome.assumption);
            let Some(bound) = bound else { continue };
            // The bound is of each CPU alone: power that CPUs share is outside it.
            for (cpu, bound) in outcome.per_cpu.iter_mut().zip(&bound.per_cpu) {
                let beyond = cpu.modelled_joules.zip(bound.modelled_joules);
                if let Some(regret) = &mut cpu.regret {
                    regret.joules = beyond.map(|(spent, bound)| spent - bound);
                }
            }
            let joules = outcome.per_cpu.iter().map(|cpu| cpu.regret?.joules).sum();
            if let Some(regret) = &mut outcome.regret {
                regret.joules = joules;
            }
        }
        outcomes
    }

    fn run_assuming(&self, governor: Candidate<'_>, assumption: Option<Assumption>) -> Outcome {
        let (per_cpu, stays): (Vec<CpuOutcome>, Vec<Vec<Stay>>) =
            self.cpus.par_iter().map(|cpu| run::run(cpu, governor, self.rate, assumption)).unzip();
        let cpus: Vec<energy::CpuStays<'_>> = self
            .cpus
            .iter()
            .zip(&stays)
            .map(|(cpu, stays)| energy::CpuStays { cpu: cpu.cpu, power: cpu.power.as_ref(), stays })
            .collect();
        let joules = energy::of_machine(&self.platform, &cpus, self.span);
        let name = governor.to_string();
        let platform = Some(self.platform.name.as_str());
        let mut outcome = Outcome::of_cpus(Bench::Replay, Some(&name), platform, per_cpu);
        outcome.assumption = assumption;
        outcome.energy.modelled_joules = joules;
        outcome
    }
}

impl PreparedCpu {
    fn new(
        cpu: &CpuRecording,
        recorded: &Platform,
        what_if: &WhatIf<'_>,
    ) -> Result<Self, ReplayError> {
        let recorded_states = states_of(recorded, cpu.cpu)?;
        let platform = what_if.platform.unwrap_or(recorded);
        let mut states = states_of(platform, cpu.cpu)?;
        what_if.disable(&mut states);
        let overheads = Overheads::measure(cpu, &recorded_states);
        let mut gaps = Gaps::new(cpu, &overheads);
        if let Some(limit) = what_if.latency_limit(cpu.cpu) {
            gaps.steps.iter_mut().for_each(|step| step.latency_limit = limit);
        }
        Ok(Self {
            cpu: cpu.cpu,
            states,
            phase: cpu.tick_phase.unwrap_or_default(),
            recorded: free_run::recorded(cpu, &recorded_states),
            gaps,
            latency: match (what_if.exit_latency, what_if.platform) {
                (ExitLatency::None, _) => PerState::default(),
                (ExitLatency::Table, _) => overhead::of_table(&states),
                (ExitLatency::Observed, None) => overheads.recorded_latency,
                (ExitLatency::Observed, Some(other)) => {
                    overhead::of_description(other, cpu.cpu, &states)
                }
            },
            overheads,
            power: energy::Power::of(platform, cpu.cpu, &states),
        })
    }
}

fn states_of(platform: &Platform, cpu: CpuId) -> Result<IdleStates, ReplayError> {
    let states = platform.states_of(cpu);
    states.copied().ok_or_else(|| ReplayError::no_states(cpu, &platform.name))
}
