// SPDX-License-Identifier: GPL-2.0-or-later
//! What a reader of the figures must know.

use std::fmt;
use std::mem::discriminant;

use idlelab_platform::{CpuList, Status};
use idlelab_states::{CpuId, Nanoseconds, StateIndex};

/// Something found while counting, and the CPUs it is true of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The CPUs; none if the machine is meant.
    pub cpus: CpuList,
    /// What was found. Of several CPUs, figures are those of the first one, except where said.
    pub kind: FindingKind,
}

/// One of the two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first one.
    Before,
    /// The second one.
    After,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// The governor is another one after than before.
    GovernorChanged {
        /// The governor before.
        before: String,
        /// The governor after.
        after: String,
    },
    /// A counter fell, so all of the CPU's were restarted; left out.
    Fell {
        /// The first state with a counter that fell.
        state: StateIndex,
        /// The counter.
        attribute: &'static str,
        /// What it was.
        before: u64,
        /// What it is.
        after: u64,
    },
    /// The CPU is in one snapshot only; left out.
    OneSnapshotOnly(
        /// The snapshot that has it.
        Side,
    ),
    /// A state is in one snapshot only; left out.
    StateInOneSnapshotOnly {
        /// The state.
        state: StateIndex,
        /// The snapshot that has it.
        side: Side,
    },
    /// A number means another state after than before; left out.
    Renamed {
        /// The number.
        state: StateIndex,
        /// The name before.
        before: String,
        /// The name after.
        after: String,
    },
    /// A counter is missing without which nothing can be said; left out.
    Missing {
        /// The state.
        state: StateIndex,
        /// The counter.
        attribute: &'static str,
        /// The snapshot that lacks it.
        side: Side,
    },
    /// Latency or residency changed, and with them what above and below mean.
    Retimed {
        /// The state.
        state: StateIndex,
        /// Its name.
        name: String,
        /// Exit latency and target residency before.
        before: (Nanoseconds, Nanoseconds),
        /// Exit latency and target residency after.
        after: (Nanoseconds, Nanoseconds),
    },
    /// The user enabled or disabled the state in between.
    Switched {
        /// The state.
        state: StateIndex,
        /// Its name.
        name: String,
        /// What it is after.
        now: Status,
    },
    /// The driver refused every entry.
    Refused {
        /// The state.
        state: StateIndex,
        /// Its name.
        name: String,
        /// How often, on all the CPUs together.
        times: u64,
    },
    /// No counter moved.
    NotMoved,
    /// More idle time than time.
    OverWindow {
        /// The CPU's idle time in nanoseconds; of several CPUs, that of the idlest.
        idle_ns: u64,
        /// The time between the snapshots in nanoseconds.
        window_ns: u64,
    },
    /// More idle periods were wrong than there were.
    MoreMissesThanEntries {
        /// The state.
        state: StateIndex,
        /// Its name.
        name: String,
        /// Above and below together.
        misses: u64,
        /// Usage.
        entries: u64,
    },
}

impl FindingKind {
    /// A name for machines, in kebab case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::GovernorChanged { .. } => "governor-changed",
            Self::Fell { .. } => "counters-fell",
            Self::OneSnapshotOnly(_) => "cpu-in-one-snapshot-only",
            Self::StateInOneSnapshotOnly { .. } => "state-in-one-snapshot-only",
            Self::Renamed { .. } => "state-renamed",
            Self::Missing { .. } => "counter-missing",
            Self::Retimed { .. } => "state-retimed",
            Self::Switched { .. } => "state-switched",
            Self::Refused { .. } => "entries-refused",
            Self::NotMoved => "counters-did-not-move",
            Self::OverWindow { .. } => "more-idle-than-time",
            Self::MoreMissesThanEntries { .. } => "more-misses-than-entries",
        }
    }

    /// Whether figures are impossible, so that a reader must not trust them.
    pub(super) fn voids_figures(&self) -> bool {
        matches!(self, Self::MoreMissesThanEntries { .. })
    }

    /// Whether one sentence can say both, of two CPUs.
    fn says_the_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            // The sentence names the CPU that its figures are of.
            (Self::Fell { .. }, Self::Fell { .. }) => true,
            (Self::OneSnapshotOnly(_), _)
            | (Self::StateInOneSnapshotOnly { .. }, _)
            | (Self::Missing { .. }, _) => self == other,
            (Self::Switched { now, .. }, Self::Switched { now: other_now, .. }) => {
                now == other_now && self.state() == other.state()
            }
            _ => discriminant(self) == discriminant(other) && self.state() == other.state(),
        }
    }

    fn state(&self) -> Option<(StateIndex, Option<&str>)> {
        match self {
            Self::GovernorChanged { .. }
            | Self::OneSnapshotOnly(_)
            | Self::NotMoved
            | Self::OverWindow { .. } => None,
            Self::Fell { state, .. }
            | Self::StateInOneSnapshotOnly { state, .. }
            | Self::Renamed { state, .. }
            | Self::Missing { state, .. } => Some((*state, None)),
            Self::Retimed { state, name, .. }
            | Self::Switched { state, name, .. }
            | Self::Refused { state, name, .. }
            | Self::MoreMissesThanEntries { state, name, .. } => Some((*state, Some(name))),
        }
    }

    fn absorb(&mut self, other: &Self) {
        match (self, other) {
            (Self::Refused { times, .. }, Self::Refused { times: more, .. }) => {
                *times = times.saturating_add(*more);
            }
            (Self::OverWindow { idle_ns, .. }, Self::OverWindow { idle_ns: other, .. }) => {
                *idle_ns = (*idle_ns).max(*other);
            }
            _ => {}
        }
    }
}

