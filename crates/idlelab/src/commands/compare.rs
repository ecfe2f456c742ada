// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab compare`: outcomes of governors, with a verdict.

use std::io::Write;

use anyhow::Result;
use idlelab_evidence::statistics::Resampling;
use idlelab_evidence::style::Style;
use idlelab_evidence::{
    By, Comparison, Metrics, Question, ReplayedMetric, SampledMetric, Sourced, Verdict, compare,
    comparisons_text, for_table, mark,
};
use idlelab_governors::catalog;
use idlelab_outcome::Bench;
use serde::Serialize;

use crate::cli::{self, Format};
use crate::{Trust, governor, input, output};

/// The JSON document. docs/compare.md describes every member.
#[derive(Serialize)]
struct Report {
    seed: u64,
    draws: usize,
    exact_up_to: usize,
    comparisons: Vec<Comparison>,
}

/// One metric of one comparison. What only runs or only replays have is empty for the others.
#[derive(Serialize)]
struct Row<'a> {
    workload: Option<&'a str>,
    platform: Option<&'a str>,
    baseline: &'a str,
    candidate: &'a str,
    name: &'a str,
    unit: &'a str,
    verdict: Option<Verdict>,
    reason: Option<&'a str>,
    baseline_runs: usize,
    candidate_runs: usize,
    baseline_mean: f64,
    candidate_mean: f64,
    difference: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    difference_percent: Option<f64>,
    low_percent: Option<f64>,
    high_percent: Option<f64>,
    hodges_lehmann: Option<f64>,
    p: Option<f64>,
    p_holm: Option<f64>,
    detectable: Option<f64>,
    detectable_percent: Option<f64>,
    cpus_lower: Option<usize>,
    cpus_equal: Option<usize>,
    cpus_higher: Option<usize>,
    notes: String,
}

pub(crate) fn run(arguments: &cli::Compare) -> Result<Trust> {
    let resampling = Resampling { seed: arguments.seed, ..Resampling::default() };
    let question = Question {
        by: arguments.by.map(By::from),
        baseline: arguments.baseline.clone(),
        metrics: arguments.metric.clone(),
        resampling,
    };
    let runs = input::outcomes(&arguments.outcomes)?;
    let comparisons = compare(&runs, &question)?;
    let caveats = caveats(&runs);
    if arguments.output.format != Format::Text {
        caveats.iter().for_each(|caveat| eprintln!("idlelab: {caveat}"));
    }
    match arguments.output.format {
        Format::Json => output::json(&Report {
            seed: resampling.seed,
            draws: resampling.draws,
            exact_up_to: resampling.exact_up_to,
            comparisons,
        })?,
        Format::Csv => output::csv(comparisons.iter().flat_map(rows))?,
        Format::Text => {
            let mut out = output::stdout();
            let text = match arguments.style {
                None => comparisons_text(&comparisons, resampling),
                Some(style) => {
                    Style::from(style).print(&for_table(&runs, &question), &mark(&comparisons))
                }
            };
            out.write_all(text.as_bytes())?;
            for caveat in caveats {
                writeln!(out, "\nNote: {caveat}.")?;
            }
            out.flush()?;
        }
    }
    Ok(Trust::Sound)
}

/// What must be said of governors that idlelab replayed.
fn caveats(runs: &[Sourced]) -> Vec<String> {
    let mut caveats = Vec::new();
    for outcome in runs.iter().map(|run| &run.outcome) {
        let name = outcome.governor.as_deref().filter(|_| outcome.bench == Bench::Replay);
        let name = name.and_then(|name| catalog::find(name).ok());
        caveats.extend(name.and_then(governor::caveat).filter(|caveat| !caveats.contains(caveat)));
    }
    caveats
}

fn rows(comparison: &Comparison) -> Vec<Row<'_>> {
    match &comparison.metrics {
        Metrics::Sampling(rows) => rows.iter().map(|row| sampled(comparison, row)).collect(),
        Metrics::Recordings(rows) => rows.iter().map(|row| replayed(comparison, row)).collect(),
    }
}

fn sampled<'a>(comparison: &'a Comparison, row: &'a SampledMetric) -> Row<'a> {
    Row {
        workload: comparison.workload.as_deref(),
        platform: comparison.platform.as_deref(),
        baseline: &comparison.baseline,
        candidate: &comparison.candidate,
        name: &row.name,
        unit: &row.unit,
        verdict: row.verdict,
        reason: row.reason.as_deref(),
        baseline_runs: row.baseline_runs,
        candidate_runs: row.candidate_runs,
        baseline_mean: row.baseline_mean,
        candidate_mean: row.candidate_mean,
        difference: row.difference,
        low: row.low,
        high: row.high,
        difference_percent: row.difference_percent,
        low_percent: row.low_percent,
        high_percent: row.high_percent,
        hodges_lehmann: row.hodges_lehmann,
        p: row.p,
        p_holm: row.p_holm,
        detectable: row.detectable,
        detectable_percent: row.detectable_percent,
        cpus_lower: None,
        cpus_equal: None,
        cpus_higher: None,
        notes: row.notes.join("; "),
    }
}

/// The ends are those of the replays, not of an interval.
fn replayed<'a>(comparison: &'a Comparison, row: &'a ReplayedMetric) -> Row<'a> {
    Row {
        workload: comparison.workload.as_deref(),
        platform: comparison.platform.as_deref(),
        baseline: &comparison.baseline,
        candidate: &comparison.candidate,
        name: &row.name,
        unit: &row.unit,
        verdict: Some(row.verdict),
        reason: None,
        baseline_runs: row.replays,
        candidate_runs: row.replays,
        baseline_mean: row.baseline_mean,
        candidate_mean: row.candidate_mean,
        difference: Some(row.difference),
        low: Some(row.lowest),
        high: Some(row.highest),
        difference_percent: row.difference_percent,
        low_percent: row.lowest_percent,
        high_percent: row.highest_percent,
        hodges_lehmann: None,
        p: None,
        p_holm: None,
        detectable: None,
        detectable_percent: None,
        cpus_lower: Some(row.cpus_lower),
        cpus_equal: Some(row.cpus_equal),
        cpus_higher: Some(row.cpus_higher),
        notes: String::new(),
    }
}

impl From<cli::By> for By {
    fn from(by: cli::By) -> Self {
        match by {
            cli::By::Governor => Self::Governor,
            cli::By::File => Self::File,
        }
    }
}
