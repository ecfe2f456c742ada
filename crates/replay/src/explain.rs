// SPDX-License-Identifier: GPL-2.0-or-later
//! Why that state? One decision of a replay with all that led to it.

use idlelab_governors::reason::Reason;
use idlelab_governors::{Governor, Metric, SleepLength};
use idlelab_outcome::Assumption;
use idlelab_states::{CpuId, IdleStates, Nanoseconds, StateIndex, Tick};
use rayon::prelude::*;

use crate::run::{self, Aloud, Moment, Watcher};
use crate::{Candidate, Prepared, PreparedCpu};

/// One decision: what the governor was told, its metrics at that moment, and what it chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The governor's name.
    pub governor: String,
    /// The CPU.
    pub cpu: CpuId,
    /// The CPU's idle states.
    pub states: IdleStates,
    /// When this round of the idle loop began, on the recording's clock.
    pub time: Nanoseconds,
    /// What the governor was told if it asked for the sleep length.
    pub sleep_length: Option<SleepLength>,
    /// Whether the tick ran.
    pub tick: Tick,
    /// The latency limit.
    pub latency_limit: Nanoseconds,
    /// How long the CPU was in the state before.
    pub last_residency: Nanoseconds,
    /// The governor's metrics when it had chosen.
    pub metrics: Vec<Metric>,
    /// The steps that led to its choice.
    pub reasons: Vec<Reason>,
    /// What it chose.
    pub state: StateIndex,
    /// Whether it wanted the tick stopped.
    pub stop_tick: bool,
}

impl Prepared {
    /// The last decision of a governor on a CPU not after `at`, or its first if all are after.
    /// `None` if the recording has no idle period of that CPU.
    #[must_use]
    pub fn explain<'a>(
        &self,
        governor: impl Into<Candidate<'a>>,
        cpu: CpuId,
        at: Nanoseconds,
    ) -> Option<Explanation> {
        let cpu = self.cpus.iter().find(|known| known.cpu == cpu)?;
        self.explain_on(cpu, governor.into(), at)
    }

    /// The first moment at which two governors choose differently, on whichever CPU that is.
    /// `None` if they never do.
    #[must_use]
    pub fn first_difference<'a>(
        &self,
        a: impl Into<Candidate<'a>>,
        b: impl Into<Candidate<'a>>,
    ) -> Option<(Explanation, Explanation)> {
        let (a, b) = (a.into(), b.into());
        let (cpu, time) = self
            .cpus
            .par_iter()
            .filter_map(|cpu| {
                let (a, b) = (self.decisions(cpu, a), self.decisions(cpu, b));
                let (first, _) = a.iter().zip(&b).find(|(a, b)| a != b)?;
                Some((cpu, first.time))
            })
            .min_by_key(|(cpu, time)| (*time, cpu.cpu))?;
        Some((self.explain_on(cpu, a, time)?, self.explain_on(cpu, b, time)?))
    }

    fn explain_on(
        &self,
        cpu: &PreparedCpu,
        governor: Candidate<'_>,
        at: Nanoseconds,
    ) -> Option<Explanation> {
        let mut witness = Witness { governor, cpu, at, seen: None };
        run::watch(cpu, governor, self.rate, self.assumption(), &mut witness);
        witness.seen
    }

    fn decisions(&self, cpu: &PreparedCpu, governor: Candidate<'_>) -> Vec<Decision> {
        let mut decisions = Decisions::default();
        run::watch(cpu, governor, self.rate, self.assumption(), &mut decisions);
        decisions.0
    }

    /// Where the recording does not tell causes, decisions are explained as if all were timers.
    pub(crate) fn assumption(&self) -> Option<Assumption> {
        self.is_bounded().then_some(Assumption::AllTimers)
    }
}

/// Keeps the decision that is asked for.
struct Witness<'a> {
    governor: Candidate<'a>,
    cpu: &'a PreparedCpu,
    at: Nanoseconds,
    seen: Option<Explanation>,
}

impl Watcher<Aloud> for Witness<'_> {
    fn decided(&mut self, moment: &Moment<'_, Aloud>) {
        if moment.time > self.at && self.seen.is_some() {
            return;
        }
        let mut metrics = Vec::new();
        moment.idle.governor().explain(&mut |metric| metrics.push(metric));
        self.seen = Some(Explanation {
            governor: self.governor.to_string(),
            cpu: self.cpu.cpu,
            states: self.cpu.states,
            time: moment.time,
            sleep_length: moment.entry.sleep_length,
            tick: moment.entry.tick,
            latency_limit: moment.latency_limit,
            last_residency: moment.idle.device().last_residency,
            metrics,
            reasons: moment.idle.governor().reasons.clone(),
            state: moment.entry.state,
            stop_tick: moment.entry.stop_requested,
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Decision {
    time: Nanoseconds,
    state: StateIndex,
    stop_tick: bool,
}

/// Keeps every decision.
#[derive(Default)]
struct Decisions(Vec<Decision>);

impl<G> Watcher<G> for Decisions {
    fn decided(&mut self, moment: &Moment<'_, G>) {
        self.0.push(Decision {
            time: moment.time,
            state: moment.entry.state,
            stop_tick: moment.entry.stop_requested,
        });
    }
}
