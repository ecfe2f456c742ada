// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines: their idle-state tables, topology, tick rate and power model.
//!
//! A [`Platform`] comes from one of four places:
//!
//! - a machine description in TOML ([`Platform::from_toml`]; its reference is [`mod@format`]),
//! - one of those that come with this crate ([`embedded`]),
//! - sysfs of this machine or a copy of it ([`sysfs`]),
//! - counters that somebody pasted into a mail ([`dump`]).
//!
//! ```
//! use idlelab_platform::embedded;
//! use idlelab_states::CpuId;
//!
//! let laptop = embedded::get("raptor-lake-i5-1340p").expect("it is embedded");
//! let states = laptop.states_of(CpuId(0)).expect("all CPUs have the same table");
//! let names: Vec<_> = states.as_slice().iter().map(|state| state.name.to_string()).collect();
//! assert_eq!(names, ["POLL", "C1_ACPI", "C2_ACPI", "C3_ACPI"]);
//! assert_eq!(states.as_slice()[3].exit_latency.as_micros(), 1048);
//! ```
//!
//! Nothing here knows of governors. Every number of a power model carries where it is from, and a
//! number that no source tells is absent instead of guessed.

mod check;
mod counters;
mod cpu_list;
pub mod dump;
pub mod embedded;
mod error;
pub mod format;
mod location;
mod model;
mod nearest;
mod power;
pub mod sysfs;
mod topology;

pub use check::{TableWarning, check_table};
pub use counters::{CpuCounters, StateCounters, Status, TableError};
pub use cpu_list::{CpuList, CpuListError};
pub use error::{PlatformError, Problem, Warning, WarningKind};
pub use location::Location;
pub use model::{
    Frequency, FrequencyDomain, ObservedLatency, Platform, StateTable, TablesError, TimerWakes,
};
pub use power::{
    CpuPower, Figure, FigureKind, PowerCurve, PowerModel, PowerPoint, PowerScope, SharedLevel,
    SharedPower, SharedScope, StatePower,
};
pub use topology::{Topology, TopologyError};
