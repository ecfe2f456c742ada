// SPDX-License-Identifier: GPL-2.0-or-later
//! Standard output, buffered.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::Result;
use idlelab_platform::CpuList;
use idlelab_recording::{Note, NoteKind};
use idlelab_states::CpuId;
use serde::Serialize;

pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Prints one JSON document.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    write_json(value, &mut stdout())
}

/// Writes one JSON document.
pub(crate) fn write_json(value: &impl Serialize, out: &mut impl Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Prints rows as CSV, with a header from the fields' names.
pub(crate) fn csv<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<()> {
    write_csv(rows, &mut stdout())
}

/// Writes rows as CSV, with a header from the fields' names.
pub(crate) fn write_csv<T: Serialize>(
    rows: impl IntoIterator<Item = T>,
    out: &mut impl Write,
) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        writer.serialize(row).map_err(as_io)?;
    }
    writer.flush()?;
    Ok(())
}

/// A line for each kind of note, all CPUs together, what matters most first.
pub(crate) fn summarise(notes: &[Note]) -> Vec<String> {
    let mut kinds: BTreeMap<NoteKind, (u64, Vec<CpuId>)> = BTreeMap::new();
    for note in notes {
        let (count, cpus) = kinds.entry(note.kind).or_default();
        *count += note.count;
        cpus.extend(note.cpu);
    }
    let line = |(kind, (count, cpus)): (NoteKind, (u64, Vec<CpuId>))| {
        let cpus: CpuList = cpus.into_iter().collect();
        let of = if cpus.is_empty() { String::new() } else { format!(" (cpu {cpus})") };
        format!("{:<10}{count} {kind}{of}", kind.severity())
    };
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(kind, _)| Reverse(kind.severity()));
    kinds.into_iter().map(line).collect()
}

/// Takes the system's error out, so that a closed pipe is seen as one.
fn as_io(error: csv::Error) -> io::Error {
    io::Error::from(error)
}
