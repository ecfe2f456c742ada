// SPDX-License-Identifier: GPL-2.0-or-later
//! teo as in kernels 6.19 and 7.0, on the way to [today's](crate::teo).
//!
//! 6.19 learns as today from weights that decay to nothing, from wakeups by the tick once they
//! dominate, and from short intercepts. Then:
//!
//! | | 6.19 | 7.0 | 7.1 |
//! |---|---|---|---|
//! | a hit is any wakeup in the timer's bin | yes | by the timer | by the timer |
//! | a tick that does not dominate may be a hit | no | yes | yes |
//! | short intercepts keep the tick from a share of | > 5/8 | ≥ 2/3 | ≥ 2/3 |
//! | the walk goes at least to the most intercepted bin | no | yes | yes |
//! | with the tick stopped it spares states below a tick | yes | yes | no |
//! | and bins of no size | no | yes | no |
//! | and the timers may go unasked | yes | yes | no |
//!
//! Mirrors: the series of November 2025 in 6.19; `4bd2221f231d` and `a971f984b845` in 7.0. Known
//! difference: that of today's teo.

use idlelab_states::{IdleStates, StateIndex, TickRate};

use crate::bins::{Expected, Pulses, Survey, TWO};
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::wakeups::{Hit, THREE, Wakeups};
use crate::walk::{LATENCY_THRESHOLD, RESIDENCY_THRESHOLD, below, half, shallower};
use crate::{Device, Governor, Kernel, Metric, Selection, Tick};

/// Which kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// 6.19.
    V6_19,
    /// 7.0.
    V7_0,
}

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    revision: Revision,
    wakeups: Wakeups,
}

impl Teo {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub fn new(tick_rate: TickRate, revision: Revision) -> Self {
        Self { revision, wakeups: Wakeups::none(tick_rate.tick(), 0) }
    }

    fn hit(&self) -> Hit {
        match self.revision {
            Revision::V6_19 => Hit::InTimerBin,
            Revision::V7_0 => Hit::ByTimer,
        }
    }

    fn short_intercepts_dominate(&self) -> bool {
        let Wakeups { tick_intercepts, total, .. } = self.wakeups;
        match self.revision {
            Revision::V6_19 => tick_intercepts > (total >> 1) + (total >> 3),
            Revision::V7_0 => THREE * tick_intercepts >= TWO * total,
        }
    }

