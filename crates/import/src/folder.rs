// SPDX-License-Identifier: GPL-2.0-or-later
//! A folder with all that a kernel tells of a recording, each file under the name that the kernel
//! has for it: what `idlelab record` makes of its own accord, and the commands of
//! `idlelab record --print-setup` on a machine without idlelab.
//!
//! ```text
//!  trace/per_cpu/cpu*/trace_pipe_raw   the ring buffer, page by page; or, as text,
//!  trace/trace                         all of it
//!  trace/per_cpu/cpu*/stats            how many events were lost
//!  trace/trace_clock, events/…         how to read the pages
//!  proc/kallsyms, sys/kernel/…         names of functions, the kernel's version
//!  before/sys/devices/system/cpu       idle states and their counters, before
//!  after/sys/devices/system/cpu        and after
//!  governor                            the governor that was switched in, and when
//!  tick_rate, latency_holders          what the recorder found out
//! ```

use std::fs;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use idlelab_platform::{CpuCounters, StateCounters, sysfs};
use idlelab_recording::{
    Circumstances, CounterChange, Note, NoteKind, Periods, Recording, StateCounts,
};
use idlelab_states::{Nanoseconds, TickRate};

use crate::trace_dat::pages::{self, Pages};
use crate::{BUFFER, ImportError, ftrace};

/// A CPU is blind if less than half of the entries that the kernel counted were traced, and this
/// many were not: as many as the counters' reading may be from the trace's ends and more.
const UNTRACED_AT_LEAST: u64 = 100;

/// Reads a folder.
pub(crate) fn read(folder: &Path) -> Result<Recording, ImportError> {
    let name = folder.display().to_string();
    let tracefs = folder.join("trace");
    if !tracefs.is_dir() {
        return Err(ImportError::Directory { name });
    }
    let kallsyms = folder.join("proc/kallsyms");
    let pages = Pages { tracefs: &tracefs, kallsyms: &kallsyms, name: &name };
    let mut recording = match pages::read(&pages)? {
        Some(recording) => recording,
        None => text(&tracefs, &name)?,
    };
    recording.source = format!("{name}, recorded by the kernel");
    // Where the event was recorded and none came, every choice was right.
    recording.misses_recorded |= tracefs.join("events/power/cpu_idle_miss/format").is_file();
    if recording.clock.is_none() {
        recording.clock = fs::read(tracefs.join("trace_clock"))
            .ok()
            .and_then(|clock| crate::trace_dat::clock_name(&clock));
    }
    let (before, after) = (folder.join("before"), folder.join("after"));
    switched_in(&mut recording, folder, &before);
    // Without idle states of its own the recording may still be replayed on another machine.
    recording.machine = sysfs::read(&before).ok().map(|(machine, _)| machine);
    recording.circumstances = Circumstances {
        kernel: kernel(folder),
        tick_rate_source: None,
        latency_holders: lines(&folder.join("latency_holders")),
        counters: changes(&counters(&before), &counters(&after)),
    };
    tick_rate(&mut recording, folder);
    lost(&mut recording, &tracefs);
    leave_blind_cpus_out(&mut recording);
    Ok(recording)
}

/// The trace as text.
fn text(tracefs: &Path, name: &str) -> Result<Recording, ImportError> {
    match File::open(tracefs.join("trace")) {
        Ok(file) => ftrace::read(BufReader::with_capacity(BUFFER, file), name),
        Err(_) => Err(ImportError::NoTraceInFolder { name: name.to_owned() }),
    }
}

/// A file's text without blanks at its ends; none if there is none.
fn word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn lines(path: &Path) -> Vec<String> {
    word(path).map(|text| text.lines().map(str::to_owned).collect()).unwrap_or_default()
}

fn kernel(folder: &Path) -> Option<String> {
    let folder = folder.join("proc/sys/kernel");
    let release = word(&folder.join("osrelease"))?;
    Some(match word(&folder.join("version")) {
        Some(version) => format!("{release} {version}"),
        None => release,
    })
}

/// The governor in force. If it was switched in while the recording ran (`menu 12345`, with the
/// time by the trace's clock at which that was done), what was before that was another governor's
/// choice. Only the recorded governor is probed, so that a decision is its own even before.
fn switched_in(recording: &mut Recording, folder: &Path, before: &Path) {
    let switched = word(&folder.join("governor"));
    let mut words = switched.as_deref().unwrap_or_default().split_whitespace();
    let governor = words.next().map(str::to_owned);
    recording.governor =
        governor.or_else(|| sysfs::current_governor(before)).or(recording.governor.take());
    let Some(since) = words.next().and_then(|since| since.parse().ok()).map(Nanoseconds::new)
    else {
        return;
    };
    for cpu in &mut recording.cpus {
        let first_decision = cpu.decisions.first().map(|decision| decision.time);
        let since = first_decision.map_or(since, |first| first.min(since));
        let mut kept = Periods::default();
        cpu.periods.iter().filter(|p| p.enter >= since).for_each(|period| kept.push(&period));
        let count = (cpu.periods.len() - kept.len()) as u64;
        if count > 0 {
            let note = Note { kind: NoteKind::OtherGovernor, cpu: Some(cpu.cpu), count };
            recording.notes.push(note);
        }
        cpu.periods = kept;
    }
    recording.cpus.retain(|cpu| !cpu.periods.is_empty());
    recording.span = recording.span.map(|(first, last)| (first.max(since), last));
}

