// SPDX-License-Identifier: GPL-2.0-or-later
//! teo from its first drafts of 2018 to kernel 5.12: hits, misses and early hits.
//!
//! The timers are asked first. The deepest state that they leave time for is the candidate, and
//! three weights of each state decide whether to believe them:
//!
//! ```text
//!                      woke here: early hit        the timer was due here:
//!                              │                   a hit if it fired, else a miss
//!      ├──────────┼────────────┼────────────┼───────────────▶ idle duration
//!        state 0     state 1       state 2      candidate
//!
//!   hits > misses   → the candidate
//!   otherwise       → the shallower state with the most early hits
//!   then, if most of the last eight idle durations are below what that expects, their mean
//! ```
//!
//! | | v5 | v6 | 5.1 | 5.3 | 5.10 |
//! |---|---|---|---|---|---|
//! | counts microseconds, or nanoseconds | µs | µs | µs | µs | ns |
//! | measures the core's residency, or its own span | core's | own | own | own | core's |
//! | takes off so much of the exit latency | all | all | half | half | half |
//! | looks for a pattern before or after the walk | before | after | after | after | after |
//! | a pattern is below the state's residency, or what is expected | | res. | res. | exp. | exp. |
//! | the candidate wins if hits and misses are equal | yes | yes | no | no | no |
//! | the deepest state is weighed too | no | no | yes | yes | yes |
//! | a too slow state ends the walk, or bounds its result | ends | ends | ends | bounds | bounds |
//! | a disabled state lends its weights to the one above | no | no | no | no | yes |
//!
//! A pattern is five or more of the last eight durations; v5 asks that they be close together too,
//! and takes their mean for a latency limit. Where a too slow state ends the walk, no more is
//! expected than the residency of the state above it, which keeps the tick. From 5.3 on a latency
//! limit no longer does; but its bound is the first *too slow* state itself, one state too many.
//!
//! Up to 5.5 every ninth duration was written past the ring's end, where nobody read it. Here the
//! ring has a ninth place for it.
//!
//! Mirrors: the text of draft v5, of 5.3 (but for enable and reflect, taken to be 5.10's) and of
//! 5.10; the changelog of v6; for 5.1 (`b26bf6ab716f`) what the diffs after it took away. Known
//! difference: where no state is enabled, 5.1 and 5.3 look at a weight before the first state's;
//! here there is none.

use core::mem;

use idlelab_states::{IdleState, IdleStates, Nanoseconds, PerState, StateIndex, TickRate};

use crate::bins::{PULSE, Pulses, decay};
use crate::history::span::{Span, ended_by_safety_net};
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::walk::below;
use crate::{Device, Governor, Kernel, Metric, Selection, Tick};

/// Which one of the line, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// The fifth draft of 2018.
    RfcV5,
    /// The sixth draft of 2018.
    RfcV6,
    /// 5.1 and 5.2, the eighth to eleventh draft.
    V5_1,
    /// 5.3 and 5.4.
    V5_3,
    /// 5.5 to 5.12.
    V5_10,
}

/// How many idle durations are looked at.
const INTERVALS: usize = 8;

/// The ring that they are kept in, with the place that nobody looks at.
const PLACES: usize = INTERVALS + 1;

/// More of the idle durations than this make a pattern.
const CHANCE: u64 = INTERVALS as u64 / 2;

const NANOSECONDS_PER_MICROSECOND: i64 = 1_000;

/// In microseconds.
const LONGEST_LATENCY: i64 = i32::MAX as i64;

impl Revision {
    fn is_draft(self) -> bool {
        self < Self::V5_1
    }

    fn counts_nanoseconds(self) -> bool {
        self >= Self::V5_10
    }

    /// A time as this revision counts it. Times are unsigned: what is negative is far away.
    fn time(self, time: Nanoseconds) -> u64 {
        if self.counts_nanoseconds() {
            time.get().cast_unsigned()
        } else {
            u64::from((time.get() / NANOSECONDS_PER_MICROSECOND) as u32)
        }
    }

