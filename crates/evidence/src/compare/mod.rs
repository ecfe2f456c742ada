// SPDX-License-Identifier: GPL-2.0-or-later
//! Is one governor better than another, by how much, and how sure is that?

mod deterministic;
mod estimate;
mod metric;
mod sampled;
mod text;

use idlelab_outcome::{Bench, Better, Outcome};
use serde::Serialize;

pub use deterministic::ReplayedMetric;
pub use estimate::{Drift, Estimate, Order, Refusal, Run, estimate};
pub use sampled::SampledMetric;
pub use text::{comparisons_text, mark};

pub(crate) use metric::{Role, metrics};
pub(crate) use text::{
    cut, full_name, interval, magnitude, number, or_dash, signed, verdicts, words,
};

use crate::statistics::Resampling;

/// The level of tests; intervals are of 95 %.
pub(crate) const ALPHA: f64 = 0.05;
/// With which probability a difference that is called detectable is detected.
const POWER: f64 = 0.8;
/// The most runs of a governor: every run is compared with every other.
pub(crate) const MOST_RUNS: usize = 2_000;

/// An outcome and the file that it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced {
    /// The file's name.
    pub source: String,
    /// The outcome.
    pub outcome: Outcome,
}

/// By what runs belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By their governor.
    Governor,
    /// By the file that they are from, as of two kernels with the same governor.
    File,
}

/// What is asked of outcomes.
#[derive(Clone, Debug)]
pub struct Question {
    /// By what runs belong together; if none, by their governor where there is more than one.
    pub by: Option<By>,
    /// What the others are compared with; if none, what comes first.
    pub baseline: Option<String>,
    /// The names of the metrics that matter, chosen beforehand; if empty, all.
    pub metrics: Vec<String>,
    /// How much is computed, and from which seed.
    pub resampling: Resampling,
}

/// What a comparison says of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The candidate is better.
    Better,
    /// The candidate is worse.
    Worse,
    /// The candidate has more of it, which is neither better nor worse.
    Higher,
    /// The candidate has less of it.
    Lower,
    /// The difference is not told from noise.
    NoDetectableDifference,
    /// All values are the same.
    Equal,
    /// Replays disagree on the direction, or as many CPUs go one way as the other.
    Mixed,
    /// The runs are too few or in an order from which nothing can be told.
    Undecided,
}

/// A governor against another in one workload on one platform.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What ran.
    pub workload: Option<String>,
    /// Where it ran.
    pub platform: Option<String>,
    /// What the outcomes are from.
    pub bench: Bench,
    /// What is compared with.
    pub baseline: String,
    /// What is compared.
    pub candidate: String,
    /// What came of it.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// The metrics, by what makes them uncertain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "uncertainty", content = "metrics")]
pub enum Metrics {
    /// Chance: another run would come out differently.
    Sampling(Vec<SampledMetric>),
    /// What was recorded: another recording, CPU or fidelity bound would come out differently.
    Recordings(Vec<ReplayedMetric>),
}

/// Why outcomes cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Everything is of one governor and one file.
    #[error(
        "all outcomes are of `{0}`, and a comparison needs two: give outcomes of another governor, \
         or of another file with --by file"
    )]
    Alone(String),
    /// The baseline is not among the outcomes.
    #[error("no outcome is of the baseline `{asked}`; there are {known}")]
    NoBaseline {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// Replays beside measurements.
    #[error(
        "replays have no sampling error and measurements have: they cannot be compared with each \
         other; compare replays with replays and runs with runs"
    )]
    MixedBenches,
    /// No workload was run by the baseline and by another.
    #[error(
        "no workload on one platform has outcomes of both the baseline `{0}` and another; are the \
         names of the workloads the same in all files?"
    )]
    NothingInCommon(String),
    /// No metric of that name.
    #[error("no outcome has a metric `{asked}`; there are {known}")]
    NoMetric {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// More than are compared.
    #[error("{count} runs of `{label}` are more than the {MOST_RUNS} that can be compared")]
    TooMany {
        /// Whose runs.
        label: String,
        /// How many.
        count: usize,
    },
}

