// SPDX-License-Identifier: GPL-2.0-or-later
//! Walks over the table towards shallower states, and the thresholds that teo and menu share.

use idlelab_states::{IdleState, IdleStates, Nanoseconds, StateIndex};

/// Idle durations and target residencies below this are short (`RESIDENCY_THRESHOLD_NS`).
pub(crate) const RESIDENCY_THRESHOLD: Nanoseconds = Nanoseconds::new(15_000);

/// A latency limit below this is tight: no state worth asking the timers for is within it
/// (`LATENCY_THRESHOLD_NS`).
pub(crate) const LATENCY_THRESHOLD: Nanoseconds = half(RESIDENCY_THRESHOLD);

/// How many ticks a timer must be away to count as far when the tick is stopped
/// (`SAFE_TIMER_RANGE_NS` in ticks).
const SAFE_TIMER_TICKS: i64 = 2;

/// From here on a timer is too far away to be a safe prediction of the idle duration.
pub(crate) const fn safe_timer_range(tick: Nanoseconds) -> Nanoseconds {
    Nanoseconds::new(tick.get().wrapping_mul(SAFE_TIMER_TICKS))
}

/// Half of a time, cut towards zero.
pub(crate) const fn half(time: Nanoseconds) -> Nanoseconds {
    Nanoseconds::new(time.get() / 2)
}

/// All states shallower than `state`, deepest first.
pub(crate) fn below(state: StateIndex) -> impl Iterator<Item = StateIndex> {
    core::iter::successors(state.shallower(), |state| state.shallower())
}

/// The deepest enabled state below `from` whose target residency fits `duration`; the shallowest
/// enabled one if none fits, and `from` itself if none is enabled.
pub(crate) fn shallower(
    states: &IdleStates,
    from: StateIndex,
    duration: Nanoseconds,
) -> StateIndex {
    shallower_of(states, from, duration, IdleState::is_enabled)
}

/// [`shallower`] among the states that sleep.
pub(crate) fn shallower_sleeping(
    states: &IdleStates,
    from: StateIndex,
    duration: Nanoseconds,
) -> StateIndex {
    shallower_of(states, from, duration, |row| row.is_enabled() && !row.is_polling())
}

fn shallower_of(
    states: &IdleStates,
    from: StateIndex,
    duration: Nanoseconds,
    is_usable: impl Fn(&IdleState) -> bool,
) -> StateIndex {
    let mut chosen = from;
    for state in below(from).filter(|&state| is_usable(&states[state])) {
        chosen = state;
        if states[state].target_residency <= duration {
            break;
        }
    }
    chosen
}
