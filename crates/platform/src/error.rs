// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;

use idlelab_states::{CpuId, MAX_STATES};

use crate::check::TableWarning;
use crate::{CpuListError, Location, TopologyError};

/// The largest number of microseconds that sysfs shows of a state: a kernel's `u32`.
pub(crate) const MAX_MICROSECONDS: i64 = 4_294_967_295;

/// Why a machine description was refused: where, which key, what was expected.
///
/// ```
/// use idlelab_platform::Platform;
///
/// let text = "name = 'mine'\nsource = 'datasheet'\nticks = 250\n";
/// let error = Platform::from_toml("machines/my.toml", text).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "machines/my.toml:3:1: ticks: unknown key; did you mean `tick_hz`? \
///      Known here: name, description, source, tick_hz, threads_per_core, timer_wakes, \
///      frequency, topology, table, power"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{location}: {}{problem}", Prefix(key))]
pub struct PlatformError {
    /// The place in the file.
    pub location: Location,
    /// The key's path, such as `table.state[2].exit_latency_us`; empty for the whole file. An
    /// array of one element is written without its number.
    pub key: String,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// What is wrong with a machine description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A key that the format does not have.
    #[error("unknown key; {}Known here: {known}", Suggestion(nearest))]
    UnknownKey {
        /// The valid key that it resembles.
        nearest: Option<String>,
        /// The valid keys of that place.
        known: String,
    },
    /// A key that must be there is not.
    #[error("missing; expected {expected}")]
    Missing {
        /// What belongs there.
        expected: &'static str,
    },
    /// A value of another type or outside its range.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A time that no kernel can hold.
    #[error(
        "expected whole microseconds from 0 to {MAX_MICROSECONDS} (the kernel keeps them in 32 \
         bits), found {found}"
    )]
    Microseconds {
        /// What is there.
        found: String,
    },
    /// No idle states, or more than the kernel's ten.
    #[error("expected 1 to {MAX_STATES} idle states, found {0}; split or shorten the table")]
    StateCount(usize),
    /// A text that is no list of CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuListError),
    /// One CPU in two tables.
    #[error("{cpu} already has the table `{first}`; a CPU has one table of idle states")]
    DuplicateCpu {
        /// The CPU.
        cpu: CpuId,
        /// The table that has it already.
        first: String,
    },
    /// Several tables, and one that does not say whose it is.
    #[error(
        "missing; with {tables} tables each must say which CPUs it is for, such as cpus = \"0-3\""
    )]
    TableWithoutCpus {
        /// How many tables there are.
        tables: usize,
    },
    /// A name that two tables bear.
    #[error("table[{first}] is already called that; give each table its own name")]
    DuplicateTable {
        /// The first table of that name.
        first: usize,
    },
    /// A power figure for a state that no table has.
    #[error("no idle state is called `{name}`; {}Known here: {known}", Suggestion(nearest))]
    UnknownState {
        /// The name.
        name: String,
        /// The state that it resembles.
        nearest: Option<String>,
        /// The states there are.
        known: String,
    },
    /// A power figure for a table that does not exist.
    #[error("no table is called `{name}`; {}Known here: {known}", Suggestion(nearest))]
    UnknownTable {
        /// The name.
        name: String,
        /// The table that it resembles.
        nearest: Option<String>,
        /// The tables there are.
        known: String,
    },
    /// A figure given twice.
    #[error("already given for {0}; keep one of the two")]
    DuplicateFigure(String),
    /// A point without a frequency beside others.
    #[error(
        "missing; where power is given at several frequencies, each point needs its `mhz` \
         (here: {0})"
    )]
    PointWithoutFrequency(String),
    /// A table with power figures, none of which tells what its first state draws.
    #[error(
        "state `{0}` has no power, and no shallower state has any that it could inherit; give it \
         one"
    )]
    NoPower(String),
    /// Shared power that falls at a state shallower than the level before it.
    #[error("level `{0}` is not deeper than the one before it; list levels shallowest first")]
    LevelOrder(String),
    /// A level that says nothing about some of the CPUs under it.
    #[error("table `{0}` has none of these states; name one of its states too")]
    LevelMisses(String),
    /// The topology describes no machine.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A table's CPU that the topology lacks.
    #[error("{0} has idle states but is in none of the topology's lists")]
    NotInTopology(CpuId),
}

struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

struct Suggestion<'a>(&'a Option<String>);

impl fmt::Display for Suggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(word) => write!(f, "did you mean `{word}`? "),
            None => Ok(()),
        }
    }
}

/// Something odd in a machine description that real machines do have.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The place in the file.
    pub location: Location,
    /// The key's path or the sysfs attribute; may be empty.
    pub key: String,
    /// What is odd.
    pub kind: WarningKind,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.location, Prefix(&self.key), self.kind)
    }
}

/// What is odd about a machine description.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WarningKind {
    /// An idle-state table that governors do not expect.
    Table(TableWarning),
    /// A deeper state that draws more than a shallower one.
    PowerRises {
        /// The deeper state.
        state: String,
        /// What it draws, in watts.
        watts: f64,
        /// The usable state before it.
        shallower: String,
        /// What that draws, in watts.
        shallower_watts: f64,
    },
    /// A CPU whose idle states sysfs does not tell; it is left out.
    CpuLeftOut {
        /// The CPU.
        cpu: CpuId,
        /// Why.
        reason: String,
    },
    /// An attribute that holds something unexpected; it counts as missing.
    Attribute {
        /// What is expected there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A topology that contradicts itself; it is left out.
    Topology(TopologyError),
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(warning) => warning.fmt(f),
            Self::PowerRises { state, watts, shallower, shallower_watts } => write!(
                f,
                "`{state}` draws {watts} W, more than the {shallower_watts} W of `{shallower}`, \
                 the state before it; it can never save energy"
            ),
            Self::CpuLeftOut { cpu, reason } => write!(f, "{cpu} is left out: {reason}"),
            Self::Attribute { expected, found } => {
                write!(f, "expected {expected}, found `{found}`; taken as missing")
            }
            Self::Topology(error) => write!(f, "the topology is left out: {error}"),
        }
    }
}
