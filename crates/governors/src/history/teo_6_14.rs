// SPDX-License-Identifier: GPL-2.0-or-later
//! teo as in kernels 6.14 to 6.18, and with the "over-eager" patch that was posted against it.
//!
//! The idea is that of [today's teo](crate::teo). What differs, in learning:
//!
//! - weights never decay below 7, and `total` is a weight of its own, so that the bins' sum can
//!   exceed it;
//! - a wakeup by the tick with the timer further off, or at the poll time limit, counts as a very
//!   long idle period;
//! - a hit asks only for equal bins, whether the timer had fired or not;
//! - `tick_intercepts` grows with intercepts of a tick *or longer*, the opposite of what was meant
//!   (`d619b5cc6780`; put right in 6.19);
//!
//! and in selecting:
//!
//! - the walk after intercepts ends at the first state that covers more than half of them; with
//!   the tick stopped it skips states with a target residency below a tick;
//! - the timers go unasked, too, while the tick is stopped, and nothing lifts the CPU out of a
//!   shallow state then.
//!
//! ```text
//!                                      deepest enabled state
//!            bins below it                      ▼
//!  ┌──────────────────────────────────────┬───────────┐
//!  │ hits H, intercepts I                 │ the rest  │  total T
//!  └──────────────────────────────────────┴───────────┘
//!  leave the deepest state if   2·I > T − H        as released
//!                               2·(I + H) > T      over-eager patch
//! ```
//!
//! The patch (February 2025, never merged) wanted timers below the deepest state's residency to
//! count against it like intercepts. It was withdrawn because idle energy and misses rose.
//!
//! Mirrors: `d619b5cc6780`, `13ed5c4a6d9c` and `16c8d7586c19` of 6.14; 6.15 to 6.18 are believed
//! to be the same. Known difference: that of today's teo.

use core::mem;
use core::num::Wrapping;

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex, TickRate};

use crate::bins::{
    Aged, Bin, Expected, Measured, PULSE, Pulses, Survey, TWO, decay, explain_bins, explain_pulses,
};
use crate::history::lookup::{after_intercepts, is_long_enough};
use crate::history::span::ended_by_safety_net;
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::walk::{LATENCY_THRESHOLD, RESIDENCY_THRESHOLD, half, shallower};
use crate::{Device, Governor, Kernel, Metric, Selection};

/// When the deepest enabled state is given up for a shallower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preselection {
    /// When intercepts below it are more than half of what the hits below it leave.
    #[default]
    AsReleased,
    /// When intercepts and hits below it are more than half of everything.
    OverEager,
}

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    tick_length: Nanoseconds,
    preselection: Preselection,
    state_count: usize,
    bins: PerState<Bin>,
    total: Pulses,
    tick_intercepts: Pulses,
    short_idles: Pulses,
    /// As known at the last selection; `MAX` if it was not asked.
    sleep_length: Nanoseconds,
    artificial_wakeup: bool,
    /// Whether an idle period has ended that has not been learnt from.
    unlearnt: bool,
}

impl Teo {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub fn new(tick_rate: TickRate, preselection: Preselection) -> Self {
        Self::fresh(tick_rate.tick(), preselection, 0)
    }

    fn fresh(tick_length: Nanoseconds, preselection: Preselection, state_count: usize) -> Self {
        Self {
            tick_length,
            preselection,
            state_count,
            bins: PerState::default(),
            total: Wrapping(0),
            tick_intercepts: Wrapping(0),
            short_idles: Wrapping(0),
            sleep_length: Nanoseconds::ZERO,
            artificial_wakeup: false,
            unlearnt: true,
        }
    }

    fn learn(&mut self, states: &IdleStates, device: &Device) {
        decay(&mut self.short_idles);
        let measured = if self.artificial_wakeup {
            Nanoseconds::MAX
        } else {
            let latency = states[device.last_state].exit_latency;
            let measured = Measured::new(device.last_residency, latency);
            if measured.short {
                self.short_idles += PULSE;
            }
            measured.idle
        };

        let Aged { timer_bin, duration_bin, .. } =
            Aged::new(states, &mut self.bins, self.sleep_length, measured, decay);
        decay(&mut self.total);
        self.total += PULSE;
        decay(&mut self.tick_intercepts);

        if timer_bin == duration_bin {
            self.bins[timer_bin].hits += PULSE;
        } else {
            self.bins[duration_bin].intercepts += PULSE;
            if measured >= self.tick_length {
                self.tick_intercepts += PULSE;
            }
        }
    }

