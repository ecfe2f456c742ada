// SPDX-License-Identifier: GPL-2.0-or-later
//! Energy, metered as the simulation goes.
//!
//! ```text
//!  cpu0   ──────┤ C6 ├──────────┤ C1 ├───     a core is in the shallowest state of its threads,
//!  cpu1   ───┤ C6      ├──┤ C6      ├────     a shared part is off while all CPUs under it are
//!  core   ──────┤ C6 ├──────────┤ C1 ├───     deep enough
//! ```
//!
//! What is added up while the simulation runs are nanoseconds at each level, which are exact;
//! joules are made of them once, at the end.

use idlelab_platform::{CpuList, CpuPower, Platform, PowerScope};
use idlelab_states::{CpuId, MAX_STATES, StateIndex};

/// A level for executing, and one for each idle state.
const LEVELS: usize = MAX_STATES + 1;

/// CPUs that are at the shallowest level of any of them.
#[derive(Clone, Debug)]
struct Group {
    /// How many CPUs are at each level.
    members: [u32; LEVELS],
    level: usize,
    since: i64,
    /// Nanoseconds at each level.
    time: [i64; LEVELS],
    /// How often each level was newly reached.
    reached: [u64; LEVELS],
}

impl Group {
    fn new(members: usize) -> Self {
        let mut group = Self {
            members: [0; LEVELS],
            level: 0,
            since: 0,
            time: [0; LEVELS],
            reached: [0; LEVELS],
        };
        group.members[0] = members as u32;
        group
    }

    #[inline]
    fn change(&mut self, from: usize, to: usize, now: i64) {
        self.members[from] -= 1;
        self.members[to] += 1;
        let level = self.members.iter().position(|&members| members > 0).unwrap_or(0);
        if level != self.level {
            self.settle(now);
            self.level = level;
            self.reached[level] += 1;
        }
    }

    fn settle(&mut self, now: i64) {
        self.time[self.level] += now - self.since;
        self.since = now;
    }
}

/// A core, or what the power model takes for one.
#[derive(Clone, Debug)]
struct Core {
    group: Group,
    power: CpuPower,
}

/// A part that CPUs share, with what it draws at each level.
#[derive(Clone, Debug)]
struct Shared {
    group: Group,
    watts: [f64; LEVELS],
    name: String,
}

/// What one CPU is metered by.
#[derive(Clone, Debug)]
struct Wiring {
    core: usize,
    level: usize,
    /// For each shared part over the CPU: which, the CPU's level there, and the levels that
    /// executing and each idle state permit.
    shared: Vec<(usize, usize, [u8; LEVELS])>,
}

/// The energy of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    mhz: u32,
    cores: Vec<Core>,
    shared: Vec<Shared>,
    cpus: Vec<Wiring>,
}

/// Where energy went, in joules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyParts {
    /// Cores that executed.
    pub executing: f64,
    /// Cores in each idle state, by its number.
    pub idle: Vec<f64>,
    /// Cores that entered and left each idle state.
    pub transitions: Vec<f64>,
    /// Each part that CPUs share, by its name.
    pub shared: Vec<(String, f64)>,
}

impl EnergyParts {
    /// All parts together.
    #[must_use]
    pub fn total(&self) -> f64 {
        let shared: f64 = self.shared.iter().map(|(_, joules)| joules).sum();
        let cores: f64 = self.idle.iter().chain(&self.transitions).sum();
        self.executing + cores + shared
    }
}

impl Meter {
    /// A meter for CPUs that all execute at time 0; `None` where the platform lacks a power for one
    /// of them, executing or idle.
    pub(crate) fn new(platform: &Platform, cpus: &[CpuId], mhz: u32) -> Option<Self> {
        let mut first_of_core: Vec<CpuId> = Vec::new();
        let mut cores: Vec<Core> = Vec::new();
        let mut wirings = Vec::new();
        for &cpu in cpus {
            let power = platform.power_of(cpu)?;
            power.active.as_ref()?;
            let topology = platform.topology.as_ref().filter(|_| power.scope == PowerScope::Core);
            let first = topology
                .and_then(|topology| topology.core_of(cpu))
                .and_then(CpuList::first)
                .unwrap_or(cpu);
            let known = first_of_core.iter().position(|&other| other == first);
            let core = known.unwrap_or_else(|| {
                first_of_core.push(first);
                cores.push(Core { group: Group::new(0), power: power.clone() });
                cores.len() - 1
            });
            cores[core].group.members[0] += 1;
            wirings.push(Wiring { core, level: 0, shared: Vec::new() });
        }
        let all: CpuList = cpus.iter().copied().collect();
        let mut shared = Vec::new();
        for part in &platform.power()?.shared {
            for domain in platform.shared_domains(part, &all) {
                let mut watts = [0.0; LEVELS];
                for (level, watts) in watts.iter_mut().enumerate() {
                    *watts = part.watts(level, mhz);
                }
                let mut members = 0;
                for (&cpu, wiring) in cpus.iter().zip(&mut wirings) {
                    if !domain.contains(cpu) {
                        continue;
                    }
                    members += 1;
                    let table = platform.table_of(cpu)?;
                    let mut permits = [0; LEVELS];
                    for (level, permitted) in permits.iter_mut().enumerate() {
                        let state = level.checked_sub(1).and_then(StateIndex::new);
                        *permitted = part.permits(table, state).min(LEVELS - 1) as u8;
                    }
                    wiring.shared.push((shared.len(), 0, permits));
                }
                let name = part.name.clone();
                shared.push(Shared { group: Group::new(members), watts, name });
            }
        }
        Some(Self { mhz, cores, shared, cpus: wirings })
    }

