// SPDX-License-Identifier: GPL-2.0-or-later
//! What several tests need.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of this module")]

use idlelab_governors::catalog::{AnyGovernor, find};
use idlelab_governors::steps::{StepDriver, StepInputs, StepOutcome};
use idlelab_governors::{Governor, Metric, SleepLength, TickRequest};
use idlelab_states::{
    Availability, IdleState, IdleStates, Nanoseconds, StateIndex, StateKind, TickRate,
};

/// A row of a table: exit latency and target residency in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Row(pub i64, pub i64, pub StateKind, pub Availability);

pub const fn sleeping(exit_latency: i64, target_residency: i64) -> Row {
    Row(exit_latency, target_residency, StateKind::Sleeping, Availability::Enabled)
}

pub const POLL: Row = Row(0, 0, StateKind::Polling, Availability::Enabled);

pub fn table(rows: &[Row]) -> IdleStates {
    let rows: Vec<_> = rows
        .iter()
        .map(|&Row(exit_latency, target_residency, kind, availability)| IdleState {
            kind,
            availability,
            ..IdleState::new("", ns(exit_latency), ns(target_residency))
        })
        .collect();
    IdleStates::new(&rows).unwrap()
}

pub fn without(mut states: IdleStates, disabled: &[usize]) -> IdleStates {
    for &index in disabled {
        states.set_availability(state(index), Availability::DisabledByUser);
    }
    states
}

pub const fn ns(nanoseconds: i64) -> Nanoseconds {
    Nanoseconds::new(nanoseconds)
}

pub fn state(index: usize) -> StateIndex {
    StateIndex::new(index).unwrap()
}

pub fn hertz(rate: u32) -> TickRate {
    TickRate::from_hertz(rate).unwrap()
}

pub fn governor(name: &str, rate: u32) -> AnyGovernor {
    find(name).unwrap().build(hertz(rate))
}

/// One CPU whose governor has just been enabled.
pub struct Cpu {
    pub governor: AnyGovernor,
    pub states: IdleStates,
    pub driver: StepDriver,
}

impl Cpu {
    pub fn new(name: &str, rate: u32, states: IdleStates) -> Self {
        let mut governor = governor(name, rate);
        let mut driver = StepDriver::new();
        driver.enable(&mut governor, &states);
        Self { governor, states, driver }
    }

    pub fn step(&mut self, inputs: &StepInputs) -> StepOutcome {
        self.driver.step(&mut self.governor, &self.states, inputs)
    }

    /// The same step so many times over; the last outcome.
    pub fn repeat(&mut self, count: usize, inputs: &StepInputs) -> StepOutcome {
        (0..count).map(|_| self.step(inputs)).last().unwrap()
    }

    pub fn metric(&self, name: &str) -> i64 {
        self.metrics(name)[0]
    }

    pub fn metrics(&self, name: &str) -> Vec<i64> {
        let mut values = Vec::new();
        self.governor.explain(&mut |metric: Metric| {
            if metric.name == name {
                values.push(metric.value);
            }
        });
        values
    }
}

/// A step whose timer is so far away, with the tick due in half a tick of 250 Hz, and that wakes
/// after `residency`.
pub fn step(sleep: i64, residency: i64) -> StepInputs {
    StepInputs {
        sleep_length: SleepLength { sleep: ns(sleep), delta_tick: ns(sleep.min(2_000_000)) },
        ..StepInputs::of_residency(ns(residency))
    }
}

/// State number, whether the tick is to be stopped, whether the sleep length was asked for.
pub fn triple(outcome: &StepOutcome) -> (usize, bool, bool) {
    let stops = outcome.selection.tick == TickRequest::Stop;
    (outcome.selection.state.get(), stops, outcome.sleep_length_queries > 0)
}

/// The line that the recorded choices of the kernel have for an outcome.
pub fn line(outcome: &StepOutcome) -> String {
    let (state, stops, asked) = triple(outcome);
    format!("{state},{},{}", u8::from(stops), u8::from(asked))
}