    fn must_leave_deepest(&self, below: Bin) -> bool {
        match self.preselection {
            Preselection::AsReleased => TWO * below.intercepts > self.total - below.hits,
            Preselection::OverEager => TWO * (below.intercepts + below.hits) > self.total,
        }
    }

    fn preselection_reason(&self, survey: &Survey, prevail: bool) -> Reason {
        match self.preselection {
            Preselection::AsReleased => survey.intercepts_reason(self.total, prevail),
            Preselection::OverEager => {
                let Bin { hits, intercepts } = survey.below;
                let total = self.total.0;
                Reason::EventsBelow { intercepts: intercepts.0, hits: hits.0, total, prevail }
            }
        }
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        if mem::take(&mut self.unlearnt) {
            self.learn(states, kernel.device());
        }
        self.sleep_length = Nanoseconds::MAX;
        if states.len() < 2 {
            listener.because(|| Reason::OneState);
            return Selection::keeping_tick(StateIndex::ZERO);
        }

        let limit = kernel.latency_limit();
        let tick = kernel.tick();
        let Some(survey) = Survey::new(states, &self.bins, limit) else {
            listener.because(|| Reason::NoneEnabled);
            return Selection::keeping_tick(StateIndex::ZERO);
        };
        let is_deep_enough =
            |state| is_long_enough(states[state].target_residency, tick, self.tick_length);
        let mut chosen = survey.deepest;
        if survey.is_single() {
            listener.because(|| Reason::OnlyEnabled(survey.deepest));
            let expected = Expected::unasked(states[chosen].target_residency, self.tick_length);
            return survey.settle(states, chosen, expected, tick, self.tick_length, listener);
        }

        listener.because(|| Reason::DeepestEnabled(survey.deepest));
        let leaves_deepest = self.must_leave_deepest(survey.below);
        listener.because(|| self.preselection_reason(&survey, leaves_deepest));
        if leaves_deepest {
            let mut sum = Wrapping(0);
            chosen = after_intercepts(states, survey.deepest, is_deep_enough, |state| {
                sum += self.bins[state].intercepts;
                TWO * sum > survey.below.intercepts
            });
            let (state, sum, intercepts) = (chosen, sum.0, survey.below.intercepts.0);
            listener.because(|| Reason::Covered { state, sum, intercepts, most: None });
        }
        chosen = survey.limited(chosen, limit, listener);

        let is_shallow =
            chosen == StateIndex::ZERO || states[chosen].target_residency < RESIDENCY_THRESHOLD;
        if is_shallow && (TWO * self.short_idles >= self.total || limit < LATENCY_THRESHOLD) {
            let (state, short_idles, total) = (chosen, self.short_idles.0, self.total.0);
            listener.because(|| Reason::TimersUnasked { state, short_idles, total, limit });
            return Selection::keeping_tick(chosen);
        }

        let asked = kernel.sleep_length();
        self.sleep_length = asked.sleep;
        let mut expected = Expected { duration: asked.sleep, delta_tick: asked.delta_tick };
        if chosen == StateIndex::ZERO {
            listener.because(|| Reason::Shallowest);
            return Selection::keeping_tick(chosen);
        }
        if states[chosen].target_residency > asked.sleep {
            let fitting = shallower(states, chosen, asked.sleep);
            if is_deep_enough(fitting) {
                let (from, to) = (chosen, fitting);
                listener.because(|| Reason::TimerTooNear { from, to, sleep: asked.sleep });
                chosen = fitting;
            }
        }
        if states[chosen].target_residency < self.tick_length
            && self.tick_intercepts > (self.total >> 1) + (self.total >> 3)
        {
            let (intercepts, total) = (self.tick_intercepts.0, self.total.0);
            listener.because(|| Reason::TickIntercepts { intercepts, total });
            expected.duration = half(self.tick_length);
        }
        survey.settle(states, chosen, expected, tick, self.tick_length, listener)
    }
}