    /// The other way round.
    fn nanoseconds(self, time: u64) -> Nanoseconds {
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        if self.counts_nanoseconds() || time == i64::MAX {
            Nanoseconds::new(time)
        } else {
            Nanoseconds::from_micros(time)
        }
    }

    /// A latency limit, or a residency measured by the core: where microseconds are counted, they
    /// are cut at what an `int` holds.
    fn int_time(self, time: Nanoseconds) -> u64 {
        let cut = Nanoseconds::from_micros(LONGEST_LATENCY);
        self.time(if self.counts_nanoseconds() { time } else { time.min(cut) })
    }

    fn tick_length(self, rate: TickRate) -> u64 {
        if self.counts_nanoseconds() {
            return rate.tick().get().cast_unsigned();
        }
        let hertz = u64::from(rate.hertz());
        1_000_000_u64.wrapping_add(hertz / 2).checked_div(hertz).unwrap_or(0)
    }

    /// Longer than any idle duration.
    fn never(self) -> u64 {
        if self.counts_nanoseconds() { u64::MAX } else { u32::MAX.into() }
    }

    fn places(self) -> usize {
        if self >= Self::V5_10 { INTERVALS } else { PLACES }
    }
}

/// What is remembered of the wakeups that belong to a state.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    /// It matched the timer, and the idle duration.
    hits: Pulses,
    /// It matched the timer, but not the idle duration.
    misses: Pulses,
    /// It matched the idle duration, but not the timer.
    early_hits: Pulses,
}

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Teo {
    tick_rate: TickRate,
    revision: Revision,
    state_count: usize,
    weights: PerState<Weights>,
    intervals: [u64; PLACES],
    next_interval: usize,
    span: Span,
    sleep_length: Nanoseconds,
    /// Whether an idle period has ended that has not been learnt from.
    unlearnt: bool,
}

/// What the walk over the table comes to.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    candidate: Option<StateIndex>,
    /// The candidate that gave way to the one with the most early hits.
    doubted: Option<(StateIndex, Weights)>,
    expected: u64,
    /// The first state that is too slow for the latency limit.
    too_slow: Option<StateIndex>,
}

/// The intervals below a bound.
#[derive(Clone, Copy, Debug)]
struct Sample {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Teo {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub fn new(tick_rate: TickRate, revision: Revision) -> Self {
        Self::fresh(tick_rate, revision, 0)
    }

    fn fresh(tick_rate: TickRate, revision: Revision, state_count: usize) -> Self {
        Self {
            tick_rate,
            revision,
            state_count,
            weights: PerState::default(),
            intervals: [revision.never(); PLACES],
            next_interval: 0,
            span: Span::default(),
            sleep_length: Nanoseconds::ZERO,
            unlearnt: true,
        }
    }

    fn residency(&self, row: &IdleState) -> u64 {
        self.revision.time(row.target_residency)
    }

    fn measured(&self, states: &IdleStates, device: &Device) -> u64 {
        let latency = self.revision.time(states[device.last_state].exit_latency);
        let whole = match self.revision {
            Revision::RfcV5 | Revision::V5_10 => self.revision.int_time(device.last_residency),
            Revision::RfcV6 | Revision::V5_1 | Revision::V5_3 => {
                self.revision.time(self.span.length())
            }
        };
        let (least, delay) = if self.revision.is_draft() {
            (latency.saturating_mul(2), latency)
        } else {
            (latency, latency / 2)
        };
        if whole >= least { whole.wrapping_sub(delay) } else { whole / 2 }
    }

