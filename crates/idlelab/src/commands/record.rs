// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab record`: a recording of this machine; `idlelab restore`: what an ended one left.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use idlelab_live::{
    Journal, Machine, Overhead, Recorded, Request, Restored, Until, record, setup_script,
    state_folder, stop_on_signals,
};
use idlelab_recording::{NoteKind, parquet};

use crate::cli::{Record, Restore};
use crate::{Trust, output};

pub(crate) fn run(arguments: &Record) -> Result<Trust> {
    if arguments.print_setup {
        let mut out = output::stdout();
        out.write_all(setup_script(arguments.buffer_kib).as_bytes())?;
        out.flush()?;
        return Ok(Trust::Sound);
    }
    let path = arguments.output.display().to_string();
    let beside = match arguments.output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // The kernel's pages stay there if this process is killed, and can still be imported.
    let folder = tempfile::Builder::new()
        .prefix("idlelab-record-")
        .tempdir_in(beside)
        .with_context(|| format!("{path}: nothing can be written beside it"))?;
    let until = match arguments.time {
        Some(time) => Until::Time(Duration::from_nanos(time.get().unsigned_abs())),
        None if arguments.command.is_empty() => {
            eprintln!("idlelab: recording until Ctrl-C");
            Until::Stopped
        }
        None => Until::Command(arguments.command.clone()),
    };
    let stop = stop_on_signals().context("signals cannot be handled")?;
    let recorded = record(
        &Request {
            machine: Machine::default(),
            state: state_folder(),
            folder: folder.path().to_owned(),
            until,
            from_enable: arguments.from_enable.clone(),
            buffer_kib: arguments.buffer_kib,
        },
        &stop,
    )?;
    let Recorded { mut recording, limit, overhead, command_status } = recorded;
    "this machine, by idlelab record".clone_into(&mut recording.source);
    let mut file = Vec::new();
    parquet::write(&recording, &mut file).with_context(|| path.clone())?;
    fs::write(&arguments.output, &file).with_context(|| format!("{path}: cannot be written"))?;
    eprintln!(
        "idlelab: {path}: {} idle periods and {} whole decisions of {} CPUs under {}, {} bytes",
        recording.periods(),
        recording.complete_decisions(),
        recording.cpus.len(),
        recording.governor.as_deref().unwrap_or("an unknown governor"),
        file.len()
    );
    let limit = limit.map_or_else(String::new, |limit| format!("; no higher: {limit}"));
    eprintln!("idlelab: fidelity {}{limit}", recording.fidelity);
    report_overhead(&overhead);
    for holder in &recording.circumstances.latency_holders {
        eprintln!("idlelab: warning: wakeup latency is limited: {holder}");
    }
    for note in output::summarise(&recording.notes) {
        eprintln!("idlelab: note: {note}");
    }
    let blind = recording
        .notes
        .iter()
        .any(|note| matches!(note.kind, NoteKind::UntracedIdle | NoteKind::NoIdleEvents));
    if blind {
        eprintln!(
            "idlelab: warning: this kernel's tracer is blind on a CPU; what the recording says \
             holds for the others alone"
        );
    }
    if let Some(status) = command_status.filter(|status| !status.success()) {
        eprintln!("idlelab: warning: the command ended with {status}");
    }
    Ok(Trust::Sound)
}

fn report_overhead(overhead: &Overhead) {
    let per_event = overhead.per_event.map_or_else(String::new, |cost| {
        format!(", {} ns an event as measured before", cost.as_nanos())
    });
    eprintln!(
        "idlelab: overhead {:.2} % of {} CPUs in {:.2} s: the recorder {:.1} ms, {} events{per_event}; \
         {} bytes of pages",
        overhead.share() * 100.0,
        overhead.cpus,
        overhead.elapsed.as_secs_f64(),
        overhead.recorder.as_secs_f64() * 1e3,
        overhead.events,
        overhead.bytes
    );
}

pub(crate) fn restore(_: &Restore) -> Result<Trust> {
    match Journal::restore(&state_folder())? {
        Restored::Nothing => eprintln!("idlelab: nothing to undo"),
        Restored::Rebooted => {
            eprintln!("idlelab: the machine was started anew since; nothing is left to undo");
        }
        Restored::Undone(changes) => {
            for change in changes {
                eprintln!("idlelab: undone: {change}");
            }
        }
    }
    Ok(Trust::Sound)
}
