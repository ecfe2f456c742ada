// SPDX-License-Identifier: GPL-2.0-or-later
//! What is where in the file.
//!
//! ```text
//!  version 6                              version 7
//!  magic, byte order, long, page size     the same, compression, offset of the options
//!  header_page, header_event              sections, in any order, each with a header:
//!  ftrace's own formats                     options: what is where, chained
//!  formats by system                        header_page, formats, kallsyms, strings …
//!  kallsyms, printk formats, command lines  buffers: CPUs' areas
//!  number of CPUs, options, areas
//! ```

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek, SeekFrom};

use super::area::Area;
use super::options::{TscToNanoseconds, clock_name};
use super::page::Layout;
use super::unpack::{Compression, Unpacker};
use crate::ImportError;
use crate::bytes::{ByteOrder, Bytes};
use crate::tracepoint::saved::{self, Saved, block, formats, header_page};
use crate::tracepoint::{Format, Names, Symbols};

const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The largest section that is unpacked: descriptions and names, no trace data.
const LARGEST_SECTION: usize = 1 << 28;

/// More CPUs than any kernel is built for.
const MOST_CPUS: u32 = 1 << 14;

/// The numbers by which options are known.
mod option {
    pub(super) const DONE: u16 = 0;
    pub(super) const DATE: u16 = 1;
    pub(super) const BUFFER: u16 = 3;
    pub(super) const TRACECLOCK: u16 = 4;
    pub(super) const OFFSET: u16 = 7;
    pub(super) const TIME_SHIFT: u16 = 12;
    pub(super) const TSC2NSEC: u16 = 14;
    pub(super) const HEADER_INFO: u16 = 16;
    pub(super) const EVENT_FORMATS: u16 = 18;
    pub(super) const KALLSYMS: u16 = 19;
    pub(super) const PRINTK: u16 = 20;
}

/// The file, read at any place, and what unpacks its parts.
pub(super) struct Input<R> {
    source: R,
    length: u64,
    pub(super) unpacker: Unpacker,
    pub(super) name: String,
}

impl<R: Read + Seek> Input<R> {
    pub(super) fn new(mut source: R, name: &str) -> Result<Self, ImportError> {
        let name = name.to_owned();
        match source.seek(SeekFrom::End(0)) {
            Ok(length) => Ok(Self { source, length, unpacker: Unpacker::default(), name }),
            Err(source) => Err(ImportError::Io { name, source }),
        }
    }

    /// Adds up to `count` bytes from `offset` on to `to`, fewer where the file ends; says how many.
    pub(super) fn read(
        &mut self,
        offset: u64,
        count: u64,
        to: &mut Vec<u8>,
    ) -> Result<u64, ImportError> {
        let count = count.min(self.length.saturating_sub(offset));
        let failed = |source| ImportError::Io { name: self.name.clone(), source };
        if count == 0 {
            return Ok(0);
        }
        self.source.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let got = self.source.by_ref().take(count).read_to_end(to).map_err(failed)?;
        Ok(got as u64)
    }

    /// The complaint that the file does not hold `expected` at `offset`.
    pub(super) fn damaged(&self, offset: u64, expected: &'static str) -> ImportError {
        let name = self.name.clone();
        ImportError::Damaged { name, offset, expected, length: self.length }
    }
}

/// What the file says of itself.
pub(super) struct Contents {
    pub(super) order: ByteOrder,
    pub(super) layout: Layout,
    pub(super) formats: Vec<Format>,
    pub(super) names: Names,
    pub(super) areas: Vec<Area>,
    pub(super) tsc_to_nanoseconds: Option<TscToNanoseconds>,
    /// Whether the file asks that a constant be added to its times.
    pub(super) shifted: bool,
}

/// The start of the file, which both versions share.
struct Start {
    order: ByteOrder,
    version: u64,
    page_size: usize,
    length: u64,
}

/// Reads what the file says of itself.
pub(super) fn read<R: Read + Seek>(input: &mut Input<R>) -> Result<Contents, ImportError> {
    let mut bytes = Vec::new();
    input.read(0, 256, &mut bytes)?;
    let expected = "the start of a trace.dat: version, byte order, page size";
    let start = start(&bytes).ok_or_else(|| input.damaged(10, expected))?;
    match start.version {
        6 => version_6(input, &start),
        7 => version_7(input, &start, &bytes),
        version => Err(ImportError::TraceDatVersion { name: input.name.clone(), version }),
    }
}

