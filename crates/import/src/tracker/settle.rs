// SPDX-License-Identifier: GPL-2.0-or-later
//! What can be said only when the whole trace is read.

use idlelab_recording::{CpuRecording, Period};
use idlelab_states::{Nanoseconds, Tick, TickRate};

use super::cpu::Cpu;

/// Two estimates of a timer's due time may differ by as much as the trace's clock is read late.
const CLOCK_SLOP: Nanoseconds = Nanoseconds::from_micros(50);

/// What the kernel told a governor that asked for the sleep length.
#[derive(Clone, Copy)]
pub(super) struct SleepLength {
    pub(super) sleep: Nanoseconds,
    pub(super) delta_tick: Nanoseconds,
}

impl Cpu {
    /// Brings all timers of the periods to nanoseconds, and lets what the governor was told
    /// correct what the timer events suggest.
    pub(super) fn settle(
        self,
        wheel: Option<(Nanoseconds, Nanoseconds)>,
        ticks: Option<(TickRate, Nanoseconds)>,
        tick_stops_recorded: bool,
    ) -> CpuRecording {
        let mut settled = self.recording;
        settled.tick_phase = ticks.map(|(_, phase)| phase);
        let mut told = self.sleep_lengths.into_iter().peekable();
        settled.periods.change(|number, mut period| {
            let asked = told.next_if(|&(of, _)| of == number).map(|(_, length)| length);
            period.next_wheel_timer =
                period.next_wheel_timer.zip(wheel).and_then(|(jiffy, (epoch, tick))| {
                    Some(Nanoseconds::new(jiffy.get().checked_mul(tick.get())?) + epoch)
                });
            if let (Some(next), Some(wheel)) = (period.next_timer, period.next_wheel_timer) {
                period.next_timer = Some(next.min(wheel));
            }
            if let Some(length) = asked {
                length.correct(&mut period, ticks);
            }
            // A timer that is overdue, or that the kernel did not know of, is one whose end was
            // not traced: it moved to another CPU.
            let earliest = period.next_timer.unwrap_or(period.enter);
            period.next_wheel_timer = period.next_wheel_timer.filter(|&wheel| wheel >= earliest);
            if !tick_stops_recorded && asked.is_none() {
                period.tick = None;
            }
            period
        });
        settled
    }
}

impl SleepLength {
    /// When the loop's round began. The trace tells it to some microseconds; where the timer that
    /// was slept for is known, or it is the tick, the sleep length tells it exactly.
    fn start(self, period: &Period, ticks: Option<(TickRate, Nanoseconds)>) -> Option<Nanoseconds> {
        let start = period.idle_start?;
        let near =
            |exact: &Nanoseconds| *exact <= start + CLOCK_SLOP && start <= *exact + CLOCK_SLOP;
        let by_timer = period.next_timer.map(|next| next - self.sleep).filter(near);
        let by_tick = || {
            let (rate, phase) = ticks.filter(|_| period.tick == Some(Tick::Running))?;
            let tick = rate.tick().get();
            // The boundary nearest to where the tick was said to be.
            let said = (start + self.delta_tick - phase + Nanoseconds::new(tick / 2)).get();
            let boundary = Nanoseconds::new(said) - Nanoseconds::new(said.rem_euclid(tick)) + phase;
            Some(boundary - self.delta_tick).filter(near)
        };
        by_timer.or_else(by_tick).or(Some(start))
    }

    /// The kernel's answer to its governor is the truth: `sleep` reaches beyond `delta_tick` only
    /// if the tick can be stopped, and equals it if not.
    fn correct(self, period: &mut Period, ticks: Option<(TickRate, Nanoseconds)>) {
        let Some(start) = self.start(period, ticks) else { return };
        period.idle_start = Some(start);
        let told = start + self.sleep;
        let beyond_tick = self.sleep > self.delta_tick;
        let far = |time: Nanoseconds, from: Nanoseconds| {
            time > from + CLOCK_SLOP || time + CLOCK_SLOP < from
        };
        if beyond_tick {
            period.tick_stoppable = Some(true);
        }
        match period.next_timer {
            // Told the tick, though nothing is due before it or long after.
            Some(next) if !beyond_tick && next > told + CLOCK_SLOP => {
                if period.tick != Some(Tick::Stopped) {
                    period.tick_stoppable = Some(false);
                }
            }
            Some(next) if far(next, told) => period.next_timer = Some(told),
            Some(_) => {}
            None => period.next_timer = beyond_tick.then_some(told),
        }
    }
}
