// SPDX-License-Identifier: GPL-2.0-or-later
//! What a duel notices beside the chosen state.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use idlelab_governors::steps::{StepDriver, StepInputs};
use idlelab_governors::teo::Teo;
use idlelab_governors::{Device, Governor, Kernel, Metric, Selection, TickRequest};
use idlelab_judge::{Call, Difference, Duel};
use idlelab_states::{IdleState, IdleStates, Nanoseconds, StateIndex, TickRate};

/// A way to differ from teo.
#[derive(Clone, Copy)]
enum Quirk {
    None,
    AsksAgain,
    ClearsGotTick,
    OtherTick,
    SetsPollLimit,
    ForgetsState,
    OtherMetric,
    DoesAtEnable,
}

struct Quirky(Teo, Quirk);

impl Governor for Quirky {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        self.0.enable(states, device);
        if matches!(self.1, Quirk::DoesAtEnable) {
            device.poll_limit = Nanoseconds::new(1);
        }
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        let mut selection = self.0.select(states, kernel);
        match self.1 {
            Quirk::AsksAgain => _ = kernel.sleep_length(),
            Quirk::OtherTick => selection.tick = TickRequest::Keep,
            _ => {}
        }
        selection
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.0.reflect(entered, kernel);
        match self.1 {
            Quirk::ClearsGotTick => _ = kernel.take_got_tick(),
            Quirk::SetsPollLimit => kernel.device().poll_limit = Nanoseconds::new(7),
            Quirk::ForgetsState => kernel.device().last_state = StateIndex::ZERO,
            _ => {}
        }
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        let more = i64::from(matches!(self.1, Quirk::OtherMetric));
        self.0.explain(&mut |metric| metrics(Metric { value: metric.value + more, ..metric }));
    }
}

/// A long sleep in the deeper of two states, with the timer far away.
fn difference(quirk: Quirk) -> Option<Difference> {
    let rate = TickRate::from_hertz(250).unwrap();
    let us = Nanoseconds::from_micros;
    let states = IdleStates::new(&[
        IdleState::new("WFI", us(1), us(1)),
        IdleState::new("C6", us(100), us(300)),
    ])
    .unwrap();
    let mut duel = Duel::new(Teo::new(rate), Quirky(Teo::new(rate), quirk));
    let mut driver = StepDriver::new();
    driver.enable(&mut duel, &states);
    let mut step = StepInputs::of_residency(us(10_000));
    step.sleep_length.sleep = us(10_000);
    step.sleep_length.delta_tick = us(10_000);
    for _ in 0..3 {
        driver.step(&mut duel, &states, &step);
    }
    duel.compare_metrics(driver.device());
    duel.difference().copied()
}

#[test]
fn the_same_is_the_same() {
    assert_eq!(difference(Quirk::None), None);
}

#[test]
fn every_quirk_is_noticed_in_the_call_that_has_it() {
    for (quirk, call) in [
        (Quirk::AsksAgain, Call::Select),
        (Quirk::OtherTick, Call::Select),
        (Quirk::ClearsGotTick, Call::Reflect),
        (Quirk::SetsPollLimit, Call::Reflect),
        (Quirk::ForgetsState, Call::Reflect),
        (Quirk::OtherMetric, Call::Explain),
        (Quirk::DoesAtEnable, Call::Enable),
    ] {
        assert_eq!(difference(quirk).unwrap().call, call);
    }
    let asked = difference(Quirk::AsksAgain).unwrap();
    assert_eq!(asked.first.questions.of_sleep_length(), 1);
    assert_eq!(asked.second.questions.of_sleep_length(), 2);
}
