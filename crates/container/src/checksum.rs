// SPDX-License-Identifier: GPL-2.0-or-later
//! Parquet pages need no checksum, and a flipped bit in a time would go unseen. So the CRC-32 of
//! the whole file stands in its metadata: the sum of the file with eight zeros in the place of the
//! sum's own digits.

use std::io::{self, Write};

use crc32fast::Hasher;

/// The metadata entry that holds the checksum, as eight hexadecimal digits.
pub(crate) const KEY: &str = "idlelab.checksum";

/// What stands in the place of the sum while it is made.
pub(crate) const BLANK: &str = "00000000";

/// What follows the key in the footer: in Thrift's compact protocol, a string of eight bytes.
const EIGHT_BYTES: [u8; 2] = [0x18, 8];

/// A sink that sums up what goes through it, and holds the footer back until the sum is known.
pub struct Summed<W> {
    sink: W,
    content: Hasher,
    footer: Option<Vec<u8>>,
}

impl<W: Write> Summed<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self { sink, content: Hasher::new(), footer: None }
    }

    /// All that follows is the footer.
    pub(crate) fn hold_footer(&mut self) {
        self.footer = Some(Vec::new());
    }

    /// Puts the sum in its place and lets the footer go.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let mut footer = self.footer.unwrap_or_default();
        self.content.update(&footer);
        let sum = format!("{:08x}", self.content.finalize());
        let place = place(&footer).and_then(|at| footer.get_mut(at..at + BLANK.len()));
        match place {
            Some(place) => place.copy_from_slice(sum.as_bytes()),
            None => return Err(io::Error::other("the footer has no place for its checksum")),
        }
        self.sink.write_all(&footer)?;
        self.sink.flush()
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(footer) = &mut self.footer {
            return footer.write(bytes);
        }
        let written = self.sink.write(bytes)?;
        self.content.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// The sum as written and as it is now, of a file whose footer begins at `footer_at`; none if it
/// holds no sum.
pub(crate) fn of_file(file: &[u8], footer_at: usize) -> Option<(u32, u32)> {
    let at = footer_at + place(file.get(footer_at..)?)?;
    let digits = file.get(at..at + BLANK.len())?;
    let written = u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    let mut sum = Hasher::new();
    sum.update(file.get(..at)?);
    sum.update(BLANK.as_bytes());
    sum.update(file.get(at + BLANK.len()..)?);
    Some((written, sum.finalize()))
}

/// Where the digits are in a footer.
fn place(footer: &[u8]) -> Option<usize> {
    let mark = [KEY.as_bytes(), &EIGHT_BYTES].concat();
    let at = footer.windows(mark.len()).rposition(|bytes| bytes == mark)?;
    Some(at + mark.len())
}
