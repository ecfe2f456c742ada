// SPDX-License-Identifier: GPL-2.0-or-later
use std::io;

use ::parquet::errors::ParquetError;
use idlelab_container::Damage;
use idlelab_platform::PlatformError;
use idlelab_states::CpuId;
use thiserror::Error;

/// Why bytes are no recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no Parquet file, or not the one that was written.
    #[error(transparent)]
    File(#[from] Damage),
    /// A Parquet file of something else.
    #[error(
        "is a Parquet file, but no recording of idlelab: its metadata have no `idlelab.recording`; \
         `idlelab import` writes such files"
    )]
    NotARecording,
    /// A recording in a format of another version.
    #[error("is a recording in format {found}; this idlelab reads format 1")]
    Version {
        /// The version as written.
        found: String,
    },
    /// A metadata entry is missing.
    #[error("its metadata have no `{key}`")]
    MissingMetadata {
        /// The entry.
        key: &'static str,
    },
    /// A metadata entry is not what it should be.
    #[error("its metadata `{key}` say {found:?} where {expected} was expected")]
    Metadata {
        /// The entry.
        key: &'static str,
        /// The part that is wrong.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// The recorded machine cannot be read.
    #[error("its metadata `idlelab.machine` are no platform: {0}")]
    Machine(#[source] Box<PlatformError>),
    /// A column is missing.
    #[error("the column `{column}` is missing; docs/recording-parquet.md lists all columns")]
    MissingColumn {
        /// The column.
        column: &'static str,
    },
    /// A column is of another type.
    #[error("the column `{column}` is {found}; {expected} was expected")]
    WrongType {
        /// The column.
        column: &'static str,
        /// Its type.
        found: String,
        /// The type that it should have.
        expected: &'static str,
    },
    /// A column is compressed by a method that is not built in.
    #[error("the column `{column}` is compressed with {method}; write the file with SNAPPY")]
    Compressed {
        /// The column.
        column: &'static str,
        /// The method.
        method: String,
    },
    /// A column cannot be decoded.
    #[error("the column `{column}` is damaged, near row {row}: {reason}")]
    Column {
        /// The column.
        column: &'static str,
        /// The row, counted from 0 over the whole file, at which the part begins that is damaged.
        row: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A value is none that the column may have.
    #[error("row {row}: the column `{column}` has {found}; {expected} was expected")]
    Value {
        /// The row, counted from 0 over the whole file.
        row: u64,
        /// The column.
        column: &'static str,
        /// The value.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A value is null where the others of its row say that it is known.
    #[error("row {row}: the column `{column}` is null, but `{because_of}` is not")]
    Null {
        /// The row, counted from 0 over the whole file.
        row: u64,
        /// The column.
        column: &'static str,
        /// The column that needs it.
        because_of: &'static str,
    },
    /// A row holds nothing.
    #[error("row {row}: both `enter_ns` and `decided_ns` are null; a row has one of them at least")]
    EmptyRow {
        /// The row, counted from 0 over the whole file.
        row: u64,
    },
    /// A row is of a CPU that the recording does not have.
    #[error("row {row}: is of {cpu}, which the metadata `idlelab.cpus` do not list")]
    UnknownCpu {
        /// The row, counted from 0 over the whole file.
        row: u64,
        /// The CPU.
        cpu: CpuId,
    },
}

/// Why a recording cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The sink failed.
    #[error("cannot be written")]
    Io(#[from] io::Error),
    /// The recording's CPUs are not in ascending order.
    #[error("{0} comes after a CPU of the same or a higher number; CPUs are in ascending order")]
    CpuOrder(CpuId),
    /// The recorded machine would not come back as it is.
    #[error(
        "the machine {0} cannot be described in TOML without loss; idle-state times are whole \
         microseconds there"
    )]
    Machine(String),
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        Self::Io(error.into())
    }
}
