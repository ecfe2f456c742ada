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
    // Which intervals are kept a CPU cannot foresee, so nothing here branches on it: what is not
    // kept counts as nothing.
    let mut count = 0_u64;
    let mut sum = 0_u64;
    let mut min = u64::MAX;
    let mut max = 0_u64;
    for &interval in intervals {
        let is_kept = interval <= longest;
        let interval = u64::from(interval);
        count = count.wrapping_add(is_kept.into());
        sum = sum.wrapping_add(if is_kept { interval } else { 0 });
        min = min.min(if is_kept { interval } else { u64::MAX });
        max = max.max(if is_kept { interval } else { 0 });
    }
    let mean = sum.checked_div(count)?;
    let mut squares = 0_u64;
    for &interval in intervals {
        let deviation = u64::from(interval).abs_diff(mean);
        let square = deviation.wrapping_mul(deviation);
        squares = squares.wrapping_add(if interval <= longest { square } else { 0 });
    }
    Some(Sample { count, min, max, mean, variance: squares.checked_div(count)? })
}
