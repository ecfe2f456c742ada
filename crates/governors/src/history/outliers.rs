// SPDX-License-Identifier: GPL-2.0-or-later
//! The typical interval of menu up to 6.14: only the longest intervals are left out.

use crate::memory::{INTERVALS, NO_IDEA};
use crate::typical::Sample;

/// The mean in microseconds once the intervals `agree`, or [`NO_IDEA`]. Starts from those up to
/// `longest` and leaves out one value after the other as long as the rest `is_useful`.
pub(super) fn without_longest(
    intervals: &[u32; INTERVALS],
    mut longest: u32,
    is_useful: impl Fn(&Sample) -> bool,
    agree: impl Fn(&Sample) -> bool,
) -> u32 {
    while let Some(sample) = up_to(intervals, longest).filter(&is_useful) {
        if agree(&sample) {
            return sample.mean as u32;
        }
        if !sample.may_lose_more() {
            break;
        }
        longest = (sample.max as u32).wrapping_sub(1);
    }
    NO_IDEA
}

/// The intervals up to `longest`, with the variance from the truncated mean. `None` if there are
/// none.
fn up_to(intervals: &[u32; INTERVALS], longest: u32) -> Option<Sample> {
    let kept = || intervals.iter().filter(|&&kept| kept <= longest).map(|&kept| u64::from(kept));
    let count = kept().fold(0_u64, |count, _| count.wrapping_add(1));
    let mean = kept().fold(0_u64, u64::wrapping_add).checked_div(count)?;
    let squares = kept().fold(0_u64, |sum, kept| {
        let deviation = kept.abs_diff(mean);
        sum.wrapping_add(deviation.wrapping_mul(deviation))
    });
    Some(Sample {
        count,
        min: kept().min().unwrap_or(u64::MAX),
        max: kept().max().unwrap_or(0),
        mean,
        variance: squares.checked_div(count)?,
    })
}
