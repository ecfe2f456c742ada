// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex};

/// The counters that sysfs shows for one state of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateStatistics {
    /// How often the state was entered.
    pub usage: u64,
    /// How long the CPU was in it.
    pub time: Nanoseconds,
    /// How often it was too deep.
    pub above: u64,
    /// How often it was too shallow.
    pub below: u64,
    /// How often the driver refused to enter it.
    pub rejected: u64,
}

/// What the idle loop of one CPU counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The counters of each state.
    pub states: PerState<StateStatistics>,
    /// Ticks that fired in the idle loop.
    pub ticks: u64,
    /// How often the governor asked for the sleep length.
    pub sleep_length_queries: u64,
    /// How often the tick was stopped.
    pub tick_stops: u64,
}

/// Whether a stay was long enough for its state, and too long for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The state fitted, or no other was enabled.
    Right,
    /// Too deep: shorter than the target residency while a shallower state was enabled.
    Above,
    /// Too shallow: the next deeper enabled state would have fitted.
    Below,
}

/// The kernel's verdict on a stay of `residency` in `entered` (`cpuidle_enter_state`): at most one
/// of above and below, and only the next enabled deeper state is tried.
#[must_use]
#[inline]
pub fn verdict(states: &IdleStates, entered: StateIndex, residency: Nanoseconds) -> Verdict {
    let state = &states[entered];
    if residency < state.target_residency {
        if states.enabled().take_while(|&other| other < entered).next().is_some() {
            return Verdict::Above;
        }
    } else if residency > state.exit_latency {
        let useful = residency - state.exit_latency;
        let deeper = states.enabled().find(|&other| other > entered);
        if deeper.is_some_and(|deeper| useful >= states[deeper].target_residency) {
            return Verdict::Below;
        }
    }
    Verdict::Right
}

impl Statistics {
    /// Counts one stay.
    #[inline]
    pub(crate) fn stayed(
        &mut self,
        states: &IdleStates,
        entered: StateIndex,
        residency: Nanoseconds,
    ) {
        let counters = &mut self.states[entered];
        counters.usage += 1;
        counters.time += residency;
        match verdict(states, entered, residency) {
            Verdict::Right => {}
            Verdict::Above => counters.above += 1,
            Verdict::Below => counters.below += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use idlelab_states::{Availability, IdleState};

    use super::*;

    fn us(microseconds: i64) -> Nanoseconds {
        Nanoseconds::from_micros(microseconds)
    }

    fn index(index: usize) -> StateIndex {
        StateIndex::new(index).unwrap()
    }

    /// POLL, C1 2/2, C1E 10/20, C3 80/211.
    fn table() -> IdleStates {
        IdleStates::new(&[
            IdleState::polling("POLL"),
            IdleState::new("C1", us(2), us(2)),
            IdleState::new("C1E", us(10), us(20)),
            IdleState::new("C3", us(80), us(211)),
        ])
        .unwrap()
    }

    #[test]
    fn above_is_short_of_the_target_residency() {
        assert_eq!(verdict(&table(), index(3), us(210)), Verdict::Above);
        assert_eq!(verdict(&table(), index(3), us(211)), Verdict::Right);
    }

    #[test]
    fn below_counts_the_stay_less_the_exit_latency() {
        // 10 us of latency leave 210 us: short of C3. One more fits.
        assert_eq!(verdict(&table(), index(2), us(220)), Verdict::Right);
        assert_eq!(verdict(&table(), index(2), us(221)), Verdict::Below);
    }

    #[test]
    fn below_looks_at_the_next_enabled_state_alone() {
        let mut states = table();
        states.set_availability(index(1), Availability::DisabledByUser);
        assert_eq!(verdict(&states, index(0), us(19)), Verdict::Right);
        assert_eq!(verdict(&states, index(0), us(20)), Verdict::Below);
        for state in 1..4 {
            states.set_availability(index(state), Availability::DisabledByDriver);
        }
        // As in a recording of a guest whose only deeper state is disabled: 250 us of polling,
        // none of them a miss.
        assert_eq!(verdict(&states, index(0), us(250)), Verdict::Right);
    }

    #[test]
    fn above_needs_an_enabled_shallower_state() {
        let mut states = table();
        for state in 0..2 {
            states.set_availability(index(state), Availability::DisabledByUser);
        }
        assert_eq!(verdict(&states, index(2), us(1)), Verdict::Right);
    }

    #[test]
    fn the_shallowest_state_is_never_too_deep_and_the_deepest_never_too_shallow() {
        assert_eq!(verdict(&table(), index(0), us(0)), Verdict::Right);
        assert_eq!(verdict(&table(), index(3), us(10_000_000)), Verdict::Right);
    }
}
