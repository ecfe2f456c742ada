// SPDX-License-Identifier: GPL-2.0-or-later
//! Standard output, buffered.

use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::Result;
use serde::Serialize;

pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Prints one JSON document.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let mut out = stdout();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Prints rows as CSV, with a header from the fields' names.
pub(crate) fn csv<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<()> {
    let mut writer = csv::Writer::from_writer(stdout());
    for row in rows {
        writer.serialize(row).map_err(as_io)?;
    }
    writer.flush()?;
    Ok(())
}

/// Takes the system's error out, so that a closed pipe is seen as one.
fn as_io(error: csv::Error) -> io::Error {
    io::Error::from(error)
}
