// SPDX-License-Identifier: GPL-2.0-or-later
//! The records of one CPU in one buffer, in the order in which it wrote them.

use std::io::{Read, Seek};

use super::container::Input;
use super::page::{Found, Header, Layout, Position};
use super::unpack::Compression;
use crate::ImportError;
use crate::bytes::ByteOrder;

/// How much of an uncompressed area is read at once, in bytes.
const READ_AHEAD: u64 = 1 << 16;

/// The largest compressed piece that is unpacked. trace-cmd packs ten pages at once.
const LARGEST_CHUNK: usize = 1 << 22;

/// Where in the file one CPU's pages are.
#[derive(Clone, Debug)]
pub(super) struct Area {
    pub(super) cpu: u32,
    /// The number of its buffer, and that buffer's clock.
    pub(super) buffer: usize,
    pub(super) clock: String,
    pub(super) page_size: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) compression: Compression,
}

/// Reads an area from its beginning to its end.
pub(super) struct AreaReader {
    area: Area,
    layout: Layout,
    order: ByteOrder,
    /// Whole pages, unpacked, and which of them is next.
    pages: Vec<u8>,
    next_page: usize,
    /// A piece of the file before it is unpacked.
    packed: Vec<u8>,
    /// Where in the file the next pages are, and where they end; chunks that remain.
    offset: u64,
    end: u64,
    chunks: Option<u32>,
    page: (usize, usize),
    position: Position,
    page_end: usize,
    lost: Option<u64>,
    cut: bool,
    damaged_pages: u64,
}

impl AreaReader {
    pub(super) fn new(area: Area, layout: Layout, order: ByteOrder) -> Self {
        let (offset, end) = (area.offset, area.offset.saturating_add(area.size));
        Self {
            area,
            layout,
            order,
            pages: Vec::new(),
            next_page: 0,
            packed: Vec::new(),
            offset,
            end,
            chunks: None,
            page: (0, 0),
            position: Position::default(),
            page_end: 0,
            lost: None,
            cut: false,
            damaged_pages: 0,
        }
    }

    pub(super) const fn cpu(&self) -> u32 {
        self.area.cpu
    }

    pub(super) const fn buffer(&self) -> usize {
        self.area.buffer
    }

    /// Whether the file ends, or makes no sense, before the area does.
    pub(super) const fn cut(&self) -> bool {
        self.cut
    }

    /// How many pages were left in the midst, since what they hold is no event.
    pub(super) const fn damaged_pages(&self) -> u64 {
        self.damaged_pages
    }

    /// How many events were lost before the record it stands at; tells it once.
    pub(super) fn take_lost(&mut self) -> Option<u64> {
        self.lost.take()
    }

    /// The record it stands at.
    #[inline]
    pub(super) fn record(&self) -> &[u8] {
        let (start, end) = self.page;
        let page = self.pages.get(start..end).unwrap_or_default();
        page.get(self.position.record..self.position.at).unwrap_or_default()
    }

    /// Goes on to the next record and says its time; none at the end.
    #[inline]
    pub(super) fn advance<R: Read + Seek>(
        &mut self,
        input: &mut Input<R>,
    ) -> Result<Option<u64>, ImportError> {
        loop {
            let page = self.pages.get(self.page.0..self.page.1).unwrap_or_default();
            match self.position.advance(page, self.page_end, self.order) {
                Found::Record => return Ok(Some(self.position.time)),
                Found::End => {}
                Found::Damaged => {
                    // What the page holds behind is lost.
                    self.damaged_pages += 1;
                    self.lose(1);
                }
            }
            if !self.turn_page(input)? {
                return Ok(None);
            }
        }
    }

    fn lose(&mut self, events: u64) {
        self.lost = Some(self.lost.unwrap_or(0).saturating_add(events));
    }

    /// Goes on to the next page that has events.
    fn turn_page<R: Read + Seek>(&mut self, input: &mut Input<R>) -> Result<bool, ImportError> {
        self.position.at = 0;
        self.page_end = 0;
        if self.next_page >= self.pages.len() && !self.fill(input)? {
            return Ok(false);
        }
        let start = self.next_page;
        let end = start.saturating_add(self.area.page_size).min(self.pages.len());
        self.next_page = end;
        self.page = (start, end);
        let page = self.pages.get(start..end).unwrap_or_default();
        if let Some(header) = Header::read(page, self.layout, self.order) {
            self.position = Position { at: header.start, time: header.time, ..Position::default() };
            self.page_end = header.end;
            if let Some(lost) = header.lost {
                self.lose(lost);
            }
        } else {
            self.cut = true;
        }
        Ok(true)
    }

    /// Reads the next pages from the file.
    fn fill<R: Read + Seek>(&mut self, input: &mut Input<R>) -> Result<bool, ImportError> {
        self.pages.clear();
        self.next_page = 0;
        if self.area.compression == Compression::None {
            let pages = READ_AHEAD.next_multiple_of(self.area.page_size as u64);
            let wanted = self.end.saturating_sub(self.offset).min(pages);
            let got = input.read(self.offset, wanted, &mut self.pages)?;
            self.cut |= got < wanted;
            self.offset = self.offset.saturating_add(got);
            return Ok(got > 0);
        }
        let unpacked = self.next_chunk(input)?;
        if unpacked == Some(()) {
            return Ok(!self.pages.is_empty());
        }
        self.pages.clear();
        // Chunks have no other mark than the length of the one before.
        self.cut |= self.chunks != Some(0);
        self.chunks = Some(0);
        Ok(false)
    }

    /// Unpacks the next chunk; none if there is none.
    fn next_chunk<R: Read + Seek>(
        &mut self,
        input: &mut Input<R>,
    ) -> Result<Option<()>, ImportError> {
        let packed = &mut self.packed;
        packed.clear();
        let left = match self.chunks {
            Some(left) => left,
            None if self.offset >= self.end => 0,
            None => {
                input.read(self.offset, 4, packed)?;
                let Some(count) = self.order.u32(packed) else { return Ok(None) };
                self.offset = self.offset.saturating_add(4);
                count
            }
        };
        self.chunks = Some(left);
        if left == 0 {
            return Ok(None);
        }
        packed.clear();
        input.read(self.offset, 8, packed)?;
        let sizes = self.order.u32(packed).zip(packed.get(4..).and_then(|b| self.order.u32(b)));
        let Some((size, unpacked)) = sizes else { return Ok(None) };
        let (size, unpacked) = (size as usize, unpacked as usize);
        if unpacked > LARGEST_CHUNK || size > LARGEST_CHUNK {
            return Ok(None);
        }
        let size = size as u64;
        packed.clear();
        let got = input.read(self.offset.saturating_add(8), size, packed)?;
        self.offset = self.offset.saturating_add(8 + size);
        if got < size {
            return Ok(None);
        }
        let method = &self.area.compression;
        let done = input.unpacker.unpack(method, packed, unpacked, &mut self.pages);
        if done.is_some() {
            self.chunks = Some(left - 1);
        }
        Ok(done)
    }
}
