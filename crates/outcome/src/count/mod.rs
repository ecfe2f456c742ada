// SPDX-License-Identifier: GPL-2.0-or-later
//! Counter snapshots, before and after, as an outcome.
//!
//! The kernel counts for each CPU and idle state how often it was entered, for how long, and how
//! often it was too deep or too shallow. What happened between two snapshots is their difference,
//! where it is one: counters restart at zero when a CPU comes back online, tables change with the
//! driver, and files get cut. A CPU whose counters cannot be told apart from such an accident is
//! left out whole and said to be ([`Finding`]), since an accident spares none of its states.
//!
//! ```text
//!     before             after              counted
//!     cpu0  C1 usage 10  cpu0  C1 usage 25  15
//!     cpu1  C1 usage 40  cpu1  C1 usage  3  left out: it was offline in between
//!     cpu2  C1 usage  7                     left out: it is in one snapshot only
//! ```
//!
//! ```
//! use idlelab_outcome::count::{Snapshot, between};
//! use idlelab_platform::dump;
//!
//! let snapshot = |name, usage, time| {
//!     let text = format!("cpu0/cpuidle/state0/usage:{usage}\ncpu0/cpuidle/state0/time:{time}\n");
//!     dump::parse(name, &text).map(|dump| Snapshot { governor: dump.governor, cpus: dump.cpus })
//! };
//! let count = between(&snapshot("before", 10, 400)?, &snapshot("after", 25, 1_000)?, None)?;
//! assert_eq!((count.outcome.idles, count.outcome.idle_ns()), (Some(15), 600_000));
//! assert_eq!(count.outcome.misses, None, "there were no such counters");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod finding;

use std::collections::{BTreeMap, BTreeSet};

use idlelab_platform::{CpuCounters, CpuList, StateCounters};
use idlelab_states::{CpuId, Nanoseconds, StateIndex};

use crate::{Bench, CpuOutcome, Outcome, StateOutcome};
use finding::collect;
pub use finding::{Finding, FindingKind, Side};

/// The idle counters of a machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The governor in force, if the snapshot tells.
    pub governor: Option<String>,
    /// The CPUs, in any order.
    pub cpus: Vec<CpuCounters>,
}

/// What happened between two snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The time between the snapshots, if it is known.
    pub window: Option<Nanoseconds>,
    /// The idle states of the CPUs that were counted; CPUs with equal states share an entry.
    pub tables: Vec<Table>,
    /// What was left out, and what a reader of the figures must know.
    pub findings: Vec<Finding>,
    /// The CPUs that were counted, by ascending number, and their sum.
    pub outcome: Outcome,
}

/// The idle states of some CPUs, as far as the snapshots describe them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The CPUs.
    pub cpus: CpuList,
    /// Their states by ascending number.
    pub states: Vec<TableState>,
}

/// One idle state as a snapshot describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableState {
    /// Its name, or its folder's in sysfs.
    pub name: String,
    /// Its exit latency.
    pub exit_latency: Option<Nanoseconds>,
    /// Its target residency.
    pub target_residency: Option<Nanoseconds>,
}

/// Why two snapshots have no difference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// All counters were restarted.
    #[error(
        "every CPU's counters fell: the machine was restarted in between, or the snapshots are in \
         the wrong order (before comes first)"
    )]
    EveryCpuFell,
    /// Every CPU had to be left out.
    #[error("no CPU can be counted:{}", .0.iter().map(|finding| format!("\n  {finding}")).collect::<String>())]
    NoCpu(Vec<Finding>),
}

impl Count {
    /// Whether the figures of every state are possible ones.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        !self.findings.iter().any(|finding| finding.kind.voids_figures())
    }

    /// Some of the CPUs, and their sum.
    #[must_use]
    pub fn part(&self, cpus: &CpuList) -> Outcome {
        let per_cpu = self.outcome.per_cpu.iter().filter(|cpu| cpus.contains(CpuId(cpu.cpu)));
        let governor = self.outcome.governor.as_deref();
        Outcome::of_cpus(Bench::Count, governor, None, per_cpu.cloned().collect())
    }

    /// For how long the CPUs of an outcome together could have been idle, in nanoseconds: the
    /// window for each CPU of which something is known, which is one whose counters moved. Null
    /// without a window.
    #[must_use]
    pub fn observed_ns(&self, outcome: &Outcome) -> Option<u64> {
        let window = self.window?.get().max(0).cast_unsigned();
        let observed = outcome.per_cpu.iter().filter(|cpu| moved(cpu)).count();
        Some(window.saturating_mul(observed as u64))
    }
}

