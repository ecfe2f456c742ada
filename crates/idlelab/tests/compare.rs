// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab compare` and `idlelab plan` as their users meet them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn idlelab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idlelab"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = idlelab(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn stderr(arguments: &[&str], status: i32) -> String {
    let output = idlelab(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn file(folder: &Path, content: &str) -> String {
    let path = folder.join("runs");
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// As a mail has it: *above* without overlap, joules all over the place.
const MAIL: &str = "\
> Idle 1 min:
> gov    iter  Joules  idles  idle_misses  belows  aboves
> teo    0     31.0    2000   100          60      40
> teo    1     24.5    2100   102          63      39
> teo    2     28.7    1900   95           57      38
> teo    3     22.9    2050   104          62      42
> teo    4     33.1    1980   98           59      39
> tweak  0     29.9    2020   141          60      81
> tweak  1     25.2    1960   136          59      77
> tweak  2     34.0    2080   145          62      83
> tweak  3     27.1    1940   138          58      80
> tweak  4     23.8    2010   139          60      79
";

#[test]
fn a_mail_gets_the_verdicts_that_its_numbers_carry() {
    let folder = tempfile::tempdir().unwrap();
    let mail = file(folder.path(), MAIL);
    let text = stdout(&["compare", &mail]);
    assert!(text.starts_with("tweak against teo (baseline): Idle 1 min\n"), "{text}");
    let verdict = |metric: &str| {
        let line =
            text.lines().find(|line| line.get(26..).is_some_and(|it| it.starts_with(metric)));
        line.unwrap_or_else(|| panic!("{metric}: {text}")).get(..26).unwrap().trim()
    };
    assert_eq!(verdict("above %"), "worse");
    assert_eq!(verdict("joules"), "no detectable difference");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.is_ascii(), "{text}");
    assert_eq!(text, stdout(&["compare", &mail]), "the same bytes again");
    let reversed = stdout(&["compare", &mail, "--baseline", "tweak"]);
    assert!(reversed.starts_with("teo against tweak (baseline)"), "{reversed}");
    let csv = stdout(&["compare", &mail, "--metric", "above", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    // 2 of 252 arrangements, and a single metric.
    assert!(csv.contains(",0.007936507936507936,0.007936507936507936,"), "{csv}");
}

#[test]
fn mmtests_marks_what_is_significant() {
    let folder = tempfile::tempdir().unwrap();
    let table = stdout(&["compare", &file(folder.path(), MAIL), "--style", "mmtests"]);
    let line = |name: &str| table.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(line("above").contains('*') && !line("joules").contains('*'), "{table}");
}

#[test]
fn json_has_exactly_the_documented_members() {
    let folder = tempfile::tempdir().unwrap();
    let document: Value =
        serde_json::from_str(&stdout(&["compare", &file(folder.path(), MAIL), "--format", "json"]))
            .unwrap();
    let mut printed = BTreeSet::new();
    members(&document, "", &mut printed);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documentation = fs::read_to_string(root.join("docs/compare.md")).unwrap();
    let documented: BTreeSet<String> = documentation
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(member, _)| member.to_owned())
        .collect();
    assert_eq!(printed, documented);
}

fn members(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let separator = if path.is_empty() { "" } else { "." };
                members(value, &format!("{path}{separator}{key}"), found);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().for_each(|item| members(item, &format!("{path}[]"), found));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn replays_are_compared_without_a_p_value() {
    let folder = tempfile::tempdir().unwrap();
    let replays = stdout(&["replay", "--governors", "teo,menu", "--format", "json"]);
    let text = stdout(&["compare", &file(folder.path(), &replays)]);
    assert!(text.starts_with("menu against teo (baseline)"), "{text}");
    assert!(text.contains("no sampling error and no p-value"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_pilot_tells_how_many_runs_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let pilot = file(folder.path(), MAIL);
    let arguments = ["plan", "--pilot", &pilot, "--metric", "joules", "--difference", "10%"];
    let document: Value =
        serde_json::from_str(&stdout(&[&arguments[..], &["--format", "json"]].concat())).unwrap();
    let joules = &document["plans"][0]["metrics"][0];
    // 4.1781 J of 28.04 J, pooled: noise of 14.90 %; statsmodels' TTestIndPower with effect
    // 10 / 14.90 and 80 % power says 35.8 runs.
    let noise = joules["noise_percent"].as_f64().unwrap();
    assert!((noise - 14.90).abs() < 0.01, "{noise}");
    assert_eq!(joules["runs"], 36);
    let text = stdout(&[&arguments[..], &["--runs", "5"]].concat());
    assert!(text.contains("5 see differences from"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn wrong_questions_are_answered_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mail = file(folder.path(), MAIL);
    assert!(stderr(&["compare", &mail, "--baseline", "menu"], 1).contains("there are teo, tweak"));
    assert!(
        stderr(&["compare", &mail, "--metric", "watts"], 1).contains("there are joules, idles")
    );
    assert!(stderr(&["compare", "/nowhere"], 1).contains("a file of outcomes was expected"));
    assert!(stderr(&["compare", "-", "-"], 1).contains("only one of the files"));
    assert!(stderr(&["plan", "--pilot", &mail, "--difference", "0"], 2).contains("such as 2%"));
    assert!(stderr(&["plan", "--pilot", &mail, "--power", "100%"], 2).contains("most often 80%"));
}
