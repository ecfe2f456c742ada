// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording of this machine.
//!
//! ```text
//!  tracefs ─▶ instance, events, probes ─▶ before ─▶ on … pages … off ─▶ after ─▶ undo ─▶ import
//!            └──────────── all in the journal ───────────────────────────────┘
//! ```

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use idlelab_import::ImportError;
use idlelab_recording::{Fidelity, Recording};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::error::{RecordError, refused};
use crate::events::{self, Tracepoint};
use crate::instance::{Instance, Pipe, page_size};
use crate::machine::{copy_file, write};
use crate::probes::{DeviceLayout, GROUP, Probe, probes};
use crate::{Journal, Machine};

/// How often pages are taken out: seldom, since that wakes a CPU, but often enough on a busy one.
const LONGEST_REST: Duration = Duration::from_millis(250);
const SHORTEST_REST: Duration = Duration::from_millis(5);

/// How often it is looked whether the command has ended or somebody wants an end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a command may take to end once it is told to.
const GRACE: Duration = Duration::from_secs(3);

/// How long to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// For so long.
    Time(Duration),
    /// Until this command, with its arguments, ends.
    Command(Vec<OsString>),
    /// Until somebody stops it.
    Stopped,
}

/// What to record.
#[derive(Clone, Debug)]
pub struct Request {
    /// The machine.
    pub machine: Machine,
    /// The folder of the journal.
    pub state: PathBuf,
    /// The folder to keep the kernel's pages in meanwhile.
    pub folder: PathBuf,
    /// Until when.
    pub until: Until,
    /// A governor to switch in once the recording runs, so that its data starts from zero.
    pub from_enable: Option<String>,
    /// The size of each CPU's ring buffer, in KiB.
    pub buffer_kib: u32,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The recording.
    pub recording: Recording,
    /// Why the fidelity is not a higher one.
    pub limit: Option<String>,
    /// What recording cost.
    pub overhead: Overhead,
    /// How the command ended, if it ran to its end.
    pub command_status: Option<std::process::ExitStatus>,
}

/// What recording cost the machine, as measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// How long it was recorded.
    pub elapsed: Duration,
    /// How many CPUs have a buffer.
    pub cpus: usize,
    /// The recorder's own time on CPUs.
    pub recorder: Duration,
    /// How many events were traced.
    pub events: u64,
    /// How many bytes the pages are.
    pub bytes: u64,
    /// How long it takes to trace one event.
    pub per_event: Option<Duration>,
}

impl Overhead {
    /// The share of all CPUs' time that went into tracing and recording, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let tracing = self.per_event.unwrap_or_default().as_secs_f64() * self.events as f64;
        let all = self.elapsed.as_secs_f64() * self.cpus as f64;
        if all > 0.0 { (tracing + self.recorder.as_secs_f64()) / all } else { 0.0 }
    }
}

/// What is set up to record.
struct Session {
    instance: Instance,
    points: Vec<Tracepoint>,
    probes: Vec<Probe>,
    limit: Option<String>,
    page: Vec<u8>,
}

/// Records. Whoever wants it to end sets `stop`; the recording is then whole.
///
/// # Errors
///
/// The kernel or the user's rights do not allow it, or nothing came of it. The machine then is as
/// it was.
pub fn record(request: &Request, stop: &AtomicBool) -> Result<Recorded, RecordError> {
    let journal = Journal::begin(&request.state, "idlelab record");
    let mut journal = journal.map_err(|error| refused(&request.state, error))?;
    let (overhead, limit, command_status) = take(request, stop, &mut journal)?;
    journal.finish()?;
    let recording = idlelab_import::open(&request.folder).map_err(|error| match error {
        ImportError::NoIdle { events, .. } => RecordError::NoIdle { events },
        error => RecordError::Import(error),
    })?;
    Ok(Recorded { recording, limit, overhead, command_status })
}

type Taken = (Overhead, Option<String>, Option<std::process::ExitStatus>);

