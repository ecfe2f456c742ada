// SPDX-License-Identifier: GPL-2.0-or-later
//! The judge against governors that are known to be alike or not.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use idlelab_governors::catalog::{CATALOGUE, find};
use idlelab_judge::{Case, Contest, Machines, Maker};
use idlelab_states::TickRate;

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
