// SPDX-License-Identifier: GPL-2.0-or-later
//! What teo learns from wakeups, since 6.19.

use core::mem;
use core::num::Wrapping;

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex};

use crate::bins::{
    Aged, Bin, Measured, PULSE, Pulses, TWO, decay_to_nothing, explain_bins, explain_pulses,
};
use crate::walk::half;
use crate::{Device, Kernel, Metric};

pub(crate) const THREE: Pulses = Wrapping(3);

/// What makes a wakeup a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    /// It came in the timer's bin: 6.19.
    InTimerBin,
    /// It came in the timer's bin and not before the timer; or the tick did it, and short
    /// intercepts are rare: since 7.0.
    ByTimer,
}

/// What is known of a CPU's wakeups.
#[derive(Clone, Debug)]
pub(crate) struct Wakeups {
    tick_length: Nanoseconds,
    state_count: usize,
    pub(crate) bins: PerState<Bin>,
    pub(crate) total: Pulses,
    pub(crate) total_tick: Pulses,
    pub(crate) tick_intercepts: Pulses,
    pub(crate) short_idles: Pulses,
    /// As known at the last selection; `MAX` if it was not asked.
    pub(crate) sleep_length: Nanoseconds,
    pub(crate) tick_wakeup: bool,
    /// Whether an idle period has ended that has not been learnt from.
    pub(crate) unlearnt: bool,
}

impl Wakeups {
    /// Nothing is known of a CPU with so many states.
    pub(crate) fn none(tick_length: Nanoseconds, state_count: usize) -> Self {
        Self {
            tick_length,
            state_count,
            bins: PerState::default(),
            total: Wrapping(0),
            total_tick: Wrapping(0),
            tick_intercepts: Wrapping(0),
            short_idles: Wrapping(0),
            sleep_length: Nanoseconds::ZERO,
            tick_wakeup: false,
            unlearnt: true,
        }
    }

    pub(crate) const fn tick_length(&self) -> Nanoseconds {
        self.tick_length
    }

    /// Learns from the idle period that has ended, if one has.
    #[inline(always)]
    pub(crate) fn learn_if_due(&mut self, states: &IdleStates, device: &mut Device, hit: Hit) {
        if mem::take(&mut self.unlearnt) {
            self.learn(states, device, hit);
        }
        self.sleep_length = Nanoseconds::MAX;
    }

    // Inlined, so that each revision gets a copy without questions to it.
    #[inline(always)]
    fn learn(&mut self, states: &IdleStates, device: &mut Device, hit: Hit) {
        decay_to_nothing(&mut self.short_idles);
        let latency = states[device.last_state].exit_latency;
        let measured = if mem::take(&mut device.poll_time_limit) {
            // Nothing woke the CPU: it would have gone on idling.
            Nanoseconds::MAX
        } else {
            let measured = Measured::new(device.last_residency, latency);
            if measured.short {
                self.short_idles += PULSE;
            }
            measured.idle
        };

        let Aged { sum, timer_bin, duration_bin } =
            Aged::new(states, &mut self.bins, self.sleep_length, measured, decay_to_nothing);
        self.total = sum + PULSE;
        decay_to_nothing(&mut self.tick_intercepts);
        decay_to_nothing(&mut self.total_tick);

        if self.tick_wakeup {
            self.total_tick += PULSE;
            if THREE * self.total_tick > TWO * self.total {
                self.bins[states.last()].hits += PULSE;
                return;
            }
            if hit == Hit::ByTimer && THREE * self.tick_intercepts < TWO * sum {
                self.bins[timer_bin].hits += PULSE;
                return;
            }
        }
        let in_time = match hit {
            Hit::InTimerBin => true,
            Hit::ByTimer => {
                // Wraps where the timers were not asked and the measurement is negative.
                let early_by = self.sleep_length.get().wrapping_sub(measured.get());
                early_by < half(latency).get()
            }
        };
        if timer_bin == duration_bin && in_time {
            self.bins[timer_bin].hits += PULSE;
        } else {
            self.bins[duration_bin].intercepts += PULSE;
            if measured <= self.tick_length {
                self.tick_intercepts += PULSE;
            }
        }
    }

    pub(crate) fn intercepts(&self, state: StateIndex) -> Pulses {
        self.bins[state].intercepts
    }

    /// The bin with the most intercepts, of equals the deeper one. The last bin's own intercepts
    /// reached the last state: they say nothing against it.
    #[inline]
    pub(crate) fn most_intercepted(&self, states: &IdleStates) -> Option<StateIndex> {
        let mut most = None;
        let mut intercepts = Wrapping(0);
        for state in states.indices().take_while(|&state| state < states.last()) {
            if self.intercepts(state) >= intercepts {
                intercepts = self.intercepts(state);
                most = Some(state);
            }
        }
        most
    }

    #[inline]
    pub(crate) fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.tick_wakeup = kernel.take_got_tick();
        kernel.device().last_state = entered;
        self.unlearnt = true;
    }

    pub(crate) fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        explain_bins(&self.bins, self.state_count, metrics);
        explain_pulses("total", self.total, metrics);
        explain_pulses("total_tick", self.total_tick, metrics);
        explain_pulses("tick_intercepts", self.tick_intercepts, metrics);
        explain_pulses("short_idles", self.short_idles, metrics);
        let sleep_length = self.sleep_length.get();
        metrics(Metric { name: "sleep_length_ns", index: None, value: sleep_length });
        metrics(Metric { name: "tick_wakeup", index: None, value: self.tick_wakeup.into() });
    }
}
