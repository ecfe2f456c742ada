// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors of our own in C, through the system's compiler.

use std::path::PathBuf;

use idlelab_governors::steps::{StepDriver, StepInputs};
use idlelab_kernelc::{Program, Source};
use idlelab_states::{CpuId, IdleState, IdleStates, Nanoseconds, TickRate};

fn guest(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name)
}

fn program(name: &str) -> Program {
    Source::open(guest(name)).unwrap().compile(TickRate::from_hertz(250).unwrap()).unwrap()
}

fn states() -> IdleStates {
    let state = |name, latency, residency| {
        IdleState::new(name, Nanoseconds::from_micros(latency), Nanoseconds::from_micros(residency))
    };
    IdleStates::new(&[IdleState::polling("POLL"), state("C1", 2, 2), state("C6", 133, 600)])
        .unwrap()
}

#[test]
fn a_header_that_is_not_needed_may_be_missing() {
    let program = program("fixed.c");
    assert_eq!(program.governor(), "fixed");
    let mut governor = program.instance(CpuId(3));
    let mut driver = StepDriver::new();
    driver.enable(&mut governor, &states());
    let outcome =
        driver.step(&mut governor, &states(), &StepInputs::of_residency(Nanoseconds::ZERO));
    assert_eq!(outcome.selection.state.get(), 1);
    assert_eq!(program.failure(), None);
}
