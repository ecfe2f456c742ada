// SPDX-License-Identifier: GPL-2.0-or-later
//! Readers of foreign traces, and of the recordings that idlelab wrote itself.
//!
//! [`open`] recognises a file by its content, never by its name, and turns it into a
//! [`Recording`]. Readers stream: they hold what is kept, not the file (but for a
//! trace.dat that comes through a pipe or gzip). Bad input is normal: what
//! cannot be read is counted in the recording's notes, and only a file that yields no idle period
//! at all is an error. A folder is read if it is a copy of what the kernel recorded, as
//! `idlelab record --print-setup` makes it.
//!
//! ```
//! let text = b"\
//!           <idle>-0       [001] d..1.     0.765224: cpu_idle: state=1 cpu_id=1
//!           <idle>-0       [001] d..1.     0.765954: cpu_idle: state=4294967295 cpu_id=1
//! ";
//! let recording = idlelab_import::read(&text[..], "example")?;
//! assert_eq!(recording.periods(), 1);
//! # Ok::<(), idlelab_import::ImportError>(())
//! ```

mod bytes;
mod error;
mod event;
mod folder;
mod format;
mod ftrace;
mod names;
mod perf_data;
mod trace_dat;
mod tracepoint;
mod tracker;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use idlelab_recording::{Recording, parquet};

pub use error::ImportError;
pub use format::Format;

/// How much is read from the source at once, in bytes.
const BUFFER: usize = 1 << 18;

/// How much of a file is looked at to recognise its format, in bytes.
const START: u64 = 4096;

/// Reads the recording in a file.
///
/// # Errors
///
/// A file that cannot be read, that is of a format that idlelab does not read, that holds no
/// `cpu_idle` event, or a Parquet file that is damaged or no recording.
pub fn open(path: &Path) -> Result<Recording, ImportError> {
    open_through(path, |file, _| file)
}

/// As [`open`], with the file read through something that looks on, such as a progress bar:
/// `through` is given the file and its length in bytes.
///
/// # Errors
///
/// As [`open`].
pub fn open_through<R: Read + Seek>(
    path: &Path,
    through: impl FnOnce(File, u64) -> R,
) -> Result<Recording, ImportError> {
    let name = path.display().to_string();
    let failed = |source| ImportError::Io { name: name.clone(), source };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return folder::read(path);
    }
    let source = through(file, metadata.len());
    if metadata.is_file() { read_seekable(source, &name) } else { read(source, &name) }
}

/// Reads the recording in `source`, of which it holds no more than it needs; `name` is what
/// messages call it. A gzip stream is unpacked.
///
/// # Errors
///
/// As [`open`].
fn read_seekable(mut source: impl Read + Seek, name: &str) -> Result<Recording, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let mut start = Vec::new();
    source.by_ref().take(START).read_to_end(&mut start).map_err(failed)?;
    source.rewind().map_err(failed)?;
    match format::recognise(&start) {
        Format::TraceDat => trace_dat::read(source, name),
        Format::PerfData => perf_data::read(source, name),
        _ => read(source, name),
    }
}

/// Reads the recording in `source`; `name` is what messages call it. A gzip stream is unpacked. A
/// trace.dat is held in memory as a whole, since its parts are in no order.
///
/// # Errors
///
/// As [`open`].
pub fn read(source: impl Read, name: &str) -> Result<Recording, ImportError> {
    read_buffered(BufReader::with_capacity(BUFFER, source), name)
}

fn read_buffered(mut source: impl BufRead, name: &str) -> Result<Recording, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let start = source.fill_buf().map_err(failed)?;
    match format::recognise(start) {
        Format::Gzip => {
            read_unpacked(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(source)), name)
        }
        _ => read_unpacked(source, name),
    }
}

fn read_unpacked(mut source: impl BufRead, name: &str) -> Result<Recording, ImportError> {
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    let start = source.fill_buf().map_err(failed)?;
    match format::recognise(start) {
        Format::FtraceText => ftrace::read(source, name),
        Format::Parquet => read_parquet(source, name),
        Format::TraceDat => trace_dat::read(Cursor::new(whole(source, name)?), name),
        Format::PerfData if perf_data::is_pipe(start) => perf_data::read_pipe(source, name),
        Format::PerfData => perf_data::read(Cursor::new(whole(source, name)?), name),
        Format::Empty => Err(ImportError::Empty { name: name.to_owned() }),
        format => Err(ImportError::UnsupportedFormat { name: name.to_owned(), format }),
    }
}

/// A Parquet file begins at its end, so it is held whole: a small part of what it unpacks to.
fn read_parquet(source: impl Read, name: &str) -> Result<Recording, ImportError> {
    parquet::read(whole(source, name)?)
        .map_err(|reason| ImportError::Parquet { name: name.to_owned(), reason: Box::new(reason) })
}

/// All of a source.
fn whole(mut source: impl Read, name: &str) -> Result<Vec<u8>, ImportError> {
    let mut whole = Vec::new();
    let failed = |source| ImportError::Io { name: name.to_owned(), source };
    source.read_to_end(&mut whole).map_err(failed)?;
    Ok(whole)
}
