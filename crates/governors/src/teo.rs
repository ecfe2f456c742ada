// SPDX-License-Identifier: GPL-2.0-or-later
//! teo, *timer events oriented*, as in kernels 7.1 to 7.3.
//!
//! The next timer is the one wakeup that is known in advance, and most other wakeups come in
//! habits. Each idle state owns a bin of idle durations, from its target residency up to that of
//! the next deeper state:
//!
//! ```text
//!  target residency   0         2 µs        20 µs        211 µs
//!                     ├──────────┼────────────┼────────────┼────────────▶ idle duration
//!                bin  │ state 0  │  state 1   │  state 2   │  state 3
//!                     └──────────┴─────▲──────┴────────────┴─────▲──────
//!                               woke after 15 µs            timer was 400 µs away
//!
//!  the timer's bin is reached, and the timer had fired   → a hit in the timer's bin
//!  anything else                                         → an intercept in the bin of the duration
//! ```
//!
//! Hits and intercepts gain 1024 an event and lose an eighth at every wakeup, so a CPU remembers
//! about its last eight. A selection starts from the deepest enabled state:
//!
//! 1. If the intercepts in the bins below are more than half of what the hits below leave of all
//!    events, it goes down until it has covered more than half of those intercepts, and at least
//!    to the bin with the most of them.
//! 2. It respects the latency limit.
//! 3. If what is left is shallow and short idle periods (or a tight limit) are the rule, it stops
//!    here and never asks for the sleep length, which is costly.
//! 4. It asks, and goes down to a state that the timer leaves time for; or up, if the tick is
//!    stopped, the timer is far and nothing else would end a stay in a shallow state.
//! 5. It keeps the tick if the CPU should be back before it fires.
//!
//! Wakeups by the tick are the governor's own doing, so they are no intercepts: if they dominate,
//! the deepest state gets the hit (so that the tick will be stopped); otherwise the timer is
//! believed, unless short intercepts are frequent.
//!
//! Mirrors: merged in 5.1 (`b26bf6ab716f`), bins since 5.14 (`77577558f25d`), sleep length asked
//! late since 6.6 (`6da8f9ba5a87`), short idles since 6.14 (`13ed5c4a6d9c`), bounded intercept
//! lookup and hits only for timers that fired since 7.0 (`a971f984b845`), stopped tick handling of
//! 7.1.
//!
//! Known difference: the kernel marks "nothing new to learn" in the device, this governor in its
//! own data. Only a change of governor straight after a rejected entry can tell the two apart.

use idlelab_states::{IdleStates, StateIndex, TickRate};

use crate::bins::{Expected, Pulses, Survey, TWO};
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::wakeups::{Hit, THREE, Wakeups};
use crate::walk::{
    LATENCY_THRESHOLD, RESIDENCY_THRESHOLD, below, half, safe_timer_range, shallower,
};
use crate::{Device, Governor, Kernel, Metric, Selection, Tick};

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    wakeups: Wakeups,
}

impl Teo {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub fn new(tick_rate: TickRate) -> Self {
        Self { wakeups: Wakeups::none(tick_rate.tick(), 0) }
    }

    /// Goes down from the deepest state as far as the intercepts ask.
    fn after_intercepts(
        &self,
        states: &IdleStates,
        survey: &Survey,
        listener: &mut impl Listener,
    ) -> StateIndex {
        let most_intercepted = self.wakeups.most_intercepted(states);
        let mut chosen = survey.deepest;
        let mut sum = Pulses::default();
        for state in below(survey.deepest).take_while(|&state| state >= survey.shallowest) {
            sum += self.wakeups.intercepts(state);
            if !states[state].is_enabled() {
                continue;
            }
            chosen = state;
            if TWO * sum > survey.below.intercepts && Some(state) <= most_intercepted {
                break;
            }
        }
        let (state, sum, intercepts) = (chosen, sum.0, survey.below.intercepts.0);
        listener.because(|| Reason::Covered { state, sum, intercepts, most: most_intercepted });
        chosen
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        self.wakeups.learn_if_due(states, kernel.device(), Hit::ByTimer);
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
            chosen = self.after_intercepts(states, &survey, listener);
        }
        chosen = survey.limited(chosen, limit, listener);

        let is_shallow =
            chosen == StateIndex::ZERO || states[chosen].target_residency < RESIDENCY_THRESHOLD;
        let timers_do_not_matter =
            TWO * self.wakeups.short_idles >= self.wakeups.total || limit < LATENCY_THRESHOLD;
        if tick == Tick::Running && is_shallow && timers_do_not_matter {
            let (state, total) = (chosen, total.0);
            let short_idles = self.wakeups.short_idles.0;
            listener.because(|| Reason::TimersUnasked { state, short_idles, total, limit });
            return Selection::keeping_tick(chosen);
        }

