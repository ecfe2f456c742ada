// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab report`.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use idlelab_cpuidle::{Verdict, verdict};
use idlelab_evidence::report::{
    DrawnState, GovernorStays, Histogram, Moment, Replayed, Report, Stay, TimelineCpu,
};
use idlelab_evidence::statistics::Resampling;
use idlelab_evidence::{Question, Sourced, compare, for_table};
use idlelab_platform::Platform;
use idlelab_recording::{Fidelity, Recording};
use idlelab_replay::{Choice, Prepared, Timeline, check_decisions};
use idlelab_states::{CpuId, Nanoseconds};

use crate::cli::Report as Arguments;
use crate::commands::{differences, replay};
use crate::governor::{self, Ready};
use crate::{Trust, input, output};

/// The bound that no governor beats.
const BOUND: &str = "clairvoyant";
/// Kinds of difference that the timeline leads to.
const MOMENTS: usize = 8;

pub(crate) fn run(arguments: &Arguments) -> Result<Trust> {
    let Inputs { mut runs, recording } = inputs(arguments)?;
    let mut report = Report { commands: vec![command_line()], ..Report::default() };
    if !runs.is_empty() {
        let mut files: Vec<&str> = runs.iter().map(|run| run.source.as_str()).collect();
        files.dedup();
        condition(&mut report, "outcomes", format!("{} runs of {}", runs.len(), files.join(", ")));
    }
    if let Some((path, recording)) = recording {
        let outcomes = replayed(arguments, path, &recording, &mut report)?;
        if runs.is_empty() {
            runs = outcomes;
        }
    }
    let question = Question {
        by: None,
        baseline: arguments.baseline.clone(),
        metrics: arguments.metric.clone(),
        resampling: Resampling { seed: 1, ..Resampling::default() },
    };
    match compare(&runs, &question) {
        Ok(comparisons) => {
            report.comparisons = comparisons;
            // A bound is not a candidate.
            report.comparisons.retain(|comparison| comparison.candidate != BOUND);
        }
        // One governor by itself is worth a page too.
        Err(alone @ idlelab_evidence::CompareError::Alone(_)) => {
            report.limits.push(format!("Nothing was compared: {alone}."));
        }
        Err(error) => return Err(error.into()),
    }
    report.outcomes = for_table(&runs, &question);
    report.title = arguments.title.clone().unwrap_or_else(|| title(&report));
    condition(&mut report, "made by", format!("idlelab {}", env!("CARGO_PKG_VERSION")));
    fs::write(&arguments.output, report.html())
        .with_context(|| format!("{}: cannot be written", arguments.output.display()))?;
    Ok(Trust::Sound)
}

/// What the files hold.
struct Inputs<'a> {
    runs: Vec<Sourced>,
    /// The recording, and the name of its file: none of the one that is built in.
    recording: Option<(Option<&'a Path>, Recording)>,
}

fn inputs(arguments: &Arguments) -> Result<Inputs<'_>> {
    let mut inputs = Inputs { runs: Vec::new(), recording: None };
    if arguments.files.is_empty() {
        inputs.recording = Some((None, input::recording(None)?));
    }
    for file in &arguments.files {
        let path = Path::new(file);
        let no_recording = match input::recording(Some(path)) {
            Ok(_) if inputs.recording.is_some() => bail!(
                "{file}: is a second recording, and a report has one; compare what `idlelab \
                 replay --format json` makes of each"
            ),
            Ok(recording) => {
                inputs.recording = Some((Some(path), recording));
                continue;
            }
            Err(reason) => reason,
        };
        match input::outcomes(std::slice::from_ref(file)) {
            Ok(runs) => inputs.runs.extend(runs),
            Err(no_outcomes) => {
                bail!("neither outcomes nor a recording:\n  {no_outcomes:#}\n  {no_recording:#}")
            }
        }
    }
    Ok(inputs)
}

