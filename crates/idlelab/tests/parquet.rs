// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab import`, and what other commands make of its file.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MACHINE: &str = "testbed-arm64-4cpu";

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(name)
}

fn output_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn idlelab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idlelab")).args(arguments).output().unwrap()
}

/// What a command prints that must succeed.
fn printed(arguments: &[&str]) -> String {
    let output = idlelab(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_file_replays_as_the_trace_did() {
    for (trace, file) in
        [("teo-7.3-4cpu.txt.gz", "teo.parquet"), ("menu-7.3-4cpu.txt.gz", "menu.parquet")]
    {
        let (trace, file) = (recording(trace), output_file(file));
        let (trace, file) = (trace.to_str().unwrap(), file.to_str().unwrap());
        printed(&["import", trace, "--states", MACHINE, "-o", file]);
        for format in ["json", "text", "csv"] {
            let of_trace = printed(&["replay", trace, "--states", MACHINE, "--format", format]);
            assert_eq!(printed(&["replay", file, "--format", format]), of_trace);
        }
        // Another machine is what-if, whichever way the recorded one is given.
        let what_if = ["--states", "i7-2600k", "--format", "json"];
        let of_trace =
            printed(&[&["replay", trace, "--recorded-states", MACHINE], &what_if[..]].concat());
        let of_file = printed(&[&["replay", file], &what_if[..]].concat());
        assert_eq!(of_file, of_trace);
        assert!(of_file.contains("\"platform\": \"i7-2600k\""));
        assert!(of_file.contains("\"recorded_platform\": \"testbed-arm64-4cpu\""));
    }
}

#[test]
fn a_file_can_be_given_its_machine_later() {
    let trace = recording("menu-7.3-4cpu.txt.gz");
    let (without, with) = (output_file("without.parquet"), output_file("with.parquet"));
    let (without, with) = (without.to_str().unwrap(), with.to_str().unwrap());
    printed(&["import", trace.to_str().unwrap(), "-o", without]);
    assert!(printed(&["info", without]).contains("machine    not recorded"));
    let refused = idlelab(&["replay", without]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--states"));
    printed(&["import", without, "--states", MACHINE, "-o", with]);
    assert!(printed(&["info", with]).contains("machine    testbed-arm64-4cpu"));
    assert_eq!(printed(&["replay", with]), printed(&["replay", without, "--states", MACHINE]));
}

#[test]
fn a_machine_without_the_recorded_cpus_is_refused_and_nothing_is_written() {
    let machine = output_file("two-cpus.toml");
    let text = "name = \"two-cpus\"\nsource = \"a test\"\n\n[[table]]\nname = \"all\"\n\
                cpus = \"0-1\"\nstate = [\n    { name = \"WFI\", exit_latency_us = 1, \
                target_residency_us = 1 },\n]\n";
    fs::write(&machine, text).unwrap();
    let (trace, file) = (recording("teo-7.3-4cpu.txt.gz"), output_file("refused.parquet"));
    let refused = idlelab(&[
        "import",
        trace.to_str().unwrap(),
        "--states",
        machine.to_str().unwrap(),
        "-o",
        file.to_str().unwrap(),
    ]);
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("has cpu2, but platform two-cpus"), "{message}");
    assert!(!file.exists());
}

#[test]
fn a_damaged_file_is_refused_by_its_name() {
    let (trace, file) = (recording("teo-7.3-4cpu.txt.gz"), output_file("damaged.parquet"));
    let path = file.to_str().unwrap();
    printed(&["import", trace.to_str().unwrap(), "-o", path]);
    let mut bytes = fs::read(&file).unwrap();
    bytes[4_000] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let refused = idlelab(&["info", path]);
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains(&format!("{path}: is damaged")), "{message}");
}

/// Other programs' files have no checksum, so the Parquet library gets to see the damage.
#[test]
fn a_damaged_file_of_another_program_is_refused_in_one_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/parquet");
    let whole = fs::read(folder.join("timers")).unwrap();
    let damaged = output_file("another.parquet");
    let path = damaged.to_str().unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut bytes = whole.clone();
        bytes[at] = !bytes[at];
        fs::write(&damaged, &bytes).unwrap();
        let output = idlelab(&["info", path]);
        let message = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            refused += 1;
            assert_eq!(output.status.code(), Some(1), "byte {at}: {message}");
            assert!(message.starts_with(&format!("idlelab: {path}: ")), "byte {at}: {message}");
            assert_eq!(message.lines().count(), 1, "byte {at}: {message}");
        }
    }
    assert!(refused > 20, "{refused}");
}
