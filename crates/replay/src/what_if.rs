// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;

use idlelab_platform::{CpuList, Platform};
use idlelab_states::{Availability, CpuId, IdleStates, Nanoseconds, TickRate};

use crate::{ExitLatency, ReplayError};

const NANOSECONDS_PER_MICROSECOND: i64 = 1_000;

/// What is to be otherwise than recorded. By default nothing is.
#[derive(Clone, Debug, Default)]
pub struct WhatIf<'a> {
    /// Another machine: its idle states, power, and observed exit latencies.
    pub platform: Option<&'a Platform>,
    /// Another tick rate; also the only one, where neither recording nor platform has one.
    pub rate: Option<TickRate>,
    /// Another exit latency of the idle states.
    pub exit_latency: ExitLatency,
    /// States that nobody may choose, by name or number.
    pub disabled: Vec<String>,
    /// Latency limits instead of the recorded ones. Of several for a CPU the last counts.
    pub latency_limits: Vec<LatencyLimit>,
}

/// A PM QoS latency limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyLimit {
    /// The longest exit latency.
    pub limit: Nanoseconds,
    /// The CPUs that have it; all if none are named.
    pub cpus: Option<CpuList>,
}

impl fmt::Display for LatencyLimit {
    /// As `MICROSECONDS[@CPUS]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.limit.get() / NANOSECONDS_PER_MICROSECOND)?;
        match &self.cpus {
            Some(cpus) => write!(f, "@{cpus}"),
            None => Ok(()),
        }
    }
}

impl WhatIf<'_> {
    /// The limit of a CPU, if it is not to be the recorded one.
    pub(crate) fn latency_limit(&self, cpu: CpuId) -> Option<Nanoseconds> {
        let of_cpu =
            |limit: &&LatencyLimit| limit.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu));
        self.latency_limits.iter().rfind(of_cpu).map(|limit| limit.limit)
    }

    /// Turns states of a CPU off. One that this CPU does not have is another CPU's.
    pub(crate) fn disable(&self, states: &mut IdleStates) {
        for given in &self.disabled {
            for state in states.indices() {
                if is_called(states, state.get(), given) {
                    states.set_availability(state, Availability::DisabledByUser);
                }
            }
        }
    }

    /// Fails on a state that no table of the platform has.
    pub(crate) fn check(&self, platform: &Platform) -> Result<(), ReplayError> {
        for given in &self.disabled {
            let known = platform.tables().iter().any(|table| {
                (0..table.states.len()).any(|index| is_called(&table.states, index, given))
            });
            if !known {
                let names = platform.tables().iter().flat_map(|table| table.states.as_slice());
                let mut states: Vec<&str> = names.map(|state| state.name.as_str()).collect();
                states.dedup();
                return Err(ReplayError::NoSuchState {
                    given: given.clone(),
                    platform: platform.name.clone(),
                    states: states.join(", "),
                });
            }
        }
        Ok(())
    }
}

fn is_called(states: &IdleStates, index: usize, given: &str) -> bool {
    let name = states.as_slice().get(index).map(|state| state.name);
    given.parse() == Ok(index) || name.is_some_and(|name| name.as_str() == given)
}
