// SPDX-License-Identifier: GPL-2.0-or-later
//! menu as in kernels 4.5 and 4.6, and between: when is polling better than the first real state?
//!
//! Everything is in microseconds. The tick is no concern of this menu: the idle loop stops it. A
//! busy CPU, and one where tasks wait for IO, divides its prediction by a multiplier, and accepts
//! no longer exit latency than that.
//!
//! ```text
//!            starts from state 1, not from polling,      and expects
//!   4.5      if predicted / multiplier > 20 µs           typical interval, else corrected timer
//!   between  if expected > its residency                 the lesser of typical interval and timer
//!   4.6      if the timer is beyond 20 µs and that       the lesser of the two
//! ```
//!
//! In a pipe test the CPU idles for 1 to 2 µs and the timers are far: 4.6 goes to state 1, what was
//! between polls. Going back to that made a loop 13 % faster, for 13 % more energy.
//!
//! Mirrors: 4.5.7; 4.6.2 with `0c313cb20732`; between, `e132b9b3bc7f` as its changelog has it.
//! Known difference: the first real state is 1, as on x86, on any machine.

use idlelab_states::{IdleState, IdleStates, Nanoseconds, StateIndex};

use crate::history::outliers::without_longest;
use crate::memory::{MAGNITUDES, Memory, NANOSECONDS_PER_MICROSECOND};
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::typical::Sample;
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Which kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// 4.5.
    V4_5,
    /// 4.6 with `0c313cb20732` reverted.
    V4_6Reverted,
    /// 4.6.
    V4_6,
}

/// So far away, in microseconds, a timer or a prediction must be for anything but polling.
const LEAST: u32 = 20;

/// Timers further away than this say nothing about how early the CPU wakes, in microseconds.
const MAX_INTERESTING: u64 = 50_000;

/// A load average has so many bits after the point.
const LOAD_SHIFT: u32 = 11;

/// What a load of one, and a task that waits for IO, count in the multiplier.
const WEIGHT: u32 = 10;

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Menu {
    revision: Revision,
    /// With a second set of correction factors for tasks that wait for IO.
    memory: Memory<{ 2 * MAGNITUDES }>,
}

/// Whole microseconds, cut to the 32 bits that the kernel keeps them in.
fn microseconds(time: Nanoseconds) -> u32 {
    time.as_micros() as u32
}

/// [`microseconds`] where the kernel keeps an `int`.
fn int_microseconds(time: Nanoseconds) -> u32 {
    microseconds(time.min(Nanoseconds::from_micros(i32::MAX.into())))
}

fn residency(row: &IdleState) -> u32 {
    microseconds(row.target_residency)
}

fn latency(row: &IdleState) -> u32 {
    microseconds(row.exit_latency)
}

/// By how much to divide a prediction on a CPU that is not as idle as it looks.
fn multiplier(load: u32, io_waiters: u32) -> u32 {
    /// Of the part after the point, in tenths.
    const HUNDREDTHS: u32 = 100;
    let whole = load >> LOAD_SHIFT;
    let part = load & ((1 << LOAD_SHIFT) - 1);
    let tenths = (part.wrapping_mul(HUNDREDTHS) >> LOAD_SHIFT) / WEIGHT;
    let load = whole.wrapping_mul(WEIGHT).wrapping_add(tenths);
    load.wrapping_mul(2).wrapping_add(WEIGHT.wrapping_mul(io_waiters)).wrapping_add(1)
}

impl Menu {
    /// A governor. It knows nothing of the tick.
    #[must_use]
    pub const fn new(revision: Revision) -> Self {
        Self { revision, memory: Memory::none(Nanoseconds::ZERO) }
    }