fn start(bytes: &[u8]) -> Option<Start> {
    let mut from = Bytes::new(bytes.strip_prefix(MAGIC)?, ByteOrder::Little);
    let version = str::from_utf8(from.text()?).ok()?.parse().ok()?;
    let &[order, _user_space_long] = from.take(2)? else { return None };
    from.order = match order {
        0 => ByteOrder::Little,
        1 => ByteOrder::Big,
        _ => return None,
    };
    let page_size = page_size(from.u32()?)?;
    let length = (bytes.len() - from.rest.len()) as u64;
    Some(Start { order: from.order, version, page_size, length })
}

/// A page size that can be: the ring buffer's sub-buffers reach 64 pages of 64 KiB and more.
fn page_size(size: u32) -> Option<usize> {
    (64..=1 << 24).contains(&size).then_some(size as usize)
}

/// Everything stands in one row: as much is read as it takes to reach its end.
fn version_6<R: Read + Seek>(input: &mut Input<R>, start: &Start) -> Result<Contents, ImportError> {
    let mut bytes = Vec::new();
    let mut wanted = 1 << 21;
    loop {
        let have = bytes.len() as u64;
        input.read(have, wanted - have, &mut bytes)?;
        let mut row = Row {
            bytes: Bytes::new(bytes.get(start.length as usize..).unwrap_or_default(), start.order),
            expected: "",
        };
        if let Some(contents) = row.read(start, &bytes) {
            return Ok(contents);
        }
        if bytes.len() as u64 >= input.length {
            let offset = (bytes.len() - row.bytes.rest.len()) as u64;
            return Err(input.damaged(offset, row.expected));
        }
        wanted *= 4;
    }
}

/// The row of a version 6 file, and what is expected next in it.
struct Row<'a> {
    bytes: Bytes<'a>,
    expected: &'static str,
}

impl Row<'_> {
    fn read(&mut self, start: &Start, file: &[u8]) -> Option<Contents> {
        let saved = Saved::read(&mut self.bytes, &mut self.expected)?;
        self.expected = "a description of ring-buffer pages that can be read";
        let layout = Layout::parse(saved.header_page)?;
        self.expected = "the names of tasks";
        self.bytes.sized()?;
        self.expected = "the number of CPUs";
        let cpus = self.bytes.u32()?;
        self.expected = "options, or the CPUs' data";
        let mut kind = self.bytes.take(10)?;
        let mut options = Options::default();
        if kind == b"options  \0" {
            while let Some((id, data)) = next_option(&mut self.bytes)? {
                options.take(id, data, start.order);
            }
            kind = self.bytes.take(10)?;
        }
        self.expected = "the CPUs' data as a ring buffer (flyrecord), no latency trace in text";
        if kind != b"flyrecord\0" {
            return None;
        }
        self.expected = "where the CPUs' data is";
        let mut areas = Vec::new();
        let mut clock = options.clock.clone().unwrap_or_default();
        self.areas(cpus, 0, &clock, start, &mut areas)?;
        if options.clock_elsewhere {
            clock = self.bytes.sized().and_then(clock_name).unwrap_or_default();
            areas.iter_mut().for_each(|area| area.clock.clone_from(&clock));
        }
        // A further buffer's areas stand where its option says, as the first one's do.
        for (number, &offset) in options.buffers.iter().enumerate() {
            let at = file.get(usize::try_from(offset).ok()?..)?;
            let mut row = Row { bytes: Bytes::new(at, start.order), expected: "" };
            if row.bytes.take(10)? == b"flyrecord\0" {
                row.areas(cpus, number + 1, &clock, start, &mut areas)?;
            }
        }
        Some(Contents {
            order: start.order,
            layout,
            formats: saved.formats,
            names: saved.names,
            areas,
            tsc_to_nanoseconds: options.tsc,
            shifted: options.shifted,
        })
    }

    fn areas(
        &mut self,
        cpus: u32,
        buffer: usize,
        clock: &str,
        start: &Start,
        areas: &mut Vec<Area>,
    ) -> Option<()> {
        for cpu in 0..cpus.min(MOST_CPUS) {
            areas.push(Area {
                cpu,
                buffer,
                clock: clock.to_owned(),
                page_size: start.page_size,
                offset: self.bytes.u64()?,
                size: self.bytes.u64()?,
                compression: Compression::None,
            });
        }
        Some(())
    }
}

