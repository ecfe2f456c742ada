// SPDX-License-Identifier: GPL-2.0-or-later
//! What a governor would have had each CPU do, stay by stay.

use idlelab_cpuidle::Boxed;
use idlelab_states::{CpuId, IdleStates};
use rayon::prelude::*;

use crate::energy::Stay;
use crate::run::{self, Watcher};
use crate::{Candidate, Prepared};

/// A CPU's stays in idle states under a governor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The CPU.
    pub cpu: CpuId,
    /// Its idle states.
    pub states: IdleStates,
    /// All stays, in order. Between them the CPU was not idle, or on its way in or out.
    pub stays: Vec<Stay>,
}

impl Prepared {
    /// Replays a governor and keeps every stay. Where a recording gives only bounds, it is the one
    /// that `explain` looks at too.
    #[must_use]
    pub fn timelines<'a>(&self, governor: impl Into<Candidate<'a>>) -> Vec<Timeline> {
        let governor = governor.into();
        self.cpus
            .par_iter()
            .map(|cpu| {
                let mut stays = Stays(Vec::with_capacity(cpu.gaps.gaps.len()));
                run::follow(cpu, governor, self.tick_rate(), self.assumption(), &mut stays);
                Timeline { cpu: cpu.cpu, states: cpu.states, stays: stays.0 }
            })
            .collect()
    }
}

struct Stays(Vec<Stay>);

impl Watcher<Boxed> for Stays {
    fn stayed(&mut self, stay: Stay) {
        self.0.push(stay);
    }
}
