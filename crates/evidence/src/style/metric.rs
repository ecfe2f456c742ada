// SPDX-License-Identifier: GPL-2.0-or-later
//! What governors are compared by, as rows of numbers.

use idlelab_outcome::{Better, Outcome};

use super::{StateKey, label, per_cent};

/// One metric of each run of each governor.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What it is: `joules`, `idles`, `misses`, a state's name, or a figure's.
    pub name: String,
    /// Its unit; empty for counts and joules.
    pub unit: String,
    /// Which direction is an improvement; none where neither is.
    pub better: Option<Better>,
    /// Each governor by its name, and the values of its runs, in their order; governors that do not
    /// know it are left out.
    pub values: Vec<(String, Vec<f64>)>,
}

/// Whether a difference is beyond the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nobody looked, or there is nothing to look at: one run, or a replay, which has no noise.
    Untested,
    /// It is not told from noise.
    WithinNoise,
    /// It is.
    Significant,
}

/// The metrics that outcomes of one workload have, in the order in which styles print them:
/// figures of the workload, energy, idle periods, misses in per cent of them, and shares of the idle
/// time.
#[must_use]
pub fn metrics(outcomes: &[&Outcome]) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for (name, unit, better) in figures(outcomes) {
        metrics.push(metric(outcomes, &name, &unit, better, |outcome| {
            let mut figures = outcome.figures.iter();
            figures.find(|f| f.name == name && f.unit == unit).map(|figure| figure.value)
        }));
    }
    let lower = Some(Better::Lower);
    metrics.extend([
        metric(outcomes, "joules", "", lower, |outcome| outcome.energy.measured_joules),
        metric(outcomes, "modelled joules", "", lower, |outcome| outcome.energy.modelled_joules),
        metric(outcomes, "idles", "", None, |outcome| outcome.idles.map(|idles| idles as f64)),
        share(outcomes, "misses", |outcome| outcome.misses),
        share(outcomes, "above", |outcome| outcome.above),
        share(outcomes, "below", |outcome| outcome.below),
    ]);
    for key in StateKey::of(outcomes) {
        metrics.push(metric(outcomes, &key.name, "%", None, |outcome| {
            per_cent(key.state(outcome)?.time_ns, outcome.idle_ns())
        }));
    }
    metrics.retain(|metric| !metric.values.is_empty());
    metrics
}

fn share(outcomes: &[&Outcome], name: &str, count: fn(&Outcome) -> Option<u64>) -> Metric {
    metric(outcomes, name, "%", Some(Better::Lower), |outcome| {
        per_cent(count(outcome)?, outcome.idles?)
    })
}

fn metric(
    outcomes: &[&Outcome],
    name: &str,
    unit: &str,
    better: Option<Better>,
    value: impl Fn(&Outcome) -> Option<f64>,
) -> Metric {
    let mut values: Vec<(String, Vec<f64>)> = Vec::new();
    for outcome in outcomes {
        let Some(value) = value(outcome) else { continue };
        let label = label(outcome);
        match values.iter_mut().find(|(known, _)| *known == label) {
            Some((_, values)) => values.push(value),
            None => values.push((label, vec![value])),
        }
    }
    Metric { name: name.to_owned(), unit: unit.to_owned(), better, values }
}

fn figures(outcomes: &[&Outcome]) -> Vec<(String, String, Option<Better>)> {
    let mut figures: Vec<(String, String, Option<Better>)> = Vec::new();
    for figure in outcomes.iter().flat_map(|outcome| &outcome.figures) {
        if !figures.iter().any(|(name, unit, _)| *name == figure.name && *unit == figure.unit) {
            figures.push((figure.name.clone(), figure.unit.clone(), figure.better));
        }
    }
    figures
}

impl Metric {
    /// The values of a governor.
    pub(super) fn of(&self, label: &str) -> Option<&[f64]> {
        self.values.iter().find(|(known, _)| known == label).map(|(_, values)| values.as_slice())
    }
}

/// Workloads, each with its outcomes.
pub(super) fn by_workload(outcomes: &[Outcome]) -> Vec<(Option<&str>, Vec<&Outcome>)> {
    let mut workloads: Vec<(Option<&str>, Vec<&Outcome>)> = Vec::new();
    for outcome in outcomes {
        let workload = outcome.workload.as_deref();
        match workloads.iter_mut().find(|(known, _)| *known == workload) {
            Some((_, group)) => group.push(outcome),
            None => workloads.push((workload, vec![outcome])),
        }
    }
    workloads
}

/// Governors in the order in which they come.
pub(super) fn labels(outcomes: &[&Outcome]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for outcome in outcomes {
        let label = label(outcome);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation of a sample; none of a single value.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}
