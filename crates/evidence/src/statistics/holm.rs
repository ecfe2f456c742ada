// SPDX-License-Identifier: GPL-2.0-or-later
/// Holm's step-down correction: p-values such that the chance of even one false alarm among all is
/// at most the level they are compared with, however the metrics hang together.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    let p = |at: usize| p_values.get(at).copied().unwrap_or(1.0);
    order.sort_by(|&one, &other| p(one).total_cmp(&p(other)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max(p(at) * (p_values.len() - rank) as f64).min(1.0);
        if let Some(adjusted) = adjusted.get_mut(at) {
            *adjusted = least;
        }
    }
    adjusted
}
