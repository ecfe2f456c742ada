// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::CpuId;

/// Why a simulation cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// A CPU without idle states.
    #[error(
        "platform {platform} has no idle states for {cpu}; let the scenario's `cpus` be its own"
    )]
    NoStates {
        /// The CPU.
        cpu: CpuId,
        /// The platform.
        platform: String,
    },
    /// The governor would have to know what no one can know.
    #[error(
        "clairvoyant cannot be simulated: here the next wakeup depends on the governor's own \
         choice, so there is nothing to foresee; replay a recording of the simulation \
         (`--recording`) to see the bound"
    )]
    NoForesight,
}

impl SimulationError {
    pub(crate) fn no_states(cpu: CpuId, platform: &str) -> Self {
        Self::NoStates { cpu, platform: platform.to_owned() }
    }
}
