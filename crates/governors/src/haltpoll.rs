// SPDX-License-Identifier: GPL-2.0-or-later
//! haltpoll, for guests: poll for a while before a halt, because a halt costs an exit to the host.
//!
//! State 0 polls, state 1 halts. After every wakeup from a halt the governor polls first, for up to
//! the poll limit; if that was in vain, it halts. The limit follows the lengths of the halts:
//!
//! ```text
//!   halt  ≤ limit           the poll would have caught it      leave the limit
//!   limit < halt ≤ maximum  a longer poll would have caught it grow it
//!   halt  > maximum         no poll would have caught it       shrink it, to nothing in the end
//! ```
//!
//! The poll limit is the device's, shared with the polling state, which computes one if it finds
//! none.
//!
//! Mirrors: 6.12 and later; up to 6.8 a shrinking limit was halved on and on instead of going to
//! zero below the starting size. As shipped, a maximum of zero does not end polling by itself
//! while shrinking is off. Known difference: with one state only, it chooses that instead of the
//! halt that the table lacks.

use idlelab_states::{IdleStates, Nanoseconds, StateIndex};

use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Whether the poll limit may shrink (`guest_halt_poll_allow_shrink`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrinking {
    /// It shrinks after halts that no poll would have caught.
    Allowed,
    /// It only grows.
    Forbidden,
}

/// The module's parameters. Their default is the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The longest poll, in nanoseconds (`guest_halt_poll_ns`).
    pub maximum: u32,
    /// What a shrinking limit is divided by; zero means to zero (`guest_halt_poll_shrink`).
    pub shrink: u32,
    /// What a growing limit is multiplied by (`guest_halt_poll_grow`).
    pub grow: u32,
    /// The shortest poll, in nanoseconds (`guest_halt_poll_grow_start`).
    pub grow_start: u32,
    /// Whether it may shrink (`guest_halt_poll_allow_shrink`).
    pub shrinking: Shrinking,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            maximum: 200_000,
            shrink: 2,
            grow: 2,
            grow_start: 50_000,
            shrinking: Shrinking::Allowed,
        }
    }
}

/// What becomes of a limit that shrinks below the starting size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Remnant {
    /// It is given up: from 6.12 at the latest.
    #[default]
    IsDropped,
    /// It shrinks on, and costs a poll each time: up to 6.8.
    IsKept,
}

/// The governor of one CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Haltpoll {
    parameters: Parameters,
    remnant: Remnant,
}

impl Haltpoll {
    /// A governor with the module's default parameters. It knows nothing of the tick's rate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A governor with other parameters.
    #[must_use]
    pub const fn with_parameters(parameters: Parameters) -> Self {
        Self { parameters, remnant: Remnant::IsDropped }
    }

    /// The governor of kernels up to 6.8, with the module's default parameters.
    #[must_use]
    pub fn of_6_8() -> Self {
        Self { remnant: Remnant::IsKept, ..Self::default() }
    }

    fn adjust(&self, device: &mut Device) {
        let Parameters { maximum, shrink, grow, grow_start, shrinking } = self.parameters;
        let halted = device.last_residency.get().cast_unsigned();
        // The comparison sees all of the limit, the arithmetic its low 32 bits.
        let limit = device.poll_limit.get().cast_unsigned() as u32;
        let adjusted = if halted > device.poll_limit.get().cast_unsigned()
            && halted <= maximum.into()
        {
            limit.wrapping_mul(grow).max(grow_start).min(maximum)
        } else if halted > maximum.into() && shrinking == Shrinking::Allowed {
            let is_kept = |&shrunk: &u32| self.remnant == Remnant::IsKept || shrunk >= grow_start;
            limit.checked_div(shrink).filter(is_kept).unwrap_or(0)
        } else {
            return;
        };
        device.poll_limit = Nanoseconds::new(adjusted.into());
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        let poll = Selection::keeping_tick(StateIndex::ZERO);
        let halt = Selection::stopping_tick(states.index(1).unwrap_or_default());
        if kernel.latency_limit() == Nanoseconds::ZERO {
            listener.because(|| Reason::NoLatencyAllowed(StateIndex::ZERO));
            return poll;
        }
        let device = kernel.device();
        let polled_in_vain = device.last_state == StateIndex::ZERO && device.poll_time_limit;
        let limit = device.poll_limit;
        let is_off = limit == Nanoseconds::ZERO;
        listener.because(|| match (is_off, polled_in_vain) {
            (true, _) => Reason::PollingIsOff(halt.state),
            (false, true) => Reason::PolledInVain(halt.state),
            (false, false) => Reason::PollsFirst { limit },
        });
        if is_off || polled_in_vain { halt } else { poll }
    }
}

