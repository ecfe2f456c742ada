// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab replay`.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use idlelab_evidence::style::{Mark, Style};
use idlelab_governors::catalog;
use idlelab_outcome::{Outcome, file};
use idlelab_platform::Platform;
use idlelab_recording::{Fidelity, Recording};
use idlelab_replay::{
    AccountingCheck, Candidate, Divergence, FreeRun, Prepared, RebuiltCheck, WhatIf,
    check_accounting, check_decisions, check_rebuilt_decisions,
};
use serde::Serialize;

use crate::cli::{Machine, OutcomeFormat, Printed, Replay};
use crate::commands::differences::Parting;
use crate::governor::{self, Given, Ready};
use crate::{Trust, input, output};

/// The JSON document. docs/replay-json.md describes every member.
#[derive(Serialize)]
struct Report {
    recording: String,
    fidelity: u8,
    recorded_platform: String,
    platform: String,
    tick_hz: u32,
    self_check: SelfCheck,
    notes: Vec<String>,
    outcomes: Vec<Outcome>,
    differences: Option<Parting>,
    failures: Vec<String>,
}

/// What the replay is worth.
#[derive(Serialize)]
struct SelfCheck {
    governor: Option<String>,
    decisions: Option<u64>,
    reproduced: Option<u64>,
    constant_guess: Option<u64>,
    first_divergence: Option<Divergence>,
    /// Where inputs were not recorded but timers were.
    rebuilt: Option<RebuiltCheck>,
    accounting: Option<AccountingCheck>,
    free_run: Option<FreeRun>,
}

impl SelfCheck {
    fn trust(&self) -> Trust {
        let decided = self.reproduced == self.decisions;
        let accounted = self.accounting.as_ref().is_none_or(AccountingCheck::is_exact);
        if decided && accounted { Trust::Sound } else { Trust::SelfCheckFailed }
    }
}

pub(crate) fn run(arguments: &Replay) -> Result<Trust> {
    arguments.printed.check().unwrap_or_else(|error| error.exit());
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let (recording, recorded, prepared) =
        prepare(arguments.recording.as_deref(), &arguments.machine)?;
    // On the recorded machine the recorded tick rate holds, whatever is asked of the replay.
    let rate = recording.tick_rate.or(recorded.tick_rate).or(arguments.machine.hz);
    let as_recorded = Prepared::new(&recording, &recorded, &WhatIf { rate, ..WhatIf::default() })?;
    let recorded_rate = as_recorded.tick_rate();
    let governor = recorded_governor(arguments, &recording)
        .map(|governor| governor.ready(recorded_rate))
        .transpose()?;
    let governors = governor::ready(&arguments.governors, prepared.tick_rate())?;
    let governor = governor.as_ref();
    let decisions = match governor.filter(|_| recording.fidelity >= Fidelity::Inputs) {
        Some(governor) => {
            Some(check_decisions(&recording, &recorded, recorded_rate, governor.candidate())?)
        }
        None => None,
    };
    let rebuilt = match governor.filter(|_| recording.fidelity == Fidelity::Timers) {
        Some(governor) => {
            let candidate = governor.candidate();
            Some(check_rebuilt_decisions(&recording, &recorded, recorded_rate, candidate)?)
        }
        None => None,
    };
    let free_run = governor.and_then(|governor| {
        // Bounds are no prediction to hold against what was recorded.
        let [replayed] = &as_recorded.run(governor.candidate())[..] else { return None };
        Some(FreeRun::new(&as_recorded.recorded_states(), replayed))
    });
    if let Some(failure) = governor.and_then(Ready::failure) {
        bail!(failure);
    }
    let accounting = check_accounting(&recording, &recorded)?;
    let candidates: Vec<Candidate<'_>> = governors.iter().map(Ready::candidate).collect();
    let mut outcomes = prepared.compare(&candidates);
    let differences = Parting::new(arguments, &governors, &prepared)?;
    let failures: Vec<(String, String)> = governors
        .iter()
        .filter_map(|governor| Some((governor.to_string(), governor.failure()?)))
        .collect();
    outcomes.retain(|outcome| {
        failures.iter().all(|(name, _)| outcome.governor.as_deref() != Some(name))
    });
    let report = Report {
        recording: recording.source.clone(),
        fidelity: recording.fidelity.level(),
        recorded_platform: recorded.name.clone(),
        platform: prepared.platform().name.clone(),
        tick_hz: prepared.tick_rate().hertz(),
        self_check: SelfCheck {
            governor: governor.map(ToString::to_string).or(recording.governor.clone()),
            decisions: decisions.as_ref().map(|check| check.decisions),
            reproduced: decisions.as_ref().map(|check| check.reproduced),
            constant_guess: decisions.as_ref().map(|check| check.constant_guess),
            first_divergence: decisions.and_then(|check| check.first_divergence),
            rebuilt,
            accounting,
            free_run,
        },
        notes: recording
            .notes
            .iter()
            .map(ToString::to_string)
            .chain(reconstructed(&governors))
            .collect(),
        outcomes,
        differences,
        failures: failures.iter().map(|(_, failure)| failure.clone()).collect(),
    };
    let printed = Printing { report: &report, recording: &recording, governors: &governors };
    match &arguments.printed.output {
        None => printed.print(&arguments.printed, &mut output::stdout())?,
        Some(path) => {
            // What stands there stays until the new file is whole.
            let mut whole = Vec::new();
            printed.print(&arguments.printed, &mut whole)?;
            fs::write(path, &whole)
                .with_context(|| format!("{}: cannot be written", path.display()))?;
        }
    }
    report.failures.iter().for_each(|failure| eprintln!("idlelab: {failure}"));
    let trust = report.self_check.trust();
    Ok(if report.failures.is_empty() { trust } else { Trust::GovernorFailed })
}

