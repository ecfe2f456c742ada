// SPDX-License-Identifier: GPL-2.0-or-later
use core::fmt;
use core::num::NonZeroU32;
use core::ops::{Add, AddAssign, Sub};

/// A point in time or a duration in whole nanoseconds, signed as the kernel's `ktime_t` is: a
/// sleep length is negative when the timer has already expired.
///
/// Sums and differences saturate, so that [`Nanoseconds::MAX`] ("no timer is pending") stays
/// "never" when something is added to it. Code that must wrap as the kernel's C does takes the
/// number out with [`Nanoseconds::get`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanoseconds(i64);

impl Nanoseconds {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The kernel's `KTIME_MAX`, 2^63 - 1: never.
    pub const MAX: Self = Self(i64::MAX);

    /// Wraps a count of nanoseconds.
    #[must_use]
    pub const fn new(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// Converts microseconds, saturating at the ends of the range.
    #[must_use]
    pub const fn from_micros(microseconds: i64) -> Self {
        Self(microseconds.saturating_mul(1_000))
    }

    /// The count of nanoseconds.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whole microseconds, cut towards zero as sysfs and tracefs print them.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0 / 1_000
    }
}

impl Add for Nanoseconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanoseconds {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanoseconds {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How often the scheduler tick fires, in hertz: the kernel's `CONFIG_HZ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TickRate(NonZeroU32);

impl TickRate {
    /// A tick rate of `hertz`; the kernel builds with 24 to 1200.
    ///
    /// Returns `None` outside that range.
    #[must_use]
    pub const fn from_hertz(hertz: u32) -> Option<Self> {
        match NonZeroU32::new(hertz) {
            Some(rate) if hertz >= 24 && hertz <= 1200 => Some(Self(rate)),
            _ => None,
        }
    }

    /// The rate in hertz.
    #[must_use]
    pub const fn hertz(self) -> u32 {
        self.0.get()
    }

    /// The length of one tick: the kernel's `TICK_NSEC`, a second over the rate, rounded to
    /// nearest.
    #[must_use]
    pub const fn tick(self) -> Nanoseconds {
        let hertz = self.0.get() as i64;
        Nanoseconds((1_000_000_000 + hertz / 2) / hertz)
    }
}

impl fmt::Display for TickRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

/// Whether the scheduler tick of the CPU runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tick {
    /// It fires periodically.
    #[default]
    Running,
    /// It was stopped for this stay in the idle loop.
    Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_stays_never_when_time_is_added() {
        assert_eq!(Nanoseconds::MAX + Nanoseconds::new(1), Nanoseconds::MAX);
    }

    #[test]
    fn tick_lengths_are_those_of_the_kernel_configurations() {
        for (hertz, tick) in
            [(1000, 1_000_000), (300, 3_333_333), (250, 4_000_000), (100, 10_000_000)]
        {
            let rate = TickRate::from_hertz(hertz).unwrap();
            assert_eq!(rate.tick(), Nanoseconds::new(tick));
        }
    }

    #[test]
    fn rates_that_no_kernel_is_built_with_are_refused() {
        assert_eq!(TickRate::from_hertz(0), None);
        assert_eq!(TickRate::from_hertz(1_000_000), None);
    }
}
