// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{CpuId, IdleStates, Nanoseconds, PerState, TickRate};

use crate::cpu_list::{CpuIndex, SharedCpu};
use crate::power::{CpuPower, Figure, PowerModel, SharedPower, SharedScope};
use crate::{CpuList, Topology};

/// How long leaving a state was seen to take, against the exit latency that its table states.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ObservedLatency {
    /// The usual time.
    pub typical: Option<Figure<Nanoseconds>>,
    /// The time of slow cases; the figure's source says how slow.
    pub tail: Option<Figure<Nanoseconds>>,
}

/// The idle states of some CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTable {
    /// What these CPUs are called, such as `big`.
    pub name: String,
    /// The CPUs; `None` if every CPU of the machine has this table.
    pub cpus: Option<CpuList>,
    /// The states, shallowest first.
    pub states: IdleStates,
    /// What leaving each state was seen to take.
    pub observed: PerState<Option<ObservedLatency>>,
    /// Where the table is from, if not from where the platform is.
    pub source: Option<String>,
}

impl StateTable {
    /// A table of which nothing but the states is known.
    #[must_use]
    pub fn new(name: impl Into<String>, cpus: Option<CpuList>, states: IdleStates) -> Self {
        Self { name: name.into(), cpus, states, observed: PerState::default(), source: None }
    }
}

/// Which CPUs run at one frequency and voltage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrequencyDomain {
    /// Each core has its own.
    Core,
    /// The CPUs of a cluster share one.
    Cluster,
    /// The CPUs of a package share one: the highest request wins.
    Package,
}

/// The frequencies that a machine runs at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequency {
    /// The lowest, in megahertz.
    pub min_mhz: u32,
    /// The highest, in megahertz, with one core active, with two, and so on; beyond the end as at
    /// the end. Never empty.
    pub max_mhz: Vec<u32>,
    /// Which CPUs share a frequency, if known.
    pub domain: Option<FrequencyDomain>,
    /// Where this is from.
    pub source: String,
}

impl Frequency {
    /// The highest frequency in megahertz with so many cores active.
    #[must_use]
    pub fn max_with(&self, active_cores: usize) -> u32 {
        let at = active_cores.max(1) - 1;
        self.max_mhz.get(at).or(self.max_mhz.last()).copied().unwrap_or(self.min_mhz)
    }
}

/// How a wakeup by the CPU's own timer compares with one by an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimerWakes {
    /// The hardware starts to leave the state ahead of the timer, so that timer wakeups show less
    /// than the exit latency.
    PreArmed,
    /// A timer wakes like any other interrupt.
    Late,
}

/// A machine: its idle-state tables, topology, tick rate and power model.
///
/// ```
/// use idlelab_platform::Platform;
/// use idlelab_states::CpuId;
///
/// let text = r#"
/// name = "my-board"
/// source = "device tree"
/// tick_hz = 250
///
/// [[table]]
/// name = "little"
/// cpus = "0-3"
/// state = [
///     { name = "WFI", exit_latency_us = 1, target_residency_us = 1 },
///     { name = "cpuoff-l", exit_latency_us = 349, target_residency_us = 6710 },
/// ]
///
/// [[table]]
/// name = "big"
/// cpus = "4-7"
/// state = [
///     { name = "WFI", exit_latency_us = 1, target_residency_us = 1 },
///     { name = "cpuoff-b", exit_latency_us = 147, target_residency_us = 2580 },
/// ]
/// "#;
/// let (platform, warnings) = Platform::from_toml("my-board.toml", text)?;
/// assert!(warnings.is_empty());
/// let states = platform.states_of(CpuId(5)).expect("cpu5 is a big one");
/// assert_eq!(states.as_slice()[1].target_residency.get(), 2_580_000);
/// assert!(platform.states_of(CpuId(8)).is_none());
/// # Ok::<(), idlelab_platform::PlatformError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// A short name, such as `rk3399`.
    pub name: String,
    /// What machine it is, in a sentence or two; may be empty.
    pub description: String,
    /// Where its idle-state tables are from.
    pub source: String,
    /// The scheduler tick, if known.
    pub tick_rate: Option<TickRate>,
    /// Hardware threads of a core, where that is known without a topology.
    pub threads_per_core: Option<u32>,
    /// How timers wake it, if known.
    pub timer_wakes: Option<TimerWakes>,
    /// The frequencies that it runs at, if known.
    pub frequency: Option<Frequency>,
    /// How its CPUs share hardware, if known.
    pub topology: Option<Topology>,
    tables: Vec<StateTable>,
    power: Option<PowerModel>,
    lookup: Lookup,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Lookup {
    OneForAll,
    ByCpu(CpuIndex),
}

/// Tables that do not say which CPU has which.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// There is no table.
    #[error("a machine has at least one table of idle states")]
    None,
    /// A CPU is in two tables.
    #[error("{cpu} is in two tables, `{first}` and `{second}`; a CPU has one")]
    DuplicateCpu {
        /// The CPU.
        cpu: CpuId,
        /// The first table's name.
        first: String,
        /// The second table's name.
        second: String,
    },
    /// One of several tables is for every CPU.
    #[error("table `{0}` is for every CPU, but there are others; give each its CPUs")]
    EveryCpu(String),
}

impl Platform {
    /// A machine of which nothing but its tables is known.
    ///
    /// # Errors
    ///
    /// No table, a CPU in two tables, or one of several tables without CPUs.
    pub fn new(
        name: impl Into<String>,
        source: impl Into<String>,
        tables: Vec<StateTable>,
    ) -> Result<Self, TablesError> {
        let lookup = Lookup::new(&tables)?;
        Ok(Self {
            name: name.into(),
            description: String::new(),
            source: source.into(),
            tick_rate: None,
            threads_per_core: None,
            timer_wakes: None,
            frequency: None,
            topology: None,
            tables,
            power: None,
            lookup,
        })
    }

