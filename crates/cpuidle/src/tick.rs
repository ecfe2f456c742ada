// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{Nanoseconds, Tick, TickRate};

/// The scheduler tick of one CPU: its state, its phase, and when it is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickDevice {
    tick: Nanoseconds,
    phase: Nanoseconds,
    state: Tick,
    due: Nanoseconds,
}

impl TickDevice {
    pub(crate) fn new(rate: TickRate, phase: Nanoseconds) -> Self {
        Self { tick: rate.tick(), phase, state: Tick::Running, due: Nanoseconds::ZERO }
    }

    pub(crate) const fn state(&self) -> Tick {
        self.state
    }

    /// When the running tick fires next.
    pub(crate) const fn due(&self) -> Option<Nanoseconds> {
        match self.state {
            Tick::Running => Some(self.due),
            Tick::Stopped => None,
        }
    }

    /// The last tick boundary not after `now`: when jiffies were last brought up to date.
    pub(crate) fn boundary(&self, now: Nanoseconds) -> Nanoseconds {
        let into_tick = (now.get() - self.phase.get()).rem_euclid(self.tick.get());
        now - Nanoseconds::new(into_tick)
    }

    /// The tick runs from `now` on, at the phase it always had.
    #[inline]
    pub(crate) fn restart(&mut self, now: Nanoseconds) {
        self.state = Tick::Running;
        // Most idle periods are shorter than a tick and begin before the tick that was due.
        if self.due <= now || self.due > now + self.tick {
            self.due = self.boundary(now) + self.tick;
        }
    }

    pub(crate) fn stop(&mut self) {
        self.state = Tick::Stopped;
    }

    /// The tick's handler ran at `now`.
    pub(crate) fn fired(&mut self, now: Nanoseconds) {
        if self.state == Tick::Running {
            self.due = self.boundary(now) + self.tick;
        }
    }

    /// Whether the kernel keeps the tick for the sake of a wheel timer due at `wheel`: one that
    /// comes within a tick of the last boundary is left to the tick.
    #[inline]
    pub(crate) fn serves(&self, wheel: Nanoseconds, now: Nanoseconds) -> bool {
        wheel != Nanoseconds::MAX
            && self.state == Tick::Running
            && wheel - self.boundary(now) <= self.tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(microseconds: i64) -> Nanoseconds {
        Nanoseconds::from_micros(microseconds)
    }

    fn device() -> TickDevice {
        TickDevice::new(TickRate::from_hertz(250).unwrap(), us(1_000))
    }

    #[test]
    fn a_restarted_tick_keeps_its_phase() {
        let mut tick = device();
        tick.restart(us(10_500));
        assert_eq!(tick.due(), Some(us(13_000)));
        tick.stop();
        assert_eq!(tick.due(), None);
        tick.restart(us(30_000));
        assert_eq!(tick.due(), Some(us(33_000)));
    }

    #[test]
    fn a_tick_that_comes_late_is_followed_by_the_next_boundary() {
        let mut tick = device();
        tick.restart(us(0));
        assert_eq!(tick.due(), Some(us(1_000)));
        tick.fired(us(5_600));
        assert_eq!(tick.due(), Some(us(9_000)));
    }

    #[test]
    fn a_wheel_timer_within_a_tick_of_the_boundary_keeps_the_tick() {
        let mut tick = device();
        tick.restart(us(6_000));
        assert!(tick.serves(us(9_000), us(6_000)));
        assert!(!tick.serves(us(13_000), us(6_000)));
        assert!(!tick.serves(Nanoseconds::MAX, us(6_000)));
        tick.stop();
        assert!(!tick.serves(us(9_000), us(6_000)));
    }
}
