// SPDX-License-Identifier: GPL-2.0-or-later
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::bca::student;
use super::resampling::combinations;

/// The most runs of a governor that [`runs_needed`] looks for.
const MOST_RUNS: usize = 10_000;

/// How two sets of runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// By the differences of so many pairs.
    Paired(usize),
    /// As two samples: so many runs of the baseline and of the candidate.
    Unpaired(usize, usize),
}

impl Design {
    /// In how many ways the runs could have been arranged; saturates.
    fn arrangements(self) -> usize {
        match self {
            Self::Paired(pairs) => {
                { u32::try_from(pairs).ok().and_then(|pairs| 2_usize.checked_pow(pairs)) }
                    .unwrap_or(usize::MAX)
            }
            Self::Unpaired(baseline, candidate) => combinations(baseline + candidate, candidate),
        }
    }

    /// The same kind with so many runs of each.
    fn of(self, runs: usize) -> Self {
        match self {
            Self::Paired(_) => Self::Paired(runs),
            Self::Unpaired(..) => Self::Unpaired(runs, runs),
        }
    }

    /// The standard error of the difference for noise of deviation 1, and its degrees of freedom.
    fn unit_error(self) -> (f64, f64) {
        match self {
            Self::Paired(pairs) => ((1.0 / pairs as f64).sqrt(), pairs as f64 - 1.0),
            Self::Unpaired(baseline, candidate) => {
                let (baseline, candidate) = (baseline as f64, candidate as f64);
                ((1.0 / baseline + 1.0 / candidate).sqrt(), baseline + candidate - 2.0)
            }
        }
    }
}

/// The smallest two-sided p-value that a permutation test of so many runs can have.
#[must_use]
pub fn attainable(design: Design) -> f64 {
    (2.0 / design.arrangements() as f64).min(1.0)
}

/// The fewest runs of each governor for which the test can reach `alpha` at all.
#[must_use]
pub fn fewest_runs(kind: Design, alpha: f64) -> usize {
    (2..MOST_RUNS).find(|&runs| attainable(kind.of(runs)) <= alpha).unwrap_or(MOST_RUNS)
}

/// The smallest difference that a test at level `alpha` sees with probability `power`, for noise of
/// the given standard deviation: of single runs, or of the differences of pairs. By Student's t at
/// the level that the permutation test really attains. None if it can never reach `alpha`.
#[must_use]
pub fn detectable(design: Design, deviation: f64, alpha: f64, power: f64) -> Option<f64> {
    let steps = attainable(design);
    let reached = (alpha / steps * (1.0 + 1e-12)).floor() * steps;
    if reached <= 0.0 {
        return None;
    }
    let (error, freedom) = design.unit_error();
    let quantiles = student(freedom, 1.0 - reached / 2.0) + student(freedom, power);
    Some(deviation * error * quantiles)
}

/// How many runs of each governor it takes to see a difference; none if more than 10,000.
#[must_use]
pub fn runs_needed(
    kind: Design,
    deviation: f64,
    difference: f64,
    alpha: f64,
    power: f64,
) -> Option<usize> {
    let sees = |runs: usize| {
        detectable(kind.of(runs), deviation, alpha, power).is_some_and(|least| least <= difference)
    };
    (2..=MOST_RUNS).find(|&runs| sees(runs))
}

/// What a standard deviation, estimated with so many degrees of freedom, may well be: its upper
/// confidence limit for normal noise.
#[must_use]
pub fn upper_deviation(deviation: f64, freedom: f64, confidence: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::INFINITY, |distribution| {
        deviation * (freedom / distribution.inverse_cdf(1.0 - confidence)).sqrt()
    })
}
