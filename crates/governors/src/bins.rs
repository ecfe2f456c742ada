// SPDX-License-Identifier: GPL-2.0-or-later
//! What the teos of all bin-keeping kernels have in common.

use core::num::Wrapping;

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex};

use crate::reason::{Listener, Reason};
use crate::walk::{RESIDENCY_THRESHOLD, half, shallower};
use crate::{Metric, Selection, Tick};

/// A weight of evidence: it grows by [`PULSE`] an event and loses an eighth an idle period, so it
/// remembers about eight. Wraps as the kernel's `unsigned int` does.
pub(crate) type Pulses = Wrapping<u32>;

/// What one event adds.
pub(crate) const PULSE: Pulses = Wrapping(1024);

/// Shares are compared without division: *a* is more than half of *b* if `TWO * a > b`.
pub(crate) const TWO: Pulses = Wrapping(2);

/// The eighth that an idle period takes away. Nothing from a weight below eight.
fn eighth(weight: Pulses) -> Pulses {
    weight >> 3
}

/// Wakeups remembered for the idle durations that belong to one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bin {
    /// The timer that was known woke the CPU.
    pub(crate) hits: Pulses,
    /// Something else woke it before that.
    pub(crate) intercepts: Pulses,
}

/// One pass over the table that every selection starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey {
    /// The shallowest enabled state.
    pub(crate) shallowest: StateIndex,
    /// The deepest enabled state: the first candidate.
    pub(crate) deepest: StateIndex,
    /// The deepest enabled state within the latency limit. State 0 if there is none: then even a
    /// disabled or too slow state 0 is chosen, as in the kernel.
    pub(crate) within_limit: StateIndex,
    /// All that the bins below the candidate hold.
    pub(crate) below: Bin,
}

impl Survey {
    /// Surveys the table, or returns `None` if no state is enabled.
    #[inline]
    pub(crate) fn new(
        states: &IdleStates,
        bins: &PerState<Bin>,
        limit: Nanoseconds,
    ) -> Option<Self> {
        Self::within_reach(states, bins, limit, Nanoseconds::MAX)
    }

    /// Surveys the table up to the first enabled state whose target residency is beyond `reach`.
    /// That one is the candidate only if nothing is enabled above it, and state 0 always can be.
    // Inlined, so that whoever has no bound does not compare with one.
    #[inline(always)]
    pub(crate) fn within_reach(
        states: &IdleStates,
        bins: &PerState<Bin>,
        limit: Nanoseconds,
        reach: Nanoseconds,
    ) -> Option<Self> {
        let mut shallowest = None;
        let mut deepest = StateIndex::ZERO;
        let mut within_limit = StateIndex::ZERO;
        let mut below_deepest = Bin::default();
        let mut below = Bin::default();
        for ((state, row), bin) in states.indices().zip(states.as_slice()).zip(&bins.0) {
            if row.is_enabled() {
                if row.target_residency > reach && state > StateIndex::ZERO {
                    if shallowest.is_none() {
                        (shallowest, deepest, below_deepest) = (Some(state), state, below);
                    }
                    break;
                }
                if row.exit_latency <= limit {
                    within_limit = state;
                }
                shallowest = shallowest.or(Some(state));
                deepest = state;
                below_deepest = below;
            }
            below.hits += bin.hits;
            below.intercepts += bin.intercepts;
        }
        Some(Self { shallowest: shallowest?, deepest, within_limit, below: below_deepest })
    }

    /// Whether there is only one state to choose.
    pub(crate) fn is_single(&self) -> bool {
        self.shallowest == self.deepest
    }

    /// Decides over the tick.
    pub(crate) fn settle(
        &self,
        states: &IdleStates,
        chosen: StateIndex,
        expected: Expected,
        tick: Tick,
        tick_length: Nanoseconds,
        listener: &mut impl Listener,
    ) -> Selection {
        settle(states, self.shallowest, chosen, expected, tick, tick_length, listener)
    }

    /// What [`Survey::new`] starts from.
    pub(crate) fn intercepts_reason(&self, total: Pulses, prevail: bool) -> Reason {
        let Bin { hits, intercepts } = self.below;
        Reason::Intercepts { intercepts: intercepts.0, total: total.0, hits: hits.0, prevail }
    }

    /// Bounds a candidate by the latency limit.
    #[inline]
    pub(crate) fn limited(
        &self,
        from: StateIndex,
        limit: Nanoseconds,
        listener: &mut impl Listener,
    ) -> StateIndex {
        let to = from.min(self.within_limit);
        if to < from {
            listener.because(|| Reason::LatencyLimit { from, to, limit });
        }
        to
    }
}

