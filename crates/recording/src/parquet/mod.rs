// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording as a Parquet file, to be kept, replayed and read by other tools.
//!
//! A row is one round of the idle loop: the governor's decision and the idle period that it led to,
//! either of which may be missing. Row groups hold one CPU each, in order of time. What is not of
//! one round (machine, governor, notes, …) is text in the file's metadata. The columns are
//! described in `docs/recording-parquet.md`.
//!
//! ```text
//!  Recording ──rows──▶ columns ──▶ row groups │ metadata │ checksum
//!            ◀──rows── columns ◀──            │          │
//! ```
//!
//! ```
//! use idlelab_recording::{CpuRecording, Period, Recording, parquet};
//! use idlelab_states::{CpuId, Nanoseconds};
//!
//! let mut cpu = CpuRecording::new(CpuId(3));
//! cpu.periods.push(&Period { exit: Nanoseconds::from_micros(250), ..Period::default() });
//! let recording = Recording { cpus: vec![cpu], ..Recording::default() };
//!
//! let mut file = Vec::new();
//! parquet::write(&recording, &mut file)?;
//! assert_eq!(parquet::read(file)?, recording);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod error;
mod metadata;
mod read;
mod rounds;
mod row;
mod write;

pub use error::{ReadError, WriteError};
pub use read::read;
pub use write::write;
