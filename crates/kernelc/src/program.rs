// SPDX-License-Identifier: GPL-2.0-or-later
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use idlelab_states::CpuId;
use tempfile::TempDir;

use crate::compiler::Object;
use crate::failure::Failure;
use crate::loaded::Loaded;
use crate::{Error, Guest, Place, Source};

/// A compiled governor file, of which each CPU gets a copy.
#[derive(Clone)]
pub struct Program {
    shared: Arc<Shared>,
}

/// What all copies have in common.
pub(crate) struct Shared {
    pub(crate) file: String,
    governor: String,
    object: Vec<u8>,
    path: PathBuf,
    _folder: Option<TempDir>,
    failures: Mutex<BTreeMap<CpuId, Failure>>,
    said: Mutex<BTreeSet<String>>,
}

impl Program {
    pub(crate) fn load(object: Object, source: &Source) -> Result<Self, Error> {
        let path = || source.path().to_owned();
        let mut shared = Shared {
            file: source.path().display().to_string(),
            governor: String::new(),
            object: object.bytes,
            path: object.path,
            _folder: object.folder,
            failures: Mutex::default(),
            said: Mutex::default(),
        };
        // Once for trial, so that what can be known before a run is said before it.
        let (_, mut names) = match shared.copy(CpuId(0)) {
            Ok(copy) => copy,
            Err(CopyError::Load(reason)) => return Err(Error::Unloadable { path: path(), reason }),
            Err(CopyError::Failed(failure)) => return Err(Error::Initialisation { failure }),
        };
        shared.governor = match (names.pop(), names.is_empty()) {
            (Some(only), true) => only,
            (Some(last), false) => {
                names.push(last);
                return Err(Error::SeveralGovernors { path: path(), names });
            }
            (None, _) => return Err(Error::NoGovernor { path: path() }),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The name under which the file registers its governor.
    #[must_use]
    pub fn governor(&self) -> &str {
        &self.shared.governor
    }

    /// The governor of a CPU, with data of its own. Once something has gone wrong on a CPU, there is
    /// no point in running the file on any after it: those keep the tick in state 0 from the start.
    #[must_use]
    pub fn instance(&self, cpu: CpuId) -> Guest {
        Guest::new(&self.shared, cpu)
    }

    /// What went wrong so far, of the lowest CPU on which something did. Figures of a run in which
    /// something did are worth nothing.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let failures = self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.values().next().cloned()
    }

    /// What the governor has said so far by `pr_warn()`, `WARN_ON()` and the like, each message
    /// once, in the order of the alphabet.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let said = self.shared.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.iter().cloned().collect()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("file", &self.shared.file)
            .field("governor", &self.shared.governor)
            .finish_non_exhaustive()
    }
}

/// Why there is no copy.
pub(crate) enum CopyError {
    /// It cannot be loaded.
    Load(String),
    /// Its initcalls failed.
    Failed(Failure),
}

impl Shared {
    /// One more copy, initialised, and the governors that it registers.
    pub(crate) fn copy(&self, cpu: CpuId) -> Result<(Loaded, Vec<String>), CopyError> {
        let mut loaded = Loaded::new(&self.object).map_err(CopyError::Load)?;
        // SAFETY: the copy is this function's own, and nothing runs in it. Messages reach `self`
        // only in calls, which end before this does.
        unsafe { (*loaded.guest()).program = (&raw const *self).cast() };
        match loaded.initialise(cpu) {
            Ok(names) => Ok((loaded, names)),
            Err(left) => Err(CopyError::Failed(Failure::of(self, &loaded, cpu, left))),
        }
    }

    /// Whether something has gone wrong on this CPU or one before it.
    pub(crate) fn has_failed_up_to(&self, cpu: CpuId) -> bool {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.keys().next().is_some_and(|first| *first <= cpu)
    }

    pub(crate) fn failed(&self, failure: Failure) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.entry(failure.cpu).or_insert(failure);
    }

    pub(crate) fn said(&self, message: &str) {
        // A governor that complains at each call is not to fill the memory.
        const MESSAGES: usize = 100;
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MESSAGES {
            said.insert(message.trim_end().to_owned());
        }
    }

    /// Function and line at an offset into the object, if the system has a tool that tells.
    pub(crate) fn place(&self, offset: usize) -> Option<Place> {
        let output = Command::new("addr2line")
            .args(["-f", "-e"])
            .arg(&self.path)
            .arg(format!("{offset:#x}"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut lines = printed.lines();
        let function = lines.next().filter(|name| *name != "??").map(ToOwned::to_owned);
        let (_, line) = lines.next()?.rsplit_once(':')?;
        let line = line.split(' ').next()?.parse().ok().filter(|line| *line > 0)?;
        Some(Place { function, line })
    }
}
