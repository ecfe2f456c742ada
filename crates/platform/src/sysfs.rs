// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines and counters out of sysfs, of this machine or of a copy of its tree.
//!
//! A root is where a file system of Linux is mounted or copied to; a copy of `/sys` or of
//! `/sys/devices/system/cpu` alone will do.
//!
//! Every attribute is optional: an old kernel lacks some, a copied tree others. What is not there
//! is not an error; what is there and cannot be understood is a warning. A CPU whose states lack a
//! name, a latency or a residency is left out of the platform with a warning.
//!
//! sysfs does not tell which state polls: one of no latency and no residency is taken to. Nor does
//! it tell where the local timer stops (taken to run) or what the tick rate is (left out).
//!
//! ```no_run
//! let (machine, warnings) = idlelab_platform::sysfs::read("/".as_ref())?;
//! for warning in warnings {
//!     eprintln!("{warning}");
//! }
//! println!("{} has {} kinds of CPU", machine.name, machine.tables().len());
//! # Ok::<(), idlelab_platform::sysfs::SysfsError>(())
//! ```
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use idlelab_states::{CpuId, StateIndex};

use crate::check::check_table;
use crate::counters::{Attribute, CpuCounters, StateCounters, group};
use crate::cpu_list::parse_cpu;
use crate::error::{Warning, WarningKind};
use crate::{CpuList, Location, Platform, TablesError, Topology};

/// An attribute is at most one page.
const MAX_ATTRIBUTE_BYTES: u64 = 4_096;

/// Why no machine could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SysfsError {
    /// The CPU folder cannot be listed.
    #[error("{}: cannot be listed; is this the root of a Linux machine?", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No CPU has a complete idle-state table.
    #[error(
        "{}: no CPU has idle states here; the kernel may have no cpuidle driver \
         (cat {}/cpuidle/current_driver tells)",
        path.display(), path.display()
    )]
    NoIdleStates {
        /// The folder.
        path: PathBuf,
        /// What was found odd, which may say why.
        warnings: Vec<Warning>,
    },
    /// The tables contradict each other.
    #[error(transparent)]
    Tables(#[from] TablesError),
}

/// Reads the machine whose file system is mounted or copied at `root`; `/` is this one.
///
/// CPUs with equal states share a table. The platform is named `this-machine`.
///
/// # Errors
///
/// The CPU folder cannot be listed, or no CPU has a complete table.
pub fn read(root: &Path) -> Result<(Platform, Vec<Warning>), SysfsError> {
    let folder = cpu_folder(root);
    let (counters, mut warnings) = counters(root)?;
    let mut tables = Vec::with_capacity(counters.len());
    for cpu in &counters {
        match cpu.idle_states() {
            Ok(states) => tables.push((cpu.cpu, states)),
            Err(error) => warnings.push(Warning {
                location: Location::file(cpu_path(&folder, cpu.cpu).display().to_string()),
                key: "cpuidle".to_owned(),
                kind: WarningKind::CpuLeftOut { cpu: cpu.cpu, reason: error.to_string() },
            }),
        }
    }
    if tables.is_empty() {
        return Err(SysfsError::NoIdleStates { path: folder, warnings });
    }
    let source = format!("sysfs under {}", root.display());
    let mut platform = Platform::new("this-machine", source, group(&tables))?;
    for table in platform.tables() {
        let cpu = table.cpus.as_ref().and_then(CpuList::first).unwrap_or_default();
        for (state, warning) in check_table(&table.states) {
            let path = cpu_path(&folder, cpu).join(format!("cpuidle/state{state}"));
            warnings.push(Warning {
                location: Location::file(path.display().to_string()),
                key: String::new(),
                kind: WarningKind::Table(warning),
            });
        }
    }
    if let Some(driver) = attribute(&folder.join("cpuidle/current_driver")) {
        platform.description = format!("Idle states of the driver {driver}.");
    }
    let cpus: Vec<CpuId> = counters.iter().map(|cpu| cpu.cpu).collect();
    match topology(&folder, &cpus) {
        Ok(topology) => platform.topology = topology,
        Err(error) => warnings.push(Warning {
            location: Location::file(folder.display().to_string()),
            key: "topology".to_owned(),
            kind: WarningKind::Topology(error),
        }),
    }
    Ok((platform, warnings))
}

/// Reads what every CPU's idle states show at this moment, by ascending CPU number. CPUs without
/// idle states (offline ones have none) are not in it.
///
/// # Errors
///
/// The CPU folder cannot be listed.
pub fn counters(root: &Path) -> Result<(Vec<CpuCounters>, Vec<Warning>), SysfsError> {
    let folder = cpu_folder(root);
    let entries = fs::read_dir(&folder)
        .map_err(|source| SysfsError::Unreadable { path: folder.clone(), source })?;
    let mut cpus: Vec<CpuId> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix("cpu").map(parse_id))
        .flatten()
        .collect();
    cpus.sort_unstable();
    let mut warnings = Vec::new();
    let mut counters = Vec::with_capacity(cpus.len());
    for cpu in cpus {
        let folder = cpu_path(&folder, cpu).join("cpuidle");
        let states: Vec<_> = (0..)
            .map_while(StateIndex::new)
            .filter_map(|state| state_counters(&folder, state, &mut warnings))
            .collect();
        if !states.is_empty() {
            counters.push(CpuCounters { cpu, states });
        }
    }
    Ok((counters, warnings))
}

