// SPDX-License-Identifier: GPL-2.0-or-later
use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// An energy in joules. Whether it was measured or modelled is said by what holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Joules(pub f64);

impl Add for Joules {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Joules {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Joules {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Joules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
