// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab report`, as a browser shows it.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Twelve runs: misses far apart, energy not.
const RUNS: &str = "\
> gov   iter  Joules  idles  misses  above  below
> teo   0     100.0   1000   100     60     40
> teo   1     102.0   1010   104     62     42
> teo   2     101.0   990    98      58     40
> teo   3     103.0   1005   102     61     41
> teo   4     99.0    995    101     60     41
> teo   5     99.5    995    101     60     41
> menu  0     101.5   1002   301     60     241
> menu  1     100.5   998    305     61     244
> menu  2     102.5   1008   299     59     240
> menu  3     99.5    992    303     62     241
> menu  4     101.2   1001   300     60     240
> menu  5     101.0   1001   300     60     240
";

fn idlelab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idlelab")).args(arguments).output().unwrap()
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes a report and gives its text.
fn report(page: &Path, arguments: &[&str]) -> String {
    let page = page.to_str().unwrap();
    let output = idlelab(&[&["report", "-o", page], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(page).unwrap()
}

fn runs() -> String {
    let runs = path("runs.txt");
    fs::write(&runs, RUNS).unwrap();
    runs.to_str().unwrap().to_owned()
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let page = path("same.html");
    assert_eq!(report(&page, &[]), report(&page, &[]));
}

/// Above and below of teo are those of `idlelab replay`, and so is the verdict.
#[test]
fn the_page_says_what_replay_and_compare_say() {
    let page = report(&path("says.html"), &["-g", "teo,menu"]);
    let table = String::from_utf8(idlelab(&["replay", "-g", "teo,menu", "--style", "runs"]).stdout);
    let table = table.unwrap();
    for governor in ["teo", "menu"] {
        let line = table.lines().find(|line| line.starts_with(governor)).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        // gov, iter, idles, misses, ratio, belows, aboves
        let [.., belows, aboves] = cells[..] else { panic!("{line}") };
        for cell in [belows, aboves] {
            assert!(page.contains(&format!("<td>{cell}</td>")), "{governor} {cell}");
        }
    }
    let page = report(&path("runs.html"), &[&runs()]);
    let verdict = page.split("<h2>Metrics").next().unwrap();
    assert!(verdict.contains("<b>worse</b> misses %"), "{verdict}");
    assert!(verdict.contains("<b>no detectable difference</b> joules"), "{verdict}");
}

#[test]
fn what_is_neither_outcomes_nor_a_recording_is_refused_by_its_name() {
    let junk = path("junk.bin");
    fs::write(&junk, [0, 1, 2, 3]).unwrap();
    let junk = junk.to_str().unwrap();
    let page = path("never.html");
    let output = idlelab(&["report", junk, "-o", page.to_str().unwrap()]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("junk.bin") && message.contains("neither"), "{message}");
    assert!(!page.exists());
}

/// The page as Chromium makes it, cut off from the world, and what it complained of.
fn rendered(page: &Path, options: &[&str]) -> Option<(String, String)> {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: chromium is not installed");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let complaints = errors.lines().filter(|line| line.contains("CONSOLE"));
    let complaints = complaints.collect::<Vec<_>>().join("\n");
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), complaints))
}

#[test]
fn a_browser_draws_everything_without_a_network_or_a_complaint() {
    let page = path("drawn.html");
    report(&page, &[]);
    for options in [&[][..], &["--force-dark-mode"]] {
        let Some((dom, complaints)) = rendered(&page, options) else { return };
        assert_eq!(complaints, "");
        // Two comparisons, latency, four governors' stays and wrong states.
        assert_eq!(dom.matches("<svg class=\"plot\"").count(), 11, "{options:?}");
        let drawn = dom.split("data-drawn=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(drawn.parse::<u32>().unwrap() > 1_000, "{drawn}");
        // As many differences to go to as the table lists, and the line above them.
        let moments = dom.matches("idlelab explain --cpu").count();
        let select = dom.split("<select").nth(1).unwrap().split("</select>").next().unwrap();
        assert_eq!(select.matches("<option").count(), moments + 1);
        assert!(moments > 0);
    }
    let page = path("outcomes.html");
    report(&page, &[&runs()]);
    let Some((dom, complaints)) = rendered(&page, &[]) else { return };
    assert_eq!((complaints.as_str(), dom.matches("<svg class=\"plot\"").count()), ("", 1));
}
