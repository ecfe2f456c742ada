// SPDX-License-Identifier: GPL-2.0-or-later
//! menu, as in kernels 7.1 to 7.3.
//!
//! The idle duration is the least of two predictions, and the deepest state that it and the
//! latency limit allow is chosen:
//!
//! ```text
//!  last eight intervals   ▁▂▁▁█▂▁▂  ──▶ drop far-out ones until the rest agree ──▶ typical
//!                                                                                    │
//!  next timer ──▶ × correction factor of its order of magnitude ──▶ corrected        │ least
//!                 <10 µs │ <100 µs │ <1 ms │ <10 ms │ <100 ms │ more                 ▼
//!                    0        1        2        3        4        5              predicted
//! ```
//!
//! A correction factor is a running mean of *measured / next timer*: how much of the way to a
//! timer of that distance the CPU usually gets. Eight intervals agree if their standard deviation
//! is at most 20 µs or a sixth of their mean. If the typical interval is short the timers, which
//! are costly to ask for, are not asked at all.
//!
//! Mirrors: the mainline text after the rewrites of 2025 and 2026: no influence of tasks that wait
//! for IO (`38f83090f515`, 6.12), outliers dropped from both ends (6.15), rejected entries
//! recorded as "no idea" (`fa3fa55de0d6`, 6.17), the latency limit tested first (`779b1a1cb13a`,
//! 6.17), polling only where a real state would be too slow or too deep (6.18, 6.19), and the
//! timers always asked with the tick stopped (7.1).
//!
//! Known difference: the kernel never asks it about a table of one state, and would read past the
//! table's end if it did; here it chooses that state.

use core::mem;

use idlelab_states::{IdleStates, Nanoseconds, StateIndex, TickRate};

use crate::walk::{RESIDENCY_THRESHOLD, half, safe_timer_range, shallower};
use crate::{Device, Governor, Kernel, Metric, Selection, Tick};

/// Correction factors are in units of `1 / (RESOLUTION * DECAY)`.
const RESOLUTION: u32 = 1024;

/// An update is worth an eighth of a correction factor.
const DECAY: u32 = 8;

const UNITY: u32 = RESOLUTION * DECAY;

/// Timers further away than this say nothing about how early the CPU wakes: 50 ms.
const MAX_INTERESTING: u64 = 50_000_000;

const NANOSECONDS_PER_MICROSECOND: u64 = 1_000;

/// Beyond every bound, or an entry that the driver rejected.
const NO_IDEA: u32 = u32::MAX;

/// Correction factors, one for each order of magnitude of the time to the next timer.
const BUCKETS: usize = 6;

/// Where each bucket but the last ends, in nanoseconds.
const BUCKET_ENDS: [i64; BUCKETS - 1] = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

const LAST_BUCKET: usize = BUCKETS - 1;

/// How many intervals are remembered.
const INTERVALS: usize = 8;

/// Three quarters of the intervals make a majority that a wide spread is forgiven to, and below
/// which no more outliers are dropped.
const ENOUGH_INTERVALS: u64 = INTERVALS as u64 * 3 / 4;

/// A standard deviation of a sixth of the mean is the widest spread that still predicts.
const VARIANCES_TO_SQUARED_MEAN: u64 = 36;

/// A standard deviation of 20 µs is always good enough.
const SMALL_VARIANCE: u64 = 400;

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Menu {
    tick_length: Nanoseconds,
    correction_factors: [u32; BUCKETS],
    /// The last intervals in microseconds, cut to 32 bits as the kernel cuts them.
    intervals: [u32; INTERVALS],
    next_interval: usize,
    /// As known at the last selection, never negative; `MAX` if it was not asked.
    next_timer: Nanoseconds,
    bucket: usize,
    needs_update: bool,
    tick_wakeup: bool,
}

impl Menu {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub fn new(tick_rate: TickRate) -> Self {
        Self::fresh(tick_rate.tick())
    }

    const fn fresh(tick_length: Nanoseconds) -> Self {
        Self {
            tick_length,
            correction_factors: [UNITY; BUCKETS],
            intervals: [0; INTERVALS],
            next_interval: 0,
            next_timer: Nanoseconds::ZERO,
            bucket: 0,
            needs_update: false,
            tick_wakeup: false,
        }
    }

    fn remember(&mut self, interval: u32) {
        if let Some(slot) = self.intervals.get_mut(self.next_interval) {
            *slot = interval;
        }
        self.next_interval = self.next_interval.wrapping_add(1) % INTERVALS;
    }

