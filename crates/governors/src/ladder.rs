// SPDX-License-Identifier: GPL-2.0-or-later
//! ladder: one rung down after four long idle periods, one rung up after one short one.
//!
//! ```text
//!            four idle periods longer than its exit latency, and the next state allowed
//!   state 1 ───────────────────────────────────────────────────────────────────────────▶ state 2
//!           ◀───────────────────────────────────────────────────────────────────────────
//!            one idle period shorter than that; or disabled, or too slow for the latency limit
//! ```
//!
//! It predicts nothing and asks for no timer. It is meant for kernels whose tick never stops, and
//! never says to keep it. A polling state 0 is not a rung: it is used at a latency limit of zero
//! only.
//!
//! An idle period is the measured residency less the exit latency. The kernel compares it as an
//! unsigned number, so that a residency *below* the exit latency looks like an enormously long
//! idle period and promotes. Disabled states are not skipped: a disabled next state blocks the way
//! down, and the way up can end in one. [A series](crate::history::ladder_fixed) that would have
//! changed both was not merged.
//!
//! Mirrors: 6.1 to 7.3, whose text is the same in effect. Known difference: with one state only,
//! which polls, the kernel's first rung is past the table's end; here it is state 0.

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex};

use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Long idle periods in a row that lead to a deeper state.
const PROMOTION_COUNT: u32 = 4;

/// Short idle periods in a row that lead to a shallower state.
const DEMOTION_COUNT: u32 = 1;

/// When a rung is left. All zero below the first rung, so that it is left at once.
#[derive(Clone, Copy, Debug, Default)]
struct Thresholds {
    promotion_count: u32,
    demotion_count: u32,
    /// Nanoseconds, compared as unsigned numbers.
    promotion_time: u64,
    demotion_time: u64,
}

/// Idle periods in a row that speak for leaving a rung.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    promotion: u32,
    demotion: u32,
}

/// The governor of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Ladder {
    state_count: usize,
    first: StateIndex,
    thresholds: PerState<Thresholds>,
    counts: PerState<Counts>,
}

impl Ladder {
    /// A governor. It knows nothing of the tick.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn step(&mut self, from: StateIndex, to: StateIndex, device: &mut Device) -> Selection {
        self.counts[from] = Counts::default();
        device.last_state = to;
        Selection::stopping_tick(to)
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
        if limit == Nanoseconds::ZERO {
            listener.because(|| Reason::NoLatencyAllowed(StateIndex::ZERO));
            return self.step(rung, StateIndex::ZERO, device);
        }

        let row = &states[rung];
        let thresholds = self.thresholds[rung];
        let signed = device.last_residency.get().wrapping_sub(row.exit_latency.get());
        let idle = signed.cast_unsigned();

        let deeper = states
            .index(rung.get() + 1)
            .filter(|&deeper| states[deeper].is_enabled() && states[deeper].exit_latency <= limit);
        if let Some(deeper) = deeper
            && idle > thresholds.promotion_time
        {
            let counts = &mut self.counts[rung];
            counts.promotion = counts.promotion.wrapping_add(1);
            counts.demotion = 0;
            if counts.promotion >= thresholds.promotion_count {
                listener.because(|| Reason::Promoted { from: rung, to: deeper, idle: signed });
                return self.step(rung, deeper, device);
            }
        }

        let Some(shallower) = rung.shallower().filter(|_| rung > self.first) else {
            listener.because(|| Reason::StaysOnRung { state: rung, idle: signed });
            return Selection::stopping_tick(rung);
        };
        if !row.is_enabled() || row.exit_latency > limit {
            let mut target = shallower;
            while target > self.first && states[target].exit_latency > limit {
                target = target.shallower().unwrap_or(self.first);
            }
            listener.because(|| Reason::RungForbidden { from: rung, to: target });
            return self.step(rung, target, device);
        }
        if idle < thresholds.demotion_time {
            let counts = &mut self.counts[rung];
            counts.demotion = counts.demotion.wrapping_add(1);
            counts.promotion = 0;
            if counts.demotion >= thresholds.demotion_count {
                listener.because(|| Reason::Demoted { from: rung, to: shallower, idle: signed });
                return self.step(rung, shallower, device);
            }
        }
        listener.because(|| Reason::StaysOnRung { state: rung, idle: signed });
        Selection::stopping_tick(rung)
    }
}

impl Governor for Ladder {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        *self = Self { state_count: states.len(), ..Self::default() };
        self.first = if states[StateIndex::ZERO].is_polling() {
            states.index(1).unwrap_or_default()
        } else {
            StateIndex::ZERO
        };
        device.last_state = self.first;
        for state in states.indices().skip_while(|&state| state < self.first) {
            let latency = states[state].exit_latency.get().cast_unsigned();
            self.thresholds[state] = Thresholds {
                promotion_count: PROMOTION_COUNT,
                demotion_count: DEMOTION_COUNT,
                promotion_time: if state < states.last() { latency } else { 0 },
                demotion_time: if state > self.first { latency } else { 0 },
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
            of_rung("promotion_time_ns", thresholds.promotion_time.cast_signed());
            of_rung("demotion_time_ns", thresholds.demotion_time.cast_signed());
        }
    }
}