    /// The idle-state tables; never empty.
    #[must_use]
    pub fn tables(&self) -> &[StateTable] {
        &self.tables
    }

    /// The states of a table, to disable or retime some; which CPUs have it stays.
    pub fn states_mut(&mut self, table: usize) -> Option<&mut IdleStates> {
        self.tables.get_mut(table).map(|table| &mut table.states)
    }

    /// Which of [`Platform::tables`] a CPU has.
    #[must_use]
    pub fn table_of(&self, cpu: CpuId) -> Option<usize> {
        match &self.lookup {
            Lookup::OneForAll => Some(0),
            Lookup::ByCpu(index) => index.get(cpu),
        }
    }

    /// The idle states of a CPU.
    #[must_use]
    pub fn states_of(&self, cpu: CpuId) -> Option<&IdleStates> {
        self.tables.get(self.table_of(cpu)?).map(|table| &table.states)
    }

    /// What the machine draws, if anything is known of it.
    #[must_use]
    pub fn power(&self) -> Option<&PowerModel> {
        self.power.as_ref()
    }

    /// What a CPU, or the core it is in, draws.
    #[must_use]
    pub fn power_of(&self, cpu: CpuId) -> Option<&CpuPower> {
        self.power.as_ref()?.tables.get(self.table_of(cpu)?)?.as_ref()
    }

    pub(crate) fn set_power(&mut self, power: PowerModel) {
        self.power = Some(power);
    }

    /// The CPUs of the machine, if its topology or its tables name them.
    #[must_use]
    pub fn cpus(&self) -> Option<CpuList> {
        if let Some(topology) = &self.topology {
            return Some(topology.cpus().clone());
        }
        self.tables
            .iter()
            .map(|table| table.cpus.as_ref())
            .try_fold(CpuList::default(), |all, cpus| cpus.map(|cpus| all.union(cpus)))
    }

    /// Hardware threads of a core, from the topology or, without one, as stated.
    #[must_use]
    pub fn smt(&self) -> Option<usize> {
        let from_topology = self.topology.as_ref().and_then(Topology::threads_per_core);
        from_topology.or_else(|| self.threads_per_core.map(|threads| threads as usize))
    }

    /// The groups of `cpus` that each have one instance of a shared part. Without the topology
    /// that tells packages or clusters apart, all CPUs are in one.
    #[must_use]
    pub fn shared_domains(&self, shared: &SharedPower, cpus: &CpuList) -> Vec<CpuList> {
        let units = match (&shared.scope, &self.topology) {
            (SharedScope::Cpus(list), _) => std::slice::from_ref(list),
            (SharedScope::EachPackage, Some(topology)) => topology.packages(),
            (SharedScope::EachCluster, Some(topology)) => topology.clusters(),
            _ => &[],
        };
        if units.is_empty() {
            return vec![cpus.clone()];
        }
        let present = |unit: &CpuList| unit.iter().filter(|&cpu| cpus.contains(cpu)).collect();
        units.iter().map(present).filter(|unit: &CpuList| !unit.is_empty()).collect()
    }
}

impl Lookup {
    fn new(tables: &[StateTable]) -> Result<Self, TablesError> {
        if tables.is_empty() {
            return Err(TablesError::None);
        }
        if let [StateTable { cpus: None, .. }] = tables {
            return Ok(Self::OneForAll);
        }
        let mut lists = Vec::with_capacity(tables.len());
        for (index, table) in tables.iter().enumerate() {
            let Some(cpus) = &table.cpus else {
                return Err(TablesError::EveryCpu(table.name.clone()));
            };
            lists.push((index, cpus));
        }
        let name = |index: usize| tables.get(index).map_or_else(String::new, |t| t.name.clone());
        match CpuIndex::new(lists) {
            Ok(index) => Ok(Self::ByCpu(index)),
            Err(SharedCpu { cpu, first, second }) => {
                Err(TablesError::DuplicateCpu { cpu, first: name(first), second: name(second) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;

    fn table(name: &str, cpus: Option<&str>) -> StateTable {
        let states = IdleStates::new(&[IdleState::polling("POLL")]).unwrap();
        StateTable::new(name, cpus.map(|cpus| cpus.parse().unwrap()), states)
    }

    #[test]
    fn a_single_table_without_cpus_is_every_cpus() {
        let platform = Platform::new("x", "y", vec![table("all", None)]).unwrap();
        assert!(platform.states_of(CpuId(100_000)).is_some());
        assert_eq!(platform.cpus(), None);
    }

    #[test]
    fn each_of_several_tables_must_have_cpus_of_its_own() {
        let error = Platform::new("x", "y", vec![table("a", Some("0-3")), table("b", None)]);
        assert_eq!(error, Err(TablesError::EveryCpu("b".to_owned())));
        let error = Platform::new("x", "y", vec![table("a", Some("0-3")), table("b", Some("3"))]);
        assert!(matches!(error, Err(TablesError::DuplicateCpu { cpu: CpuId(3), .. })));
        assert_eq!(Platform::new("x", "y", Vec::new()), Err(TablesError::None));
    }

    #[test]
    fn turbo_falls_with_active_cores_and_stays_at_the_last() {
        let frequency = Frequency {
            min_mhz: 1_600,
            max_mhz: vec![3_800, 3_700, 3_600, 3_500],
            domain: Some(FrequencyDomain::Package),
            source: String::new(),
        };
        assert_eq!(frequency.max_with(0), 3_800);
        assert_eq!(frequency.max_with(3), 3_600);
        assert_eq!(frequency.max_with(9), 3_500);
    }
}
