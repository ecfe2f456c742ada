// SPDX-License-Identifier: GPL-2.0-or-later
//! Policy: *which idle state, and keep the tick?*
//!
//! A [`Governor`] answers that once for every time a CPU goes idle. All it knows of the world it
//! asks of a [`Kernel`], call by call, so that whoever drives it (a replay, a simulator, a test)
//! can count, record or lazily compute each answer. Each governor here makes the same decisions as
//! the kernel's own C file of the version it names, to the last bit of its integer arithmetic.
//!
//! ```text
//!        select                     (idle)                    reflect
//!  ──────┬──────────────────────────────────────────────────────┬──────▶ time
//!        │ latency limit? tick stopped?                         │ got tick?
//!        │ sleep length?  (costly: some avoid it)               │ last residency
//!        ▼                                                      ▼
//!   Selection { state, tick }                         (evaluated at the next select)
//! ```
//!
//! The crate is `no_std`, does not allocate, uses no floating point and cannot panic.
#![no_std]
#![deny(
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod catalog;
pub mod clairvoyant;
pub mod fixed;
pub mod haltpoll;
pub mod history;
pub mod ladder;
pub mod menu;
pub mod reason;
pub mod steps;
pub mod teo;

mod bins;
mod memory;
mod typical;
mod wakeups;
mod walk;

#[cfg(test)]
extern crate std;

use idlelab_states::{IdleStates, Nanoseconds, StateIndex};

use reason::Reason;

pub use idlelab_states::Tick;

/// Chooses idle states for one CPU.
///
/// One value serves one CPU: the kernel keeps governor data per CPU too.
pub trait Governor {
    /// The CPU's idle states are (again) given to this governor: its data starts from zero.
    fn enable(&mut self, states: &IdleStates, device: &mut Device);

    /// Chooses an idle state for the CPU that is about to idle.
    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection;

    /// [Selects](Governor::select), and hands out the steps that lead there. A governor that does
    /// not know its own steps hands out none.
    fn select_with_reasons(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        _reasons: &mut dyn FnMut(Reason),
    ) -> Selection {
        self.select(states, kernel)
    }

    /// Takes note of the state that was really entered; not called when the driver rejected it.
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel);

    /// Hands out the internal metrics at this moment, by the names the kernel uses.
    fn explain(&self, metrics: &mut dyn FnMut(Metric));
}

/// The exit latency that PM QoS allows where nobody asks for less: 2000 s
/// (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
pub const NO_LATENCY_LIMIT: Nanoseconds = Nanoseconds::new(2_000_000_000_000);

/// Everything a governor asks of the kernel.
pub trait Kernel {
    /// The time to the next timer (`tick_nohz_get_sleep_length`). Costly on real hardware.
    fn sleep_length(&mut self) -> SleepLength;

    /// The exit latency that PM QoS allows on this CPU (`cpuidle_governor_latency_req`).
    fn latency_limit(&mut self) -> Nanoseconds;

    /// Whether the tick of this CPU is stopped (`tick_nohz_tick_stopped`).
    fn tick(&mut self) -> Tick;

    /// Whether the tick has fired since this was last asked; asking clears it
    /// (`tick_nohz_idle_got_tick`).
    fn take_got_tick(&mut self) -> bool;

    /// The CPU's clock (`local_clock`), asked by teo up to 6.13.
    fn clock(&mut self) -> Nanoseconds;

    /// Tasks that wait for IO on this CPU (`nr_iowait_cpu`), asked by menu up to 6.11.
    fn io_waiters(&mut self) -> u32;

    /// The CPU's utilisation, of a capacity of 1024 (`sched_cpu_util`), asked by teo of 6.3 to
    /// 6.10.
    fn utilisation(&mut self) -> u32;

    /// The CPU's load average in units of 1/2048 (`get_iowait_load`), asked by menu of 4.5 and
    /// 4.6.
    fn load(&mut self) -> u32;

    /// What the cpuidle core keeps for the CPU.
    fn device(&mut self) -> &mut Device;

    /// What is going to end the idle period. No kernel can say; only the clairvoyant bound asks,
    /// and only a replay or a simulator answers.
    fn foresight(&mut self) -> Option<Foresight> {
        None
    }
}

/// The two results of `tick_nohz_get_sleep_length`. Both are negative when the timer has already
/// expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SleepLength {
    /// Time to the next timer if the tick is stopped: `KTIME_MAX` less now if there is none.
    pub sleep: Nanoseconds,
    /// Time to the next event that the clock event device is programmed for, the tick included:
    /// `delta_tick` in teo and menu.
    pub delta_tick: Nanoseconds,
}

/// What a governor wants done with the tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickRequest {
    /// Stop it, if the kernel can.
    Stop,
    /// Let it run.
    Keep,
}

/// A governor's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The idle state to enter.
    pub state: StateIndex,
    /// What to do with the tick.
    pub tick: TickRequest,
}

impl Selection {
    /// `state`, with the tick left running.
    pub(crate) const fn keeping_tick(state: StateIndex) -> Self {
        Self { state, tick: TickRequest::Keep }
    }

    /// `state`, with the tick stopped.
    pub(crate) const fn stopping_tick(state: StateIndex) -> Self {
        Self { state, tick: TickRequest::Stop }
    }
}

/// What the cpuidle core keeps for a CPU (`struct cpuidle_device`). It outlives a change of
/// governor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Measured length of the last idle period, exit latency included; zero after a rejected
    /// entry.
    pub last_residency: Nanoseconds,
    /// The state last entered.
    pub last_state: StateIndex,
    /// Whether the last stay in the polling state ended at its time limit.
    pub poll_time_limit: bool,
    /// How long the polling state may spin; zero means that the core computes it.
    pub poll_limit: Nanoseconds,
}

/// What the clairvoyant bound is told of the coming idle period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foresight {
    /// Time until an event from outside ends the idle period.
    pub idle: Nanoseconds,
    /// Time until the tick fires, if it runs.
    pub tick: Option<Nanoseconds>,
    /// Whether the kernel could stop the tick now.
    pub stoppable: bool,
}

/// One internal figure of a governor, for an explanation of its decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name that the kernel's source gives it.
    pub name: &'static str,
    /// The idle state it belongs to, or `None` for a figure of the whole CPU. menu's correction
    /// factors and intervals are numbered here too.
    pub index: Option<usize>,
    /// The value, in nanoseconds where it is a time.
    pub value: i64,
}
