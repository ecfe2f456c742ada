// SPDX-License-Identifier: GPL-2.0-or-later
//! What a recording knows beside its rounds, as text entries of the file's metadata.

use std::collections::HashMap;
use std::fmt::Write;

use ::parquet::file::metadata::KeyValue;
use idlelab_platform::Platform;
use idlelab_states::{CpuId, Nanoseconds, StateIndex, TickRate};

use super::{ReadError, WriteError};
use crate::{
    Circumstances, CounterChange, CpuRecording, Fidelity, Note, NoteKind, Recording, StateCounts,
};

const FORMAT: &str = "idlelab.recording";
const SOURCE: &str = "idlelab.source";
const FIDELITY: &str = "idlelab.fidelity";
const GOVERNOR: &str = "idlelab.governor";
const CLOCK: &str = "idlelab.clock";
const TICK_RATE: &str = "idlelab.tick_hz";
const FIRST: &str = "idlelab.first_ns";
const LAST: &str = "idlelab.last_ns";
const MISSES_RECORDED: &str = "idlelab.misses_recorded";
const CPUS: &str = "idlelab.cpus";
const NOTES: &str = "idlelab.notes";
const MACHINE: &str = "idlelab.machine";
const KERNEL: &str = "idlelab.kernel";
const TICK_RATE_SOURCE: &str = "idlelab.tick_hz_source";
const LATENCY_HOLDERS: &str = "idlelab.latency_holders";
const COUNTERS: &str = "idlelab.counters";

/// The format that is written, and the only one that is read.
const VERSION: &str = "1";
const CPUS_HEADER: &str = "cpu,tick_phase_ns";
const NOTES_HEADER: &str = "kind,cpu,count";
const COUNTERS_HEADER: &str = "cpu,state,usage_before,usage_after,time_us_before,time_us_after,\
                               above_before,above_after,below_before,below_after,\
                               rejected_before,rejected_after";

/// The entries of a recording. What it does not know has no entry.
pub(super) fn entries(recording: &Recording) -> Result<Vec<KeyValue>, WriteError> {
    let mut entries = vec![
        entry(FORMAT, &VERSION),
        entry(SOURCE, &recording.source),
        entry(FIDELITY, &recording.fidelity.level()),
        entry(MISSES_RECORDED, &recording.misses_recorded),
        entry(CPUS, &cpus_text(&recording.cpus)),
        entry(NOTES, &notes_text(&recording.notes)),
    ];
    entries.extend(recording.governor.as_ref().map(|name| entry(GOVERNOR, name)));
    entries.extend(recording.clock.as_ref().map(|name| entry(CLOCK, name)));
    entries.extend(recording.tick_rate.map(|rate| entry(TICK_RATE, &rate.hertz())));
    if let Some((first, last)) = recording.span {
        entries.extend([entry(FIRST, &first), entry(LAST, &last)]);
    }
    if let Some(machine) = &recording.machine {
        entries.push(entry(MACHINE, &machine_text(machine)?));
    }
    let Circumstances { kernel, tick_rate_source, latency_holders, counters } =
        &recording.circumstances;
    entries.extend(kernel.as_ref().map(|kernel| entry(KERNEL, kernel)));
    entries.extend(tick_rate_source.as_ref().map(|source| entry(TICK_RATE_SOURCE, source)));
    if !latency_holders.is_empty() {
        entries.push(entry(LATENCY_HOLDERS, &latency_holders.join("\n")));
    }
    if !counters.is_empty() {
        entries.push(entry(COUNTERS, &counters_text(counters)));
    }
    Ok(entries)
}

fn entry(key: &str, value: &impl ToString) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(value.to_string()) }
}

fn cpus_text(cpus: &[CpuRecording]) -> String {
    let mut text = CPUS_HEADER.to_owned();
    for cpu in cpus {
        let phase = cpu.tick_phase.map_or_else(String::new, |phase| phase.to_string());
        // Writing into a text cannot fail.
        let _ = write!(text, "\n{},{phase}", cpu.cpu.0);
    }
    text
}

fn notes_text(notes: &[Note]) -> String {
    let mut text = NOTES_HEADER.to_owned();
    for note in notes {
        let cpu = note.cpu.map_or_else(String::new, |cpu| cpu.0.to_string());
        let _ = write!(text, "\n{},{cpu},{}", note.kind.name(), note.count);
    }
    text
}

fn counters_text(counters: &[CounterChange]) -> String {
    let mut text = COUNTERS_HEADER.to_owned();
    for change in counters {
        let _ = write!(text, "\n{},{}", change.cpu.0, change.state);
        for (before, after) in change.before.all().into_iter().zip(change.after.all()) {
            for value in [before, after] {
                let value = value.map_or_else(String::new, |value| value.to_string());
                let _ = write!(text, ",{value}");
            }
        }
    }
    text
}

/// TOML has microseconds where a table may have been made with nanoseconds, so it is read back.
fn machine_text(machine: &Platform) -> Result<String, WriteError> {
    let text = machine.to_toml();
    match Platform::from_toml(&machine.name, &text) {
        Ok((again, _)) if again == *machine => Ok(text),
        _ => Err(WriteError::Machine(machine.name.clone())),
    }
}

