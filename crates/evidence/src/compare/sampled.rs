// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs that differ by chance: what is beyond it.

use std::collections::BTreeMap;

use idlelab_outcome::Better;
use serde::Serialize;

use super::estimate::{Drift, Estimate, Order, Refusal, Run, estimate};
use super::metric::{Metric, Role, metrics};
use super::text::{number, p_value};
use super::{ALPHA, Sourced, Verdict, verdict};
use crate::statistics::{
    Design, DipNull, Resampling, attainable, detectable, dip, fewest_runs, holm, mean, outliers,
};

/// Two modes are said to be there from this p-value on; the test is far from it for one peak.
const TWO_MODES: f64 = 0.05;
/// Samples with one mode that the dip is compared with.
const DIPS: usize = 999;

/// A metric of two governors. Differences are the candidate's mean less the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledMetric {
    /// What it is, for instance `joules`.
    pub name: String,
    /// Its unit; empty for counts and joules.
    pub unit: String,
    /// Which direction is an improvement.
    pub better: Option<Better>,
    /// Runs of the baseline that have it.
    pub baseline_runs: usize,
    /// Runs of the candidate that have it.
    pub candidate_runs: usize,
    /// The mean of the baseline's runs.
    pub baseline_mean: f64,
    /// The mean of the candidate's runs.
    pub candidate_mean: f64,
    /// The difference of the means; null with fewer than two runs of each.
    pub difference: Option<f64>,
    /// The lower end of the 95 % interval; null where so few runs exclude nothing.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The lower end of the bootstrap interval (BCa), from 30 runs on.
    pub bca_low: Option<f64>,
    /// Its upper end.
    pub bca_high: Option<f64>,
    /// The Hodges-Lehmann estimate of the difference.
    pub hodges_lehmann: Option<f64>,
    /// The difference in per cent of the baseline's mean; null if that is 0.
    pub difference_percent: Option<f64>,
    /// The lower end in per cent of the baseline's mean.
    pub low_percent: Option<f64>,
    /// The upper end in per cent of the baseline's mean.
    pub high_percent: Option<f64>,
    /// The Hodges-Lehmann estimate in per cent of the baseline's mean.
    pub hodges_lehmann_percent: Option<f64>,
    /// Two-sided p-value of the permutation test.
    pub p: Option<f64>,
    /// The same by Holm's correction for all tested metrics; null if described only.
    pub p_holm: Option<f64>,
    /// The smallest difference that would have been seen with a probability of 80 %.
    pub detectable: Option<f64>,
    /// That in per cent of the baseline's mean.
    pub detectable_percent: Option<f64>,
    /// How the runs were compared: `pairs`, `mixed`, `blocks` or `unknown` order.
    pub order: Option<Order>,
    /// Whether the p-value is of all arrangements.
    pub exact: Option<bool>,
    /// The drift, if there is any.
    pub drift: Option<Drift>,
    /// Null if it is described only, as shares of time in states are.
    pub verdict: Option<Verdict>,
    /// Why there is none, or none yet; a sentence without a full stop.
    pub reason: Option<String>,
    /// What must be known of its runs: outliers, two modes, drift.
    pub notes: Vec<String>,
}

/// Compares two governors' runs in all metrics that both have.
pub(super) fn compare(
    baseline: &[&Sourced],
    candidate: &[&Sourced],
    wanted: &dyn Fn(&str) -> bool,
    resampling: Resampling,
) -> Vec<SampledMetric> {
    let outcomes: Vec<_> = baseline.iter().chain(candidate).map(|run| &run.outcome).collect();
    let mut nulls = BTreeMap::new();
    let mut rows: Vec<(SampledMetric, Role, Option<Estimate>)> = Vec::new();
    for (metric, values) in metrics(&outcomes) {
        if !wanted(&metric.name) {
            continue;
        }
        let (first, second) = values.split_at(baseline.len());
        let (first, second) = (runs(baseline, first), runs(candidate, second));
        if first.is_empty() || second.is_empty() {
            continue;
        }
        let found = estimate(&values_of(&first), &values_of(&second), ALPHA, resampling);
        let mut row = row(&metric, &first, &second, found.as_ref());
        for (side, name) in [(&first, "baseline"), (&second, "candidate")] {
            row.notes.extend(oddities(side, name, &mut nulls, resampling.seed));
        }
        rows.push((row, metric.role, found));
    }
    judge(&mut rows);
    rows.into_iter().map(|(row, ..)| row).collect()
}

/// A run and its value of one metric.
type Valued<'a> = (&'a Sourced, Run);

fn runs<'a>(runs: &[&'a Sourced], values: &[Option<f64>]) -> Vec<Valued<'a>> {
    let valued = runs.iter().zip(values);
    valued
        .filter_map(|(run, value)| Some((*run, Run { order: run.outcome.order, value: (*value)? })))
        .collect()
}

