// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab explain`: why that state?

use std::io::Write;

use anyhow::{Result, anyhow, bail};
use idlelab_governors::Metric;
use idlelab_governors::reason::Reason;
use idlelab_replay::{Explanation, Prepared};
use idlelab_states::{CpuId, Nanoseconds, Tick};

use crate::cli::Explain;
use crate::commands::replay::prepare;
use crate::governor::{self, Ready};
use crate::{Trust, output};

pub(crate) fn run(arguments: &Explain) -> Result<Trust> {
    let (_, _, prepared) = prepare(arguments.recording.as_deref(), &arguments.machine)?;
    let rate = prepared.tick_rate();
    let differing = governor::ready(&arguments.first_difference, rate)?;
    let asked = governor::ready(&arguments.governors, rate)?;
    let explanations = match (&differing[..], arguments.cpu, arguments.at) {
        ([a, b], _, _) => {
            let Some((a, b)) = prepared.first_difference(a.candidate(), b.candidate()) else {
                println!("{a} and {b} never choose differently on this recording");
                return Ok(Trust::Sound);
            };
            vec![a, b]
        }
        (_, Some(cpu), Some(at)) => asked
            .iter()
            .map(|governor| {
                prepared
                    .explain(governor.candidate(), CpuId(cpu), at)
                    .ok_or_else(|| anyhow!("cpu{cpu} has no idle period in this recording"))
            })
            .collect::<Result<_>>()?,
        _ => bail!("give --cpu and --at, or --first-difference A,B"),
    };
    if let Some(failure) = asked.iter().chain(&differing).find_map(Ready::failure) {
        bail!(failure);
    }
    let mut out = output::stdout();
    for (number, explanation) in explanations.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        explain(&mut out, explanation, &prepared)?;
    }
    out.flush()?;
    Ok(Trust::Sound)
}

fn explain(out: &mut impl Write, decision: &Explanation, prepared: &Prepared) -> Result<()> {
    let seconds = decision.time.get() as f64 * 1e-9;
    writeln!(out, "{} on {} at {seconds:.9} s", decision.governor, decision.cpu)?;
    writeln!(
        out,
        "  told     latency limit {}, tick {} ({}), last idle period {}",
        duration(decision.latency_limit),
        match decision.tick {
            Tick::Running => "running",
            Tick::Stopped => "stopped",
        },
        prepared.tick_rate(),
        duration(decision.last_residency)
    )?;
    match decision.sleep_length {
        Some(told) => writeln!(
            out,
            "           sleep length {}, next event with the tick counted in {}",
            duration(told.sleep),
            duration(told.delta_tick)
        )?,
        None => writeln!(out, "           it did not ask for the sleep length")?,
    }
    metrics(out, decision)?;
    let mut label = "because";
    for (number, reason) in decision.reasons.iter().enumerate() {
        // Of all states that fit, the deepest says it.
        let next = decision.reasons.get(number + 1);
        if matches!((reason, next), (Reason::Fits(_), Some(Reason::Fits(_)))) {
            continue;
        }
        writeln!(out, "  {label:<9}{reason}")?;
        label = "";
    }
    let state = &decision.states[decision.state];
    writeln!(
        out,
        "  chose    state {} {} (latency {}, residency {}), {} the tick",
        decision.state,
        state.name,
        duration(state.exit_latency),
        duration(state.target_residency),
        if decision.stop_tick { "stop" } else { "keep" }
    )?;
    Ok(())
}

/// Figures of the whole CPU on one line, those that have an index in a row each.
fn metrics(out: &mut impl Write, decision: &Explanation) -> Result<()> {
    let (indexed, whole): (Vec<&Metric>, Vec<&Metric>) =
        decision.metrics.iter().partition(|metric| metric.index.is_some());
    let mut label = "metrics";
    for metrics in whole.chunks(4) {
        let line: Vec<String> = metrics
            .iter()
            .map(|metric| format!("{} {}", metric.name, value(metric.value)))
            .collect();
        writeln!(out, "  {label:<9}{}", line.join(", "))?;
        label = "";
    }
    let mut names: Vec<&str> = Vec::new();
    for metric in &indexed {
        if !names.contains(&metric.name) {
            names.push(metric.name);
        }
    }
    for name in names {
        let of_name = indexed.iter().filter(|metric| metric.name == name);
        let values: Vec<String> = of_name.map(|metric| value(metric.value)).collect();
        writeln!(out, "  {label:<9}{name} [{}]", values.join(","))?;
        label = "";
    }
    Ok(())
}

/// Where kernels write the largest number they mean that there is none.
fn value(value: i64) -> String {
    if value == i64::MAX { "max".to_owned() } else { value.to_string() }
}

fn duration(time: Nanoseconds) -> String {
    match time.get() {
        i64::MAX => "for ever".to_owned(),
        time if time.abs() >= 1_000_000_000 => format!("{:.3} s", time as f64 * 1e-9),
        time => format!("{:.3} us", time as f64 * 1e-3),
    }
}
