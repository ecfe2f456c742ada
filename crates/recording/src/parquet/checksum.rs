// SPDX-License-Identifier: GPL-2.0-or-later
//! Parquet pages need no checksum, and a flipped bit in a time would go unseen. So the CRC-32 of
//! all that stands before the footer, and of the metadata, is written beside them.

use std::io::{self, Write};

use ::parquet::file::metadata::KeyValue;
use crc32fast::Hasher;

/// The metadata entry that holds the checksum, as eight hexadecimal digits.
pub(super) const KEY: &str = "idlelab.checksum";

/// A sink that sums up what goes through it.
pub(super) struct Summed<W> {
    sink: W,
    content: Hasher,
}

impl<W> Summed<W> {
    pub(super) fn new(sink: W) -> Self {
        Self { sink, content: Hasher::new() }
    }

    /// Of what has been written so far.
    pub(super) fn content(&self) -> Hasher {
        self.content.clone()
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.content.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Adds the metadata to the content's sum: each key and value, ended by a zero byte.
pub(super) fn with_metadata(mut content: Hasher, entries: &[KeyValue]) -> u32 {
    for entry in entries.iter().filter(|entry| entry.key != KEY) {
        for text in [&entry.key, entry.value.as_ref().unwrap_or(&String::new())] {
            content.update(text.as_bytes());
            content.update(&[0]);
        }
    }
    content.finalize()
}
