// SPDX-License-Identifier: GPL-2.0-or-later
//! `record` and `restore` on the machine that the tests run on. It takes root, a cpuidle driver and
//! tracefs; elsewhere each test is skipped by name.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use idlelab_import::ImportError;
use idlelab_recording::{CounterChange, Fidelity, NoteKind, Recording};
use idlelab_states::CpuId;
use tempfile::TempDir;

const CPUIDLE: &str = "/sys/devices/system/cpu/cpuidle";

/// Idles a hundred times.
const NAPS: &str = "i=0; while [ $i -lt 100 ]; do sleep 0.005; i=$((i+1)); done";

/// There is but one machine.
static MACHINE: Mutex<()> = Mutex::new(());

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idlelab"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn governors() -> Vec<String> {
    let text = fs::read_to_string(format!("{CPUIDLE}/available_governors")).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The machine, unless it cannot be recorded.
fn machine(test: &str) -> Option<MutexGuard<'static, ()>> {
    let guard = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let root = fs::metadata("/proc/self").is_ok_and(|metadata| {
        use std::os::unix::fs::MetadataExt;
        metadata.uid() == 0
    });
    let missing = if !root {
        "not root"
    } else if !Path::new("/sys/kernel/tracing").is_dir() {
        "no tracefs"
    } else if governors().is_empty() {
        "no cpuidle governor"
    } else if tracefs_state().is_none() {
        "tracefs cannot be mounted"
    } else {
        return Some(guard);
    };
    println!("SKIPPED: {test}: {missing}");
    None
}

/// What tracefs holds beside its buffers' contents, seen through a mount of its own.
fn tracefs_state() -> Option<String> {
    let place = tempfile::tempdir().ok()?;
    let path = place.path().to_str()?;
    let mounted = Command::new("mount").args(["-t", "tracefs", "tracefs", path]).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return None;
    }
    let mut state = String::new();
    let instances = fs::read_dir(place.path().join("instances"));
    let mut instances: Vec<_> =
        instances.into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    instances.sort();
    state += &format!("{instances:?}\n");
    for file in [
        "tracing_on",
        "trace_clock",
        "current_tracer",
        "set_event",
        "buffer_size_kb",
        "kprobe_events",
        "dynamic_events",
    ] {
        state += &fs::read_to_string(place.path().join(file)).unwrap_or_default();
    }
    assert!(Command::new("umount").arg(path).status().ok()?.success());
    Some(state)
}

/// All that a recording may change.
fn state() -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let traced: Vec<_> = mounts.lines().filter(|line| line.contains("tracefs")).collect();
    let governor = fs::read_to_string(format!("{CPUIDLE}/current_governor")).unwrap();
    format!("{governor}{traced:?}\n{}", tracefs_state().unwrap())
}

fn record(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut all = vec!["record", "-o", "x.parquet"];
    all.extend(arguments);
    let mut command = command(&all);
    command.current_dir(folder.path());
    command
}

/// Runs a recording until it has caught a CPU idling, since others may keep the machine busy; none
/// if they do so for long.
fn output_with_idle(test: &str, mut command: impl FnMut() -> Command) -> Option<Output> {
    for _ in 0..8 {
        let output = command().output().unwrap();
        if !stderr(&output).contains("no whole idle period") {
            return Some(output);
        }
    }
    println!("SKIPPED: {test}: the machine is too busy for its CPUs to idle");
    None
}

fn recorded(folder: &TempDir) -> Recording {
    idlelab_import::open(&folder.path().join("x.parquet")).unwrap()
}

fn entries(recording: &Recording, cpu: CpuId) -> u64 {
    let counters = &recording.circumstances.counters;
    counters.iter().filter(|change| change.cpu == cpu).filter_map(CounterChange::entries).sum()
}