/// A recording of which the rounds are still to be read. Entries of other tools are passed over.
pub(super) fn recording(entries: &[KeyValue]) -> Result<Recording, ReadError> {
    let entries: HashMap<&str, &str> = entries
        .iter()
        .map(|entry| (entry.key.as_str(), entry.value.as_deref().unwrap_or_default()))
        .collect();
    let entries = Entries(entries);
    match entries.0.get(FORMAT) {
        None => return Err(ReadError::NotARecording),
        Some(&VERSION) => {}
        Some(found) => return Err(ReadError::Version { found: (*found).to_owned() }),
    }
    let first = entries.optional(FIRST, "nanoseconds", time)?;
    let last = entries.optional(LAST, "nanoseconds", time)?;
    let text = |text: &str| Some(text.to_owned());
    Ok(Recording {
        source: entries.required(SOURCE, "a text", text)?,
        cpus: entries.table(CPUS, CPUS_HEADER, "a CPU and its tick phase", cpu)?,
        fidelity: entries
            .required(FIDELITY, "1, 2, 3 or 4", |text| Fidelity::from_level(text.parse().ok()?))?,
        machine: entries.0.get(MACHINE).map(|text| machine(text)).transpose()?,
        governor: entries.optional(GOVERNOR, "a text", text)?,
        clock: entries.optional(CLOCK, "a text", text)?,
        tick_rate: entries.optional(TICK_RATE, "a tick rate of 24 to 1200 Hz", |text| {
            TickRate::from_hertz(text.parse().ok()?)
        })?,
        misses_recorded: entries
            .required(MISSES_RECORDED, "true or false", |text| text.parse().ok())?,
        span: first.zip(last),
        circumstances: Circumstances {
            kernel: entries.optional(KERNEL, "a text", text)?,
            tick_rate_source: entries.optional(TICK_RATE_SOURCE, "a text", text)?,
            latency_holders: entries
                .optional(LATENCY_HOLDERS, "lines of text", |text| {
                    Some(text.split('\n').map(str::to_owned).collect())
                })?
                .unwrap_or_default(),
            counters: entries.optional_table(
                COUNTERS,
                COUNTERS_HEADER,
                "a CPU, a state, and ten counts or none",
                counter_change,
            )?,
        },
        notes: entries.table(
            NOTES,
            NOTES_HEADER,
            "a kind of note, a CPU or none, a count",
            note,
        )?,
    })
}

fn machine(text: &str) -> Result<Platform, ReadError> {
    match Platform::from_toml(MACHINE, text) {
        Ok((machine, _)) => Ok(machine),
        Err(error) => Err(ReadError::Machine(Box::new(error))),
    }
}

struct Entries<'a>(HashMap<&'a str, &'a str>);

impl Entries<'_> {
    fn optional<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let Some(text) = self.0.get(key) else { return Ok(None) };
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(ReadError::Metadata { key, found: (*text).to_owned(), expected }),
        }
    }

    fn required<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ReadError> {
        self.optional(key, expected, parse)?.ok_or(ReadError::MissingMetadata { key })
    }

    /// As [`Self::table`], of which nothing may be there.
    fn optional_table<T>(
        &self,
        key: &'static str,
        header: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ReadError> {
        if self.0.contains_key(key) {
            self.table(key, header, expected, parse)
        } else {
            Ok(Vec::new())
        }
    }

    /// Lines of values between commas, below a header.
    fn table<T>(
        &self,
        key: &'static str,
        header: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ReadError> {
        let text = self.0.get(key).ok_or(ReadError::MissingMetadata { key })?;
        let wrong =
            |found: &str, expected| ReadError::Metadata { key, found: found.to_owned(), expected };
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        if first != header {
            return Err(wrong(first, header));
        }
        lines.map(|line| parse(line).ok_or_else(|| wrong(line, expected))).collect()
    }
}

fn time(text: &str) -> Option<Nanoseconds> {
    text.parse().ok().map(Nanoseconds::new)
}

/// What may be left empty.
fn or_none<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() { Some(None) } else { parse(text).map(Some) }
}

fn cpu(line: &str) -> Option<CpuRecording> {
    let (cpu, phase) = line.split_once(',')?;
    let tick_phase = or_none(phase, time)?;
    Some(CpuRecording { tick_phase, ..CpuRecording::new(CpuId(cpu.parse().ok()?)) })
}

fn note(line: &str) -> Option<Note> {
    let (kind, rest) = line.split_once(',')?;
    let (cpu, count) = rest.split_once(',')?;
    Some(Note {
        kind: NoteKind::ALL.into_iter().find(|known| known.name() == kind)?,
        cpu: or_none(cpu, |cpu| cpu.parse().ok().map(CpuId))?,
        count: count.parse().ok()?,
    })
}

fn counter_change(line: &str) -> Option<CounterChange> {
    let mut values = line.split(',');
    let cpu = CpuId(values.next()?.parse().ok()?);
    let state = StateIndex::new(values.next()?.parse().ok()?)?;
    let mut counts = [(None, None); 5];
    for (before, after) in &mut counts {
        *before = or_none(values.next()?, |value| value.parse().ok())?;
        *after = or_none(values.next()?, |value| value.parse().ok())?;
    }
    let before = StateCounts::from_all(counts.map(|(before, _)| before));
    let after = StateCounts::from_all(counts.map(|(_, after)| after));
    values.next().is_none().then_some(CounterChange { cpu, state, before, after })
}
