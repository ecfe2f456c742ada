// SPDX-License-Identifier: GPL-2.0-or-later
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::Interval;
use super::moments::{mean, variance};
use super::resampling::{Draw, Resampling};
use super::unpaired::welch_freedom;

/// Which quantiles of the bootstrap distribution an interval ends at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantiles {
    /// The normal ones, as Efron's method has it: for many values.
    Normal,
    /// Those of Student's t, widened by what the bootstrap takes a standard error too small by:
    /// without that, the interval of 40 values misses the truth in more than one of twenty cases.
    Student,
}

/// The bias-corrected and accelerated bootstrap interval of a mean; at least two values.
#[must_use]
pub fn bca_of_mean(
    values: &[f64],
    alpha: f64,
    quantiles: Quantiles,
    resampling: Resampling,
) -> Interval {
    let count = values.len() as f64;
    let mut draw = Draw::new(resampling.seed);
    let means = (0..resampling.draws).map(|_| resampled_mean(values, &mut draw)).collect();
    let influence = [Influence::of(values, 1.0)];
    let widening = (count / (count - 1.0)).sqrt();
    ends(means, mean(values), &influence, alpha, quantiles, (count - 1.0, widening))
}

/// The same of the candidate's mean less the baseline's; at least two values each.
#[must_use]
pub fn bca_of_mean_difference(
    baseline: &[f64],
    candidate: &[f64],
    alpha: f64,
    quantiles: Quantiles,
    resampling: Resampling,
) -> Interval {
    let mut draw = Draw::new(resampling.seed);
    let mut difference = || {
        let first = resampled_mean(baseline, &mut draw);
        resampled_mean(candidate, &mut draw) - first
    };
    let differences = (0..resampling.draws).map(|_| difference()).collect();
    let influence = [Influence::of(baseline, -1.0), Influence::of(candidate, 1.0)];
    let (freedom, error) = welch_freedom(baseline, candidate);
    let biased = |values: &[f64]| {
        let count = values.len() as f64;
        variance(values) * (count - 1.0) / count / count
    };
    let bootstrap_error = (biased(baseline) + biased(candidate)).sqrt();
    let widening = if bootstrap_error > 0.0 { error / bootstrap_error } else { 1.0 };
    let centre = mean(candidate) - mean(baseline);
    ends(differences, centre, &influence, alpha, quantiles, (freedom, widening))
}

fn resampled_mean(values: &[f64], draw: &mut Draw) -> f64 {
    let one = |_| values.get(draw.below(values.len())).copied().unwrap_or_default();
    (0..values.len()).map(one).sum::<f64>() / values.len() as f64
}

/// What the values of one sample do to the estimate, as the jackknife sees it.
struct Influence {
    cubes: f64,
    squares: f64,
}

impl Influence {
    /// Leaving out one value moves a mean by the value's distance from it over `n - 1`.
    fn of(values: &[f64], sign: f64) -> Self {
        let count = values.len() as f64;
        let centre = mean(values);
        let power = |power: i32| {
            let moved = values.iter().map(|value| (sign * (value - centre)).powi(power));
            moved.sum::<f64>() / count.powi(power)
        };
        Self { cubes: power(3), squares: power(2) }
    }
}

fn ends(
    mut estimates: Vec<f64>,
    estimate: f64,
    influences: &[Influence],
    alpha: f64,
    quantiles: Quantiles,
    (freedom, widening): (f64, f64),
) -> Interval {
    estimates.sort_unstable_by(f64::total_cmp);
    let squares: f64 = influences.iter().map(|influence| influence.squares).sum();
    if squares <= 0.0 {
        return Interval { low: estimate, high: estimate };
    }
    let cubes: f64 = influences.iter().map(|influence| influence.cubes).sum();
    let acceleration = cubes / squares.powf(1.5) / 6.0;
    let below = estimates.partition_point(|other| *other < estimate);
    let equal = estimates.partition_point(|other| *other <= estimate) - below;
    let share = (below as f64 + equal as f64 / 2.0) / estimates.len() as f64;
    let normal = Normal::standard();
    // A share of 0 or 1 comes of a handful of draws only; its quantile would be infinite.
    let half_a_draw = 0.5 / estimates.len() as f64;
    let bias = normal.inverse_cdf(share.clamp(half_a_draw, 1.0 - half_a_draw));
    let tail = match quantiles {
        Quantiles::Normal => normal.inverse_cdf(alpha / 2.0),
        Quantiles::Student => student(freedom, alpha / 2.0) * widening,
    };
    let end = |tail: f64| {
        let shifted = bias + tail;
        let adjusted = normal.cdf(bias + shifted / (1.0 - acceleration * shifted));
        quantile(&estimates, adjusted)
    };
    Interval { low: end(tail), high: end(-tail) }
}

/// The quantile of Student's t.
pub(super) fn student(freedom: f64, share: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.inverse_cdf(share))
}

/// Interpolated linearly between order statistics.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len().max(1) - 1) as f64;
    let at = |place: f64| sorted.get(place as usize).copied().unwrap_or_default();
    let (low, high) = (at(place.floor()), at(place.ceil()));
    low + (high - low) * place.fract()
}
