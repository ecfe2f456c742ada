// SPDX-License-Identifier: GPL-2.0-or-later
use core::ops::{BitOr, BitOrAssign};

use idlelab_states::{Nanoseconds, StateIndex, Tick};

/// What ended an idle period: a set, since one interrupt can do several things. Empty if the
/// source does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WakeCauses(u8);

impl WakeCauses {
    /// Nothing known.
    pub const NONE: Self = Self(0);
    /// The scheduler tick fired.
    pub const TICK: Self = Self(1);
    /// A timer of the timer wheel expired. With the tick stopped it comes through the tick's own
    /// handler.
    pub const WHEEL_TIMER: Self = Self(1 << 1);
    /// A high-resolution timer other than the tick expired.
    pub const HRTIMER: Self = Self(1 << 2);
    /// A device interrupt, or one whose purpose is not recorded.
    pub const INTERRUPT: Self = Self(1 << 3);
    /// An inter-processor interrupt.
    pub const IPI: Self = Self(1 << 4);
    /// The polling state's time limit.
    pub const POLL_LIMIT: Self = Self(1 << 5);

    const ALL: u8 = (1 << 6) - 1;

    /// Whether all of `other` are among these.
    #[must_use]
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is among these.
    #[must_use]
    #[inline]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set as bits, of which six are used.
    pub(crate) const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// The set of these bits; others are ignored.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits as u8 & Self::ALL)
    }

    /// Whether nothing is known.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for WakeCauses {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for WakeCauses {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What the CPU did after an idle period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhatFollowed {
    /// The source does not say.
    #[default]
    Unknown,
    /// A task ran.
    Task,
    /// The idle loop went round again.
    Idle,
}

/// The kernel's own verdict on a state it had entered (`cpu_idle_miss`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    /// Too deep: the CPU was idle for less than the target residency.
    Above,
    /// Too shallow: a deeper enabled state would have fitted.
    Below,
}

/// One idle period: a row of [`Periods`](crate::Periods).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// When this round of the idle loop began: the switch to the idle task, or the end of the
    /// interrupt before.
    pub idle_start: Option<Nanoseconds>,
    /// When the state was entered, as traced.
    pub enter: Nanoseconds,
    /// When it was left, as traced: before the interrupt that woke the CPU is handled.
    pub exit: Nanoseconds,
    /// The state, as traced.
    pub state: StateIndex,
    /// The residency that the kernel measured.
    pub residency: Option<Nanoseconds>,
    /// What ended it.
    pub causes: WakeCauses,
    /// What the CPU did next.
    pub followed_by: WhatFollowed,
    /// When the nearest timer but the tick was due, as known at entry; [`Nanoseconds::MAX`] if
    /// none was pending.
    pub next_timer: Option<Nanoseconds>,
    /// The same of the timer wheel alone, which decides whether the tick may be stopped.
    pub next_wheel_timer: Option<Nanoseconds>,
    /// When the timer that ended the period was due.
    pub expired_timer: Option<Nanoseconds>,
    /// Whether the tick was stopped while the CPU was in the state.
    pub tick: Option<Tick>,
    /// Whether the kernel could stop the tick, RCU, softirqs and near wheel timers permitting.
    pub tick_stoppable: Option<bool>,
    /// The latency limit in force.
    pub latency_limit: Option<Nanoseconds>,
    /// The kernel's verdict.
    pub miss: Option<Miss>,
    /// Whether the source lost events between the period before and this one.
    pub events_lost_before: bool,
    /// Whether the source shows that the kernel idled without cpuidle, as while a governor is
    /// switched: traced as state 1 whatever the table says, and counted nowhere.
    pub bypassed_cpuidle: bool,
}
