// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{CpuId, StateIndex};

/// What a recorder wrote down of the machine round a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The kernel's release and version, as `uname -rv` prints them.
    pub kernel: Option<String>,
    /// How the tick rate is known, in words.
    pub tick_rate_source: Option<String>,
    /// Who asked for a limit of wakeup latency (PM QoS), in words, one line each.
    pub latency_holders: Vec<String>,
    /// What each CPU's idle states showed before and after, in the order of CPUs and states.
    pub counters: Vec<CounterChange>,
}

/// The counters of one CPU's idle state on both sides of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterChange {
    /// The CPU.
    pub cpu: CpuId,
    /// The state.
    pub state: StateIndex,
    /// Just before the first event could be traced.
    pub before: StateCounts,
    /// Just after the last.
    pub after: StateCounts,
}

/// What sysfs counts of an idle state; none where the kernel does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Entries.
    pub usage: Option<u64>,
    /// Time spent in it, in microseconds.
    pub time_us: Option<u64>,
    /// Entries that were too deep.
    pub above: Option<u64>,
    /// Entries that were too shallow.
    pub below: Option<u64>,
    /// Entries that the driver refused.
    pub rejected: Option<u64>,
}

impl CounterChange {
    /// How many entries were counted between; none if the kernel does not count them or began
    /// anew, as when the CPU was taken offline.
    #[must_use]
    pub fn entries(&self) -> Option<u64> {
        self.after.usage?.checked_sub(self.before.usage?)
    }
}

impl StateCounts {
    /// All counts, in the order of the fields.
    pub(crate) const fn all(self) -> [Option<u64>; 5] {
        [self.usage, self.time_us, self.above, self.below, self.rejected]
    }

    /// The counts in the order of the fields.
    pub(crate) const fn from_all(counts: [Option<u64>; 5]) -> Self {
        let [usage, time_us, above, below, rejected] = counts;
        Self { usage, time_us, above, below, rejected }
    }
}
