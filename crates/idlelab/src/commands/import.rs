// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab import`: a recording into a file of its own.

use std::fs;

use anyhow::{Context, Result, bail};
use idlelab_platform::Platform;
use idlelab_recording::{Recording, parquet};

use crate::cli::Import;
use crate::{Trust, input, output};

pub(crate) fn run(arguments: &Import) -> Result<Trust> {
    let mut recording = input::recording(Some(&arguments.recording))?;
    if let Some(given) = &arguments.states {
        let machine = input::platform(given)?;
        check_cpus(&recording, &machine)?;
        recording.machine = Some(machine);
    }
    let path = arguments.output.display().to_string();
    // What stands there stays until the new file is whole.
    let mut file = Vec::new();
    parquet::write(&recording, &mut file).with_context(|| path.clone())?;
    fs::write(&arguments.output, &file).with_context(|| format!("{path}: cannot be written"))?;
    report(&recording, &path, file.len());
    Ok(Trust::Sound)
}

/// A machine that lacks a recorded CPU is another one.
fn check_cpus(recording: &Recording, machine: &Platform) -> Result<()> {
    for cpu in &recording.cpus {
        if machine.states_of(cpu.cpu).is_none() {
            bail!(
                "the recording has {}, but platform {} has no idle states for it",
                cpu.cpu,
                machine.name
            );
        }
    }
    Ok(())
}

fn report(recording: &Recording, path: &str, bytes: usize) {
    eprintln!(
        "idlelab: {path}: {} idle periods and {} whole decisions of {} CPUs, {bytes} bytes",
        recording.periods(),
        recording.complete_decisions(),
        recording.cpus.len()
    );
    if recording.machine.is_none() {
        eprintln!(
            "idlelab: warning: the recorded machine is not in it; give it with --states here, or \
             with each replay"
        );
    }
    for note in output::summarise(&recording.notes) {
        eprintln!("idlelab: note: {note}");
    }
}
