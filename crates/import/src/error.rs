// SPDX-License-Identifier: GPL-2.0-or-later
use std::io;

use idlelab_recording::parquet::ReadError;
use thiserror::Error;

use crate::Format;

/// Why a file yields no recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file could not be opened or read.
    #[error("{name}: cannot be read")]
    Io {
        /// The file.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A directory was given.
    #[error("{name}: is a directory; give the trace file in it")]
    Directory {
        /// The directory.
        name: String,
    },
    /// The file is empty.
    #[error("{name}: is empty; a recording with cpu_idle events was expected")]
    Empty {
        /// The file.
        name: String,
    },
    /// The file is something that idlelab does not read.
    #[error("{name}: looks like {format}; {}", format.advice())]
    UnsupportedFormat {
        /// The file.
        name: String,
        /// What it looks like.
        format: Format,
    },
    /// The file is a trace whose times are no times.
    #[error(
        "{name}:{line}: time stamps without a decimal point: the trace was taken with the clock \
         counter, x86-tsc or uptime; record it with `echo mono > trace_clock`"
    )]
    NoTimes {
        /// The file.
        name: String,
        /// The line of the first such time stamp.
        line: u64,
    },
    /// The file is text without a single trace event.
    #[error(
        "{name}: no trace event in {lines} lines; ftrace text was expected, as `cat trace` prints \
         it, such as `<idle>-0 [001] d..1. 0.765224: cpu_idle: state=1 cpu_id=1`"
    )]
    NoEvents {
        /// The file.
        name: String,
        /// How many lines were read.
        lines: u64,
    },
    /// The file is a trace without `cpu_idle` events.
    #[error(
        "{name}: {events} trace events but no whole idle period; record with the event \
         power:cpu_idle enabled"
    )]
    NoIdle {
        /// The file.
        name: String,
        /// How many events it has.
        events: u64,
    },
    /// The file is a Parquet file, but damaged or no recording.
    #[error("{name}: {reason}")]
    Parquet {
        /// The file.
        name: String,
        /// What is wrong with it.
        reason: Box<ReadError>,
    },
}
