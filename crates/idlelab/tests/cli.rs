// SPDX-License-Identifier: GPL-2.0-or-later
//! The program as its users meet it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn idlelab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idlelab"))
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = idlelab(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(arguments: &[&str], status: i32) -> String {
    let output = idlelab(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_main_job_needs_no_argument_and_fits_a_mail() {
    let text = stdout(&["replay"]);
    assert!(text.contains("24078 of 24078 reproduced by teo"), "{text}");
    for governor in ["teo", "teo@6.14", "teo@over-eager", "menu", "ladder", "clairvoyant"] {
        assert!(text.lines().any(|line| line.starts_with(governor)), "{governor}: {text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert!(line.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{line:?}");
    }
}

#[test]
fn json_has_exactly_the_documented_members() {
    let governors = "teo,menu,crates/kernelc/tests/guests/crashes.c";
    let output = idlelab(&["replay", "--governors", governors, "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut printed = BTreeSet::new();
    members(&document, String::new(), &mut printed);
    let documentation = fs::read_to_string(root().join("docs/replay-json.md")).unwrap();
    let documented: BTreeSet<String> = documentation
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(member, _)| member.to_owned())
        // An object that may be null is documented as such beside its members.
        .filter(|member| {
            !["self_check.accounting", "self_check.free_run"].contains(&member.as_str())
        })
        .collect();
    assert_eq!(printed, documented);
    assert_eq!(document["fidelity"], 4);
    assert_eq!(document["outcomes"].as_array().unwrap().len(), 2);
    assert_eq!(document["self_check"]["decisions"], 24_078);
}

fn members(value: &Value, path: String, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let separator = if path.is_empty() { "" } else { "." };
                members(value, format!("{path}{separator}{key}"), found);
            }
        }
        Value::Array(list) => {
            for value in list {
                members(value, format!("{path}[]"), found);
            }
        }
        _ => {
            found.insert(path);
        }
    }
}

#[test]
fn totals_are_the_sums_of_the_cpus() {
    let text = stdout(&["replay", "--governors", "menu", "--format", "csv"]);
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let usage = |cpu: &dyn Fn(&str) -> bool| -> u64 {
        rows.iter()
            .filter(|row| cpu(row[column("cpu")]))
            .map(|row| row[column("usage")].parse::<u64>().unwrap())
            .sum()
    };
    assert_eq!(rows.len(), 5 * 4, "all and four CPUs, four states each");
    assert_eq!(usage(&|cpu| cpu == "all"), usage(&|cpu| cpu != "all"));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let run = |threads| stdout(&["replay", "--threads", threads, "--format", "json"]);
    assert_eq!(run("1"), run("3"));
}

#[test]
fn another_machine_leaves_the_self_checks_alone() {
    let text = stdout(&["replay", "--states", "i7-2600k", "--governors", "teo,clairvoyant"]);
    assert!(text.contains("instead of the recorded testbed-arm64-4cpu"), "{text}");
    assert!(text.contains("24078 of 24078"), "{text}");
    assert!(text.contains("modelled J"), "{text}");
}

#[test]
fn what_if_changes_the_replay_and_not_the_self_checks() {
    let run = |what_if: &[&str]| {
        let base = ["replay", "--governors", "teo", "--format", "json"];
        let text = stdout(&[&base[..], what_if].concat());
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let plain = run(&[]);
    let disabled = run(&["--disable", "cluster-retenti"]);
    assert_eq!(disabled["self_check"], plain["self_check"]);
    assert_eq!(disabled["outcomes"][0]["states"][3]["usage"], 0);
    let limited = run(&["--latency-limit", "100"]);
    assert_eq!(limited["outcomes"][0]["states"][2]["usage"], 0, "350 us are too slow");
    let faster = run(&["--hz", "1000"]);
    assert_eq!(faster["self_check"], plain["self_check"]);
    assert!(faster["outcomes"][0]["ticks"].as_u64() > plain["outcomes"][0]["ticks"].as_u64());
    let unknown = fails(&["replay", "--disable", "C9"], 1);
    assert!(unknown.contains("cpu-retention-0"), "{unknown}");
}

#[test]
fn a_decision_is_explained() {
    let text = stdout(&["explain", "--cpu", "1", "--at", "0.76438", "-g", "teo,menu"]);
    assert!(text.contains("teo on cpu1 at 0.764375008 s"), "{text}");
    assert!(text.contains("sleep length 745.840 us"), "{text}");
    assert!(text.contains("menu on cpu1") && text.contains("correction_factor"), "{text}");
    assert_eq!(text.matches("hits ").count(), 1, "{text}");
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    let differing = stdout(&["explain", "--first-difference", "teo@6.14,teo@over-eager"]);
    assert_eq!(differing.matches("chose").count(), 2, "{differing}");
    let same = stdout(&["explain", "--first-difference", "teo,teo"]);
    assert!(same.contains("never choose differently"), "{same}");
    assert!(fails(&["explain", "--cpu", "7", "--at", "1"], 1).contains("cpu7"));
    assert!(fails(&["explain", "--cpu", "1", "--at", "1.x"], 2).contains("12.345678"));
}

#[test]
fn readme_shows_what_the_program_prints() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&stdout(&["replay"])), "paste the output of `idlelab replay` anew");
}

