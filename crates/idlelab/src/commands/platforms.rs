// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab platforms`: the machines that are built in.

use std::io::Write;

use anyhow::Result;
use idlelab_platform::{Platform, embedded};
use idlelab_states::{Availability, IdleState};
use serde::Serialize;

use crate::cli::{Format, Platforms};
use crate::{Trust, input, output};

/// One idle state of one table.
#[derive(Serialize)]
struct StateRow<'a> {
    platform: &'a str,
    table: &'a str,
    cpus: String,
    index: usize,
    name: &'a str,
    exit_latency_us: i64,
    target_residency_us: i64,
    polling: bool,
    timer_stop: bool,
    disabled: Option<&'static str>,
    watts: Option<f64>,
}

/// One machine.
#[derive(Serialize)]
struct PlatformRow<'a> {
    name: &'a str,
    description: &'a str,
    source: &'a str,
    tick_hz: Option<u32>,
    states: Vec<StateRow<'a>>,
}

pub(crate) fn run(arguments: &Platforms) -> Result<Trust> {
    match &arguments.name {
        None => list(arguments.output.format)?,
        Some(name) => show(&input::platform(name)?, arguments.output.format)?,
    }
    Ok(Trust::Sound)
}

fn list(format: Format) -> Result<()> {
    let platforms: Vec<Platform> = embedded::names().filter_map(embedded::get).collect();
    match format {
        Format::Json => output::json(&platforms.iter().map(row).collect::<Vec<_>>()),
        Format::Csv => output::csv(platforms.iter().flat_map(states)),
        Format::Text => {
            let mut out = output::stdout();
            let widest = platforms.iter().map(|platform| platform.name.len()).max().unwrap_or(0);
            for platform in &platforms {
                let tables: Vec<String> = platform
                    .tables()
                    .iter()
                    .map(|table| {
                        table.states.as_slice().iter().map(short).collect::<Vec<_>>().join(" ")
                    })
                    .collect();
                for (index, states) in tables.iter().enumerate() {
                    let name = if index == 0 { platform.name.as_str() } else { "" };
                    writeln!(out, "{name:<widest$}  {states}")?;
                }
            }
            out.flush()?;
            Ok(())
        }
    }
}

fn show(platform: &Platform, format: Format) -> Result<()> {
    match format {
        Format::Json => output::json(&row(platform)),
        Format::Csv => output::csv(states(platform)),
        Format::Text => text(platform),
    }
}

fn text(platform: &Platform) -> Result<()> {
    let mut out = output::stdout();
    writeln!(out, "{}", platform.name)?;
    for line in [&platform.description, &platform.source] {
        if !line.is_empty() {
            writeln!(out, "{line}")?;
        }
    }
    if let Some(rate) = platform.tick_rate {
        writeln!(out, "tick {rate}")?;
    }
    let mut table = None;
    for state in states(platform) {
        if table != Some(state.table) {
            table = Some(state.table);
            writeln!(out, "\ntable {}, cpus {}", state.table, state.cpus)?;
            writeln!(
                out,
                "{:<17}{:>12}{:>14}{:>10}  flags",
                "state", "latency us", "residency us", "watts"
            )?;
        }
        let flags: Vec<&str> = [
            state.polling.then_some("polling"),
            state.timer_stop.then_some("timer-stop"),
            state.disabled,
        ]
        .into_iter()
        .flatten()
        .collect();
        let watts = state.watts.map_or_else(|| "-".to_owned(), |watts| format!("{watts:.3}"));
        let line = format!(
            "{:<2}{:<15}{:>12}{:>14}{:>10}  {}",
            state.index,
            state.name,
            state.exit_latency_us,
            state.target_residency_us,
            watts,
            flags.join(", ")
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()?;
    Ok(())
}

fn row(platform: &Platform) -> PlatformRow<'_> {
    PlatformRow {
        name: &platform.name,
        description: &platform.description,
        source: &platform.source,
        tick_hz: platform.tick_rate.map(idlelab_states::TickRate::hertz),
        states: states(platform),
    }
}

fn states(platform: &Platform) -> Vec<StateRow<'_>> {
    let mut rows = Vec::new();
    for (number, table) in platform.tables().iter().enumerate() {
        let power = platform.power().and_then(|power| power.tables.get(number)?.as_ref());
        for index in table.states.indices() {
            let Some(state) = table.states.as_slice().get(index.get()) else { continue };
            rows.push(StateRow {
                platform: &platform.name,
                table: &table.name,
                cpus: table.cpus.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string),
                index: index.get(),
                name: state.name.as_str(),
                exit_latency_us: state.exit_latency.as_micros(),
                target_residency_us: state.target_residency.as_micros(),
                polling: state.is_polling(),
                timer_stop: state.local_timer == idlelab_states::LocalTimer::Stops,
                disabled: disabled(state),
                watts: power
                    .and_then(|power| power.states[index].as_ref())
                    .map(|power| power.watts.lowest()),
            });
        }
    }
    rows
}

fn disabled(state: &IdleState) -> Option<&'static str> {
    match state.availability {
        Availability::Enabled => None,
        Availability::DisabledByDriver => Some("off by driver"),
        Availability::DisabledByUser => Some("off by user"),
    }
}

fn short(state: &IdleState) -> String {
    let off = if state.is_enabled() { "" } else { "(off)" };
    format!(
        "{} {}/{}{off}",
        state.name,
        state.exit_latency.as_micros(),
        state.target_residency.as_micros()
    )
}
