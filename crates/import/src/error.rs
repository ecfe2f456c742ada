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
    #[error(
        "{name}: is a directory without trace/; give the trace file in it, or a folder that was \
         recorded as `idlelab record --print-setup` says"
    )]
    Directory {
        /// The directory.
        name: String,
    },
    /// A folder's trace is neither there as pages nor as text.
    #[error(
        "{name}: holds neither trace/per_cpu/cpu*/trace_pipe_raw nor trace/trace with events in \
         it; record again as `idlelab record --print-setup` says"
    )]
    NoTraceInFolder {
        /// The folder.
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
    /// The file is a trace that holds but the numbers of its events.
    #[error(
        "{name}:{line}: events in raw form, by number and without fields; switch that off before \
         reading the trace: `echo noraw nohex > trace_options`"
    )]
    RawText {
        /// The file.
        name: String,
        /// The line of the first such event.
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
    /// The file is a trace.dat of a version that idlelab does not know.
    #[error("{name}: a trace.dat of version {version}; versions 6 and 7 are read")]
    TraceDatVersion {
        /// The file.
        name: String,
        /// Its version.
        version: u64,
    },
    /// The file is a trace.dat that is compressed in a way that idlelab does not know.
    #[error(
        "{name}: compressed by {compression}; zlib, zstd and none are read: convert it by \
         `trace-cmd convert --compression none`"
    )]
    UnknownCompression {
        /// The file.
        name: String,
        /// The file's name of it.
        compression: String,
    },
    /// The file lacks a part without which nothing in it can be read.
    #[error(
        "{name}: at byte {offset} of {length} there should be {expected}: the file is cut off or \
         damaged; record it again, and let the recorder end by itself"
    )]
    Damaged {
        /// The file.
        name: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// How long the file is, in bytes.
        length: u64,
        /// What was expected there.
        expected: &'static str,
    },
    /// The file is a trace whose time stamps count something else than time.
    #[error(
        "{name}: its clock, {clock}, does not tell time; record it with \
         `trace-cmd record -C mono`"
    )]
    ClockIsNoTime {
        /// The file.
        name: String,
        /// The kernel's name of the clock.
        clock: String,
    },
    /// The file is a perf.data without descriptions of tracepoints.
    #[error(
        "{name}: a perf.data without tracepoints; record it with `perf record -a -e \
         power:cpu_idle,power:cpu_idle_miss,sched:sched_switch,timer:*,irq:*`"
    )]
    NoTracepoints {
        /// The file.
        name: String,
    },
    /// The file is a trace.dat without a single event.
    #[error(
        "{name}: a trace.dat without events; record it with \
         `trace-cmd record -C mono -e power:cpu_idle`"
    )]
    NoRecords {
        /// The file.
        name: String,
    },
}
