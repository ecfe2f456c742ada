// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab plan`: how many runs it takes to see a difference.

use std::io::Write;

use anyhow::Result;
use idlelab_evidence::{Plan, PlanQuestion, plan, plans_text};
use serde::Serialize;

use crate::cli::{self, Format};
use crate::{Trust, input, output};

/// The JSON document.
#[derive(Serialize)]
struct Report {
    difference_percent: f64,
    power: f64,
    runs: Option<usize>,
    plans: Vec<Plan>,
}

/// One metric of one plan.
#[derive(Serialize)]
struct Row<'a> {
    workload: Option<&'a str>,
    platform: Option<&'a str>,
    baseline: &'a str,
    candidate: Option<&'a str>,
    pairs: bool,
    tested: usize,
    name: &'a str,
    unit: &'a str,
    pilot: usize,
    mean: f64,
    noise_percent: f64,
    noise_limit_percent: f64,
    runs: Option<usize>,
    runs_limit: Option<usize>,
    detectable_percent: Option<f64>,
    detectable_limit_percent: Option<f64>,
}

pub(crate) fn run(arguments: &cli::Plan) -> Result<Trust> {
    let question = PlanQuestion {
        metrics: arguments.metric.clone(),
        percent: arguments.difference,
        runs: arguments.runs.map(usize::from),
        power: arguments.power,
    };
    let plans = plan(&input::outcomes(&arguments.pilot)?, &question)?;
    match arguments.output.format {
        Format::Json => output::json(&Report {
            difference_percent: question.percent,
            power: question.power,
            runs: question.runs,
            plans,
        })?,
        Format::Csv => output::csv(plans.iter().flat_map(rows))?,
        Format::Text => {
            let mut out = output::stdout();
            out.write_all(plans_text(&plans, &question).as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Trust::Sound)
}

fn rows(plan: &Plan) -> impl Iterator<Item = Row<'_>> {
    plan.metrics.iter().map(|metric| Row {
        workload: plan.workload.as_deref(),
        platform: plan.platform.as_deref(),
        baseline: &plan.baseline,
        candidate: plan.candidate.as_deref(),
        pairs: plan.pairs,
        tested: plan.tested,
        name: &metric.name,
        unit: &metric.unit,
        pilot: metric.pilot,
        mean: metric.mean,
        noise_percent: metric.noise_percent,
        noise_limit_percent: metric.noise_limit_percent,
        runs: metric.runs,
        runs_limit: metric.runs_limit,
        detectable_percent: metric.detectable_percent,
        detectable_limit_percent: metric.detectable_limit_percent,
    })
}
