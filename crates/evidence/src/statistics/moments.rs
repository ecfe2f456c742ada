// SPDX-License-Identifier: GPL-2.0-or-later
/// The arithmetic mean; 0 of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The unbiased estimate of the variance; 0 of fewer than two values.
pub(super) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() - 1) as f64
}

/// The square root of the unbiased estimate of the variance; 0 of fewer than two values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> f64 {
    variance(values).sqrt()
}

/// The middle value, or the mean of the two in the middle; 0 of nothing.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    median_of(&mut values)
}

/// The median, found by reordering.
pub(super) fn median_of(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let odd = !values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if odd {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    // Halved first, since the sum of two finite numbers need not be finite.
    lower / 2.0 + upper / 2.0
}
