// SPDX-License-Identifier: GPL-2.0-or-later
//! The difference of two series of runs, and whether their order lets it be told at all.

use serde::Serialize;

use crate::statistics::{
    Design, Interval, Quantiles, Relabellings, Resampling, SignFlips, Trend, bca_of_mean,
    bca_of_mean_difference, location, mean, shift, slope, standard_deviation, trend,
};

/// From so many runs or pairs on, there is a bootstrap interval, too.
const MANY: usize = 30;
/// A trend of runs in pairs is one from this p-value on.
const TREND: f64 = 0.01;
/// A trend of runs that are not in pairs is one from this p-value on: nothing cancels it there.
const UNPAIRED_TREND: f64 = 0.05;
/// Where one governor tends to have run before the other, by this p-value of its places, a drift
/// too slow to be seen would still look like a difference.
const BALANCE: f64 = 0.2;

/// A run: its place in the experiment, where that is known, and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The place among all runs, from 0.
    pub order: Option<u32>,
    /// The value of one metric; finite.
    pub value: f64,
}

/// In which order the runs of both governors were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Turn by turn: each run of one has a neighbour of the other, so what drifts cancels.
    Pairs,
    /// Neither in pairs nor one governor before the other, such as shuffled.
    Mixed,
    /// One governor tended to run before the other.
    Blocks,
    /// Not told. Drift cannot be seen, and the runs are taken to be exchangeable.
    Unknown,
}

/// Why no verdict is possible, whatever the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// One governor ran before the other: a change of the machine looks like a difference.
    Blocks,
    /// The values drift, and the runs are not in pairs that would cancel it.
    Drift,
}

/// A drift over the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// How much a value moves from one run of the experiment to the next, by least squares.
    pub slope: f64,
    /// Of the Mann-Kendall test within each governor's runs.
    pub p_value: f64,
    /// Whether the pairs' differences are less what drifted between their two runs: where all pairs
    /// ran in the same order, it would not cancel.
    pub subtracted: bool,
}

/// The mean of the candidate's runs less the mean of the baseline's, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// How the runs were compared.
    pub design: Design,
    /// In which order they were.
    pub order: Order,
    /// The difference of the means.
    pub difference: f64,
    /// Where the difference may well lie: the shifts that the permutation test does not reject.
    pub interval: Interval,
    /// The bias-corrected and accelerated bootstrap interval, from 30 runs on. Verdicts do not rest
    /// on it: of 40 runs with much skew, it excludes zero twice as often as it should.
    pub bca: Option<Interval>,
    /// Whether the p-value is of all arrangements, and not of a random choice of them.
    pub exact: bool,
    /// Two-sided, of the permutation test.
    pub p_value: f64,
    /// The Hodges-Lehmann estimate of the difference.
    pub hodges_lehmann: f64,
    /// The noise: the standard deviation of single runs, or of the differences of pairs.
    pub deviation: f64,
    /// The drift, if there is any.
    pub drift: Option<Drift>,
    /// Why there can be no verdict.
    pub refusal: Option<Refusal>,
}

/// Estimates a difference at level `alpha`. None unless both have at least two runs.
#[must_use]
pub fn estimate(
    baseline: &[Run],
    candidate: &[Run],
    alpha: f64,
    resampling: Resampling,
) -> Option<Estimate> {
    if baseline.len() < 2 || candidate.len() < 2 {
        return None;
    }
    let Some(sequence) = sequence(baseline, candidate) else {
        return Some(unpaired(baseline, candidate, alpha, resampling));
    };
    let drift = drift(baseline, candidate);
    let significant = |level: f64| (drift.p_value <= level).then_some(drift);
    if let Some(pairs) = pairs(&sequence) {
        return Some(paired(&pairs, significant(TREND), alpha, resampling));
    }
    let drift = significant(UNPAIRED_TREND);
    let (order, refusal) = if before_the_other(baseline, candidate, resampling) {
        (Order::Blocks, Some(Refusal::Blocks))
    } else {
        (Order::Mixed, drift.map(|_| Refusal::Drift))
    };
    Some(Estimate { order, drift, refusal, ..unpaired(baseline, candidate, alpha, resampling) })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Baseline,
    Candidate,
}

/// All runs by their order; none unless each has a place of its own.
fn sequence(baseline: &[Run], candidate: &[Run]) -> Option<Vec<(u32, Side, f64)>> {
    let side = |side| move |run: &Run| Some((run.order?, side, run.value));
    let mut all: Vec<_> = baseline
        .iter()
        .map(side(Side::Baseline))
        .chain(candidate.iter().map(side(Side::Candidate)))
        .collect::<Option<_>>()?;
    all.sort_by_key(|(order, ..)| *order);
    let distinct = all.windows(2).all(|two| match two {
        [(one, ..), (next, ..)] => one < next,
        _ => true,
    });
    distinct.then_some(all)
}

