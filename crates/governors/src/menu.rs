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

use idlelab_states::{IdleStates, Nanoseconds, StateIndex, TickRate};

use crate::memory::{MAGNITUDES, Memory, NO_IDEA};
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::typical::Typical;
use crate::walk::{RESIDENCY_THRESHOLD, half, safe_timer_range, shallower};
use crate::{Device, Governor, Kernel, Metric, Selection, Tick};

/// The governor of one CPU.
#[derive(Clone, Debug)]
pub struct Menu {
    memory: Memory<MAGNITUDES>,
}

impl Menu {
    /// A governor on a kernel of this tick rate.
    #[must_use]
    pub const fn new(tick_rate: TickRate) -> Self {
        Self { memory: Memory::none(tick_rate.tick()) }
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        let device = kernel.device();
        if self.memory.take_needs_update() {
            self.memory.update(states, device);
        } else if device.last_residency == Nanoseconds::ZERO {
            self.memory.remember(NO_IDEA);
        }

        let limit = kernel.latency_limit();
        let tick = kernel.tick();
        let tick_length = self.memory.tick_length();
        let mut delta_tick = half(tick_length);
        let mut next_timer = Nanoseconds::MAX;
        let mut predicted = match Typical::from_both_ends(&self.memory.intervals) {
            Typical::Agreed(mean) => Nanoseconds::from_micros(mean.into()),
            Typical::Scattered(_) | Typical::Nothing => Nanoseconds::from_micros(NO_IDEA.into()),
        };
        listener.because(|| Reason::typical((predicted.get() / 1_000) as u32));
        if predicted > RESIDENCY_THRESHOLD || tick == Tick::Stopped {
            let asked = kernel.sleep_length();
            (next_timer, delta_tick) = if asked.sleep < Nanoseconds::ZERO {
                (Nanoseconds::ZERO, Nanoseconds::ZERO)
            } else {
                (asked.sleep, asked.delta_tick)
            };
            let corrected = self.memory.corrected_timer(next_timer.get().cast_unsigned());
            listener.because(|| self.memory.correction_reason(corrected));
            predicted = predicted.min(Nanoseconds::from_micros(corrected.into()));
            listener.because(|| Reason::Predicted(predicted.get().cast_unsigned()));
            // Trusting a short prediction with the tick stopped risks a long stay in a shallow
            // state, unless a timer is near to end it.
            if tick == Tick::Stopped
                && predicted < tick_length
                && next_timer > safe_timer_range(tick_length)
            {
                predicted = next_timer;
                listener.because(|| Reason::PredictedTimer(predicted.get().cast_unsigned()));
            }
        } else {
            listener.because(|| Reason::TypicalIsShort);
            self.memory.no_timer();
        }

        let shallowest = &states[StateIndex::ZERO];
        let only_shallowest = limit == Nanoseconds::ZERO
            || states.index(1).is_none_or(|second| {
                let second = &states[second];
                shallowest.is_enabled()
                    && (next_timer < second.target_residency || limit < second.exit_latency)
            });
        if only_shallowest {
            let next_timer = next_timer.get().cast_unsigned();
            listener.because(|| Reason::OnlyShallowest { next_timer, limit });
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
                let (state, next) = (current, state);
                listener.because(|| Reason::NextIsTooSlow { state, next, limit });
                break;
            }
            if row.target_residency <= predicted {
                listener.because(|| Reason::Fits(state));
                chosen = Some(state);
                continue;
            }
            let beats_polling = row.target_residency < RESIDENCY_THRESHOLD
                && row.target_residency <= next_timer
                && row.exit_latency <= predicted;
            if current_row.is_polling() && beats_polling {
                predicted = row.target_residency;
                chosen = Some(state);
                listener.because(|| Reason::BeatsPolling(state));
                break;
            }
            let predicted_ns = predicted.get().cast_unsigned();
            listener.because(|| {
                let (state, next) = (current, state);
                Reason::NextIsTooDeep { state, next, predicted: predicted_ns }
            });
            if predicted < tick_length {
                break;
            }
            if tick == Tick::Running {
                // A state too shallow for the prediction is left early: keep the tick for that.
                predicted = current_row.target_residency;
                break;
            }
            let reaches_event = row.target_residency <= delta_tick;
            let is_shallow = current_row.target_residency < tick_length;
            let chosen = if is_shallow && reaches_event { state } else { current };
            if chosen > current {
                listener.because(|| Reason::ReachesEvent { from: current, to: state });
            }
            listener.because(|| Reason::TickIsStopped);
            return Selection::stopping_tick(chosen);
        }

        if chosen.is_none() {
            listener.because(|| Reason::NoneEnabled);
        }
        let chosen = chosen.unwrap_or(StateIndex::ZERO);
        let row = &states[chosen];
        listener.because(|| Reason::of_tick(tick, row, predicted, tick_length));
        if tick == Tick::Stopped || (!row.is_polling() && predicted >= tick_length) {
            return Selection::stopping_tick(chosen);
        }
        if chosen > StateIndex::ZERO && row.target_residency > delta_tick {
            let to = shallower(states, chosen, delta_tick);
            listener.because(|| Reason::TickTooNear { from: chosen, to, delta_tick });
            return Selection::keeping_tick(to);
        }
        Selection::keeping_tick(chosen)
    }
}

impl Governor for Menu {
    fn enable(&mut self, _states: &IdleStates, _device: &mut Device) {
        self.memory = Memory::none(self.memory.tick_length());
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.memory.reflect(entered, kernel);
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.memory.explain(metrics);
    }
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;
    use crate::SleepLength;
    use crate::memory::INTERVALS;
    use crate::steps::{StepDriver, StepInputs, StepOutcome};

    /// After the eight same intervals, a timer far away and the tick running.
    fn select_after(interval: u32, first: IdleState, second: IdleState) -> StepOutcome {
        let mut menu = Menu::new(TickRate::from_hertz(250).unwrap());
        let states = IdleStates::new(&[first, second]).unwrap();
        menu.memory.intervals = [interval; INTERVALS];
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