#[test]
fn each_governor_is_recorded_and_the_counters_agree() {
    let Some(_machine) = machine("each_governor_is_recorded_and_the_counters_agree") else {
        return;
    };
    let before = state();
    for governor in governors() {
        let folder = tempfile::tempdir().unwrap();
        let from_enable = ["--from-enable", &governor, "--", "sh", "-c", NAPS];
        let from_enable = if governors().len() > 1 { &from_enable[..] } else { &from_enable[2..] };
        let test = "each_governor_is_recorded_and_the_counters_agree";
        let Some(output) = output_with_idle(test, || record(&folder, from_enable)) else { return };
        assert!(output.status.success(), "{}", stderr(&output));
        let recording = recorded(&folder);
        assert_eq!(recording.governor.as_deref(), Some(governor.as_str()));
        assert!(recording.fidelity >= Fidelity::Timers, "{}", stderr(&output));
        assert!(recording.machine.is_some());
        assert!(recording.tick_rate.is_some());
        assert!(recording.circumstances.kernel.is_some());
        assert!(!recording.cpus.is_empty(), "{}", stderr(&output));
        for cpu in &recording.cpus {
            let left_out: u64 = recording
                .notes
                .iter()
                .filter(|note| note.cpu == Some(cpu.cpu) && note.kind == NoteKind::OtherGovernor)
                .map(|note| note.count)
                .sum();
            let (traced, counted) =
                (cpu.periods.len() as u64 + left_out, entries(&recording, cpu.cpu));
            // What is between the snapshots and the trace's ends is counted alone, and what the
            // kernel idles without cpuidle while its governor is switched is traced alone.
            assert!(cpu.periods.len() as u64 <= counted + 20, "{traced} traced, {counted}");
            assert!(traced + 20 + counted / 20 >= counted, "{traced} traced, {counted}");
        }
        // A CPU that the counters show idling is either in the recording or said to be blind.
        let counted = recording.circumstances.counters.iter().map(|change| change.cpu);
        for cpu in counted.filter(|&cpu| entries(&recording, cpu) > 200) {
            let there = recording.cpus.iter().any(|found| found.cpu == cpu);
            let blind = recording.notes.iter().any(|note| {
                note.cpu == Some(cpu)
                    && matches!(note.kind, NoteKind::UntracedIdle | NoteKind::NoIdleEvents)
            });
            assert!(there || blind, "{cpu}: {}", stderr(&output));
        }
        assert_eq!(state(), before, "{governor}");
    }
}

#[test]
fn a_signal_ends_the_recording_and_leaves_the_file_whole() {
    let Some(_machine) = machine("a_signal_ends_the_recording_and_leaves_the_file_whole") else {
        return;
    };
    let before = state();
    let mut whole = 0;
    for signal in ["INT", "TERM", "HUP"] {
        let folder = tempfile::tempdir().unwrap();
        let child = record(&folder, &["--for", "600"]).stderr(Stdio::piped()).spawn().unwrap();
        sleep(Duration::from_millis(1_000));
        let id = child.id().to_string();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success()
        );
        let output = child.wait_with_output().unwrap();
        // A machine that others keep busy gives no recording, but ends as well.
        if output.status.success() {
            assert!(recorded(&folder).periods() > 0);
            whole += 1;
        } else {
            assert!(stderr(&output).contains("no whole idle period"), "{}", stderr(&output));
        }
        fs::remove_file(folder.path().join("x.parquet")).ok();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "pages are left");
        assert_eq!(state(), before, "{signal}");
    }
    if whole == 0 {
        println!("SKIPPED: files after a signal: the machine is too busy for its CPUs to idle");
    }
}

#[test]
fn what_a_kill_leaves_at_any_moment_restore_undoes() {
    let Some(_machine) = machine("what_a_kill_leaves_at_any_moment_restore_undoes") else {
        return;
    };
    let before = state();
    let mut left = 0;
    let all = governors();
    let arguments = ["--for", "600", "--from-enable", &all[0]];
    let arguments = if all.len() > 1 { &arguments[..] } else { &arguments[..2] };
    for moment in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = record(&folder, arguments).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(moment * 8));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        if Path::new("/run/idlelab/journal").exists() {
            let next = record(&folder, &["--for", "0.1"]).output().unwrap();
            // Before the first change there is nothing to undo.
            if !next.status.success() {
                left += 1;
                assert!(stderr(&next).contains("idlelab restore"), "{}", stderr(&next));
            }
        }
        let restored = command(&["restore"]).output().unwrap();
        assert!(restored.status.success(), "{moment}: {}", stderr(&restored));
        assert_eq!(state(), before, "after {} ms", moment * 8);
    }
    assert!(left > 0, "no kill came in time");
}