/// Has the kernel trace, and keeps its pages and all that belongs to them.
fn take(request: &Request, stop: &AtomicBool, journal: &mut Journal) -> Result<Taken, RecordError> {
    let Request { machine, folder, .. } = request;
    let other = request.from_enable.as_deref().map(|asked| other_governor(machine, asked));
    let other = other.transpose()?;
    let tracefs = mounted(machine, journal)?;
    let governor = request.from_enable.clone().or_else(|| machine.governor());
    let mut session = set_up(&tracefs, machine, governor.as_deref(), request.buffer_kib, journal)?;
    describe(request, &session, governor.as_deref())?;
    let per_event = session.instance.cost_of_an_event();
    let mut pipes = session.instance.pipes(folder)?;
    session.instance.enable(&session.points)?;
    for probe in &session.probes {
        session.instance.enable_probe(probe)?;
    }
    if let Some(other) = &other {
        let file = machine.governor_file();
        journal.set(&file, other).map_err(|error| refused(&file, error))?;
    }
    let recorder_before = clock_gettime(ClockId::ProcessCPUTime);
    machine.copy_cpus(&folder.join("before"))?;
    session.instance.start()?;
    let start = Instant::now();
    if let Some(asked) = &request.from_enable {
        let file = machine.governor_file();
        journal.set(&file, asked).map_err(|error| refused(&file, error))?;
        let now = clock_gettime(ClockId::Monotonic);
        let now = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
        write(&folder.join("governor"), format!("{asked} {now}\n").as_bytes())?;
    }
    let waited = wait(request, stop, start, &mut pipes, &mut session.page);
    session.instance.stop()?;
    let elapsed = start.elapsed();
    machine.copy_cpus(&folder.join("after"))?;
    let (mut bytes, command_status) = waited?;
    // Now that nothing is written any more, the last page of each CPU is read too.
    for pipe in &mut pipes {
        loop {
            match pipe.drain(&mut session.page)? {
                0 => break,
                more => bytes += more,
            }
        }
    }
    let recorder_after = clock_gettime(ClockId::ProcessCPUTime);
    let nanoseconds = |time: rustix::time::Timespec| {
        i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
    };
    let recorder = nanoseconds(recorder_after) - nanoseconds(recorder_before);
    let events = session.instance.copy_statistics(folder)?;
    let overhead = Overhead {
        elapsed,
        cpus: pipes.len(),
        recorder: Duration::from_nanos(u64::try_from(recorder).unwrap_or(0)),
        events,
        bytes,
        per_event,
    };
    Ok((overhead, session.limit, command_status))
}

/// A governor to switch away from, so that switching in the asked one begins anew.
fn other_governor(machine: &Machine, asked: &str) -> Result<String, RecordError> {
    let present = machine.governors();
    let other = present.iter().find(|governor| *governor != asked);
    match other {
        Some(other) if present.iter().any(|governor| governor == asked) => Ok(other.clone()),
        _ => Err(RecordError::NoGovernor { asked: asked.to_owned(), present: present.join(", ") }),
    }
}

/// Where tracefs is; mounts it if it is nowhere.
fn mounted(machine: &Machine, journal: &mut Journal) -> Result<PathBuf, RecordError> {
    if let Some(path) = machine.tracefs() {
        return Ok(path);
    }
    let path = machine.path("/sys/kernel/tracing");
    if !path.is_dir() {
        return Err(RecordError::NoTracefs { path });
    }
    journal.mount_tracefs(&path).map_err(|error| refused(&path, error))?;
    Ok(path)
}

