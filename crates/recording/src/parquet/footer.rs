// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the footer is, and whether its lists are as long as it can hold.
//!
//! The Parquet library makes room for as many row groups as a footer claims before it reads them,
//! and a process that cannot get its memory is ended by force. So the footer is walked through
//! before it is handed over: it is a struct of Thrift's compact protocol.

use super::ReadError;

/// What a Parquet file begins and ends with.
const MAGIC: &[u8] = b"PAR1";

/// Structs and lists within one another; Parquet's own are some six deep.
const DEEPEST: u32 = 32;

/// The footer of a file, and the offset at which it begins.
pub(super) fn find(file: &[u8]) -> Result<(usize, &[u8]), ReadError> {
    let (rest, end) = file.split_last_chunk::<8>().ok_or(ReadError::NotWhole)?;
    let [a, b, c, d, magic @ ..] = end;
    if magic != MAGIC || !rest.starts_with(MAGIC) {
        return Err(ReadError::NotWhole);
    }
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    let at = usize::try_from(length)
        .ok()
        .and_then(|length| rest.len().checked_sub(length))
        .ok_or(ReadError::FooterLength { length })?;
    let footer = rest.get(at..).unwrap_or_default();
    let damaged = |reason: &str| ReadError::Footer { offset: at, reason: reason.to_owned() };
    let mut walk = Walk { bytes: footer };
    walk.structure(0)
        .ok_or_else(|| damaged("it ends within a field, or claims more than it holds"))?;
    Ok((at, footer))
}

/// A way through a struct of unknown meaning. Each step is `None` at the end of the bytes.
struct Walk<'a> {
    bytes: &'a [u8],
}

impl Walk<'_> {
    fn structure(&mut self, depth: u32) -> Option<()> {
        loop {
            let field = self.byte()?;
            let (delta, kind) = (field >> 4, field & 0xf);
            if kind == 0 {
                return Some(());
            }
            if delta == 0 {
                self.number()?;
            }
            // A boolean's value is in its kind.
            if !matches!(kind, 1 | 2) {
                self.value(kind, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(usize::try_from(length).ok()?)
            }
            9 | 10 if depth < DEEPEST => self.list(depth + 1),
            12 if depth < DEEPEST => self.structure(depth + 1),
            // Maps are legal, but Parquet has none.
            _ => None,
        }
    }

    fn list(&mut self, depth: u32) -> Option<()> {
        let head = self.byte()?;
        let items = match head >> 4 {
            15 => self.number()?,
            few => u64::from(few),
        };
        // An item takes one byte at least.
        if items > self.bytes.len() as u64 {
            return None;
        }
        (0..items).try_for_each(|_| self.value(head & 0xf, depth))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.bytes = self.bytes.get(length..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> Option<usize> {
        let mut walk = Walk { bytes };
        walk.structure(0).map(|()| walk.bytes.len())
    }

    /// Written by hand after the Thrift compact protocol's specification.
    #[test]
    fn structs_are_walked_to_their_end() {
        // Field 1 an i32 of 1, field 3 a string of two bytes, stop; two bytes are left.
        assert_eq!(walk(&[0x15, 0x02, 0x28, 0x02, b'h', b'i', 0x00, 9, 9]), Some(2));
        // Field 1 a list of two structs: an empty one, and one of a boolean.
        assert_eq!(walk(&[0x19, 0x2c, 0x00, 0x11, 0x00, 0x00]), Some(0));
        // A string longer than the bytes.
        assert_eq!(walk(&[0x18, 0x7f, b'h', 0x00]), None);
        assert_eq!(walk(&[0x15]), None);
    }

    #[test]
    fn a_list_cannot_be_longer_than_the_bytes() {
        // Field 4 a list of 2^31 - 1 structs.
        assert_eq!(walk(&[0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00, 0x00]), None);
    }

    #[test]
    fn nesting_has_an_end() {
        assert_eq!(walk(&[0x1c; 10_000]), None);
    }
}
