// SPDX-License-Identifier: GPL-2.0-or-later
use std::io::Write;

use ::parquet::basic::Encoding;
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterPropertiesBuilder;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::ColumnPath;
use bytes::Bytes;
use idlelab_container::put;
use idlelab_states::Nanoseconds;

use super::columns::{COLUMNS, Column, Values, schema};
use super::rounds::rounds;
use super::row::Row;
use super::{WriteError, metadata};
use crate::{CpuRecording, Recording};

/// Rows of a row group, which are all that is held beside the recording: some 40 MB.
const ROWS_PER_GROUP: usize = 1 << 17;

/// Writes a recording as a Parquet file. The same recording gives the same bytes.
///
/// # Errors
///
/// A sink that fails, CPUs out of order, or a machine that its TOML does not hold exactly.
pub fn write(recording: &Recording, sink: impl Write + Send) -> Result<(), WriteError> {
    for pair in recording.cpus.windows(2) {
        if let [before, after] = pair
            && after.cpu <= before.cpu
        {
            return Err(WriteError::CpuOrder(after.cpu));
        }
    }
    let entries = metadata::entries(recording)?;
    let mut writer = idlelab_container::writer(sink, schema()?, properties())?;
    for cpu in &recording.cpus {
        write_cpu(&mut writer, cpu)?;
    }
    idlelab_container::finish(writer, entries)?;
    Ok(())
}

fn properties() -> WriterPropertiesBuilder {
    let mut properties = idlelab_container::properties();
    // Times grow, and their differences are small.
    for column in COLUMNS.iter().filter(|column| matches!(column.values, Values::Time { .. })) {
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties
}

fn write_cpu<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    cpu: &CpuRecording,
) -> Result<(), ParquetError> {
    let mut rows = rounds(cpu)
        .map(|(period, decision)| Row::new(cpu.cpu, period.as_ref(), decision))
        .peekable();
    let mut group = Vec::new();
    while rows.peek().is_some() {
        group.clear();
        group.extend(rows.by_ref().take(ROWS_PER_GROUP));
        let mut into = writer.next_row_group()?;
        for column in &COLUMNS {
            write_column(&mut into, column, &group)?;
        }
        into.close()?;
    }
    Ok(())
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
        Values::Time { get, .. } => {
            put::<Int64Type, Row>(&mut into, rows, |row| get(row).map(Nanoseconds::get))?;
        }
        // The type says that the sign is none.
        Values::Cpu { get, .. } => {
            put::<Int32Type, Row>(&mut into, rows, |row| Some(get(row).cast_signed()))?;
        }
        Values::State { get, .. } => {
            put::<Int32Type, Row>(&mut into, rows, |row| get(row).map(|state| state.get() as i32))?;
        }
        Values::Flag { get, .. } => put::<BoolType, Row>(&mut into, rows, get)?,
        Values::Word { get, .. } => {
            let bytes = |word: &'static str| Bytes::from_static(word.as_bytes()).into();
            put::<ByteArrayType, Row>(&mut into, rows, |row| get(row).map::<ByteArray, _>(bytes))?;
        }
    }
    into.close()
}
