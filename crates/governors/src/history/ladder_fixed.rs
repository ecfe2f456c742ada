// SPDX-License-Identifier: GPL-2.0-or-later
//! ladder with the three patches of November 2022 that were not merged.
//!
//! What they change of [ladder](crate::ladder):
//!
//! 1. An idle period shorter than the exit latency is negative, and no longer promotes.
//! 2. Since that made it climb much faster than descend, two long idle periods promote and four
//!    short ones demote, instead of four and one.
//! 3. Disabled states are passed over, in both directions. The polling state is chosen only where
//!    the latency limit admits no other, or nothing else is enabled.
//!
//! Mirrors: the three mails, applied to 6.1.

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex};

use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Long idle periods in a row that lead to a deeper state.
const PROMOTION_COUNT: u32 = 2;

/// Short idle periods in a row that lead to a shallower state.
const DEMOTION_COUNT: u32 = 4;

/// When a rung is left. All zero below the first rung, so that it is left at once.
#[derive(Clone, Copy, Debug, Default)]
struct Thresholds {
    promotion_count: u32,
    demotion_count: u32,
    promotion_time: Nanoseconds,
    demotion_time: Nanoseconds,
}

/// Idle periods in a row that speak for leaving a rung.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    promotion: u32,
    demotion: u32,
}

/// Whether the polling state may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Polling {
    Allowed,
    Avoided,
}

/// The governor of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Ladder {
    state_count: usize,
    thresholds: PerState<Thresholds>,
    counts: PerState<Counts>,
}

/// The next enabled state at or above `from` within the limit, else the next one below `from`,
/// else the shallowest.
fn up(
    states: &IdleStates,
    from: Option<StateIndex>,
    limit: Nanoseconds,
    polling: Polling,
) -> StateIndex {
    let is_fast = |state: &StateIndex| states[*state].exit_latency <= limit;
    let above = states
        .enabled()
        .rev()
        .filter(|&state| Some(state) <= from)
        .filter(|&state| polling == Polling::Allowed || !states[state].is_polling())
        .find(is_fast);
    let next_below = || states.enabled().find(|&state| Some(state) > from).filter(is_fast);
    above.or_else(next_below).or_else(|| states.enabled().next()).unwrap_or_default()
}

/// The next enabled state below `from` if it is within the limit, else the next one above that
/// is, else the shallowest.
fn down(states: &IdleStates, from: Option<StateIndex>, limit: Nanoseconds) -> StateIndex {
    let is_fast = |state: &StateIndex| states[*state].exit_latency <= limit;
    let below = states.enabled().find(|&state| Some(state) > from).filter(is_fast);
    let above = || states.enabled().rev().filter(|&state| Some(state) <= from).find(is_fast);
    below.or_else(above).or_else(|| states.enabled().next()).unwrap_or_default()
}

impl Ladder {
    /// A governor. It knows nothing of the tick.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The rung to go to, or to stay on.
    fn next(
        &mut self,
        states: &IdleStates,
        rung: StateIndex,
        residency: Nanoseconds,
        limit: Nanoseconds,
    ) -> StateIndex {
        if limit == Nanoseconds::ZERO {
            return down(states, None, limit);
        }
        let row = &states[rung];
        if row.exit_latency > limit {
            return up(states, rung.shallower(), limit, Polling::Allowed);
        }
        let idle = Nanoseconds::new(residency.get().wrapping_sub(row.exit_latency.get()));
        let thresholds = self.thresholds[rung];
        let counts = &mut self.counts[rung];
        if idle > thresholds.promotion_time {
            let deeper = down(states, Some(rung), limit);
            if deeper <= rung {
                return deeper;
            }
            counts.promotion = counts.promotion.wrapping_add(1);
            counts.demotion = 0;
            if counts.promotion >= thresholds.promotion_count {
                return deeper;
            }
        } else if idle < thresholds.demotion_time {
            let shallower = up(states, rung.shallower(), limit, Polling::Avoided);
            if shallower >= rung {
                return shallower;
            }
            counts.demotion = counts.demotion.wrapping_add(1);
            counts.promotion = 0;
            if counts.demotion >= thresholds.demotion_count {
                return shallower;
            }
        }
        // It may have been disabled since.
        up(states, Some(rung), limit, Polling::Avoided)
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        let limit = kernel.latency_limit();
        let device = kernel.device();
        let rung = device.last_state.min(states.last());
        let next = self.next(states, rung, device.last_residency, limit);
        let (from, to) = (rung, next);
        let idle = device.last_residency.get().wrapping_sub(states[rung].exit_latency.get());
        listener.because(|| {
            if limit == Nanoseconds::ZERO {
                Reason::NoLatencyAllowed(to)
            } else if states[from].exit_latency > limit || !states[from].is_enabled() {
                Reason::RungForbidden { from, to }
            } else if to > from {
                Reason::Promoted { from, to, idle }
            } else if to < from {
                Reason::Demoted { from, to, idle }
            } else {
                Reason::StaysOnRung { state: from, idle }
            }
        });
        if next != rung {
            self.counts[rung] = Counts::default();
            device.last_state = next;
        }
        Selection::stopping_tick(next)
    }
}

impl Governor for Ladder {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        *self = Self { state_count: states.len(), ..Self::default() };
        let first = if states[StateIndex::ZERO].is_polling() {
            states.index(1).unwrap_or_default()
        } else {
            StateIndex::ZERO
        };
        device.last_state = first;
        for state in states.indices().skip_while(|&state| state < first) {
            let latency = states[state].exit_latency;
            self.thresholds[state] = Thresholds {
                promotion_count: PROMOTION_COUNT,
                demotion_count: DEMOTION_COUNT,
                promotion_time: if state < states.last() { latency } else { Nanoseconds::MAX },
                demotion_time: if state > first { latency } else { Nanoseconds::new(i64::MIN) },
            };
        }
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        if entered > StateIndex::ZERO {
            kernel.device().last_state = entered;
        }
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        let rungs = (0..self.state_count).zip(&self.thresholds.0).zip(&self.counts.0);
        for ((index, thresholds), counts) in rungs {
            let mut of_rung = |name, value| metrics(Metric { name, index: Some(index), value });
            of_rung("promotion_count", counts.promotion.into());
            of_rung("demotion_count", counts.demotion.into());
            of_rung("promotion_time_ns", thresholds.promotion_time.get());
            of_rung("demotion_time_ns", thresholds.demotion_time.get());
        }
    }
}
