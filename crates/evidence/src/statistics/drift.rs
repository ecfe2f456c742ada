// SPDX-License-Identifier: GPL-2.0-or-later
use statrs::distribution::{ContinuousCDF, Normal};

use super::moments::mean;

/// What Kendall's test of values against their order says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's tau-a over pairs within a series: from -1, ever falling, to 1, ever rising.
    pub tau: f64,
    /// Two-sided, by the normal approximation with correction for continuity and ties.
    pub p_value: f64,
}

/// The Mann-Kendall test over several series of (order, value): only values of one series are
/// compared with each other, so a difference between governors is no trend.
#[must_use]
pub fn trend(series: &[Vec<(f64, f64)>]) -> Trend {
    let (mut score, mut variance, mut pairs) = (0.0, 0.0, 0.0);
    for values in series {
        let count = values.len() as f64;
        for (at, (order, value)) in values.iter().enumerate() {
            for (later, other) in values.iter().skip(at + 1) {
                score += sign(later - order) * sign(other - value);
            }
        }
        pairs += count * (count - 1.0) / 2.0;
        let term = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
        let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tied| term(tied.len() as f64)).sum();
        variance += (term(count) - ties) / 18.0;
    }
    if variance <= 0.0 {
        return Trend { tau: 0.0, p_value: 1.0 };
    }
    let distance = (score.abs() - 1.0).max(0.0) / variance.sqrt();
    let p_value = (2.0 * Normal::standard().sf(distance)).min(1.0);
    Trend { tau: score / pairs, p_value }
}

/// The least-squares slope of values against their order; 0 if all have the same.
#[must_use]
pub fn slope(series: &[(f64, f64)]) -> f64 {
    let (orders, values): (Vec<f64>, Vec<f64>) = series.iter().copied().unzip();
    let (middle, centre) = (mean(&orders), mean(&values));
    let product: f64 = series.iter().map(|(at, value)| (at - middle) * (value - centre)).sum();
    let square: f64 = orders.iter().map(|at| (at - middle).powi(2)).sum();
    if square > 0.0 { product / square } else { 0.0 }
}

fn sign(difference: f64) -> f64 {
    if difference > 0.0 {
        1.0
    } else if difference < 0.0 {
        -1.0
    } else {
        0.0
    }
}
