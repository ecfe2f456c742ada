// SPDX-License-Identifier: GPL-2.0-or-later
//! Thrift's compact protocol, in which Parquet has its footer and the headers of its pages.

/// Structs and lists within one another; Parquet's own are some six deep.
const DEEPEST: u32 = 32;

/// A way through a struct of unknown meaning. Each step is `None` at the end of the bytes.
pub(crate) struct Walk<'a> {
    pub(crate) bytes: &'a [u8],
}

impl Walk<'_> {
    /// Goes through a struct to its end.
    pub(crate) fn structure(&mut self) -> Option<()> {
        self.nested(0, |_, _| {})
    }

    /// Goes through a struct to its end, and tells each of its integers by the field's number,
    /// which are all different.
    pub(crate) fn integers(&mut self, told: impl FnMut(u64, i64)) -> Option<()> {
        self.nested(0, told)
    }

    fn nested(&mut self, depth: u32, mut told: impl FnMut(u64, i64)) -> Option<()> {
        let mut last = 0;
        loop {
            let head = self.byte()?;
            let (delta, kind) = (u64::from(head >> 4), head & 0xf);
            if kind == 0 {
                return Some(());
            }
            // A number of its own, where the step does not fit, is signed and in zigzag.
            let field = if delta == 0 { self.number()? >> 1 } else { delta.checked_add(last)? };
            if field <= last && last > 0 {
                return None;
            }
            last = field;
            match kind {
                // A boolean's value is in its kind.
                1 | 2 => {}
                4..=6 => told(field, zigzag(self.number()?)),
                _ => self.value(kind, depth)?,
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
            12 if depth < DEEPEST => self.nested(depth + 1, |_, _| {}),
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

    pub(crate) fn skip(&mut self, length: usize) -> Option<()> {
        self.bytes = self.bytes.get(length..)?;
        Some(())
    }
}

/// Signed numbers are written as 0, -1, 1, -2, …
fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> Option<usize> {
        let mut walk = Walk { bytes };
        walk.structure().map(|()| walk.bytes.len())
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
    fn integers_are_told_by_their_fields() {
        let mut told = Vec::new();
        // Field 1 an i32 of -1, field 3 a boolean, field 20 (a number of its own) an i64 of 300.
        let bytes = [0x15, 0x01, 0x21, 0x06, 0x28, 0xd8, 0x04, 0x00];
        assert_eq!(
            Walk { bytes: &bytes }.integers(|field, value| told.push((field, value))),
            Some(())
        );
        assert_eq!(told, [(1, -1), (20, 300)]);
        // Field 2 twice.
        assert_eq!(walk(&[0x25, 0x02, 0x05, 0x04, 0x02, 0x00]), None);
    }

    #[test]
    fn nesting_has_an_end() {
        assert_eq!(walk(&[0x1c; 10_000]), None);
    }
}
