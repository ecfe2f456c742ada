// SPDX-License-Identifier: GPL-2.0-or-later
//! Where members of the kernel's structures are, by its own type information (BTF).
//!
//! ```text
//!  header │ types: name, info, size or type, then what the kind adds │ strings
//! ```

use std::ops::Range;

const MAGIC: u16 = 0xeb9f;

const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// BTF as `/sys/kernel/btf/vmlinux` has it.
pub(crate) struct Btf<'a> {
    types: &'a [u8],
    strings: &'a [u8],
}

impl<'a> Btf<'a> {
    /// Finds the parts; none if these bytes are no BTF of this machine's byte order.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let magic = u16::from_ne_bytes(*bytes.first_chunk()?);
        if magic != MAGIC {
            return None;
        }
        let number = |at: usize| word(bytes, at).and_then(|word| usize::try_from(word).ok());
        let header = number(4)?;
        let part = |offset: usize, length: usize| -> Option<Range<usize>> {
            let start = header.checked_add(number(offset)?)?;
            Some(start..start.checked_add(number(length)?)?)
        };
        Some(Self { types: bytes.get(part(8, 12)?)?, strings: bytes.get(part(16, 20)?)? })
    }

    /// Where a member of a structure begins, in bits.
    pub(crate) fn bit_offset(&self, structure: &str, member: &str) -> Option<u32> {
        let mut at = 0;
        loop {
            let info = word(self.types, at + 4)?;
            let (kind, count) = ((info >> 24) & 0x1f, (info & 0xffff) as usize);
            let members = at + 12;
            if kind == STRUCT && self.name(word(self.types, at)?) == Some(structure.as_bytes()) {
                let is_bit_field = info >> 31 == 1;
                return (0..count).find_map(|number| {
                    let at = members + 12 * number;
                    let name = self.name(word(self.types, at)?)?;
                    let offset = word(self.types, at + 8)?;
                    // With bit fields in it, the upper byte is the member's width.
                    let offset = if is_bit_field { offset & 0x00ff_ffff } else { offset };
                    (name == member.as_bytes()).then_some(offset)
                });
            }
            at = members + added(kind, count)?;
        }
    }

    fn name(&self, offset: u32) -> Option<&'a [u8]> {
        let strings = self.strings.get(usize::try_from(offset).ok()?..)?;
        strings.split(|&byte| byte == 0).next()
    }
}

/// How many bytes stand behind a type of this kind; none if the kind is not known.
fn added(kind: u32, count: usize) -> Option<usize> {
    Some(match kind {
        // Pointer, forward, typedef, volatile, const, restrict, function, float, type tag.
        2 | 7..=12 | 16 | 18 => 0,
        // Integer, variable, declaration tag.
        1 | 14 | 17 => 4,
        // Array.
        3 => 12,
        STRUCT | UNION => 12 * count,
        // Enumeration, function prototype.
        6 | 13 => 8 * count,
        // Data section, 64-bit enumeration.
        15 | 19 => 12 * count,
        _ => return None,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integer, then `struct dev { unsigned registered:1, enabled:1, limit:1; u64 last @ 24; }`.
    fn btf() -> Vec<u8> {
        let strings = b"\0u32\0dev\0registered\0enabled\0limit\0last\0";
        let at = |name: &str| {
            let find = |window: &[u8]| window == name.as_bytes();
            u32::try_from(strings.windows(name.len()).position(find).unwrap()).unwrap()
        };
        let mut types: Vec<u32> = vec![at("u32"), 1 << 24, 4, 32];
        types.extend([at("dev"), 1 << 31 | STRUCT << 24 | 4, 32]);
        types.extend([at("registered"), 1, 1 << 24]);
        types.extend([at("enabled"), 1, 1 << 24 | 1]);
        types.extend([at("limit"), 1, 1 << 24 | 2]);
        types.extend([at("last"), 1, 192]);
        let types: Vec<u8> = types.into_iter().flat_map(u32::to_ne_bytes).collect();
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        let lengths = [24, 0, types.len(), types.len(), strings.len()];
        bytes.extend(lengths.into_iter().flat_map(|n| u32::try_from(n).unwrap().to_ne_bytes()));
        bytes.extend(&types);
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn members_are_found_in_bits_from_the_start() {
        let bytes = btf();
        let btf = Btf::parse(&bytes).unwrap();
        assert_eq!(btf.bit_offset("dev", "limit"), Some(2));
        assert_eq!(btf.bit_offset("dev", "last"), Some(192));
        assert_eq!(btf.bit_offset("dev", "absent"), None);
        assert_eq!(btf.bit_offset("absent", "last"), None);
    }

    #[test]
    fn cut_off_anywhere_it_is_no_btf_or_lacks_the_member() {
        let bytes = btf();
        for end in 0..bytes.len() - 1 {
            let found = Btf::parse(&bytes[..end]).and_then(|btf| btf.bit_offset("dev", "last"));
            assert_eq!(found, None, "{end}");
        }
    }
}
