// SPDX-License-Identifier: GPL-2.0-or-later
//! How many runs an experiment needs, given the noise of a pilot.

use idlelab_outcome::Bench;
use serde::Serialize;

use crate::compare::{
    ALPHA, CompareError, MOST_RUNS, Role, Run, Sourced, by, check_metrics, cut, distinct, estimate,
    full_name, label, magnitude, metrics, number, or_dash, percent, place,
};
use crate::layout::{lay_out, paragraph};
use crate::statistics::{
    Design, Resampling, detectable, mean, runs_needed, standard_deviation, upper_deviation,
};

/// With which confidence the noise is below the upper limit that is shown.
const CONFIDENCE: f64 = 0.9;

/// What is asked before an experiment.
#[derive(Clone, Debug)]
pub struct PlanQuestion {
    /// The names of the metrics that matter; if empty, all, and then it takes more runs.
    pub metrics: Vec<String>,
    /// The difference to see, in per cent of the baseline's mean; above 0.
    pub percent: f64,
    /// So many runs of each governor: what can they see?
    pub runs: Option<usize>,
    /// With which probability a difference is to be seen; between 0 and 1.
    pub power: f64,
}

/// What runs like the pilot's need and can see.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What ran.
    pub workload: Option<String>,
    /// Where it ran.
    pub platform: Option<String>,
    /// The governor of the pilot, or the one whose mean is 100 %.
    pub baseline: String,
    /// The pilot's other governor, if it has one.
    pub candidate: Option<String>,
    /// Whether the pilot ran in turn, so that its noise is that of pairs; a single governor's is
    /// that of runs.
    pub pairs: bool,
    /// How many metrics Holm's correction will be for.
    pub tested: usize,
    /// Each metric.
    pub metrics: Vec<PlannedMetric>,
}

/// What a metric's noise means for an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedMetric {
    /// What it is.
    pub name: String,
    /// Its unit; empty for counts and joules.
    pub unit: String,
    /// Runs or pairs of the pilot.
    pub pilot: usize,
    /// The baseline's mean.
    pub mean: f64,
    /// The standard deviation of runs, or of the differences of pairs, in per cent of the mean.
    pub noise_percent: f64,
    /// What it may well be: the upper limit at 90 % confidence, for normal noise.
    pub noise_limit_percent: f64,
    /// Runs of each governor to see the difference; null if more than 10,000.
    pub runs: Option<usize>,
    /// The same at the limit of the noise.
    pub runs_limit: Option<usize>,
    /// The smallest difference that the runs asked about can see; null if they cannot see any, or
    /// none were asked about.
    pub detectable_percent: Option<f64>,
    /// The same at the limit of the noise.
    pub detectable_limit_percent: Option<f64>,
}

/// Plans an experiment by the noise of a pilot: by quantiles of Student's t, at the level that a
/// permutation test of so many runs attains and Holm's correction leaves.
///
/// # Errors
///
/// A pilot without noise, or without what was asked for.
pub fn plan(pilot: &[Sourced], question: &PlanQuestion) -> Result<Vec<Plan>, PlanError> {
    if pilot.iter().any(|run| run.outcome.bench == Bench::Replay) {
        return Err(PlanError::Replays);
    }
    check_metrics(pilot, &question.metrics)?;
    let by = by(pilot);
    let mut plans = Vec::new();
    for here in distinct(pilot.iter().map(|run| place(run, false))) {
        let runs: Vec<&Sourced> = pilot.iter().filter(|run| place(run, false) == here).collect();
        let of = |wanted: &str| -> Vec<&Sourced> {
            runs.iter().copied().filter(|run| label(run, by) == wanted).collect()
        };
        let mut labels = distinct(runs.iter().map(|run| label(run, by))).into_iter();
        let Some(baseline) = labels.next() else { continue };
        let before = of(baseline);
        let mut candidates: Vec<Option<&str>> = labels.map(Some).collect();
        if candidates.is_empty() {
            candidates.push(None);
        }
        for candidate in candidates {
            let after = candidate.map_or_else(Vec::new, of);
            if let Some(side) = [&before, &after].into_iter().find(|side| side.len() > MOST_RUNS) {
                let label = baseline.to_owned();
                return Err(CompareError::TooMany { label, count: side.len() }.into());
            }
            let (pairs, metrics) = planned(&before, &after, question);
            if !metrics.is_empty() {
                plans.push(Plan {
                    workload: here.0.map(str::to_owned),
                    platform: here.1.map(str::to_owned),
                    baseline: baseline.to_owned(),
                    candidate: candidate.map(str::to_owned),
                    pairs,
                    tested: metrics.len(),
                    metrics,
                });
            }
        }
    }
    if plans.is_empty() { Err(PlanError::NoNoise) } else { Ok(plans) }
}