/// The next option's number and data; none at the end of the list. The outer `None`: the bytes end.
fn next_option<'a>(bytes: &mut Bytes<'a>) -> Option<Option<(u16, &'a [u8])>> {
    let id = bytes.u16()?;
    // A version 6 file ends its list by the number alone.
    if id == option::DONE {
        return Some(None);
    }
    Some(Some((id, block(bytes)?)))
}

/// What the options say. Those that are not known are skipped by their length.
#[derive(Default)]
struct Options {
    clock: Option<String>,
    clock_elsewhere: bool,
    tsc: Option<TscToNanoseconds>,
    shifted: bool,
    /// Version 6: where further buffers' areas are told.
    buffers: Vec<u64>,
}

impl Options {
    fn take(&mut self, id: u16, data: &[u8], order: ByteOrder) {
        match id {
            option::TRACECLOCK => {
                self.clock = clock_name(data);
                self.clock_elsewhere = data.is_empty();
            }
            option::TSC2NSEC => self.tsc = TscToNanoseconds::parse(Bytes::new(data, order)),
            option::DATE | option::OFFSET | option::TIME_SHIFT => self.shifted = true,
            option::BUFFER => self.buffers.extend(order.u64(data)),
            _ => {}
        }
    }
}

/// Reads a file of sections.
fn version_7<R: Read + Seek>(
    input: &mut Input<R>,
    start: &Start,
    bytes: &[u8],
) -> Result<Contents, ImportError> {
    let order = start.order;
    let mut from = Bytes::new(bytes.get(start.length as usize..).unwrap_or_default(), order);
    let mut method = || Some((Compression::of(from.text()?), from.text()?, from.u64()?));
    let Some((compression, _, mut next)) = method() else {
        return Err(input.damaged(start.length, "compression, and where the options are"));
    };
    if let Compression::Other(compression) = compression {
        return Err(ImportError::UnknownCompression { name: input.name.clone(), compression });
    }
    let mut sections = Sections { input, order, compression };
    let mut options = Options::default();
    let mut places = HashMap::new();
    let mut buffers = Vec::new();
    let mut visited = HashSet::new();
    while next != 0 && visited.insert(next) {
        let Some(section) = sections.read(next)? else {
            // Without the first there is nothing; a later one may be cut off.
            if visited.len() > 1 {
                break;
            }
            return Err(sections
                .input
                .damaged(next, "the list of the file's options, which trace-cmd writes last"));
        };
        let mut bytes = Bytes::new(&section, order);
        next = 0;
        while let (Some(id), Some(data)) = (bytes.u16(), block(&mut bytes)) {
            match id {
                option::DONE => {
                    next = order.u64(data).unwrap_or(0);
                    break;
                }
                option::BUFFER => buffers.push(data.to_vec()),
                option::HEADER_INFO | option::EVENT_FORMATS | option::KALLSYMS | option::PRINTK => {
                    if let Some(offset) = order.u64(data) {
                        places.insert(id, offset);
                    }
                }
                _ => options.take(id, data, order),
            }
        }
    }
    let mut section = |id, expected| -> Result<(u64, Vec<u8>), ImportError> {
        let offset = places.get(&id).copied().unwrap_or(0);
        match sections.read(offset)? {
            Some(section) if offset != 0 => Ok((offset, section)),
            _ => Err(sections.input.damaged(offset, expected)),
        }
    };
    let expected = "the description of ring-buffer pages (events/header_page)";
    let (at, header) = section(option::HEADER_INFO, expected)?;
    let layout = header_page(&mut Bytes::new(&header, order)).and_then(Layout::parse).ok_or(at);
    let events = "the descriptions of events (events/*/*/format)";
    let (at, descriptions) = section(option::EVENT_FORMATS, events)?;
    let formats = formats(&mut Bytes::new(&descriptions, order)).ok_or(at);
    // Names are a help, not a need.
    let mut text = |id| -> Result<Vec<u8>, ImportError> {
        match section(id, "") {
            Ok((_, bytes)) => {
                Ok(block(&mut Bytes::new(&bytes, order)).unwrap_or_default().to_vec())
            }
            Err(error @ ImportError::Io { .. }) => Err(error),
            Err(_) => Ok(Vec::new()),
        }
    };
    let symbols = text(option::KALLSYMS)?;
    let strings = text(option::PRINTK)?;
    let mut areas = Vec::new();
    for (number, buffer) in buffers.iter().enumerate() {
        sections.areas(number, buffer, &mut areas)?;
    }
    Ok(Contents {
        order,
        layout: layout.map_err(|at| sections.input.damaged(at, expected))?,
        formats: formats.map_err(|at| sections.input.damaged(at, events))?,
        names: Names { symbols: Symbols::parse(&symbols), strings: saved::strings(&strings) },
        areas,
        tsc_to_nanoseconds: options.tsc,
        shifted: options.shifted,
    })
}