    fn update(&mut self, states: &IdleStates, device: &Device) {
        let row = &states[device.last_state];
        let next_timer = self.next_timer.get().cast_unsigned();
        let measured = if self.tick_wakeup && self.next_timer > self.tick_length {
            // The tick was kept for fear of a short sleep, and the sleep was not short. Being just
            // within the interesting range lets the factor grow, but not jump to unity.
            MAX_INTERESTING / 10 * 9
        } else if row.is_polling() && device.poll_time_limit {
            // Nothing woke the CPU: it would have gone on idling until the timer.
            next_timer
        } else {
            let residency = device.last_residency.get().cast_unsigned();
            let latency = row.exit_latency.get().cast_unsigned();
            if residency > latency.wrapping_mul(2) {
                residency.wrapping_sub(latency)
            } else {
                residency / 2
            }
        };
        let measured = measured.min(next_timer);

        let gain = if next_timer > 0 && measured < MAX_INTERESTING {
            (u64::from(RESOLUTION).wrapping_mul(measured) / next_timer) as u32
        } else {
            RESOLUTION
        };
        if let Some(factor) = self.correction_factors.get_mut(self.bucket) {
            *factor = factor.wrapping_sub(*factor / DECAY).wrapping_add(gain);
        }
        self.remember((measured / NANOSECONDS_PER_MICROSECOND) as u32);
    }

    /// How far the CPU usually gets towards a timer as far away as the next one.
    fn corrected_timer(&self) -> Nanoseconds {
        let factor = self.correction_factors.get(self.bucket).copied().unwrap_or(UNITY);
        // With no timer pending the product wraps and the prediction is as good as random, in the
        // kernel too.
        let product = self.next_timer.get().cast_unsigned().wrapping_mul(factor.into());
        let divisor = u64::from(UNITY).wrapping_mul(NANOSECONDS_PER_MICROSECOND);
        let microseconds = (product.wrapping_add(divisor / 2) / divisor) as u32;
        Nanoseconds::from_micros(microseconds.into())
    }
}

impl Governor for Menu {
    fn enable(&mut self, _states: &IdleStates, _device: &mut Device) {
        *self = Self::fresh(self.tick_length);
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        let device = kernel.device();
        if mem::take(&mut self.needs_update) {
            self.update(states, device);
        } else if device.last_residency == Nanoseconds::ZERO {
            self.remember(NO_IDEA);
        }

        let limit = kernel.latency_limit();
        let tick = kernel.tick();
        let mut delta_tick = half(self.tick_length);
        let mut predicted = Nanoseconds::from_micros(typical_interval(&self.intervals).into());
        if predicted > RESIDENCY_THRESHOLD || tick == Tick::Stopped {
            let asked = kernel.sleep_length();
            (self.next_timer, delta_tick) = if asked.sleep < Nanoseconds::ZERO {
                (Nanoseconds::ZERO, Nanoseconds::ZERO)
            } else {
                (asked.sleep, asked.delta_tick)
            };
            self.bucket = bucket(self.next_timer);
            predicted = predicted.min(self.corrected_timer());
            // Trusting a short prediction with the tick stopped risks a long stay in a shallow
            // state, unless a timer is near to end it.
            if tick == Tick::Stopped
                && predicted < self.tick_length
                && self.next_timer > safe_timer_range(self.tick_length)
            {
                predicted = self.next_timer;
            }
        } else {
            self.next_timer = Nanoseconds::MAX;
            self.bucket = LAST_BUCKET;
        }

        let shallowest = &states[StateIndex::ZERO];
        let only_shallowest = limit == Nanoseconds::ZERO
            || states.index(1).is_none_or(|second| {
                let second = &states[second];
                shallowest.is_enabled()
                    && (self.next_timer < second.target_residency || limit < second.exit_latency)
            });
        if only_shallowest {
            return if shallowest.is_polling() {
                Selection::keeping_tick(StateIndex::ZERO)
            } else {
                Selection::stopping_tick(StateIndex::ZERO)
            };
        }

        let mut chosen = None;
        for state in states.enabled() {
            let row = &states[state];
            let current = *chosen.get_or_insert(state);
            let current_row = &states[current];
            if row.exit_latency > limit {
                break;
            }
            if row.target_residency <= predicted {
                chosen = Some(state);
                continue;
            }
            let beats_polling = row.target_residency < RESIDENCY_THRESHOLD
                && row.target_residency <= self.next_timer
                && row.exit_latency <= predicted;
            if current_row.is_polling() && beats_polling {
                predicted = row.target_residency;
                chosen = Some(state);
                break;
            }
            if predicted < self.tick_length {
                break;
            }
            if tick == Tick::Running {
                // A state too shallow for the prediction is left early: keep the tick for that.
                predicted = current_row.target_residency;
                break;
            }
            let reaches_event = row.target_residency <= delta_tick;
            let is_shallow = current_row.target_residency < self.tick_length;
            return Selection::stopping_tick(if is_shallow && reaches_event {
                state
            } else {
                current
            });
        }

        let chosen = chosen.unwrap_or(StateIndex::ZERO);
        let row = &states[chosen];
        if tick == Tick::Stopped || (!row.is_polling() && predicted >= self.tick_length) {
            return Selection::stopping_tick(chosen);
        }
        if chosen > StateIndex::ZERO && row.target_residency > delta_tick {
            return Selection::keeping_tick(shallower(states, chosen, delta_tick));
        }
        Selection::keeping_tick(chosen)
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
        self.needs_update = true;
        self.tick_wakeup = kernel.take_got_tick();
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        for (index, &factor) in (0..BUCKETS).zip(&self.correction_factors) {
            let index = Some(index);
            metrics(Metric { name: "correction_factor", index, value: factor.into() });
        }
        for (index, &interval) in (0..INTERVALS).zip(&self.intervals) {
            let index = Some(index);
            let nanoseconds = Nanoseconds::from_micros(interval.into()).get();
            metrics(Metric { name: "intervals", index, value: nanoseconds });
        }
        let whole = |name, value| Metric { name, index: None, value };
        metrics(whole("interval_ptr", self.next_interval as i64));
        metrics(whole("next_timer_ns", self.next_timer.get()));
        metrics(whole("bucket", self.bucket as i64));
        metrics(whole("needs_update", self.needs_update.into()));
        metrics(whole("tick_wakeup", self.tick_wakeup.into()));
    }
}