/// What the kernel has counted since the CPUs came up.
///
/// # Errors
///
/// No CPU of the snapshot has counters.
pub fn since_start(snapshot: &Snapshot) -> Result<Count, CountError> {
    let mut start = snapshot.clone();
    for state in start.cpus.iter_mut().flat_map(|cpu| &mut cpu.states) {
        for counter in [
            &mut state.usage,
            &mut state.time_us,
            &mut state.above,
            &mut state.below,
            &mut state.rejected,
        ] {
            *counter = counter.and(Some(0));
        }
    }
    between(&start, snapshot, None)
}

/// What happened between two snapshots that were taken `window` apart, if that is known.
///
/// # Errors
///
/// No CPU is in both snapshots with the same states and counters that rose.
pub fn between(
    before: &Snapshot,
    after: &Snapshot,
    window: Option<Nanoseconds>,
) -> Result<Count, CountError> {
    let (before_by_cpu, after_by_cpu) = (by_cpu(before), by_cpu(after));
    let cpus: BTreeSet<CpuId> = before_by_cpu.keys().chain(after_by_cpu.keys()).copied().collect();
    let mut findings = Vec::new();
    let mut per_cpu = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for cpu in cpus {
        let found = match (before_by_cpu.get(&cpu), after_by_cpu.get(&cpu)) {
            (Some(before), Some(after)) => count_cpu(before, after, window),
            (Some(_), None) => Err(FindingKind::OneSnapshotOnly(Side::Before)),
            (None, _) => Err(FindingKind::OneSnapshotOnly(Side::After)),
        };
        match found {
            Ok((outcome, states, kinds)) => {
                match tables.iter_mut().find(|table| table.states == states) {
                    Some(table) => table.cpus = table.cpus.union(&CpuList::from_iter([cpu])),
                    None => tables.push(Table { cpus: CpuList::from_iter([cpu]), states }),
                }
                per_cpu.push(outcome);
                findings.extend(kinds.into_iter().map(|kind| (cpu, kind)));
            }
            Err(kind) => findings.push((cpu, kind)),
        }
    }
    if per_cpu.is_empty() {
        let fell = |(_, kind): &(CpuId, FindingKind)| matches!(kind, FindingKind::Fell { .. });
        return Err(if !findings.is_empty() && findings.iter().all(fell) {
            CountError::EveryCpuFell
        } else {
            CountError::NoCpu(collect(findings))
        });
    }
    let mut findings = collect(findings);
    let governor = match (&before.governor, &after.governor) {
        (Some(before), Some(after)) if before != after => {
            let kind =
                FindingKind::GovernorChanged { before: before.clone(), after: after.clone() };
            findings.insert(0, Finding { cpus: CpuList::default(), kind });
            None
        }
        (before, after) => after.as_deref().or(before.as_deref()),
    };
    let outcome = Outcome::of_cpus(Bench::Count, governor, None, per_cpu);
    Ok(Count { window, tables, findings, outcome })
}

fn by_cpu(snapshot: &Snapshot) -> BTreeMap<CpuId, &CpuCounters> {
    snapshot.cpus.iter().map(|cpu| (cpu.cpu, cpu)).collect()
}

/// Counts one CPU, or says why it cannot be counted.
fn count_cpu(
    before: &CpuCounters,
    after: &CpuCounters,
    window: Option<Nanoseconds>,
) -> Result<(CpuOutcome, Vec<TableState>, Vec<FindingKind>), FindingKind> {
    check_states(before, after)?;
    let mut kinds = Vec::new();
    let mut states = Vec::with_capacity(after.states.len());
    for (before, after) in before.states.iter().zip(&after.states) {
        let state = count_state(before, after)?;
        kinds.extend(check_state(before, after, &state));
        states.push(state);
    }
    let table = after
        .states
        .iter()
        .map(|state| TableState {
            name: name(state),
            exit_latency: state.latency,
            target_residency: state.residency,
        })
        .collect();
    let outcome = CpuOutcome { cpu: after.cpu.0, states, ..Default::default() };
    if !moved(&outcome) {
        kinds.push(FindingKind::NotMoved);
    }
    if let Some(window) = window {
        let (idle_ns, window_ns) = (outcome.idle_ns(), window.get().max(0).cast_unsigned());
        if idle_ns > window_ns {
            kinds.push(FindingKind::OverWindow { idle_ns, window_ns });
        }
    }
    Ok((outcome, table, kinds))
}