/// Why an experiment cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The pilot is a replay.
    #[error(
        "the pilot is a replay, which comes out the same every time: there is no noise to plan for"
    )]
    Replays,
    /// No metric has two runs.
    #[error(
        "no metric of the pilot has two runs of a governor, from which its noise could be told"
    )]
    NoNoise,
    /// As of a comparison.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

/// A metric's noise in a pilot.
struct Noise {
    design: Design,
    deviation: f64,
    freedom: f64,
    mean: f64,
}

fn planned(
    baseline: &[&Sourced],
    candidate: &[&Sourced],
    question: &PlanQuestion,
) -> (bool, Vec<PlannedMetric>) {
    let outcomes: Vec<_> = baseline.iter().chain(candidate).map(|run| &run.outcome).collect();
    let mut noises = Vec::new();
    for (metric, values) in metrics(&outcomes) {
        let wanted = question.metrics.is_empty() || question.metrics.contains(&metric.name);
        if metric.role == Role::Tested && wanted {
            let runs: Vec<Option<Run>> = values
                .iter()
                .zip(&outcomes)
                .map(|(value, outcome)| Some(Run { order: outcome.order, value: (*value)? }))
                .collect();
            let (first, second) = runs.split_at(baseline.len());
            let known = |runs: &[Option<Run>]| runs.iter().flatten().copied().collect::<Vec<_>>();
            noises.extend(noise(&known(first), &known(second)).map(|noise| (metric, noise)));
        }
    }
    let level = ALPHA / noises.len().max(1) as f64;
    let pairs = noises.iter().any(|(_, noise)| matches!(noise.design, Design::Paired(_)));
    let rows = noises.into_iter().filter_map(|(metric, noise)| {
        let noise_percent = percent(noise.deviation, noise.mean)?;
        let noise_limit_percent = upper_deviation(noise_percent, noise.freedom, CONFIDENCE);
        let runs =
            |noisy| runs_needed(noise.design, noisy, question.percent, level, question.power);
        let sees = |noisy| {
            let design = match noise.design {
                Design::Paired(_) => Design::Paired(question.runs?),
                Design::Unpaired(..) => Design::Unpaired(question.runs?, question.runs?),
            };
            detectable(design, noisy, level, question.power)
        };
        Some(PlannedMetric {
            name: metric.name,
            unit: metric.unit,
            pilot: noise.freedom as usize + 1,
            mean: noise.mean,
            noise_percent,
            noise_limit_percent,
            runs: runs(noise_percent),
            runs_limit: runs(noise_limit_percent),
            detectable_percent: sees(noise_percent),
            detectable_limit_percent: sees(noise_limit_percent),
        })
    });
    (pairs, rows.collect())
}

