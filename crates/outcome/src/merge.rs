// SPDX-License-Identifier: GPL-2.0-or-later
//! From CPUs to a machine.

use crate::{Bench, CpuOutcome, Energy, Outcome, Regret, StateOutcome, WakeupLatency};

impl Outcome {
    /// Adds up what came of a run on each CPU. Energy is left null: CPUs share cores and packages,
    /// so a machine's energy is not the sum of theirs. Regret is null unless every CPU has it.
    #[must_use]
    pub fn of_cpus(bench: Bench, governor: &str, platform: &str, per_cpu: Vec<CpuOutcome>) -> Self {
        let states = add_states(&per_cpu);
        let sum = |count: fn(&StateOutcome) -> u64| states.iter().map(count).sum::<u64>();
        let (above, below) = (sum(|state| state.above), sum(|state| state.below));
        Self {
            bench,
            governor: governor.to_owned(),
            platform: platform.to_owned(),
            iteration: 0,
            assumption: None,
            idles: sum(|state| state.usage),
            misses: above + below,
            above,
            below,
            ticks: per_cpu.iter().map(|cpu| cpu.ticks).sum(),
            sleep_length_queries: per_cpu.iter().map(|cpu| cpu.sleep_length_queries).sum(),
            energy: Energy::default(),
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
            states,
            per_cpu,
        }
    }
}

fn add_regrets(regrets: &[Regret]) -> Regret {
    Regret {
        too_shallow_ns: regrets.iter().map(|regret| regret.too_shallow_ns).sum(),
        too_deep_ns: regrets.iter().map(|regret| regret.too_deep_ns).sum(),
        joules: regrets.iter().map(|regret| regret.joules).sum(),
    }
}

fn add_states(per_cpu: &[CpuOutcome]) -> Vec<StateOutcome> {
    let mut sums: Vec<StateOutcome> = Vec::new();
    for cpu in per_cpu {
        for (index, state) in cpu.states.iter().enumerate() {
            match sums.get_mut(index) {
                None => sums.push(state.clone()),
                Some(sum) => {
                    if !sum.name.split('/').any(|name| name == state.name) {
                        sum.name.push('/');
                        sum.name.push_str(&state.name);
                    }
                    sum.usage += state.usage;
                    sum.time_ns += state.time_ns;
                    sum.above += state.above;
                    sum.below += state.below;
                    sum.rejected += state.rejected;
                }
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
            ticks: 1,
            modelled_joules: Some(1.0),
            states: vec![StateOutcome { name: name.into(), usage, above: 1, ..Default::default() }],
            ..Default::default()
        }
    }

    #[test]
    fn cpus_add_up() {
        let cpus = vec![cpu(0, "off-l", 3), cpu(4, "off-b", 5)];
        let sum = Outcome::of_cpus(Bench::Replay, "teo", "p", cpus);
        assert_eq!((sum.idles, sum.above, sum.ticks), (8, 2, 2));
        assert_eq!(sum.states[0].name, "off-l/off-b");
        assert_eq!(sum.energy, Energy::default());
    }
}
