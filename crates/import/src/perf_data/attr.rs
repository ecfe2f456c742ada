// SPDX-License-Identifier: GPL-2.0-or-later
//! What an event of perf was opened with (`struct perf_event_attr`), and how its samples are laid
//! out by it.
//!
//! Meanings and positions are those of `include/uapi/linux/perf_event.h`.

use crate::bytes::{ByteOrder, Bytes};

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;

/// Bits of `sample_type`.
mod sample {
    pub(super) const IP: u64 = 1;
    pub(super) const TID: u64 = 1 << 1;
    pub(super) const TIME: u64 = 1 << 2;
    pub(super) const ADDR: u64 = 1 << 3;
    pub(super) const READ: u64 = 1 << 4;
    pub(super) const CALLCHAIN: u64 = 1 << 5;
    pub(super) const ID: u64 = 1 << 6;
    pub(super) const CPU: u64 = 1 << 7;
    pub(super) const PERIOD: u64 = 1 << 8;
    pub(super) const STREAM_ID: u64 = 1 << 9;
    pub(super) const RAW: u64 = 1 << 10;
    pub(super) const IDENTIFIER: u64 = 1 << 16;
}

/// Bits of `read_format`.
mod read {
    pub(super) const TIME_ENABLED: u64 = 1;
    pub(super) const TIME_RUNNING: u64 = 1 << 1;
    pub(super) const ID: u64 = 1 << 2;
    pub(super) const GROUP: u64 = 1 << 3;
    pub(super) const LOST: u64 = 1 << 4;
}

/// Numbers of flags, which are one-bit fields: their place in a byte depends on the byte order.
mod flag {
    pub(super) const SAMPLE_ID_ALL: usize = 18;
    pub(super) const USE_CLOCKID: usize = 25;
}

/// The fields that are read, of 64 bytes at least (`PERF_ATTR_SIZE_VER0`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attr {
    kind: u32,
    layout: Layout,
    /// `clockid`, if the event does not use perf's own clock.
    pub(super) clock: Option<u32>,
}

/// What a record of an event consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    sample_type: u64,
    read_format: u64,
    sample_id_all: bool,
}

/// What a sample tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample<'a> {
    pub(super) id: Option<u64>,
    pub(super) time: u64,
    pub(super) cpu: u32,
    /// The tracepoint's record.
    pub(super) raw: &'a [u8],
}

impl Attr {
    /// Reads an attribute; also gives its size, which it tells itself: newer kernels have larger
    /// ones, whose tail is of no interest.
    pub(super) fn parse(bytes: &[u8], order: ByteOrder) -> Option<(Self, u64)> {
        let mut from = Bytes::new(bytes, order);
        let kind = from.u32()?;
        let size = from.u32()?;
        let _config = from.u64()?;
        let _period = from.u64()?;
        let sample_type = from.u64()?;
        let read_format = from.u64()?;
        let flags = from.take(8)?;
        let flag = |number: usize| {
            let bit = match order {
                ByteOrder::Little => number % 8,
                ByteOrder::Big => 7 - number % 8,
            };
            flags.get(number / 8).is_some_and(|byte| byte >> bit & 1 != 0)
        };
        let clock = bytes.get(92..).and_then(|bytes| order.u32(bytes));
        let layout = Layout { sample_type, read_format, sample_id_all: flag(flag::SAMPLE_ID_ALL) };
        let clock = clock.filter(|_| flag(flag::USE_CLOCKID) && size >= 96);
        Some((Self { kind, layout, clock }, size.into()))
    }

    /// How its samples are laid out.
    pub(super) const fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) const fn is_tracepoint(&self) -> bool {
        self.kind == TRACEPOINT
    }
}

