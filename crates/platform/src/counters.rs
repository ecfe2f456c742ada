// SPDX-License-Identifier: GPL-2.0-or-later
//! What sysfs says of each CPU's idle states, read from there or from a paste.
use idlelab_states::{
    Availability, CpuId, IdleState, IdleStates, LocalTimer, MAX_STATES, Nanoseconds, StateIndex,
    StateKind, StateName,
};

use crate::error::MAX_MICROSECONDS;
use crate::{CpuList, StateTable};

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// May be used.
    Enabled,
    /// May not.
    Disabled,
}

/// The sysfs attributes of one idle state. What a kernel or a paste lacks is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateCounters {
    /// The state's number.
    pub state: StateIndex,
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub desc: Option<String>,
    /// Its exit latency.
    pub latency: Option<Nanoseconds>,
    /// Its target residency.
    pub residency: Option<Nanoseconds>,
    /// Milliwatts as the driver states them; 4294967295 when it does not, as usual.
    pub power: Option<u64>,
    /// How often it was entered.
    pub usage: Option<u64>,
    /// Microseconds spent in it.
    pub time_us: Option<u64>,
    /// How often it was too deep.
    pub above: Option<u64>,
    /// How often it was too shallow.
    pub below: Option<u64>,
    /// How often the driver refused to enter it.
    pub rejected: Option<u64>,
    /// The user's switch. A state that the driver made unusable shows as enabled here.
    pub disable: Option<Status>,
    /// What the user's switch was at boot.
    pub default_status: Option<Status>,
}

/// The idle states of one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuCounters {
    /// The CPU.
    pub cpu: CpuId,
    /// Its states by ascending number.
    pub states: Vec<StateCounters>,
}

/// Attributes that make no idle-state table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A state's attribute is missing.
    #[error("{cpu} state {state} has no `{attribute}`; without it there is no idle-state table")]
    Missing {
        /// The CPU.
        cpu: CpuId,
        /// The state.
        state: StateIndex,
        /// The missing attribute.
        attribute: &'static str,
    },
    /// A state's number is skipped.
    #[error("{cpu} has no state {state} but deeper ones; is the dump complete?")]
    Gap {
        /// The CPU.
        cpu: CpuId,
        /// The number that is missing.
        state: usize,
    },
    /// A CPU without any state, or no CPU at all.
    #[error("there are no idle states; does the kernel have a cpuidle driver here?")]
    Empty,
}

/// A sysfs attribute of an idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Attribute {
    Above,
    Below,
    DefaultStatus,
    Desc,
    Disable,
    Latency,
    Name,
    Power,
    Rejected,
    Residency,
    Time,
    Usage,
}

impl Attribute {
    /// In alphabetical order, in which a shell lists them.
    pub(crate) const ALL: [Self; 12] = [
        Self::Above,
        Self::Below,
        Self::DefaultStatus,
        Self::Desc,
        Self::Disable,
        Self::Latency,
        Self::Name,
        Self::Power,
        Self::Rejected,
        Self::Residency,
        Self::Time,
        Self::Usage,
    ];

    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::DefaultStatus => "default_status",
            Self::Desc => "desc",
            Self::Disable => "disable",
            Self::Latency => "latency",
            Self::Name => "name",
            Self::Power => "power",
            Self::Rejected => "rejected",
            Self::Residency => "residency",
            Self::Time => "time",
            Self::Usage => "usage",
        }
    }

    pub(crate) fn from_file_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| attribute.file_name() == name)
    }

    /// What its value looks like, for messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::DefaultStatus => "`enabled` or `disabled`",
            Self::Disable => "0 or 1",
            Self::Name | Self::Desc => "a text",
            Self::Latency | Self::Residency => "whole microseconds up to 4294967295",
            _ => "a whole number",
        }
    }
}

impl StateCounters {
    pub(crate) fn new(state: StateIndex) -> Self {
        Self {
            state,
            name: None,
            desc: None,
            latency: None,
            residency: None,
            power: None,
            usage: None,
            time_us: None,
            above: None,
            below: None,
            rejected: None,
            disable: None,
            default_status: None,
        }
    }

    /// Takes an attribute's value; `None` if it cannot be one.
    pub(crate) fn set(&mut self, attribute: Attribute, value: &str) -> Option<()> {
        match attribute {
            Attribute::Name => self.name = Some(text(value)?),
            Attribute::Desc => self.desc = Some(text(value)?),
            Attribute::Latency => self.latency = Some(microseconds(value)?),
            Attribute::Residency => self.residency = Some(microseconds(value)?),
            Attribute::Power => self.power = Some(number(value)?),
            Attribute::Usage => self.usage = Some(number(value)?),
            Attribute::Time => self.time_us = Some(number(value)?),
            Attribute::Above => self.above = Some(number(value)?),
            Attribute::Below => self.below = Some(number(value)?),
            Attribute::Rejected => self.rejected = Some(number(value)?),
            Attribute::Disable => {
                self.disable = Some(match value {
                    "0" => Status::Enabled,
                    "1" => Status::Disabled,
                    _ => return None,
                });
            }
            Attribute::DefaultStatus => {
                self.default_status = Some(match value {
                    "enabled" => Status::Enabled,
                    "disabled" => Status::Disabled,
                    _ => return None,
                });
            }
        }
        Some(())
    }

