// SPDX-License-Identifier: GPL-2.0-or-later
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;
use idlelab_states::{CpuId, Nanoseconds, StateIndex};

use super::columns::{COLUMNS, Column, Values};
use super::row::Row;
use super::shelter::sheltered;
use super::write::WRITER;
use super::{ReadError, checksum, footer, metadata, pages};
use crate::Recording;

/// Rows that are decoded at once.
const BATCH: usize = 1 << 13;

/// Reads a recording from the bytes of a Parquet file, as [`write`](super::write) wrote it or as
/// another program rewrote it: columns are found by their names, others than ours are passed over,
/// and rows may be grouped as they like.
///
/// # Errors
///
/// Bytes that are no Parquet file, or damaged; a file without a recording's metadata; a column that
/// is missing or of another type; a value that no recording can have.
pub fn read(file: impl Into<Bytes>) -> Result<Recording, ReadError> {
    let file = file.into();
    let (at, footer) = footer::find(&file)?;
    let damaged = |reason| ReadError::Footer { offset: at, reason };
    let parquet = sheltered(|| ParquetMetaDataReader::decode_metadata(footer)).map_err(damaged)?;
    check_sum(&file, at, &parquet)?;
    let entries = parquet.file_metadata().key_value_metadata().map_or(&[][..], Vec::as_slice);
    let mut recording = metadata::recording(entries)?;
    let columns = find_columns(&parquet)?;
    let mut rounds = Rounds::new(&mut recording);
    let file = Arc::new(file);
    for group in parquet.row_groups() {
        read_group(&file, group, &columns, &mut rounds)?;
    }
    Ok(recording)
}

/// Holds a file that this program wrote against its checksum.
fn check_sum(file: &[u8], footer_at: usize, parquet: &ParquetMetaData) -> Result<(), ReadError> {
    let writer = parquet.file_metadata().created_by();
    if !writer.is_some_and(|writer| writer.starts_with(WRITER)) {
        return Ok(());
    }
    match checksum::of_file(file, footer_at) {
        None => Err(ReadError::MissingMetadata { key: checksum::KEY }),
        Some((written, found)) if written != found => Err(ReadError::Checksum { found, written }),
        Some(_) => Ok(()),
    }
}

/// Where each of [`COLUMNS`] stands in the file.
fn find_columns(parquet: &ParquetMetaData) -> Result<Vec<usize>, ReadError> {
    let schema = parquet.file_metadata().schema_descr();
    let find = |column: &Column| {
        let missing = ReadError::MissingColumn { column: column.name };
        let at = schema.columns().iter().position(|found| found.path().string() == column.name);
        let at = at.ok_or(missing)?;
        let found = schema.column(at);
        let nested = found.max_rep_level() > 0 || found.max_def_level() > 1;
        if nested || found.physical_type() != column.physical() {
            let list = if nested { "a list of " } else { "" };
            return Err(ReadError::WrongType {
                column: column.name,
                found: format!("{list}{}", found.physical_type()),
                expected: column.expected(),
            });
        }
        Ok(at)
    };
    COLUMNS.iter().map(find).collect()
}

fn read_group(
    file: &Arc<Bytes>,
    group: &RowGroupMetaData,
    columns: &[usize],
    rounds: &mut Rounds<'_>,
) -> Result<(), ReadError> {
    let mut open = COLUMNS
        .iter()
        .zip(columns)
        .map(|(column, &at)| Open::new(file, group, column, at, rounds.read))
        .collect::<Result<Vec<_>, _>>()?;
    let mut left = usize::try_from(group.num_rows()).unwrap_or_default();
    let mut rows = Vec::new();
    while left > 0 {
        rows.clear();
        rows.resize(left.min(BATCH), Row::default());
        for column in &mut open {
            column.read(&mut rows, rounds.read)?;
        }
        rows.iter().try_for_each(|row| rounds.add(row))?;
        left -= rows.len();
    }
    Ok(())
}

/// Where rows go.
struct Rounds<'a> {
    recording: &'a mut Recording,
    /// The place of each CPU in the recording.
    places: HashMap<u32, usize>,
    /// How many rows have been taken.
    read: u64,
}

impl<'a> Rounds<'a> {
    fn new(recording: &'a mut Recording) -> Self {
        let cpus = recording.cpus.iter().enumerate();
        let places = cpus.map(|(place, cpu)| (cpu.cpu.0, place)).collect();
        Self { recording, places, read: 0 }
    }

    fn add(&mut self, row: &Row) -> Result<(), ReadError> {
        let number = self.read;
        let place = self.places.get(&row.cpu);
        let cpu = place
            .and_then(|&place| self.recording.cpus.get_mut(place))
            .ok_or(ReadError::UnknownCpu { row: number, cpu: CpuId(row.cpu) })?;
        let (period, decision) = (row.period(number)?, row.decision(number)?);
        if period.is_none() && decision.is_none() {
            return Err(ReadError::EmptyRow { row: number });
        }
        if let Some(period) = period {
            cpu.periods.push(&period);
        }
        cpu.decisions.extend(decision);
        self.read += 1;
        Ok(())
    }
}

/// A column of a row group that is being read.
struct Open {
    column: &'static Column,
    reader: ColumnReader,
    /// Whether the file lets it have nulls.
    nullable: bool,
}