    fn learn(&mut self, states: &IdleStates, device: &Device) {
        let span = self.span.length().get().cast_unsigned();
        let until_timer = self.sleep_length.get().cast_unsigned();
        let sleep = self.revision.time(self.sleep_length);
        let measured = if self.revision.is_draft() && span == until_timer {
            sleep
        } else if !self.revision.is_draft() && span >= until_timer {
            self.revision.never()
        } else {
            self.measured(states, device)
        };

        let mut timer = None;
        let mut woken = None;
        for (state, row) in states.indices().zip(states.as_slice()) {
            decay(&mut self.weights[state].early_hits);
            let matches_timer = self.residency(row) <= sleep;
            if matches_timer {
                timer = Some(state);
            }
            if self.residency(row) <= measured && (matches_timer || self.revision.is_draft()) {
                woken = Some(state);
            }
        }
        if let Some(timer) = timer {
            let weights = &mut self.weights[timer];
            decay(&mut weights.hits);
            decay(&mut weights.misses);
            if Some(timer) > woken {
                weights.misses += PULSE;
                if let Some(woken) = woken {
                    self.weights[woken].early_hits += PULSE;
                }
            } else {
                weights.hits += PULSE;
            }
        }

        let by_timer = span >= until_timer;
        if let Some(place) = self.intervals.get_mut(self.next_interval) {
            *place = if by_timer { self.revision.never() } else { measured };
        }
        self.next_interval =
            self.next_interval.wrapping_add(1).checked_rem(self.revision.places()).unwrap_or(0);
    }

    fn sample_below(&self, bound: u64) -> Sample {
        let mut sample = Sample { count: 0, sum: 0, min: u64::MAX, max: 0 };
        for &interval in self.intervals.iter().take(INTERVALS).filter(|&&value| value < bound) {
            sample.count = sample.count.wrapping_add(1);
            sample.sum = sample.sum.wrapping_add(interval);
            sample.min = sample.min.min(interval);
            sample.max = sample.max.max(interval);
        }
        sample
    }

    /// The mean of a pattern among the last idle durations, or the sleep length: draft v5.
    fn pattern(&self, states: &IdleStates, sleep: u64) -> u64 {
        /// In microseconds, and a share of what is looked at.
        const LEAST_SPREAD: u64 = 10;
        const SPREAD_SHIFT: u32 = 3;

        let second = states.index(1).map_or(0, |second| self.residency(&states[second]));
        if sleep < second {
            return sleep;
        }
        let deepest = self.residency(&states[states.last()]);
        let range = sleep.min(deepest.wrapping_add(deepest >> 2));
        let spread = (range >> SPREAD_SHIFT).max(LEAST_SPREAD);
        let mut sample = self.sample_below(range);
        if sample.count <= CHANCE {
            return sleep;
        }
        let least = sample.min.wrapping_add(spread);
        while sample.count > CHANCE.wrapping_sub(1)
            && sample.max > spread
            && (sample.max.wrapping_sub(spread).wrapping_mul(sample.count) > sample.sum
                || least.wrapping_mul(sample.count) < sample.sum)
        {
            sample = self.sample_below(sample.max);
        }
        sample.sum.checked_div(sample.count).unwrap_or(sleep)
    }

    /// The candidate of all revisions but the last.
    fn search(
        &self,
        states: &IdleStates,
        sleep: u64,
        expected: u64,
        limit: u64,
        is_long_enough: impl Fn(u64) -> bool,
    ) -> Found {
        let mut found = Found { expected, ..Found::default() };
        let mut earliest = None;
        let mut bar = Pulses::default();
        let mut weigh = true;
        for (state, row) in states.indices().zip(states.as_slice()) {
            let early_hits = self.weights[state].early_hits;
            if !row.is_enabled() {
                // A deeper state with less early hits than this one would be a mistake.
                if earliest.is_some() {
                    bar = bar.max(early_hits);
                }
                continue;
            }
            let candidate = *found.candidate.get_or_insert(state);
            let residency = self.residency(row);
            if residency > found.expected {
                if self.revision.is_draft() {
                    let Weights { hits, misses, .. } = self.weights[candidate];
                    weigh = found.expected >= sleep && hits < misses;
                }
                return self.weighed(states, found, earliest, weigh);
            }
            if self.revision.time(row.exit_latency) > limit {
                if self.revision < Revision::V5_3 {
                    found.expected = self.residency(&states[candidate]);
                    return found;
                }
                found.too_slow = found.too_slow.or(Some(state));
            }
            found.candidate = Some(state);
            if bar < early_hits && is_long_enough(residency) {
                bar = early_hits;
                earliest = Some(state);
            }
        }
        // The drafts do not weigh the deepest state.
        weigh &= !self.revision.is_draft();
        self.weighed(states, found, earliest, weigh)
    }

