// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{Nanoseconds, StateIndex, Tick};

/// One decision of the recorded governor: what it was told, what it chose, and what it was told
/// of the outcome. Only recordings of fidelity 4 have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When the choice was made.
    pub time: Nanoseconds,
    /// The latency limit it was given, if it asked.
    pub latency_limit: Option<Nanoseconds>,
    /// Whether the tick was stopped, if it asked.
    pub tick: Option<Tick>,
    /// The sleep length and the time to the next event with the tick counted in, if it asked.
    pub sleep_length: Option<(Nanoseconds, Nanoseconds)>,
    /// The state it chose.
    pub state: StateIndex,
    /// Whether it wanted the tick stopped.
    pub stop_tick: bool,
    /// The outcome it was told; none if the state was not entered or the recording ends first.
    pub reflection: Option<Reflection>,
}

/// What the governor was told after the idle period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reflection {
    /// The state that was entered.
    pub entered: StateIndex,
    /// The residency that the kernel measured.
    pub residency: Nanoseconds,
    /// Whether the polling state ended at its time limit.
    pub poll_time_limit: bool,
    /// Whether the tick had fired, if the governor asked.
    pub got_tick: Option<bool>,
}
