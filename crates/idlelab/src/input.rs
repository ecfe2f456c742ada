// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings and platforms as users name them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use idlelab_import::ImportError;
use idlelab_platform::{Platform, dump, embedded, sysfs};
use idlelab_recording::Recording;
use indicatif::{ProgressBar, ProgressStyle};

/// The recording that is built in, and the machine that it is from.
const BUILT_IN: &[u8] = include_bytes!("../../../recordings/teo-7.3-4cpu.txt.gz");
const BUILT_IN_NAME: &str = "built-in teo-7.3-4cpu.txt.gz";
pub(crate) const BUILT_IN_PLATFORM: &str = "testbed-arm64-4cpu";

/// Reads a recording, with a progress bar if standard error is a terminal.
pub(crate) fn recording(path: Option<&Path>) -> Result<Recording> {
    let Some(path) = path else {
        return Ok(idlelab_import::read(BUILT_IN, BUILT_IN_NAME)?);
    };
    if path.as_os_str() == "-" {
        return Ok(idlelab_import::read(io::stdin().lock(), "standard input")?);
    }
    let name = path.display().to_string();
    let failed = |source| ImportError::Io { name: name.clone(), source };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(ImportError::Directory { name }.into());
    }
    let bar = ProgressBar::new(metadata.len());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = bar.with_style(style).with_message("reading");
    let is_file = metadata.is_file();
    let file = bar.wrap_read(file);
    let read = if is_file {
        idlelab_import::read_seekable(file, &name)
    } else {
        idlelab_import::read(file, &name)
    };
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
        bail!(
            "{given}: no built-in platform and no file is called so; `idlelab platforms` lists \
             what is built in"
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

/// A counter dump has neither tables nor assignments.
fn looks_like_toml(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| line.starts_with('[') || line.contains(" = "))
}