#[test]
fn the_wrong_revision_fails_the_self_check() {
    let output = idlelab(&["replay", "--recorded-governor", "teo@6.14", "--governors", "teo"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("first divergence: cpu"));
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let unknown = fails(&["replay", "--governors", "teos"], 2);
    assert!(unknown.contains("did you mean teo?") && unknown.contains("clairvoyant"), "{unknown}");
    let absent = fails(&["replay", "no/such/file"], 1);
    assert!(
        absent.contains("no/such/file") && absent.matches("No such file").count() == 1,
        "{absent}"
    );
    let table = fails(&["replay", "recordings/menu-7.3-4cpu.txt.gz"], 1);
    assert!(table.contains("--states"), "{table}");
    let platform = fails(&["replay", "--states", "i7-2600"], 1);
    assert!(platform.contains("idlelab platforms"), "{platform}");
    let directory = fails(&["info", "recordings"], 1);
    assert!(directory.contains("is a directory"), "{directory}");
    let binary = fails(&["info", env!("CARGO_BIN_EXE_idlelab")], 1);
    assert!(binary.contains("looks like a program"), "{binary}");
    assert!(fails(&["replay", "--hz", "9999"], 2).contains("24 to 1200"));
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_idlelab"))
        .args(["platforms", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn decide_makes_the_choices_of_the_kernel() {
    let vectors = Path::new("crates/governors/tests/vectors");
    let mut compared = 0;
    for expected in fs::read_dir(root().join(vectors)).unwrap() {
        let path = expected.unwrap().path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".expected"))
        else {
            continue;
        };
        let (governor, case) = name.rsplit_once('@').unwrap();
        let hz = case.rsplit_once("-hz").unwrap().1;
        let file = |kind: &str| vectors.join(format!("{case}.{kind}.csv")).display().to_string();
        let (states, steps) = (file("states"), file("steps"));
        let printed = stdout(&[
            "decide",
            "--governor",
            governor,
            "--hz",
            hz,
            "--states",
            &states,
            "--steps",
            &steps,
        ]);
        assert!(printed == fs::read_to_string(&path).unwrap(), "{name}");
        compared += 1;
    }
    assert!(compared > 50, "{compared} vectors");
}

/// The deepest of what is left: of 0 to 2 without 2 (a bit of 4), and without 1 and 2.
#[test]
fn decide_disables_and_enables_states_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let states = write(
        "states.csv",
        "exit_latency_ns,target_residency_ns,polling,disabled\n0,0,0,0\n1,1,0,0\n2,2,0,1\n",
    );
    let run = |steps: &str| {
        let steps = write("steps.csv", steps);
        let base = ["decide", "-g", "deepest", "--hz", "250", "--states", &states, "--steps"];
        stdout(&[&base[..], &[&steps]].concat())
    };
    assert_eq!(run("disabled\n0\n4\n6\n"), "2,1,0\n1,1,0\n0,1,0\n");
    assert_eq!(run("sleep_ns\n0\n"), "1,1,0\n");
}

#[test]
fn decide_names_the_line_and_column_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let states = write(
        "states.csv",
        "exit_latency_ns,target_residency_ns,polling,disabled\n0,0,1,0\n2000,2000,0,0\n",
    );
    let run = |steps: &str| {
        fails(&["decide", "-g", "menu", "--hz", "250", "--states", &states, "--steps", steps], 1)
    };
    let unknown = run(&write("unknown.csv", "sleep\n1\n"));
    assert!(unknown.contains("unknown.csv:1") && unknown.contains("sleep_ns"), "{unknown}");
    let wrong = run(&write("wrong.csv", "sleep_ns,got_tick\n5,0\n7,2\n"));
    assert!(wrong.contains("wrong.csv:3: got_tick: 0 or 1"), "{wrong}");
    let wrong = run(&write("entered.csv", "entered\n-1\n1\n2\n"));
    assert!(wrong.contains("entered.csv:4: entered: -1 to 1"), "{wrong}");
    let wrong = run(&write("disabled.csv", "disabled\n3\n4\n"));
    assert!(wrong.contains("disabled.csv:3: disabled: 0 to 3, a bit for each state"), "{wrong}");
}

