// SPDX-License-Identifier: GPL-2.0-or-later
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use bytes::Bytes;
use idlelab_container::{ColumnDamage, sheltered};

use super::columns::{COLUMNS, Column, Values};
use super::{FORMAT, VERSION};
use crate::file::row::{Gather, Totals};
use crate::file::{FromFile, ReadError, Row};

/// The most rows of a file. A few bytes can claim any number of equal rows, so there is an end; all
/// built-in governors on a thousand CPUs are far below.
const MOST_ROWS: i64 = 1 << 20;

/// Rows that are decoded at once.
const BATCH: usize = 1 << 13;

/// Whether content begins as a Parquet file does.
pub(in crate::file) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

/// Columns are found by their names, and others than ours are passed over; what a file lacks is
/// not known.
pub(in crate::file) fn read(bytes: &[u8], name: &str) -> Result<FromFile, ReadError> {
    let file = Bytes::copy_from_slice(bytes);
    let of_file = |reason: String| ReadError::File { name: name.to_owned(), reason };
    let parquet = idlelab_container::open(&file).map_err(|damage| of_file(damage.to_string()))?;
    check_format(&parquet).map_err(of_file)?;
    let columns = find_columns(&parquet).map_err(of_file)?;
    let rows: i64 = parquet
        .row_groups()
        .iter()
        .fold(0, |sum, group| sum.saturating_add(group.num_rows().max(0)));
    if rows > MOST_ROWS {
        return Err(of_file(format!(
            "has {rows} rows; a file of outcomes has {MOST_ROWS} at most"
        )));
    }
    let file = Arc::new(file);
    let mut gather = Gather::new(Totals::Given);
    let mut number = 0;
    for group in parquet.row_groups() {
        let rows = read_group(&file, group, &columns, number).map_err(of_file)?;
        for row in rows {
            gather.add(number, row).map_err(|refusal| of_file(at_row(refusal)))?;
            number += 1;
        }
    }
    let outcomes = gather.finish().map_err(|refusal| of_file(at_row(refusal)))?;
    Ok(FromFile { outcomes, notes: Vec::new() })
}

fn at_row((row, reason): (usize, String)) -> String {
    format!("row {row}: {reason}")
}

fn check_format(parquet: &ParquetMetaData) -> Result<(), String> {
    let entries = parquet.file_metadata().key_value_metadata().map_or(&[][..], Vec::as_slice);
    let entry = |key: &str| entries.iter().find(|entry| entry.key == key);
    match entry(FORMAT).map(|entry| entry.value.as_deref().unwrap_or_default()) {
        Some(VERSION) => Ok(()),
        Some(found) => {
            Err(format!("holds outcomes in format {found:?}; this idlelab reads format {VERSION}"))
        }
        None if entry("idlelab.recording").is_some() => Err(
            "is a recording, of which `idlelab replay` makes outcomes; expected a file of outcomes"
                .to_owned(),
        ),
        // Other programs leave metadata out when they rewrite a file: its columns tell.
        None => Ok(()),
    }
}

/// Where each of [`COLUMNS`] stands in the file, if it does.
fn find_columns(parquet: &ParquetMetaData) -> Result<Vec<Option<usize>>, String> {
    let schema = parquet.file_metadata().schema_descr();
    let find = |column: &Column| {
        let name = column.name;
        let at = schema.columns().iter().position(|found| found.path().string() == name);
        let Some(at) = at else {
            if column.is_required() {
                return Err(format!(
                    "the column `{name}` is missing; docs/outcomes.md lists all columns"
                ));
            }
            return Ok(None);
        };
        let found = schema.column(at);
        let nested = found.max_rep_level() > 0 || found.max_def_level() > 1;
        if nested || found.physical_type() != column.physical() {
            let list = if nested { "a list of " } else { "" };
            return Err(format!(
                "the column `{name}` is {list}{}; {} was expected",
                found.physical_type(),
                column.physical()
            ));
        }
        Ok(Some(at))
    };
    COLUMNS.iter().map(find).collect()
}

