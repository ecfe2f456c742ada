// SPDX-License-Identifier: GPL-2.0-or-later
//! Replays: the same again gives the same, so there is no sampling error to test against. What is
//! uncertain is whether other recordings, other CPUs or the other fidelity bound would agree.

use idlelab_outcome::{Assumption, Better, CpuOutcome, Outcome};
use serde::Serialize;

use super::metric::{Metric, metrics};
use super::{Sourced, Verdict, verdict};
use crate::statistics::mean;

/// A metric of two governors, replayed. Differences are the candidate's value less the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedMetric {
    /// What it is.
    pub name: String,
    /// Its unit; empty for counts and joules.
    pub unit: String,
    /// Which direction is an improvement.
    pub better: Option<Better>,
    /// Recordings, each with every bound it was replayed under, that both governors have.
    pub replays: usize,
    /// The baseline's mean over them.
    pub baseline_mean: f64,
    /// The candidate's mean over them.
    pub candidate_mean: f64,
    /// The difference of the means.
    pub difference: f64,
    /// The difference in per cent of the baseline's mean; null if that is 0.
    pub difference_percent: Option<f64>,
    /// The least difference of any replay, bounds included.
    pub lowest: f64,
    /// The greatest.
    pub highest: f64,
    /// The least in per cent of that replay's baseline; null if any of these is 0.
    pub lowest_percent: Option<f64>,
    /// The greatest in per cent of that replay's baseline.
    pub highest_percent: Option<f64>,
    /// CPUs, of all replays, on which the candidate is below the baseline.
    pub cpus_lower: usize,
    /// CPUs on which both are the same.
    pub cpus_equal: usize,
    /// CPUs on which the candidate is above the baseline.
    pub cpus_higher: usize,
    /// What all replays and the greater part of the CPUs agree on; mixed if they do not.
    pub verdict: Verdict,
}

/// Replays of the same wakeups by both governors.
type Pair<'a> = (&'a Outcome, &'a Outcome);

/// Matches replays: of the same recording on the same platform, under the same bound.
pub(super) fn pairs<'a>(
    baseline: &[&'a Sourced],
    candidate: &[&'a Sourced],
    same_source: bool,
) -> Vec<Pair<'a>> {
    let key = |run: &'a Sourced| -> (Option<&'a str>, Option<&'a str>, Option<Assumption>) {
        let outcome = &run.outcome;
        (same_source.then_some(&run.source), outcome.platform.as_deref(), outcome.assumption)
    };
    let matching = |run: &&'a Sourced| {
        let other = candidate.iter().find(|other| key(other) == key(run))?;
        Some((&run.outcome, &other.outcome))
    };
    baseline.iter().filter_map(matching).collect()
}

pub(super) fn compare(pairs: &[Pair<'_>], wanted: &dyn Fn(&str) -> bool) -> Vec<ReplayedMetric> {
    let outcomes: Vec<&Outcome> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
    let cpus = cpus(pairs);
    let by_cpu = metrics(&cpus.iter().collect::<Vec<_>>());
    let whole = metrics(&outcomes);
    let rows =
        whole.iter().filter(|(metric, _)| wanted(&metric.name)).filter_map(|(metric, values)| {
            let cpus =
                by_cpu.iter().find(|(other, _)| other == metric).map(|(_, values)| both(values));
            row(metric, &both(values), &cpus.unwrap_or_default())
        });
    rows.collect()
}

fn row(metric: &Metric, replays: &[(f64, f64)], cpus: &[(f64, f64)]) -> Option<ReplayedMetric> {
    if replays.is_empty() {
        return None;
    }
    let (before, after): (Vec<f64>, Vec<f64>) = replays.iter().copied().unzip();
    let differences: Vec<f64> = replays.iter().map(|(before, after)| after - before).collect();
    let percents: Option<Vec<f64>> =
        replays.iter().map(|(before, after)| super::percent(after - before, *before)).collect();
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (lowest, highest) = (least(&differences), greatest(&differences));
    let (baseline_mean, candidate_mean) = (mean(&before), mean(&after));
    let count = |is: fn(&(f64, f64)) -> bool| cpus.iter().filter(|pair| is(pair)).count();
    let cpus_lower = count(|(before, after)| after < before);
    let cpus_higher = count(|(before, after)| after > before);
    let all_higher = lowest > 0.0 && (cpus_higher > cpus_lower || cpus.is_empty());
    let all_lower = highest < 0.0 && (cpus_lower > cpus_higher || cpus.is_empty());
    Some(ReplayedMetric {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        better: metric.better,
        replays: replays.len(),
        baseline_mean,
        candidate_mean,
        difference: candidate_mean - baseline_mean,
        difference_percent: super::percent(candidate_mean - baseline_mean, baseline_mean),
        lowest,
        highest,
        lowest_percent: percents.as_deref().map(least),
        highest_percent: percents.as_deref().map(greatest),
        cpus_lower,
        cpus_equal: count(|(before, after)| after == before),
        cpus_higher,
        verdict: if lowest == 0.0 && highest == 0.0 {
            Verdict::Equal
        } else if all_higher || all_lower {
            verdict(lowest, metric.better)
        } else {
            Verdict::Mixed
        },
    })
}

/// Values of both, where both have one; they lie in turn.
fn both(values: &[Option<f64>]) -> Vec<(f64, f64)> {
    let (pairs, _) = values.as_chunks::<2>();
    pairs.iter().filter_map(|[before, after]| Some(((*before)?, (*after)?))).collect()
}

/// Each CPU as if it were a machine, the baseline's and the candidate's in turn.
fn cpus(pairs: &[Pair<'_>]) -> Vec<Outcome> {
    let alone = |outcome: &Outcome, cpu: &CpuOutcome| {
        let mut alone = Outcome::of_cpus(
            outcome.bench,
            outcome.governor.as_deref(),
            outcome.platform.as_deref(),
            vec![cpu.clone()],
        );
        alone.energy.modelled_joules = cpu.modelled_joules;
        alone
    };
    let mut cpus = Vec::new();
    for (before, after) in pairs {
        for cpu in &before.per_cpu {
            if let Some(other) = after.per_cpu.iter().find(|other| other.cpu == cpu.cpu) {
                cpus.push(alone(before, cpu));
                cpus.push(alone(after, other));
            }
        }
    }
    cpus
}
