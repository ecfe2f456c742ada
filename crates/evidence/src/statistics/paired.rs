// SPDX-License-Identifier: GPL-2.0-or-later
use super::resampling::{Draw, Resampling};
use super::{Interval, two_sided};

/// The sign-flip test of paired differences, and its interval.
///
/// Without a difference, a pair's two runs could have been exchanged, so each difference could as
/// well have had the other sign. For a shift, flipping a set of differences raises the mean exactly
/// if the mean of that set is below the shift: so the one-sided p-value of a shift is the share of
/// sets whose mean does not exceed it, and the ends of the interval are order statistics of the
/// means of all sets. Dividing by the standard error changes nothing, since the sum of squares
/// stays the same.
#[derive(Clone, Debug)]
pub struct SignFlips {
    /// Means of the sets but the empty one, ascending.
    means: Vec<f64>,
    exact: bool,
}

impl SignFlips {
    /// All sets of the differences, or as many random ones as asked.
    #[must_use]
    pub fn new(differences: &[f64], resampling: Resampling) -> Self {
        let count = differences.len();
        let all = u32::try_from(count).ok().and_then(|bits| 1_usize.checked_shl(bits));
        let all = all.filter(|&all| all > 0 && all <= resampling.exact_up_to);
        let mut means = match all {
            Some(all) => {
                (1..all).map(|set| mean_of(differences, |at| set >> at & 1 == 1)).collect()
            }
            None => random(differences, resampling),
        };
        means.sort_unstable_by(f64::total_cmp);
        Self { means, exact: all.is_some() }
    }

    /// Whether all arrangements were looked at.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The two-sided p-value of a shift.
    #[must_use]
    pub fn p_value(&self, shift: f64) -> f64 {
        // Sums of the same numbers in another order differ in their last bits.
        let slack = 1e-12 * self.scale();
        let below = self.means.partition_point(|mean| *mean <= shift + slack);
        let above = self.means.len() - self.means.partition_point(|mean| *mean < shift - slack);
        two_sided(above + 1, below + 1, self.means.len() + 1)
    }

    /// The shifts whose p-value exceeds `alpha`.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Interval {
        let outside = (alpha / 2.0 * (self.means.len() + 1) as f64 * (1.0 + 1e-12)) as usize;
        let end = |at: Option<usize>| at.and_then(|at| self.means.get(at)).copied();
        Interval {
            low: end(outside.checked_sub(1)).unwrap_or(f64::NEG_INFINITY),
            high: end(outside.checked_sub(1).and_then(|at| self.means.len().checked_sub(at + 1)))
                .unwrap_or(f64::INFINITY),
        }
    }

    fn scale(&self) -> f64 {
        let size = |mean: Option<&f64>| mean.map_or(0.0, |mean| mean.abs());
        size(self.means.first()).max(size(self.means.last()))
    }
}

fn mean_of(differences: &[f64], within: impl Fn(usize) -> bool) -> f64 {
    let chosen = differences.iter().enumerate().filter(|(at, _)| within(*at));
    let (sum, count) =
        chosen.fold((0.0, 0_u32), |(sum, count), (_, value)| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// Random sets; an empty one leaves everything as it is, which counts as far on both sides.
fn random(differences: &[f64], resampling: Resampling) -> Vec<f64> {
    let mut draw = Draw::new(resampling.seed);
    let mut flips = vec![0_u64; differences.len().div_ceil(64)];
    let mut set = || {
        flips.fill_with(|| draw.bits());
        mean_of(differences, |at| flips.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1))
    };
    (0..resampling.draws).map(|_| set()).collect()
}
