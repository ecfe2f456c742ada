// SPDX-License-Identifier: GPL-2.0-or-later
use core::fmt;

/// How much a recording knows, and so what a replay of it can claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fidelity {
    /// 1: `cpu_idle` events only. Replay gives bounds.
    #[default]
    Idle,
    /// 2: interrupts, IPIs and scheduling too. The causes of wakeups are known.
    Causes,
    /// 3: timers too. The sleep length is known where the kernel could stop its tick.
    Timers,
    /// 4: the governor's own inputs too. Its decisions are reproduced exactly.
    Inputs,
}

impl Fidelity {
    /// The number by which documents and reports call it, 1 to 4.
    #[must_use]
    pub const fn level(self) -> u8 {
        match self {
            Self::Idle => 1,
            Self::Causes => 2,
            Self::Timers => 3,
            Self::Inputs => 4,
        }
    }

    /// The fidelity of this number, or `None` if it is not 1 to 4.
    #[must_use]
    pub const fn from_level(level: u8) -> Option<Self> {
        match level {
            1 => Some(Self::Idle),
            2 => Some(Self::Causes),
            3 => Some(Self::Timers),
            4 => Some(Self::Inputs),
            _ => None,
        }
    }
}

impl fmt::Display for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = match self {
            Self::Idle => "cpu_idle events only",
            Self::Causes => "with wakeup causes",
            Self::Timers => "with timers",
            Self::Inputs => "with the governor's own inputs",
        };
        write!(f, "{} ({has})", self.level())
    }
}
