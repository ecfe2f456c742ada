// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors that do not think: always one state, or always the deepest.
//!
//! idlelab's own. They are the yardsticks at both ends: what a table costs if nobody chooses. The
//! tick is stopped unless the state polls, since a CPU that spins is expected to be back soon.

use idlelab_states::{IdleStates, StateIndex};

use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Which state is always chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    State(StateIndex),
    Deepest,
}

/// The governor of one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    choice: Choice,
}

impl Fixed {
    /// Always this state, whatever the latency limit. Where the table lacks it or it is disabled,
    /// the next shallower enabled state; state 0 if there is none.
    #[must_use]
    pub const fn state(state: StateIndex) -> Self {
        Self { choice: Choice::State(state) }
    }

    /// Always the deepest enabled state within the latency limit. If none is within it, the
    /// shallowest enabled one; state 0 if none is enabled.
    #[must_use]
    pub const fn deepest() -> Self {
        Self { choice: Choice::Deepest }
    }

    #[inline(always)]
    pub(crate) fn decide(
        self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        let chosen = match self.choice {
            Choice::State(wanted) => states.enabled().rev().find(|&state| state <= wanted),
            Choice::Deepest => {
                let limit = kernel.latency_limit();
                let within_limit =
                    states.enabled().rev().find(|&state| states[state].exit_latency <= limit);
                within_limit.or_else(|| states.enabled().next())
            }
        };
        let state = chosen.unwrap_or(StateIndex::ZERO);
        listener.because(|| match self.choice {
            Choice::State(_) => Reason::AlwaysThisState(state),
            Choice::Deepest => Reason::DeepestWithinLimit(state),
        });
        if states[state].is_polling() {
            Selection::keeping_tick(state)
        } else {
            Selection::stopping_tick(state)
        }
    }
}

impl Governor for Fixed {
    fn enable(&mut self, _states: &IdleStates, _device: &mut Device) {}

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
    }

    fn explain(&self, _metrics: &mut dyn FnMut(Metric)) {}
}