/// What is printed, and of what.
struct Printing<'a> {
    report: &'a Report,
    recording: &'a Recording,
    governors: &'a [Ready],
}

impl Printing<'_> {
    fn print(&self, how: &Printed, out: &mut impl Write) -> Result<()> {
        let report = self.report;
        match (how.format, &report.differences) {
            (OutcomeFormat::Json, _) => output::write_json(report, out),
            (OutcomeFormat::Csv, Some(differences)) => output::write_csv(differences.kinds(), out),
            (OutcomeFormat::Csv, None) => {
                output::write_csv(file::rows(&report.outcomes, governor::standing), out)
            }
            (OutcomeFormat::Parquet, _) => {
                let mut whole = Vec::new();
                file::write_parquet(file::rows(&report.outcomes, governor::standing), &mut whole)?;
                out.write_all(&whole)?;
                Ok(out.flush()?)
            }
            (OutcomeFormat::Text, _) => text(self, how.style.map(Style::from), out),
        }
    }
}

/// A line for each governor whose figures are to be taken with a grain of salt.
fn reconstructed(governors: &[Ready]) -> impl Iterator<Item = String> {
    governors.iter().filter_map(Ready::name).filter_map(governor::caveat)
}

/// Reads a recording and makes it ready to be replayed as asked; says what the recorded machine is.
pub(crate) fn prepare(
    path: Option<&Path>,
    asked: &Machine,
) -> Result<(Recording, Platform, Prepared)> {
    let recording = input::recording(path)?;
    let (recorded, prepared) = prepare_read(&recording, asked)?;
    Ok((recording, recorded, prepared))
}

/// The same of a recording that has been read.
pub(crate) fn prepare_read(recording: &Recording, asked: &Machine) -> Result<(Platform, Prepared)> {
    let (recorded, other) = machines(asked, recording)?;
    let what_if = WhatIf {
        platform: other.as_ref(),
        rate: asked.hz,
        exit_latency: asked.exit_latency.into(),
        disabled: asked.disable.clone(),
        latency_limits: asked.latency_limit.clone(),
    };
    let prepared = Prepared::new(recording, &recorded, &what_if)?;
    Ok((recorded, prepared))
}

