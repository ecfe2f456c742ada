// SPDX-License-Identifier: GPL-2.0-or-later
//! The kernel's ring buffer, page by page.
//!
//! ```text
//!  ┌────────────┬────────┬───────────────────────────────────────────┬────────┐
//!  │ time stamp │ commit │ event event …                             │ lost n │
//!  └────────────┴────────┴───────────────────────────────────────────┴────────┘
//!                  │ low bits: bytes of events; bit 31: events were lost before this page;
//!                  │ bit 30: how many stands behind them
//!  event: type 5 bits, time since the event before 27 bits, then
//!    1–28   data of type × 4 bytes
//!    0      length, data
//!    29     padding
//!    30     27 more bits of time
//!    31     an absolute time, of 59 bits
//! ```

use crate::bytes::ByteOrder;
use crate::tracepoint::Format;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

const EVENTS_LOST: u64 = 1 << 31;
const LOST_COUNT_STORED: u64 = 1 << 30;
const COMMITTED_BYTES: u64 = (1 << 27) - 1;

/// The bits that an absolute time lacks, and the event before lends.
const LENT_BITS: u64 = 0xf8 << 56;

/// Where a page has its header's fields, by `events/header_page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    commit: usize,
    /// How wide the kernel's `long` is, in bytes.
    long: usize,
    data: usize,
}

impl Layout {
    /// Reads the description; none if it lacks a field.
    pub(super) fn parse(header_page: &[u8]) -> Option<Self> {
        let format = Format::parse(header_page);
        let (commit, data) = (format.field("commit")?, format.field("data")?);
        let long = commit.size();
        let fits = matches!(long, 4 | 8) && commit.offset() + long <= data.offset();
        fits.then(|| Self { commit: commit.offset(), long, data: data.offset() })
    }

    /// How long a page is, in bytes, where the description says how much data it has. Pages
    /// beyond 64 KiB are no kernel's default and are not known.
    pub(super) fn page_size(header_page: &[u8]) -> Option<usize> {
        let data = Format::parse(header_page).field("data")?;
        (data.size() < usize::from(u16::MAX)).then(|| data.offset() + data.size())
    }

    /// The byte order in which a page's header makes sense, which then is that of its machine.
    pub(super) fn order(self, page: &[u8]) -> Option<ByteOrder> {
        let fits = |order: &ByteOrder| {
            let commit = page.get(self.commit..).and_then(|page| self.long(page, *order));
            let bytes = commit.map(|commit| commit & COMMITTED_BYTES);
            bytes.is_some_and(|bytes| bytes > 0 && bytes <= page.len() as u64)
        };
        [ByteOrder::Little, ByteOrder::Big].into_iter().find(fits)
    }

    fn long(self, bytes: &[u8], order: ByteOrder) -> Option<u64> {
        if self.long == 4 { order.u32(bytes).map(u64::from) } else { order.u64(bytes) }
    }
}

/// What a page's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) time: u64,
    /// Where the events begin and end within the page.
    pub(super) start: usize,
    pub(super) end: usize,
    /// How many events were lost before this page; 1 if the kernel did not count them.
    pub(super) lost: Option<u64>,
}

impl Header {
    /// Reads a page's header; none if the page is no page. Of a page that is cut, the events that
    /// are there.
    pub(super) fn read(page: &[u8], layout: Layout, order: ByteOrder) -> Option<Self> {
        let time = order.u64(page)?;
        let commit = layout.long(page.get(layout.commit..)?, order)?;
        let committed = usize::try_from(commit & COMMITTED_BYTES).ok()?;
        let end = layout.data.checked_add(committed)?.min(page.len());
        let lost = (commit & EVENTS_LOST != 0).then(|| {
            let stored = || layout.long(page.get(end..)?, order);
            if commit & LOST_COUNT_STORED != 0 { stored().unwrap_or(1) } else { 1 }
        });
        Some(Self { time, start: layout.data, end, lost })
    }
}

/// A place between two events of a page, and the time there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) at: usize,
    /// Where the data of the record begins that ends here.
    pub(super) record: usize,
    pub(super) time: u64,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A record, which ends at the position.
    Record,
    /// The page ends.
    End,
    /// An event reaches beyond the page.
    Damaged,
}

impl Position {
    /// Goes on to the next record before `end`.
    #[inline]
    pub(super) fn advance(&mut self, page: &[u8], end: usize, order: ByteOrder) -> Found {
        loop {
            if self.at >= end {
                return Found::End;
            }
            let Some(event) = page.get(self.at..end) else { return Found::Damaged };
            let Some(word) = order.u32(event) else { return Found::Damaged };
            let (kind, delta) = match order {
                ByteOrder::Little => (word & 0x1f, word >> 5),
                ByteOrder::Big => (word >> 27, word & 0x07ff_ffff),
            };
            let delta = u64::from(delta);
            let second = event.get(4..).and_then(|rest| order.u32(rest)).map(u64::from);
            // Where the data begins, and how long it is.
            let (head, length) = match kind {
                PADDING if delta == 0 => return Found::End,
                PADDING => {
                    self.time = self.time.wrapping_add(delta);
                    // The length counts itself.
                    let Some(length) = second.and_then(|n| usize::try_from(n).ok()) else {
                        return Found::Damaged;
                    };
                    let Some(at) =
                        self.at.checked_add(length.max(4)).and_then(|at| at.checked_add(4))
                    else {
                        return Found::Damaged;
                    };
                    self.at = at;
                    continue;
                }
                TIME_EXTEND => {
                    let Some(high) = second else { return Found::Damaged };
                    self.time = self.time.wrapping_add((high << 27) + delta);
                    self.at += 8;
                    continue;
                }
                TIME_STAMP => {
                    let Some(high) = second else { return Found::Damaged };
                    self.time = absolute((high << 27) + delta, self.time);
                    self.at += 8;
                    continue;
                }
                0 => {
                    // The length counts itself, and is a multiple of four.
                    let length = second.and_then(|n| usize::try_from(n).ok());
                    let Some(length) = length.and_then(|n| n.checked_sub(4)) else {
                        return Found::Damaged;
                    };
                    (8, length.next_multiple_of(4))
                }
                words => (4, words as usize * 4),
            };
            self.time = self.time.wrapping_add(delta);
            self.record = self.at + head;
            self.at = self.record.saturating_add(length);
            return if self.at <= end { Found::Record } else { Found::Damaged };
        }
    }
}

/// An absolute time, of which only 59 bits are kept, given the time of the event before.
fn absolute(stamp: u64, before: u64) -> u64 {
    let time = stamp | before & LENT_BITS;
    // The bits that are kept may have wrapped since.
    if before & LENT_BITS != 0 && time < before { time.wrapping_add(1 << 59) } else { time }
}