    /// Prefers the state with the most early hits to the candidate, if that is seldom hit.
    fn weighed(
        &self,
        states: &IdleStates,
        mut found: Found,
        earliest: Option<StateIndex>,
        weigh: bool,
    ) -> Found {
        let is_seldom_hit = found.candidate.is_some_and(|candidate| {
            let Weights { hits, misses, .. } = self.weights[candidate];
            hits <= misses
        });
        if let Some(earliest) = earliest.filter(|_| weigh && is_seldom_hit) {
            found.doubted = found.candidate.map(|state| (state, self.weights[state]));
            found.candidate = Some(earliest);
            found.expected = self.residency(&states[earliest]);
        }
        found
    }

    /// The candidate of 5.10: the weights of a disabled state count for the enabled one above it.
    fn search_5_10(
        &self,
        states: &IdleStates,
        expected: u64,
        limit: u64,
        is_long_enough: impl Fn(u64) -> bool,
    ) -> Found {
        let mut found = Found { expected, ..Found::default() };
        let mut earliest = None;
        let mut next_earliest = None;
        let mut bar = Pulses::default();
        let mut weights = Weights::default();
        for (state, row) in states.indices().zip(states.as_slice()) {
            let own = self.weights[state];
            let residency = self.residency(row);
            if !row.is_enabled() {
                if residency > expected {
                    continue;
                }
                weights = own;
                let Some(candidate) = found.candidate.filter(|_| bar < own.early_hits) else {
                    continue;
                };
                if earliest == Some(candidate) {
                    bar = own.early_hits;
                } else if is_long_enough(self.residency(&states[candidate])) {
                    bar = own.early_hits;
                    next_earliest = earliest.replace(candidate);
                }
                continue;
            }
            if found.candidate.is_none() {
                found.candidate = Some(state);
                weights = own;
            }
            if residency > expected {
                break;
            }
            if self.revision.time(row.exit_latency) > limit {
                found.too_slow = found.too_slow.or(Some(state));
            }
            found.candidate = Some(state);
            weights = own;
            if bar < own.early_hits && is_long_enough(residency) {
                bar = own.early_hits;
                next_earliest = earliest.replace(state);
            }
        }
        if weights.hits <= weights.misses {
            if found.candidate == earliest {
                earliest = next_earliest;
            }
            if let Some(earliest) = earliest {
                found.doubted = found.candidate.map(|state| (state, weights));
                found.candidate = Some(earliest);
                found.expected = self.residency(&states[earliest]);
            }
        }
        found
    }

    fn shallower(&self, states: &IdleStates, from: StateIndex, duration: u64) -> StateIndex {
        let mut chosen = from;
        for state in below(from).filter(|&state| states[state].is_enabled()) {
            chosen = state;
            if self.residency(&states[state]) <= duration {
                break;
            }
        }
        chosen
    }