/// One finding for all CPUs of which the same is true, so that a machine of 256 CPUs does not say
/// everything 256 times.
pub(super) fn collect(found: Vec<(CpuId, FindingKind)>) -> Vec<Finding> {
    let mut groups: Vec<(Vec<CpuId>, FindingKind)> = Vec::new();
    for (cpu, kind) in found {
        match groups.iter_mut().find(|(_, other)| other.says_the_same_as(&kind)) {
            Some((cpus, other)) => {
                other.absorb(&kind);
                cpus.push(cpu);
            }
            None => groups.push((vec![cpu], kind)),
        }
    }
    groups
        .into_iter()
        .map(|(cpus, kind)| Finding { cpus: cpus.into_iter().collect(), kind })
        .collect()
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.cpus.first();
        if first.is_some() {
            write!(f, "cpu{}: ", self.cpus)?;
        }
        // Where a figure is one CPU's, and there are several, it says whose.
        let on = match first {
            Some(first) if self.cpus.len() > 1 => format!(" on {first}"),
            _ => String::new(),
        };
        match &self.kind {
            FindingKind::GovernorChanged { before, after } => write!(
                f,
                "the governor was {before} before and is {after} after; the figures are of both"
            ),
            FindingKind::Fell { state, attribute, before, after } => write!(
                f,
                "left out: counters fell ({attribute} of state {state} from {before} to \
                 {after}{on}), as when the CPU was offline or the machine restarted in between"
            ),
            FindingKind::OneSnapshotOnly(side) => write!(
                f,
                "left out: only in the snapshot {side}; offline in the other, or that one is \
                 incomplete"
            ),
            FindingKind::StateInOneSnapshotOnly { state, side } => write!(
                f,
                "left out: state {state} is only in the snapshot {side}; the driver changed, or \
                 the other is incomplete"
            ),
            FindingKind::Renamed { state, before, after } => write!(
                f,
                "left out: state {state} is {before} before and {after} after{on}; counters of \
                 different states have no difference"
            ),
            FindingKind::Missing { state, attribute, side } => write!(
                f,
                "left out: the snapshot {side} has no {attribute} of state {state}; take all \
                 files of the folder"
            ),
            FindingKind::Retimed { name, before, after, .. } => write!(
                f,
                "{name} changed from {}/{} to {}/{} us (exit latency/target residency){on}, so \
                 above and below do not mean the same throughout",
                before.0.as_micros(),
                before.1.as_micros(),
                after.0.as_micros(),
                after.1.as_micros()
            ),
            FindingKind::Switched { name, now, .. } => {
                let now = match now {
                    Status::Enabled => "enabled",
                    Status::Disabled => "disabled",
                };
                write!(f, "{name} was {now} in between; the figures are of both settings")
            }
            FindingKind::Refused { name, times, .. } => write!(
                f,
                "{name} was refused by the driver {times} times and never entered: a fault of \
                 driver, firmware or state description, not of the governor"
            ),
            FindingKind::NotMoved => f.write_str(
                "no counter moved: in one sleep or busy throughout. Counters move only when a \
                 sleep ends, so wake every CPU before each snapshot",
            ),
            FindingKind::OverWindow { idle_ns, window_ns } => {
                let most = if self.cpus.len() > 1 { "up to " } else { "" };
                write!(
                    f,
                    "idle for {most}{:.2} % of the time: a sleep is counted whole when it ends, \
                     even if it began before. Wake every CPU before each snapshot (or were they \
                     further apart?)",
                    100.0 * *idle_ns as f64 / (*window_ns).max(1) as f64
                )
            }
            FindingKind::MoreMissesThanEntries { name, misses, entries, .. } => write!(
                f,
                "{name} has more misses than entries ({misses} and {entries}{on}), which no \
                 kernel counts; counters moved while a snapshot was read, or it was edited"
            ),
        }
    }
}
