// SPDX-License-Identifier: GPL-2.0-or-later
//! What CPUs did.
//!
//! A [`Recording`] is a set of *idle periods* per CPU. What its source could not tell is null,
//! never guessed; [`Fidelity`] says how much it knows. Where the source recorded the governor's own
//! inputs, they are kept beside the periods as [`Decision`]s. [`parquet`] is its file: columns that
//! other tools read too.
//!
//! ```text
//!            idle_start   enter                    exit
//!   task ────┤            ├────── idle state ──────┤  interrupt ├──▶ again, or a task
//!            │  select    │                        │  handled   │
//!            └── Decision ┘                        └── causes ──┘
//! ```
//!
//! ```
//! use idlelab_recording::{CpuRecording, Period, Recording};
//! use idlelab_states::{CpuId, Nanoseconds};
//!
//! let mut cpu = CpuRecording::new(CpuId(0));
//! cpu.periods.push(&Period {
//!     enter: Nanoseconds::from_micros(10),
//!     exit: Nanoseconds::from_micros(250),
//!     ..Period::default()
//! });
//! let recording = Recording { cpus: vec![cpu], ..Recording::default() };
//! assert_eq!(recording.periods(), 1);
//! ```

mod circumstances;
mod decision;
mod fidelity;
mod note;
pub mod parquet;
mod period;
mod periods;

use idlelab_platform::Platform;
use idlelab_states::{CpuId, Nanoseconds, TickRate};

pub use circumstances::{Circumstances, CounterChange, StateCounts};
pub use decision::{Decision, Reflection};
pub use fidelity::Fidelity;
pub use note::{Note, NoteKind, Severity};
pub use period::{Miss, Period, WakeCauses, WhatFollowed};
pub use periods::Periods;

/// What the CPUs of one machine did for a while.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Where it came from, in words: the file and its format.
    pub source: String,
    /// The CPUs that were seen idle, in ascending order of their numbers.
    pub cpus: Vec<CpuRecording>,
    /// How much it knows.
    pub fidelity: Fidelity,
    /// The machine that was recorded, where it is known: without its idle-state tables a recording
    /// cannot be replayed.
    pub machine: Option<Platform>,
    /// The governor that was in force, where the source says so.
    pub governor: Option<String>,
    /// The clock that all times are of, by its name in `trace_clock`, where the source says so.
    pub clock: Option<String>,
    /// The tick rate, where the source shows it.
    pub tick_rate: Option<TickRate>,
    /// Whether the source holds `cpu_idle_miss` events, so that a period without a
    /// [`Miss`] was a right choice.
    pub misses_recorded: bool,
    /// The times of the first and the last event, in nanoseconds of the source's clock.
    pub span: Option<(Nanoseconds, Nanoseconds)>,
    /// What the recorder wrote down of the machine round it, where it did.
    pub circumstances: Circumstances,
    /// What was lost, odd or left out.
    pub notes: Vec<Note>,
}

impl Recording {
    /// How many idle periods all CPUs have together.
    #[must_use]
    pub fn periods(&self) -> usize {
        self.cpus.iter().map(|cpu| cpu.periods.len()).sum()
    }

    /// How many complete decisions (selected, entered and reflected) are recorded.
    #[must_use]
    pub fn complete_decisions(&self) -> usize {
        self.cpus.iter().flat_map(|cpu| &cpu.decisions).filter(|d| d.reflection.is_some()).count()
    }
}

/// What one CPU did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuRecording {
    /// Which CPU.
    pub cpu: CpuId,
    /// Its idle periods in order of time.
    pub periods: Periods,
    /// The governor's decisions in order of time, where the source recorded its inputs.
    pub decisions: Vec<Decision>,
    /// Where the tick of this CPU falls within a tick length, where the source shows it. The
    /// kernel keeps the phase when it stops and restarts the tick.
    pub tick_phase: Option<Nanoseconds>,
}

impl CpuRecording {
    /// A CPU with nothing recorded yet.
    #[must_use]
    pub fn new(cpu: CpuId) -> Self {
        Self { cpu, ..Self::default() }
    }
}
