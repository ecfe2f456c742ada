// SPDX-License-Identifier: GPL-2.0-or-later
//! How the teos of 5.14 to 6.18 leave the deepest state for a shallower one.

use idlelab_states::{IdleStates, Nanoseconds, StateIndex, Tick};

use crate::walk::below;

/// Whether a CPU may be expected to idle so long, or be put into a state for so long an idle
/// period. With the tick stopped, it could be stuck for very long in anything below a tick.
pub(super) fn is_long_enough(duration: Nanoseconds, tick: Tick, tick_length: Nanoseconds) -> bool {
    tick == Tick::Running || duration >= tick_length
}

/// Goes down from the deepest state to the first whose bins, with those walked over, are `covered`;
/// or to the last usable one above that. Stays if nothing is covered, or the state next to the
/// deepest is not long enough.
pub(super) fn after_intercepts(
    states: &IdleStates,
    deepest: StateIndex,
    is_long_enough: impl Fn(StateIndex) -> bool,
    mut covered: impl FnMut(StateIndex) -> bool,
) -> StateIndex {
    let mut usable = deepest;
    for state in below(deepest) {
        let is_enabled = states[state].is_enabled();
        let is_usable = is_enabled && is_long_enough(state);
        if covered(state) {
            return if is_usable { state } else { usable };
        }
        if is_usable {
            usable = state;
        } else if is_enabled && usable == deepest {
            break;
        }
    }
    deepest
}
