// SPDX-License-Identifier: GPL-2.0-or-later
//! teo as in kernels 5.14 to 6.5: bins for the first time.
//!
//! The bins, hits and intercepts are those of [today's teo](crate::teo), but the timers are asked
//! first, and the walk starts from the deepest state that they leave time for:
//!
//! ```text
//!  5.14   ask ─▶ deepest that fits ─▶ after intercepts ─▶ limit ─────────────────────▶ tick
//!  6.3    ask ─▶ deepest that fits ─▶ after intercepts ─▶ limit ─▶ busy? shallower ─▶ tick
//!  6.6    busy? ─▶ deepest ─▶ after intercepts ─▶ limit ─▶ busy? ─▶ ask ─▶ fits ─▶ tick
//! ```
//!
//! - A span of the governor's own clock that reaches the sleep length means that the timer woke
//!   the CPU; so does the tick or the poll time limit, if the timer was beyond it.
//! - It also goes down when more than four of the last nine wakeups were intercepts below the
//!   candidate.
//! - The state that it goes down to is taken to be left in the middle of its bin.
//! - The latency limit bounds what comes of all that.
//!
//! 6.3 looks at how busy the CPU is: above 1/64 of its capacity a wakeup is likelier than the bins
//! say, so the next shallower state that sleeps and fits is taken.
//!
//! Mirrors: `77577558f25d` and its series of 5.14, the same in 6.1.192; the utilisation series of
//! 6.3. Known difference: that of today's teo.

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
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::walk::shallower_sleeping;
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Which kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// 5.14 to 6.2.
    V5_14,
    /// 6.3 to 6.5: goes by the CPU's utilisation too.
    V6_3,
}

/// A CPU's capacity by this shift is what it may be used without being busy
/// (`UTIL_THRESHOLD_SHIFT`).
const BUSY_SHIFT: u32 = 6;

/// Of the capacity in which utilisation is measured.
const BUSY: u32 = 1024 >> BUSY_SHIFT;

/// Whether the CPU is used so much that wakeups are likelier than the bins say: teo of 6.3 to 6.10.
pub(super) fn is_busy(kernel: &mut dyn Kernel) -> bool {
    kernel.utilisation() > BUSY
}

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    tick_length: Nanoseconds,
    revision: Revision,
    state_count: usize,
    bins: PerState<Bin>,
    recent: Recent,
    total: Pulses,
    span: Span,
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
            recent: Recent::default(),
            total: Wrapping(0),
            span: Span::default(),
            sleep_length: Nanoseconds::ZERO,
            unlearnt: true,
        }
    }

    #[inline(always)]
    fn learn(&mut self, states: &IdleStates, device: &Device) {
        let measured = if self.span.length() >= self.sleep_length {
            Nanoseconds::MAX
        } else {
            let latency = states[device.last_state].exit_latency;
            Measured::new(device.last_residency, latency).idle
        };
        let Aged { sum, timer_bin, duration_bin } =
            Aged::new(states, &mut self.bins, self.sleep_length, measured, decay);
        self.total = sum + PULSE;
        self.recent.forget_oldest();
        if timer_bin == duration_bin {
            self.bins[timer_bin].hits += PULSE;
            self.recent.remember(None);
        } else {
            self.bins[duration_bin].intercepts += PULSE;
            self.recent.remember(Some(duration_bin));
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
        self.span.begin(kernel);
        let asked = kernel.sleep_length();
        self.sleep_length = asked.sleep;
        let mut expected = Expected { duration: asked.sleep, delta_tick: asked.delta_tick };
        let tick = kernel.tick();

        let zero = StateIndex::ZERO;
        let tick_length = self.tick_length;
        let Some(second) = states.index(1) else {
            listener.because(|| Reason::OneState);
            return settle(states, zero, zero, expected, tick, tick_length, listener);
        };
        if states[zero].is_enabled() && states[second].target_residency > asked.sleep {
            listener.because(|| Reason::DeepestBeforeTimer { state: zero, sleep: asked.sleep });
            return settle(states, zero, zero, expected, tick, tick_length, listener);
        }
        let is_busy = self.revision == Revision::V6_3 && is_busy(kernel);
        if is_busy && states.len() < 3 {
            let sleeping = states.enabled().find(|&state| !states[state].is_polling());
            if let Some(sleeping) = sleeping {
                listener.because(|| Reason::Busy { from: second, to: sleeping });
                return settle(states, zero, sleeping, expected, tick, tick_length, listener);
            }
        }

        let limit = kernel.latency_limit();
        let Some(survey) = Survey::within_reach(states, &self.bins, limit, asked.sleep) else {
            listener.because(|| Reason::NoneEnabled);
            return settle(states, zero, zero, expected, tick, tick_length, listener);
        };
        let mut chosen = survey.deepest;
        if survey.is_single() {
            listener.because(|| Reason::DeepestBeforeTimer { state: chosen, sleep: asked.sleep });
            return survey.settle(states, chosen, expected, tick, tick_length, listener);
        }
        listener.because(|| Reason::DeepestBeforeTimer { state: chosen, sleep: asked.sleep });

        let all_recent = self.recent.below(chosen);
        let intercepts = TWO * survey.below.intercepts > self.total - survey.below.hits;
        let recent = all_recent > CHANCE;
        listener.because(|| survey.intercepts_reason(self.total, intercepts));
        listener.because(|| Reason::RecentIntercepts { count: all_recent.0, prevail: recent });
        if intercepts || recent {
            let mut sum = Wrapping(0);
            let mut recent_sum = Wrapping(0);
            chosen = after_intercepts(
                states,
                survey.deepest,
                |state| {
                    let middle = middle_of_bin(states, state);
                    // A sum that wrapped is compared as an unsigned number.
                    middle < Nanoseconds::ZERO || is_long_enough(middle, tick, self.tick_length)
                },
                |state| {
                    sum += self.bins[state].intercepts;
                    recent_sum += self.recent.in_bin(state);
                    (!recent || TWO * recent_sum > all_recent)
                        && (!intercepts || TWO * sum > survey.below.intercepts)
                },
            );
            let (state, sum, all) = (chosen, sum.0, survey.below.intercepts.0);
            listener.because(|| Reason::Covered { state, sum, intercepts: all, most: None });
            if chosen < survey.deepest {
                expected.duration = middle_of_bin(states, chosen);
            }
        }
        chosen = survey.limited(chosen, limit, listener);
        if is_busy {
            let from = chosen;
            chosen = shallower_sleeping(states, from, expected.duration);
            listener.because(|| Reason::Busy { from, to: chosen });
        }
        survey.settle(states, chosen, expected, tick, tick_length, listener)
    }
}

/// In the middle between a state's target residency and the next one's.
fn middle_of_bin(states: &IdleStates, state: StateIndex) -> Nanoseconds {
    let start = states[state].target_residency.get();
    let next = states.index(state.get() + 1).unwrap_or(state);
    let end = states[next].target_residency.get();
    Nanoseconds::new(start.wrapping_add(end) / 2)
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
        self.recent.explain(self.state_count, metrics);
        explain_pulses("total", self.total, metrics);
        self.span.explain(metrics);
        let sleep_length = self.sleep_length.get();
        metrics(Metric { name: "sleep_length_ns", index: None, value: sleep_length });
    }
}