impl Governor for Haltpoll {
    fn enable(&mut self, _states: &IdleStates, device: &mut Device) {
        device.poll_limit = Nanoseconds::ZERO;
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        let device = kernel.device();
        device.last_state = entered;
        if entered != StateIndex::ZERO {
            self.adjust(device);
        }
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        let Parameters { maximum, shrink, grow, grow_start, shrinking } = self.parameters;
        let mut whole = |name, value| metrics(Metric { name, index: None, value });
        whole("guest_halt_poll_ns", maximum.into());
        whole("guest_halt_poll_shrink", shrink.into());
        whole("guest_halt_poll_grow", grow.into());
        whole("guest_halt_poll_grow_start", grow_start.into());
        whole("guest_halt_poll_allow_shrink", i64::from(shrinking == Shrinking::Allowed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit_after(parameters: Parameters, limit: i64, halted: i64) -> i64 {
        let mut device = Device {
            poll_limit: Nanoseconds::new(limit),
            last_residency: Nanoseconds::new(halted),
            ..Device::default()
        };
        Haltpoll::with_parameters(parameters).adjust(&mut device);
        device.poll_limit.get()
    }

    #[test]
    fn a_limit_that_shrinks_below_the_starting_size_is_gone() {
        let parameters = Parameters { grow_start: 4_000, ..Parameters::default() };
        assert_eq!(limit_after(parameters, 10_000, 200_001), 5_000);
        // 5000 / 2 = 2500 < 4000.
        assert_eq!(limit_after(parameters, 5_000, 200_001), 0);
        assert_eq!(limit_after(Parameters::default(), 10_000, 200_001), 0);
        assert_eq!(limit_after(Parameters { shrink: 0, ..parameters }, 10_000, 200_001), 0);
    }

    #[test]
    fn a_limit_grows_from_the_starting_size_to_the_maximum() {
        let parameters = Parameters::default();
        assert_eq!(limit_after(parameters, 0, 1), 50_000);
        assert_eq!(limit_after(parameters, 50_000, 50_000), 50_000);
        assert_eq!(limit_after(parameters, 50_000, 50_001), 100_000);
        assert_eq!(limit_after(parameters, 150_000, 200_000), 200_000);
    }

    #[test]
    fn a_starting_size_of_zero_keeps_the_limit_at_zero() {
        let parameters = Parameters { grow_start: 0, ..Parameters::default() };
        assert_eq!(limit_after(parameters, 0, 100_000), 0);
    }

    #[test]
    fn a_starting_size_beyond_the_maximum_is_the_maximum() {
        let parameters = Parameters { grow_start: 500_000, ..Parameters::default() };
        assert_eq!(limit_after(parameters, 0, 100_000), 200_000);
    }

    /// As shipped: what was set to nothing goes on polling.
    #[test]
    fn a_maximum_of_zero_does_not_end_polling_while_shrinking_is_forbidden() {
        let parameters =
            Parameters { maximum: 0, shrinking: Shrinking::Forbidden, ..Parameters::default() };
        assert_eq!(limit_after(parameters, 200_000, 300_000), 200_000);
        let allowed = Parameters { shrinking: Shrinking::Allowed, ..parameters };
        // 200 000 / 2 is above the starting size.
        assert_eq!(limit_after(allowed, 200_000, 300_000), 100_000);
    }
}