impl Open {
    fn new(
        file: &Arc<Bytes>,
        group: &RowGroupMetaData,
        column: &'static Column,
        at: usize,
        row: u64,
    ) -> Result<Self, ReadError> {
        let damaged = |reason| ReadError::Column { column: column.name, row, reason };
        let chunk = group.columns().get(at);
        let (chunk, bytes) = chunk
            .and_then(|chunk| Some((chunk, file.get(place(chunk, file.len())?)?)))
            .ok_or_else(|| damaged("it should be where the file is not".to_owned()))?;
        let found = chunk.compression();
        if !matches!(found, Compression::UNCOMPRESSED | Compression::SNAPPY) {
            // Without the level, which the file does not tell.
            let method = found.to_string();
            let method = method.split('(').next().unwrap_or_default().to_owned();
            return Err(ReadError::Compressed { column: column.name, method });
        }
        if !pages::are_sound(bytes) {
            return Err(damaged("its pages are not as long as they say".to_owned()));
        }
        let rows = usize::try_from(group.num_rows()).unwrap_or_default();
        let reader = sheltered(|| {
            let pages = SerializedPageReader::new(Arc::clone(file), chunk, rows, None)?;
            Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
        });
        let nullable = chunk.column_descr().max_def_level() > 0;
        Ok(Self { column, reader: reader.map_err(damaged)?, nullable })
    }

    /// Puts the next value of each row in its place.
    fn read(&mut self, rows: &mut [Row], first: u64) -> Result<(), ReadError> {
        let column = self.column;
        let mut batch = Batch { column, rows, first, nullable: self.nullable };
        match (&mut self.reader, &column.values) {
            (ColumnReader::Int64ColumnReader(reader), Values::Time { set, .. }) => {
                batch.read(reader, |row, time| {
                    set(row, Nanoseconds::new(*time));
                    Ok(())
                })
            }
            (ColumnReader::Int32ColumnReader(reader), Values::Cpu { set, .. }) => {
                batch.read(reader, |row, cpu| {
                    set(row, cpu.cast_unsigned());
                    Ok(())
                })
            }
            (ColumnReader::Int32ColumnReader(reader), Values::State { set, .. }) => {
                batch.read(reader, |row, state| {
                    let index = usize::try_from(*state).ok().and_then(StateIndex::new);
                    set(row, index.ok_or_else(|| (state.to_string(), "a state, 0 to 9,"))?);
                    Ok(())
                })
            }
            (ColumnReader::BoolColumnReader(reader), Values::Flag { set, .. }) => {
                batch.read(reader, |row, flag| {
                    set(row, *flag);
                    Ok(())
                })
            }
            (ColumnReader::ByteArrayColumnReader(reader), Values::Word { set, expected, .. }) => {
                batch.read(reader, |row, word| match set(row, word.data()) {
                    true => Ok(()),
                    false => {
                        Err((format!("{:?}", word.data().escape_ascii().to_string()), expected))
                    }
                })
            }
            _ => Err(batch.damaged("its type changes within the file".to_owned())),
        }
    }
}

/// Rows that one column is to be read into.
struct Batch<'a> {
    column: &'static Column,
    rows: &'a mut [Row],
    /// The number of the first row.
    first: u64,
    nullable: bool,
}

/// A value that a column cannot have, and what would be right.
type Refusal = (String, &'static str);

impl Batch<'_> {
    fn read<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        set: impl Fn(&mut Row, &T::T) -> Result<(), Refusal>,
    ) -> Result<(), ReadError> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let wanted = self.rows.len();
        let (found, ..) =
            sheltered(|| reader.read_records(wanted, Some(&mut levels), None, &mut values))
                .map_err(|reason| self.damaged(reason))?;
        if found != wanted {
            return Err(self.damaged(format!("{wanted} values were expected, {found} are there")));
        }
        let mut levels = levels.iter();
        let mut values = values.iter();
        for (number, row) in (self.first..).zip(&mut *self.rows) {
            if self.nullable && levels.next().is_none_or(|&level| level == 0) {
                if self.column.is_required() {
                    let (column, because_of) = (self.column.name, "the row");
                    return Err(ReadError::Null { row: number, column, because_of });
                }
                continue;
            }
            let Some(value) = values.next() else {
                return Err(self.damaged("it has fewer values than it says".to_owned()));
            };
            set(row, value).map_err(|(found, expected)| ReadError::Value {
                row: number,
                column: self.column.name,
                found,
                expected,
            })?;
        }
        Ok(())
    }

    fn damaged(&self, reason: String) -> ReadError {
        ReadError::Column { column: self.column.name, row: self.first, reason }
    }
}

/// Where in the file a column's bytes are, if they are within it; the library takes that for
/// granted. They begin with the dictionary, if there is one.
fn place(chunk: &ColumnChunkMetaData, length: usize) -> Option<Range<usize>> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(chunk.compressed_size()).ok()?)?;
    (end <= length).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use ::parquet::schema::types::SchemaDescriptor;

    use super::super::columns::schema;
    use super::*;

    /// Other programs put a dictionary before any column, also before the last of the file.
    #[test]
    fn a_columns_bytes_begin_with_its_dictionary() {
        let column = SchemaDescriptor::new(schema().unwrap()).column(0);
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
