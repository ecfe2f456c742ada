// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle counters as people paste them.
//!
//! Three spellings are in use, and all give the same:
//!
//! | spelling | made by |
//! | --- | --- |
//! | `…/cpu0/cpuidle/state1/name:C1` | `grep -r . /sys/devices/system/cpu/cpu*/cpuidle/` |
//! | `rw\|…/cpu0/cpuidle/state1/name\|C1` | pepc |
//! | `C1` | `cat /sys/devices/system/cpu/cpu*/cpuidle/state*/*` |
//!
//! In the third nothing has a name: each state is twelve lines in alphabetical order of their
//! attributes (fewer on older kernels, which shows in where the texts stand), and CPUs follow each
//! other in the shell's order: cpu0, cpu1, cpu10, cpu11, …, cpu2. A new CPU begins where the first
//! state's name comes again, and CPUs are taken to be numbered from 0 without gaps.
//!
//! Quoting (`>`), blank lines, complaints of `cat` and `grep`, other sysfs paths and `s2idle` are
//! passed over.
//!
//! ```
//! use idlelab_states::CpuId;
//!
//! let text = "\
//! cpu0/cpuidle/state0/name:POLL
//! cpu0/cpuidle/state0/latency:0
//! cpu0/cpuidle/state0/residency:0
//! cpu0/cpuidle/state0/usage:18042
//! ";
//! let dump = idlelab_platform::dump::parse("before.txt", text)?;
//! assert_eq!(dump.cpu(CpuId(0)).unwrap().states[0].usage, Some(18_042));
//! let machine = dump.platform("pasted")?;
//! assert!(machine.states_of(CpuId(0)).unwrap().as_slice()[0].is_polling());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod bare;
mod named;

use idlelab_states::CpuId;

use crate::Location;
use crate::counters::{CpuCounters, TableError, group};
use crate::{Platform, TablesError};

/// How a dump is spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spelling {
    /// `path:value`, as `grep -r .` prints.
    PathColon,
    /// `mode|path|value`, as pepc keeps them.
    ModePath,
    /// Values alone, so many lines a state, as `cat` prints. CPU numbers are inferred.
    Bare {
        /// Lines a state.
        attributes: usize,
    },
}

/// A line that was passed over without being understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The line, counted from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

/// The idle counters of a machine at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterDump {
    /// The file's name as the caller gave it.
    pub file: String,
    /// How it is spelt.
    pub spelling: Spelling,
    /// The CPUs, in the order in which the dump has them.
    pub cpus: Vec<CpuCounters>,
    /// The governor in force, if the dump holds `cpuidle/current_governor` too.
    pub governor: Option<String>,
    /// Lines that are neither counters nor anything else that is known in dumps.
    pub skipped: Vec<Skipped>,
}

/// Why a dump cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {problem}")]
pub struct DumpError {
    /// The place in the file.
    pub location: Location,
    /// What is wrong.
    pub problem: Box<DumpProblem>,
}

/// What is wrong with a dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DumpProblem {
    /// Nothing in it is a counter.
    #[error(
        "no idle counters found; expected the output of `grep -r . \
         /sys/devices/system/cpu/cpu*/cpuidle/` or of `cat \
         /sys/devices/system/cpu/cpu*/cpuidle/state*/*`"
    )]
    NoCounters,
    /// A value that its attribute cannot have.
    #[error("`{attribute}`: expected {expected}, found `{found}`")]
    Value {
        /// The attribute.
        attribute: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// An attribute given twice.
    #[error(
        "`{attribute}` of {cpu} state {state} was already given in line {first}; a dump holds one \
         moment, keep before and after in two files"
    )]
    Twice {
        /// The attribute.
        attribute: &'static str,
        /// The CPU.
        cpu: CpuId,
        /// The state's number.
        state: usize,
        /// The line that has it first.
        first: usize,
    },
    /// A path without a CPU.
    #[error(
        "the path `{0}` does not say which CPU it is of; expected …/cpuN/cpuidle/stateN/…, so run \
         grep from /sys/devices/system/cpu"
    )]
    NoCpu(String),
    /// A CPU or state number out of range.
    #[error("`{0}` is no number of a CPU (up to 65535) or of an idle state (0 to 9)")]
    Number(String),
    /// A list of bare values that does not go on as it began.
    #[error(
        "expected {expected} (`{attribute}`, value {position} of the {attributes} of each state), \
         found {found}"
    )]
    BareValue {
        /// What belongs there.
        expected: &'static str,
        /// The attribute that belongs there.
        attribute: &'static str,
        /// The value's position in its state, counted from 1.
        position: usize,
        /// Values a state.
        attributes: usize,
        /// What is there.
        found: String,
    },
    /// Bare values with more states in a row than a CPU can have.
    #[error(
        "an eleventh state follows without `{0}` having come again, with which each CPU begins; \
         are lines missing?"
    )]
    BareStates(String),
    /// The attributes make no idle-state table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The tables contradict each other.
    #[error(transparent)]
    Tables(#[from] TablesError),
}

/// Reads a dump in any spelling. `file_name` is what messages call it.
///
/// # Errors
///
/// No counters, a value that its attribute cannot have, an attribute given twice, or bare values
/// that do not fit the order of attributes.
pub fn parse(file_name: &str, text: &str) -> Result<CounterDump, DumpError> {
    let lines: Vec<Line<'_>> = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(index, text)| Line { number: index + 1, text: unquote(text) })
        .filter(|line| !line.text.is_empty() && !is_complaint(line.text))
        .collect();
    if lines.iter().any(|line| named::is_named(line.text)) {
        named::parse(file_name, &lines)
    } else {
        bare::parse(file_name, &lines)
    }
}

/// A line without its quoting and blanks at either end.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    number: usize,
    text: &'a str,
}

fn unquote(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

/// What the tools say themselves, such as `cat: …/s2idle: Is a directory`.
fn is_complaint(line: &str) -> bool {
    ["cat: ", "grep: "].iter().any(|tool| line.starts_with(tool))
}

/// A value for a message: what people paste may be long.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

impl CounterDump {
    /// The counters of a CPU.
    #[must_use]
    pub fn cpu(&self, cpu: CpuId) -> Option<&CpuCounters> {
        self.cpus.iter().find(|counters| counters.cpu == cpu)
    }

    /// The machine that the dump is of; CPUs with equal states share a table. See
    /// [`CpuCounters::idle_states`] for what sysfs does not tell.
    ///
    /// # Errors
    ///
    /// A state without name, latency or residency, or a skipped state.
    pub fn platform(&self, name: &str) -> Result<Platform, DumpError> {
        let error = |problem: DumpProblem| DumpError {
            location: Location::file(&self.file),
            problem: problem.into(),
        };
        let tables = self
            .cpus
            .iter()
            .map(|cpu| cpu.idle_states().map(|states| (cpu.cpu, states)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|table| error(table.into()))?;
        let source = format!("idle counters in {}", self.file);
        Platform::new(name, source, group(&tables)).map_err(|tables| error(tables.into()))
    }
}

#[cfg(test)]
mod tests;
