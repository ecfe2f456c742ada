// SPDX-License-Identifier: GPL-2.0-or-later
//! C files where governors are named.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn idlelab(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_idlelab"))
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

const FIXED: &str = "crates/kernelc/tests/guests/fixed.c";
const CRASHES: &str = "crates/kernelc/tests/guests/crashes.c";
const UNKNOWN: &str = "crates/kernelc/tests/guests/unknown.c";

/// fixed.c keeps the tick in state 1; `state:1` stops it, so what they have in common is the state.
#[test]
fn a_file_is_replayed_beside_names() {
    let output = idlelab(&["replay", "-g", &format!("state:1,{FIXED}"), "--format", "json"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [named, file] = &report["outcomes"].as_array().unwrap()[..] else { panic!("two rows") };
    assert_eq!(file["governor"], "fixed.c");
    for outcome in [named, file] {
        let usage = |state: usize| outcome["states"][state]["usage"].as_u64().unwrap();
        assert_eq!((usage(0), usage(2), usage(3)), (0, 0, 0));
        assert_eq!(Some(usage(1)), outcome["idles"].as_u64());
    }
    let ticks = |outcome: &Value| outcome["ticks"].as_u64().unwrap();
    assert!(ticks(file) > ticks(named));
    assert_eq!(file["sleep_length_queries"], 0);
}

#[test]
fn a_file_that_crashes_loses_its_row_and_the_others_keep_theirs() {
    let output = idlelab(&["replay", "-g", &format!("teo,{CRASHES},menu")]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let alone = String::from_utf8(idlelab(&["replay", "-g", "teo,menu"]).stdout).unwrap();
    assert_eq!(text, alone);
    let said = String::from_utf8(output.stderr).unwrap();
    let line = include_str!("../../kernelc/tests/guests/crashes.c")
        .lines()
        .position(|line| line.contains("*(volatile int *)0"))
        .unwrap()
        + 1;
    let expected = format!("{CRASHES}:{line}: in crashes_select(): the governor crashed: invalid");
    assert!(said.contains(&expected), "{said}");

    let report = idlelab(&["replay", "-g", CRASHES, "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert!(report["failures"][0].as_str().unwrap().contains("crashes_select"));
    assert_eq!(report["outcomes"].as_array().unwrap().len(), 0);
}

#[test]
fn a_file_that_cannot_run_is_refused_before_the_replay() {
    let output = idlelab(&["replay", "-g", &format!("teo,{UNKNOWN}")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("{UNKNOWN}:8: frobnicate() is called")), "{said}");

    let output = idlelab(&["replay", "-g", "no/such/teo.c"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no/such/teo.c: "));
}

#[test]
fn explain_and_decide_take_files_too() {
    let output = idlelab(&["explain", "--first-difference", &format!("teo,{FIXED}")]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("fixed.c on cpu"), "{text}");

    let vectors = "crates/governors/tests/vectors";
    let decide = |governor: &str| {
        let states = format!("{vectors}/first-hz250.states.csv");
        let steps = format!("{vectors}/first-hz250.steps.csv");
        idlelab(&["decide", "-g", governor, "--hz", "250", "--states", &states, "--steps", &steps])
    };
    let output = decide(FIXED);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.is_empty() && text.lines().all(|line| line == "1,0,0"), "{text}");
    let output = decide(CRASHES);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("SIGSEGV"));
}