fn values_of(runs: &[Valued<'_>]) -> Vec<Run> {
    runs.iter().map(|(_, run)| *run).collect()
}

fn row(
    metric: &Metric,
    baseline: &[Valued<'_>],
    candidate: &[Valued<'_>],
    found: Option<&Estimate>,
) -> SampledMetric {
    let average =
        |runs: &[Valued<'_>]| mean(&runs.iter().map(|(_, run)| run.value).collect::<Vec<_>>());
    let baseline_mean = average(baseline);
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let percent = |value: Option<f64>| super::percent(value?, baseline_mean);
    let difference = found.map(|found| found.difference);
    let low = found.and_then(|found| finite(found.interval.low));
    let high = found.and_then(|found| finite(found.interval.high));
    let hodges_lehmann = found.map(|found| found.hodges_lehmann);
    let bca = found.and_then(|found| found.bca);
    SampledMetric {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        better: metric.better,
        baseline_runs: baseline.len(),
        candidate_runs: candidate.len(),
        baseline_mean,
        candidate_mean: average(candidate),
        difference,
        low,
        high,
        bca_low: bca.and_then(|bca| finite(bca.low)),
        bca_high: bca.and_then(|bca| finite(bca.high)),
        hodges_lehmann,
        difference_percent: percent(difference),
        low_percent: percent(low),
        high_percent: percent(high),
        hodges_lehmann_percent: percent(hodges_lehmann),
        p: found.map(|found| found.p_value),
        p_holm: None,
        detectable: None,
        detectable_percent: None,
        order: found.map(|found| found.order),
        exact: found.map(|found| found.exact),
        drift: found.and_then(|found| found.drift),
        verdict: None,
        reason: None,
        notes: found.and_then(|found| drift_note(found, baseline_mean)).into_iter().collect(),
    }
}

/// Verdicts, once it is known how many metrics are tested.
fn judge(rows: &mut [(SampledMetric, Role, Option<Estimate>)]) {
    let tested = |row: &(SampledMetric, Role, Option<Estimate>)| row.1 == Role::Tested;
    let p_values: Vec<f64> =
        rows.iter().filter(|row| tested(row)).filter_map(|row| row.0.p).collect();
    let family = p_values.len();
    let mut adjusted = holm(&p_values).into_iter();
    for (row, role, found) in rows.iter_mut() {
        if *role == Role::Described {
            continue;
        }
        let Some(found) = found else {
            row.verdict = Some(Verdict::Undecided);
            row.reason = Some("a single run tells nothing of the noise".to_owned());
            continue;
        };
        let p_holm = adjusted.next().unwrap_or(1.0);
        row.p_holm = Some(p_holm);
        // Even if no other metric differed, this one would have to reach a level so small.
        let level = ALPHA / family as f64;
        row.detectable = detectable(found.design, found.deviation, level, super::POWER)
            .filter(|least| least.is_finite());
        row.detectable_percent =
            row.detectable.and_then(|least| super::percent(least, row.baseline_mean));
        let reason = refusal(found, family);
        row.verdict = Some(if reason.is_some() {
            Verdict::Undecided
        } else if p_holm <= ALPHA && !found.interval.contains(0.0) {
            verdict(found.difference, row.better)
        } else if found.difference == 0.0 && found.deviation == 0.0 {
            Verdict::Equal
        } else {
            Verdict::NoDetectableDifference
        });
        row.reason = reason;
    }
}

/// Why the runs, whatever their values, allow no verdict.
fn refusal(found: &Estimate, family: usize) -> Option<String> {
    let least = attainable(found.design);
    let (count, what) = match found.design {
        Design::Paired(pairs) => (format!("{pairs} pairs"), "pairs"),
        Design::Unpaired(first, second) => (format!("{first} and {second} runs"), "runs of each"),
    };
    let needed = |level: f64| fewest_runs(found.design, level);
    if least > ALPHA {
        return Some(format!(
            "{count} can never be significant, since their smallest two-sided p-value is {least:.3}; \
             it takes at least {} {what}, and {} among {family} metrics",
            needed(ALPHA),
            needed(ALPHA / family as f64)
        ));
    }
    if least * family as f64 > ALPHA {
        return Some(format!(
            "{count} can never be significant among {family} metrics, since their smallest \
             two-sided p-value is {least:.4}; name the metric that matters beforehand (--metric), \
             or run at least {} {what}",
            needed(ALPHA / family as f64)
        ));
    }
    found.refusal.map(|refusal| match refusal {
        Refusal::Blocks => {
            "one governor ran before the other, so a change of the machine would look \
                            the same as a difference; run them in turn"
                .to_owned()
        }
        Refusal::Drift => "the runs drift and are not in pairs that would cancel it; run the \
                           governors in turn"
            .to_owned(),
    })
}

fn drift_note(found: &Estimate, baseline_mean: f64) -> Option<String> {
    let drift = found.drift?;
    let by = match super::percent(drift.slope, baseline_mean) {
        Some(percent) => format!("{percent:+.2} %"),
        None => format!("{:+.4}", drift.slope),
    };
    let handled =
        if drift.subtracted { "; it is taken out of the differences of the pairs" } else { "" };
    Some(format!("drifts by {by} a run (Mann-Kendall, p {}){handled}", p_value(drift.p_value)))
}

/// Outliers and modes of one governor's runs.
fn oddities(
    runs: &[Valued<'_>],
    side: &str,
    nulls: &mut BTreeMap<usize, DipNull>,
    seed: u64,
) -> Vec<String> {
    let values: Vec<f64> = runs.iter().map(|(_, run)| run.value).collect();
    let mut notes = Vec::new();
    let far: Vec<String> = outliers(&values)
        .into_iter()
        .filter_map(|at| runs.get(at))
        .map(|(run, value)| {
            format!("iteration {} ({})", run.outcome.iteration, number(value.value))
        })
        .collect();
    if !far.is_empty() {
        notes.push(format!("outlier of the {side}: {}", far.join(", ")));
    }
    if values.len() >= 5 {
        let null =
            nulls.entry(values.len()).or_insert_with(|| DipNull::new(values.len(), DIPS, seed));
        let p = null.p_value(dip(&values));
        if p <= TWO_MODES {
            notes.push(format!(
                "runs of the {side} fall into two groups (dip test, p {p:.3}): look for what \
                 differs between them"
            ));
        }
    }
    notes
}