/// The tick rate as the timers show it, or else as the kernel's configuration says.
fn tick_rate(recording: &mut Recording, folder: &Path) {
    let source = &mut recording.circumstances.tick_rate_source;
    if recording.tick_rate.is_some() {
        *source = Some("the tick's timer in the trace".to_owned());
    } else if let Some((hertz, from)) =
        word(&folder.join("tick_rate")).as_deref().and_then(|text| text.split_once(' '))
        && let Some(rate) = hertz.parse().ok().and_then(TickRate::from_hertz)
    {
        recording.tick_rate = Some(rate);
        *source = Some(from.to_owned());
    }
    if let Some(machine) = &mut recording.machine {
        machine.tick_rate = recording.tick_rate;
    }
}

/// Events that the kernel counted as lost and of which no page tells, such as the last ones.
fn lost(recording: &mut Recording, tracefs: &Path) {
    let noted: u64 = recording
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::LostEvents)
        .map(|note| note.count)
        .sum();
    let entries = fs::read_dir(tracefs.join("per_cpu")).into_iter().flatten().flatten();
    let counted: u64 = entries
        .filter_map(|entry| word(&entry.path().join("stats")))
        .map(|stats| {
            let count = |line: &str| {
                let (name, count) = line.split_once(": ")?;
                matches!(name, "overrun" | "commit overrun" | "dropped events")
                    .then(|| count.parse::<u64>().ok())?
            };
            stats.lines().filter_map(count).sum::<u64>()
        })
        .sum();
    let count = counted.saturating_sub(noted);
    if count > 0 {
        recording.notes.push(Note { kind: NoteKind::LostEvents, cpu: None, count });
    }
}

fn counters(root: &Path) -> Vec<CpuCounters> {
    sysfs::counters(root).map(|(counters, _)| counters).unwrap_or_default()
}

/// The counters of states that are on both sides.
fn changes(before: &[CpuCounters], after: &[CpuCounters]) -> Vec<CounterChange> {
    let counts = |state: &StateCounters| StateCounts {
        usage: state.usage,
        time_us: state.time_us,
        above: state.above,
        below: state.below,
        rejected: state.rejected,
    };
    let mut changes = Vec::new();
    for earlier in before {
        let Some(later) = after.iter().find(|later| later.cpu == earlier.cpu) else { continue };
        for state in &earlier.states {
            if let Some(then) = later.states.iter().find(|then| then.state == state.state) {
                changes.push(CounterChange {
                    cpu: earlier.cpu,
                    state: state.state,
                    before: counts(state),
                    after: counts(then),
                });
            }
        }
    }
    changes
}

/// Leaves out CPUs that idled by the kernel's counters while the tracer saw little or nothing of
/// it, though it lost no events.
fn leave_blind_cpus_out(recording: &mut Recording) {
    let counters = &recording.circumstances.counters;
    let mut cpus: Vec<_> = counters.iter().map(|change| change.cpu).collect();
    cpus.dedup();
    for cpu in cpus {
        let of_cpu = counters.iter().filter(|change| change.cpu == cpu);
        let entries: u64 = of_cpu.filter_map(CounterChange::entries).sum();
        let place = recording.cpus.iter().position(|found| found.cpu == cpu);
        let periods = place.and_then(|place| recording.cpus.get(place)).map(|c| c.periods.len());
        let other: u64 = recording
            .notes
            .iter()
            .filter(|note| note.cpu == Some(cpu) && note.kind == NoteKind::OtherGovernor)
            .map(|note| note.count)
            .sum();
        let traced = periods.unwrap_or(0) as u64 + other;
        let untraced = entries.saturating_sub(traced);
        let lossless = !recording.notes.iter().any(|note| {
            note.kind == NoteKind::LostEvents && note.cpu.is_none_or(|lossy| lossy == cpu)
        });
        if lossless && untraced >= UNTRACED_AT_LEAST && untraced > traced {
            if let Some(place) = place {
                recording.cpus.remove(place);
            }
            let kind = NoteKind::UntracedIdle;
            recording.notes.push(Note { kind, cpu: Some(cpu), count: untraced });
        }
    }
}
