// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;

use idlelab_cpuidle::Boxed;
use idlelab_governors::Governor;
use idlelab_governors::catalog::GovernorName;
use idlelab_states::{CpuId, TickRate};

/// A governor that is to be replayed: one of the catalogue, or one from elsewhere.
#[derive(Clone, Copy)]
pub enum Candidate<'a> {
    /// Of the catalogue.
    Named(GovernorName),
    /// From elsewhere, such as a kernel's C file.
    Foreign(&'a dyn Foreign),
}

/// A governor that is not in the catalogue.
pub trait Foreign: Sync {
    /// What to call it in outcomes.
    fn name(&self) -> &str;

    /// Builds the governor of one CPU. A CPU may be asked for several times, and each starts from
    /// nothing. The tick rate is its own matter, and is to be that of what it is replayed on.
    fn build(&self, cpu: CpuId) -> Box<dyn Governor>;
}

impl From<GovernorName> for Candidate<'_> {
    fn from(name: GovernorName) -> Self {
        Self::Named(name)
    }
}

impl<'a> From<&'a dyn Foreign> for Candidate<'a> {
    fn from(foreign: &'a dyn Foreign) -> Self {
        Self::Foreign(foreign)
    }
}

impl fmt::Display for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Foreign(foreign) => f.pad(foreign.name()),
        }
    }
}

impl fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Candidate({self})")
    }
}

impl Candidate<'_> {
    /// The governor of one CPU, whichever it is.
    pub(crate) fn build(self, cpu: CpuId, rate: TickRate) -> Boxed {
        Boxed(match self {
            Self::Named(name) => Box::new(name.build(rate)),
            Self::Foreign(foreign) => foreign.build(cpu),
        })
    }
}
