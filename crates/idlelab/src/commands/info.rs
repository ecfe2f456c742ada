// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab info`: what a recording holds.

use std::io::Write;

use anyhow::Result;
use idlelab_recording::{CpuRecording, Note, Recording, WakeCauses, WhatFollowed};
use idlelab_states::{MAX_STATES, TickRate};
use serde::Serialize;

use crate::cli::{Format, Info};
use crate::{Trust, input, output};

#[derive(Serialize)]
struct Summary {
    recording: String,
    fidelity: u8,
    machine: Option<String>,
    governor: Option<String>,
    clock: Option<String>,
    tick_hz: Option<u32>,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    periods: usize,
    decisions: usize,
    cpus: Vec<CpuSummary>,
    notes: Vec<NoteSummary>,
}

/// One note.
#[derive(Serialize)]
struct NoteSummary {
    severity: String,
    /// The word that stands for the kind in recordings' files.
    kind: &'static str,
    cpu: Option<u32>,
    count: u64,
    text: String,
}

impl From<&Note> for NoteSummary {
    fn from(note: &Note) -> Self {
        Self {
            severity: note.kind.severity().to_string(),
            kind: note.kind.name(),
            cpu: note.cpu.map(|cpu| cpu.0),
            count: note.count,
            text: note.to_string(),
        }
    }
}

#[derive(Serialize)]
struct CpuSummary {
    #[serde(flatten)]
    counts: Counts,
    /// Entries into each state.
    entries: Vec<usize>,
}

/// One CPU's idle periods, and how many of them each cause ended. A period may have several.
#[derive(Default, Serialize)]
struct Counts {
    cpu: u32,
    periods: usize,
    idle_ns: i64,
    tick: usize,
    wheel_timer: usize,
    hrtimer: usize,
    interrupt: usize,
    ipi: usize,
    unknown: usize,
    task_followed: usize,
    decisions: usize,
}

pub(crate) fn run(arguments: &Info) -> Result<Trust> {
    let recording = input::recording(Some(&arguments.recording))?;
    let summary = Summary {
        recording: recording.source.clone(),
        fidelity: recording.fidelity.level(),
        machine: recording.machine.as_ref().map(|machine| machine.name.clone()),
        governor: recording.governor.clone(),
        clock: recording.clock.clone(),
        tick_hz: recording.tick_rate.map(TickRate::hertz),
        first_ns: recording.span.map(|(first, _)| first.get()),
        last_ns: recording.span.map(|(_, last)| last.get()),
        periods: recording.periods(),
        decisions: recording.complete_decisions(),
        cpus: recording.cpus.iter().map(summarise).collect(),
        notes: recording.notes.iter().map(NoteSummary::from).collect(),
    };
    match arguments.output.format {
        Format::Json => output::json(&summary)?,
        Format::Csv => output::csv(summary.cpus.iter().map(|cpu| &cpu.counts))?,
        Format::Text => text(&recording, &summary)?,
    }
    Ok(Trust::Sound)
}

fn summarise(cpu: &CpuRecording) -> CpuSummary {
    let mut counts = Counts {
        cpu: cpu.cpu.0,
        periods: cpu.periods.len(),
        decisions: cpu.decisions.len(),
        ..Counts::default()
    };
    let mut entries = vec![0; MAX_STATES];
    for period in cpu.periods.iter() {
        if let Some(count) = entries.get_mut(period.state.get()) {
            *count += 1;
        }
        counts.idle_ns += (period.exit - period.enter).get();
        let causes = period.causes;
        counts.tick += usize::from(causes.contains(WakeCauses::TICK));
        counts.wheel_timer += usize::from(causes.contains(WakeCauses::WHEEL_TIMER));
        counts.hrtimer += usize::from(causes.contains(WakeCauses::HRTIMER));
        counts.interrupt += usize::from(causes.contains(WakeCauses::INTERRUPT));
        counts.ipi += usize::from(causes.contains(WakeCauses::IPI));
        counts.unknown += usize::from(causes.is_empty());
        counts.task_followed += usize::from(period.followed_by == WhatFollowed::Task);
    }
    entries.truncate(entries.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1));
    CpuSummary { counts, entries }
}

fn text(recording: &Recording, summary: &Summary) -> Result<()> {
    let mut out = output::stdout();
    writeln!(out, "recording  {}", recording.source)?;
    writeln!(out, "fidelity   {}", recording.fidelity)?;
    if let Some((first, last)) = recording.span {
        let seconds = |time: i64| time as f64 * 1e-9;
        let (first, last) = (first.get(), last.get());
        writeln!(
            out,
            "time       {:.6} to {:.6} s ({:.3} s)",
            seconds(first),
            seconds(last),
            seconds(last - first)
        )?;
    }
    writeln!(out, "clock      {}", summary.clock.as_deref().unwrap_or("not recorded"))?;
    let machine = summary.machine.as_deref();
    writeln!(out, "machine    {}", machine.unwrap_or("not recorded; give it with --states"))?;
    let governor = summary.governor.as_deref().unwrap_or("not recorded");
    writeln!(out, "governor   {governor}, {} whole decisions", summary.decisions)?;
    match recording.tick_rate {
        Some(rate) => {
            let source = recording.circumstances.tick_rate_source.as_deref();
            let source = source.unwrap_or("the tick's own timer");
            writeln!(out, "tick       {rate}, by {source}")?;
        }
        None => writeln!(out, "tick       not recorded")?,
    }
    if let Some(kernel) = &recording.circumstances.kernel {
        writeln!(out, "kernel     {kernel}")?;
    }
    for holder in &recording.circumstances.latency_holders {
        writeln!(out, "latency    {holder}")?;
    }
    writeln!(out, "\nIdle periods by CPU and what ended them (a period may have several causes)")?;
    writeln!(
        out,
        "{:<6}{:>9}{:>11}{:>8}{:>8}{:>9}{:>8}{:>8}{:>9}  entries by state",
        "cpu", "periods", "idle s", "tick", "wheel", "hrtimer", "irq", "ipi", "unknown"
    )?;
    for CpuSummary { counts: cpu, entries } in &summary.cpus {
        let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
        writeln!(
            out,
            "{:<6}{:>9}{:>11.3}{:>8}{:>8}{:>9}{:>8}{:>8}{:>9}  {}",
            cpu.cpu,
            cpu.periods,
            cpu.idle_ns as f64 * 1e-9,
            cpu.tick,
            cpu.wheel_timer,
            cpu.hrtimer,
            cpu.interrupt,
            cpu.ipi,
            cpu.unknown,
            entries.join("/")
        )?;
    }
    let notes = output::summarise(&recording.notes);
    if !notes.is_empty() {
        writeln!(out, "\nNotes")?;
        for note in notes {
            writeln!(out, "  {note}")?;
        }
    }
    out.flush()?;
    Ok(())
}
