// SPDX-License-Identifier: GPL-2.0-or-later
//! What recordings and outcomes are kept in: a Parquet file with a checksum.
//!
//! The Parquet library believes what a file says of itself: it makes room for what headers claim,
//! and has assertions on its way to an error. So what it is to believe is held against the bytes
//! that are there first, and its panics become errors.
//!
//! ```text
//!  writer ─▶ row groups │ footer with the file's checksum ─▶ finish
//!  open   ◀─ footer held against its bytes, and the checksum against the file
//!  column ◀─ pages held against theirs
//! ```

mod checksum;
mod footer;
mod pages;
mod shelter;
mod thrift;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{Type, TypePtr};
use bytes::Bytes;
use thiserror::Error;

pub use checksum::Summed;
pub use shelter::sheltered;

/// What the file says it was written by. A checksum is held against the files of this program
/// only: another that rewrites a file takes the metadata along as they are.
const WRITER: &str = "idlelab ";

/// Why bytes are no Parquet file, or not the one that was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Damage {
    /// The first or last bytes are not those of a Parquet file.
    #[error(
        "is no whole Parquet file: the last bytes should be PAR1 and are not; it was cut, or is \
         still being written"
    )]
    NotWhole,
    /// The footer's length is beyond the file.
    #[error(
        "the Parquet footer should begin {length} bytes before the end, but the file is shorter"
    )]
    FooterLength {
        /// The length that the file states, in bytes.
        length: u32,
    },
    /// The footer cannot be read.
    #[error("the Parquet footer at byte {offset} is damaged: {reason}")]
    Footer {
        /// Where the footer begins.
        offset: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of this program has no checksum.
    #[error("its metadata have no `{}`", checksum::KEY)]
    NoChecksum,
    /// Bytes are not as they were written.
    #[error("is damaged: its checksum is {found:08x}, {written:08x} was written")]
    Checksum {
        /// As computed now.
        found: u32,
        /// As written.
        written: u32,
    },
}

/// Why a column of a row group cannot be read.
#[derive(Debug)]
pub enum ColumnDamage {
    /// It is compressed by a method that is not built in.
    Compressed {
        /// The method.
        method: String,
    },
    /// Its bytes are not what they should be.
    Damaged {
        /// In which way, in words.
        reason: String,
    },
}

/// Reads what a file says of itself.
///
/// # Errors
///
/// Bytes that are no Parquet file, or damaged, as far as footer and checksum tell.
pub fn open(file: &[u8]) -> Result<ParquetMetaData, Damage> {
    let (at, footer) = footer::find(file)?;
    let damaged = |reason| Damage::Footer { offset: at, reason };
    let metadata = sheltered(|| ParquetMetaDataReader::decode_metadata(footer)).map_err(damaged)?;
    let writer = metadata.file_metadata().created_by();
    if !writer.is_some_and(|writer| writer.starts_with(WRITER)) {
        return Ok(metadata);
    }
    match checksum::of_file(file, at) {
        None => Err(Damage::NoChecksum),
        Some((written, found)) if written != found => Err(Damage::Checksum { found, written }),
        Some(_) => Ok(metadata),
    }
}

/// Opens the column number `at` of a row group.
///
/// # Errors
///
/// A column whose bytes are outside the file or not as long as they say, or that is compressed with
/// anything but Snappy.
pub fn column(
    file: &Arc<Bytes>,
    group: &RowGroupMetaData,
    at: usize,
) -> Result<ColumnReader, ColumnDamage> {
    let damaged = |reason| ColumnDamage::Damaged { reason };
    let chunk = group.columns().get(at);
    let (chunk, bytes) = chunk
        .and_then(|chunk| Some((chunk, file.get(place(chunk, file.len())?)?)))
        .ok_or_else(|| damaged("it should be where the file is not".to_owned()))?;
    let found = chunk.compression();
    if !matches!(found, Compression::UNCOMPRESSED | Compression::SNAPPY) {
        // Without the level, which the file does not tell.
        let method = found.to_string();
        let method = method.split('(').next().unwrap_or_default().to_owned();
        return Err(ColumnDamage::Compressed { method });
    }
    if !pages::are_sound(bytes) {
        return Err(damaged("its pages are not as long as they say".to_owned()));
    }
    let rows = usize::try_from(group.num_rows()).unwrap_or_default();
    sheltered(|| {
        let pages = SerializedPageReader::new(Arc::clone(file), chunk, rows, None)?;
        Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
    })
    .map_err(damaged)
}

