// SPDX-License-Identifier: GPL-2.0-or-later
//! Raw pages of the ring buffer as `trace_pipe_raw` hands them out, in one file a CPU, with the
//! kernel's descriptions beside them under the names that tracefs has for them.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use idlelab_recording::Recording;

use super::Merge;
use super::area::Area;
use super::container::{Contents, Input};
use super::page::Layout;
use super::unpack::Compression;
use crate::ImportError;
use crate::bytes::ByteOrder;
use crate::tracepoint::{Format, Names, Symbols, saved};

/// What a folder of pages consists of.
pub(crate) struct Pages<'a> {
    /// A copy of tracefs, or as much of it as is needed.
    pub(crate) tracefs: &'a Path,
    /// A copy of `/proc/kallsyms`, without which ticks look like other timers.
    pub(crate) kallsyms: &'a Path,
    /// What messages call it.
    pub(crate) name: &'a str,
}

/// The CPUs of which there are pages, and the files; empty ones, of CPUs that traced nothing, too.
fn files(tracefs: &Path) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(tracefs.join("per_cpu")).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let cpu = entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok()?;
            let file = entry.path().join("trace_pipe_raw");
            file.is_file().then_some((cpu, file))
        })
        .collect();
    files.sort_unstable();
    files
}

/// Reads the folder; none if it holds no page.
pub(crate) fn read(pages: &Pages<'_>) -> Result<Option<Recording>, ImportError> {
    let mut joined = Joined { parts: Vec::new(), at: 0 };
    let mut cpus = Vec::new();
    for (cpu, path) in files(pages.tracefs) {
        let failed = |source| ImportError::Io { name: path.display().to_string(), source };
        let file = File::open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length > 0 {
            cpus.push((cpu, joined.add(file, length), length));
        }
    }
    if cpus.is_empty() {
        return Ok(None);
    }
    let needed = |path: &str| {
        let path = pages.tracefs.join(path);
        fs::read(&path)
            .map_err(|source| ImportError::Io { name: path.display().to_string(), source })
    };
    let header_page = needed("events/header_page")?;
    let clock = needed("trace_clock")?;
    let mut input = Input::new(joined, pages.name)?;
    let expected = "a description of ring-buffer pages (events/header_page) that can be read";
    let layout = Layout::parse(&header_page).zip(Layout::page_size(&header_page));
    let (layout, page_size) = layout.ok_or_else(|| input.damaged(0, expected))?;
    let mut order = None;
    for &(_, offset, _) in &cpus {
        let mut page = Vec::new();
        input.read(offset, page_size as u64, &mut page)?;
        order = order.or(layout.order(&page));
    }
    let order: ByteOrder =
        order.ok_or_else(|| input.damaged(0, "a page of the ring buffer with events"))?;
    // What no file holds is not known, and its lack is noted where it matters.
    let or_empty = |path: &Path| fs::read(path).unwrap_or_default();
    let areas = cpus.into_iter().map(|(cpu, offset, size)| Area {
        cpu,
        buffer: 0,
        clock: super::options::clock_name(&clock).unwrap_or_default(),
        page_size,
        offset,
        size,
        compression: Compression::None,
    });
    let contents = Contents {
        order,
        layout,
        formats: formats(&pages.tracefs.join("events")),
        names: Names {
            symbols: Symbols::parse(&or_empty(pages.kallsyms)),
            strings: saved::strings(&or_empty(&pages.tracefs.join("printk_formats"))),
        },
        areas: areas.collect(),
        tsc_to_nanoseconds: None,
        shifted: false,
    };
    let mut merge = Merge::new(&mut input, contents)?;
    merge.run()?;
    merge.finish().map(Some)
}

/// The descriptions of all events that there are, `<system>/<event>/format`.
fn formats(events: &Path) -> Vec<Format> {
    let folders = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        paths
    };
    let events = folders(events).into_iter().flat_map(|system| folders(&system));
    let texts = events.filter_map(|event| fs::read(event.join("format")).ok());
    texts.map(|text| Format::parse(&text)).collect()
}

/// Several files, one behind the other.
struct Joined {
    /// Each file, and where it ends.
    parts: Vec<(File, u64)>,
    at: u64,
}

impl Joined {
    fn length(&self) -> u64 {
        self.parts.last().map_or(0, |&(_, end)| end)
    }

    /// Adds a file; says where it begins.
    fn add(&mut self, file: File, length: u64) -> u64 {
        let start = self.length();
        self.parts.push((file, start.saturating_add(length)));
        start
    }
}

impl Read for Joined {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let number = self.parts.partition_point(|&(_, end)| end <= self.at);
        let before = number.checked_sub(1).and_then(|number| self.parts.get(number));
        let start = before.map_or(0, |&(_, end)| end);
        let Some((file, end)) = self.parts.get_mut(number) else { return Ok(0) };
        file.seek(SeekFrom::Start(self.at - start))?;
        let read = file.take(*end - self.at).read(to)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Joined {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.length().checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn joined_files_read_as_one() {
        let mut joined = Joined { parts: Vec::new(), at: 0 };
        for text in ["ab", "cde"] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            joined.add(file, text.len() as u64);
        }
        let mut text = String::new();
        joined.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abcde");
        joined.seek(SeekFrom::End(-4)).unwrap();
        text.clear();
        joined.read_to_string(&mut text).unwrap();
        assert_eq!(text, "bcde");
    }
}
