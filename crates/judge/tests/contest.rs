// SPDX-License-Identifier: GPL-2.0-or-later
//! The judge against governors that are known to be alike or not.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use idlelab_governors::catalog::{CATALOGUE, find};
use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_judge::{Case, Contest, Machines, Maker, Step};
use idlelab_states::{IdleState, IdleStates, Nanoseconds, StateIndex, TickRate};

const SEED: u64 = 1;

/// Governors that are known by their names.
fn contest(first: &str, second: &str) -> Contest<impl Maker, impl Maker> {
    let (first, second) = (find(first).unwrap(), find(second).unwrap());
    Contest {
        first: move |rate: TickRate| first.build(rate),
        second: move |rate: TickRate| second.build(rate),
        machines: Machines::WithStates(2),
        rates: Vec::new(),
    }
}

fn differing_case<A: Maker, B: Maker>(contest: &Contest<A, B>, decisions: u64) -> Case {
    let found = contest.run(SEED, decisions, &|_| {}).unwrap();
    let case = found.difference.unwrap();
    let divergence = contest.play(&case).unwrap().unwrap();
    assert_eq!(divergence.step, Some(case.steps.len() - 1));
    case
}

#[test]
fn a_governor_is_the_same_as_itself() {
    for entry in &CATALOGUE {
        let name = entry.name.replace('N', "1");
        let result = contest(&name, &name).run(SEED, 100_000, &|_| {}).unwrap();
        assert_eq!((result.decisions, result.difference), (100_000, None), "{name}");
    }
}

/// Revisions that are next to each other, most of them a line apart.
#[test]
fn neighbouring_revisions_are_told_apart_by_a_short_case() {
    for (first, second) in [
        ("teo", "teo@7.0"),
        ("teo@7.0", "teo@6.19"),
        ("teo@6.14", "teo@over-eager"),
        ("teo@6.12.117", "teo@6.11"),
        ("menu@6.12.117", "menu"),
        ("menu@6.18", "menu@6.19"),
        ("menu@6.17", "menu@6.18"),
        ("menu@6.1.192", "menu@5.14"),
        ("haltpoll", "haltpoll@6.8"),
        ("ladder", "ladder@fixed"),
    ] {
        let contest = contest(first, second);
        let found = differing_case(&contest, 2_000_000);
        let shrunk = contest.shrink(found.clone());
        assert!(contest.play(&shrunk).unwrap().is_some(), "{first} and {second}");
        let (steps, states) = (shrunk.steps.len(), shrunk.states.len());
        assert!(steps <= 3 && states == 2, "{first} and {second}: {shrunk:?}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let found = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| differing_case(&contest("menu@6.12.117", "menu"), 1_000_000))
    };
    assert_eq!(found(1), found(3));
}

/// The files hold all that there is to say, with columns left out that say nothing.
#[test]
fn a_case_is_written_as_decide_reads_it() {
    let states = IdleStates::new(&[
        IdleState::polling("POLL"),
        IdleState::new("C1", Nanoseconds::new(1), Nanoseconds::new(2)),
    ]);
    let inputs = StepInputs::of_residency(Nanoseconds::ZERO);
    let mut case = Case {
        rate: TickRate::from_hertz(250).unwrap(),
        states: states.unwrap(),
        steps: vec![Step { inputs, disabled: 0 }],
    };
    assert_eq!(
        case.states_csv(),
        "exit_latency_ns,target_residency_ns,polling,disabled\n0,0,1,0\n1,2,0,0\n"
    );
    assert_eq!(case.steps_csv(), "sleep_ns\n0\n");
    case.steps[0].inputs.residency = Nanoseconds::new(9);
    case.steps[0].inputs.entry = Entry::Instead(StateIndex::new(1).unwrap());
    case.steps[0].disabled = 2;
    assert_eq!(case.steps_csv(), "residency_ns,span_ns,entered,disabled\n9,0,1,2\n");
}
