// SPDX-License-Identifier: GPL-2.0-or-later
//! Compressed parts of the file.

use std::io::Read;

use flate2::read::ZlibDecoder;
use zstd::bulk::Decompressor;

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
}

/// Unpacks compressed parts.
#[derive(Default)]
pub(super) struct Unpacker {
    /// Made once, since making it costs more than a small part does.
    zstd: Option<Decompressor<'static>>,
}

impl Unpacker {
    /// Unpacks `packed` into `unpacked`, which then holds `size` bytes. None if it yields less, or
    /// if zstd yields more. The caller bounds `size`.
    pub(super) fn unpack(
        &mut self,
        method: &Compression,
        packed: &[u8],
        size: usize,
        unpacked: &mut Vec<u8>,
    ) -> Option<()> {
        unpacked.clear();
        match method {
            Compression::None | Compression::Other(_) => return None,
            Compression::Zlib => {
                ZlibDecoder::new(packed).take(size as u64).read_to_end(unpacked).ok()?;
            }
            Compression::Zstd => {
                // It fills what room there is; the room is paid for when it is filled.
                unpacked.reserve_exact(size);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(Decompressor::new().ok()?),
                };
                zstd.decompress_to_buffer(packed, unpacked).ok()?;
            }
        }
        (unpacked.len() == size).then_some(())
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
        let mut unpacker = Unpacker::default();
        for (method, packed) in [(Compression::Zlib, ZLIB), (Compression::Zstd, ZSTD)] {
            let mut unpack = |packed: &[u8], size| {
                let mut out = Vec::new();
                unpacker.unpack(&method, packed, size, &mut out).map(|()| out)
            };
            assert_eq!(unpack(packed, 12).as_deref(), Some(&b"idleidleidle"[..]), "{method:?}");
            assert_eq!(unpack(packed, 1 << 20), None);
            assert_eq!(unpack(&packed[..6], 12), None);
        }
        assert_eq!(unpacker.unpack(&Compression::None, ZLIB, 12, &mut Vec::new()), None);
    }
}
