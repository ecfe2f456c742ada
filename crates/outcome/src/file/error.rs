// SPDX-License-Identifier: GPL-2.0-or-later
use std::io;

use thiserror::Error;

/// The most characters of a line that an error repeats.
const SHOWN: usize = 60;

/// Why a file's outcomes cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("{name}: cannot be read")]
    Unreadable {
        /// The file.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing in it is an outcome.
    #[error(
        "{name}: no outcome found ({seen}); expected JSON or CSV as idlelab prints them, or a \
         table with a header such as `gov iter Joules idles idle_misses belows aboves`"
    )]
    Nothing {
        /// The file.
        name: String,
        /// What is there instead.
        seen: String,
    },
    /// A binary file is damaged, or of something else.
    #[error("{name}: {reason}")]
    File {
        /// The file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A value is not what it should be.
    #[error("{name}:{line}: {reason}")]
    Value {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
}

impl ReadError {
    pub(super) fn value(name: &str, line: usize, reason: impl Into<String>) -> Self {
        Self::Value { name: name.to_owned(), line, reason: reason.into() }
    }

    pub(super) fn nothing(name: &str, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let first = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty());
        let seen = first.map_or_else(
            || "it is empty".to_owned(),
            |(at, line)| {
                let mut shown: String = line.trim().chars().take(SHOWN).collect();
                if shown.len() < line.trim().len() {
                    shown.push_str("...");
                }
                format!("line {} is {shown:?}", at + 1)
            },
        );
        Self::Nothing { name: name.to_owned(), seen }
    }
}