/// Sets up what gives the highest fidelity that the kernel allows.
fn set_up(
    tracefs: &Path,
    machine: &Machine,
    governor: Option<&str>,
    buffer_kib: u32,
    journal: &mut Journal,
) -> Result<Session, RecordError> {
    let events = tracefs.join("events");
    if let Err(source) = fs::read_dir(&events) {
        return Err(match source.kind() {
            std::io::ErrorKind::NotFound => RecordError::NoTracefs { path: events },
            _ => RecordError::file(&events, source),
        });
    }
    let points = events::present(&events);
    let (reached, missing) = events::fidelity(&points);
    if reached.is_none() {
        return Err(RecordError::NoIdleEvents { path: events });
    }
    // Before the instance, so that it is undone after: while an instance has a probe's event on, the
    // kernel does not let go of the probe.
    let (probes, limit) = match (reached, governor) {
        (Some(Fidelity::Timers), Some(governor)) => {
            match set_probes(tracefs, machine, governor, journal)? {
                Ok(probes) => (probes, None),
                Err(reason) => (Vec::new(), Some(reason)),
            }
        }
        (Some(Fidelity::Timers), None) => {
            (Vec::new(), Some("the kernel does not tell its governor".to_owned()))
        }
        _ => (Vec::new(), missing.map(|event| format!("the kernel has no event {event}"))),
    };
    let instance = Instance::make(tracefs, buffer_kib, journal)?;
    let page = vec![0; page_size(tracefs).unwrap_or(4096)];
    Ok(Session { instance, points, probes, limit, page })
}

