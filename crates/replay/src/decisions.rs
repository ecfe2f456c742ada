// SPDX-License-Identifier: GPL-2.0-or-later
//! Decisions: the recorded governor, given the recorded inputs, must make the recorded choices.

use std::collections::HashMap;
use std::hash::Hash;

use idlelab_governors::{Device, Governor, Kernel, NO_LATENCY_LIMIT, SleepLength, TickRequest};
use idlelab_platform::Platform;
use idlelab_recording::{CpuRecording, Decision, Recording, Reflection};
use idlelab_states::{CpuId, IdleStates, Nanoseconds, StateIndex, Tick, TickRate};
use rayon::prelude::*;
use serde::Serialize;

use crate::{Candidate, ReplayError};

/// How many recorded decisions a governor reproduces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionsCheck {
    /// Complete recorded decisions: chosen, entered and reflected.
    pub decisions: u64,
    /// Those that came out the same: state, tick, and whether the sleep length was asked.
    pub reproduced: u64,
    /// Those that the best constant guess would have got right.
    pub constant_guess: u64,
    /// The first that did not come out the same.
    pub first_divergence: Option<Divergence>,
}

/// A decision that came out otherwise than recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// The CPU.
    pub cpu: u32,
    /// When, in nanoseconds of the recording's clock.
    pub time_ns: i64,
    /// The recorded choice, as `state,stop_tick,asked`.
    pub recorded: String,
    /// The replayed choice.
    pub replayed: String,
}

/// State, whether the tick is to be stopped, whether the sleep length was asked.
type Choice = (StateIndex, bool, bool);

/// Feeds a governor the recorded inputs.
///
/// # Errors
///
/// A recorded CPU without idle states in the platform.
pub fn check_decisions<'a>(
    recording: &Recording,
    platform: &Platform,
    rate: TickRate,
    governor: impl Into<Candidate<'a>>,
) -> Result<DecisionsCheck, ReplayError> {
    let governor = governor.into();
    let per_cpu = recording
        .cpus
        .par_iter()
        .filter(|cpu| !cpu.decisions.is_empty())
        .map(|cpu| {
            let states = platform
                .states_of(cpu.cpu)
                .ok_or_else(|| ReplayError::no_states(cpu.cpu, &platform.name))?;
            Ok(check_cpu(cpu, states, rate, governor))
        })
        .collect::<Result<Vec<_>, ReplayError>>()?;
    let mut sum = DecisionsCheck {
        decisions: 0,
        reproduced: 0,
        constant_guess: constant_guess(per_cpu.iter().map(|(_, choices)| choices)),
        first_divergence: None,
    };
    for (cpu, _) in per_cpu {
        sum.decisions += cpu.decisions;
        sum.reproduced += cpu.reproduced;
        sum.first_divergence = sum.first_divergence.or(cpu.first_divergence);
    }
    Ok(sum)
}

/// How often the choice that is most frequent on all CPUs together was made.
pub(crate) fn constant_guess<'a, C: Copy + Eq + Hash + 'a>(
    per_cpu: impl Iterator<Item = &'a HashMap<C, u64>>,
) -> u64 {
    let mut guesses: HashMap<C, u64> = HashMap::new();
    for (choice, count) in per_cpu.flatten() {
        *guesses.entry(*choice).or_default() += count;
    }
    guesses.into_values().max().unwrap_or(0)
}

/// Tells a governor what the kernel told it of the outcome of a decision.
pub(crate) fn reflect(
    governor: &mut impl Governor,
    device: &mut Device,
    decision: &Decision,
    reflection: Reflection,
) {
    device.last_residency = reflection.residency;
    device.poll_time_limit = reflection.poll_time_limit;
    governor.reflect(reflection.entered, &mut Recorded::new(decision, device));
}

fn check_cpu(
    cpu: &CpuRecording,
    states: &IdleStates,
    rate: TickRate,
    candidate: Candidate<'_>,
) -> (DecisionsCheck, HashMap<Choice, u64>) {
    let mut governor = candidate.build(cpu.cpu, rate);
    let mut device = Device::default();
    governor.enable(states, &mut device);
    let mut choices: HashMap<Choice, u64> = HashMap::new();
    let mut check =
        DecisionsCheck { decisions: 0, reproduced: 0, constant_guess: 0, first_divergence: None };
    for decision in &cpu.decisions {
        let mut kernel = Recorded::new(decision, &mut device);
        let selection = governor.select(states, &mut kernel);
        let replayed = (selection.state, selection.tick == TickRequest::Stop, kernel.asked);
        let Some(reflection) = decision.reflection else {
            // Not entered: the core leaves a residency of zero.
            device.last_residency = Nanoseconds::ZERO;
            continue;
        };
        let recorded = (decision.state, decision.stop_tick, decision.sleep_length.is_some());
        *choices.entry(recorded).or_default() += 1;
        check.decisions += 1;
        if replayed == recorded {
            check.reproduced += 1;
        } else if check.first_divergence.is_none() {
            check.first_divergence = Some(divergence(cpu.cpu, decision, recorded, replayed));
        }
        reflect(&mut governor, &mut device, decision, reflection);
    }
    (check, choices)
}

fn divergence(cpu: CpuId, decision: &Decision, recorded: Choice, replayed: Choice) -> Divergence {
    let text =
        |(state, stop, asked): Choice| format!("{state},{},{}", u8::from(stop), u8::from(asked));
    Divergence {
        cpu: cpu.0,
        time_ns: decision.time.get(),
        recorded: text(recorded),
        replayed: text(replayed),
    }
}

/// A kernel that answers as the recorded one did.
pub(crate) struct Recorded<'a> {
    decision: &'a Decision,
    device: &'a mut Device,
    asked: bool,
}

impl<'a> Recorded<'a> {
    pub(crate) const fn new(decision: &'a Decision, device: &'a mut Device) -> Self {
        Self { decision, device, asked: false }
    }
}

impl Kernel for Recorded<'_> {
    fn sleep_length(&mut self) -> SleepLength {
        self.asked = true;
        let (sleep, delta_tick) = self.decision.sleep_length.unwrap_or_default();
        SleepLength { sleep, delta_tick }
    }

    fn latency_limit(&mut self) -> Nanoseconds {
        self.decision.latency_limit.unwrap_or(NO_LATENCY_LIMIT)
    }

    fn tick(&mut self) -> Tick {
        self.decision.tick.unwrap_or_default()
    }

    fn take_got_tick(&mut self) -> bool {
        self.decision.reflection.and_then(|reflection| reflection.got_tick).unwrap_or(false)
    }

    fn clock(&mut self) -> Nanoseconds {
        self.decision.time
    }

    fn io_waiters(&mut self) -> u32 {
        0
    }

    fn utilisation(&mut self) -> u32 {
        0
    }

    fn load(&mut self) -> u32 {
        0
    }

    fn device(&mut self) -> &mut Device {
        self.device
    }
}
