// SPDX-License-Identifier: GPL-2.0-or-later
//! Dumps in which each value comes with its path.
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use idlelab_states::{CpuId, StateIndex};

use super::{CounterDump, DumpError, DumpProblem, Line, Skipped, Spelling, excerpt};
use crate::Location;
use crate::counters::{Attribute, CpuCounters, StateCounters};
use crate::cpu_list::parse_cpu;

struct Entry<'a> {
    spelling: Spelling,
    path: &'a str,
    value: &'a str,
}

/// Whether a line is an idle state's attribute with its path.
pub(super) fn is_named(line: &str) -> bool {
    split(line).is_some_and(|entry| !matches!(classify(entry.path), Path::Other))
}

enum Path<'a> {
    Counter { cpu: CpuId, state: StateIndex, attribute: Attribute },
    WithoutCpu,
    BadNumber(&'a str),
    Other,
}

fn split(line: &str) -> Option<Entry<'_>> {
    if let Some((mode, rest)) = line.split_once('|')
        && matches!(mode, "r" | "w" | "ro" | "wo" | "rw")
        && let Some((path, value)) = rest.split_once('|')
    {
        return Some(Entry { spelling: Spelling::ModePath, path, value: value.trim() });
    }
    let (path, value) = line.split_once(':')?;
    let value = value.trim();
    let is_path = path.contains('/') && !path.contains(char::is_whitespace);
    is_path.then_some(Entry { spelling: Spelling::PathColon, path, value })
}

fn classify(path: &str) -> Path<'_> {
    let mut parts = path.rsplit('/');
    let attribute = parts.next().and_then(Attribute::from_file_name);
    let state = parts.next().and_then(|part| numbered(part, "state"));
    let (Some(attribute), Some(digits)) = (attribute, state) else { return Path::Other };
    let number = parse_cpu(digits).and_then(|number| StateIndex::new(number as usize));
    let Some(state) = number else { return Path::BadNumber(path) };
    if parts.next() != Some("cpuidle") {
        return Path::WithoutCpu;
    }
    let Some(digits) = parts.next().and_then(|part| numbered(part, "cpu")) else {
        return Path::WithoutCpu;
    };
    match parse_cpu(digits) {
        Some(cpu) => Path::Counter { cpu: CpuId(cpu), state, attribute },
        None => Path::BadNumber(path),
    }
}

/// Kernels that cannot switch governors show it under the second name alone.
fn is_current_governor(path: &str) -> bool {
    ["cpuidle/current_governor", "cpuidle/current_governor_ro"]
        .iter()
        .any(|file| path.ends_with(file))
}

/// The digits of `cpu12` after `cpu`.
fn numbered<'a>(part: &'a str, prefix: &str) -> Option<&'a str> {
    let digits = part.strip_prefix(prefix)?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

pub(super) fn parse(file: &str, lines: &[Line<'_>]) -> Result<CounterDump, DumpError> {
    let mut spelling = None;
    let mut cpus: Vec<CpuCounters> = Vec::new();
    let mut positions: HashMap<CpuId, usize> = HashMap::new();
    let mut given: HashMap<(CpuId, StateIndex, Attribute), usize> = HashMap::new();
    let mut governor = None;
    let mut skipped = Vec::new();
    for line in lines {
        let error = |problem: DumpProblem| DumpError {
            location: Location::line(file, line.number),
            problem: problem.into(),
        };
        let Some(entry) = split(line.text) else {
            skipped.push(Skipped { line: line.number, text: excerpt(line.text) });
            continue;
        };
        let (cpu, state, attribute) = match classify(entry.path) {
            Path::Counter { cpu, state, attribute } => (cpu, state, attribute),
            Path::WithoutCpu => return Err(error(DumpProblem::NoCpu(excerpt(entry.path)))),
            Path::BadNumber(path) => return Err(error(DumpProblem::Number(excerpt(path)))),
            Path::Other => {
                if is_current_governor(entry.path) && !entry.value.is_empty() {
                    governor.get_or_insert_with(|| entry.value.to_owned());
                }
                continue;
            }
        };
        spelling.get_or_insert(entry.spelling);
        match given.entry((cpu, state, attribute)) {
            Slot::Occupied(first) => {
                return Err(error(DumpProblem::Twice {
                    attribute: attribute.file_name(),
                    cpu,
                    state: state.get(),
                    first: *first.get(),
                }));
            }
            Slot::Vacant(slot) => {
                slot.insert(line.number);
            }
        }
        let position = *positions.entry(cpu).or_insert(cpus.len());
        if position == cpus.len() {
            cpus.push(CpuCounters { cpu, states: Vec::new() });
        }
        let Some(counters) = cpus.get_mut(position) else { continue };
        let at = match counters.states.binary_search_by_key(&state, |other| other.state) {
            Ok(at) => at,
            Err(at) => {
                counters.states.insert(at, StateCounters::new(state));
                at
            }
        };
        let Some(counters) = counters.states.get_mut(at) else { continue };
        // grep prints nothing for an empty file, pepc an empty value: both are nothing.
        if !entry.value.is_empty() && counters.set(attribute, entry.value).is_none() {
            return Err(error(DumpProblem::Value {
                attribute: attribute.file_name(),
                expected: attribute.expected(),
                found: excerpt(entry.value),
            }));
        }
    }
    let whole = |problem: DumpProblem| DumpError {
        location: Location::file(file),
        problem: problem.into(),
    };
    let spelling = spelling.ok_or_else(|| whole(DumpProblem::NoCounters))?;
    Ok(CounterDump { file: file.to_owned(), spelling, cpus, governor, skipped })
}
