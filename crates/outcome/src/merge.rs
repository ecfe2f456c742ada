// SPDX-License-Identifier: GPL-2.0-or-later
//! From CPUs to a machine.

use std::collections::BTreeMap;

use crate::{Bench, CpuOutcome, Energy, OffBy, Outcome, Regret, StateOutcome, WakeupLatency};

impl Outcome {
    /// Adds up what came of a run on each CPU. Energy is left null: CPUs share cores and packages,
    /// so a machine's energy is not the sum of theirs. What a CPU does not know, the sum does not
    /// know either. Sums saturate, since counters may come from a file that says anything.
    #[must_use]
    pub fn of_cpus(
        bench: Bench,
        governor: Option<&str>,
        platform: Option<&str>,
        per_cpu: Vec<CpuOutcome>,
    ) -> Self {
        let states = add_states(&per_cpu);
        let sum = |count: fn(&StateOutcome) -> Option<u64>| add_all(states.iter().map(count));
        let (above, below) = (sum(|state| state.above), sum(|state| state.below));
        Self {
            bench,
            governor: governor.map(str::to_owned),
            platform: platform.map(str::to_owned),
            workload: None,
            iteration: 0,
            order: None,
            duration_ns: None,
            assumption: None,
            idles: add_all(states.iter().map(|state| Some(state.usage))),
            misses: add(above, below),
            above,
            below,
            ticks: add_all(per_cpu.iter().map(|cpu| cpu.ticks)),
            sleep_length_queries: add_all(per_cpu.iter().map(|cpu| cpu.sleep_length_queries)),
            energy: Energy::default(),
            figures: Vec::new(),
            wakeup_latency: per_cpu
                .iter()
                .map(|cpu| cpu.wakeup_latency.as_ref())
                .collect::<Option<Vec<_>>>()
                .map(WakeupLatency::merge),
            regret: per_cpu
                .iter()
                .map(|cpu| cpu.regret)
                .collect::<Option<Vec<_>>>()
                .map(|regrets| add_regrets(&regrets)),
            off_by: per_cpu
                .iter()
                .map(|cpu| cpu.off_by.as_deref())
                .collect::<Option<Vec<_>>>()
                .map(|parts| add_stays(&parts)),
            states,
            per_cpu,
        }
    }
}

impl StateOutcome {
    /// Adds what another CPU counted in the same state; a name that differs is kept beside.
    pub fn add(&mut self, other: &Self) {
        if !self.name.split('/').any(|name| name == other.name) {
            self.name.push('/');
            self.name.push_str(&other.name);
        }
        self.usage = self.usage.saturating_add(other.usage);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.above = add(self.above, other.above);
        self.below = add(self.below, other.below);
        self.rejected = add(self.rejected, other.rejected);
    }

    /// How often it was the wrong state: too deep or too shallow.
    #[must_use]
    pub fn misses(&self) -> Option<u64> {
        add(self.above, self.below)
    }
}

fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

fn add_all(counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.fold(Some(0), add)
}

fn add_regrets(regrets: &[Regret]) -> Regret {
    Regret {
        too_shallow_ns: regrets.iter().fold(0, |sum, one| sum.saturating_add(one.too_shallow_ns)),
        too_deep_ns: regrets.iter().fold(0, |sum, one| sum.saturating_add(one.too_deep_ns)),
        joules: regrets.iter().map(|regret| regret.joules).sum(),
    }
}

fn add_stays(parts: &[&[OffBy]]) -> Vec<OffBy> {
    let mut sums: BTreeMap<i8, u64> = BTreeMap::new();
    for off in parts.iter().copied().flatten() {
        let sum = sums.entry(off.states).or_default();
        *sum = sum.saturating_add(off.stays);
    }
    sums.into_iter().map(|(states, stays)| OffBy { states, stays }).collect()
}

fn add_states(per_cpu: &[CpuOutcome]) -> Vec<StateOutcome> {
    let mut sums: Vec<StateOutcome> = Vec::new();
    for cpu in per_cpu {
        for (index, state) in cpu.states.iter().enumerate() {
            match sums.get_mut(index) {
                None => sums.push(state.clone()),
                Some(sum) => sum.add(state),
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(number: u32, name: &str, usage: u64) -> CpuOutcome {
        CpuOutcome {
            cpu: number,
            ticks: Some(1),
            modelled_joules: Some(1.0),
            states: vec![StateOutcome {
                name: name.into(),
                usage,
                above: Some(1),
                below: Some(0),
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    #[test]
    fn cpus_add_up() {
        let cpus = vec![cpu(0, "off-l", 3), cpu(4, "off-b", 5)];
        let sum = Outcome::of_cpus(Bench::Replay, Some("teo"), Some("p"), cpus);
        assert_eq!((sum.idles, sum.above, sum.ticks), (Some(8), Some(2), Some(2)));
        assert_eq!(sum.states[0].name, "off-l/off-b");
        assert_eq!(sum.energy, Energy::default());
    }

    #[test]
    fn what_one_cpu_does_not_know_the_sum_does_not_know() {
        let mut old_kernel = cpu(1, "off-l", 5);
        old_kernel.states[0].below = None;
        let sum = Outcome::of_cpus(Bench::Count, None, None, vec![cpu(0, "off-l", 3), old_kernel]);
        assert_eq!((sum.idles, sum.above, sum.below, sum.misses), (Some(8), Some(2), None, None));
    }

    #[test]
    fn sums_beyond_all_counters_saturate() {
        let cpus = vec![cpu(0, "off-l", u64::MAX), cpu(1, "off-l", u64::MAX)];
        assert_eq!(Outcome::of_cpus(Bench::Count, None, None, cpus).idles, Some(u64::MAX));
    }
}
