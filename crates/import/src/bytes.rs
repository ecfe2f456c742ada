// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers in bytes, in either order.

/// The order of a number's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The number in the first two bytes.
    #[inline]
    pub(crate) fn u16(self, bytes: &[u8]) -> Option<u16> {
        let bytes = *bytes.first_chunk()?;
        Some(match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        })
    }

    /// The number in the first four bytes.
    #[inline]
    pub(crate) fn u32(self, bytes: &[u8]) -> Option<u32> {
        let bytes = *bytes.first_chunk()?;
        Some(match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        })
    }

    /// The number in the first eight bytes.
    #[inline]
    pub(crate) fn u64(self, bytes: &[u8]) -> Option<u64> {
        let bytes = *bytes.first_chunk()?;
        Some(match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        })
    }
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    pub(crate) rest: &'a [u8],
    pub(crate) order: ByteOrder,
}

impl<'a> Bytes<'a> {
    pub(crate) const fn new(rest: &'a [u8], order: ByteOrder) -> Self {
        Self { rest, order }
    }

    /// The next `count` bytes, if there are as many.
    pub(crate) fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let order = self.order;
        order.u16(self.take(2)?)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let order = self.order;
        order.u32(self.take(4)?)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        let order = self.order;
        order.u64(self.take(8)?)
    }

    /// The text up to the next NUL, which is skipped.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.rest)?;
        let text = self.rest.get(..end)?;
        self.rest = self.rest.get(end + 1..)?;
        Some(text)
    }

    /// As many bytes as the 64-bit number before them says.
    pub(crate) fn sized(&mut self) -> Option<&'a [u8]> {
        let size = self.u64()?;
        self.take(size)
    }
}
