// SPDX-License-Identifier: GPL-2.0-or-later
//! Modelled energy of idle states.
//!
//! Energy of executing is left out: in an open loop it is the same for every governor. Powers that
//! depend on frequency are those at the lowest one, since a recording does not tell frequencies.
//!
//! ```text
//!  cpu0   ──────┤ C6 ├──────────┤ C1 ├───     a core is in the shallowest state of its threads,
//!  cpu1   ───┤ C6      ├──┤ C6      ├────     a shared part is off while all CPUs under it are
//!  core   ──────┤ C6 ├──────────┤ C1 ├───     deep enough
//! ```

use idlelab_cpuidle::Statistics;
use idlelab_governors::clairvoyant::{StateCost, StateCosts};
use idlelab_platform::{CpuList, Platform, PowerScope};
use idlelab_states::{CpuId, IdleStates, MAX_STATES, Nanoseconds, PerState, StateIndex};

/// What the idle states of one CPU draw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Power {
    /// In the integers that the clairvoyant bound compares.
    pub(crate) costs: StateCosts,
    watts: PerState<f64>,
    transition_joules: PerState<f64>,
    /// Whether the figures are of a whole core.
    per_core: bool,
}

/// One stay in an idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// When the state was entered, on the recording's clock.
    pub from: Nanoseconds,
    /// When it was left.
    pub to: Nanoseconds,
    /// The state.
    pub state: StateIndex,
}

impl Power {
    /// A CPU's power, if the platform has power numbers for it.
    pub(crate) fn of(platform: &Platform, cpu: CpuId, states: &IdleStates) -> Option<Self> {
        let model = platform.power_of(cpu)?;
        let mut power = Self {
            costs: StateCosts::default(),
            watts: PerState::default(),
            transition_joules: PerState::default(),
            per_core: model.scope == PowerScope::Core,
        };
        for state in states.indices() {
            let of_state = model.states[state].as_ref()?;
            let (watts, transition) = (of_state.watts.lowest(), of_state.transition.value.0);
            power.watts[state] = watts;
            power.transition_joules[state] = transition;
            power.costs[state] = StateCost {
                power_microwatts: (watts * 1e6).round() as u64,
                transition_nanojoules: (transition * 1e9).round() as u64,
            };
        }
        Some(power)
    }

    /// The energy of a CPU's stays, as if its core were its own.
    pub(crate) fn alone(&self, statistics: &Statistics) -> f64 {
        (0..MAX_STATES)
            .filter_map(StateIndex::new)
            .map(|state| {
                let counters = &statistics.states[state];
                self.watts[state] * seconds(counters.time)
                    + self.transition_joules[state] * counters.usage as f64
            })
            .sum()
    }
}

/// A CPU with its power and what it did.
pub(crate) struct CpuStays<'a> {
    pub(crate) cpu: CpuId,
    pub(crate) power: Option<&'a Power>,
    pub(crate) stays: &'a [Stay],
}

/// The energy of all idle states and shared parts of a machine over `span`, or `None` without
/// power numbers for every CPU.
pub(crate) fn of_machine(
    platform: &Platform,
    cpus: &[CpuStays<'_>],
    span: (Nanoseconds, Nanoseconds),
) -> Option<f64> {
    let mut joules = 0.0;
    for core in cores(platform, cpus) {
        let power = core.iter().map(|cpu| cpu.power).collect::<Option<Vec<_>>>()?;
        let power = *power.first()?;
        // Depth 0 is executing, which draws no idle power; depth n is idle state n - 1.
        sweep(
            &core,
            span,
            |_, state| state.map_or(0, |state| state.get() + 1),
            |depth, time, entered| {
                if let Some(state) = depth.checked_sub(1).and_then(StateIndex::new) {
                    joules += power.watts[state] * seconds(time);
                    if entered {
                        joules += power.transition_joules[state];
                    }
                }
            },
        );
    }
    let all: CpuList = cpus.iter().map(|cpu| cpu.cpu).collect();
    for shared in &platform.power()?.shared {
        for domain in platform.shared_domains(shared, &all) {
            let under: Vec<&CpuStays<'_>> =
                cpus.iter().filter(|cpu| domain.contains(cpu.cpu)).collect();
            let permits = |cpu: CpuId, state| {
                platform.table_of(cpu).map_or(0, |table| shared.permits(table, state))
            };
            let lowest_frequency = 0;
            sweep(&under, span, permits, |level, time, _| {
                joules += shared.watts(level, lowest_frequency) * seconds(time);
            });
        }
    }
    Some(joules)
}

/// The CPUs that are one core for the power model.
fn cores<'a, 'b>(platform: &Platform, cpus: &'a [CpuStays<'b>]) -> Vec<Vec<&'a CpuStays<'b>>> {
    let core_of = |cpu: &CpuStays<'_>| {
        let shares = cpu.power.is_some_and(|power| power.per_core);
        let core = platform.topology.as_ref().and_then(|topology| topology.core_of(cpu.cpu));
        core.filter(|_| shares).and_then(CpuList::first).unwrap_or(cpu.cpu)
    };
    let mut cores: Vec<(CpuId, Vec<&CpuStays<'_>>)> = Vec::new();
    for cpu in cpus {
        let core = core_of(cpu);
        match cores.iter_mut().find(|(known, _)| *known == core) {
            Some((_, threads)) => threads.push(cpu),
            None => cores.push((core, vec![cpu])),
        }
    }
    cores.into_iter().map(|(_, threads)| threads).collect()
}

