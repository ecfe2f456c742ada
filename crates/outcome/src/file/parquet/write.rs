// SPDX-License-Identifier: GPL-2.0-or-later
use std::io::{self, Write};

use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::writer::SerializedRowGroupWriter;
use idlelab_container::put;

use super::columns::{COLUMNS, Column, Values, schema};
use super::{FORMAT, VERSION};
use crate::file::Row;

/// Rows of a row group, which are all that is held.
const ROWS_PER_GROUP: usize = 1 << 16;

/// Writes rows as a Parquet file. The same rows give the same bytes.
///
/// # Errors
///
/// A sink that fails.
pub fn write(rows: impl IntoIterator<Item = Row>, sink: impl Write + Send) -> io::Result<()> {
    let mut rows = rows.into_iter().peekable();
    let mut writer = idlelab_container::writer(sink, schema()?, idlelab_container::properties())?;
    while rows.peek().is_some() {
        let group: Vec<Row> = rows.by_ref().take(ROWS_PER_GROUP).collect();
        let mut into = writer.next_row_group()?;
        for column in &COLUMNS {
            write_column(&mut into, column, &group)?;
        }
        into.close()?;
    }
    let format = KeyValue { key: FORMAT.to_owned(), value: Some(VERSION.to_owned()) };
    idlelab_container::finish(writer, [format])
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: &[Row],
) -> Result<(), ParquetError> {
    let Some(mut into) = group.next_column()? else {
        return Err(ParquetError::General(format!("no column {} in the schema", column.name)));
    };
    match column.values {
        // The type says that the sign is none.
        Values::Count { get, .. } => {
            put::<Int64Type, Row>(&mut into, rows, |row| get(row).map(u64::cast_signed))?;
        }
        Values::Number { get, .. } => {
            put::<Int32Type, Row>(&mut into, rows, |row| get(row).map(u32::cast_signed))?;
        }
        Values::Real { get, .. } => put::<DoubleType, Row>(&mut into, rows, get)?,
        Values::Text { get, .. } => {
            let bytes = |text: String| ByteArray::from(text.into_bytes());
            put::<ByteArrayType, Row>(&mut into, rows, |row| get(row).map(bytes))?;
        }
    }
    into.close()
}