/// Reads which governor is in force; `None` if the tree does not tell.
#[must_use]
pub fn current_governor(root: &Path) -> Option<String> {
    let folder = cpu_folder(root).join("cpuidle");
    // Kernels that cannot switch governors show it under the second name alone.
    ["current_governor", "current_governor_ro"]
        .iter()
        .find_map(|name| attribute(&folder.join(name)))
}

/// Where the CPUs are, in a whole file system, a copy of `/sys`, or of the CPU folder itself.
fn cpu_folder(root: &Path) -> PathBuf {
    let whole = root.join("sys/devices/system/cpu");
    let only_sys = root.join("devices/system/cpu");
    if whole.is_dir() {
        whole
    } else if only_sys.is_dir() {
        only_sys
    } else if root.join("cpu0").is_dir() {
        root.to_owned()
    } else {
        whole
    }
}

fn cpu_path(folder: &Path, cpu: CpuId) -> PathBuf {
    folder.join(cpu.to_string())
}

fn parse_id(digits: &str) -> Option<CpuId> {
    if digits.is_empty() { None } else { parse_cpu(digits).map(CpuId) }
}

fn state_counters(
    cpuidle: &Path,
    state: StateIndex,
    warnings: &mut Vec<Warning>,
) -> Option<StateCounters> {
    let folder = cpuidle.join(format!("state{state}"));
    if !folder.is_dir() {
        return None;
    }
    let mut counters = StateCounters::new(state);
    for kind in Attribute::ALL {
        let path = folder.join(kind.file_name());
        let Some(value) = attribute(&path) else { continue };
        if counters.set(kind, &value).is_none() {
            warnings.push(Warning {
                location: Location::file(path.display().to_string()),
                key: String::new(),
                kind: WarningKind::Attribute { expected: kind.expected(), found: value },
            });
        }
    }
    Some(counters)
}