/// Where in the file a column's bytes are, if they are within it; the library takes that for
/// granted. They begin with the dictionary, if there is one.
fn place(chunk: &ColumnChunkMetaData, length: usize) -> Option<Range<usize>> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(chunk.compressed_size()).ok()?)?;
    (end <= length).then_some(start..end)
}

/// What files of this program have in common. The same rows give the same bytes.
#[must_use]
pub fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by(format!("{WRITER}{}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Only the footer is held back, and it should be small.
        .set_offset_index_disabled(true)
}

/// The type of a column of its own, not a list.
///
/// # Errors
///
/// A logical type that does not go with the physical one.
pub fn column_type(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    is_required: bool,
) -> Result<TypePtr, ParquetError> {
    let repetition = if is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

/// Writes the values that are not null, and for each row whether it has one.
///
/// # Errors
///
/// A sink that fails.
pub fn put<T: DataType, R>(
    into: &mut SerializedColumnWriter<'_>,
    rows: &[R],
    get: impl Fn(&R) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let mut levels = Vec::with_capacity(rows.len());
    for row in rows {
        let value = get(row);
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    into.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

/// Begins a file, which [`finish`] ends.
///
/// # Errors
///
/// A sink that fails.
pub fn writer<W: Write + Send>(
    sink: W,
    schema: TypePtr,
    properties: WriterPropertiesBuilder,
) -> Result<SerializedFileWriter<Summed<W>>, ParquetError> {
    SerializedFileWriter::new(Summed::new(sink), schema, Arc::new(properties.build()))
}

/// Ends a file with its metadata and its checksum.
///
/// # Errors
///
/// A sink that fails.
pub fn finish<W: Write + Send>(
    mut writer: SerializedFileWriter<Summed<W>>,
    entries: impl IntoIterator<Item = KeyValue>,
) -> io::Result<()> {
    writer.flush()?;
    let blank = KeyValue { key: checksum::KEY.to_owned(), value: Some(checksum::BLANK.to_owned()) };
    for entry in entries.into_iter().chain([blank]) {
        writer.append_key_value_metadata(entry);
    }
    writer.inner_mut().hold_footer();
    writer.into_inner()?.finish()
}

#[cfg(test)]
mod tests {
    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;

    use super::*;

    /// Other programs put a dictionary before any column, also before the last of the file.
    #[test]
    fn a_columns_bytes_begin_with_its_dictionary() {
        let schema = parse_message_type("message m { required int32 cpu; }").unwrap();
        let column = SchemaDescriptor::new(Arc::new(schema)).column(0);
        let chunk = |dictionary, data, size| {
            ColumnChunkMetaData::builder(column.clone())
                .set_dictionary_page_offset(dictionary)
                .set_data_page_offset(data)
                .set_total_compressed_size(size)
                .build()
                .unwrap()
        };
        assert_eq!(place(&chunk(Some(4), 50, 96), 100), Some(4..100));
        assert_eq!(place(&chunk(Some(4), 50, 96), 99), None);
        assert_eq!(place(&chunk(None, 50, 96), 100), None);
        assert_eq!(place(&chunk(None, -1, 10), 100), None);
        assert_eq!(place(&chunk(None, 4, -1), 100), None);
        assert_eq!(place(&chunk(None, i64::MAX, 1), 100), None);
    }
}