/// Replays the governors and draws what they would have done.
fn replayed(
    arguments: &Arguments,
    path: Option<&Path>,
    recording: &Recording,
    report: &mut Report,
) -> Result<Vec<Sourced>> {
    let (recorded, prepared) = replay::prepare_read(recording, &arguments.machine)?;
    let governors = governor::ready(&arguments.governors, prepared.tick_rate())?;
    let candidates: Vec<_> = governors.iter().map(Ready::candidate).collect();
    let outcomes = prepared.compare(&candidates);
    let timelines: Vec<Vec<Timeline>> =
        candidates.iter().map(|&candidate| prepared.timelines(candidate)).collect();
    if let Some(failure) = governors.iter().find_map(Ready::failure) {
        bail!(failure);
    }
    conditions(arguments, recording, &recorded, &prepared, report)?;
    let names: Vec<String> = governors.iter().map(ToString::to_string).collect();
    let span = recording.span.unwrap_or_default();
    report.recording = Some(Replayed {
        states: drawn_states(&timelines),
        governors: names.iter().zip(&timelines).map(|(name, of)| stays(name, of)).collect(),
        span_ns: (span.0.get(), span.1.get()),
        cpus: cpus(&timelines),
        moments: moments(arguments, path, &governors, &prepared),
    });
    let mut command = "idlelab replay".to_owned();
    if let Some(path) = path {
        command.push_str(&format!(" {}", path.display()));
    }
    command.push_str(&arguments.machine.as_typed());
    report.commands.push(format!("{command} -g {}", names.join(",")));
    let sourced = |outcome| Sourced { source: recording.source.clone(), outcome };
    Ok(outcomes.into_iter().map(sourced).collect())
}

fn condition(report: &mut Report, name: &str, value: String) {
    report.conditions.push((name.to_owned(), value));
}

fn conditions(
    arguments: &Arguments,
    recording: &Recording,
    recorded: &Platform,
    prepared: &Prepared,
    report: &mut Report,
) -> Result<()> {
    let (first, last) = recording.span.unwrap_or_default();
    condition(
        report,
        "recording",
        format!(
            "{}: {} CPUs, {} idle periods in {:.3} s, fidelity {}",
            recording.source,
            recording.cpus.len(),
            recording.periods(),
            (last - first).get() as f64 * 1e-9,
            recording.fidelity
        ),
    );
    let rate = prepared.tick_rate();
    let platform = &prepared.platform().name;
    let instead = if *platform == recorded.name {
        String::new()
    } else {
        format!(", instead of the recorded {}", recorded.name)
    };
    condition(report, "platform", format!("{platform}{instead}, {} Hz", rate.hertz()));
    let typed = arguments.machine.as_typed();
    if !typed.is_empty() {
        condition(report, "asked for", typed.trim_start().to_owned());
    }
    let known = recording.governor.as_deref();
    let known = known.and_then(|name| idlelab_governors::catalog::find(name).ok());
    let own_rate = recording.tick_rate.or(recorded.tick_rate).or(arguments.machine.hz);
    if let (Some(name), Some(rate), true) =
        (known, own_rate, recording.fidelity >= Fidelity::Inputs)
    {
        let check = check_decisions(recording, recorded, rate, name)?;
        condition(
            report,
            "self-check",
            format!(
                "{} of {} decisions reproduced by {name}; the best constant guess gets {} right",
                check.reproduced, check.decisions, check.constant_guess
            ),
        );
    }
    for note in output::summarise(&recording.notes) {
        condition(report, "note", note);
    }
    report.limits.push(
        "A replay holds events from outside where they were: what a choice would have done to the \
         workload (throughput, when the next wakeup comes) is beyond it."
            .to_owned(),
    );
    if prepared.is_bounded() {
        report.limits.push(
            "The recording does not tell timers from interrupts: each governor was replayed twice, \
             as if every wakeup were a timer and as if none were; the pictures of stays are of the \
             first."
                .to_owned(),
        );
    }
    if recording.fidelity < Fidelity::Inputs {
        report.limits.push(
            "The recording does not hold what the governor was told, so that no decision could be \
             held against it."
                .to_owned(),
        );
    }
    report.limits.push(
        "Modelled energy is computed from the platform's power numbers, where it has them; nobody \
         measured it."
            .to_owned(),
    );
    Ok(())
}