/// An attribute's value, or `None` if there is none to be read.
fn attribute(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MAX_ATTRIBUTE_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn topology(folder: &Path, cpus: &[CpuId]) -> Result<Option<Topology>, crate::TopologyError> {
    // Kernels before 5.4 know only the older of each pair of names.
    let packages = units(folder, cpus, &["package_cpus_list", "core_siblings_list"]);
    let cores = units(folder, cpus, &["core_cpus_list", "thread_siblings_list"]);
    // Without clusters the kernel shows each core as its own cluster.
    let clusters = units(folder, cpus, &["cluster_cpus_list"]);
    let clusters = if clusters == cores { Vec::new() } else { clusters };
    if packages.is_empty() && cores.is_empty() && clusters.is_empty() {
        return Ok(None);
    }
    Topology::new(packages, clusters, cores, "sysfs topology").map(Some)
}

fn units(folder: &Path, cpus: &[CpuId], names: &[&str]) -> Vec<CpuList> {
    let mut units: Vec<CpuList> = Vec::new();
    for &cpu in cpus {
        if units.iter().any(|unit| unit.contains(cpu)) {
            continue;
        }
        let topology = cpu_path(folder, cpu).join("topology");
        let list = names.iter().find_map(|name| attribute(&topology.join(name)));
        if let Some(list) =
            list.and_then(|list| list.parse().ok()).filter(|l: &CpuList| !l.is_empty())
        {
            units.push(list);
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use idlelab_states::Availability;

    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn cpus(&self) -> PathBuf {
            self.0.path().join("sys/devices/system/cpu")
        }

        fn write(&self, path: &str, value: &str) {
            let path = self.cpus().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{value}\n")).unwrap();
        }

        fn state(&self, cpu: u32, state: u32, name: &str, latency: u64, residency: u64) {
            let folder = format!("cpu{cpu}/cpuidle/state{state}");
            self.write(&format!("{folder}/name"), name);
            self.write(&format!("{folder}/latency"), &latency.to_string());
            self.write(&format!("{folder}/residency"), &residency.to_string());
        }

        fn read(&self) -> (Platform, Vec<Warning>) {
            read(self.0.path()).unwrap()
        }
    }

    #[test]
    fn cpus_with_equal_tables_share_one() {
        let tree = Tree::new();
        for cpu in [0, 1, 2, 3, 10] {
            tree.state(cpu, 0, "WFI", 1, 1);
            if cpu < 3 {
                tree.state(cpu, 1, "cpuoff-l", 349, 6_710);
            } else {
                tree.state(cpu, 1, "cpuoff-b", 147, 2_580);
            }
        }
        tree.write("cpuidle/current_driver", "psci_idle");
        let (platform, warnings) = tree.read();
        assert_eq!(warnings, []);
        let names: Vec<_> = platform.tables().iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["cpu0-2", "cpu3,10"]);
        let big = platform.states_of(CpuId(10)).unwrap();
        assert_eq!(big.as_slice()[1].exit_latency.as_micros(), 147);
        assert_eq!(platform.description, "Idle states of the driver psci_idle.");
        assert_eq!(platform.topology, None);
    }

    #[test]
    fn a_state_of_no_latency_and_no_residency_polls() {
        let tree = Tree::new();
        tree.state(0, 0, "POLL", 0, 0);
        tree.state(0, 1, "haltpoll idle", 1, 1);
        tree.write("cpu0/cpuidle/state1/disable", "1");
        tree.write("cpu0/cpuidle/state1/default_status", "enabled");
        let (platform, _) = tree.read();
        let states = platform.states_of(CpuId(0)).unwrap().as_slice();
        assert!(states[0].is_polling() && !states[1].is_polling());
        assert_eq!(states[1].availability, Availability::DisabledByUser);
    }

    #[test]
    fn offline_and_incomplete_cpus_are_left_out() {
        let tree = Tree::new();
        tree.state(0, 0, "POLL", 0, 0);
        tree.write("cpu1/topology/core_id", "1");
        tree.write("cpu2/cpuidle/state0/name", "POLL");
        tree.write("cpufreq/policy0/scaling_governor", "schedutil");
        let (platform, warnings) = tree.read();
        assert_eq!(platform.cpus().unwrap().to_string(), "0");
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(warning.to_string().ends_with(
            "cpu2: cpuidle: cpu2 is left out: cpu2 state 0 has no `latency`; without it there is \
             no idle-state table"
        ));
    }

    #[test]
    fn an_attribute_of_nonsense_counts_as_missing() {
        let tree = Tree::new();
        tree.state(0, 0, "POLL", 0, 0);
        tree.write("cpu0/cpuidle/state0/usage", "many");
        let (_, warnings) = tree.read();
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(
            warning
                .to_string()
                .ends_with("state0/usage: expected a whole number, found `many`; taken as missing")
        );
    }

    #[test]
    fn topology_is_read_under_old_and_new_names() {
        let tree = Tree::new();
        for cpu in 0..4 {
            tree.state(cpu, 0, "POLL", 0, 0);
            tree.write(&format!("cpu{cpu}/topology/core_siblings_list"), "0-3");
            let core = ["0,2", "1,3"][cpu as usize % 2];
            tree.write(&format!("cpu{cpu}/topology/core_cpus_list"), core);
            tree.write(&format!("cpu{cpu}/topology/cluster_cpus_list"), core);
        }
        let (platform, warnings) = tree.read();
        assert_eq!(warnings, []);
        let topology = platform.topology.as_ref().unwrap();
        assert_eq!(topology.packages().len(), 1);
        assert_eq!(topology.core_of(CpuId(3)).unwrap().to_string(), "1,3");
        assert!(topology.clusters().is_empty());
        assert_eq!(platform.smt(), Some(2));
    }

    #[test]
    fn a_folder_that_is_no_machine_says_so() {
        let empty = tempfile::tempdir().unwrap();
        let error = read(empty.path()).unwrap_err();
        assert!(error.to_string().contains("is this the root of a Linux machine?"));

        let tree = Tree::new();
        tree.write("online", "0-3");
        let error = read(tree.0.path()).unwrap_err();
        assert!(matches!(error, SysfsError::NoIdleStates { .. }));
    }

    #[test]
    fn parts_of_a_tree_will_do() {
        let tree = Tree::new();
        tree.state(0, 0, "WFI", 1, 1);
        tree.write("cpuidle/current_governor_ro", "menu");
        for root in [tree.0.path().to_owned(), tree.0.path().join("sys"), tree.cpus()] {
            assert_eq!(counters(&root).unwrap().0.len(), 1, "{}", root.display());
            assert_eq!(current_governor(&root).as_deref(), Some("menu"));
        }
        tree.write("cpuidle/current_governor", "teo");
        assert_eq!(current_governor(tree.0.path()).as_deref(), Some("teo"));
    }

    #[test]
    fn odd_tables_are_told_by_path() {
        let tree = Tree::new();
        tree.state(7, 0, "C6N-BYT", 300, 275);
        let (_, warnings) = tree.read();
        assert!(warnings[0].to_string().contains("cpu7/cpuidle/state0: the exit latency of 300"));
    }

    #[test]
    fn this_machine_can_be_read_if_it_has_cpuidle() {
        if !Path::new("/sys/devices/system/cpu/cpu0/cpuidle/state0").exists() {
            println!("skipped this_machine_can_be_read_if_it_has_cpuidle: no cpuidle in /sys here");
            return;
        }
        let (platform, _) = read(Path::new("/")).unwrap();
        assert!(platform.states_of(CpuId(0)).is_some());
        let (counters, _) = counters(Path::new("/")).unwrap();
        assert!(counters[0].states[0].usage.is_some());
    }
}
