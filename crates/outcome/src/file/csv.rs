// SPDX-License-Identifier: GPL-2.0-or-later
//! CSV with a line for each idle state.

use super::row::{Gather, Row, Totals};
use super::{FromFile, Note, ReadError};

/// Whether the first line is the header of such a file.
pub(super) fn is_rows(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let has = |name: &str| first.split(',').any(|column| column.trim_matches('"') == name);
    (has("bench") || has("label")) && has("cpu") && has("usage")
}

pub(super) fn read(text: &str, name: &str) -> Result<FromFile, ReadError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(name, &error))?.clone();
    if !header.iter().any(|column| column == "bench") {
        return Err(ReadError::value(
            name,
            1,
            "CSV of `idlelab count` holds sums beside their parts and not the whole outcome; give \
             what `idlelab count --format json` prints",
        ));
    }
    let last_line = text.lines().count();
    let mut read = FromFile::default();
    let given = header.iter().any(|column| column == "idles");
    let mut gather = Gather::new(if given { Totals::Given } else { Totals::SumOfStates });
    let mut record = csv::StringRecord::new();
    let cut = |line, cells| Note {
        line: Some(line),
        text: format!("is cut off: left out with its {cells} of {} values", header.len()),
    };
    while reader.read_record(&mut record).map_err(|error| wrong(name, &error))? {
        let line = record.position().map_or(0, |at| usize::try_from(at.line()).unwrap_or(0));
        // Files are put together by cat.
        if record == header {
            continue;
        }
        if record.len() != header.len() {
            if record.len() < header.len() && line >= last_line {
                read.notes.push(cut(line, record.len()));
                break;
            }
            let (found, expected) = (record.len(), header.len());
            let reason = format!("has {found} values; the header has {expected} columns");
            return Err(ReadError::value(name, line, reason));
        }
        let row: Row = record.deserialize(Some(&header)).map_err(|error| wrong(name, &error))?;
        let figures = [row.measured_joules, row.modelled_joules, row.regret_joules];
        if figures.iter().flatten().any(|figure| !figure.is_finite()) {
            return Err(ReadError::value(name, line, "an energy is no finite number of joules"));
        }
        gather.add(line, row).map_err(|(line, reason)| ReadError::value(name, line, reason))?;
    }
    if !text.ends_with('\n') && read.notes.is_empty() {
        let text = "has no line end: its last value may be cut off".to_owned();
        read.notes.push(Note { line: Some(last_line), text });
    }
    read.outcomes =
        gather.finish().map_err(|(line, reason)| ReadError::value(name, line, reason))?;
    Ok(read)
}

fn wrong(name: &str, error: &csv::Error) -> ReadError {
    let line = error.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
    let reason = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        _ => error.to_string(),
    };
    ReadError::value(name, line, reason)
}
