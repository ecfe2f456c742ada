// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors of our own in C, through the system's compiler. They must be ended, not idlelab.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::PathBuf;

use idlelab_governors::steps::{Entry, StepDriver, StepInputs, StepOutcome};
use idlelab_governors::{SleepLength, Tick, TickRequest};
use idlelab_kernelc::{Cause, Error, Failure, Place, Program, Source};
use idlelab_states::{
    Availability, CpuId, IdleState, IdleStates, Nanoseconds, StateIndex, TickRate,
};

fn guest(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name)
}

fn rate() -> TickRate {
    TickRate::from_hertz(250).unwrap()
}

fn compile(name: &str) -> Result<Program, Error> {
    Source::open(guest(name)).unwrap().compile(rate())
}

fn states() -> IdleStates {
    let state = |name, latency, residency| {
        IdleState::new(name, Nanoseconds::from_micros(latency), Nanoseconds::from_micros(residency))
    };
    IdleStates::new(&[IdleState::polling("POLL"), state("C1", 2, 2), state("C6", 133, 600)])
        .unwrap()
}

fn quiet() -> StepInputs {
    StepInputs::of_residency(Nanoseconds::ZERO)
}

/// Runs so many steps on a CPU; gives the states chosen.
fn run(program: &Program, cpu: u32, steps: usize) -> Vec<usize> {
    let mut governor = program.instance(CpuId(cpu));
    let mut driver = StepDriver::new();
    driver.enable(&mut governor, &states());
    let mut step = || driver.step(&mut governor, &states(), &quiet()).selection.state.get();
    (0..steps).map(|_| step()).collect()
}

/// What ends a run of some steps on CPU 1.
fn failure(name: &str) -> Failure {
    let program = compile(name).unwrap();
    run(&program, 1, 5);
    let failure = program.failure().expect("the guest fails");
    assert_eq!(failure.cpu, CpuId(1));
    failure
}

fn line_of(name: &str, text: &str) -> u32 {
    let source = std::fs::read_to_string(guest(name)).unwrap();
    source.lines().position(|line| line.contains(text)).unwrap() as u32 + 1
}

#[test]
fn a_header_that_is_not_needed_may_be_missing() {
    let program = compile("fixed.c").unwrap();
    assert_eq!(program.governor(), "fixed");
    let mut governor = program.instance(CpuId(3));
    let mut driver = StepDriver::new();
    driver.enable(&mut governor, &states());
    let StepOutcome { selection, sleep_length_queries } =
        driver.step(&mut governor, &states(), &quiet());
    assert_eq!((selection.state.get(), selection.tick), (1, TickRequest::Keep));
    assert_eq!(sleep_length_queries, 0);
    assert_eq!(program.failure(), None);
}

#[test]
fn the_c_is_told_what_the_kernel_knows() {
    let program = compile("states.c").unwrap();
    let mut states = states();
    let mut governor = program.instance(CpuId(5));
    let mut driver = StepDriver::new();
    driver.enable(&mut governor, &states);
    states.set_availability(StateIndex::new(1).unwrap(), Availability::DisabledByUser);
    let step = StepInputs {
        sleep_length: SleepLength {
            sleep: Nanoseconds::new(-7),
            delta_tick: Nanoseconds::new(1_234_567_890_123),
        },
        latency_limit: Nanoseconds::new(150_000),
        tick: Tick::Stopped,
        io_waiters: 3,
        utilisation: 611,
        residency: Nanoseconds::new(41_000),
        span: Nanoseconds::new(77),
        got_tick: true,
        ..quiet()
    };
    let outcome = driver.step(&mut governor, &states, &step);
    assert_eq!(program.failure(), None);
    assert_eq!((outcome.selection.state.get(), outcome.selection.tick), (2, TickRequest::Stop));
    assert_eq!(outcome.sleep_length_queries, 1);
    assert_eq!(driver.device().last_state.get(), 2);
    assert_eq!(driver.device().poll_limit, Nanoseconds::new(999));
}

/// teo marks what it has evaluated so; a rejected entry must not have it evaluated again.
#[test]
fn a_last_state_that_the_c_voids_stays_void() {
    let program = compile("voids.c").unwrap();
    let mut governor = program.instance(CpuId(0));
    let mut driver = StepDriver::new();
    driver.enable(&mut governor, &states());
    let rejected = StepInputs { entry: Entry::Rejected, ..quiet() };
    let mut chosen = |inputs| driver.step(&mut governor, &states(), inputs).selection.state.get();
    // It chooses 1 where the last state is valid, else 2.
    assert_eq!(
        [chosen(&rejected), chosen(&rejected), chosen(&quiet()), chosen(&quiet())],
        [1, 2, 2, 1]
    );
}

