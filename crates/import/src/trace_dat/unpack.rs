// SPDX-License-Identifier: GPL-2.0-or-later
//! Compressed parts of the file.

use std::io::Read;

use flate2::read::ZlibDecoder;
use ruzstd::decoding::StreamingDecoder;

/// How parts of the file are compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    Zstd,
    /// One that idlelab does not know, by the file's name for it.
    Other(String),
}

impl Compression {
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"none" | b"" => Self::None,
            b"zlib" => Self::Zlib,
            b"zstd" => Self::Zstd,
            other => Self::Other(String::from_utf8_lossy(other).into_owned()),
        }
    }

    /// Unpacks `packed` into `unpacked`, which then holds `size` bytes. None if it yields less.
    /// Memory grows with what comes out, never by the number that the file gives.
    pub(super) fn unpack(&self, packed: &[u8], size: u64, unpacked: &mut Vec<u8>) -> Option<()> {
        unpacked.clear();
        match self {
            Self::None | Self::Other(_) => return None,
            Self::Zlib => ZlibDecoder::new(packed).take(size).read_to_end(unpacked).ok()?,
            Self::Zstd => {
                StreamingDecoder::new(packed).ok()?.take(size).read_to_end(unpacked).ok()?
            }
        };
        (unpacked.len() as u64 == size).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `zlib.compress(b"idle" * 3)` of Python, and `printf idleidleidle | zstd`.
    const ZLIB: &[u8] = b"\x78\x9c\xcb\x4c\xc9\x49\xcd\x84\x62\x00\x1f\x9b\x04\xdb";
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x61\x00\x00idleidleidle\x1a\x0c\x42\x02";

    #[test]
    fn no_more_and_no_less_than_said() {
        let mut out = Vec::new();
        for (method, packed) in [(Compression::Zlib, ZLIB), (Compression::Zstd, ZSTD)] {
            assert_eq!(method.unpack(packed, 12, &mut out), Some(()), "{method:?}");
            assert_eq!(out, b"idleidleidle");
            assert_eq!(method.unpack(packed, 4, &mut out), Some(()));
            assert_eq!(out, b"idle");
            assert_eq!(method.unpack(packed, u64::MAX, &mut out), None);
            assert_eq!(method.unpack(&packed[..6], 12, &mut out), None);
        }
        assert_eq!(Compression::of(b"none").unpack(ZLIB, 12, &mut out), None);
    }
}
