// SPDX-License-Identifier: GPL-2.0-or-later
//! A ring buffer of our own: an instance of tracefs. The buffer at the top and the function tracer
//! are left alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::Journal;
use crate::error::{RecordError, refused};
use crate::events::Tracepoint;
use crate::machine::{copy_file, read, write};
use crate::probes::{GROUP, Probe};

/// The clock of hrtimers' deadlines, so that a sleep length is a difference of two of its times.
pub(crate) const CLOCK: &str = "mono";

/// How many markers it takes to measure what an event costs.
const MARKERS: u32 = 2_000;

/// An instance, which goes when the journal is undone.
pub(crate) struct Instance {
    path: PathBuf,
    tracefs: PathBuf,
}

/// The ends of a CPU's ring buffer: where pages come out, and where they are kept.
pub(crate) struct Pipe {
    pages: File,
    kept: File,
    path: PathBuf,
}

impl Instance {
    /// Makes it: stopped, with its clock and so many KiB a CPU.
    pub(crate) fn make(
        tracefs: &Path,
        kib_per_cpu: u32,
        journal: &mut Journal,
    ) -> Result<Self, RecordError> {
        let path = tracefs.join(format!("instances/idlelab-{}", std::process::id()));
        journal.make_folder(&path).map_err(|error| refused(&path, error))?;
        let instance = Self { path, tracefs: tracefs.to_owned() };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", CLOCK)?;
        instance.set("buffer_size_kb", &kib_per_cpu.to_string())?;
        Ok(instance)
    }

    /// What is set within the instance goes with it, so that no journal is needed.
    fn set(&self, file: &str, value: &str) -> Result<(), RecordError> {
        let path = self.path.join(file);
        fs::write(&path, value).map_err(|source| RecordError::file(&path, source))
    }

    pub(crate) fn enable(&self, points: &[Tracepoint]) -> Result<(), RecordError> {
        for Tracepoint { system, event } in points {
            self.set(&format!("events/{system}/{event}/enable"), "1")?;
        }
        Ok(())
    }

    pub(crate) fn enable_probe(&self, probe: &Probe) -> Result<(), RecordError> {
        self.set(&format!("events/{GROUP}/{}/enable", probe.name), "1")
    }

    pub(crate) fn start(&self) -> Result<(), RecordError> {
        self.set("tracing_on", "1")
    }

    pub(crate) fn stop(&self) -> Result<(), RecordError> {
        self.set("tracing_on", "0")
    }

    /// How long it takes to trace one event, measured: writing a marker with the buffer on, less
    /// the same with it off. Then the buffer is empty again.
    pub(crate) fn cost_of_an_event(&self) -> Option<Duration> {
        let mut marker =
            OpenOptions::new().write(true).open(self.path.join("trace_marker")).ok()?;
        let mut time = || {
            let start = Instant::now();
            for _ in 0..MARKERS {
                // With the buffer off the kernel says so.
                let _ = marker.write(b"idlelab measures");
            }
            start.elapsed()
        };
        self.start().ok()?;
        let on = time();
        self.stop().ok()?;
        let off = time();
        File::create(self.path.join("trace")).ok()?;
        Some(on.checked_sub(off)? / MARKERS)
    }

    /// Copies what it takes to read the pages to `trace/` in a folder.
    pub(crate) fn copy_descriptions(
        &self,
        points: &[Tracepoint],
        probes: &[Probe],
        folder: &Path,
    ) -> Result<(), RecordError> {
        let events = points.iter().map(|point| (point.system, point.event));
        let events = events.chain(probes.iter().map(|probe| (GROUP, probe.name)));
        for (system, event) in events {
            let format = format!("events/{system}/{event}/format");
            copy_file(&self.path.join(&format), &folder.join("trace").join(&format))?;
        }
        for file in ["events/header_page", "printk_formats"] {
            copy_file(&self.tracefs.join(file), &folder.join("trace").join(file))?;
        }
        copy_file(&self.path.join("trace_clock"), &folder.join("trace/trace_clock"))
    }

    /// The names of the CPUs that have a buffer: `cpu0` and so on.
    fn cpus(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path.join("per_cpu")).into_iter().flatten().flatten();
        let mut cpus: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        cpus.sort_unstable();
        cpus
    }

    /// Opens all CPUs' buffers; pages go to `trace/per_cpu/` in a folder.
    pub(crate) fn pipes(&self, folder: &Path) -> Result<Vec<Pipe>, RecordError> {
        let mut pipes = Vec::new();
        for cpu in self.cpus() {
            let path = self.path.join("per_cpu").join(&cpu).join("trace_pipe_raw");
            // Waiting would have the kernel wake us for events, which are of what wakes CPUs.
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            let pages = OpenOptions::new().read(true).custom_flags(flags).open(&path);
            let pages = pages.map_err(|source| RecordError::file(&path, source))?;
            let to = folder.join("trace/per_cpu").join(&cpu).join("trace_pipe_raw");
            write(&to, &[])?;
            let kept = File::create(&to).map_err(|source| RecordError::file(&to, source))?;
            pipes.push(Pipe { pages, kept, path });
        }
        Ok(pipes)
    }

    /// Copies each CPU's statistics to a folder; says how many events were traced.
    pub(crate) fn copy_statistics(&self, folder: &Path) -> Result<u64, RecordError> {
        let mut events = 0;
        for cpu in self.cpus() {
            let file = format!("per_cpu/{cpu}/stats");
            let text = fs::read_to_string(self.path.join(&file)).unwrap_or_default();
            let count = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name));
                line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0)
            };
            events += count("entries:") + count("read events:");
            write(&folder.join("trace").join(&file), text.as_bytes())?;
        }
        Ok(events)
    }
}

impl Pipe {
    /// Takes all pages out, as far as they are written; says how many bytes.
    pub(crate) fn drain(&mut self, page: &mut [u8]) -> Result<u64, RecordError> {
        let mut bytes = 0;
        loop {
            match self.pages.read(page) {
                Ok(0) => return Ok(bytes),
                Ok(count) => {
                    let got = page.get(..count).unwrap_or_default();
                    self.kept
                        .write_all(got)
                        .map_err(|source| RecordError::file(&self.path, source))?;
                    bytes += count as u64;
                    // The kernel fills up a page that is still written with zeroes. To go on would
                    // be to race with the events that the reading itself makes.
                    let tail = got.get(count - count / 4..).unwrap_or_default();
                    if tail.iter().all(|&byte| byte == 0) {
                        return Ok(bytes);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(RecordError::file(&self.path, source)),
            }
        }
    }
}

/// How long a page of the ring buffer is, in bytes, by tracefs' description.
pub(crate) fn page_size(tracefs: &Path) -> Option<usize> {
    let text = String::from_utf8(read(&tracefs.join("events/header_page")).ok()?).ok()?;
    let data = text.lines().find(|line| line.contains("char data;"))?;
    let number = |name: &str| -> Option<usize> {
        data.split(';').find_map(|part| part.trim().strip_prefix(name))?.trim().parse().ok()
    };
    Some(number("offset:")? + number("size:")?)
}