impl Layout {
    /// Reads a sample; none if it lacks time, CPU or a tracepoint's record.
    #[inline]
    pub(super) fn sample<'a>(&self, body: &'a [u8], order: ByteOrder) -> Option<Sample<'a>> {
        let mut from = Bytes::new(body, order);
        let has = |bit| self.sample_type & bit != 0;
        let mut id = if has(sample::IDENTIFIER) { Some(from.u64()?) } else { None };
        for bit in [sample::IP, sample::TID] {
            if has(bit) {
                from.take(8)?;
            }
        }
        let time = if has(sample::TIME) { Some(from.u64()?) } else { None };
        if has(sample::ADDR) {
            from.take(8)?;
        }
        if has(sample::ID) {
            id = Some(from.u64()?);
        }
        if has(sample::STREAM_ID) {
            from.take(8)?;
        }
        let mut cpu = None;
        if has(sample::CPU) {
            cpu = Some(from.u32()?);
            from.take(4)?;
        }
        if has(sample::PERIOD) {
            from.take(8)?;
        }
        if has(sample::READ) {
            self.skip_read(&mut from)?;
        }
        if has(sample::CALLCHAIN) {
            let callers = from.u64()?;
            from.take(callers.checked_mul(8)?)?;
        }
        if !has(sample::RAW) {
            return None;
        }
        let size = from.u32()?;
        Some(Sample { id, time: time?, cpu: cpu?, raw: from.take(size.into())? })
    }

    /// Skips the counts of the event, or of its group.
    fn skip_read(&self, from: &mut Bytes<'_>) -> Option<()> {
        let count = |bits: u64| u64::from((self.read_format & bits).count_ones());
        let times = count(read::TIME_ENABLED | read::TIME_RUNNING);
        let of_each = 1 + count(read::ID | read::LOST);
        let events = if self.read_format & read::GROUP != 0 { from.u64()? } else { 1 };
        from.take(of_each.checked_mul(events)?.checked_add(times)?.checked_mul(8)?)?;
        Some(())
    }

    /// The CPU that is told at the end of a record that is no sample (`struct sample_id`), and the
    /// time.
    pub(super) fn end(&self, body: &[u8], order: ByteOrder) -> Option<(u32, Option<u64>)> {
        if !self.sample_id_all {
            return None;
        }
        let has = |bit| self.sample_type & bit != 0;
        let fields = [
            sample::TID,
            sample::TIME,
            sample::ID,
            sample::STREAM_ID,
            sample::CPU,
            sample::IDENTIFIER,
        ];
        let size = 8 * fields.into_iter().filter(|&field| has(field)).count();
        let mut from = Bytes::new(body.get(body.len().checked_sub(size)?..)?, order);
        let mut time = None;
        for field in fields.into_iter().filter(|&field| has(field)) {
            match field {
                sample::TIME => time = Some(from.u64()?),
                sample::CPU => return Some((from.u32()?, time)),
                _ => {
                    from.take(8)?;
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(sample_type: u64, read_format: u64) -> Layout {
        Layout { sample_type, read_format, sample_id_all: true }
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// `perf record -e '{a,b}:S'`: a group's counts stand before the record.
    #[test]
    fn a_sample_of_a_group_is_read_beyond_its_counts() {
        let bits = sample::TIME | sample::CPU | sample::READ | sample::RAW | sample::IDENTIFIER;
        // identifier, time, CPU 3, two events with value and id each, raw of four bytes
        let mut body = words(&[77, 5_000, 3, 2, 10, 77, 11, 78]);
        body.extend_from_slice(&[4, 0, 0, 0, 1, 2, 3, 4]);
        let sample = layout(bits, read::GROUP | read::ID).sample(&body, ByteOrder::Little);
        let expected = Sample { id: Some(77), time: 5_000, cpu: 3, raw: &[1, 2, 3, 4] };
        assert_eq!(sample, Some(expected));
        assert_eq!(layout(bits, read::GROUP).sample(&body[..40], ByteOrder::Little), None);
    }

    #[test]
    fn a_record_that_is_no_sample_ends_with_time_and_cpu() {
        let bits = sample::TID | sample::TIME | sample::CPU | sample::IDENTIFIER;
        let body = words(&[9, 9, 1, 42, 7, 77]);
        assert_eq!(layout(bits, 0).end(&body, ByteOrder::Little), Some((7, Some(42))));
        assert_eq!(layout(bits, 0).end(&body[..16], ByteOrder::Little), None);
    }

    /// Bit 18 is the third of its byte from the low end, on a big-endian machine from the high end.
    #[test]
    fn flags_are_found_in_either_byte_order() {
        let mut little = [0; 96];
        little[4] = 96;
        little[42] = 1 << 2;
        little[43] = 1 << 1;
        little[92] = 1;
        let (attr, size) = Attr::parse(&little, ByteOrder::Little).unwrap();
        assert_eq!((attr.layout.sample_id_all, attr.clock, size), (true, Some(1), 96));
        let mut big = [0; 96];
        big[7] = 96;
        big[42] = 1 << 5;
        big[43] = 1 << 6;
        big[95] = 1;
        let (attr, size) = Attr::parse(&big, ByteOrder::Big).unwrap();
        assert_eq!((attr.layout.sample_id_all, attr.clock, size), (true, Some(1), 96));
    }
}