    /// A CPU executes (`None`) or is in an idle state from `now` on.
    #[inline]
    pub(crate) fn set(&mut self, cpu: usize, state: Option<StateIndex>, now: i64) {
        let level = state.map_or(0, |state| state.get() + 1);
        let wiring = &mut self.cpus[cpu];
        let before = std::mem::replace(&mut wiring.level, level);
        self.cores[wiring.core].group.change(before, level, now);
        for (part, at, permits) in &mut wiring.shared {
            let permitted = usize::from(permits[level]);
            let before = std::mem::replace(at, permitted);
            if before != permitted {
                self.shared[*part].group.change(before, permitted, now);
            }
        }
    }

    /// What was drawn up to `end`.
    pub(crate) fn parts(mut self, end: i64) -> EnergyParts {
        let mut parts = EnergyParts {
            idle: vec![0.0; MAX_STATES],
            transitions: vec![0.0; MAX_STATES],
            ..EnergyParts::default()
        };
        for core in &mut self.cores {
            core.group.settle(end);
            let active = core.power.active.as_ref().map_or(0.0, |active| active.at(self.mhz));
            parts.executing += active * seconds(core.group.time[0]);
            for state in (0..MAX_STATES).filter_map(StateIndex::new) {
                let Some(power) = &core.power.states[state] else { continue };
                let (number, level) = (state.get(), state.get() + 1);
                parts.idle[number] += power.watts.at(self.mhz) * seconds(core.group.time[level]);
                parts.transitions[number] +=
                    power.transition.value.0 * core.group.reached[level] as f64;
            }
        }
        for part in &mut self.shared {
            part.group.settle(end);
            let watts = part.watts.iter().zip(&part.group.time);
            let joules = watts.map(|(watts, &time)| watts * seconds(time)).sum();
            parts.shared.push((part.name.clone(), joules));
        }
        parts
    }
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use idlelab_platform::embedded;

    use super::*;

    /// By hand: cpu0 and cpu4 are one core of the i7-2600K, at 1600 MHz 13.91 W executing, 1.255 W
    /// in C1, 0 W in C6; the package draws 3.68 W whatever they do.
    #[test]
    fn a_core_is_in_the_shallowest_state_of_its_threads() {
        let platform = embedded::get("i7-2600k").unwrap();
        let mut meter = Meter::new(&platform, &[CpuId(0), CpuId(4)], 1_600).unwrap();
        let state = StateIndex::new;
        meter.set(0, state(4), 1_000_000_000);
        meter.set(1, state(1), 2_000_000_000);
        meter.set(1, None, 5_000_000_000);
        let parts = meter.parts(6_000_000_000);
        assert!((parts.executing - 13.91 * 3.0).abs() < 1e-9);
        assert!((parts.idle[1] - 1.255 * 3.0).abs() < 1e-9);
        assert_eq!(parts.idle[4], 0.0);
        assert!((parts.shared[0].1 - 3.68 * 6.0).abs() < 1e-9);
        // The core reached C1 once and never C6: break-even with POLL at 2 us.
        assert!((parts.transitions[1] - (16.01 - 1.255) * 2e-6).abs() < 1e-12);
        assert_eq!(parts.transitions[4], 0.0);
        let by_hand = 13.91 * 3.0 + 1.255 * 3.0 + 3.68 * 6.0 + (16.01 - 1.255) * 2e-6;
        assert!((parts.total() - by_hand).abs() < 1e-9);
    }

    /// Two sockets of 99.05 W if all is in C2, else 180.2 W.
    #[test]
    fn a_shared_part_is_off_only_while_all_cpus_are_deep_enough() {
        let platform = embedded::get("epyc-rome").unwrap();
        let cpus: Vec<CpuId> = platform.cpus().unwrap_or_default().iter().collect();
        let cpus = if cpus.is_empty() { vec![CpuId(0), CpuId(1)] } else { cpus };
        let mut meter = Meter::new(&platform, &cpus, 2_500).unwrap();
        let on: f64 = meter.shared.iter().map(|part| part.watts[0]).sum();
        let off: f64 = meter.shared.iter().map(|part| part.watts[1]).sum();
        for cpu in 0..cpus.len() {
            meter.set(cpu, StateIndex::new(2), 1_000_000_000);
        }
        meter.set(0, StateIndex::new(1), 3_000_000_000);
        let parts = meter.parts(4_000_000_000);
        let shared: f64 = parts.shared.iter().map(|(_, joules)| joules).sum();
        assert!((shared - (2.0 * on + 2.0 * off)).abs() < 1e-6, "{shared}");
        assert!(off < on);
    }
}