#[test]
fn lists_are_printed_in_every_format() {
    for command in ["platforms", "governors"] {
        let json: Value = serde_json::from_str(&stdout(&[command, "--format", "json"])).unwrap();
        let entries = json.as_array().unwrap().len();
        assert!(entries >= 9, "{command}: {entries}");
        let csv = stdout(&[command, "--format", "csv"]);
        assert!(csv.lines().count() > entries);
        assert!(!stdout(&[command]).is_empty());
    }
    let one = stdout(&["platforms", "rk3399"]);
    assert!(one.contains("370") && one.contains("2000") && one.contains("timer-stop"), "{one}");
}

#[test]
fn info_says_what_a_recording_holds() {
    let text = stdout(&["info", "recordings/menu-7.3-4cpu.txt.gz"]);
    assert!(text.contains("fidelity   4"), "{text}");
    assert!(text.contains("23826 whole decisions"), "{text}");
    assert!(text.contains("3 idle when the recording began"), "{text}");
    let json = stdout(&["info", "recordings/menu-7.3-4cpu.txt.gz", "--format", "json"]);
    let document: Value = serde_json::from_str(&json).unwrap();
    let notes = document["notes"].as_array().unwrap();
    let began = notes.iter().filter(|note| note["kind"] == "idle-at-start");
    let began: Vec<_> = began.map(|note| (&note["severity"], &note["count"])).collect();
    assert_eq!(began, vec![(&Value::from("info"), &Value::from(1)); 3], "{json}");
}

#[test]
fn completions_and_manual_are_made_from_the_command_line() {
    assert!(stdout(&["completions", "bash"]).contains("_idlelab"));
    assert!(stdout(&["man"]).contains(".TH idlelab"));
    assert!(stdout(&["man", "replay"]).contains("clairvoyant"));
    fails(&["man", "nothing"], 1);
}

#[test]
fn a_point_release_that_is_not_listed_is_taken_for_its_series_with_a_warning() {
    let base = ["replay", "--format", "csv", "--governors"];
    let output = idlelab(&[&base[..], &["menu@6.12.30,teo@6.8"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "idlelab: menu@6.12.30 is taken to be menu@6.12: the point release may differ from it by \
         backports\n"
    );
    let figures = String::from_utf8(output.stdout).unwrap();
    assert!(figures.contains("menu@6.12,") && figures.contains("teo@6.6,"), "{figures}");
    // Debian's is known exactly, and said nothing of.
    stdout(&[&base[..], &["menu@debian-6.12.117"]].concat());
}

#[test]
fn a_table_says_which_of_its_governors_are_reconstructed() {
    let text = stdout(&["replay", "--governors", "teo,teo@5.1,teo@5.10"]);
    let notes: Vec<_> = text.lines().filter(|line| line.starts_with("Note: ")).collect();
    assert_eq!(notes.len(), 1, "{text}");
    assert!(notes[0].starts_with("Note: teo@5.1 is reconstructed"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json = stdout(&["replay", "--governors", "teo@5.1", "--format", "json"]);
    let document: Value = serde_json::from_str(&json).unwrap();
    let notes = document["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("teo@5.1 is")), "{json}");
}

#[test]
fn governors_are_listed_with_their_kernels_and_their_standing() {
    let text = stdout(&["governors"]);
    for listed in [
        "kernels 6.11 to 6.13; equal to the kernel's C",
        "kernels 5.1 and 5.2; reconstructed",
        "kernels none; idlelab's own",
    ] {
        assert!(text.contains(listed), "{listed}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}