    /// A state that the tick does not cut short.
    fn before_tick(&self, states: &IdleStates, from: StateIndex, delta_tick: u64) -> StateIndex {
        if !self.revision.is_draft() {
            return self.shallower(states, from, delta_tick);
        }
        below(from)
            .filter(|&state| states[state].is_enabled())
            .find(|&state| self.residency(&states[state]) <= delta_tick)
            .unwrap_or(StateIndex::ZERO)
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

        let sleep = self.revision.time(asked.sleep);
        let tick = kernel.tick();
        let tick_length = self.revision.tick_length(self.tick_rate);
        // With the tick stopped, the CPU could be stuck in a state for less.
        let is_long_enough = |time| tick == Tick::Running || time >= tick_length;
        let mut limit = self.revision.int_time(kernel.latency_limit());
        let mut expected = sleep;
        if self.revision == Revision::RfcV5 {
            expected = self.pattern(states, sleep);
            match tick {
                Tick::Stopped if expected < tick_length => expected = sleep,
                Tick::Stopped => {}
                Tick::Running => limit = limit.min(expected),
            }
        }
        let Found { candidate, mut expected, too_slow, doubted } =
            if self.revision >= Revision::V5_10 {
                self.search_5_10(states, expected, limit, is_long_enough)
            } else {
                self.search(states, sleep, expected, limit, is_long_enough)
            };
        let candidate = candidate.unwrap_or(StateIndex::ZERO);
        let sleep = asked.sleep;
        let (believed, weights) = doubted.unwrap_or_else(|| (candidate, self.weights[candidate]));
        listener.because(|| Reason::DeepestBeforeTimer { state: believed, sleep });
        if doubted.is_some() {
            let (hits, misses) = (weights.hits.0, weights.misses.0);
            listener.because(|| Reason::Weights { state: believed, hits, misses });
            listener.because(|| Reason::EarlyHits { from: believed, to: candidate });
        }
        let mut chosen = too_slow.map_or(candidate, |too_slow| candidate.min(too_slow));
        if chosen < candidate {
            let limit = kernel.latency_limit();
            listener.because(|| Reason::LatencyLimit { from: candidate, to: chosen, limit });
        }

        if chosen > StateIndex::ZERO && self.revision >= Revision::RfcV6 {
            let bound = if self.revision < Revision::V5_3 {
                self.residency(&states[chosen])
            } else {
                expected
            };
            let sample = self.sample_below(bound);
            let mean = sample.sum.checked_div(sample.count).unwrap_or(0);
            if sample.count > CHANCE && is_long_enough(mean) {
                expected = mean;
                if self.residency(&states[chosen]) > mean {
                    let from = chosen;
                    chosen = self.shallower(states, from, mean);
                    listener.because(|| Reason::Pattern { from, to: chosen });
                }
            }
        }

        let row = &states[chosen];
        listener.because(|| {
            let tick_length = self.tick_rate.tick();
            Reason::of_tick(tick, row, self.revision.nanoseconds(expected), tick_length)
        });
        if tick == Tick::Stopped || (!row.is_polling() && expected >= tick_length) {
            return Selection::stopping_tick(chosen);
        }
        let delta_tick = self.revision.time(asked.delta_tick);
        if chosen > StateIndex::ZERO && self.residency(row) > delta_tick {
            let from = chosen;
            let to = self.before_tick(states, from, delta_tick);
            let delta_tick = asked.delta_tick;
            listener.because(|| Reason::TickTooNear { from, to, delta_tick });
            return Selection::keeping_tick(to);
        }
        Selection::keeping_tick(chosen)
    }
}

impl Governor for Teo {
    fn enable(&mut self, states: &IdleStates, _device: &mut Device) {
        *self = Self::fresh(self.tick_rate, self.revision, states.len());
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
        let tick_length = self.tick_rate.tick().get().cast_unsigned();
        let timer_is_beyond_tick = self.sleep_length.get().cast_unsigned() > tick_length;
        let polled_out = kernel.device().poll_time_limit;
        let safety_net = ended_by_safety_net(kernel, timer_is_beyond_tick);
        if self.revision == Revision::RfcV5 {
            // It only looked.
            kernel.device().poll_time_limit = polled_out;
        }
        self.span.end(kernel, safety_net, self.sleep_length);
        self.unlearnt = true;
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        for (index, weights) in (0..self.state_count).zip(&self.weights.0) {
            let index = Some(index);
            metrics(Metric { name: "early_hits", index, value: weights.early_hits.0.into() });
            metrics(Metric { name: "hits", index, value: weights.hits.0.into() });
            metrics(Metric { name: "misses", index, value: weights.misses.0.into() });
        }
        for (index, &interval) in (0..INTERVALS).zip(&self.intervals) {
            let value = i64::try_from(interval).unwrap_or(i64::MAX);
            let value = if self.revision.counts_nanoseconds() {
                value
            } else {
                Nanoseconds::from_micros(value).get()
            };
            metrics(Metric { name: "intervals", index: Some(index), value });
        }
        let interval_index = self.next_interval as i64;
        metrics(Metric { name: "interval_idx", index: None, value: interval_index });
        self.span.explain(metrics);
        let sleep_length = self.sleep_length.get();
        metrics(Metric { name: "sleep_length_ns", index: None, value: sleep_length });
    }
}
