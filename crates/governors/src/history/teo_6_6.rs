// SPDX-License-Identifier: GPL-2.0-or-later
//! teo as in kernels 6.6 to 6.13: the timers are asked last, or not at all.
//!
//! What is known of timers by the span of the governor's own clock, what is learnt from it and
//! what counts as busy is as [from 5.14 on](crate::history::teo_5_14). What is new:
//!
//! - The walk starts from the deepest enabled state. Only its result is held against the timers,
//!   and a shallow result is not: with a polling state 0 anything below 15 µs goes unasked.
//! - Where even the deepest state takes less than a tick, hits of a tick or longer are counted
//!   apart, since they ask for a stopped tick and not for a state.
//! - Unless the timers are worth more than a tick of intercepts, the tick is kept.
//!
//! | | 6.6 | 6.11 | 6.12.117 |
//! |---|---|---|---|
//! | a busy CPU | sleeps shallower | | |
//! | five of the last nine | lead down | | |
//! | going down to state 0 | spares the question | asks and ignores the answer | as 6.11 |
//! | with the tick stopped, the timer leads below a tick | no | no | yes |
//!
//! 6.6 has a fault: a hit that is counted apart leaves the oldest of the last nine wakeups in its
//! place, to be taken out of the counts twice, and the count wraps. From then on that state's bin
//! holds four thousand million recent intercepts.
//!
//! 6.11 asks and ignores the answer so that what wakes the CPU from state 0 is not taken for an
//! intercept of an endless sleep (`4b20b07ce72f`). With weights that never decay below 7 it can
//! hold a CPU in state 0 for ever.
//!
//! Mirrors: `21d28cd2fa5f` and `6da8f9ba5a87` of 6.6; the reverts of 6.11; Debian's 6.12.117. Known
//! difference: that of today's teo.

use core::mem;
use core::num::Wrapping;

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex, TickRate};

use crate::bins::{
    Aged, Bin, Expected, Measured, PULSE, Pulses, Survey, TWO, decay, explain_bins, explain_pulses,
    settle,
};
use crate::history::lookup::{after_intercepts, is_long_enough};
use crate::history::recent::{CHANCE, Recent};
use crate::history::span::{Span, ended_by_safety_net};
use crate::history::teo_5_14::is_busy;
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::walk::{RESIDENCY_THRESHOLD, half, shallower, shallower_sleeping};
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Which kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// 6.6 to 6.10.
    V6_6,
    /// 6.11 to 6.13.
    V6_11,
    /// Debian's 6.12.117.
    V6_12_117,
}

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    tick_length: Nanoseconds,
    revision: Revision,
    state_count: usize,
    bins: PerState<Bin>,
    /// Hits of a tick or longer, where the deepest state takes less.
    tick_hits: Pulses,
    /// Kept by 6.6 only.
    recent: Recent,
    total: Pulses,
    span: Span,
    /// As known at the last selection; `MAX` if it was not asked.
    sleep_length: Nanoseconds,
    /// Whether an idle period has ended that has not been learnt from.
    unlearnt: bool,
}

impl Teo {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub fn new(tick_rate: TickRate, revision: Revision) -> Self {
        Self::fresh(tick_rate.tick(), revision, 0)
    }

    fn fresh(tick_length: Nanoseconds, revision: Revision, state_count: usize) -> Self {
        Self {
            tick_length,
            revision,
            state_count,
            bins: PerState::default(),
            tick_hits: Wrapping(0),
            recent: Recent::default(),
            total: Wrapping(0),
            span: Span::default(),
            sleep_length: Nanoseconds::ZERO,
            unlearnt: true,
        }
    }

    fn learn(&mut self, states: &IdleStates, device: &Device) {
        let measured = if self.span.length() >= self.sleep_length {
            Nanoseconds::MAX
        } else {
            let latency = states[device.last_state].exit_latency;
            Measured::new(device.last_residency, latency).idle
        };
        let Aged { sum, timer_bin, duration_bin } =
            Aged::new(states, &mut self.bins, self.sleep_length, measured, decay);
        self.total = sum;
        self.recent.forget_oldest();

        let mut timer_is_beyond_bins = false;
        if states[states.last()].target_residency < self.tick_length {
            decay(&mut self.tick_hits);
            self.total += self.tick_hits;
            if self.tick_length <= self.sleep_length {
                timer_is_beyond_bins = true;
                if self.tick_length <= measured {
                    self.tick_hits += PULSE;
                    self.total += PULSE;
                    return;
                }
            }
        }
        if timer_bin == duration_bin && !timer_is_beyond_bins {
            self.bins[timer_bin].hits += PULSE;
            self.recent.remember(None);
        } else {
            self.bins[duration_bin].intercepts += PULSE;
            self.recent.remember(Some(duration_bin));
        }
        self.total += PULSE;
    }

