// SPDX-License-Identifier: GPL-2.0-or-later
//! One CPU.
//!
//! ```text
//!              ┌───────────────── a task waits for this CPU ──────────────────┐
//!              ▼                                                              │
//!  Switching ──▶ Running ──▶ Entering ──▶ Idle ──▶ Exiting ──▶ Handling ──────┤
//!              (no task left)   ▲ │        an interrupt,       interrupts     │
//!                               │ │        a task, the limit                  │
//!              a task came ◀────┼─┘                                           │
//!                               └───────── the loop goes round again ─────────┘
//! ```

use std::collections::VecDeque;

use idlelab_cpuidle::{Entry, Environment, IdleLoop};
use idlelab_recording::WakeCauses;
use idlelab_states::{MAX_STATES, Nanoseconds, PerState};

use crate::histogram::Histogram;
use crate::latency::ExitLatency;
use crate::random::Stream;
use crate::timers::Timers;
use crate::utilisation::Utilisation;

/// What a CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A task executes.
    Running,
    /// The kernel turns to the task that is next.
    Switching,
    /// The idle loop is on its way to a state.
    Entering,
    /// In a state.
    Idle,
    /// On its way out of a state.
    Exiting,
    /// Interrupts are handled in the idle loop.
    Handling,
}

/// What a device's interrupt brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A task's data.
    Completed { task: u32 },
    /// One for a channel, or nothing that anyone waits for.
    Posted { channel: Option<usize> },
}

/// Where the time of a CPU went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Tasks executed, interrupts between them included.
    pub running: i64,
    /// The kernel switched, went idle, or handled interrupts in idle.
    pub overhead: i64,
    /// In each idle state.
    pub idle: PerState<i64>,
}

impl CpuTime {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.running + self.overhead + self.idle.0.iter().take(MAX_STATES).sum::<i64>()
    }
}

/// One stay in the idle loop, from its selection on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub(crate) entry: Entry,
    /// When the loop began this round.
    pub(crate) idle_start: i64,
    pub(crate) entered: i64,
    /// When the event came that ends it.
    pub(crate) woken: i64,
    pub(crate) exit: i64,
    pub(crate) causes: WakeCauses,
    /// When the tick is due and has not fired; never, if it is stopped.
    pub(crate) tick_due: i64,
    pub(crate) tick_fired: bool,
    pub(crate) interrupt_end: Option<i64>,
    pub(crate) poll_limit_hit: bool,
    /// When the timer was due that ended it.
    pub(crate) expired_timer: Option<i64>,
    /// What was known at its beginning.
    pub(crate) known: Known,
}

/// What a governor can ask of the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) hrtimer: i64,
    pub(crate) wheel_timer: i64,
    pub(crate) stoppable: bool,
    pub(crate) latency_limit: Nanoseconds,
    pub(crate) io_waiters: u32,
    pub(crate) utilisation: u32,
}

impl Environment for Known {
    #[inline]
    fn next_hrtimer(&mut self) -> Nanoseconds {
        Nanoseconds::new(self.hrtimer)
    }

    #[inline]
    fn next_wheel_timer(&mut self) -> Nanoseconds {
        Nanoseconds::new(self.wheel_timer)
    }

    #[inline]
    fn tick_stoppable(&mut self) -> bool {
        self.stoppable
    }

    #[inline]
    fn latency_limit(&mut self) -> Nanoseconds {
        self.latency_limit
    }

    fn io_waiters(&mut self) -> u32 {
        self.io_waiters
    }

    fn utilisation(&mut self) -> u32 {
        self.utilisation
    }

    // menu of 4.5 and 4.6 took the weight of the run queue for the load, and the run queue of a CPU
    // that goes idle is empty.
    fn load(&mut self) -> u32 {
        0
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cpu<G> {
    pub(crate) idle: IdleLoop<G>,
    pub(crate) phase: Phase,
    /// Up to when its time is accounted for.
    pub(crate) since: i64,
    pub(crate) time: CpuTime,
    pub(crate) run_queue: VecDeque<u32>,
    pub(crate) hrtimers: Timers,
    pub(crate) wheel_timers: Timers,
    /// Device interrupts that wait to be handled.
    pub(crate) pending: Vec<Arrival>,
    /// When an inter-processor interrupt arrives; never, if none is on its way.
    pub(crate) ipi: i64,
    /// When the CPU sees that it is to run a task, without an interrupt; never, if it need not.
    pub(crate) resched: i64,
    /// The task that runs or is switched to.
    pub(crate) task: u32,
    /// When what is left of the task's work began to be done.
    pub(crate) segment: i64,
    pub(crate) slice_end: i64,
    pub(crate) stay: Option<Stay>,
    /// Until when a polling CPU handles an interrupt.
    pub(crate) busy: i64,
    pub(crate) exit_latency: ExitLatency,
    pub(crate) wakeups: Histogram,
    pub(crate) rcu: Stream,
    pub(crate) rcu_needs_tick: bool,
    pub(crate) io_waiters: u32,
    pub(crate) utilisation: Utilisation,
}

impl<G> Cpu<G> {
    /// Adds the time up to `now` to what the CPU has been doing.
    #[inline]
    pub(crate) fn account(&mut self, now: i64) {
        let passed = now - self.since;
        self.since = now;
        match (self.phase, &self.stay) {
            (Phase::Running, _) => self.time.running += passed,
            (Phase::Idle | Phase::Exiting, Some(stay)) => {
                self.time.idle[stay.entry.state] += passed;
            }
            _ => self.time.overhead += passed,
        }
        self.utilisation.passed(now, self.phase == Phase::Running);
    }
}
