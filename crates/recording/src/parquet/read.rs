// SPDX-License-Identifier: GPL-2.0-or-later
use std::collections::HashMap;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use bytes::Bytes;
use idlelab_container::{ColumnDamage, sheltered};
use idlelab_states::{CpuId, Nanoseconds, StateIndex};

use super::columns::{COLUMNS, Column, Values};
use super::row::Row;
use super::{ReadError, metadata};
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
    let parquet = idlelab_container::open(&file)?;
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
        let reader = idlelab_container::column(file, group, at).map_err(|damage| match damage {
            ColumnDamage::Compressed { method } => {
                ReadError::Compressed { column: column.name, method }
            }
            ColumnDamage::Damaged { reason } => {
                ReadError::Column { column: column.name, row, reason }
            }
        })?;
        let descriptor = group.schema_descr().column(at);
        Ok(Self { column, reader, nullable: descriptor.max_def_level() > 0 })
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
