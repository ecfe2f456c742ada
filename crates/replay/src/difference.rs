// SPDX-License-Identifier: GPL-2.0-or-later
//! By which rules two governors part.
//!
//! Two replays of one recording meet at the start of every gap: what the governors choose first in
//! it is held against each other. Later rounds of a gap are consequences of the first, and a gap
//! that one of them passes through polling has no first choice.

use std::collections::BTreeMap;

use idlelab_governors::TickRequest;
use idlelab_governors::reason::Reason;
use idlelab_states::{CpuId, Nanoseconds, StateIndex};
use rayon::prelude::*;

use crate::run::{self, Aloud, Moment, Watcher};
use crate::{Candidate, Prepared, PreparedCpu};

/// Where two governors chose differently, and by which rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Gaps in which both chose.
    pub gaps: u64,
    /// Kinds of difference, the most frequent first.
    pub kinds: Vec<Difference>,
}

/// One kind of difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What the first governor did, and why.
    pub a: Choice,
    /// What the second did.
    pub b: Choice,
    /// In so many gaps.
    pub count: u64,
    /// How long these gaps are in all.
    pub idle: Nanoseconds,
    /// The CPU of the first of them.
    pub cpu: CpuId,
    /// When both had chosen in the first of them, on the recording's clock.
    pub time: Nanoseconds,
}

/// A decision and the rules that led to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// The state.
    pub state: StateIndex,
    /// Whether it wanted the tick stopped.
    pub stop_tick: bool,
    /// The rules that settled the state, in order, and then the tick. Empty if the governor does
    /// not tell.
    pub rules: Vec<&'static str>,
}

impl Prepared {
    /// Replays two governors and says by which rules they chose differently.
    #[must_use]
    pub fn differences<'a>(
        &self,
        a: impl Into<Candidate<'a>>,
        b: impl Into<Candidate<'a>>,
    ) -> Differences {
        let (a, b) = (a.into(), b.into());
        let of_cpus: Vec<(u64, Kinds)> =
            self.cpus.par_iter().map(|cpu| self.differences_on(cpu, a, b)).collect();
        let mut gaps = 0;
        let mut kinds = Kinds::new();
        for (compared, of_cpu) in of_cpus {
            gaps += compared;
            for (key, seen) in of_cpu {
                kinds.entry(key).and_modify(|known| known.add(&seen)).or_insert(seen);
            }
        }
        let mut kinds: Vec<Difference> = kinds
            .into_iter()
            .map(|((a, b), Seen { count, idle, first: (time, cpu) })| Difference {
                a,
                b,
                count,
                idle,
                cpu,
                time,
            })
            .collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        Differences { gaps, kinds }
    }

    fn differences_on(
        &self,
        cpu: &PreparedCpu,
        a: Candidate<'_>,
        b: Candidate<'_>,
    ) -> (u64, Kinds) {
        let choices = |governor| {
            let mut firsts = Firsts { of_gap: vec![None; cpu.gaps.gaps.len()] };
            run::watch(cpu, governor, self.tick_rate(), self.assumption(), &mut firsts);
            firsts.of_gap
        };
        let mut compared = 0;
        let mut kinds = Kinds::new();
        for ((a, b), gap) in choices(a).into_iter().zip(choices(b)).zip(&cpu.gaps.gaps) {
            let (Some((time_a, a)), Some((time_b, b))) = (a, b) else { continue };
            compared += 1;
            if (a.state, a.stop_tick) == (b.state, b.stop_tick) {
                continue;
            }
            let first = (time_a.max(time_b), cpu.cpu);
            let seen = Seen { count: 1, idle: gap.end - gap.start, first };
            kinds.entry((a, b)).and_modify(|known| known.add(&seen)).or_insert(seen);
        }
        (compared, kinds)
    }
}

type Kinds = BTreeMap<(Choice, Choice), Seen>;

/// How often and where a kind of difference was seen.
struct Seen {
    count: u64,
    idle: Nanoseconds,
    first: (Nanoseconds, CpuId),
}

impl Seen {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.idle += other.idle;
        self.first = self.first.min(other.first);
    }
}

/// Keeps the first choice in each gap.
struct Firsts {
    of_gap: Vec<Option<(Nanoseconds, Choice)>>,
}

impl Watcher<Aloud> for Firsts {
    fn decided(&mut self, moment: &Moment<'_, Aloud>) {
        let Some(first @ None) = self.of_gap.get_mut(moment.gap) else { return };
        let (state, stop_tick) = (moment.entry.state, moment.entry.stop_requested);
        let rules = rules(&moment.idle.governor().reasons, stop_tick);
        *first = Some((moment.time, Choice { state, stop_tick, rules }));
    }
}

/// The rules that settled state and tick, each named once. That a search starts from the deepest
/// state is worth a word only where nothing comes of it.
fn rules(reasons: &[Reason], stop_tick: bool) -> Vec<&'static str> {
    let tick = if stop_tick { TickRequest::Stop } else { TickRequest::Keep };
    let mut states: Vec<&Reason> =
        reasons.iter().filter(|reason| reason.state().is_some()).collect();
    if let [Reason::DeepestEnabled(_), _, ..] = states[..] {
        states.remove(0);
    }
    let tick = reasons.iter().filter(|reason| reason.tick() == Some(tick));
    let mut rules: Vec<&str> = states.into_iter().chain(tick).map(Reason::rule).collect();
    rules.dedup();
    rules
}