/// Compares every governor with the baseline, in each workload on each platform.
///
/// # Errors
///
/// Outcomes that cannot be compared, or of which what was asked for is not there.
pub fn compare(runs: &[Sourced], question: &Question) -> Result<Vec<Comparison>, CompareError> {
    let by = question.by.unwrap_or_else(|| by(runs));
    let labels = distinct(runs.iter().map(|run| label(run, by)));
    let baseline = match &question.baseline {
        Some(asked) => labels.iter().find(|label| **label == asked).copied().ok_or_else(|| {
            CompareError::NoBaseline { asked: asked.clone(), known: labels.join(", ") }
        })?,
        None => labels.first().copied().unwrap_or(UNKNOWN),
    };
    if labels.len() < 2 {
        return Err(CompareError::Alone(baseline.to_owned()));
    }
    let replays = runs.iter().filter(|run| run.outcome.bench == Bench::Replay).count();
    if replays > 0 && replays < runs.len() {
        return Err(CompareError::MixedBenches);
    }
    check_metrics(runs, &question.metrics)?;
    let wanted = |name: &str| {
        question.metrics.is_empty() || question.metrics.iter().any(|wanted| wanted == name)
    };
    let mut comparisons = Vec::new();
    for (workload, platform) in distinct(runs.iter().map(|run| place(run, replays > 0))) {
        let of = |wanted: &str| -> Vec<&Sourced> {
            let here = |run: &&Sourced| place(run, replays > 0) == (workload, platform);
            runs.iter().filter(here).filter(|run| label(run, by) == wanted).collect()
        };
        let before = of(baseline);
        for &candidate in labels.iter().filter(|label| **label != baseline) {
            let after = of(candidate);
            let (Some(first), false) = (before.first(), after.is_empty()) else { continue };
            for (label, runs) in [(baseline, &before), (candidate, &after)] {
                if runs.len() > MOST_RUNS {
                    let label = label.to_owned();
                    return Err(CompareError::TooMany { label, count: runs.len() });
                }
            }
            let metrics = if replays > 0 {
                let pairs = deterministic::pairs(&before, &after, by == By::Governor);
                if pairs.is_empty() {
                    continue;
                }
                Metrics::Recordings(deterministic::compare(&pairs, &wanted))
            } else {
                let rows = sampled::compare(&before, &after, &wanted, question.resampling);
                Metrics::Sampling(rows)
            };
            comparisons.push(Comparison {
                workload: workload.map(str::to_owned),
                platform: platform.map(str::to_owned),
                bench: first.outcome.bench,
                baseline: baseline.to_owned(),
                candidate: candidate.to_owned(),
                metrics,
            });
        }
    }
    if comparisons.is_empty() {
        return Err(CompareError::NothingInCommon(baseline.to_owned()));
    }
    Ok(comparisons)
}

/// The outcomes as tables want them that compare with what comes first: the baseline's first, and
/// each with the name that it has in comparisons for its governor's.
#[must_use]
pub fn for_table(runs: &[Sourced], question: &Question) -> Vec<Outcome> {
    let by = question.by.unwrap_or_else(|| by(runs));
    let mut runs: Vec<&Sourced> = runs.iter().collect();
    if let Some(baseline) = &question.baseline {
        runs.sort_by_key(|run| label(run, by) != baseline);
    }
    let named = |run: &Sourced| Outcome {
        governor: Some(label(run, by).to_owned()),
        ..run.outcome.clone()
    };
    runs.into_iter().map(named).collect()
}

/// What a governor is called that nobody named.
const UNKNOWN: &str = "unknown governor";

/// By governor, unless all have the same.
pub(crate) fn by(runs: &[Sourced]) -> By {
    let governors = distinct(runs.iter().map(|run| run.outcome.governor.as_deref()));
    if governors.len() > 1 { By::Governor } else { By::File }
}

pub(crate) fn label(run: &Sourced, by: By) -> &str {
    match by {
        By::Governor => run.outcome.governor.as_deref().unwrap_or(UNKNOWN),
        By::File => &run.source,
    }
}

/// Where runs must have been to be compared. Replays are matched one by one instead.
pub(crate) fn place(run: &Sourced, replayed: bool) -> (Option<&str>, Option<&str>) {
    let outcome = &run.outcome;
    (outcome.workload.as_deref(), outcome.platform.as_deref().filter(|_| !replayed))
}

pub(crate) fn check_metrics(runs: &[Sourced], asked: &[String]) -> Result<(), CompareError> {
    let found = metrics(&runs.iter().map(|run| &run.outcome).collect::<Vec<_>>());
    let known = distinct(found.iter().map(|(metric, _)| metric.name.as_str()));
    match asked.iter().find(|asked| !known.contains(&asked.as_str())) {
        None => Ok(()),
        Some(asked) => {
            Err(CompareError::NoMetric { asked: asked.clone(), known: known.join(", ") })
        }
    }
}

/// Each once, in the order in which they come.
pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// What a difference that is there means.
fn verdict(difference: f64, better: Option<Better>) -> Verdict {
    match (better, difference > 0.0) {
        (Some(Better::Higher), true) | (Some(Better::Lower), false) => Verdict::Better,
        (Some(Better::Higher), false) | (Some(Better::Lower), true) => Verdict::Worse,
        (None, true) => Verdict::Higher,
        (None, false) => Verdict::Lower,
    }
}

/// A value in per cent of a baseline; none if that is 0.
pub(crate) fn percent(value: f64, baseline: f64) -> Option<f64> {
    let percent = 100.0 * value / baseline.abs();
    percent.is_finite().then_some(percent)
}

#[cfg(test)]
mod tests;