    fn all_intercepts(&self, states: &IdleStates) -> Pulses {
        states.indices().fold(Wrapping(0), |sum, state| sum + self.bins[state].intercepts)
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
        self.span.begin(kernel);
        self.sleep_length = Nanoseconds::MAX;
        let zero = StateIndex::ZERO;
        let Some(second) = states.index(1) else {
            listener.because(|| Reason::OneState);
            return Selection::keeping_tick(zero);
        };

        let limit = kernel.latency_limit();
        let tick = kernel.tick();
        let tick_length = self.tick_length;
        let is_deep_enough =
            |state| is_long_enough(states[state].target_residency, tick, tick_length);
        let is_busy = self.revision == Revision::V6_6 && is_busy(kernel);
        if is_busy && states.len() < 3 {
            let first = &states[zero];
            let is_first_usable = first.is_enabled() && !first.is_polling() && is_deep_enough(zero);
            let to = if is_first_usable || !states[second].is_enabled() { zero } else { second };
            listener.because(|| Reason::Busy { from: second, to });
            if to == zero {
                return Selection::keeping_tick(zero);
            }
            let expected = Expected::unasked(states[second].target_residency, tick_length);
            return settle(states, zero, second, expected, tick, tick_length, listener);
        }
        let Some(survey) = Survey::new(states, &self.bins, limit) else {
            listener.because(|| Reason::NoneEnabled);
            return Selection::keeping_tick(zero);
        };
        let mut chosen = survey.deepest;
        if survey.is_single() {
            listener.because(|| Reason::OnlyEnabled(survey.deepest));
            let expected = Expected::unasked(states[chosen].target_residency, tick_length);
            return survey.settle(states, chosen, expected, tick, tick_length, listener);
        }

        listener.because(|| Reason::DeepestEnabled(survey.deepest));
        let intercepts = TWO * survey.below.intercepts > self.total - survey.below.hits;
        listener.because(|| survey.intercepts_reason(self.total, intercepts));
        let (all_recent, recent) = match self.revision {
            Revision::V6_6 => {
                let all_recent = self.recent.below(chosen);
                (all_recent, all_recent > CHANCE)
            }
            Revision::V6_11 | Revision::V6_12_117 => (Wrapping(0), false),
        };
        if self.revision == Revision::V6_6 {
            listener.because(|| Reason::RecentIntercepts { count: all_recent.0, prevail: recent });
        }
        if intercepts || recent {
            let mut sum = Wrapping(0);
            let mut recent_sum = Wrapping(0);
            chosen = after_intercepts(states, survey.deepest, is_deep_enough, |state| {
                sum += self.bins[state].intercepts;
                recent_sum += self.recent.in_bin(state);
                (!recent || TWO * recent_sum > all_recent)
                    && (!intercepts || TWO * sum > survey.below.intercepts)
            });
            let (state, sum, all) = (chosen, sum.0, survey.below.intercepts.0);
            listener.because(|| Reason::Covered { state, sum, intercepts: all, most: None });
            if chosen == zero && self.revision != Revision::V6_6 {
                listener.because(|| Reason::Shallowest);
                self.sleep_length = kernel.sleep_length().sleep;
                return Selection::keeping_tick(zero);
            }
        }
        chosen = survey.limited(chosen, limit, listener);
        if is_busy {
            let next = shallower_sleeping(states, chosen, Nanoseconds::MAX);
            if is_deep_enough(next) {
                let (from, to) = (chosen, next);
                listener.because(|| Reason::Busy { from, to });
                chosen = next;
            }
        }
        if chosen == zero {
            listener.because(|| Reason::Shallowest);
            return Selection::keeping_tick(zero);
        }
        if states[zero].is_polling() && states[chosen].target_residency < RESIDENCY_THRESHOLD {
            listener.because(|| Reason::TimersUnaskedBesidePolling(chosen));
            return Selection::keeping_tick(chosen);
        }

        let asked = kernel.sleep_length();
        self.sleep_length = asked.sleep;
        let mut expected = Expected { duration: asked.sleep, delta_tick: asked.delta_tick };
        if states[chosen].target_residency > asked.sleep {
            let fitting = shallower(states, chosen, asked.sleep);
            if self.revision == Revision::V6_12_117 || is_deep_enough(fitting) {
                let (from, to) = (chosen, fitting);
                listener.because(|| Reason::TimerTooNear { from, to, sleep: asked.sleep });
                chosen = fitting;
            }
        }
        if states[chosen].target_residency < tick_length
            && self.all_intercepts(states) > (self.total >> 1) + (self.total >> 3)
        {
            let (intercepts, total) = (self.all_intercepts(states).0, self.total.0);
            listener.because(|| Reason::TickIntercepts { intercepts, total });
            expected.duration = half(tick_length);
        }
        survey.settle(states, chosen, expected, tick, tick_length, listener)
    }
}