impl Governor for Teo {
    fn enable(&mut self, states: &IdleStates, _device: &mut Device) {
        *self = Self::fresh(self.tick_length, self.preselection, states.len());
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
        self.artificial_wakeup = ended_by_safety_net(kernel, self.sleep_length > self.tick_length);
        self.unlearnt = true;
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        explain_bins(&self.bins, self.state_count, metrics);
        explain_pulses("total", self.total, metrics);
        explain_pulses("tick_intercepts", self.tick_intercepts, metrics);
        explain_pulses("short_idles", self.short_idles, metrics);
        let sleep_length = self.sleep_length.get();
        metrics(Metric { name: "sleep_length_ns", index: None, value: sleep_length });
        let artificial_wakeup = self.artificial_wakeup.into();
        metrics(Metric { name: "artificial_wakeup", index: None, value: artificial_wakeup });
    }
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;
    use crate::SleepLength;
    use crate::steps::{StepDriver, StepInputs};

    fn table(microseconds: [(i64, i64); 4]) -> IdleStates {
        let row = |(latency, residency)| {
            let latency = Nanoseconds::from_micros(latency);
            IdleState::new("", latency, Nanoseconds::from_micros(residency))
        };
        IdleStates::new(&microseconds.map(row)).unwrap()
    }

    fn teo(hertz: u32, preselection: Preselection, bins: [(u32, u32); 4], total: u32) -> Teo {
        let mut teo = Teo::new(TickRate::from_hertz(hertz).unwrap(), preselection);
        for (bin, (hits, intercepts)) in teo.bins.0.iter_mut().zip(bins) {
            *bin = Bin { hits: Wrapping(hits), intercepts: Wrapping(intercepts) };
        }
        teo.total = Wrapping(total);
        teo.unlearnt = false;
        teo
    }

    fn ticks(sleep: i64) -> StepInputs {
        let delta_tick = Nanoseconds::new(997_000);
        StepInputs {
            sleep_length: SleepLength { sleep: Nanoseconds::new(sleep), delta_tick },
            got_tick: true,
            ..StepInputs::of_residency(delta_tick)
        }
    }

    /// 2·7 > 8206 − (7 + 8192) = 7 at first. Every tick is a hit in bin 2, which stays at 8192, and
    /// both 7s stay 7. The total falls to 8199 and stays, since an eighth of that is 1024: 14 > 0.
    #[test]
    fn a_leftover_of_seven_holds_the_cpu_in_the_shallowest_state_for_ever() {
        let states = table([(1, 1), (147, 2580), (181, 2580), (20_000, 4_294_967_295)]);
        let bins = [(7, 7), (0, 0), (8192, 0), (0, 0)];
        let mut teo = teo(1000, Preselection::AsReleased, bins, 8206);
        let mut driver = StepDriver::new();
        for _ in 0..1000 {
            let outcome = driver.step(&mut teo, &states, &ticks(60_000_000));
            assert_eq!(outcome.selection, Selection::keeping_tick(StateIndex::ZERO));
            assert_eq!(teo.bins.0[0], Bin { hits: Wrapping(7), intercepts: Wrapping(7) });
        }
    }

    fn select_after(preselection: Preselection, bins: [(u32, u32); 4]) -> usize {
        let states = table([(1, 1), (10, 20), (80, 211), (104, 20_000)]);
        let mut teo = teo(250, preselection, bins, 1000);
        let step = ticks(1_000_000_000);
        StepDriver::new().step(&mut teo, &states, &step).selection.state.get()
    }

    /// Sum 901. Down: 2·251 ≤ 901; 2·501 > 901, so state 1, although bin 0 has the most.
    #[test]
    fn the_walk_after_intercepts_ends_where_most_of_them_are_covered() {
        let bins = [(0, 400), (0, 250), (0, 251), (0, 0)];
        assert_eq!(select_after(Preselection::AsReleased, bins), 1);
    }

    /// Intercepts 300 and hits 250 below the deepest state, of 1000. As released 600 > 750 is
    /// false; over-eager 1100 > 1000 is true, and then 2·300 > 300 in bin 2.
    #[test]
    fn the_over_eager_patch_counts_hits_below_the_deepest_state_against_it() {
        let bins = [(0, 0), (250, 0), (0, 300), (450, 0)];
        assert_eq!(select_after(Preselection::AsReleased, bins), 3);
        assert_eq!(select_after(Preselection::OverEager, bins), 2);
    }
}
