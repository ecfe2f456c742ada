// SPDX-License-Identifier: GPL-2.0-or-later
use serde::{Deserialize, Serialize};

/// How much later than the event the CPU was there to handle it, over all wakeups from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeupLatency {
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Each latency that occurred, ascending, and how often.
    pub counts: Vec<(u64, u64)>,
}

impl WakeupLatency {
    /// Summarises latencies in nanoseconds with how often each occurred, in any order.
    #[must_use]
    pub fn new(counts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut sorted: Vec<(u64, u64)> =
            counts.into_iter().filter(|&(_, count)| count > 0).collect();
        sorted.sort_unstable();
        let mut counts: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
        for (latency, count) in sorted {
            match counts.last_mut() {
                Some((last, sum)) if *last == latency => *sum = sum.saturating_add(count),
                _ => counts.push((latency, count)),
            }
        }
        // As wide as counts from a file can make it.
        let total: u128 = counts.iter().map(|&(_, count)| u128::from(count)).sum();
        // Nearest rank: the smallest value that at least the given share does not exceed.
        let percentile = |per_cent: u128| {
            let rank = (total * per_cent).div_ceil(100);
            let mut seen = 0;
            counts
                .iter()
                .find(|&&(_, count)| {
                    seen += u128::from(count);
                    seen >= rank
                })
                .map_or(0, |(latency, _)| *latency)
        };
        Self {
            p50_ns: percentile(50),
            p99_ns: percentile(99),
            max_ns: counts.last().map_or(0, |(latency, _)| *latency),
            counts,
        }
    }

    pub(crate) fn merge(parts: Vec<&Self>) -> Self {
        Self::new(parts.into_iter().flat_map(|part| part.counts.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        // 98 wakeups at 1 us, one each at 5 us and 9 us.
        let latency = WakeupLatency::new([(9_000, 1), (1_000, 60), (5_000, 1), (1_000, 38)]);
        assert_eq!((latency.p50_ns, latency.p99_ns, latency.max_ns), (1_000, 5_000, 9_000));
        assert_eq!(latency.counts, [(1_000, 98), (5_000, 1), (9_000, 1)]);
    }

    #[test]
    fn no_wakeup_has_no_latency() {
        assert_eq!(WakeupLatency::new([]), WakeupLatency::default());
    }
}
