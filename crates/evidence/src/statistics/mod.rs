// SPDX-License-Identifier: GPL-2.0-or-later
//! What a few noisy runs can tell, as pure functions on slices of numbers.
//!
//! The estimand is everywhere the same: the mean of the candidate's runs less the mean of the
//! baseline's. The test of it is a permutation test, whose level holds whatever the noise is
//! distributed like, as long as runs could have been exchanged; its interval is the set of shifts
//! that the test does not reject.
//!
//! Values are finite: who calls sees to that. Everything random takes a seed and gives the same
//! figures for it.

mod bca;
mod dip;
mod drift;
mod hodges_lehmann;
mod holm;
mod moments;
mod outliers;
mod paired;
mod power;
mod resampling;
mod unpaired;

pub use bca::{Quantiles, bca_of_mean, bca_of_mean_difference};
pub use dip::{DipNull, dip};
pub use drift::{Trend, slope, trend};
pub use hodges_lehmann::{location, shift};
pub use holm::holm;
pub use moments::{mean, median, standard_deviation};
pub use outliers::outliers;
pub use paired::SignFlips;
pub use power::{Design, attainable, detectable, fewest_runs, runs_needed, upper_deviation};
pub use resampling::Resampling;
pub use unpaired::Relabellings;

/// An interval of shifts; an end is infinite where no number of arrangements can exclude it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end, in the unit of the values.
    pub low: f64,
    /// The upper end, in the unit of the values.
    pub high: f64,
}

impl Interval {
    /// Whether a shift lies within, ends included.
    #[must_use]
    pub fn contains(&self, shift: f64) -> bool {
        self.low <= shift && shift <= self.high
    }
}

/// Two-sided p-value from the arrangements at least as far on either side, the given one included.
fn two_sided(above: usize, below: usize, arrangements: usize) -> f64 {
    (2.0 * above.min(below) as f64 / arrangements as f64).min(1.0)
}

#[cfg(test)]
mod tests;