/// Whether both snapshots are of the same idle states.
fn check_states(before: &CpuCounters, after: &CpuCounters) -> Result<(), FindingKind> {
    let numbers = |cpu: &CpuCounters| cpu.states.iter().map(|state| state.state).collect();
    let (had, has): (BTreeSet<_>, BTreeSet<_>) = (numbers(before), numbers(after));
    if let Some(&state) = had.symmetric_difference(&has).next() {
        let side = if had.contains(&state) { Side::Before } else { Side::After };
        return Err(FindingKind::StateInOneSnapshotOnly { state, side });
    }
    // An outcome's states are told by their position, so none may be missing in between.
    let all = (0..).map_while(StateIndex::new);
    if let Some((_, state)) = has.iter().zip(all).find(|&(&state, expected)| state != expected) {
        return Err(FindingKind::Missing { state, attribute: "usage", side: Side::Before });
    }
    let renamed = |(before, after): &(&StateCounters, &StateCounters)| {
        before.name.is_some() && after.name.is_some() && before.name != after.name
    };
    match before.states.iter().zip(&after.states).find(renamed) {
        Some((before, after)) => Err(FindingKind::Renamed {
            state: after.state,
            before: name(before),
            after: name(after),
        }),
        None => Ok(()),
    }
}

fn count_state(before: &StateCounters, after: &StateCounters) -> Result<StateOutcome, FindingKind> {
    // Missing in either snapshot, it cannot be told; fallen, it was restarted.
    let risen = |attribute: &'static str, of: fn(&StateCounters) -> Option<u64>| {
        let Some((before, now)) = of(before).zip(of(after)) else { return Ok(None) };
        let fell = FindingKind::Fell { state: after.state, attribute, before, after: now };
        now.checked_sub(before).map(Some).ok_or(fell)
    };
    let needed = |attribute: &'static str, of: fn(&StateCounters) -> Option<u64>| {
        let side = if of(before).is_none() { Side::Before } else { Side::After };
        let missing = FindingKind::Missing { state: after.state, attribute, side };
        risen(attribute, of)?.ok_or(missing)
    };
    Ok(StateOutcome {
        name: name(after),
        usage: needed("usage", |state| state.usage)?,
        time_ns: needed("time", |state| state.time_us)?.saturating_mul(1_000),
        above: risen("above", |state| state.above)?,
        below: risen("below", |state| state.below)?,
        rejected: risen("rejected", |state| state.rejected)?,
    })
}

/// What a reader must know of a state that was counted.
fn check_state(
    before: &StateCounters,
    after: &StateCounters,
    counted: &StateOutcome,
) -> Vec<FindingKind> {
    let mut kinds = Vec::new();
    let (state, name) = (after.state, counted.name.clone());
    let times = |state: &StateCounters| state.latency.zip(state.residency);
    if let (Some(old), Some(new)) = (times(before), times(after))
        && old != new
    {
        kinds.push(FindingKind::Retimed { state, name: name.clone(), before: old, after: new });
    }
    if let (Some(old), Some(new)) = (before.disable, after.disable)
        && old != new
    {
        kinds.push(FindingKind::Switched { state, name: name.clone(), now: new });
    }
    match (counted.usage, counted.rejected) {
        (0, Some(times)) if times > 0 => {
            kinds.push(FindingKind::Refused { state, name: name.clone(), times });
        }
        _ => {}
    }
    if let Some(misses) = counted.misses()
        && misses > counted.usage
    {
        kinds.push(FindingKind::MoreMissesThanEntries {
            state,
            name,
            misses,
            entries: counted.usage,
        });
    }
    kinds
}

fn name(state: &StateCounters) -> String {
    state.name.clone().unwrap_or_else(|| format!("state{}", state.state))
}

fn moved(cpu: &CpuOutcome) -> bool {
    cpu.states.iter().any(|state| {
        let counts = [state.above, state.below, state.rejected].map(Option::unwrap_or_default);
        state.usage > 0 || state.time_ns > 0 || counts.iter().any(|&count| count > 0)
    })
}

#[cfg(test)]
mod tests;
