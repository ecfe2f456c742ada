// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::CpuId;
use thiserror::Error;

/// Why a recording cannot be replayed on a platform.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The platform has no idle states for a recorded CPU.
    #[error("the recording has {cpu}, but platform {platform} has no idle states for it")]
    NoStates {
        /// The CPU.
        cpu: CpuId,
        /// The platform's name.
        platform: String,
    },
    /// Neither recording nor platform tells the tick rate.
    #[error(
        "the tick rate is not known from the recording or the platform; give the kernel's \
         CONFIG_HZ with --hz"
    )]
    NoTickRate,
    /// A state is to be disabled that the platform does not have.
    #[error(
        "platform {platform} has no idle state called {given:?} or numbered so; it has {states}"
    )]
    NoSuchState {
        /// What was asked for.
        given: String,
        /// The platform's name.
        platform: String,
        /// The states that there are.
        states: String,
    },
}

impl ReplayError {
    pub(crate) fn no_states(cpu: CpuId, platform: &str) -> Self {
        Self::NoStates { cpu, platform: platform.to_owned() }
    }
}
