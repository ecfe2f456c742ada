// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab count`: counter snapshots, before and after.

use std::io::Write;

use anyhow::{Context, Result};
use idlelab_evidence::{Counted, Cpus, count_rows, count_text};
use idlelab_outcome::Outcome;
use idlelab_outcome::count::{Count, Finding, Table, between, since_start};
use idlelab_states::Nanoseconds;
use serde::Serialize;

use crate::cli::{self, Format, Pair};
use crate::{Trust, input, output};

/// The JSON document. docs/counters.md describes every member.
#[derive(Serialize)]
struct Report<'a> {
    counts: Vec<CountJson<'a>>,
}

#[derive(Serialize)]
struct CountJson<'a> {
    label: &'a str,
    before: Option<&'a str>,
    after: &'a str,
    window_ns: Option<i64>,
    states: Vec<TableJson<'a>>,
    findings: Vec<FindingJson>,
    outcome: &'a Outcome,
}

/// Idle states of some CPUs.
#[derive(Serialize)]
struct TableJson<'a> {
    cpus: String,
    states: Vec<StateJson<'a>>,
}

#[derive(Serialize)]
struct StateJson<'a> {
    name: &'a str,
    exit_latency_ns: Option<i64>,
    target_residency_ns: Option<i64>,
}

#[derive(Serialize)]
struct FindingJson {
    code: &'static str,
    cpus: String,
    text: String,
}

pub(crate) fn run(arguments: &cli::Count) -> Result<Trust> {
    let pairs = arguments.pairs().unwrap_or_else(|error| error.exit());
    let counts = pairs.iter().map(count).collect::<Result<Vec<Count>>>()?;
    let labels = labels(&pairs);
    let counted: Vec<Counted<'_>> = pairs
        .iter()
        .zip(&counts)
        .zip(&labels)
        .map(|((pair, count), label)| Counted {
            label,
            before: pair.before,
            after: pair.after,
            count,
        })
        .collect();
    let cpus = if arguments.per_cpu { Cpus::Each } else { Cpus::Sum };
    match arguments.output.format {
        Format::Json => {
            output::json(&Report { counts: counted.iter().map(CountJson::from).collect() })?;
        }
        Format::Csv => {
            for count in &counted {
                let findings = count.count.findings.iter();
                findings.for_each(|finding| eprintln!("idlelab: {}: {finding}", count.label));
            }
            output::csv(count_rows(&counted, cpus))?;
        }
        Format::Text => {
            let mut out = output::stdout();
            out.write_all(count_text(&counted, cpus).as_bytes())?;
            out.flush()?;
        }
    }
    let sound = counts.iter().all(Count::is_sound);
    Ok(if sound { Trust::Sound } else { Trust::SelfCheckFailed })
}

fn count(pair: &Pair<'_>) -> Result<Count> {
    let after = || input::snapshot(pair.after);
    match pair.before {
        None => since_start(&after()?).with_context(|| pair.after.to_owned()),
        Some(before) => between(&input::snapshot(before)?, &after()?, pair.window)
            .with_context(|| format!("{before} and {}", pair.after)),
    }
}

/// A short name for each pair: what its two names begin with in common, such as `teo` of
/// `teo.before` and `teo.after`. If that leaves any pair without a name of its own, numbers.
fn labels(pairs: &[Pair<'_>]) -> Vec<String> {
    let names: Vec<String> = pairs.iter().map(common_name).collect();
    let unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    if names.iter().all(|name| !name.is_empty() && unique(name)) {
        return names;
    }
    (1..=pairs.len()).map(|number| format!("pair {number}")).collect()
}

fn common_name(pair: &Pair<'_>) -> String {
    let before = pair.before.unwrap_or(pair.after);
    let common: String = before
        .chars()
        .zip(pair.after.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a)
        .collect();
    let common = common.trim_end_matches(|c: char| !c.is_alphanumeric());
    common.rsplit('/').next().unwrap_or_default().to_owned()
}

impl<'a> From<&Counted<'a>> for CountJson<'a> {
    fn from(counted: &Counted<'a>) -> Self {
        let count = counted.count;
        Self {
            label: counted.label,
            before: counted.before,
            after: counted.after,
            window_ns: count.window.map(Nanoseconds::get),
            states: count.tables.iter().map(TableJson::from).collect(),
            findings: count.findings.iter().map(FindingJson::from).collect(),
            outcome: &count.outcome,
        }
    }
}

impl<'a> From<&'a Table> for TableJson<'a> {
    fn from(table: &'a Table) -> Self {
        let states = table.states.iter().map(|state| StateJson {
            name: &state.name,
            exit_latency_ns: state.exit_latency.map(Nanoseconds::get),
            target_residency_ns: state.target_residency.map(Nanoseconds::get),
        });
        Self { cpus: table.cpus.to_string(), states: states.collect() }
    }
}

impl From<&Finding> for FindingJson {
    fn from(finding: &Finding) -> Self {
        Self {
            code: finding.kind.code(),
            cpus: finding.cpus.to_string(),
            text: finding.to_string(),
        }
    }
}