/// The recorded machine, and the one to replay on if it is another. `--states` is the recorded
/// machine where nothing else tells it.
fn machines(asked: &Machine, recording: &Recording) -> Result<(Platform, Option<Platform>)> {
    let wanted = asked.states.as_deref().map(input::platform).transpose()?;
    let recorded = match &asked.recorded_states {
        Some(given) => Some(input::platform(given)?),
        None => recording.machine.clone(),
    };
    match (recorded, wanted) {
        (Some(recorded), wanted) => {
            let other = wanted.filter(|wanted| *wanted != recorded);
            Ok((recorded, other))
        }
        (None, Some(wanted)) => Ok((wanted, None)),
        (None, None) => bail!(
            "{}: has no idle-state table; give the recorded machine's with --states (a built-in \
             platform, a TOML file, a counter dump, or the root of a /sys tree), or once and for \
             all to `idlelab import`",
            recording.source
        ),
    }
}

/// The governor that was in force: as the user says, else as the recording says, in the revision of
/// its kernel, or the newest where the kernel is not known.
fn recorded_governor(arguments: &Replay, recording: &Recording) -> Option<Given> {
    if let Some(given) = &arguments.recorded_governor {
        return Some(given.clone());
    }
    let name = recording.governor.as_deref()?;
    let as_in_kernel = || {
        let kernel = recording.circumstances.kernel.as_deref()?;
        revisions(name, kernel).iter().find_map(|revision| governor::parse(revision).ok())
    };
    as_in_kernel().or_else(|| catalog::find(name).ok().map(Given::Named))
}

/// What the revision of a governor may be called that a kernel has, given what `uname -rv` prints,
/// such as `6.12.95+deb12-amd64 #1 SMP … Debian 6.12.95-1`; the most exact first.
fn revisions(governor: &str, kernel: &str) -> Vec<String> {
    let end = kernel.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(kernel.len());
    let version = kernel.get(..end).unwrap_or_default().trim_end_matches('.');
    let debian = kernel.contains("Debian").then(|| format!("{governor}@debian-{version}"));
    debian.into_iter().chain([format!("{governor}@{version}")]).collect()
}

fn text(printing: &Printing<'_>, style: Option<Style>, out: &mut impl Write) -> Result<()> {
    let Printing { report, recording, governors } = printing;
    let seconds = recording.span.map_or(0.0, |(first, last)| (last - first).get() as f64 * 1e-9);
    writeln!(out, "recording   {}", report.recording)?;
    writeln!(
        out,
        "            {} CPU{}, {} idle periods in {seconds:.3} s, fidelity {}",
        recording.cpus.len(),
        if recording.cpus.len() == 1 { "" } else { "s" },
        recording.periods(),
        recording.fidelity
    )?;
    writeln!(out, "platform    {}, {} Hz", report.platform, report.tick_hz)?;
    if report.platform != report.recorded_platform {
        writeln!(out, "            instead of the recorded {}", report.recorded_platform)?;
    }
    self_check(out, &report.self_check, recording.fidelity)?;
    advise(out, &report.self_check)?;
    for note in output::summarise(&recording.notes) {
        writeln!(out, "note        {note}")?;
    }
    if recording.fidelity < Fidelity::Timers {
        writeln!(
            out,
            "bounds      the recording does not tell timers from interrupts: each governor is \
             replayed twice,\n            once as if every wakeup were a timer, once as if none were"
        )?;
    }
    writeln!(out)?;
    let tables = match style {
        None => idlelab_evidence::plain_text(&report.outcomes),
        // A replay of one recording has no noise to tell a difference from.
        Some(style) => style.print(&report.outcomes, &|_, _| Mark::Untested),
    };
    out.write_all(tables.as_bytes())?;
    if let Some(differences) = &report.differences {
        differences.text(out)?;
    }
    for note in reconstructed(governors) {
        writeln!(out, "\nNote: {note}.")?;
    }
    out.flush()?;
    Ok(())
}