/// The sections of a version 7 file.
struct Sections<'a, R> {
    input: &'a mut Input<R>,
    order: ByteOrder,
    compression: Compression,
}

/// What stands before a section's content.
const SECTION_HEADER: u64 = 16;

impl<R: Read + Seek> Sections<'_, R> {
    /// Whether the section at this place is compressed, and its size; none if there is no section.
    fn header(&mut self, offset: u64) -> Result<Option<(bool, u64)>, ImportError> {
        let mut header = Vec::new();
        self.input.read(offset, SECTION_HEADER, &mut header)?;
        let mut bytes = Bytes::new(&header, self.order);
        let mut fields = || Some((bytes.u16()?, bytes.u16()?, bytes.u32()?, bytes.u64()?));
        Ok(fields().map(|(_id, flags, _description, size)| (flags & 1 != 0, size)))
    }

    /// The content of the section at this place, unpacked; none if it is not whole.
    fn read(&mut self, offset: u64) -> Result<Option<Vec<u8>>, ImportError> {
        let Some((compressed, size)) = self.header(offset)? else { return Ok(None) };
        let mut content = Vec::new();
        let start = offset.saturating_add(SECTION_HEADER);
        if self.input.read(start, size, &mut content)? < size {
            return Ok(None);
        }
        if !compressed {
            return Ok(Some(content));
        }
        let mut bytes = Bytes::new(&content, self.order);
        let mut parts = || {
            let (packed, unpacked) = (bytes.u32()?, bytes.u32()?);
            Some((unpacked as usize, bytes.take(u64::from(packed))?))
        };
        let Some((size, packed)) = parts() else { return Ok(None) };
        if size > LARGEST_SECTION {
            return Ok(None);
        }
        let mut unpacked = Vec::new();
        let unpacker = &mut self.input.unpacker;
        let done = unpacker.unpack(&self.compression, packed, size, &mut unpacked);
        Ok(done.map(|()| unpacked))
    }

    /// The areas of a buffer, from its option.
    fn areas(
        &mut self,
        buffer: usize,
        option: &[u8],
        areas: &mut Vec<Area>,
    ) -> Result<(), ImportError> {
        let mut bytes = Bytes::new(option, self.order);
        let mut head = || {
            let (section, _name, clock) = (bytes.u64()?, bytes.text()?, bytes.text()?);
            let clock = clock_name(clock).unwrap_or_default();
            Some((section, clock, page_size(bytes.u32()?)?, bytes.u32()?))
        };
        let Some((section, clock, page_size, cpus)) = head() else { return Ok(()) };
        let compressed = self.header(section)?.is_some_and(|(compressed, _)| compressed);
        for _ in 0..cpus.min(MOST_CPUS) {
            let mut place = || Some((bytes.u32()?, bytes.u64()?, bytes.u64()?));
            let Some((cpu, offset, size)) = place() else { break };
            areas.push(Area {
                cpu,
                buffer,
                clock: clock.clone(),
                page_size,
                offset,
                size,
                compression: if compressed { self.compression.clone() } else { Compression::None },
            });
        }
        Ok(())
    }
}