        let asked = kernel.sleep_length();
        self.wakeups.sleep_length = asked.sleep;
        let mut expected = Expected { duration: asked.sleep, delta_tick: asked.delta_tick };

        // With the tick stopped and no timer near, only an unforeseen wakeup would end a stay in a
        // shallow state, and it may be long in coming.
        if tick == Tick::Stopped
            && asked.sleep > safe_timer_range(tick_length)
            && states[chosen].target_residency < tick_length
        {
            let deeper =
                states.enabled().rev().take_while(|&state| state > chosen).find(|&state| {
                    state <= survey.within_limit && states[state].target_residency <= asked.sleep
                });
            let (from, to) = (chosen, deeper.unwrap_or(chosen));
            listener.because(|| Reason::NothingWouldEndIt { from, to, sleep: asked.sleep });
            return Selection::stopping_tick(to);
        }
        if chosen == StateIndex::ZERO {
            listener.because(|| Reason::Shallowest);
            return Selection::keeping_tick(chosen);
        }
        if states[chosen].target_residency > asked.sleep {
            let (from, sleep) = (chosen, asked.sleep);
            chosen = shallower(states, from, sleep);
            listener.because(|| Reason::TimerTooNear { from, to: chosen, sleep });
        }
        // Where short intercepts dominate, the tick is likelier to be needed than the timer is
        // likely to be reached.
        if states[chosen].target_residency < tick_length
            && THREE * self.wakeups.tick_intercepts >= TWO * self.wakeups.total
        {
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
    use std::string::ToString;
    use std::vec::Vec;

    use idlelab_states::{IdleState, Nanoseconds};

    use super::*;
    use crate::SleepLength;
    use crate::TickRequest::{Keep, Stop};
    use crate::bins::Bin;
    use crate::steps::{StepDriver, StepInputs};

    const MILLISECOND: i64 = 1_000_000;

    fn table(microseconds: &[(i64, i64)]) -> IdleStates {
        let row = |&(latency, residency): &(i64, i64)| {
            let latency = Nanoseconds::from_micros(latency);
            IdleState::new("", latency, Nanoseconds::from_micros(residency))
        };
        IdleStates::new(&microseconds.iter().map(row).collect::<Vec<_>>()).unwrap()
    }

    fn phone() -> IdleStates {
        table(&[(1, 1), (147, 2580), (181, 2580), (20_000, 4_294_967_295)])
    }

    fn teo(hertz: u32, states: &IdleStates, hits: &[u32], intercepts: &[u32]) -> Teo {
        let mut teo = Teo::new(TickRate::from_hertz(hertz).unwrap());
        teo.enable(states, &mut Device::default());
        for (bin, (&hits, &intercepts)) in
            teo.wakeups.bins.0.iter_mut().zip(hits.iter().zip(intercepts))
        {
            *bin = Bin { hits: Wrapping(hits), intercepts: Wrapping(intercepts) };
        }
        teo.wakeups.total = Wrapping(hits.iter().sum::<u32>() + intercepts.iter().sum::<u32>());
        teo
    }

    fn asked(sleep: i64) -> StepInputs {
        let sleep = Nanoseconds::new(sleep);
        StepInputs {
            sleep_length: SleepLength { sleep, delta_tick: sleep },
            ..StepInputs::of_residency(sleep)
        }
    }

    fn hits(teo: &Teo) -> Vec<u32> {
        teo.wakeups.bins.0.iter().take(4).map(|bin| bin.hits.0).collect()
    }

    /// Old kernels kept the 7s: 2·7 > 8206 − (7 + 8192), for ever in state 0 with the tick.
    #[test]
    fn a_leftover_of_seven_decays_and_does_not_hold_the_cpu_in_the_shallowest_state() {
        let states = phone();
        let mut teo = teo(1000, &states, &[7, 0, 8192, 0], &[7, 0, 0, 0]);
        teo.wakeups.sleep_length = Nanoseconds::new(60 * MILLISECOND);
        teo.wakeups.tick_wakeup = true;
        let mut driver = StepDriver::new();
        let outcome = driver.step(&mut teo, &states, &asked(59 * MILLISECOND));
        // Learnt: both 7s gone; 8192 − 1024, and 1024 for the timer that was believed.
        assert_eq!(hits(&teo), [0, 0, 8192, 0]);
        // Nothing to leave the deepest state for, but the timer fits the third only.
        assert_eq!(outcome.selection, Selection::stopping_tick(StateIndex::new(2).unwrap()));
    }

    #[test]
    fn wakeups_by_the_tick_count_for_the_deepest_state_once_they_dominate() {
        let states = phone();
        let mut learnt = teo(1000, &states, &[0; 4], &[2048, 0, 0, 0]);
        learnt.wakeups.sleep_length = Nanoseconds::new(60 * MILLISECOND);
        learnt.wakeups.tick_wakeup = true;
        let mut dominated = learnt.clone();
        dominated.wakeups.total_tick = Wrapping(4096);
        let mut device = Device { last_residency: Nanoseconds::new(997_000), ..Device::default() };
        // Sum 2048 − 256 = 1792, total 2816. Ticks 4096 − 512 + 1024 = 4608: 13 824 > 5632.
        dominated.wakeups.learn_if_due(&states, &mut device, Hit::ByTimer);
        assert_eq!(hits(&dominated), [0, 0, 0, 1024]);
        // Ticks 1024: 3072 ≤ 5632. No short intercepts: 0 < 2·1792, the timer is believed.
        learnt.wakeups.learn_if_due(&states, &mut device, Hit::ByTimer);
        assert_eq!(hits(&learnt), [0, 0, 1024, 0]);
        // Two thirds exactly do not dominate. 585 − 73 = 512, total 1536, ticks 1024: 3072 > 3072
        // is false.
        let mut tied = teo(1000, &states, &[585, 0, 0, 0], &[0; 4]);
        tied.wakeups.sleep_length = Nanoseconds::new(60 * MILLISECOND);
        tied.wakeups.tick_wakeup = true;
        tied.wakeups.learn_if_due(&states, &mut device, Hit::ByTimer);
        assert_eq!(tied.wakeups.total, Wrapping(1536));
        assert_eq!(hits(&tied), [512, 0, 1024, 0]);
    }

    fn four_states() -> IdleStates {
        table(&[(1, 1), (10, 20), (80, 211), (104, 20_000)])
    }

    fn select_after(intercepts: [u32; 4], states: &IdleStates) -> Selection {
        let mut teo = teo(250, states, &[0; 4], &intercepts);
        teo.wakeups.unlearnt = false;
        teo.wakeups.total = Wrapping(1000);
        StepDriver::new().step(&mut teo, states, &asked(1_000 * MILLISECOND)).selection
    }

    /// Sum 901. Down: 2·251 ≤ 901; 2·501 > 901 would do, but most intercepts are in bin 0.
    #[test]
    fn b4_the_walk_after_intercepts_reaches_the_bin_with_most_of_them() {
        assert_eq!(
            select_after([400, 250, 251, 0], &four_states()),
            Selection { state: StateIndex::ZERO, tick: Keep }
        );
    }

    #[test]
    fn b4_is_explained_by_its_bins_and_sums() {
        let states = four_states();
        let mut teo = teo(250, &states, &[0; 4], &[400, 250, 251, 0]);
        teo.wakeups.unlearnt = false;
        teo.wakeups.total = Wrapping(1000);
        let survey = Survey::new(&states, &teo.wakeups.bins, crate::NO_LATENCY_LIMIT).unwrap();
        let mut told = Vec::new();
        let mut listener: &mut dyn FnMut(Reason) = &mut |reason| told.push(reason.to_string());
        listener.because(|| survey.intercepts_reason(teo.wakeups.total, true));
        teo.after_intercepts(&states, &survey, &mut listener);
        assert_eq!(
            told,
            [
                "2*901 > 1000-0: intercepts below the candidate prevail",
                "down to state 0: 2*901 > 901, and most intercepts are in the bin of state 0",
            ]
        );
        let mut bins = Vec::new();
        teo.explain(&mut |metric| {
            bins.extend((metric.name == "intercepts").then_some(metric.value));
        });
        assert_eq!(bins, [400, 250, 251, 0]);
    }

    /// Sum 900. Of the equal bins 0 and 2 the deeper counts: 2·500 > 900 may stop the walk in 1.
    #[test]
    fn of_bins_with_equally_many_intercepts_the_deeper_bounds_the_walk() {
        assert_eq!(
            select_after([400, 100, 400, 0], &four_states()),
            Selection { state: StateIndex::new(1).unwrap(), tick: Stop }
        );
    }

    /// Sum 602. Down: 2·52 ≤ 602; 2·302 > 602 would do if the last bin's 5000 counted as the most,
    /// but of what lies below the deepest state most is in bin 0.
    #[test]
    fn intercepts_of_the_deepest_bin_do_not_bound_the_walk() {
        assert_eq!(
            select_after([300, 250, 52, 5000], &four_states()),
            Selection { state: StateIndex::ZERO, tick: Keep }
        );
    }

    /// 2·500 > 1000 is false, 2·501 > 1000 is true.
    #[test]
    fn half_of_the_events_in_intercepts_is_not_enough_to_leave_the_deepest_state() {
        let deepest = Selection { state: StateIndex::new(3).unwrap(), tick: Stop };
        assert_eq!(select_after([500, 0, 0, 500], &four_states()), deepest);
        assert_ne!(select_after([501, 0, 0, 499], &four_states()), deepest);
    }
}
