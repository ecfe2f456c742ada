// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab explain` and `--differences` on what people have reported (facts/cases.md).
#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::fs::File;
use std::path::Path;
use std::process::Command;

use idlelab_platform::{Platform, StateTable};
use idlelab_recording::{CpuRecording, Fidelity, Period, Recording, WakeCauses, WhatFollowed};
use idlelab_states::{CpuId, IdleState, IdleStates, Nanoseconds, StateIndex, TickRate};

fn us(microseconds: i64) -> Nanoseconds {
    Nanoseconds::from_micros(microseconds)
}

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_idlelab")).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// An idle period that begins with this timer known, and what ends it.
fn period(from: i64, to: i64, timer: i64, causes: WakeCauses) -> Period {
    Period {
        idle_start: Some(us(from)),
        enter: us(from),
        exit: us(to),
        state: StateIndex::ZERO,
        causes,
        followed_by: WhatFollowed::Task,
        next_timer: Some(us(timer)),
        next_wheel_timer: Some(Nanoseconds::MAX),
        tick_stoppable: Some(true),
        ..Period::default()
    }
}

/// The phone of B1, at a tick rate of 1000 Hz: one hit and one intercept in the shallowest bin, then
/// nothing but so many timers, so far apart in milliseconds.
fn phone(timers: i64, apart: i64) -> Recording {
    let states = IdleStates::new(&[
        IdleState::new("WFI", us(1), us(1)),
        IdleState::new("cpuoff", us(147), us(2_580)),
        IdleState::new("clusteroff", us(181), us(2_580)),
        IdleState::new("s2idle", us(20_000), us(4_294_967_295)),
    ])
    .unwrap();
    let table = StateTable::new("all", None, states);
    let mut cpu = CpuRecording::new(CpuId(0));
    cpu.periods.push(&period(10_100, 10_600, 10_600, WakeCauses::HRTIMER));
    cpu.periods.push(&period(10_700, 10_800, 70_800, WakeCauses::INTERRUPT));
    let apart = apart * 1_000;
    for number in 0..timers {
        let from = 11_000 + number * (apart + 1_000);
        cpu.periods.push(&period(from, from + apart, from + apart, WakeCauses::HRTIMER));
    }
    Recording {
        cpus: vec![cpu],
        fidelity: Fidelity::Timers,
        tick_rate: TickRate::from_hertz(1000),
        span: Some((us(10_100), us(11_000 + timers * (apart + 1_000)))),
        machine: Some(Platform::new("phone", "case B1", vec![table]).unwrap()),
        ..Recording::default()
    }
}

fn file(name: &str, recording: &Recording) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    idlelab_recording::parquet::write(recording, File::create(&path).unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The bins that the report prints, and the sum that its arithmetic comes to: 2*7 > 8206-(7+8192).
#[test]
fn b1_a_leftover_of_seven_is_explained_with_the_bins_and_the_sum_of_the_report() {
    let recording = file("b1.parquet", &phone(1, 1_000));
    let trapped = printed(&["explain", &recording, "--cpu", "0", "--at", "0.6", "-g", "teo@6.12"]);
    for line in [
        "hits [7,0,8192,0]",
        "intercepts [7,0,0,0]",
        "state 3 is the deepest enabled one: the candidate",
        "2*7 > 8206-8199: intercepts below the candidate prevail",
        "down to state 0: 2*7 > 7,",
        "state 0 WFI (latency 1.000 us, residency 1.000 us), keep the tick",
    ] {
        assert!(trapped.contains(line), "{line}: {trapped}");
    }
    let recording = file("b1-timers.parquet", &phone(50, 60));
    // Since 6.19 both 7s decay to nothing.
    let freed = printed(&["explain", &recording, "--cpu", "0", "--at", "3", "-g", "teo"]);
    assert!(freed.contains("hits [0,0,") && freed.contains("intercepts [0,0,"), "{freed}");
    assert!(freed.contains("state 2 clusteroff"), "{freed}");
}

#[test]
fn b1_two_revisions_part_by_the_intercepts_and_the_first_parting_can_be_explained() {
    let recording = file("b1-differences.parquet", &phone(10, 60));
    let text = printed(&["replay", &recording, "-g", "teo@6.12,teo", "--differences"]);
    let (_, differences) = text.split_once("differences: ").unwrap();
    assert!(differences.contains("of 12 gaps differently"), "{text}");
    assert!(differences.contains("state 0, keep the tick: intercepts covered"), "{text}");
    let command = differences.lines().find(|line| line.contains("idlelab explain")).unwrap();
    let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
    let explained = printed(&arguments);
    let chosen: Vec<&str> = explained.lines().filter(|line| line.contains("chose ")).collect();
    assert_eq!(chosen.len(), 2, "{explained}");
    assert_ne!(chosen[0], chosen[1], "{explained}");
}

#[test]
fn a_governor_does_not_differ_from_itself_and_differences_want_two() {
    let text = printed(&["replay", "-g", "menu,menu", "--differences"]);
    assert!(text.contains("begin 0 of "), "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_idlelab"))
        .args(["replay", "-g", "teo", "--differences"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--governors A,B"));
}
