// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings and platforms as users name them.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use idlelab_evidence::Sourced;
use idlelab_outcome::count::Snapshot;
use idlelab_outcome::file;
use idlelab_platform::{Platform, dump, embedded, sysfs};
use idlelab_recording::Recording;
use indicatif::{ProgressBar, ProgressStyle};

/// The recording that is built in, and the machine that it is from.
const BUILT_IN: &[u8] = include_bytes!("../../../recordings/teo-7.3-4cpu.txt.gz");
const BUILT_IN_NAME: &str = "built-in teo-7.3-4cpu.txt.gz";
const BUILT_IN_PLATFORM: &str = "testbed-arm64-4cpu";

/// Reads a recording, with a progress bar if standard error is a terminal.
pub(crate) fn recording(path: Option<&Path>) -> Result<Recording> {
    let Some(path) = path else {
        let mut recording = idlelab_import::read(BUILT_IN, BUILT_IN_NAME)?;
        recording.machine = embedded::get(BUILT_IN_PLATFORM);
        return Ok(recording);
    };
    if path.as_os_str() == "-" {
        return Ok(idlelab_import::read(io::stdin().lock(), "standard input")?);
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(0).with_style(style).with_message("reading");
    let read = idlelab_import::open_through(path, |file, length| {
        bar.set_length(length);
        bar.wrap_read(file)
    });
    bar.finish_and_clear();
    Ok(read?)
}

/// Finds a platform by what a user gave: a name, a file, or the root of a /sys tree. Warnings go to
/// standard error.
pub(crate) fn platform(given: &str) -> Result<Platform> {
    if let Some(platform) = embedded::get(given) {
        return Ok(platform);
    }
    let path = Path::new(given);
    if path.is_dir() {
        let (platform, warnings) = sysfs::read(path)?;
        warnings.iter().for_each(|warning| eprintln!("idlelab: warning: {warning}"));
        return Ok(platform);
    }
    if !path.exists() {
        let nearest = embedded::nearest(given)
            .map_or_else(String::new, |nearest| format!(" (did you mean {nearest}?)"));
        bail!(
            "{given}: no built-in platform{nearest} and no file is called so; `idlelab platforms` \
             lists what is built in"
        );
    }
    let text = fs::read_to_string(path)
        .with_context(|| format!("{given}: a TOML file or a counter dump was expected"))?;
    if looks_like_toml(&text) {
        let (platform, warnings) = Platform::from_toml(given, &text)?;
        warnings.iter().for_each(|warning| eprintln!("idlelab: warning: {warning}"));
        return Ok(platform);
    }
    let platform = dump::parse(given, &text)?.platform(given)?;
    Ok(platform)
}

/// Reads a counter snapshot by what a user gave: a dump, the root of a /sys tree, or standard
/// input. Warnings go to standard error.
pub(crate) fn snapshot(given: &str) -> Result<Snapshot> {
    let path = Path::new(given);
    if path.is_dir() {
        let (cpus, warnings) = sysfs::counters(path)?;
        warnings.iter().for_each(|warning| eprintln!("idlelab: warning: {warning}"));
        if cpus.is_empty() {
            bail!("{given}: no CPU has idle states here; is there a cpuidle driver?");
        }
        return Ok(Snapshot { governor: sysfs::current_governor(path), cpus });
    }
    let mut bytes = Vec::new();
    let name = if given == "-" {
        io::stdin().lock().read_to_end(&mut bytes).context("standard input cannot be read")?;
        "standard input"
    } else {
        bytes = fs::read(path)
            .with_context(|| format!("{given}: a counter dump or a folder was expected"))?;
        given
    };
    let dump = dump::parse(name, &String::from_utf8_lossy(&bytes))?;
    if let Some(first) = dump.skipped.first() {
        let more = match dump.skipped.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        eprintln!(
            "idlelab: warning: {name}:{}: passed over, not a counter: {}{more}",
            first.line, first.text
        );
    }
    Ok(Snapshot { governor: dump.governor, cpus: dump.cpus })
}

/// Reads outcomes from files by what a user gave. What must be known of how they were read goes to
/// standard error.
pub(crate) fn outcomes(given: &[String]) -> Result<Vec<Sourced>> {
    if given.iter().filter(|name| *name == "-").count() > 1 {
        bail!("standard input can be only one of the files");
    }
    let mut all = Vec::new();
    for given in given {
        let (name, read) = if given == "-" {
            ("standard input", file::read(&mut io::stdin().lock(), "standard input")?)
        } else {
            let mut opened = fs::File::open(given)
                .with_context(|| format!("{given}: a file of outcomes was expected"))?;
            (given.as_str(), file::read(&mut opened, given)?)
        };
        read.notes.iter().for_each(|note| eprintln!("idlelab: {name}: {note}"));
        let sourced = |outcome| Sourced { source: name.to_owned(), outcome };
        all.extend(read.outcomes.into_iter().map(sourced));
    }
    Ok(all)
}

/// A counter dump has neither tables nor assignments.
fn looks_like_toml(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| line.starts_with('[') || line.contains(" = "))
}