/// Says what may be wrong if a self-check does not hold.
fn advise(out: &mut impl Write, check: &SelfCheck) -> Result<()> {
    if check.trust() == Trust::SelfCheckFailed {
        writeln!(
            out,
            "            A self-check does not hold. Is the governor the recorded one \
             (--recorded-governor), and\n            are the idle states those of the recorded \
             machine (--recorded-states)?"
        )?;
    }
    Ok(())
}

fn self_check(out: &mut impl Write, check: &SelfCheck, fidelity: Fidelity) -> Result<()> {
    let governor = check.governor.as_deref().unwrap_or("the recorded governor");
    match (check.decisions, check.reproduced, check.constant_guess) {
        (Some(decisions), Some(reproduced), Some(guess)) => {
            writeln!(
                out,
                "self-check  decisions: {reproduced} of {decisions} reproduced by {governor} (best \
                 constant guess: {guess})"
            )?;
            if let Some(first) = &check.first_divergence {
                writeln!(
                    out,
                    "            first divergence: cpu{} at {:.6} s, recorded {}, replayed {} \
                     (state,stop_tick,asked)",
                    first.cpu,
                    first.time_ns as f64 * 1e-9,
                    first.recorded,
                    first.replayed
                )?;
            }
        }
        _ => writeln!(
            out,
            "self-check  decisions: not possible, {}",
            match (fidelity >= Fidelity::Inputs, &check.governor) {
                (false, _) => "the governor's inputs are not recorded (fidelity 4)",
                (true, None) => "the recording does not name its governor (--recorded-governor)",
                (true, Some(_)) => "idlelab has no governor of that name (--recorded-governor)",
            }
        )?,
    }
    if let Some(rebuilt) = check.rebuilt.filter(|rebuilt| rebuilt.decisions > 0) {
        writeln!(
            out,
            "            with inputs rebuilt from timers: {} of {} reproduced (best constant guess: \
             {}),\n            the state alone {}",
            rebuilt.reproduced,
            rebuilt.decisions,
            rebuilt.constant_guess,
            rebuilt.states_reproduced
        )?;
    }
    match &check.accounting {
        Some(accounting) => {
            let total = accounting.total();
            writeln!(
                out,
                "            accounting: of {} periods kernel/rules call {}/{} above and {}/{} \
                 below{}",
                total.entries,
                total.recorded_above,
                total.computed_above,
                total.recorded_below,
                total.computed_below,
                match accounting.disagreements {
                    0 => String::new(),
                    differing => format!("; {differing} DIFFER"),
                }
            )?;
        }
        None => writeln!(out, "            accounting: not possible, no cpu_idle_miss events")?,
    }
    let Some(free_run) = &check.free_run else {
        let why = if fidelity < Fidelity::Timers {
            "there are only bounds below fidelity 3"
        } else {
            "the recorded governor is not known (--recorded-governor)"
        };
        writeln!(out, "            free run: not possible, {why}")?;
        return Ok(());
    };
    writeln!(
        out,
        "            free run: shares of idle time within {:.2} points of the recorded ones",
        free_run.worst_share_error
    )?;
    writeln!(
        out,
        "              {:<15}  {:>20}  {:>20}",
        "state", "recorded usage time%", "replayed usage time%"
    )?;
    for state in &free_run.states {
        writeln!(
            out,
            "              {:<15}  {:>13} {:>6.2}  {:>13} {:>6.2}",
            state.name,
            state.recorded.usage,
            state.recorded_share,
            state.replayed.usage,
            state.replayed_share
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_names_its_governors_revision() {
        let debian = "6.12.95+deb12-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.12.95-1~bpo12+1";
        assert_eq!(revisions("menu", debian), ["menu@debian-6.12.95", "menu@6.12.95"]);
        assert_eq!(revisions("teo", "7.3.0-rc2 #1 SMP"), ["teo@7.3.0"]);
    }
}
