// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab simulate`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use idlelab_machine::scenario::{self, Changes};
use idlelab_machine::{Keep, Model, Policy, Run, simulate};
use idlelab_outcome::{Outcome, file};
use idlelab_recording::parquet;
use rayon::prelude::*;
use serde::Serialize;

use crate::cli::{OutcomeFormat, Simulate};
use crate::governor::{self, Ready};
use crate::{Trust, input, output};

/// The JSON document.
#[derive(Serialize)]
struct Report {
    scenario: String,
    description: String,
    platform: String,
    tick_hz: u32,
    mhz: Option<u32>,
    seed: u64,
    runs: u32,
    outcomes: Vec<Outcome>,
    failures: Vec<String>,
}

pub(crate) fn run(arguments: &Simulate) -> Result<Trust> {
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let changes = Changes {
        platform: arguments.platform.as_deref().map(input::platform).transpose()?,
        duration: arguments.seconds,
        rate: arguments.hz,
        parameters: arguments.set.clone(),
    };
    let model = model(&arguments.scenario, &changes)?;
    let governors = governor::ready(&arguments.governors, model.rate)?;
    let keeps = arguments.recording.is_some() || arguments.trace.is_some();
    let jobs: Vec<(usize, u32)> = (0..governors.len())
        .flat_map(|governor| (0..arguments.runs).map(move |iteration| (governor, iteration)))
        .collect();
    let runs = jobs
        .par_iter()
        .map(|&(number, iteration)| {
            let Some(governor) = governors.get(number) else { bail!("no governor was given") };
            let keep = if keeps && (number, iteration) == (0, 0) {
                Keep::Recording
            } else {
                Keep::Outcome
            };
            let seed = arguments.seed.wrapping_add(u64::from(iteration));
            let mut run = one(&model, governor, seed, keep)?;
            run.outcome.iteration = iteration;
            // In turn, as runs on a machine are best taken.
            run.outcome.order = Some(iteration * governors.len() as u32 + number as u32);
            Ok(run)
        })
        .collect::<Result<Vec<Run>>>()?;
    let first = runs.first().and_then(|run| run.recording.as_ref());
    if let (Some(path), Some(recording)) = (&arguments.recording, first) {
        let file = create(path)?;
        parquet::write(recording, file)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    if let (Some(path), Some(recording)) = (&arguments.trace, first) {
        let mut file = BufWriter::new(create(path)?);
        idlelab_machine::write_ftrace(recording, &mut file)
            .and_then(|()| file.flush())
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    let failures: Vec<(String, String)> = governors
        .iter()
        .filter_map(|governor| Some((governor.to_string(), governor.failure()?)))
        .collect();
    let mut outcomes: Vec<Outcome> = runs.into_iter().map(|run| run.outcome).collect();
    outcomes.retain(|outcome| {
        failures.iter().all(|(name, _)| outcome.governor.as_deref() != Some(name))
    });
    let report = Report {
        scenario: model.name.clone(),
        description: model.description.clone(),
        platform: model.platform.name.clone(),
        tick_hz: model.rate.hertz(),
        mhz: (model.mhz != u32::MAX).then_some(model.mhz),
        seed: arguments.seed,
        runs: arguments.runs,
        outcomes,
        failures: failures.into_iter().map(|(_, failure)| failure).collect(),
    };
    let mut out = output::stdout();
    match arguments.format {
        OutcomeFormat::Json => output::write_json(&report, &mut out)?,
        OutcomeFormat::Csv => {
            output::write_csv(file::rows(&report.outcomes, governor::standing), &mut out)?;
        }
        OutcomeFormat::Parquet => {
            let mut whole = Vec::new();
            file::write_parquet(file::rows(&report.outcomes, governor::standing), &mut whole)?;
            out.write_all(&whole)?;
            out.flush()?;
        }
        OutcomeFormat::Text => text(&report, &model, &mut out)?,
    }
    report.failures.iter().for_each(|failure| eprintln!("idlelab: {failure}"));
    Ok(if report.failures.is_empty() { Trust::Sound } else { Trust::GovernorFailed })
}

/// One run of one governor.
pub(crate) fn one(model: &Model, governor: &Ready, seed: u64, keep: Keep) -> Result<Run> {
    let name = governor.to_string();
    let build = |cpu| governor.build(cpu, model.rate);
    let policy = match governor.name() {
        Some(name) => Policy::Named(name),
        None => Policy::Foreign { name: &name, build: &build },
    };
    Ok(simulate(model, policy, seed, keep)?)
}

/// A built-in scenario, or a file.
fn model(given: &str, changes: &Changes) -> Result<Model> {
    if let Some(text) = scenario::embedded_text(given) {
        return Ok(scenario::read(&format!("{given}.toml"), text, changes)?);
    }
    if !Path::new(given).exists() {
        bail!(
            "{given}: no built-in scenario and no file is called so; built in are {}",
            scenario::names().collect::<Vec<_>>().join(", ")
        );
    }
    let text = fs::read_to_string(given).with_context(|| format!("{given}: cannot be read"))?;
    Ok(scenario::read(given, &text, changes)?)
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("{}: cannot be created", path.display()))
}

fn text(report: &Report, model: &Model, out: &mut impl Write) -> Result<()> {
    writeln!(out, "scenario    {}: {}", report.scenario, report.description)?;
    let frequency = report.mhz.map_or_else(String::new, |mhz| format!(", {mhz} MHz"));
    writeln!(
        out,
        "platform    {}, {} Hz, {} CPUs{frequency}",
        report.platform,
        report.tick_hz,
        model.cpus.len()
    )?;
    let seconds = model.duration.get() as f64 * 1e-9;
    writeln!(
        out,
        "runs        {} of each governor, {seconds} s each, seeds from {}; all governors see the \
         same draws",
        report.runs, report.seed
    )?;
    writeln!(out, "note        a model's figures: docs/realism.md says what it leaves out\n")?;
    out.write_all(idlelab_evidence::plain_text(&report.outcomes).as_bytes())?;
    out.flush()?;
    Ok(())
}
