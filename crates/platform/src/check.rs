// SPDX-License-Identifier: GPL-2.0-or-later
//! What governors assume of an idle-state table and real tables break.
//!
//! All of these are warnings: Bay Trail's C6N has a latency above its residency, and a lab that
//! refused it could not tell what governors do on it.
use std::fmt;

use idlelab_states::{IdleStates, Nanoseconds, StateIndex};

/// An oddity of an idle-state table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableWarning {
    /// The exit latency is above the target residency.
    LatencyOverResidency {
        /// The state's exit latency.
        latency: Nanoseconds,
        /// The state's target residency.
        residency: Nanoseconds,
    },
    /// The exit latency is below that of the state before.
    LatencyFalls {
        /// The state's exit latency.
        latency: Nanoseconds,
        /// That of the state before it.
        before: Nanoseconds,
    },
    /// The target residency is below that of the state before.
    ResidencyFalls {
        /// The state's target residency.
        residency: Nanoseconds,
        /// That of the state before it.
        before: Nanoseconds,
    },
    /// A polling state that is not state 0.
    PollingNotFirst,
}

impl TableWarning {
    /// The key of the machine description that it is about.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::LatencyOverResidency { .. } | Self::LatencyFalls { .. } => "exit_latency_us",
            Self::ResidencyFalls { .. } => "target_residency_us",
            Self::PollingNotFirst => "flags",
        }
    }
}

impl fmt::Display for TableWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LatencyOverResidency { latency, residency } => write!(
                f,
                "the exit latency of {} us is above the target residency of {} us; governors \
                 assume the opposite",
                latency.as_micros(),
                residency.as_micros()
            ),
            Self::LatencyFalls { latency, before } => write!(
                f,
                "the exit latency of {} us is below the {} us of the state before; governors \
                 assume that states get deeper",
                latency.as_micros(),
                before.as_micros()
            ),
            Self::ResidencyFalls { residency, before } => write!(
                f,
                "the target residency of {} us is below the {} us of the state before; governors \
                 assume that states get deeper",
                residency.as_micros(),
                before.as_micros()
            ),
            Self::PollingNotFirst => f.write_str(
                "only state 0 polls in the kernel; governors treat no other as a polling state",
            ),
        }
    }
}

/// The oddities of a table, state by state.
pub fn check_table(states: &IdleStates) -> Vec<(StateIndex, TableWarning)> {
    let mut warnings = Vec::new();
    for index in states.indices() {
        let state = states[index];
        if state.exit_latency > state.target_residency {
            warnings.push((
                index,
                TableWarning::LatencyOverResidency {
                    latency: state.exit_latency,
                    residency: state.target_residency,
                },
            ));
        }
        let Some(shallower) = index.shallower() else { continue };
        let before = states[shallower];
        if state.exit_latency < before.exit_latency {
            warnings.push((
                index,
                TableWarning::LatencyFalls {
                    latency: state.exit_latency,
                    before: before.exit_latency,
                },
            ));
        }
        if state.target_residency < before.target_residency {
            warnings.push((
                index,
                TableWarning::ResidencyFalls {
                    residency: state.target_residency,
                    before: before.target_residency,
                },
            ));
        }
        if state.is_polling() {
            warnings.push((index, TableWarning::PollingNotFirst));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use idlelab_states::IdleState;

    use super::*;

    fn table(rows: &[(i64, i64)]) -> IdleStates {
        let states: Vec<_> = rows
            .iter()
            .map(|&(latency, residency)| {
                let (latency, residency) =
                    (Nanoseconds::from_micros(latency), Nanoseconds::from_micros(residency));
                IdleState::new("C", latency, residency)
            })
            .collect();
        IdleStates::new(&states).unwrap()
    }

    #[test]
    fn equal_residencies_are_no_oddity() {
        assert_eq!(check_table(&table(&[(1, 1), (349, 6710), (434, 6710)])), []);
    }

    #[test]
    fn bay_trail_has_a_latency_above_its_residency() {
        let warnings = check_table(&table(&[(1, 1), (300, 275), (500, 560)]));
        let [(state, warning)] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert_eq!(state.get(), 1);
        assert_eq!(
            warning.to_string(),
            "the exit latency of 300 us is above the target residency of 275 us; governors assume \
             the opposite"
        );
    }

    #[test]
    fn falling_numbers_and_late_polling_are_told() {
        let kinds: Vec<_> = check_table(&table(&[(10, 100), (9, 90)]));
        assert!(matches!(
            kinds.as_slice(),
            [(_, TableWarning::LatencyFalls { .. }), (_, TableWarning::ResidencyFalls { .. })]
        ));
        let late =
            IdleStates::new(&[IdleState::polling("POLL"), IdleState::polling("again")]).unwrap();
        assert!(matches!(check_table(&late).as_slice(), [(_, TableWarning::PollingNotFirst)]));
    }
}
