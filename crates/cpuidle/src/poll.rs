// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{IdleStates, Nanoseconds, TickRate};

/// Residencies below this do not limit polling (`CPUIDLE_POLL_MIN`, kernel 5.11).
const POLL_MIN: Nanoseconds = Nanoseconds::from_micros(10);

/// How long the polling state may spin (`cpuidle_poll_time`, kernel 5.11 and later): the target
/// residency of the first enabled deeper state that has at least 10 us, at most a sixteenth of a
/// tick.
#[must_use]
pub fn poll_limit(states: &IdleStates, rate: TickRate) -> Nanoseconds {
    let most = Nanoseconds::new(rate.tick().get() / 16);
    states
        .enabled()
        .filter(|state| state.get() > 0)
        .map(|state| states[state].target_residency)
        .find(|&residency| residency >= POLL_MIN)
        .map_or(most, |residency| residency.min(most))
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;

    fn limit(residencies: &[i64], hertz: u32) -> i64 {
        let mut states = vec![IdleState::polling("POLL")];
        states.extend(residencies.iter().map(|&residency| {
            IdleState::new("C", Nanoseconds::ZERO, Nanoseconds::from_micros(residency))
        }));
        let rate = TickRate::from_hertz(hertz).unwrap();
        poll_limit(&IdleStates::new(&states).unwrap(), rate).as_micros()
    }

    /// The three machines of the kernel change that set the rule, at 250 Hz: Haswell-EP, one with
    /// C1 alone, and an EPYC whose C2 has 800 us.
    #[test]
    fn b22_the_limits_of_the_change_that_set_them() {
        assert_eq!(limit(&[2, 20, 100, 400], 250), 20);
        assert_eq!(limit(&[2], 250), 250);
        assert_eq!(limit(&[2, 800], 250), 250);
    }

    #[test]
    fn a_sixteenth_of_the_tick_is_the_most() {
        assert_eq!(limit(&[2, 800], 1000), 62);
        assert_eq!(limit(&[2, 800], 100), 625);
    }
}