    /// Whether the state may be used, as far as sysfs tells.
    ///
    /// A state that is off by default and still off was turned off by the driver, not by a person.
    #[must_use]
    pub fn availability(&self) -> Availability {
        match (self.disable, self.default_status) {
            (Some(Status::Disabled) | None, Some(Status::Disabled)) => {
                Availability::DisabledByDriver
            }
            (Some(Status::Disabled), _) => Availability::DisabledByUser,
            (Some(Status::Enabled), _) | (None, _) => Availability::Enabled,
        }
    }

    fn idle_state(&self, cpu: CpuId) -> Result<IdleState, TableError> {
        let missing = |attribute: Attribute| TableError::Missing {
            cpu,
            state: self.state,
            attribute: attribute.file_name(),
        };
        let name = self.name.as_deref().ok_or_else(|| missing(Attribute::Name))?;
        let exit_latency = self.latency.ok_or_else(|| missing(Attribute::Latency))?;
        let target_residency = self.residency.ok_or_else(|| missing(Attribute::Residency))?;
        let polls = exit_latency == Nanoseconds::ZERO && target_residency == Nanoseconds::ZERO;
        Ok(IdleState {
            name: StateName::new(name),
            exit_latency,
            target_residency,
            kind: if polls { StateKind::Polling } else { StateKind::Sleeping },
            local_timer: LocalTimer::Runs,
            availability: self.availability(),
        })
    }
}

impl CpuCounters {
    /// The idle-state table that the attributes describe.
    ///
    /// sysfs does not tell which state polls: one of no latency and no residency is taken to. Nor
    /// does it tell where the local timer stops: it is taken to run.
    ///
    /// # Errors
    ///
    /// A state without name, latency or residency, a skipped state, or no state at all.
    pub fn idle_states(&self) -> Result<IdleStates, TableError> {
        let mut states = Vec::with_capacity(self.states.len().min(MAX_STATES));
        for (expected, counters) in self.states.iter().enumerate() {
            if counters.state.get() != expected {
                return Err(TableError::Gap { cpu: self.cpu, state: expected });
            }
            states.push(counters.idle_state(self.cpu)?);
        }
        IdleStates::new(&states).map_err(|_| TableError::Empty)
    }
}

/// One table for each set of CPUs that have the same states, in the order of their first CPU.
pub(crate) fn group(cpus: &[(CpuId, IdleStates)]) -> Vec<StateTable> {
    let mut groups: Vec<(IdleStates, Vec<CpuId>)> = Vec::new();
    for &(cpu, states) in cpus {
        match groups.iter_mut().find(|(other, _)| *other == states) {
            Some((_, members)) => members.push(cpu),
            None => groups.push((states, vec![cpu])),
        }
    }
    let single = groups.len() == 1;
    groups
        .into_iter()
        .map(|(states, members)| {
            let cpus: CpuList = members.into_iter().collect();
            let name = if single { "all".to_owned() } else { format!("cpu{cpus}") };
            StateTable::new(name, Some(cpus), states)
        })
        .collect()
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn number(value: &str) -> Option<u64> {
    value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok())?
}

fn microseconds(value: &str) -> Option<Nanoseconds> {
    let us = i64::try_from(number(value)?).ok()?;
    (us <= MAX_MICROSECONDS).then(|| Nanoseconds::from_micros(us))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(pairs: &[(Attribute, &str)]) -> StateCounters {
        let mut state = StateCounters::new(StateIndex::ZERO);
        for &(attribute, value) in pairs {
            state.set(attribute, value).unwrap();
        }
        state
    }

    #[test]
    fn who_disabled_a_state_shows_in_both_switches() {
        let status = |disable, default| {
            state(&[(Attribute::Disable, disable), (Attribute::DefaultStatus, default)])
                .availability()
        };
        assert_eq!(status("0", "enabled"), Availability::Enabled);
        assert_eq!(status("1", "enabled"), Availability::DisabledByUser);
        assert_eq!(status("1", "disabled"), Availability::DisabledByDriver);
        assert_eq!(status("0", "disabled"), Availability::Enabled);
        assert_eq!(
            state(&[(Attribute::Disable, "1")]).availability(),
            Availability::DisabledByUser
        );
        let by_default = state(&[(Attribute::DefaultStatus, "disabled")]);
        assert_eq!(by_default.availability(), Availability::DisabledByDriver);
    }

    #[test]
    fn values_that_are_none_are_refused() {
        let mut state = StateCounters::new(StateIndex::ZERO);
        for (attribute, value) in [
            (Attribute::Usage, "-1"),
            (Attribute::Usage, "+1"),
            (Attribute::Usage, ""),
            (Attribute::Usage, "18446744073709551616"),
            (Attribute::Latency, "4294967296"),
            (Attribute::Disable, "2"),
            (Attribute::DefaultStatus, "on"),
            (Attribute::Name, ""),
        ] {
            assert_eq!(state.set(attribute, value), None, "{attribute:?} {value}");
        }
        assert_eq!(state, StateCounters::new(StateIndex::ZERO));
    }

    #[test]
    fn the_longest_residency_is_exact() {
        let state = state(&[(Attribute::Residency, "4294967295")]);
        assert_eq!(state.residency, Some(Nanoseconds::new(4_294_967_295_000)));
    }
}