impl Governor for Teo {
    fn enable(&mut self, states: &IdleStates, _device: &mut Device) {
        *self = Self::fresh(self.tick_length, self.revision, states.len());
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
        let safety_net = ended_by_safety_net(kernel, self.sleep_length > self.tick_length);
        self.span.end(kernel, safety_net, self.sleep_length);
        self.unlearnt = true;
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        explain_bins(&self.bins, self.state_count, metrics);
        if self.revision == Revision::V6_6 {
            self.recent.explain(self.state_count, metrics);
        }
        explain_pulses("tick_hits", self.tick_hits, metrics);
        explain_pulses("total", self.total, metrics);
        self.span.explain(metrics);
        let sleep_length = self.sleep_length.get();
        metrics(Metric { name: "sleep_length_ns", index: None, value: sleep_length });
    }
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;
    use crate::SleepLength;
    use crate::steps::{StepDriver, StepInputs};

    /// The states that the CPU chooses, from weights as a phone printed them, with a tick after
    /// 997 µs each time and the timer 60 ms away.
    fn chosen(revision: Revision, steps: usize) -> std::vec::Vec<usize> {
        let row = |(latency, residency)| {
            let latency = Nanoseconds::from_micros(latency);
            IdleState::new("", latency, Nanoseconds::from_micros(residency))
        };
        let table = [(1, 1), (147, 2580), (181, 2580), (20_000, 4_294_967_295)].map(row);
        let states = IdleStates::new(&table).unwrap();
        let mut teo = Teo::new(TickRate::from_hertz(1000).unwrap(), revision);
        for (bin, (hits, intercepts)) in
            teo.bins.0.iter_mut().zip([(7, 7), (0, 0), (8192, 0), (0, 0)])
        {
            *bin = Bin { hits: Wrapping(hits), intercepts: Wrapping(intercepts) };
        }
        teo.total = Wrapping(8206);
        teo.unlearnt = false;
        let delta_tick = Nanoseconds::from_micros(997);
        let step = StepInputs {
            sleep_length: SleepLength { sleep: Nanoseconds::from_micros(60_000), delta_tick },
            got_tick: true,
            ..StepInputs::of_residency(delta_tick)
        };
        let mut driver = StepDriver::new();
        (0..steps).map(|_| driver.step(&mut teo, &states, &step).selection.state.get()).collect()
    }

    /// 14 > 8206 − 8199 = 7. Asked and ignored, the timer makes each tick a hit in its bin: all
    /// hits stay below the last state, and 14 > 7 for ever. Unasked, the tick is a hit in the last
    /// state's bin, and soon 14 > 8206 − 7175 = 1031 is false.
    #[test]
    fn a_leftover_of_seven_holds_6_11_in_the_shallowest_state_for_ever_but_not_6_6() {
        for revision in [Revision::V6_11, Revision::V6_12_117] {
            assert!(chosen(revision, 1000).iter().all(|&state| state == 0), "{revision:?}");
        }
        assert_eq!(chosen(Revision::V6_6, 5), [0, 2, 2, 2, 2]);
    }
}
