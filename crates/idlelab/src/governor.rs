// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors as users name them: one of the catalogue, or a C file.

use std::fmt;
use std::path::Path;

use anyhow::{Result, anyhow};
use idlelab_governors::Governor;
use idlelab_governors::catalog::{self, GovernorName, Standing};
use idlelab_kernelc::{Program, Source};
use idlelab_replay::{Candidate, Foreign};
use idlelab_states::{CpuId, TickRate};

/// A governor as it was given.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    Named(GovernorName),
    File(Source),
}

/// Reads a name or, where it has a slash or ends in `.c`, a path. Says what to beware of where the
/// name was read, so that no command can forget to.
pub(crate) fn parse(text: &str) -> Result<Given, String> {
    if text.contains('/') || text.ends_with(".c") {
        return Source::open(text).map(Given::File).map_err(|error| error.to_string());
    }
    let found = catalog::resolve(text).map_err(|error| error.to_string())?;
    if let Some(caveat) = found.basis.caveat() {
        eprintln!("idlelab: {text} is taken to be {}: {caveat}", found.name);
    }
    Ok(Given::Named(found.name))
}

/// A governor that can run on a kernel of one tick rate.
pub(crate) enum Ready {
    Named(GovernorName),
    File(Compiled),
}

/// A C file, compiled.
pub(crate) struct Compiled {
    name: String,
    program: Program,
}

impl fmt::Display for Given {
    /// As one types it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::File(source) => source.path().display().fmt(f),
        }
    }
}

impl Given {
    /// Compiles it, if it is a file.
    pub(crate) fn ready(&self, rate: TickRate) -> Result<Ready> {
        let ready = ready(std::slice::from_ref(self), rate)?;
        ready.into_iter().next().ok_or_else(|| anyhow!("no governor was given"))
    }
}

/// Compiles those that are files. They go by their file names, or by their paths where two files
/// have one name.
pub(crate) fn ready(all: &[Given], rate: TickRate) -> Result<Vec<Ready>> {
    let paths: Vec<&Path> = all
        .iter()
        .filter_map(|given| match given {
            Given::File(source) => Some(source.path()),
            Given::Named(_) => None,
        })
        .collect();
    all.iter()
        .map(|given| {
            let source = match given {
                Given::Named(name) => return Ok(Ready::Named(*name)),
                Given::File(source) => source,
            };
            let path = source.path();
            let is_alone =
                paths.iter().all(|other| *other == path || other.file_name() != path.file_name());
            let name = path.file_name().filter(|_| is_alone).unwrap_or(path.as_os_str());
            let name = name.to_string_lossy().into_owned();
            Ok(Ready::File(Compiled { name, program: source.compile(rate)? }))
        })
        .collect()
}

impl Ready {
    /// For a replay.
    pub(crate) fn candidate(&self) -> Candidate<'_> {
        match self {
            Self::Named(name) => Candidate::Named(*name),
            Self::File(file) => Candidate::Foreign(file),
        }
    }

    /// Of the catalogue, if it is.
    pub(crate) fn name(&self) -> Option<GovernorName> {
        match self {
            Self::Named(name) => Some(*name),
            Self::File(_) => None,
        }
    }

    /// The governor of one CPU.
    pub(crate) fn build(&self, cpu: CpuId, rate: TickRate) -> Box<dyn Governor> {
        match self {
            Self::Named(name) => Box::new(name.build(rate)),
            Self::File(file) => file.build(cpu),
        }
    }

    /// What went wrong in it, so that its figures are worth nothing. What it said goes to standard
    /// error.
    pub(crate) fn failure(&self) -> Option<String> {
        let Self::File(Compiled { program, name }) = self else { return None };
        program.messages().iter().for_each(|message| eprintln!("idlelab: {name} says: {message}"));
        program.failure().map(|failure| failure.to_string())
    }
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.candidate().fmt(f)
    }
}

impl Foreign for Compiled {
    fn name(&self) -> &str {
        &self.name
    }

    fn build(&self, cpu: CpuId) -> Box<dyn Governor> {
        Box::new(self.program.instance(cpu))
    }
}

/// What must be said of a governor whose figures are to be taken with a grain of salt.
pub(crate) fn caveat(name: GovernorName) -> Option<String> {
    (name.entry().standing == Standing::Reconstructed).then(|| {
        format!("{name} is reconstructed from mails and changelogs, never compared with its C")
    })
}

/// What a governor of this name may be taken for; none if the catalogue does not have it.
pub(crate) fn standing(name: &str) -> Option<String> {
    catalog::find(name).ok().map(|name| name.entry().standing.to_string())
}