/// The states of all CPUs: names and residencies that differ side by side.
fn drawn_states(timelines: &[Vec<Timeline>]) -> Vec<DrawnState> {
    let mut drawn: Vec<DrawnState> = Vec::new();
    for timeline in timelines.iter().flatten() {
        for (number, state) in timeline.states.as_slice().iter().enumerate() {
            let (name, residency) = (state.name.to_string(), state.target_residency.get());
            match drawn.get_mut(number) {
                None => drawn.push(DrawnState { name, residencies_ns: vec![residency] }),
                Some(known) => {
                    if !known.name.split('/').any(|part| part == name) {
                        known.name.push('/');
                        known.name.push_str(&name);
                    }
                    if !known.residencies_ns.contains(&residency) {
                        known.residencies_ns.push(residency);
                    }
                }
            }
        }
    }
    drawn
}

fn stays(name: &str, timelines: &[Timeline]) -> GovernorStays {
    let mut stays = GovernorStays { name: name.to_owned(), ..GovernorStays::default() };
    for timeline in timelines {
        for stay in &timeline.stays {
            let residency = stay.to - stay.from;
            let state = stay.state.get();
            if stays.durations.len() <= state {
                stays.durations.resize_with(state + 1, Histogram::default);
            }
            if let Some(durations) = stays.durations.get_mut(state) {
                durations.add(residency.get());
            }
            match verdict(&timeline.states, stay.state, residency) {
                Verdict::Above => stays.above.add(residency.get()),
                Verdict::Below => stays.below.add(residency.get()),
                Verdict::Right => {}
            }
        }
    }
    stays
}

/// Each CPU under the first two governors.
fn cpus(timelines: &[Vec<Timeline>]) -> Vec<TimelineCpu> {
    let mut cpus: Vec<TimelineCpu> = Vec::new();
    for governor in timelines.iter().take(2) {
        for (number, timeline) in governor.iter().enumerate() {
            let stay = |stay: &idlelab_replay::Stay| Stay {
                from_ns: stay.from.get(),
                to_ns: stay.to.get(),
                state: stay.state.get() as u8,
            };
            let row = timeline.stays.iter().map(stay).collect();
            match cpus.get_mut(number) {
                Some(cpu) => cpu.rows.push(row),
                None => cpus.push(TimelineCpu { cpu: timeline.cpu.0, rows: vec![row] }),
            }
        }
    }
    cpus
}

/// Where the first two governors part, the most frequent kinds first.
fn moments(
    arguments: &Arguments,
    path: Option<&Path>,
    governors: &[Ready],
    prepared: &Prepared,
) -> Vec<Moment> {
    let [a, b, ..] = governors else { return Vec::new() };
    let names = [a.to_string(), b.to_string()];
    let found = prepared.differences(a.candidate(), b.candidate());
    let choice = |governor: &str, cpu: CpuId, choice: &Choice| {
        let states = prepared.platform().states_of(cpu);
        let state = states.map_or_else(String::new, |states| states[choice.state].name.to_string());
        let tick = if choice.stop_tick { "tick stopped" } else { "tick kept" };
        format!("{governor} {state}, {tick}")
    };
    let kinds = found.kinds.iter().take(MOMENTS);
    kinds
        .map(|kind| Moment {
            time_ns: kind.time.max(Nanoseconds::ZERO).get(),
            cpu: kind.cpu.0,
            what: format!(
                "{}; {}",
                choice(&names[0], kind.cpu, &kind.a),
                choice(&names[1], kind.cpu, &kind.b)
            ),
            count: kind.count,
            command: Some(differences::explain(path, &arguments.machine, &names, kind)),
        })
        .collect()
}

fn title(report: &Report) -> String {
    if let Some(first) = report.comparisons.first() {
        let mut candidates: Vec<&str> =
            report.comparisons.iter().map(|comparison| comparison.candidate.as_str()).collect();
        candidates.dedup();
        return format!("{} against {}", candidates.join(", "), first.baseline);
    }
    let name = report.outcomes.first().and_then(|outcome| outcome.governor.as_deref());
    name.unwrap_or("idle states").to_owned()
}

/// The command line as it was typed.
fn command_line() -> String {
    let quoted = |word: String| {
        let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words = env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("idlelab".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
