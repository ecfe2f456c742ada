// SPDX-License-Identifier: GPL-2.0-or-later
//! Durations counted by size, in memory that does not grow with their number.

/// Each power of two is cut into so many parts: a value is known to 1.6 per cent.
const PARTS_LOG2: u32 = 6;
const PARTS: usize = 1 << PARTS_LOG2;

/// Counts of durations in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: i128,
    longest: i64,
}

impl Histogram {
    #[inline]
    pub(crate) fn add(&mut self, duration: i64) {
        let duration = duration.max(0);
        let part = part_of(duration);
        if part >= self.counts.len() {
            self.counts.resize(part + 1, 0);
        }
        self.counts[part] += 1;
        self.total += 1;
        self.sum += i128::from(duration);
        self.longest = self.longest.max(duration);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The mean in nanoseconds, exact; none of nothing.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// The durations that occurred, each by the least one of its part but the longest by itself,
    /// with how often they did.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let last = part_of(self.longest);
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(
            move |(part, &count)| {
                let least = if part == last { self.longest } else { least_of(part) };
                (least.cast_unsigned(), count)
            },
        )
    }
}

fn part_of(duration: i64) -> usize {
    let value = duration.cast_unsigned();
    let bits = u64::BITS - value.leading_zeros();
    if bits <= PARTS_LOG2 + 1 {
        return value as usize;
    }
    let shift = bits - PARTS_LOG2 - 1;
    (shift as usize) * PARTS + (value >> shift) as usize
}

fn least_of(part: usize) -> i64 {
    if part < 2 * PARTS {
        return part as i64;
    }
    let shift = part / PARTS - 1;
    ((part - shift * PARTS) as i64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_order_and_narrow() {
        let mut before = 0;
        for duration in (0..5_000).chain([1 << 20, (1 << 20) + (1 << 14), 1 << 40, i64::MAX]) {
            let part = part_of(duration);
            assert!(part >= before);
            before = part;
            let least = least_of(part);
            assert!(least <= duration && duration - least <= duration / 64, "{duration} {least}");
        }
    }

    #[test]
    fn small_durations_and_the_longest_are_exact() {
        let mut histogram = Histogram::default();
        [5, 5, 127, 1_000_001].into_iter().for_each(|duration| histogram.add(duration));
        assert_eq!(histogram.counts().collect::<Vec<_>>(), [(5, 2), (127, 1), (1_000_001, 1)]);
        assert_eq!(histogram.mean(), Some(f64::from(5 + 5 + 127 + 1_000_001) / 4.0));
    }
}