/// Goes through time and hands out each stretch in which the group's level, the least of its
/// members', is constant: the level, how long, and whether it was newly reached.
fn sweep(
    group: &[&CpuStays<'_>],
    span: (Nanoseconds, Nanoseconds),
    level_of: impl Fn(CpuId, Option<StateIndex>) -> usize,
    mut stretch: impl FnMut(usize, Nanoseconds, bool),
) {
    let mut changes: Vec<(Nanoseconds, usize, usize)> = Vec::new();
    let mut levels: Vec<usize> = Vec::new();
    for (member, cpu) in group.iter().enumerate() {
        let executing = level_of(cpu.cpu, None);
        levels.push(executing);
        for stay in cpu.stays.iter().filter(|stay| stay.from < stay.to) {
            changes.push((stay.from, member, level_of(cpu.cpu, Some(stay.state))));
            changes.push((stay.to, member, executing));
        }
    }
    // A stay that begins as another of the same CPU ends comes after it: the sort is stable.
    changes.sort_by_key(|&(time, member, _)| (time, member));
    let mut at_level = vec![0_usize; 0];
    let mut count = |level: usize, up: bool| {
        if at_level.len() <= level {
            at_level.resize(level + 1, 0);
        }
        if let Some(members) = at_level.get_mut(level) {
            *members = if up { *members + 1 } else { members.saturating_sub(1) };
        }
        at_level.iter().position(|&members| members > 0).unwrap_or(0)
    };
    let mut lowest = 0;
    for &level in &levels {
        lowest = count(level, true);
    }
    let mut since = span.0;
    let mut newly = true;
    for (time, member, level) in changes {
        let Some(current) = levels.get_mut(member) else { continue };
        count(*current, false);
        *current = level;
        let changed = count(level, true);
        if changed != lowest {
            let until = time.max(since);
            stretch(lowest, until - since, newly);
            (since, lowest, newly) = (until, changed, true);
        }
    }
    if span.1 > since {
        stretch(lowest, span.1 - since, newly);
    }
}

fn seconds(time: Nanoseconds) -> f64 {
    time.get() as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(from: i64, to: i64, state: usize) -> Stay {
        let state = StateIndex::new(state).unwrap();
        Stay { from: Nanoseconds::new(from), to: Nanoseconds::new(to), state }
    }

    fn levels(stays: [&[Stay]; 2]) -> Vec<(usize, i64, bool)> {
        let cpus =
            [0, 1].map(|cpu| CpuStays { cpu: CpuId(cpu), power: None, stays: stays[cpu as usize] });
        let group: Vec<&CpuStays<'_>> = cpus.iter().collect();
        let mut seen = Vec::new();
        let span = (Nanoseconds::ZERO, Nanoseconds::new(100));
        sweep(
            &group,
            span,
            |_, state| state.map_or(0, |state| state.get() + 1),
            |level, time, new| {
                seen.push((level, time.get(), new));
            },
        );
        seen
    }

    #[test]
    fn a_group_is_as_deep_as_its_shallowest_member() {
        // cpu0 is in state 2 from 10 to 60, cpu1 in state 0 from 20 to 30 and in state 2 to 50.
        let seen = levels([&[stay(10, 60, 2)], &[stay(20, 30, 0), stay(30, 50, 2)]]);
        assert_eq!(
            seen,
            [(0, 20, true), (1, 10, true), (0, 0, true), (3, 20, true), (0, 50, true)]
        );
    }

    #[test]
    fn a_group_that_never_idles_executes_all_the_time() {
        assert_eq!(levels([&[], &[stay(0, 100, 1)]]), [(0, 100, true)]);
    }
}
