// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes from files, whatever they are kept in.
//!
//! [`read`] is the one door: it tells by the content what a file is.
//!
//! | content | made by |
//! | --- | --- |
//! | JSON: an outcome, a list of them, or a document that has them as `outcomes` or `counts` | `--format json` |
//! | JSON Lines: one of those a line | a measurement that appends what it has |
//! | CSV with a line for each idle state ([`Row`]) | `idlelab replay --format csv` |
//! | Parquet with a row for each idle state ([`Row`]) | `idlelab replay --format parquet` |
//! | a plain-text table, as pasted into a mail | people |
//!
//! ```
//! let mail = "\
//! > Idle 5 min:
//! > gov   iter  Joules  idles  idle_misses  belows  aboves
//! > teo   0     160.5   8000   500          300     200
//! > menu  0     158.0   9000   900          850     50
//! ";
//! let read = idlelab_outcome::file::read(&mut mail.as_bytes(), "mail.txt")?;
//! let menu = &read.outcomes[1];
//! assert_eq!(menu.governor.as_deref(), Some("menu"));
//! assert_eq!((menu.idles, menu.misses, menu.above), (Some(9_000), Some(900), Some(50)));
//! assert_eq!(menu.workload.as_deref(), Some("Idle 5 min"));
//! assert_eq!(menu.duration_ns, Some(300_000_000_000));
//! # Ok::<(), idlelab_outcome::file::ReadError>(())
//! ```

mod csv;
mod error;
mod json;
mod parquet;
mod row;
mod table;

use std::fmt;
use std::io;

use crate::Outcome;

pub use error::ReadError;
pub use parquet::write as write_parquet;
pub use row::{Row, rows};

/// Outcomes of a file, and what must be known of how they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FromFile {
    /// The outcomes, in the order of the file.
    pub outcomes: Vec<Outcome>,
    /// What was lost, taken to mean something, or left out.
    pub notes: Vec<Note>,
}

/// Something that must be known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line that it is about, from 1; none if it is the whole file.
    pub line: Option<usize>,
    /// A sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Reads outcomes from a file's content. `name` is what errors call the file.
///
/// # Errors
///
/// A source that fails; content in which no outcome is found; JSON, CSV or Parquet that has an
/// outcome's shape and not its values, or is damaged.
pub fn read(source: &mut dyn io::Read, name: &str) -> Result<FromFile, ReadError> {
    let mut bytes = Vec::new();
    source
        .read_to_end(&mut bytes)
        .map_err(|source| ReadError::Unreadable { name: name.to_owned(), source })?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let read = if parquet::is_parquet(bytes) {
        parquet::read(bytes, name)?
    } else if json::is_json(bytes) {
        json::read(bytes, name)?
    } else {
        // Mails come in any encoding, and the words that matter are ASCII.
        let text = String::from_utf8_lossy(bytes);
        if csv::is_rows(&text) { csv::read(&text, name)? } else { table::read(&text) }
    };
    if read.outcomes.is_empty() {
        return Err(ReadError::nothing(name, bytes));
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
