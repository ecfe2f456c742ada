// SPDX-License-Identifier: GPL-2.0-or-later
//! Dumps of values alone.
use idlelab_states::{CpuId, StateIndex};

use super::{CounterDump, DumpError, DumpProblem, Line, Spelling, excerpt};
use crate::Location;
use crate::counters::{Attribute, CpuCounters, StateCounters};

/// Which attributes kernels have had, newest first. Attributes were only ever added, so there are
/// five lists and not one for each combination.
///
/// From two states on, no two lists can be mistaken for each other: where the texts of one state
/// and of the next stand tells which it is. A single state of 11 or 7 lines could be one of 12 or
/// 8 whose last line was cut off; the newer list then wins, and misses that line.
const LISTS: [&[Attribute]; 5] = {
    use Attribute::{
        Above, Below, DefaultStatus, Desc, Disable, Latency, Name, Power, Residency, Time, Usage,
    };
    [
        &Attribute::ALL,
        &[Above, Below, DefaultStatus, Desc, Disable, Latency, Name, Power, Residency, Time, Usage],
        &[Above, Below, Desc, Disable, Latency, Name, Power, Residency, Time, Usage],
        &[Desc, Disable, Latency, Name, Power, Residency, Time, Usage],
        &[Desc, Disable, Latency, Name, Power, Time, Usage],
    ]
};

/// Values that fit a list of attributes up to some point.
struct Attempt<'a> {
    list: &'static [Attribute],
    states: Vec<StateCounters>,
    /// Where the values stop to fit: the line, or none if they end too early.
    stopped: Option<(Option<Line<'a>>, usize)>,
}

impl Attempt<'_> {
    /// How many values fitted.
    fn fitted(&self) -> usize {
        let within = self.stopped.map_or(0, |(_, position)| position);
        self.states.len() * self.list.len() + within
    }
}

pub(super) fn parse(file: &str, lines: &[Line<'_>]) -> Result<CounterDump, DumpError> {
    let no_counters =
        || DumpError { location: Location::file(file), problem: Box::new(DumpProblem::NoCounters) };
    let mut best: Option<Attempt<'_>> = None;
    for list in LISTS {
        let attempt = attempt(list, lines);
        if best.as_ref().is_none_or(|best| attempt.fitted() > best.fitted()) {
            best = Some(attempt);
        }
    }
    let best = best.ok_or_else(no_counters)?;
    if best.states.is_empty() && best.fitted() < 4 {
        return Err(no_counters());
    }
    if let Some((line, position)) = best.stopped {
        let attribute = best.list.get(position).copied().unwrap_or(Attribute::Usage);
        let last = lines.last().map_or(1, |line| line.number);
        let found = line.map_or_else(
            || "the end of the file".to_owned(),
            |line| format!("`{}`", excerpt(line.text)),
        );
        return Err(DumpError {
            location: Location::line(file, line.map_or(last, |line| line.number)),
            problem: Box::new(DumpProblem::BareValue {
                expected: attribute.expected(),
                attribute: attribute.file_name(),
                position: position + 1,
                attributes: best.list.len(),
                found,
            }),
        });
    }
    let attributes = best.list.len();
    let cpus = by_cpu(file, lines, best)?;
    if cpus.is_empty() {
        return Err(no_counters());
    }
    let spelling = Spelling::Bare { attributes };
    Ok(CounterDump { file: file.to_owned(), spelling, cpus, governor: None, skipped: Vec::new() })
}

fn attempt<'a>(list: &'static [Attribute], lines: &[Line<'a>]) -> Attempt<'a> {
    let mut states = Vec::new();
    for chunk in lines.chunks(list.len()) {
        let mut counters = StateCounters::new(StateIndex::ZERO);
        for (position, attribute) in list.iter().enumerate() {
            let line = chunk.get(position).copied();
            let fits = line.is_some_and(|line| {
                is_plausible(*attribute, line.text) && counters.set(*attribute, line.text).is_some()
            });
            if !fits {
                return Attempt { list, states, stopped: Some((line, position)) };
            }
        }
        states.push(counters);
    }
    Attempt { list, states, stopped: None }
}

/// A name or description of digits alone is possible in principle and has not been seen; to take
/// one for a text would make every list of numbers a dump.
fn is_plausible(attribute: Attribute, value: &str) -> bool {
    match attribute {
        Attribute::Name | Attribute::Desc => !value.bytes().all(|byte| byte.is_ascii_digit()),
        _ => true,
    }
}

fn by_cpu(
    file: &str,
    lines: &[Line<'_>],
    attempt: Attempt<'_>,
) -> Result<Vec<CpuCounters>, DumpError> {
    let first = attempt.states.first().and_then(|state| state.name.clone());
    let mut cpus: Vec<Vec<StateCounters>> = Vec::new();
    for (position, mut counters) in attempt.states.into_iter().enumerate() {
        if counters.name == first {
            cpus.push(Vec::new());
        }
        let Some(states) = cpus.last_mut() else { continue };
        let Some(state) = StateIndex::new(states.len()) else {
            let line = lines.get(position * attempt.list.len()).map_or(1, |line| line.number);
            return Err(DumpError {
                location: Location::line(file, line),
                problem: Box::new(DumpProblem::BareStates(first.unwrap_or_default())),
            });
        };
        counters.state = state;
        states.push(counters);
    }
    let numbers = shell_order(cpus.len());
    Ok(numbers.into_iter().zip(cpus).map(|(cpu, states)| CpuCounters { cpu, states }).collect())
}

/// The numbers of so many CPUs in the order of `cpu*`: as texts, not as numbers.
fn shell_order(count: usize) -> Vec<CpuId> {
    let mut names: Vec<(String, CpuId)> =
        (0u32..).take(count).map(|cpu| (cpu.to_string(), CpuId(cpu))).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, cpu)| cpu).collect()
}
