// SPDX-License-Identifier: GPL-2.0-or-later
//! What a simulation did, as a recording: fidelity 4, since nothing about it is unknown.

use idlelab_cpuidle::Entry;
use idlelab_cpuidle::{Verdict, verdict};
use idlelab_recording::{
    Circumstances, CpuRecording, Decision, Fidelity, Miss, Period, Recording, Reflection,
};
use idlelab_states::{CpuId, IdleStates, Nanoseconds};

use crate::model::Model;

/// Takes down what each CPU does.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    cpus: Vec<CpuRecording>,
}

impl Recorder {
    pub(crate) fn new(cpus: &[CpuId]) -> Self {
        let cpus = cpus
            .iter()
            .map(|&cpu| CpuRecording {
                // All ticks of the machine are in step, from time 0 on.
                tick_phase: Some(Nanoseconds::ZERO),
                ..CpuRecording::new(cpu)
            })
            .collect();
        Self { cpus }
    }

    /// The governor has chosen.
    pub(crate) fn decided(
        &mut self,
        cpu: usize,
        time: Nanoseconds,
        limit: Nanoseconds,
        entry: &Entry,
    ) {
        self.cpus[cpu].decisions.push(Decision {
            time,
            latency_limit: Some(limit),
            tick: Some(entry.tick),
            sleep_length: entry.sleep_length.map(|length| (length.sleep, length.delta_tick)),
            state: entry.state,
            stop_tick: entry.stop_requested,
            reflection: None,
        });
    }

    /// The CPU is out of the state that was chosen last.
    pub(crate) fn left(
        &mut self,
        cpu: usize,
        states: &IdleStates,
        period: Period,
        poll_limit_hit: bool,
        tick_fired: bool,
    ) {
        let recording = &mut self.cpus[cpu];
        let residency = period.exit - period.enter;
        if let Some(decision) = recording.decisions.last_mut() {
            decision.reflection = Some(Reflection {
                entered: period.state,
                residency,
                poll_time_limit: poll_limit_hit,
                got_tick: Some(tick_fired),
            });
        }
        let miss = match verdict(states, period.state, residency) {
            Verdict::Right => None,
            Verdict::Above => Some(Miss::Above),
            Verdict::Below => Some(Miss::Below),
        };
        recording.periods.push(&Period { residency: Some(residency), miss, ..period });
    }

    pub(crate) fn finish(self, model: &Model, governor: &str, seed: u64) -> Recording {
        Recording {
            source: format!("simulation of {} with seed {seed}", model.name),
            cpus: self.cpus,
            fidelity: Fidelity::Inputs,
            machine: Some(model.platform.clone()),
            governor: Some(governor.to_owned()),
            clock: None,
            tick_rate: Some(model.rate),
            misses_recorded: true,
            span: Some((Nanoseconds::ZERO, model.duration)),
            circumstances: Circumstances::default(),
            notes: Vec::new(),
        }
    }
}
