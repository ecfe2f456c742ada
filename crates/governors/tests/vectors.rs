// SPDX-License-Identifier: GPL-2.0-or-later
//! Every recorded run in `tests/vectors`: the choices of the kernel's own C file, compiled, on
//! steps made to hit what generated steps miss.
//!
//! A run is three files: `NAME.states.csv`, `NAME.steps.csv` and `GOVERNOR@NAME.expected`, whose
//! lines are *state, whether the tick is to be stopped, whether the sleep length was asked for*.
//! NAME ends in the tick rate, `-hz250`.
//!
//! Those in `tests/vectors-4.x` are of kernels 4.5.7 and 4.6.2, which leave the tick to the idle
//! loop: a line is the state alone, and steps are in microseconds where those kernels are.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use common::{Cpu, Row, line, ns, table};
use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_governors::{SleepLength, Tick};
use idlelab_states::{Availability, IdleStates, Nanoseconds, StateKind};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors"))
}

fn folder_4_x() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors-4.x"))
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rows of a file of numbers, by the names in its header.
fn rows(text: &str) -> impl Iterator<Item = HashMap<&str, i64>> {
    let mut lines = text.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    lines.filter(|line| !line.is_empty()).map(move |line| {
        let numbers = line.split(',').map(|number| number.trim().parse().unwrap());
        header.iter().copied().zip(numbers).collect()
    })
}

fn states(text: &str) -> IdleStates {
    let rows: Vec<_> = rows(text)
        .map(|row| {
            let kind = if row["polling"] == 0 { StateKind::Sleeping } else { StateKind::Polling };
            let availability = match row["disabled"] {
                0 => Availability::Enabled,
                _ => Availability::DisabledByUser,
            };
            Row(row["exit_latency_ns"], row["target_residency_ns"], kind, availability)
        })
        .collect();
    table(&rows)
}

fn inputs(row: &HashMap<&str, i64>) -> StepInputs {
    const COLUMNS: [&str; 12] = [
        "sleep_ns",
        "tick_ns",
        "latency_ns",
        "tick_stopped",
        "residency_ns",
        "got_tick",
        "poll_limit",
        "iowaiters",
        "span_ns",
        "util",
        "load",
        "rejected",
    ];
    assert!(row.keys().all(|column| COLUMNS.contains(column)), "unknown column in {row:?}");
    let value = |column| row.get(column).copied();
    let set = |column| value(column).unwrap_or(0) != 0;
    let count = |column| value(column).unwrap_or(0).try_into().unwrap();
    let residency = ns(value("residency_ns").unwrap_or(0));
    StepInputs {
        sleep_length: SleepLength {
            sleep: ns(value("sleep_ns").unwrap_or(0)),
            delta_tick: ns(value("tick_ns").unwrap_or(0)),
        },
        latency_limit: value("latency_ns").map_or(idlelab_governors::NO_LATENCY_LIMIT, ns),
        tick: if set("tick_stopped") { Tick::Stopped } else { Tick::Running },
        io_waiters: count("iowaiters"),
        utilisation: count("util"),
        load: count("load"),
        entry: if set("rejected") { Entry::Rejected } else { Entry::Entered },
        span: value("span_ns").map_or(residency, ns),
        got_tick: set("got_tick"),
        poll_time_limit: set("poll_limit"),
        ..StepInputs::of_residency(residency)
    }
}

/// The first step at which a governor chose otherwise than the kernel.
fn first_difference(governor: &str, name: &str, expected: &str) -> Option<String> {
    let rate = name.rsplit_once("-hz").unwrap().1.parse().unwrap();
    let mut cpu = Cpu::new(governor, rate, states(&read(folder(), &format!("{name}.states.csv"))));
    let steps = read(folder(), &format!("{name}.steps.csv"));
    assert_eq!(rows(&steps).count(), expected.lines().count(), "lines of {governor}@{name}");
    rows(&steps).zip(expected.lines()).enumerate().find_map(|(number, (row, expected))| {
        let found = line(&cpu.step(&inputs(&row)));
        (found != expected).then(|| {
            format!("{governor}@{name}, step {number}: kernel {expected}, here {found}, at {row:?}")
        })
    })
}

#[test]
fn every_recorded_run_is_chosen_as_by_the_kernel() {
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    let runs: Vec<_> = files
        .iter()
        .filter_map(|file| file.strip_suffix(".expected"))
        // A run of `teo@6.14` is `teo@6.14@NAME`.
        .filter_map(|run| run.rsplit_once('@'))
        .collect();
    assert!(!runs.is_empty(), "no recorded runs in {}", folder().display());
    let differences: Vec<_> = runs
        .iter()
        .filter_map(|(governor, name)| {
            first_difference(
                governor,
                name,
                &read(folder(), &format!("{governor}@{name}.expected")),
            )
        })
        .collect();
    let all = runs.len();
    assert!(differences.is_empty(), "{} of {all}:\n{}", differences.len(), differences.join("\n"));
}

fn inputs_4_x(row: &HashMap<&str, i64>) -> StepInputs {
    let microseconds = Nanoseconds::from_micros;
    StepInputs {
        sleep_length: SleepLength { sleep: ns(row["sleep_ns"]), delta_tick: ns(0) },
        latency_limit: microseconds(row["latency_us"]),
        io_waiters: row["iowaiters"].try_into().unwrap(),
        load: row["load"].try_into().unwrap(),
        ..StepInputs::of_residency(microseconds(row["residency_us"]))
    }
}

#[test]
fn menu_of_4_5_and_4_6_chooses_as_those_kernels_do() {
    for table in ["snb", "arm", "two"] {
        let states = states(&read(folder_4_x(), &format!("menu46-{table}.states.csv")));
        let steps = read(folder_4_x(), &format!("menu46-{table}.steps.csv"));
        for governor in ["menu@4.5", "menu@4.6"] {
            let expected = read(folder_4_x(), &format!("{governor}-{table}.expected"));
            assert_eq!(rows(&steps).count(), expected.lines().count());
            let mut cpu = Cpu::new(governor, 250, states);
            for (number, (row, expected)) in rows(&steps).zip(expected.lines()).enumerate() {
                let found = cpu.step(&inputs_4_x(&row)).selection.state.to_string();
                assert_eq!(found, expected, "{governor} on {table}, step {number}: {row:?}");
            }
        }
    }
}
