// SPDX-License-Identifier: GPL-2.0-or-later
//! The last nine wakeups, one by one: the teos of 5.14 to 6.10 leave the deepest state at once
//! when more than half of them were intercepts.

use core::num::Wrapping;

use idlelab_states::{PerState, StateIndex};

use crate::Metric;
use crate::bins::Pulses;
use crate::walk::below;

/// How many wakeups are remembered (`NR_RECENT`).
const REMEMBERED: usize = 9;

/// So many of them, or fewer, may be chance.
pub(super) const CHANCE: Pulses = Wrapping(4);

/// Where the last wakeups were intercepted.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    /// How many in each bin.
    counts: PerState<Pulses>,
    /// In which bin each was; `None` for a hit.
    intercepts: [Option<StateIndex>; REMEMBERED],
    newest: usize,
}

impl Recent {
    /// Takes the oldest wakeup out of the counts and makes room for a new one. If none is then
    /// [remembered](Recent::remember), the oldest stays in its place and is taken out once more
    /// nine wakeups later.
    #[inline]
    pub(super) fn forget_oldest(&mut self) {
        self.newest = self.newest.wrapping_add(1) % REMEMBERED;
        if let Some(&Some(bin)) = self.intercepts.get(self.newest) {
            self.counts[bin] -= 1;
        }
    }

    /// Remembers a hit, or an intercept in a bin.
    #[inline]
    pub(super) fn remember(&mut self, intercept: Option<StateIndex>) {
        if let Some(newest) = self.intercepts.get_mut(self.newest) {
            *newest = intercept;
        }
        if let Some(bin) = intercept {
            self.counts[bin] += 1;
        }
    }

    #[inline]
    pub(super) fn in_bin(&self, state: StateIndex) -> Pulses {
        self.counts[state]
    }

    /// All in the bins of shallower states.
    #[inline]
    pub(super) fn below(&self, state: StateIndex) -> Pulses {
        below(state).fold(Wrapping(0), |sum, state| sum + self.counts[state])
    }

    /// Hands out the counts of the first `count` states.
    pub(super) fn explain(&self, count: usize, metrics: &mut dyn FnMut(Metric)) {
        for (index, recent) in (0..count).zip(&self.counts.0) {
            metrics(Metric { name: "recent", index: Some(index), value: recent.0.into() });
        }
    }
}
