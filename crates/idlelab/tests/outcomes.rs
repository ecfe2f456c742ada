// SPDX-License-Identifier: GPL-2.0-or-later
//! Files of outcomes and styles of tables, as their users meet them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use idlelab_outcome::file::{FromFile, read};

const STYLES: [&str; 11] = [
    "runs",
    "states",
    "times",
    "box",
    "predictions",
    "shares",
    "lkp",
    "over-under",
    "mmtests",
    "wide",
    "markdown",
];

/// Ten runs of two governors, far apart in misses and in nothing else.
const MAIL: &str = "\
> Own test, 10 s:
> gov   iter  Joules  idles  misses  above  below
> teo   0     100.0   1000   100     60     40
> teo   1     102.0   1010   104     62     42
> teo   2     101.0   990    98      58     40
> teo   3     103.0   1005   102     61     41
> teo   4     99.0    995    101     60     41
> menu  0     101.5   1002   301     60     241
> menu  1     100.5   998    305     61     244
> menu  2     102.5   1008   299     59     240
> menu  3     99.5    992    303     62     241
> menu  4     101.2   1001   300     60     240
";

fn idlelab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idlelab")).args(arguments).output().unwrap()
}

/// What a command prints that must succeed.
fn stdout(arguments: &[&str]) -> String {
    let output = idlelab(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn outcomes(bytes: &[u8]) -> FromFile {
    read(&mut &bytes[..], "printed").unwrap()
}

#[test]
fn every_format_holds_the_same_outcomes() {
    let replay = |format| stdout(&["replay", "-g", "teo,menu@6.17", "--format", format]);
    let json = outcomes(replay("json").as_bytes());
    assert_eq!(json.outcomes.len(), 2);
    assert!(json.notes.iter().any(|note| note.text.contains("menu@6.17 is reconstructed")));
    assert_eq!(outcomes(replay("csv").as_bytes()).outcomes, json.outcomes);
    let file = path("outcomes.parquet");
    let name = file.to_str().unwrap();
    assert_eq!(stdout(&["replay", "-g", "teo,menu@6.17", "--format", "parquet", "-o", name]), "");
    assert_eq!(outcomes(&fs::read(&file).unwrap()).outcomes, json.outcomes);
    // And it is what a pipe gets.
    let piped = idlelab(&["replay", "-g", "teo,menu@6.17", "--format", "parquet"]);
    assert_eq!(piped.stdout, fs::read(&file).unwrap());
}

#[test]
fn csv_says_what_is_reconstructed() {
    let text = stdout(&["replay", "-g", "teo,menu@6.17", "--format", "csv"]);
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (governor, standing) = (at("governor"), at("standing"));
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let expected = match cells[governor] {
            "teo" => "equal to the kernel's C",
            _ => "reconstructed",
        };
        assert_eq!(cells[standing], expected, "{line}");
    }
}

#[test]
fn every_style_stands_below_the_self_check_and_says_what_is_reconstructed() {
    for style in STYLES {
        let text = stdout(&["replay", "-g", "teo,menu@6.17", "--style", style]);
        assert!(text.contains("24078 of 24078 reproduced by teo"), "{style}: {text}");
        assert!(text.ends_with("never compared with its C.\n"), "{style}: {text}");
        let too_wide = text.lines().any(|line| line.chars().count() > 100);
        assert_eq!(too_wide, style == "wide", "{style}: {text}");
    }
    let help = stdout(&["replay", "--help"]);
    for style in STYLES {
        let listed = help.lines().any(|line| line.trim().starts_with(&format!("- {style}:")));
        assert!(listed, "{style}: {help}");
    }
}

#[test]
fn a_comparison_marks_what_is_significant() {
    let mail = path("mail.txt");
    fs::write(&mail, MAIL).unwrap();
    let mail = mail.to_str().unwrap();
    let text = stdout(&["compare", mail, "--style", "mmtests"]);
    let line = |text: &str, metric: &str| {
        let mut lines = text.lines();
        lines.find(|line| line.split(' ').any(|word| word == metric)).unwrap().to_owned()
    };
    // Means 10.1 and 30.2 % of misses, 101 and 101.04 J.
    assert!(line(&text, "misses%").ends_with("%*"), "{text}");
    assert!(line(&text, "joules").contains("101.00 (   0.00%)"), "{text}");
    assert!(line(&text, "joules").ends_with("101.04 (  -0.04%)"), "{text}");
    let reversed = stdout(&["compare", mail, "--style", "mmtests", "--baseline", "menu"]);
    assert!(line(&reversed, "joules").contains("101.04 (   0.00%)"), "{reversed}");
    // What compare prints in a style, compare reads.
    let again = path("again.txt");
    fs::write(&again, stdout(&["compare", mail, "--style", "runs"])).unwrap();
    let verdicts = |file: &str| stdout(&["compare", file, "--format", "csv"]);
    assert_eq!(verdicts(again.to_str().unwrap()).lines().count(), verdicts(mail).lines().count());
}

#[test]
fn what_does_not_go_together_is_refused() {
    for arguments in [
        &["replay", "--style", "runs", "--format", "csv"][..],
        &["compare", "-", "--style", "runs", "--format", "json"],
        &["replay", "--style", "prose"],
    ] {
        assert_eq!(idlelab(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let refused = idlelab(&["replay", "-o", "/dev/null/nothing"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("/dev/null/nothing"));
}
