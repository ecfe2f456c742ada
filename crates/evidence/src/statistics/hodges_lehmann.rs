// SPDX-License-Identifier: GPL-2.0-or-later
use super::moments::median_of;

/// The Hodges-Lehmann shift: the median of all differences between a value of the candidate and
/// one of the baseline. Takes memory for their product.
#[must_use]
pub fn shift(baseline: &[f64], candidate: &[f64]) -> f64 {
    let pairs =
        candidate.iter().flat_map(|second| baseline.iter().map(move |first| second - first));
    median_of(&mut pairs.collect::<Vec<f64>>())
}

/// The Hodges-Lehmann location of paired differences: the median of the means of all pairs of
/// them, each with itself, too. Takes memory for half their square.
#[must_use]
pub fn location(differences: &[f64]) -> f64 {
    let means = differences.iter().enumerate().flat_map(|(at, first)| {
        differences.iter().skip(at).map(move |second| first / 2.0 + second / 2.0)
    });
    median_of(&mut means.collect::<Vec<f64>>())
}