#[test]
fn a_second_recorder_is_told_who_records() {
    let Some(_machine) = machine("a_second_recorder_is_told_who_records") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut first = record(&folder, &["--for", "600"]).stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(1_000));
    let second = record(&folder, &["--for", "1"]).output().unwrap();
    assert!(Command::new("kill").arg(first.id().to_string()).status().unwrap().success());
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let expected = format!("process {} (idlelab record)", first.id());
    assert!(stderr(&second).contains(&expected), "{}", stderr(&second));
}

#[test]
fn the_printed_script_records_the_same_without_idlelab() {
    let Some(_machine) = machine("the_printed_script_records_the_same_without_idlelab") else {
        return;
    };
    let before = state();
    let folder = tempfile::tempdir().unwrap();
    let script = command(&["record", "--print-setup"]).output().unwrap();
    assert!(script.status.success());
    fs::write(folder.path().join("record.sh"), &script.stdout).unwrap();
    let output = Command::new("sh")
        .args(["record.sh", "recorded", "1"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(state(), before);
    let recording = match idlelab_import::open(&folder.path().join("recorded")) {
        Err(ImportError::NoIdle { .. }) => {
            println!("SKIPPED: the script's recording: the machine is too busy for CPUs to idle");
            return;
        }
        recording => recording.unwrap(),
    };
    assert_eq!(recording.fidelity, Fidelity::Timers);
    assert!(recording.periods() > 0);
    assert!(recording.machine.is_some() && recording.governor.is_some());
    for cpu in &recording.cpus {
        let (traced, counted) = (cpu.periods.len() as u64, entries(&recording, cpu.cpu));
        // Its snapshots take longer.
        assert!(traced <= counted + 20 && counted <= traced * 2 + 200, "{traced}, {counted}");
    }
}

#[test]
fn without_rights_it_says_what_to_do_and_changes_nothing() {
    let Some(_machine) = machine("without_rights_it_says_what_to_do_and_changes_nothing") else {
        return;
    };
    let before = state();
    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(folder.path(), open).unwrap();
    let output =
        record(&folder, &["--for", "1"]).uid(65_534).env("XDG_STATE_HOME", folder.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("run as root"), "{}", stderr(&output));
    assert_eq!(state(), before);
}

#[test]
fn a_governor_that_is_not_there_is_refused_before_anything_changes() {
    let Some(_machine) = machine("a_governor_that_is_not_there_is_refused_before_anything_changes")
    else {
        return;
    };
    let before = state();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--from-enable", "no-such", "--for", "1"];
    let output = record(&folder, &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&governors()[0]), "{}", stderr(&output));
    assert_eq!(state(), before);
}

/// What a machine's own governor chose is reproduced from timers alone. On a table of two states
/// most of it is no triumph, so the best constant guess stands beside it.
#[test]
fn menu_chooses_as_recorded_when_its_inputs_are_rebuilt() {
    let test = "menu_chooses_as_recorded_when_its_inputs_are_rebuilt";
    let Some(_machine) = machine(test) else { return };
    let all = governors();
    if all.len() < 2 || !all.iter().any(|governor| governor == "menu") {
        println!("SKIPPED: {test}: menu cannot be switched in");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--from-enable", "menu", "--", "sh", "-c", NAPS];
    let Some(output) = output_with_idle(test, || record(&folder, &arguments)) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    let replay = command(&["replay", "x.parquet", "-g", "menu", "--format", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(replay.status.success(), "{}", stderr(&replay));
    let report: serde_json::Value = serde_json::from_slice(&replay.stdout).unwrap();
    let rebuilt = &report["self_check"]["rebuilt"];
    let count = |name: &str| rebuilt[name].as_u64().unwrap();
    let (decisions, reproduced) = (count("decisions"), count("reproduced"));
    println!(
        "{reproduced} of {decisions} choices of menu (best constant guess: {})",
        count("constant_guess")
    );
    if decisions < 500 {
        println!("SKIPPED: {test}: {decisions} decisions on a busy machine are too few");
        return;
    }
    assert!(reproduced * 100 >= decisions * 95, "{reproduced} of {decisions}");
}
