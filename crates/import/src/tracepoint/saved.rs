// SPDX-License-Identifier: GPL-2.0-or-later
//! What a recording tool saves of tracefs, in the order that trace-cmd gave it: the same in a
//! trace.dat of version 6 and in perf's tracing data.
//!
//! ```text
//!  header_page, header_event     what a page of the ring buffer is like
//!  ftrace's own formats          of tracers; idle states are in none of them
//!  formats by system             of events
//!  kallsyms, printk formats      names behind addresses
//! ```

use std::collections::HashMap;

use super::{Format, Names, Symbols};
use crate::bytes::Bytes;

/// The parts of it.
pub(crate) struct Saved<'a> {
    /// The text of `events/header_page`.
    pub(crate) header_page: &'a [u8],
    pub(crate) formats: Vec<Format>,
    pub(crate) names: Names,
}

impl<'a> Saved<'a> {
    /// Reads all parts; `expected` is what comes next, for a complaint if there is nothing.
    pub(crate) fn read(bytes: &mut Bytes<'a>, expected: &mut &'static str) -> Option<Self> {
        *expected = "the description of ring-buffer pages (events/header_page)";
        let header_page = header_page(bytes)?;
        *expected = "the descriptions of ftrace's own events";
        for _ in 0..bytes.u32()? {
            bytes.sized()?;
        }
        *expected = "the descriptions of events (events/*/*/format)";
        let formats = formats(bytes)?;
        *expected = "the kernel's symbols";
        let symbols = Symbols::parse(block(bytes)?);
        *expected = "the kernel's strings";
        let strings = strings(block(bytes)?);
        Some(Self { header_page, formats, names: Names { symbols, strings } })
    }
}

/// The text of `header_page`; that of `header_event`, which tells nothing more, is skipped.
pub(crate) fn header_page<'a>(bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
    if bytes.take(12)? != b"header_page\0" {
        return None;
    }
    let text = bytes.sized()?;
    if bytes.take(13)? != b"header_event\0" {
        return None;
    }
    bytes.sized()?;
    Some(text)
}

/// The descriptions of all systems' events.
pub(crate) fn formats(bytes: &mut Bytes<'_>) -> Option<Vec<Format>> {
    let mut formats = Vec::new();
    for _ in 0..bytes.u32()? {
        bytes.text()?;
        for _ in 0..bytes.u32()? {
            formats.push(Format::parse(bytes.sized()?));
        }
    }
    Some(formats)
}

/// As many bytes as the 32-bit number before them says.
pub(crate) fn block<'a>(bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let size = bytes.u32()?;
    bytes.take(u64::from(size))
}

/// The kernel's strings by address, from lines such as `0xffffffff8260d1d8 : "machine_suspend"`.
pub(crate) fn strings(text: &[u8]) -> HashMap<u64, Box<[u8]>> {
    let line = |line: &[u8]| {
        let line = line.strip_prefix(b"0x")?;
        let end = memchr::memchr(b' ', line)?;
        let address = u64::from_str_radix(str::from_utf8(line.get(..end)?).ok()?, 16).ok()?;
        let string = line.get(end..)?.strip_prefix(b" : \"")?.strip_suffix(b"\"")?;
        Some((address, string.into()))
    };
    text.split(|&byte| byte == b'\n').filter_map(line).collect()
}