fn bucket(next_timer: Nanoseconds) -> usize {
    BUCKET_ENDS.iter().take_while(|&&end| next_timer.get() >= end).count()
}

/// The intervals strictly between two bounds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    count: u64,
    min: u64,
    max: u64,
    mean: u64,
    variance: u64,
}

impl Sample {
    /// `None` if no interval lies between the bounds, or only zeros do.
    fn between(intervals: &[u32; INTERVALS], lower: i64, upper: i64) -> Option<Self> {
        let mut count: u64 = 0;
        let mut min = u64::MAX;
        let mut max = 0;
        let mut sum: u64 = 0;
        let mut sum_of_squares: u64 = 0;
        for &interval in intervals {
            if i64::from(interval) <= lower || i64::from(interval) >= upper {
                continue;
            }
            let interval = u64::from(interval);
            count = count.wrapping_add(1);
            min = min.min(interval);
            max = max.max(interval);
            sum = sum.wrapping_add(interval);
            sum_of_squares = sum_of_squares.wrapping_add(interval.wrapping_mul(interval));
        }
        if count == 0 || max == 0 {
            return None;
        }
        // Both divisions cut, so the variance comes out up to twice the mean too large.
        let mean = sum / count;
        let variance = (sum_of_squares / count).wrapping_sub(mean.wrapping_mul(mean));
        Some(Self { count, min, max, mean, variance })
    }

    /// Whether the intervals agree well enough for their mean to be a prediction.
    fn is_consistent(&self) -> bool {
        // The bound keeps the product from wrapping.
        self.variance <= u64::MAX / VARIANCES_TO_SQUARED_MEAN
            && ((self.count >= ENOUGH_INTERVALS
                && self.mean.wrapping_mul(self.mean)
                    > self.variance.wrapping_mul(VARIANCES_TO_SQUARED_MEAN))
                || self.variance <= SMALL_VARIANCE)
    }
}

