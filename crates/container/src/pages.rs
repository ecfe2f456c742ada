// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether the pages of a column can be as large as they say.
//!
//! The Parquet library makes room for what a page's header claims it unpacks to before it unpacks
//! it. So the headers are looked through before the column is handed over.

use crate::thrift::Walk;

/// Fields of a page's header.
const UNPACKED_SIZE: u64 = 2;
const PACKED_SIZE: u64 = 3;

/// How many bytes Snappy can make of one: its densest element copies 64 bytes by three.
const MOST_PER_BYTE: usize = 22;

/// Whether the bytes of a column are pages, none of which claims to unpack to more than it can.
pub(crate) fn are_sound(column: &[u8]) -> bool {
    let mut walk = Walk { bytes: column };
    while !walk.bytes.is_empty() {
        if page(&mut walk).is_none() {
            return false;
        }
    }
    true
}

fn page(walk: &mut Walk<'_>) -> Option<()> {
    let (mut unpacked, mut packed) = (None, None);
    walk.integers(|field, value| match field {
        UNPACKED_SIZE => unpacked = usize::try_from(value).ok(),
        PACKED_SIZE => packed = usize::try_from(value).ok(),
        _ => {}
    })?;
    let (unpacked, packed) = (unpacked?, packed?);
    walk.skip(packed)?;
    (unpacked <= packed.saturating_mul(MOST_PER_BYTE)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers by hand: field 1 the type, 2 and 3 the sizes, in zigzag; two bytes of data.
    #[test]
    fn a_page_unpacks_to_no_more_than_its_bytes_allow() {
        let page = |unpacked| [0x15, 0x00, 0x15, unpacked, 0x15, 0x04, 0x00, 9, 9];
        assert!(are_sound(&[page(8), page(4)].concat()));
        assert!(are_sound(&page(2 * 44)));
        assert!(!are_sound(&page(2 * 45)));
        // A size below nil, and data that ends early.
        assert!(!are_sound(&page(1)));
        assert!(!are_sound(&page(4)[..8]));
        assert!(!are_sound(&[0x15, 0x00, 0x15, 0x04, 0x00]));
    }
}
