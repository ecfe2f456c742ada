// SPDX-License-Identifier: GPL-2.0-or-later
//! What a perf.data says of itself before its records: attributes, where the records are, and the
//! tracing data.
//!
//! ```text
//!  as a file                              through a pipe
//!  magic, size 104, places of:            magic, size 16
//!    attributes, each with its ids        records: attributes
//!    records                                       tracing data
//!  features' places, behind the records            …
//!  features: tracing data, …
//! ```

use std::io::{Read, Seek, SeekFrom};

use super::attr::Attr;
use crate::ImportError;
use crate::bytes::{ByteOrder, Bytes};

/// The header's size as a file; that of a pipe's is 16.
const HEADER: u64 = 104;

/// `HEADER_TRACING_DATA`, the number of a feature.
const TRACING_DATA: u64 = 1;

/// The largest attribute section or tracing data that is read, in bytes.
const LARGEST: u64 = 1 << 28;

/// An attribute with the ids of its events.
pub(super) struct Event {
    pub(super) attr: Attr,
    pub(super) ids: Vec<u64>,
}

/// How the file is laid out.
pub(super) enum Start {
    /// As a file.
    File { order: ByteOrder },
    /// Through a pipe; the header has been read.
    Pipe { order: ByteOrder },
}

/// A place in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// What a file says of itself.
pub(super) struct Contents {
    pub(super) events: Vec<Event>,
    pub(super) records: Place,
    pub(super) tracing_data: Vec<u8>,
}

/// Tells a file from a pipe by the header's first 16 bytes.
pub(super) fn start(bytes: &[u8]) -> Option<Start> {
    let order = match bytes.get(..8)? {
        b"PERFILE2" => ByteOrder::Little,
        b"2ELIFREP" => ByteOrder::Big,
        _ => return None,
    };
    let size = order.u64(bytes.get(8..)?)?;
    if size == 16 { Some(Start::Pipe { order }) } else { Some(Start::File { order }) }
}

/// Reads what a file says of itself.
pub(super) fn contents<R: Read + Seek>(
    source: &mut R,
    order: ByteOrder,
    name: &str,
) -> Result<Contents, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let length = source.seek(SeekFrom::End(0)).map_err(failed)?;
    let damaged =
        |offset, expected| ImportError::Damaged { name: name.to_owned(), offset, length, expected };
    let mut read = |place: Place| -> Result<Option<Vec<u8>>, ImportError> {
        let end = place.offset.checked_add(place.size);
        if place.size > LARGEST || end.is_none_or(|end| end > length) {
            return Ok(None);
        }
        source.seek(SeekFrom::Start(place.offset)).map_err(failed)?;
        let mut bytes = Vec::new();
        source.by_ref().take(place.size).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    };
    let header = read(Place { offset: 0, size: HEADER })?
        .ok_or_else(|| damaged(0, "the header of a perf.data, of 104 bytes"))?;
    let Some(header) = Header::parse(&header, order) else {
        return Err(damaged(0, "the header of a perf.data, of 104 bytes"));
    };
    let expected = "the attributes of the recorded events";
    let attrs = read(header.attrs)?.ok_or_else(|| damaged(header.attrs.offset, expected))?;
    let mut events = Vec::new();
    let mut ids_size = 0_u64;
    // Behind each stands the place of its ids.
    for entry in attrs.chunks_exact(header.attr_size) {
        let ids = entry.len().checked_sub(16).and_then(|at| place(entry.get(at..)?, order));
        let Some(((attr, _), ids)) = Attr::parse(entry, order).zip(ids) else {
            return Err(damaged(header.attrs.offset, expected));
        };
        // All together they are in the file once.
        ids_size = ids_size.saturating_add(ids.size);
        let found = if ids_size <= length { read(ids)? } else { None };
        let ids = found.ok_or_else(|| damaged(ids.offset, "the ids of an event"))?;
        let ids = ids.chunks_exact(8).filter_map(|id| order.u64(id)).collect();
        events.push(Event { attr, ids });
    }
    if events.is_empty() {
        return Err(damaged(header.attrs.offset, expected));
    }
    // perf writes these last, when it has stopped.
    let table = header.records.offset.checked_add(header.records.size);
    let table = table.filter(|_| header.records.size > 0).unwrap_or(length);
    let size = 16 * u64::from(header.features.count_ones());
    let expected = "what perf writes when it stops (features); it seems to have been killed";
    let features = read(Place { offset: table, size })?.ok_or_else(|| damaged(table, expected))?;
    let before = header.features & ((1 << TRACING_DATA) - 1);
    let at = 16 * before.count_ones() as usize;
    let has = header.features & 1 << TRACING_DATA != 0;
    let tracing_data = features.get(at..).filter(|_| has).and_then(|at| place(at, order));
    let Some(tracing_data) = tracing_data else {
        return Err(ImportError::NoTracepoints { name: name.to_owned() });
    };
    let tracing_data = read(tracing_data)?
        .ok_or_else(|| damaged(tracing_data.offset, "the descriptions of tracepoints"))?;
    Ok(Contents { events, records: header.records, tracing_data })
}

/// The header of a file.
struct Header {
    attr_size: usize,
    attrs: Place,
    records: Place,
    features: u64,
}

impl Header {
    fn parse(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        let mut from = Bytes::new(bytes, order);
        from.take(16)?;
        let attr_size = usize::try_from(from.u64()?).ok().filter(|&size| size > 16)?;
        let mut place = || Some(Place { offset: from.u64()?, size: from.u64()? });
        let (attrs, records, _event_types) = (place()?, place()?, place()?);
        Some(Self { attr_size, attrs, records, features: from.u64()? })
    }
}

fn place(bytes: &[u8], order: ByteOrder) -> Option<Place> {
    Some(Place { offset: order.u64(bytes)?, size: order.u64(bytes.get(8..)?)? })
}