/// The interval that comes again and again, in microseconds, or [`NO_IDEA`].
fn typical_interval(intervals: &[u32; INTERVALS]) -> u32 {
    let mut lower = -1;
    let mut upper = i64::from(NO_IDEA);
    while let Some(sample) = Sample::between(intervals, lower, upper) {
        if sample.is_consistent() {
            return sample.mean as u32;
        }
        if sample.count <= ENOUGH_INTERVALS {
            break;
        }
        let reach_down = sample.mean.wrapping_sub(sample.min);
        let reach_up = sample.max.wrapping_sub(sample.mean);
        if reach_down > reach_up {
            lower = sample.min.cast_signed();
        } else {
            upper = sample.max.cast_signed();
        }
    }
    NO_IDEA
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;
    use crate::SleepLength;
    use crate::steps::{StepDriver, StepInputs, StepOutcome};

    /// 10, 12 … 900: mean 325, variance 166 014; without 900 243 and 135 681; without 850 142 and
    /// 86 605, six are left: no idea. 100 seven times: without 5000 all are equal.
    #[test]
    fn the_typical_interval_gives_up_with_six_intervals_left() {
        assert_eq!(typical_interval(&[1, 3, 100, 150, 700, 900, 3000, 9000]), NO_IDEA);
        assert_eq!(typical_interval(&[10, 12, 11, 13, 9, 800, 850, 900]), NO_IDEA);
        assert_eq!(typical_interval(&[20; 8]), 20);
        assert_eq!(typical_interval(&[100, 100, 100, 5000, 100, 100, 100, 100]), 100);
    }

    /// 4 zeros and 4 forties: mean 20, variance 800 − 400 = 400, just enough, though 20² ≤ 36·400.
    /// With 41: mean 20, 840 − 400 = 440. Then 20 − 0 ≤ 41 − 20 drops the 41s; zeros are no idea.
    #[test]
    fn a_deviation_of_20_microseconds_is_always_good_enough() {
        assert_eq!(typical_interval(&[0, 40, 0, 40, 0, 40, 0, 40]), 20);
        assert_eq!(typical_interval(&[0, 41, 0, 41, 0, 41, 0, 41]), NO_IDEA);
    }

    /// Mean 628: 628 − 10 > 1000 − 628, so the three 10s go, and the five equal ones that are left
    /// predict, though they are under six.
    #[test]
    fn equal_outliers_go_at_once_and_a_small_rest_may_predict() {
        assert_eq!(typical_interval(&[10, 1000, 10, 1000, 10, 1000, 1000, 1000]), 1000);
    }

    #[test]
    fn rejected_entries_and_nothing_but_zeros_are_no_idea() {
        assert_eq!(typical_interval(&[NO_IDEA; 8]), NO_IDEA);
        assert_eq!(typical_interval(&[0; 8]), NO_IDEA);
        assert_eq!(typical_interval(&[0, 0, 0, 0, 0, 0, 0, NO_IDEA]), NO_IDEA);
    }

    /// After the eight same intervals, a timer far away and the tick running.
    fn select_after(interval: u32, first: IdleState, second: IdleState) -> StepOutcome {
        let mut menu = Menu::new(TickRate::from_hertz(250).unwrap());
        let states = IdleStates::new(&[first, second]).unwrap();
        menu.intervals = [interval; INTERVALS];
        let sleep = Nanoseconds::new(1_000_000_000);
        let delta_tick = Nanoseconds::new(2_000_000);
        let step = StepInputs {
            sleep_length: SleepLength { sleep, delta_tick },
            ..StepInputs::of_residency(Nanoseconds::new(1_000))
        };
        StepDriver::new().step(&mut menu, &states, &step)
    }

    fn microseconds(latency: i64, residency: i64) -> IdleState {
        let latency = Nanoseconds::from_micros(latency);
        IdleState::new("", latency, Nanoseconds::from_micros(residency))
    }

    #[test]
    fn polling_is_left_for_a_state_that_is_too_deep_only_if_its_exit_latency_fits() {
        let chosen = |interval, second| {
            select_after(interval, IdleState::polling("POLL"), second).selection.state.get()
        };
        // Predicted 1 µs: an exit latency of 2 µs is too much.
        assert_eq!(chosen(1, microseconds(2, 2)), 0);
        // Predicted 3 µs, residency 5 µs: 2 ≤ 3, so rather this than spinning.
        assert_eq!(chosen(3, microseconds(2, 5)), 1);
        assert_eq!(chosen(3, microseconds(3, 5)), 1);
        assert_eq!(chosen(3, microseconds(4, 5)), 0);
        // Only below 15 µs of residency.
        assert_eq!(chosen(10, microseconds(5, 14)), 1);
        assert_eq!(chosen(10, microseconds(5, 15)), 0);
        // And not instead of a first state that sleeps.
        let sleeping = select_after(8, microseconds(1, 1), microseconds(5, 10));
        assert_eq!(sleeping.selection, Selection::keeping_tick(StateIndex::ZERO));
    }

    #[test]
    fn a_virtual_cpu_woken_every_10_to_70_microseconds_does_not_cede_for_120() {
        for interval in (10..=70).step_by(10) {
            let cede = microseconds(12, 120);
            let outcome = select_after(interval, IdleState::polling("snooze"), cede);
            assert_eq!(outcome.selection, Selection::keeping_tick(StateIndex::ZERO));
            // Up to 15 µs the timers are not asked.
            assert_eq!(outcome.sleep_length_queries, u32::from(interval > 15));
        }
    }
}
