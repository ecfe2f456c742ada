// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the footer is, and whether its lists are as long as it can hold.
//!
//! The Parquet library makes room for as many row groups as a footer claims before it reads them,
//! and a process that cannot get its memory is ended by force. So the footer is walked through
//! before it is handed over.

use crate::Damage;
use crate::thrift::Walk;

/// What a Parquet file begins and ends with.
const MAGIC: &[u8] = b"PAR1";

/// The footer of a file, and the offset at which it begins.
pub(crate) fn find(file: &[u8]) -> Result<(usize, &[u8]), Damage> {
    let (rest, end) = file.split_last_chunk::<8>().ok_or(Damage::NotWhole)?;
    let [a, b, c, d, magic @ ..] = end;
    if magic != MAGIC || !rest.starts_with(MAGIC) {
        return Err(Damage::NotWhole);
    }
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    let at = usize::try_from(length)
        .ok()
        .and_then(|length| rest.len().checked_sub(length))
        .ok_or(Damage::FooterLength { length })?;
    let footer = rest.get(at..).unwrap_or_default();
    let damaged = |reason: &str| Damage::Footer { offset: at, reason: reason.to_owned() };
    Walk { bytes: footer }
        .structure()
        .ok_or_else(|| damaged("it ends within a field, or claims more than it holds"))?;
    Ok((at, footer))
}