/// A pair: the places and values of the baseline's and of the candidate's run.
type Pair = [(f64, f64); 2];

/// Neighbours, where every two of the sequence are one of each.
fn pairs(sequence: &[(u32, Side, f64)]) -> Option<Vec<Pair>> {
    let (pairs, rest) = sequence.as_chunks::<2>();
    let pair = |&[first, second]: &[(u32, Side, f64); 2]| {
        let point = |(order, _, value): (u32, Side, f64)| (f64::from(order), value);
        match (first.1, second.1) {
            (Side::Baseline, Side::Candidate) => Some([point(first), point(second)]),
            (Side::Candidate, Side::Baseline) => Some([point(second), point(first)]),
            (Side::Baseline, Side::Baseline) | (Side::Candidate, Side::Candidate) => None,
        }
    };
    if rest.is_empty() { pairs.iter().map(pair).collect() } else { None }
}

fn paired(pairs: &[Pair], drift: Option<Drift>, alpha: f64, resampling: Resampling) -> Estimate {
    // The means of pairs know nothing of the difference, and so tell the drift apart from it.
    let middle = |[one, other]: &Pair| ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0);
    let drift = drift.map(|drift| Drift {
        slope: slope(&pairs.iter().map(middle).collect::<Vec<_>>()),
        subtracted: true,
        ..drift
    });
    let between = drift.map_or(0.0, |drift| drift.slope);
    let differences: Vec<f64> =
        pairs.iter().map(|[one, other]| other.1 - one.1 - between * (other.0 - one.0)).collect();
    let flips = SignFlips::new(&differences, resampling);
    let bca = || bca_of_mean(&differences, alpha, Quantiles::Student, resampling);
    Estimate {
        design: Design::Paired(differences.len()),
        order: Order::Pairs,
        difference: mean(&differences),
        interval: flips.interval(alpha),
        bca: (differences.len() >= MANY).then(bca),
        exact: flips.is_exact(),
        p_value: flips.p_value(0.0),
        hodges_lehmann: location(&differences),
        deviation: standard_deviation(&differences),
        drift,
        refusal: None,
    }
}

fn unpaired(baseline: &[Run], candidate: &[Run], alpha: f64, resampling: Resampling) -> Estimate {
    let values = |runs: &[Run]| runs.iter().map(|run| run.value).collect::<Vec<f64>>();
    let (first, second) = (values(baseline), values(candidate));
    let labels = Relabellings::new(&first, &second, resampling);
    let student = Quantiles::Student;
    let bca = || bca_of_mean_difference(&first, &second, alpha, student, resampling);
    Estimate {
        design: Design::Unpaired(first.len(), second.len()),
        order: Order::Unknown,
        difference: mean(&second) - mean(&first),
        interval: labels.interval(alpha),
        bca: (first.len().min(second.len()) >= MANY).then(bca),
        exact: labels.is_exact(),
        p_value: labels.p_value(0.0),
        hodges_lehmann: shift(&first, &second),
        deviation: pooled_deviation(&first, &second),
        drift: None,
        refusal: None,
    }
}

/// The standard deviation of a run about its own governor's mean.
fn pooled_deviation(baseline: &[f64], candidate: &[f64]) -> f64 {
    let part = |values: &[f64]| {
        let freedom = values.len() as f64 - 1.0;
        (standard_deviation(values).powi(2) * freedom, freedom)
    };
    let ((first, first_freedom), (second, second_freedom)) = (part(baseline), part(candidate));
    ((first + second) / (first_freedom + second_freedom)).sqrt()
}

/// What drifts within each governor's runs, which must have places.
fn drift(baseline: &[Run], candidate: &[Run]) -> Drift {
    let points = |runs: &[Run]| {
        let placed = runs.iter().filter_map(|run| Some((f64::from(run.order?), run.value)));
        placed.collect::<Vec<_>>()
    };
    let series = [points(baseline), points(candidate)];
    let Trend { p_value, .. } = trend(&series);
    // Each about its own mean, so that the difference is no slope.
    let centred = series.iter().flat_map(|points| {
        let centre = mean(&points.iter().map(|point| point.1).collect::<Vec<_>>());
        let middle = mean(&points.iter().map(|point| point.0).collect::<Vec<_>>());
        points.iter().map(move |point| (point.0 - middle, point.1 - centre))
    });
    let slope = slope(&centred.collect::<Vec<_>>());
    Drift { slope, p_value, subtracted: false }
}

/// Whether one governor tended to run before the other: the test of a difference, of places.
fn before_the_other(baseline: &[Run], candidate: &[Run], resampling: Resampling) -> bool {
    let places =
        |runs: &[Run]| runs.iter().filter_map(|run| run.order.map(f64::from)).collect::<Vec<f64>>();
    let labels = Relabellings::new(&places(baseline), &places(candidate), resampling);
    labels.p_value(0.0) <= BALANCE
}