#[test]
fn each_cpu_has_data_of_its_own_and_each_run_starts_from_nothing() {
    let program = compile("counts.c").unwrap();
    for _ in 0..2 {
        let runs: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|cpu| {
                    scope.spawn({
                        let program = &program;
                        move || run(program, cpu, 1000)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let expected: Vec<usize> = (1..=1000).map(|call| call % 3).collect();
        assert!(runs.iter().all(|run| *run == expected));
    }
    assert_eq!(program.failure(), None);
    assert_eq!(program.messages(), [""; 0]);
}

#[test]
fn a_file_of_5_12_compares_times_unsigned() {
    let delta_tick = Nanoseconds::new(-1);
    let sleep_length = SleepLength { sleep: delta_tick, delta_tick };
    for (name, chosen) in [("signed.c", 1), ("unsigned.c", 2)] {
        let mut governor = compile(name).unwrap().instance(CpuId(0));
        let mut driver = StepDriver::new();
        driver.enable(&mut governor, &states());
        let step = StepInputs { sleep_length, ..quiet() };
        let selection = driver.step(&mut governor, &states(), &step).selection;
        assert_eq!(selection.state.get(), chosen, "{name}");
    }
}

#[test]
fn the_tick_rate_is_that_of_the_run() {
    let source = Source::open(guest("states.c")).unwrap();
    let program = source.compile(TickRate::from_hertz(300).unwrap()).unwrap();
    run(&program, 5, 1);
    // Of all that it checks, the wrong latency limit would come later.
    assert!(program.failure().unwrap().to_string().contains("BUG_ON("));
}

#[test]
fn crashes_end_the_guest_and_name_their_line() {
    let crash = failure("crashes.c");
    assert_eq!(crash.cause, Cause::Signal(libc::SIGSEGV));
    let place = Place {
        function: Some("crashes_select".to_owned()),
        line: line_of("crashes.c", "*(volatile int *)0"),
    };
    assert_eq!(crash.place, Some(place));
    // Elsewhere a division by zero gives zero.
    if cfg!(target_arch = "x86_64") {
        assert_eq!(failure("divides.c").cause, Cause::Signal(libc::SIGFPE));
    }
    for name in ["recurses.c", "nowhere.c", "prints.c", "copies.c"] {
        assert_eq!(failure(name).cause, Cause::Signal(libc::SIGSEGV), "{name}");
    }
}

#[test]
fn after_a_crash_the_tick_is_kept_in_state_0() {
    let program = compile("crashes.c").unwrap();
    assert_eq!(run(&program, 5, 5), [1, 1, 0, 0, 0]);
    assert_eq!(program.failure().map(|failure| failure.cpu), Some(CpuId(5)));
    // CPUs before it come to an end of their own, so that the first is named whatever the order;
    // those after it need not.
    assert_eq!(run(&program, 3, 5), [1, 1, 0, 0, 0]);
    assert_eq!(program.failure().map(|failure| failure.cpu), Some(CpuId(3)));
    assert_eq!(run(&program, 4, 2), [0, 0]);
}

#[test]
fn endless_loops_are_ended() {
    assert_eq!(failure("loops.c").cause, Cause::Endless);
    assert_eq!(failure("asks.c").cause, Cause::Endless);
}

#[test]
fn a_bug_ends_the_guest_and_a_warning_does_not() {
    let program = compile("bugs.c").unwrap();
    run(&program, 1, 5);
    let failure = program.failure().unwrap();
    assert_eq!(failure.cause, Cause::Bug("BUG_ON(drv->state_count == 3)".to_owned()));
    assert_eq!(failure.place.unwrap().line, line_of("bugs.c", "BUG_ON"));
    let [warning] = &program.messages()[..] else { panic!("one warning is expected") };
    let line = line_of("bugs.c", "WARN_ON");
    assert!(warning.ends_with(&format!("bugs.c:{line}: WARN_ON(drv->state_count == 3)")));
}

#[test]
fn what_a_replay_cannot_give_is_refused() {
    let elsewhere = failure("elsewhere.c");
    assert_eq!(elsewhere.cause, Cause::OtherCpu(2));
    assert_eq!(elsewhere.place.unwrap().line, line_of("elsewhere.c", "return per_cpu"));
    assert_eq!(failure("beyond.c").cause, Cause::NoSuchState { chosen: 3, states: 3 });
    assert_eq!(failure("refuses.c").cause, Cause::Enable(-22));
}

#[test]
fn missing_functions_are_named_with_their_line() {
    let Error::MissingFunctions(missing) = compile("unknown.c").unwrap_err() else {
        panic!("a missing function is expected")
    };
    assert_eq!(missing[0].function, "frobnicate");
    assert_eq!(missing[0].line, Some(line_of("unknown.c", "frobnicate")));
    assert_eq!(missing[0].path, guest("unknown.c"));
    let Error::MissingFunctions(missing) = compile("declared.c").unwrap_err() else {
        panic!("missing functions are expected")
    };
    let called = missing.iter().find(|missing| missing.function == "frobnicate").unwrap();
    assert_eq!(called.line, Some(line_of("declared.c", "return frobnicate")));
    assert!(missing.iter().any(|missing| missing.function == "exit"));
}

#[test]
fn files_that_are_no_governors_say_why() {
    let Error::Rejected { diagnostics, .. } = compile("wrong.c").unwrap_err() else {
        panic!("it must not compile")
    };
    let line = line_of("wrong.c", "no_such_member");
    assert!(diagnostics.contains(&format!("wrong.c:{line}:")), "{diagnostics}");
    assert!(matches!(compile("none.c"), Err(Error::NoGovernor { .. })));
    let Err(Error::SeveralGovernors { names, .. }) = compile("two.c") else {
        panic!("two are one too many")
    };
    assert_eq!(names, ["one", "two"]);
    assert!(matches!(Source::open(guest("absent.c")), Err(Error::Unreadable { .. })));
    assert!(matches!(Source::open(guest("")), Err(Error::Unreadable { .. })));
}
