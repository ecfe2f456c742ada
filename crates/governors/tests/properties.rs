// SPDX-License-Identifier: GPL-2.0-or-later
//! What must hold on any table and any inputs, however senseless.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Cpu, Row, ns, state, table};
use idlelab_governors::catalog::{AnyGovernor, CATALOGUE};
use idlelab_governors::reason::Reason;
use idlelab_governors::steps::{Entry, StepDriver, StepInputs};
use idlelab_governors::{
    Device, Foresight, Governor, Kernel, Metric, Selection, SleepLength, Tick,
};
use idlelab_states::{Availability, IdleStates, Nanoseconds, StateIndex, StateKind};
use proptest::prelude::*;

fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0_i64..100_000,
        4 => 0_i64..20_000_000,
        1 => Just(0_i64),
        1 => Just(4_000_000_i64),
        1 => Just(i64::MAX),
        1 => any::<i64>(),
    ]
}

fn any_table() -> impl Strategy<Value = IdleStates> {
    let kind = prop_oneof![4 => Just(StateKind::Sleeping), 1 => Just(StateKind::Polling)];
    let availability =
        prop_oneof![3 => Just(Availability::Enabled), 1 => Just(Availability::DisabledByUser)];
    let row = (any_time(), any_time(), kind, availability)
        .prop_map(|(latency, residency, kind, disabled)| Row(latency, residency, kind, disabled));
    prop::collection::vec(row, 1..=10).prop_map(|rows| table(&rows))
}

prop_compose! {
    fn any_step()(
        (sleep, delta_tick, latency_limit) in (any_time(), any_time(), any_time()),
        (residency, idle, tick_due) in (any_time(), any_time(), any_time()),
        (stopped, got_tick, poll_time_limit) in any::<(bool, bool, bool)>(),
        (foreseen, ticks, stoppable) in any::<(bool, bool, bool)>(),
        (io_waiters, utilisation, load) in (0_u32..4, 0_u32..=1024, 0_u32..8192),
        span in any_time(),
        rejected in prop::bool::weighted(0.1),
    ) -> StepInputs {
        let tick_due = ticks.then_some(ns(tick_due));
        StepInputs {
            sleep_length: SleepLength { sleep: ns(sleep), delta_tick: ns(delta_tick) },
            latency_limit: ns(latency_limit),
            tick: if stopped { Tick::Stopped } else { Tick::Running },
            foresight: foreseen.then_some(Foresight { idle: ns(idle), tick: tick_due, stoppable }),
            entry: if rejected { Entry::Rejected } else { Entry::Entered },
            io_waiters,
            utilisation,
            load,
            span: ns(span),
            got_tick,
            poll_time_limit,
            ..StepInputs::of_residency(ns(residency))
        }
    }
}

/// Keeps the reasons of its last selection.
struct Aloud {
    governor: AnyGovernor,
    reasons: Vec<Reason>,
}

impl Governor for Aloud {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        self.governor.enable(states, device);
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        self.reasons.clear();
        let reasons = &mut self.reasons;
        self.governor.select_with_reasons(states, kernel, &mut |reason| reasons.push(reason))
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.governor.reflect(entered, kernel);
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.governor.explain(metrics);
    }
}

fn any_governor() -> impl Strategy<Value = String> {
    (0..CATALOGUE.len(), 0..10_usize)
        .prop_map(|(entry, state)| CATALOGUE[entry].name.replace('N', &state.to_string()))
}

/// Whether the governor may choose this disabled state although others are enabled.
fn may_be_disabled(
    name: &str,
    chosen: StateIndex,
    states: &IdleStates,
    limit: Nanoseconds,
) -> bool {
    let mut allowed = states.enabled().filter(|&state| states[state].exit_latency <= limit);
    match name {
        "teo@5.1" | "teo@5.3" | "teo@5.10" | "ladder@fixed" | "deepest" | "clairvoyant" => false,
        // Where neither timer nor latency limit leave an enabled state, state 0 is the way out.
        "teo@rfc-v5" | "teo@rfc-v6" | "teo@5.14" | "teo@6.3" => chosen == state(0),
        // Or where the latency limit alone leaves none.
        name if name.starts_with("teo") => chosen == state(0) && allowed.next().is_none(),
        "menu@4.5" | "menu@4.6" | "menu@4.6-reverted" => chosen == state(0),
        name if name.starts_with("menu") => chosen == state(0) && limit == Nanoseconds::ZERO,
        // These look at no more than the next state, or at none, and `state:N` not at deeper ones.
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_governor_chooses_a_state_of_the_table_and_an_enabled_one_if_it_can(
        name in any_governor(),
        states in any_table(),
        steps in prop::collection::vec(any_step(), 1..60),
        rate in prop::sample::select(vec![24, 100, 250, 300, 1000, 1200]),
    ) {
        let mut cpu = Cpu::new(&name, rate, states);
        for inputs in &steps {
            let chosen = cpu.step(inputs).selection.state;
            prop_assert!(chosen <= states.last());
            prop_assert!(
                states[chosen].is_enabled()
                    || states.deepest().is_none()
                    || may_be_disabled(&name, chosen, &states, inputs.latency_limit),
                "{name} chose {chosen} of {states:?}"
            );
        }
    }

    #[test]
    fn states_that_are_disabled_and_enabled_on_the_way_do_no_harm(
        name in any_governor(),
        tables in prop::collection::vec(any_table(), 1..4),
        steps in prop::collection::vec(any_step(), 1..60),
    ) {
        let mut cpu = Cpu::new(&name, 250, tables[0]);
        for (inputs, table) in steps.iter().zip(tables.iter().cycle()) {
            cpu.states = *table;
            prop_assert!(cpu.step(inputs).selection.state <= table.last());
        }
    }

    #[test]
    fn the_reasons_end_in_what_is_chosen_and_change_nothing(
        name in any_governor(),
        states in any_table(),
        steps in prop::collection::vec(any_step(), 1..60),
    ) {
        let mut silent = Cpu::new(&name, 250, states);
        let mut governor = Aloud { governor: common::governor(&name, 250), reasons: Vec::new() };
        let mut driver = StepDriver::new();
        driver.enable(&mut governor, &states);
        for inputs in &steps {
            let outcome = driver.step(&mut governor, &states, inputs);
            prop_assert_eq!(outcome, silent.step(inputs));
            let reasons = &governor.reasons;
            let said = reasons.iter().rev().find_map(Reason::state);
            prop_assert_eq!(said, Some(outcome.selection.state), "{} {:?}", name, reasons);
            let tick = reasons.iter().rev().find_map(Reason::tick);
            prop_assert!(tick.is_none_or(|tick| tick == outcome.selection.tick), "{reasons:?}");
            for reason in reasons {
                prop_assert!(!reason.to_string().is_empty() && !reason.rule().is_empty());
            }
        }
    }

    #[test]
    fn a_name_is_found_or_an_error_says_what_there_is(name in ".{0,40}") {
        use idlelab_governors::catalog::find;
        match find(&name) {
            Ok(found) => {
                let canonical = found.to_string();
                prop_assert_eq!(find(&canonical), Ok(found));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
