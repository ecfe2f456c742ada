// SPDX-License-Identifier: GPL-2.0-or-later
//! The interval that comes again and again: menu looks for one among the last eight, and leaves
//! out far-out ones until the rest agree.

use crate::memory::{INTERVALS, NO_IDEA};

/// Three quarters of the intervals make a majority that a wide spread is forgiven to, and below
/// which no more outliers are dropped.
const ENOUGH_INTERVALS: u64 = INTERVALS as u64 * 3 / 4;

/// A standard deviation of a sixth of the mean is the widest spread that still predicts.
const VARIANCES_TO_SQUARED_MEAN: u64 = 36;

/// A standard deviation of 20 µs is always good enough.
const SMALL_VARIANCE: u64 = 400;

/// Some of the intervals, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) count: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) mean: u64,
    pub(crate) variance: u64,
}

/// What the search comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Typical {
    /// So many agree that their mean is a prediction, in microseconds.
    Agreed(u32),
    /// The rest does not agree, and no more may be left out.
    Scattered(Sample),
    /// Nothing is left to look at.
    Nothing,
}

impl Sample {
    /// The intervals strictly between two bounds. `None` if there are none, or only zeros.
    fn between(intervals: &[u32; INTERVALS], lower: i64, upper: i64) -> Option<Self> {
        let mut count: u64 = 0;
        let mut min = u64::MAX;
        let mut max = 0;
        let mut sum: u64 = 0;
        let mut sum_of_squares: u64 = 0;
        for &interval in intervals {
            if i64::from(interval) <= lower || i64::from(interval) >= upper {
                continue;
            }
            let interval = u64::from(interval);
            count = count.wrapping_add(1);
            min = min.min(interval);
            max = max.max(interval);
            sum = sum.wrapping_add(interval);
            sum_of_squares = sum_of_squares.wrapping_add(interval.wrapping_mul(interval));
        }
        if count == 0 || max == 0 {
            return None;
        }
        // Both divisions cut, so the variance comes out up to twice the mean too large.
        let mean = sum / count;
        let variance = (sum_of_squares / count).wrapping_sub(mean.wrapping_mul(mean));
        Some(Self { count, min, max, mean, variance })
    }

    /// Whether enough intervals are left to leave out more.
    pub(crate) const fn may_lose_more(&self) -> bool {
        self.count > ENOUGH_INTERVALS
    }

    /// Whether they are three quarters of all or more.
    pub(crate) const fn is_majority(&self) -> bool {
        self.count >= ENOUGH_INTERVALS
    }

    /// Whether the intervals agree well enough for their mean to be a prediction.
    pub(crate) fn is_consistent(&self) -> bool {
        // The bound keeps the product from wrapping.
        self.variance <= u64::MAX / VARIANCES_TO_SQUARED_MEAN
            && ((self.is_majority()
                && self.mean.wrapping_mul(self.mean)
                    > self.variance.wrapping_mul(VARIANCES_TO_SQUARED_MEAN))
                || self.variance <= SMALL_VARIANCE)
    }
}

impl Typical {
    /// Leaves out intervals at the end that is further from the mean: since 6.15.
    pub(crate) fn from_both_ends(intervals: &[u32; INTERVALS]) -> Self {
        let mut lower = -1;
        let mut upper = i64::from(NO_IDEA);
        while let Some(sample) = Sample::between(intervals, lower, upper) {
            if sample.is_consistent() {
                return Self::Agreed(sample.mean as u32);
            }
            if !sample.may_lose_more() {
                return Self::Scattered(sample);
            }
            let reach_down = sample.mean.wrapping_sub(sample.min);
            let reach_up = sample.max.wrapping_sub(sample.mean);
            if reach_down > reach_up {
                lower = sample.min.cast_signed();
            } else {
                upper = sample.max.cast_signed();
            }
        }
        Self::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean, `None` for no idea.
    fn typical(intervals: [u32; INTERVALS]) -> Option<u32> {
        match Typical::from_both_ends(&intervals) {
            Typical::Agreed(mean) => Some(mean),
            Typical::Scattered(_) | Typical::Nothing => None,
        }
    }

    /// 10, 12 … 900: mean 325, variance 166 014; without 900 243 and 135 681; without 850 142 and
    /// 86 605, six are left: no idea. 100 seven times: without 5000 all are equal.
    #[test]
    fn the_typical_interval_gives_up_with_six_intervals_left() {
        assert_eq!(typical([1, 3, 100, 150, 700, 900, 3000, 9000]), None);
        assert_eq!(typical([10, 12, 11, 13, 9, 800, 850, 900]), None);
        assert_eq!(typical([20; 8]), Some(20));
        assert_eq!(typical([100, 100, 100, 5000, 100, 100, 100, 100]), Some(100));
    }

    /// 4 zeros and 4 forties: mean 20, variance 800 − 400 = 400, just enough, though 20² ≤ 36·400.
    /// With 41: mean 20, 840 − 400 = 440. Then 20 − 0 ≤ 41 − 20 drops the 41s; zeros are no idea.
    #[test]
    fn a_deviation_of_20_microseconds_is_always_good_enough() {
        assert_eq!(typical([0, 40, 0, 40, 0, 40, 0, 40]), Some(20));
        assert_eq!(typical([0, 41, 0, 41, 0, 41, 0, 41]), None);
    }

    /// Mean 628: 628 − 10 > 1000 − 628, so the three 10s go, and the five equal ones that are left
    /// predict, though they are under six.
    #[test]
    fn equal_outliers_go_at_once_and_a_small_rest_may_predict() {
        assert_eq!(typical([10, 1000, 10, 1000, 10, 1000, 1000, 1000]), Some(1000));
    }

    #[test]
    fn rejected_entries_and_nothing_but_zeros_are_no_idea() {
        assert_eq!(typical([NO_IDEA; 8]), None);
        assert_eq!(typical([0; 8]), None);
        assert_eq!(typical([0, 0, 0, 0, 0, 0, 0, NO_IDEA]), None);
    }
}
