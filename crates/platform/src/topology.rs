// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::CpuId;

use crate::CpuList;
use crate::cpu_list::CpuIndex;

/// How a machine's CPUs share hardware.
///
/// ```text
/// package ── cluster ── core ── CPU (hardware thread)
/// ```
///
/// What is not known is an empty list: a machine without clusters has none.
///
/// ```
/// use idlelab_platform::Topology;
/// use idlelab_states::CpuId;
///
/// let lists = |texts: &[&str]| texts.iter().map(|text| text.parse()).collect::<Result<_, _>>();
/// let topology =
///     Topology::new(lists(&["0-3"])?, Vec::new(), lists(&["0,2", "1,3"])?, "by hand")?;
/// let core = topology.core_of(CpuId(2)).map(ToString::to_string);
/// assert_eq!(core.as_deref(), Some("0,2"));
/// assert_eq!(topology.threads_per_core(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    packages: Vec<CpuList>,
    clusters: Vec<CpuList>,
    cores: Vec<CpuList>,
    /// Where the lists are from.
    pub source: String,
    cpus: CpuList,
    package_index: CpuIndex,
    cluster_index: CpuIndex,
    core_index: CpuIndex,
}

/// Lists of CPUs that describe no machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// A CPU is in two lists of one kind.
    #[error("{cpu} is in two {kind}, {kind}[{first}] and {kind}[{second}]; leave it in one")]
    TwoOwners {
        /// `packages`, `clusters` or `cores`.
        kind: &'static str,
        /// The CPU.
        cpu: CpuId,
        /// The first list's position.
        first: usize,
        /// The second list's position.
        second: usize,
    },
    /// A smaller unit lies across two larger ones.
    #[error("{inner}[{index}] has CPUs of two {outer}; one of {inner} lies within one of {outer}")]
    Straddles {
        /// The smaller kind of unit.
        inner: &'static str,
        /// The smaller unit's position.
        index: usize,
        /// The larger kind of unit.
        outer: &'static str,
    },
    /// A list is empty.
    #[error("{kind}[{index}] is empty; give its CPUs or leave it out")]
    Empty {
        /// `packages`, `clusters` or `cores`.
        kind: &'static str,
        /// The list's position.
        index: usize,
    },
}

impl Topology {
    /// Makes a topology of the CPUs of each package, cluster and core.
    ///
    /// # Errors
    ///
    /// A CPU in two units of a kind, a unit that lies across two larger ones, an empty unit.
    pub fn new(
        packages: Vec<CpuList>,
        clusters: Vec<CpuList>,
        cores: Vec<CpuList>,
        source: impl Into<String>,
    ) -> Result<Self, TopologyError> {
        let package_index = index("packages", &packages)?;
        let cluster_index = index("clusters", &clusters)?;
        let core_index = index("cores", &cores)?;
        within("cores", &cores, "clusters", &cluster_index)?;
        within("cores", &cores, "packages", &package_index)?;
        within("clusters", &clusters, "packages", &package_index)?;
        let cpus = packages
            .iter()
            .chain(&clusters)
            .chain(&cores)
            .fold(CpuList::default(), |all, list| all.union(list));
        let source = source.into();
        Ok(Self {
            packages,
            clusters,
            cores,
            source,
            cpus,
            package_index,
            cluster_index,
            core_index,
        })
    }

    /// The CPUs of each package.
    #[must_use]
    pub fn packages(&self) -> &[CpuList] {
        &self.packages
    }

    /// The CPUs of each cluster.
    #[must_use]
    pub fn clusters(&self) -> &[CpuList] {
        &self.clusters
    }

    /// The CPUs (hardware threads) of each core.
    #[must_use]
    pub fn cores(&self) -> &[CpuList] {
        &self.cores
    }

    /// Every CPU that any list names.
    #[must_use]
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// The package of `cpu`.
    #[must_use]
    pub fn package_of(&self, cpu: CpuId) -> Option<&CpuList> {
        self.packages.get(self.package_index.get(cpu)?)
    }

    /// The cluster of `cpu`.
    #[must_use]
    pub fn cluster_of(&self, cpu: CpuId) -> Option<&CpuList> {
        self.clusters.get(self.cluster_index.get(cpu)?)
    }

    /// The core of `cpu`: itself and its SMT siblings.
    #[must_use]
    pub fn core_of(&self, cpu: CpuId) -> Option<&CpuList> {
        self.cores.get(self.core_index.get(cpu)?)
    }

    /// The most hardware threads that a core has.
    #[must_use]
    pub fn threads_per_core(&self) -> Option<usize> {
        self.cores.iter().map(CpuList::len).max()
    }
}

fn index(kind: &'static str, lists: &[CpuList]) -> Result<CpuIndex, TopologyError> {
    if let Some(index) = lists.iter().position(CpuList::is_empty) {
        return Err(TopologyError::Empty { kind, index });
    }
    CpuIndex::new(lists.iter().enumerate()).map_err(|shared| TopologyError::TwoOwners {
        kind,
        cpu: shared.cpu,
        first: shared.first,
        second: shared.second,
    })
}

fn within(
    inner: &'static str,
    lists: &[CpuList],
    outer: &'static str,
    owners: &CpuIndex,
) -> Result<(), TopologyError> {
    for (index, list) in lists.iter().enumerate() {
        let mut of = list.iter().map(|cpu| owners.get(cpu));
        let first = of.next();
        if of.any(|owner| Some(owner) != first) {
            return Err(TopologyError::Straddles { inner, index, outer });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(texts: &[&str]) -> Vec<CpuList> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_core_across_two_packages_is_refused() {
        let error =
            Topology::new(lists(&["0-1", "2-3"]), Vec::new(), lists(&["0,1", "2", "1,3"]), "x");
        assert_eq!(
            error,
            Err(TopologyError::TwoOwners { kind: "cores", cpu: CpuId(1), first: 0, second: 2 })
        );
        let error = Topology::new(lists(&["0-1", "2-3"]), Vec::new(), lists(&["0", "1-2"]), "x");
        assert_eq!(
            error,
            Err(TopologyError::Straddles { inner: "cores", index: 1, outer: "packages" })
        );
    }

    #[test]
    fn unknown_units_are_empty_lists() {
        let topology = Topology::new(lists(&["0-3"]), Vec::new(), Vec::new(), "x").unwrap();
        assert_eq!(topology.cpus().to_string(), "0-3");
        assert_eq!(topology.core_of(CpuId(0)), None);
        assert_eq!(topology.threads_per_core(), None);
    }
}