/// Decides over the tick. It is kept where the CPU spins or should be back before it fires; then a
/// state that it would cut short gives way to a shallower one.
#[inline]
pub(crate) fn settle(
    states: &IdleStates,
    shallowest: StateIndex,
    chosen: StateIndex,
    expected: Expected,
    tick: Tick,
    tick_length: Nanoseconds,
    listener: &mut impl Listener,
) -> Selection {
    let row = &states[chosen];
    let reaches_tick = !row.is_polling() && expected.duration >= tick_length;
    listener.because(|| Reason::of_tick(tick, row, expected.duration, tick_length));
    if tick == Tick::Stopped || reaches_tick {
        return Selection::stopping_tick(chosen);
    }
    if chosen > shallowest && row.target_residency > expected.delta_tick {
        let (from, delta_tick) = (chosen, expected.delta_tick);
        let to = shallower(states, from, delta_tick);
        listener.because(|| Reason::TickTooNear { from, to, delta_tick });
        return Selection::keeping_tick(to);
    }
    Selection::keeping_tick(chosen)
}

/// How long the coming idle period is taken to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Its length if the tick is stopped.
    pub(crate) duration: Nanoseconds,
    /// Time to the next event with the tick running.
    pub(crate) delta_tick: Nanoseconds,
}

impl Expected {
    /// What is assumed where the timers were not asked: half a tick to the tick.
    pub(crate) const fn unasked(duration: Nanoseconds, tick_length: Nanoseconds) -> Self {
        Self { duration, delta_tick: half(tick_length) }
    }
}

/// What a measured residency says of the time really spent idle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// The estimate.
    pub(crate) idle: Nanoseconds,
    /// Whether it counts as a short idle period.
    pub(crate) short: bool,
}

impl Measured {
    /// Takes off the part of the exit latency that is probably in the measurement. The table gives
    /// the worst case, so half of it is a fair guess. A measurement below the latency is short
    /// whatever it says, and can only be halved itself.
    pub(crate) fn new(residency: Nanoseconds, latency: Nanoseconds) -> Self {
        if residency >= latency {
            let idle = Nanoseconds::new(residency.get().wrapping_sub(half(latency).get()));
            Self { idle, short: idle < RESIDENCY_THRESHOLD }
        } else {
            Self { idle: half(residency), short: true }
        }
    }
}

/// Takes an eighth away, and the rest too once no eighth is left: what is never to decay would
/// otherwise count for ever. Since 6.19.
pub(crate) fn decay_to_nothing(weight: &mut Pulses) {
    let eighth = eighth(*weight);
    *weight = if eighth > Wrapping(0) { *weight - eighth } else { Wrapping(0) };
}

/// Takes an eighth away. What is left below eight stays for ever. Up to 6.18.
pub(crate) fn decay(weight: &mut Pulses) {
    *weight -= eighth(*weight);
}

/// What is found while all bins age by one wakeup.
pub(crate) struct Aged {
    /// All hits and intercepts that are left.
    pub(crate) sum: Pulses,
    /// The bin that the timer falls in.
    pub(crate) timer_bin: StateIndex,
    /// The bin that the measured duration falls in, but no deeper than the timer's.
    pub(crate) duration_bin: StateIndex,
}

impl Aged {
    /// Lets every bin `decay`, of disabled states too, in case they are enabled again.
    #[inline(always)]
    pub(crate) fn new(
        states: &IdleStates,
        bins: &mut PerState<Bin>,
        sleep_length: Nanoseconds,
        measured: Nanoseconds,
        decay: impl Fn(&mut Pulses),
    ) -> Self {
        // Bins beyond the table's end are zero and stay so: a loop of fixed length costs less than
        // one that looks for the end.
        let mut sum = Wrapping(0);
        for bin in &mut bins.0 {
            decay(&mut bin.hits);
            decay(&mut bin.intercepts);
            sum += bin.hits + bin.intercepts;
        }
        let mut aged = Self { sum, timer_bin: StateIndex::ZERO, duration_bin: StateIndex::ZERO };
        for (state, row) in states.indices().zip(states.as_slice()) {
            if row.target_residency <= sleep_length {
                aged.timer_bin = state;
                if row.target_residency <= measured {
                    aged.duration_bin = state;
                }
            }
        }
        aged
    }
}

/// Hands out the bins of the first `count` states.
pub(crate) fn explain_bins(bins: &PerState<Bin>, count: usize, metrics: &mut dyn FnMut(Metric)) {
    for (index, bin) in (0..count).zip(&bins.0) {
        let index = Some(index);
        metrics(Metric { name: "hits", index, value: bin.hits.0.into() });
        metrics(Metric { name: "intercepts", index, value: bin.intercepts.0.into() });
    }
}

/// Hands out a weight of the whole CPU.
pub(crate) fn explain_pulses(name: &'static str, weight: Pulses, metrics: &mut dyn FnMut(Metric)) {
    metrics(Metric { name, index: None, value: weight.0.into() });
}