fn read_group(
    file: &Arc<Bytes>,
    group: &RowGroupMetaData,
    columns: &[Option<usize>],
    first: usize,
) -> Result<Vec<Row>, String> {
    // As many as have been read, not as many as are claimed.
    let mut rows: Vec<Row> = Vec::new();
    let mut open = Vec::new();
    for (column, at) in COLUMNS.iter().zip(columns) {
        let Some(at) = *at else { continue };
        let reader = idlelab_container::column(file, group, at).map_err(|damage| match damage {
            ColumnDamage::Compressed { method } => format!(
                "the column `{}` is compressed with {method}; write the file with SNAPPY",
                column.name
            ),
            ColumnDamage::Damaged { reason } => damaged(column, first, &reason),
        })?;
        let nullable = group.schema_descr().column(at).max_def_level() > 0;
        open.push(Open { column, reader, nullable });
    }
    let mut left = usize::try_from(group.num_rows()).unwrap_or_default();
    while left > 0 {
        let done = rows.len();
        let wanted = left.min(BATCH);
        rows.resize(done + wanted, Row::blank());
        let batch = rows.get_mut(done..).unwrap_or_default();
        for column in &mut open {
            column.read(batch, first + done)?;
        }
        left -= wanted;
    }
    Ok(rows)
}

fn damaged(column: &Column, row: usize, reason: &str) -> String {
    format!("the column `{}` is damaged, near row {row}: {reason}", column.name)
}

/// A column of a row group that is being read.
struct Open {
    column: &'static Column,
    reader: ColumnReader,
    /// Whether the file lets it have nulls.
    nullable: bool,
}

/// A value that a column cannot have, and what would be right.
type Refusal = (String, &'static str);

impl Open {
    /// Puts the next value of each row in its place.
    fn read(&mut self, rows: &mut [Row], first: usize) -> Result<(), String> {
        let (column, nullable) = (self.column, self.nullable);
        let mut batch = Batch { column, rows, first, nullable };
        match (&mut self.reader, &column.values) {
            (ColumnReader::Int64ColumnReader(reader), Values::Count { set, .. }) => {
                batch.read(reader, |row, count| {
                    set(row, count.cast_unsigned());
                    Ok(())
                })
            }
            (ColumnReader::Int32ColumnReader(reader), Values::Number { set, .. }) => {
                batch.read(reader, |row, number| {
                    set(row, number.cast_unsigned());
                    Ok(())
                })
            }
            (ColumnReader::DoubleColumnReader(reader), Values::Real { set, .. }) => {
                batch.read(reader, |row, real| {
                    if !real.is_finite() {
                        return Err((real.to_string(), "a finite number"));
                    }
                    set(row, *real);
                    Ok(())
                })
            }
            (ColumnReader::ByteArrayColumnReader(reader), Values::Text { set, expected, .. }) => {
                batch.read(reader, |row, text| {
                    let known = str::from_utf8(text.data()).is_ok_and(|text| set(row, text));
                    let shown = || text.data().escape_ascii().take(SHOWN).map(char::from).collect();
                    if known { Ok(()) } else { Err((shown(), expected)) }
                })
            }
            _ => Err(damaged(column, first, "its type changes within the file")),
        }
    }
}

/// The most characters of a wrong text that an error repeats.
const SHOWN: usize = 60;

/// Rows that one column is to be read into.
struct Batch<'a> {
    column: &'static Column,
    rows: &'a mut [Row],
    /// The number of the first row.
    first: usize,
    nullable: bool,
}

impl Batch<'_> {
    fn read<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        set: impl Fn(&mut Row, &T::T) -> Result<(), Refusal>,
    ) -> Result<(), String> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let wanted = self.rows.len();
        let (column, first) = (self.column, self.first);
        let (found, ..) =
            sheltered(|| reader.read_records(wanted, Some(&mut levels), None, &mut values))
                .map_err(|reason| damaged(column, first, &reason))?;
        if found != wanted {
            let reason = format!("{wanted} values were expected, {found} are there");
            return Err(damaged(column, first, &reason));
        }
        let mut levels = levels.iter();
        let mut values = values.iter();
        for (number, row) in (first..).zip(&mut *self.rows) {
            if self.nullable && levels.next().is_none_or(|&level| level == 0) {
                if column.is_required() {
                    return Err(format!("row {number}: the column `{}` is null", column.name));
                }
                continue;
            }
            let Some(value) = values.next() else {
                return Err(damaged(column, first, "it has fewer values than it says"));
            };
            set(row, value).map_err(|(found, expected)| {
                let name = column.name;
                format!("row {number}: the column `{name}` has {found:?}; {expected} was expected")
            })?;
        }
        Ok(())
    }
}
