// SPDX-License-Identifier: GPL-2.0-or-later
//! How long leaving an idle state takes.
//!
//! A table's exit latency is a worst case: wakes that were measured are usually far shorter, and
//! rarely as long. So a state has a typical value, a spread above it, and a rare tail up to the
//! worst case.

use idlelab_platform::Platform;
use idlelab_states::{CpuId, IdleStates, MAX_STATES, PerState, StateIndex};

use crate::model::ExitLatencies;
use crate::random::Stream;

/// The exit latencies of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct ExitLatency {
    typical: PerState<i64>,
    worst: PerState<i64>,
    spread: f64,
    tail_probability: f64,
    stream: Stream,
}

impl ExitLatency {
    /// What the platform's description says was seen; where it does not, the share of its table
    /// that the scenario declares.
    pub(crate) fn new(
        platform: &Platform,
        cpu: CpuId,
        states: &IdleStates,
        how: &ExitLatencies,
        stream: Stream,
    ) -> Self {
        let table = platform.table_of(cpu).and_then(|table| platform.tables().get(table));
        let (mut typical, mut worst) = (PerState([0; MAX_STATES]), PerState([0; MAX_STATES]));
        for state in states.indices() {
            let in_table = states[state].exit_latency.get();
            let observed = table.and_then(|table| table.observed[state].as_ref());
            let seen = observed.and_then(|observed| observed.typical.as_ref());
            let tail = observed.and_then(|observed| observed.tail.as_ref());
            typical[state] = match seen {
                Some(seen) => seen.value.get(),
                None => (in_table as f64 * how.typical_share).round() as i64,
            };
            worst[state] = tail.map_or(in_table, |tail| tail.value.get()).max(typical[state]);
        }
        Self { typical, worst, spread: how.spread, tail_probability: how.tail_probability, stream }
    }

    /// Draws how long leaving the state takes, in nanoseconds.
    #[inline]
    pub(crate) fn draw(&mut self, state: StateIndex) -> i64 {
        let (typical, worst) = (self.typical[state], self.worst[state]);
        let chance = self.stream.unit();
        if chance < self.tail_probability {
            return typical + (self.stream.unit() * (worst - typical) as f64) as i64;
        }
        typical + (chance * self.spread * typical as f64) as i64
    }

    /// What leaving the state usually takes.
    pub(crate) fn typical(&self, state: StateIndex) -> i64 {
        self.typical[state]
    }
}
