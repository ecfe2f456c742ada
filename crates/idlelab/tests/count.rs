// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab count` from outside, on the snapshots of `recordings/counters`. Expected figures are
//! awk's (see `crates/outcome/tests/counters.rs`).

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const TEO: [&str; 2] = ["teo-7.3-4cpu.before", "teo-7.3-4cpu.after"];
const MENU: [&str; 2] = ["menu-7.3-4cpu.before", "menu-7.3-4cpu.after"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recordings/counters")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idlelab"));
    command.current_dir(folder()).arg("count").args(arguments);
    command
}

fn count(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The output of a run that must succeed in silence.
fn sound(arguments: &[&str]) -> String {
    let output = count(arguments);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{arguments:?}");
    stdout(&output)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&sound(&[arguments, &["--format", "json"]].concat())).unwrap()
}

/// What `recordings/counters/NAME` says, as `(cpu, state, attribute, value)`.
fn lines_of(name: &str) -> Vec<(String, String, String, String)> {
    fs::read_to_string(folder().join(name))
        .unwrap()
        .lines()
        .map(|line| {
            let (path, value) = line.split_once(':').unwrap();
            let mut parts = path.rsplit('/').map(str::to_owned);
            let (attribute, state) = (parts.next().unwrap(), parts.next().unwrap());
            (parts.nth(1).unwrap(), state, attribute, value.to_owned())
        })
        .collect()
}

/// Writes both snapshots of teo's pair in another form; the names are those of the files.
fn rewritten(to: &Path, write: impl Fn(&Path, &[(String, String, String, String)])) -> [String; 2] {
    TEO.map(|name| {
        let path = to.join(name);
        write(&path, &lines_of(name));
        path.display().to_string()
    })
}