/// Defines the probes, or says why the kernel does not take them.
fn set_probes(
    tracefs: &Path,
    machine: &Machine,
    governor: &str,
    journal: &mut Journal,
) -> Result<Result<Vec<Probe>, String>, RecordError> {
    let file = tracefs.join("kprobe_events");
    if !file.exists() {
        return Ok(Err("the kernel has no kprobe events (CONFIG_KPROBE_EVENTS)".to_owned()));
    }
    let btf = fs::read(machine.path("/sys/kernel/btf/vmlinux")).unwrap_or_default();
    let Some(layout) = DeviceLayout::of(&btf) else {
        let reason = "the kernel does not tell where struct cpuidle_device has its members \
                      (CONFIG_DEBUG_INFO_BTF)";
        return Ok(Err(reason.to_owned()));
    };
    let probes = probes(governor, layout);
    for probe in &probes {
        let event = format!("{GROUP}/{}", probe.name);
        match journal.add_probe(&file, &event, &probe.definition) {
            Ok(()) => {}
            Err(crate::JournalError::Refused { source, .. }) => {
                return Ok(Err(format!(
                    "the kernel refuses the probe `{}`: {source} (arguments in return probes need \
                     Linux 6.9)",
                    probe.definition
                )));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Ok(probes))
}

/// Writes down what is known before the recording begins.
fn describe(
    request: &Request,
    session: &Session,
    governor: Option<&str>,
) -> Result<(), RecordError> {
    let Request { machine, folder, .. } = request;
    session.instance.copy_descriptions(&session.points, &session.probes, folder)?;
    for file in ["proc/kallsyms", "proc/sys/kernel/osrelease", "proc/sys/kernel/version"] {
        copy_file(&machine.path(file), &folder.join(file))?;
    }
    if let Some(governor) = governor {
        write(&folder.join("governor"), format!("{governor}\n").as_bytes())?;
    }
    if let Some((hertz, source)) = machine.configured_tick_rate() {
        write(&folder.join("tick_rate"), format!("{hertz} {source}\n").as_bytes())?;
    }
    let holders = machine.latency_holders().join("\n");
    write(&folder.join("latency_holders"), holders.as_bytes())
}

/// Takes pages out until it is time to end.
fn wait(
    request: &Request,
    stop: &AtomicBool,
    start: Instant,
    pipes: &mut [Pipe],
    page: &mut [u8],
) -> Result<(u64, Option<std::process::ExitStatus>), RecordError> {
    let (mut child, end) = match &request.until {
        Until::Time(time) => (None, start.checked_add(*time)),
        Until::Command(words) => (Some(spawn(words)?), None),
        Until::Stopped => (None, None),
    };
    let waited = take_pages(request, stop, end, child.as_mut(), pipes, page);
    if let Some(child) = &mut child
        && !matches!(waited, Ok((_, Some(_))))
    {
        end_child(child);
    }
    waited
}

fn take_pages(
    request: &Request,
    stop: &AtomicBool,
    end: Option<Instant>,
    mut child: Option<&mut Child>,
    pipes: &mut [Pipe],
    page: &mut [u8],
) -> Result<(u64, Option<std::process::ExitStatus>), RecordError> {
    let buffer = u64::from(request.buffer_kib) * 1024;
    let mut rest = LONGEST_REST;
    let mut bytes = 0;
    let mut next_pages = Instant::now() + rest;
    loop {
        let now = Instant::now();
        if stop.load(Ordering::Relaxed) || end.is_some_and(|end| now >= end) {
            return Ok((bytes, None));
        }
        if let Some(child) = &mut child
            && let Ok(Some(status)) = child.try_wait()
        {
            return Ok((bytes, Some(status)));
        }
        if now >= next_pages {
            let mut most = 0;
            for pipe in &mut *pipes {
                let taken = pipe.drain(page)?;
                most = most.max(taken);
                bytes += taken;
            }
            rest = if most > buffer / 8 {
                (rest / 2).max(SHORTEST_REST)
            } else if most < buffer / 32 {
                (rest * 2).min(LONGEST_REST)
            } else {
                rest
            };
            next_pages = Instant::now() + rest;
        }
        // A signal to stop does not cut a sleep short, and a command may end at any time.
        let look = if child.is_some() { LOOK } else { LONGEST_REST };
        let now = Instant::now();
        let until_end = end.map_or(look, |end| end.saturating_duration_since(now));
        thread::sleep(look.min(until_end).min(next_pages.saturating_duration_since(now)));
    }
}

fn spawn(words: &[OsString]) -> Result<Child, RecordError> {
    let (program, arguments) = words.split_first().map_or((None, words), |(p, a)| (Some(p), a));
    let program = program.cloned().unwrap_or_default();
    Command::new(&program).args(arguments).spawn().map_err(|source| RecordError::Command {
        command: program.to_string_lossy().into_owned(),
        source,
    })
}

/// Ends a command that still runs: first in words, then not.
fn end_child(child: &mut Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(id) = id {
        let _ = kill_process(id, Signal::TERM);
    }
    let until = Instant::now() + GRACE;
    while Instant::now() < until {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of files, without tracefs or with the tracefs of these events.
    fn machine(events: Option<&[&str]>) -> (tempfile::TempDir, Request) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        let cpuidle = root.join("sys/devices/system/cpu/cpuidle");
        write(&cpuidle.join("current_governor"), b"menu\n").unwrap();
        write(&cpuidle.join("available_governors"), b"menu teo\n").unwrap();
        write(&root.join("proc/self/mounts"), b"tracefs /trace tracefs rw 0 0\n").unwrap();
        for event in events.into_iter().flatten() {
            fs::create_dir_all(root.join("trace/events").join(event)).unwrap();
        }
        let request = Request {
            machine: Machine::new(root),
            state: folder.path().join("state"),
            folder: folder.path().join("pages"),
            until: Until::Stopped,
            from_enable: None,
            buffer_kib: 64,
        };
        (folder, request)
    }

    fn refused(request: &Request) -> RecordError {
        record(request, &AtomicBool::new(true)).unwrap_err()
    }

    #[test]
    fn a_kernel_without_tracing_or_without_idle_events_is_told_what_it_lacks() {
        let (_folder, request) = machine(None);
        let error = refused(&request);
        assert!(matches!(error, RecordError::NoTracefs { .. }), "{error}");
        let (_folder, request) = machine(Some(&["sched/sched_switch"]));
        let error = refused(&request);
        assert!(matches!(error, RecordError::NoIdleEvents { .. }), "{error}");
        assert!(error.to_string().contains("power:cpu_idle"), "{error}");
    }

    #[test]
    fn a_governor_that_is_absent_or_alone_cannot_be_switched_in() {
        let (folder, mut request) = machine(Some(&["power/cpu_idle"]));
        request.from_enable = Some("ladder".to_owned());
        assert!(refused(&request).to_string().contains("menu, teo"));
        let available = "root/sys/devices/system/cpu/cpuidle/available_governors";
        write(&folder.path().join(available), b"menu\n").unwrap();
        request.from_enable = Some("menu".to_owned());
        assert!(matches!(refused(&request), RecordError::NoGovernor { .. }));
    }
}
