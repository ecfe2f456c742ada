// SPDX-License-Identifier: GPL-2.0-or-later
//! Durations, counted in bins that are a tenth of a decade wide.

/// Where the first bin begins, in nanoseconds.
const FIRST: f64 = 100.0;
/// Bins to a decade.
const PER_DECADE: f64 = 10.0;
/// Up to a thousand seconds.
const BINS: usize = 100;

/// Counts of durations. What is shorter or longer than all bins is in the first or the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS] }
    }
}

impl Histogram {
    /// Counts a duration in nanoseconds.
    pub fn add(&mut self, nanoseconds: i64) {
        let place = (nanoseconds.max(1) as f64 / FIRST).log10() * PER_DECADE;
        // Beyond the ends a float becomes the nearest number that there is.
        let bin = (place.floor().max(0.0) as usize).min(BINS - 1);
        if let Some(count) = self.counts.get_mut(bin) {
            *count += 1;
        }
    }

    /// How many durations were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The bins that are not empty: start and end in nanoseconds, and the count.
    pub(super) fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        let edge = |bin: usize| FIRST * 10_f64.powf(bin as f64 / PER_DECADE);
        let filled = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(move |(bin, &count)| (edge(bin), edge(bin + 1), count))
    }
}

/// The first and the last edge of the bins that any of these fill; a microsecond to a second if
/// none does.
pub(super) fn reach<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> (f64, f64) {
    let mut reach: Option<(f64, f64)> = None;
    for histogram in histograms {
        for (from, to, _) in histogram.bins() {
            reach = Some(reach.map_or((from, to), |(low, high)| (low.min(from), high.max(to))));
        }
    }
    reach.unwrap_or((1e3, 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 ns begins bin 0; 125.9 ns ends it (10^0.1).
    #[test]
    fn a_duration_is_in_the_bin_that_holds_it() {
        let mut histogram = Histogram::default();
        for duration in [-5, 0, 100, 125, 126, 1_000, i64::MAX] {
            histogram.add(duration);
        }
        let bins: Vec<_> =
            histogram.bins().map(|(from, _, count)| (from.round() as u64, count)).collect();
        assert_eq!(bins, [(100, 4), (126, 1), (1_000, 1), (794_328_234_724, 1)]);
        assert_eq!(histogram.total(), 7);
    }
}
