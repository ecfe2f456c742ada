// SPDX-License-Identifier: GPL-2.0-or-later
//! The records of a perf.data, one after the other, unpacked where they are packed.

use std::io::{self, Read};

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::bytes::ByteOrder;

/// Type, flags and size of a record.
const HEADER: usize = 8;

/// How much is unpacked at once, in bytes.
const UNPACK: usize = 1 << 17;

/// The largest tracing data that is read, in bytes: descriptions and names.
const LARGEST_TRACING_DATA: u64 = 1 << 28;

/// The numbers of the kinds of records. Those below 64 are the kernel's.
pub(super) mod kind {
    pub(in super::super) const LOST: u32 = 2;
    pub(in super::super) const THROTTLE: u32 = 5;
    pub(in super::super) const SAMPLE: u32 = 9;
    pub(in super::super) const LOST_SAMPLES: u32 = 13;
    pub(in super::super) const HEADER_ATTR: u32 = 64;
    pub(in super::super) const TRACING_DATA: u32 = 66;
    pub(in super::super) const FINISHED_ROUND: u32 = 68;
    pub(super) const AUXTRACE: u32 = 71;
    pub(super) const COMPRESSED: u32 = 81;
    pub(super) const COMPRESSED2: u32 = 83;
}

/// A record: its kind, its flags, and what is in it. That of tracing data is the data itself.
pub(super) struct Record<'a> {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) body: &'a [u8],
}

/// How the records end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As they should.
    Whole,
    /// The file ends within a record.
    Cut,
    /// A record cannot be, and what follows it is not known.
    Damaged,
}

/// The records in `source`.
pub(super) struct Records<R> {
    source: R,
    order: ByteOrder,
    /// How much of the source is left to read, if it does not go on to the file's end.
    left: Option<u64>,
    body: Vec<u8>,
    packed: Vec<u8>,
    packed_at: usize,
    /// Whether the unpacker holds something back for want of room.
    holds_back: bool,
    unpacker: Option<Decoder<'static>>,
    unpacked: Vec<u8>,
    unpacked_at: usize,
    end: End,
}

impl<R: Read> Records<R> {
    /// `length`: of the records, unless they go on to the end of `source`.
    pub(super) fn new(source: R, length: Option<u64>, order: ByteOrder) -> Self {
        Self {
            source,
            order,
            left: length,
            body: Vec::new(),
            packed: Vec::new(),
            packed_at: 0,
            holds_back: false,
            unpacker: None,
            unpacked: Vec::new(),
            unpacked_at: 0,
            end: End::Whole,
        }
    }

    /// How the records ended, once there are no more.
    pub(super) const fn end(&self) -> End {
        self.end
    }

    /// The next record; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        loop {
            if let Some((kind, misc, size)) = self.unpacked_record() {
                let start = self.unpacked_at + HEADER;
                self.unpacked_at += size;
                let body = self.unpacked.get(start..self.unpacked_at).unwrap_or_default();
                return Ok(Some(Record { kind, misc, body }));
            }
            if self.end != End::Whole {
                return Ok(None);
            }
            if self.packed_at < self.packed.len() || self.holds_back {
                if self.unpack().is_err() {
                    self.end = End::Damaged;
                }
                continue;
            }
            let Some((kind, misc)) = self.read()? else { return Ok(None) };
            match kind {
                kind::COMPRESSED => {
                    std::mem::swap(&mut self.packed, &mut self.body);
                    self.packed_at = 0;
                }
                // The size of what is packed, which padding follows.
                kind::COMPRESSED2 => {
                    let size = self.order.u64(&self.body).unwrap_or(0);
                    std::mem::swap(&mut self.packed, &mut self.body);
                    let size = usize::try_from(size).unwrap_or(usize::MAX);
                    self.packed.truncate(size.saturating_add(8));
                    self.packed_at = 8;
                }
                _ => return Ok(Some(Record { kind, misc, body: &self.body })),
            }
        }
    }

    /// The record at the front of what is unpacked, if it is there as a whole.
    fn unpacked_record(&mut self) -> Option<(u32, u16, usize)> {
        let (kind, misc, size) = head(self.unpacked.get(self.unpacked_at..)?, self.order)?;
        if size < HEADER {
            self.end = End::Damaged;
            return None;
        }
        (self.unpacked.len() - self.unpacked_at >= size).then_some((kind, misc, size))
    }

    /// Unpacks a little more.
    fn unpack(&mut self) -> io::Result<()> {
        self.unpacked.drain(..self.unpacked_at);
        self.unpacked_at = 0;
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            unpacker => unpacker.insert(Decoder::new()?),
        };
        let start = self.unpacked.len();
        self.unpacked.resize(start + UNPACK, 0);
        let mut to = OutBuffer::around_pos(self.unpacked.as_mut_slice(), start);
        let mut from = InBuffer::around(self.packed.get(self.packed_at..).unwrap_or_default());
        let unpacked = unpacker.run(&mut from, &mut to);
        let (taken, filled) = (from.pos(), to.pos());
        self.holds_back = filled == self.unpacked.len();
        self.unpacked.truncate(filled);
        self.packed_at += taken;
        unpacked?;
        // Neither taken nor given: it would go on for ever.
        if taken == 0 && filled == start && self.packed_at < self.packed.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }

    /// Reads a record's body from the source; none at its end.
    fn read(&mut self) -> io::Result<Option<(u32, u16)>> {
        self.body.clear();
        let count = self.take(HEADER as u64)?;
        if count == 0 {
            return Ok(None);
        }
        let Some((kind, misc, size)) = head(&self.body, self.order) else {
            self.end = End::Cut;
            return Ok(None);
        };
        let Some(size) = size.checked_sub(HEADER) else {
            self.end = End::Damaged;
            return Ok(None);
        };
        self.body.clear();
        let mut whole = self.take(size as u64)? == size as u64;
        if whole && kind == kind::TRACING_DATA {
            let size = u64::from(self.order.u32(&self.body).unwrap_or(0));
            self.body.clear();
            whole = size <= LARGEST_TRACING_DATA && self.take(size)? == size;
        } else if whole && kind == kind::AUXTRACE {
            let size = self.order.u64(&self.body).unwrap_or(0);
            whole = self.skip(size)? == size;
        }
        if !whole {
            self.end = End::Cut;
            return Ok(None);
        }
        Ok(Some((kind, misc)))
    }

    /// Adds up to `count` bytes to the body; says how many there were.
    fn take(&mut self, count: u64) -> io::Result<u64> {
        let count = count.min(self.left.unwrap_or(u64::MAX));
        let taken = self.source.by_ref().take(count).read_to_end(&mut self.body)? as u64;
        self.left = self.left.map(|left| left.saturating_sub(taken));
        Ok(taken)
    }

    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let count = count.min(self.left.unwrap_or(u64::MAX));
        let skipped = io::copy(&mut self.source.by_ref().take(count), &mut io::sink())?;
        self.left = self.left.map(|left| left.saturating_sub(skipped));
        Ok(skipped)
    }
}

/// Kind, flags and size of the record that begins here.
fn head(bytes: &[u8], order: ByteOrder) -> Option<(u32, u16, usize)> {
    let bytes: &[u8; HEADER] = bytes.first_chunk()?;
    let kind = order.u32(bytes)?;
    let misc = order.u16(bytes.get(4..)?)?;
    let size = order.u16(bytes.get(6..)?)?;
    Some((kind, misc, size.into()))
}