    /// Goes down from the deepest state as far as the intercepts ask.
    fn after_intercepts(
        &self,
        states: &IdleStates,
        survey: &Survey,
        tick: Tick,
        listener: &mut impl Listener,
    ) -> StateIndex {
        let mut shallowest = survey.shallowest;
        if tick == Tick::Stopped {
            // In a shallow state the CPU could be stuck.
            let tick_length = self.wakeups.tick_length();
            shallowest = states
                .indices()
                .skip_while(|&state| state < survey.shallowest)
                .take_while(|&state| state < survey.deepest)
                .find(|&state| states[state].target_residency >= tick_length)
                .unwrap_or(survey.deepest);
        }
        let mut bound = None;
        if self.revision == Revision::V7_0 {
            let has_no_size =
                states[shallowest].target_residency == states[survey.deepest].target_residency;
            if tick == Tick::Stopped && has_no_size {
                listener.because(|| Reason::NoWalk(survey.deepest));
                return survey.deepest;
            }
            bound = self.wakeups.most_intercepted(states);
            if Some(shallowest) >= bound && states[shallowest].is_enabled() {
                listener.because(|| Reason::NoWalk(shallowest));
                return shallowest;
            }
        }

        let mut chosen = survey.deepest;
        let mut sum = Pulses::default();
        for state in below(survey.deepest).take_while(|&state| state >= shallowest) {
            sum += self.wakeups.intercepts(state);
            if !states[state].is_enabled() {
                continue;
            }
            chosen = state;
            let is_within_bound = bound.is_none_or(|bound| state <= bound);
            if TWO * sum > survey.below.intercepts && is_within_bound {
                break;
            }
        }
        let (state, sum, intercepts) = (chosen, sum.0, survey.below.intercepts.0);
        listener.because(|| Reason::Covered { state, sum, intercepts, most: bound });
        chosen
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        self.wakeups.learn_if_due(states, kernel.device(), self.hit());
        if states.len() < 2 {
            listener.because(|| Reason::OneState);
            return Selection::keeping_tick(StateIndex::ZERO);
        }

        let tick_length = self.wakeups.tick_length();
        let limit = kernel.latency_limit();
        let tick = kernel.tick();
        let Some(survey) = Survey::new(states, &self.wakeups.bins, limit) else {
            listener.because(|| Reason::NoneEnabled);
            return Selection::keeping_tick(StateIndex::ZERO);
        };
        let mut chosen = survey.deepest;
        if survey.is_single() {
            listener.because(|| Reason::OnlyEnabled(survey.deepest));
            let expected = Expected::unasked(states[chosen].target_residency, tick_length);
            return survey.settle(states, chosen, expected, tick, tick_length, listener);
        }

        listener.because(|| Reason::DeepestEnabled(survey.deepest));
        let total = self.wakeups.total;
        let intercepts_prevail = TWO * survey.below.intercepts > total - survey.below.hits;
        listener.because(|| survey.intercepts_reason(total, intercepts_prevail));
        if intercepts_prevail {
            chosen = self.after_intercepts(states, &survey, tick, listener);
        }
        chosen = survey.limited(chosen, limit, listener);

        let is_shallow =
            chosen == StateIndex::ZERO || states[chosen].target_residency < RESIDENCY_THRESHOLD;
        let timers_do_not_matter =
            TWO * self.wakeups.short_idles >= self.wakeups.total || limit < LATENCY_THRESHOLD;
        if is_shallow && timers_do_not_matter {
            let (state, total) = (chosen, total.0);
            let short_idles = self.wakeups.short_idles.0;
            listener.because(|| Reason::TimersUnasked { state, short_idles, total, limit });
            return Selection::keeping_tick(chosen);
        }

        let asked = kernel.sleep_length();
        self.wakeups.sleep_length = asked.sleep;
        let mut expected = Expected { duration: asked.sleep, delta_tick: asked.delta_tick };
        if chosen == StateIndex::ZERO {
            listener.because(|| Reason::Shallowest);
            return Selection::keeping_tick(chosen);
        }
        if states[chosen].target_residency > asked.sleep {
            let (from, sleep) = (chosen, asked.sleep);
            chosen = shallower(states, from, sleep);
            listener.because(|| Reason::TimerTooNear { from, to: chosen, sleep });
        }
        if states[chosen].target_residency < tick_length && self.short_intercepts_dominate() {
            let (intercepts, total) = (self.wakeups.tick_intercepts.0, total.0);
            listener.because(|| Reason::TickIntercepts { intercepts, total });
            expected.duration = half(tick_length);
        }
        survey.settle(states, chosen, expected, tick, tick_length, listener)
    }
}

impl Governor for Teo {
    fn enable(&mut self, states: &IdleStates, _device: &mut Device) {
        self.wakeups = Wakeups::none(self.wakeups.tick_length(), states.len());
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.wakeups.reflect(entered, kernel);
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.wakeups.explain(metrics);
    }
}

#[cfg(test)]
mod tests {
    use core::num::Wrapping;

    use idlelab_states::{IdleState, Nanoseconds};

    use super::*;
    use crate::SleepLength;
    use crate::steps::{StepDriver, StepInputs};

    /// Intercepts 400, 250 and 251 of 1000, sum 901. Down: 2·251 ≤ 901; 2·501 > 901, so 6.19 stays
    /// in state 1. 7.0 goes on to bin 0, which has the most.
    #[test]
    fn the_walk_after_intercepts_ends_in_state_1_in_6_19_and_in_the_most_intercepted_in_7_0() {
        for (revision, expected) in [(Revision::V6_19, 1), (Revision::V7_0, 0)] {
            let table = [(1, 1), (10, 20), (80, 211), (104, 20_000)].map(|(latency, residency)| {
                let latency = Nanoseconds::from_micros(latency);
                IdleState::new("", latency, Nanoseconds::from_micros(residency))
            });
            let states = IdleStates::new(&table).unwrap();
            let mut teo = Teo::new(TickRate::from_hertz(250).unwrap(), revision);
            teo.enable(&states, &mut Device::default());
            for (bin, intercepts) in teo.wakeups.bins.0.iter_mut().zip([400, 250, 251, 0]) {
                bin.intercepts = Wrapping(intercepts);
            }
            teo.wakeups.total = Wrapping(1000);
            teo.wakeups.unlearnt = false;
            let sleep = Nanoseconds::from_micros(1_000_000);
            let step = StepInputs {
                sleep_length: SleepLength { sleep, delta_tick: sleep },
                ..StepInputs::of_residency(sleep)
            };
            let outcome = StepDriver::new().step(&mut teo, &states, &step);
            assert_eq!(outcome.selection.state.get(), expected, "{revision:?}");
        }
    }
}