#[test]
fn the_table_has_what_awk_counts() {
    let text = sound(&TEO);
    for line in [
        "WFI              15358   1.992    7.19    129.7      0   4944    4944    0.00   32.19",
        "cpu-retention-0   8139   5.422   19.57    666.2    738    779    1517    9.07    9.57",
        "cpu-retention-1    904   2.262    8.16   2502.7     41      5      46    4.54    0.55",
        "cluster-retenti    379  18.034   65.08  47583.3     62      0      62   16.36    0.00",
        "total            24780  27.711  100.00   1118.3    841   5728    6569    3.39   23.12",
        "Misses: 6569 of 24780 idle periods, 26.51 % (841 above, 5728 below)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn every_spelling_gives_the_same_outcome() {
    let expected = json(&TEO)["counts"][0]["outcome"].clone();
    let folder = tempfile::tempdir().unwrap();
    let check = |[before, after]: [String; 2]| {
        let found = json(&[&before, &after]);
        assert_eq!(found["counts"][0]["outcome"], expected, "{before}");
    };
    check(rewritten(folder.path(), |path, lines| {
        let line = |(cpu, state, attribute, value): &(String, String, String, String)| {
            format!("rw|/sys/devices/system/cpu/{cpu}/cpuidle/{state}/{attribute}|{value}\n")
        };
        fs::write(path, lines.iter().map(line).collect::<String>()).unwrap();
    }));
    check(rewritten(folder.path(), |path, lines| {
        // Quoted, with a blank, in the opposite order, with the ends of lines that mailers make.
        let line = |(cpu, state, attribute, value): &(String, String, String, String)| {
            format!("> {cpu}/cpuidle/{state}/{attribute}: {value}\r\n")
        };
        fs::write(path, lines.iter().rev().map(line).collect::<String>()).unwrap();
    }));
    check(rewritten(folder.path(), |path, lines| {
        // `cat cpu*/cpuidle/state*/*` of a kernel with 12 files a state.
        let mut all: Vec<_> = lines.to_vec();
        for (cpu, state, attribute, _) in lines {
            if attribute == "usage" {
                for (name, value) in [("default_status", "enabled"), ("desc", "d"), ("power", "0")]
                {
                    all.push((cpu.clone(), state.clone(), name.to_owned(), value.to_owned()));
                }
            }
        }
        all.sort();
        assert_eq!(all.len(), 4 * 4 * 12);
        let values: String = all.iter().map(|(.., value)| format!("{value}\n")).collect();
        fs::write(path, values).unwrap();
    }));
    let trees = tempfile::tempdir().unwrap();
    check(rewritten(trees.path(), |path, lines| {
        for (cpu, state, attribute, value) in lines {
            let state = path.join(cpu).join("cpuidle").join(state);
            fs::create_dir_all(state.join("s2idle")).unwrap();
            fs::write(state.join("s2idle/usage"), "7\n").unwrap();
            fs::write(state.join(attribute), format!("{value}\n")).unwrap();
        }
    }));
}

#[test]
fn standard_input_is_a_snapshot() {
    let output = command(&["-", TEO[1]])
        .stdin(Stdio::from(File::open(folder().join(TEO[0])).unwrap()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("6569 of 24780"));
}

#[test]
fn pairs_stand_side_by_side() {
    let text = sound(&[TEO, MENU].concat());
    let usage = text.lines().find(|line| line.starts_with("  usage")).unwrap();
    // 17370 / 15358 - 1 = 13.10 %.
    assert!(usage.split_whitespace().eq(["usage", "15358", "17370", "+13.10%"]), "{usage}");
    let misses = text.lines().rfind(|line| line.starts_with("  miss%")).unwrap();
    // 6569 / 24780 = 26.51 %, 7456 / 24568 = 30.35 %.
    assert!(misses.split_whitespace().eq(["miss%", "26.51", "30.35", "+3.84", "pp"]), "{misses}");
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn csv_has_a_line_for_each_state_and_cpu() {
    let text = sound(&[&TEO[..], &["--format", "csv", "--per-cpu", "--seconds", "10"]].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // All CPUs and four, with four states and a total.
    assert_eq!(rows.len(), 5 * 5);
    let row = rows.iter().find(|row| &row[at("cpu")] == "2" && &row[at("state")] == "3").unwrap();
    assert_eq!((&row[at("usage")], &row[at("time_ns")]), ("16", "4945813000"));
    let share: f64 = row[at("window_percent")].parse().unwrap();
    assert!((share - 49.458_13).abs() < 1e-9, "{share}");
}

#[test]
fn json_tells_tables_and_findings() {
    let report = json(&[&MENU[..], &["--seconds", "1"]].concat());
    let count = &report["counts"][0];
    assert_eq!(count["label"], "menu-7.3-4cpu");
    assert_eq!(count["window_ns"], 1_000_000_000);
    assert_eq!(count["states"][0]["cpus"], "0-3");
    assert_eq!(count["states"][0]["states"][1]["target_residency_ns"], 150_000);
    // Each CPU idles for about seven seconds in this pair.
    assert_eq!(count["findings"][0]["code"], "more-idle-than-time");
    assert_eq!(count["findings"][0]["cpus"], "0-3");
    assert_eq!(count["outcome"]["misses"], 7_456);
    assert_eq!(count["outcome"]["ticks"], Value::Null);
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let code = |arguments: &[&str]| count(arguments).status.code();
    for wrong in [
        &[][..],
        &[TEO[0], TEO[1], MENU[0]],
        &["/", "/"],
        &["-", "-"],
        &[TEO[0], "--seconds", "5"],
        &[TEO[0], TEO[1], "--seconds", "0"],
        &[TEO[0], TEO[1], "--seconds", "nan"],
        &[TEO[0], TEO[1], "--seconds", "5,6"],
    ] {
        assert_eq!(code(wrong), Some(2), "{wrong:?}");
    }
    for unusable in
        [&["no-such-file", TEO[1]][..], &[TEO[1], TEO[0]], &["README.md", TEO[1]], &[".", TEO[1]]]
    {
        assert_eq!(code(unusable), Some(1), "{unusable:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let impossible = folder.path().join("edited.after");
    let text = fs::read_to_string(self::folder().join(TEO[1])).unwrap();
    fs::write(&impossible, text.replacen("state0/above:0", "state0/above:99999", 1)).unwrap();
    let output = count(&[TEO[0], impossible.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stdout(&output).contains("more misses than entries"),
        "the table is printed all the same"
    );
}

#[test]
fn snapshots_that_are_none_are_told_by_name() {
    let missing = stderr(&count(&["no-such-file", TEO[1]]));
    assert!(missing.contains("no-such-file: a counter dump or a folder was expected"), "{missing}");
    let swapped = stderr(&count(&[TEO[1], TEO[0]]));
    assert!(swapped.contains("before comes first"), "{swapped}");
    let odd = stderr(&count(&[TEO[0], TEO[1], MENU[0]]));
    assert!(odd.contains("`menu-7.3-4cpu.before` is without an after"), "{odd}");
}

#[test]
fn this_machine_can_be_counted_if_it_has_cpuidle() {
    if !Path::new("/sys/devices/system/cpu/cpu0/cpuidle/state0/usage").exists() {
        println!("skipped this_machine_can_be_counted_if_it_has_cpuidle: no cpuidle in /sys here");
        return;
    }
    assert!(stdout(&count(&["/"])).contains("since the CPUs came up"));
}

/// What the documentation shows is what the program prints.
#[test]
fn the_documentation_shows_what_is_printed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/counters.md");
    let page = fs::read_to_string(page).unwrap();
    let mut examples = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (prompt, expected) = block.split_once('\n').unwrap();
        let arguments: Vec<&str> =
            prompt.strip_prefix("$ idlelab count ").unwrap().split_whitespace().collect();
        assert_eq!(stdout(&count(&arguments)), expected, "{prompt}");
        examples += 1;
    }
    assert_eq!(examples, 3);
}