    fn update(&mut self, states: &IdleStates, device: &Device) {
        let latency = u64::from(latency(&states[device.last_state]));
        let residency = u64::from(int_microseconds(device.last_residency));
        let measured = if residency > latency.wrapping_mul(2) {
            residency.wrapping_sub(latency)
        } else {
            residency / 2
        };
        let next_timer = self.memory.next_timer_microseconds();
        let measured = measured.min(next_timer);
        self.memory.correct(measured, next_timer, MAX_INTERESTING);
        self.memory.remember(measured as u32);
    }

    fn typical_interval(&self) -> u32 {
        let agree = match self.revision {
            Revision::V4_5 => deviates_little,
            Revision::V4_6Reverted | Revision::V4_6 => Sample::is_consistent,
        };
        without_longest(&self.memory.intervals, u32::MAX, |_| true, agree)
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        if self.memory.take_needs_update() {
            self.update(states, kernel.device());
        }
        let limit = int_microseconds(kernel.latency_limit());
        if limit == 0 {
            listener.because(|| Reason::NoLatencyAllowed(StateIndex::ZERO));
            return Selection::stopping_tick(StateIndex::ZERO);
        }
        let io_waiters = kernel.io_waiters();
        let multiplier = multiplier(kernel.load(), io_waiters);
        let next_timer = microseconds(kernel.sleep_length().sleep);
        self.memory.set_timer(
            u64::from(next_timer).wrapping_mul(NANOSECONDS_PER_MICROSECOND),
            if io_waiters > 0 { MAGNITUDES } else { 0 },
        );

        let mut predicted = self.memory.corrected(next_timer.into(), 1);
        listener.because(|| self.memory.correction_reason(predicted));
        let typical = self.typical_interval();
        listener.because(|| Reason::typical(typical));
        let expected = typical.min(next_timer);
        let within_multiplier = |time: u32| time.checked_div(multiplier).unwrap_or(0);
        let first = states.index(1).filter(|&first| states[first].is_enabled());
        let first_row = first.map_or(&states[StateIndex::ZERO], |first| &states[first]);
        let leaves_polling = match self.revision {
            Revision::V4_5 => {
                if expected < next_timer {
                    predicted = expected;
                }
                within_multiplier(predicted) > LEAST
            }
            Revision::V4_6Reverted => expected > residency(first_row) && limit > latency(first_row),
            Revision::V4_6 => {
                next_timer > residency(first_row).max(LEAST) && limit > latency(first_row)
            }
        };
        if self.revision != Revision::V4_5 {
            predicted = predicted.min(expected);
        }
        let nanoseconds = u64::from(predicted).wrapping_mul(NANOSECONDS_PER_MICROSECOND);
        listener.because(|| Reason::Predicted(nanoseconds));
        let limit = limit.min(within_multiplier(predicted));
        listener.because(|| Reason::LoweredLimit {
            limit: Nanoseconds::from_micros(limit.into()),
            io_waiters,
        });

        let start = first.filter(|_| leaves_polling).unwrap_or(StateIndex::ZERO);
        let deeper = states.enabled().rev().take_while(|&state| state > start).find(|&state| {
            residency(&states[state]) <= predicted && latency(&states[state]) <= limit
        });
        let chosen = deeper.unwrap_or(start);
        listener.because(|| match (deeper, leaves_polling) {
            (Some(state), _) => Reason::Fits(state),
            (None, true) => Reason::BeatsPolling(start),
            (None, false) => Reason::Shallowest,
        });
        Selection::stopping_tick(chosen)
    }
}

/// Whether a standard deviation in whole microseconds is small, or small beside the mean.
fn deviates_little(sample: &Sample) -> bool {
    let deviation = sample.variance.isqrt();
    (sample.is_majority() && sample.mean > deviation.wrapping_mul(6)) || deviation <= 20
}

impl Governor for Menu {
    fn enable(&mut self, _states: &IdleStates, _device: &mut Device) {
        self.memory = Memory::none(Nanoseconds::ZERO);
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.memory.reflect(entered, kernel);
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.memory.explain(metrics);
    }
}
