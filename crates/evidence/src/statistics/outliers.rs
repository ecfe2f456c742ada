// SPDX-License-Identifier: GPL-2.0-or-later
use super::moments::median;

/// Which values lie far from the median: more than a number of median absolute deviations that a
/// normal sample of this size exceeds anywhere in one of a hundred cases. None are found among
/// fewer than five values, nor where more than half are equal.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < 5 {
        return Vec::new();
    }
    let centre = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let deviation = median(&deviations);
    if deviation <= 0.0 {
        return Vec::new();
    }
    let far = |deviations: f64| deviations > limit(values.len()) * deviation;
    deviations.iter().enumerate().filter(|(_, value)| far(**value)).map(|(at, _)| at).collect()
}

/// For normal samples of so many values, the 99 % quantile of the largest distance from the median
/// in median absolute deviations, from 200,000 simulated samples each; rounded up, and for sizes in
/// between that of the next smaller one.
fn limit(count: usize) -> f64 {
    match count {
        ..6 => 28.0,
        6..8 => 16.0,
        8..10 => 12.2,
        10..15 => 10.5,
        15..20 => 8.9,
        20..30 => 7.9,
        30..40 => 7.2,
        40.. => 6.9,
    }
}