fn noise(baseline: &[Run], candidate: &[Run]) -> Option<Noise> {
    let values: Vec<f64> = baseline.iter().map(|run| run.value).collect();
    let mean = mean(&values);
    if candidate.is_empty() {
        let design = Design::Unpaired(values.len(), values.len());
        let deviation = standard_deviation(&values);
        let freedom = values.len() as f64 - 1.0;
        return (freedom >= 1.0).then_some(Noise { design, deviation, freedom, mean });
    }
    // Of an estimate, only how the runs were paired and their noise are needed.
    let least = Resampling { exact_up_to: 0, draws: 1, seed: 1 };
    let found = estimate(baseline, candidate, ALPHA, least)?;
    let freedom = match found.design {
        Design::Paired(pairs) => pairs as f64 - 1.0,
        Design::Unpaired(first, second) => (first + second) as f64 - 2.0,
    };
    Some(Noise { design: found.design, deviation: found.deviation, freedom, mean })
}

/// Prints plans as plain text.
#[must_use]
pub fn plans_text(plans: &[Plan], question: &PlanQuestion) -> String {
    let parts: Vec<String> = plans.iter().map(|plan| text(plan, question)).collect();
    parts.join("\n")
}

fn text(plan: &Plan, question: &PlanQuestion) -> String {
    let governors = match &plan.candidate {
        Some(candidate) => format!("{candidate} against {}", plan.baseline),
        None => plan.baseline.clone(),
    };
    let places = [&plan.workload, &plan.platform];
    let places = places.into_iter().flatten().map(|place| format!(", {place}"));
    let mut text = paragraph("", 0, &format!("Pilot: {governors}{}", places.collect::<String>()));
    text.push('\n');
    let what = if plan.pairs { "pairs" } else { "runs of each governor" };
    let wanted = magnitude(question.percent);
    for row in &plan.metrics {
        let name = full_name(&row.name, &row.unit);
        let count = |runs: Option<usize>| {
            runs.map_or_else(|| "more than 10000".to_owned(), |runs| runs.to_string())
        };
        let (likely, limit) = (count(row.runs), count(row.runs_limit));
        let mut body = if likely == limit {
            format!("{likely} {what} to see {wanted} %")
        } else {
            format!("{likely} {what} to see {wanted} %; up to {limit}, as far as the pilot tells")
        };
        if let Some(runs) = question.runs {
            body.push_str(&match row.detectable_percent {
                Some(least) => format!(". {runs} see differences from {} % on", magnitude(least)),
                None => format!(". {runs} can never be significant"),
            });
        }
        text.push_str(&paragraph(&cut(&name), 28, &body));
    }
    text.push('\n');
    let columns = ["metric", "mean", "noise%", "at most%", "runs", "at most", "sees%", "at most%"];
    let shown = if question.runs.is_some() { columns.len() } else { columns.len() - 2 };
    text.push_str(&lay_out(
        columns.get(..shown).unwrap_or_default(),
        plan.metrics.iter().map(|row| {
            let mut cells = vec![
                cut(&full_name(&row.name, &row.unit)),
                number(row.mean),
                magnitude(row.noise_percent),
                magnitude(row.noise_limit_percent),
                or_dash(row.runs.map(|runs| runs.to_string())),
                or_dash(row.runs_limit.map(|runs| runs.to_string())),
                or_dash(row.detectable_percent.map(magnitude)),
                or_dash(row.detectable_limit_percent.map(magnitude)),
            ];
            cells.truncate(shown);
            cells
        }),
    ));
    text.push('\n');
    let noise = if plan.pairs {
        "the standard deviation of the pilot's pairs, its runs being in turn"
    } else {
        "the standard deviation of the pilot's runs; run the governors in turn all the same, since \
         pairs cancel drift and need no more runs"
    };
    text.push_str(&paragraph("noise", 12, noise));
    text.push_str(&paragraph(
        "method",
        12,
        &format!(
            "Student's t at the level that a permutation test attains, {:.0} % over {} metric{}, \
             {:.0} % power; `at most` is at the upper limit of the noise with {:.0} % confidence",
            100.0 * ALPHA,
            plan.tested,
            if plan.tested == 1 { "" } else { "s" },
            100.0 * question.power,
            100.0 * CONFIDENCE
        ),
    ));
    text
}
