// SPDX-License-Identifier: GPL-2.0-or-later
//! What has been changed on this machine, written down before it is, so that it can be undone.
//!
//! ```text
//!  note the change ──fsync──▶ make it ──▶ … ──▶ undo all, last first ──▶ remove the journal
//!        │                      │
//!        └── killed here or here: the journal stays; `restore` undoes it, and until then
//!            nobody else changes anything
//! ```
//!
//! The journal is a file of JSON lines. The lock on it goes with the process that holds it, however
//! that ends: a journal that is locked has a living owner, one that is not is of one that died.
//! A line that was not written to its end belongs to a change that was not made. After a reboot
//! there is nothing to undo, since neither sysfs nor tracefs survives one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde::{Deserialize, Serialize};

/// The journal's name in the folder of state.
const FILE: &str = "journal";

/// How often, and how far apart, something busy is tried again: tracefs lets go of an instance
/// only some time after its last reader.
const ATTEMPTS: u32 = 40;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

/// The folder in which this user's journal is kept: `/run/idlelab` for root, which a reboot empties,
/// else `idlelab` in `$XDG_STATE_HOME` or `~/.local/state`.
#[must_use]
pub fn state_folder() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/run/idlelab");
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || PathBuf::from(set("HOME").unwrap_or_default()).join(".local/state");
    set("XDG_STATE_HOME").map_or_else(home, PathBuf::from).join("idlelab")
}

/// Why nothing can be changed, or a change was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal cannot be kept.
    #[error("{}: the journal of changes cannot be kept there, so nothing is changed", path.display())]
    Unwritable {
        /// The journal, or its folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process is at it.
    #[error("this machine is in the hands of {owner}; wait for it or end it")]
    Held {
        /// Who holds the journal.
        owner: String,
    },
    /// An earlier process ended without undoing its changes.
    #[error(
        "{owner} ended before it had undone its changes to this machine ({} of them, in {}); \
         run `idlelab restore` first",
        changes, path.display()
    )]
    Unfinished {
        /// Who made them.
        owner: String,
        /// How many changes there are.
        changes: usize,
        /// The journal.
        path: PathBuf,
    },
    /// A line of the journal makes no sense.
    #[error(
        "{}:{line}: no change that idlelab makes; look at the file, undo by hand what it names, \
         and remove it", path.display()
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why it is none.
        source: serde_json::Error,
    },
    /// A change could not be made.
    #[error("{change}: cannot be done")]
    Refused {
        /// The change.
        change: Change,
        /// What the system said.
        source: io::Error,
    },
    /// A change could not be undone. It stays in the journal.
    #[error("{change}: cannot be undone; `idlelab restore` tries again")]
    NotUndone {
        /// The change.
        change: Change,
        /// What the system said.
        source: io::Error,
    },
}

/// A change to the machine, and all that it takes to undo it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// A file of sysfs or tracefs was given another value.
    Value {
        /// The file.
        path: PathBuf,
        /// What it held before, and gets back.
        old: String,
        /// What it was given.
        new: String,
    },
    /// A folder was made, such as an instance of tracefs.
    Folder {
        /// The folder, which is removed.
        path: PathBuf,
    },
    /// A probe event was defined.
    Probe {
        /// The file that defines probes.
        path: PathBuf,
        /// Its group and name, as in `idlelab/sel`.
        event: String,
        /// How it was defined.
        definition: String,
    },
    /// tracefs was mounted.
    Mount {
        /// Where; it is unmounted there.
        path: PathBuf,
    },
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value { path, old, new } => write!(f, "{}: {old} to {new}", path.display()),
            Self::Folder { path } => write!(f, "{}: a folder made", path.display()),
            Self::Probe { path, event, .. } => write!(f, "{}: probe {event}", path.display()),
            Self::Mount { path } => write!(f, "{}: tracefs mounted", path.display()),
        }
    }
}

/// The first line: who keeps the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    process: u32,
    command: String,
    boot: String,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} ({})", self.process, self.command)
    }
}

/// The changes that this process has made. They are undone when it is dropped, if not before.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    owner: Owner,
    changes: Vec<Change>,
}

/// What a journal held that nobody had undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// There was no journal: nothing had been left.
    Nothing,
    /// The machine was started anew since, which undid everything.
    Rebooted,
    /// These were undone, in this order.
    Undone(Vec<Change>),
}

impl Journal {
    /// Begins a journal in the folder `state`; `command` is what others are told of this process.
    ///
    /// # Errors
    ///
    /// Another process holds it, an earlier one did not undo its changes, or it cannot be written.
    pub fn begin(state: &Path, command: &str) -> Result<Self, JournalError> {
        fs::create_dir_all(state).map_err(|source| unwritable(state, source))?;
        let mut journal = Self::lock(state, command)?;
        let (owner, changes) = journal.read()?;
        let boot = journal.owner.boot.clone();
        if let Some(owner) = owner.filter(|owner| owner.boot == boot && !changes.is_empty()) {
            let (owner, changes) = (owner.to_string(), changes.len());
            return Err(JournalError::Unfinished { owner, changes, path: journal.path.clone() });
        }
        journal.rewrite()?;
        Ok(journal)
    }

    /// Undoes what a process that died had changed.
    ///
    /// # Errors
    ///
    /// A living process holds the journal, it makes no sense, or a change cannot be undone.
    pub fn restore(state: &Path) -> Result<Restored, JournalError> {
        if !state.join(FILE).exists() {
            return Ok(Restored::Nothing);
        }
        let mut journal = Self::lock(state, "idlelab restore")?;
        let (owner, changes) = journal.read()?;
        if owner.is_some_and(|owner| owner.boot != journal.owner.boot) {
            journal.remove()?;
            return Ok(Restored::Rebooted);
        }
        journal.changes.clone_from(&changes);
        journal.rewrite()?;
        journal.undo()?;
        if changes.is_empty() {
            return Ok(Restored::Nothing);
        }
        Ok(Restored::Undone(changes.into_iter().rev().collect()))
    }

    /// Opens the journal and locks it.
    fn lock(state: &Path, command: &str) -> Result<Self, JournalError> {
        let path = state.join(FILE);
        let failed = |source| unwritable(&path, source);
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let owner = Owner {
            process: std::process::id(),
            command: command.to_owned(),
            boot: boot.trim().to_owned(),
        };
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    let owner: Option<Owner> =
                        text.lines().next().and_then(|line| serde_json::from_str(line).ok());
                    let owner = owner
                        .map_or_else(|| "another process".to_owned(), |owner| owner.to_string());
                    return Err(JournalError::Held { owner });
                }
            }
            // Its owner may have removed it between our opening and our locking it.
            if same_file(&file, &path) {
                return Ok(Self { path, file, owner, changes: Vec::new() });
            }
        }
    }

    /// What the file holds.
    fn read(&mut self) -> Result<(Option<Owner>, Vec<Change>), JournalError> {
        let mut text = String::new();
        self.file.read_to_string(&mut text).map_err(|source| unwritable(&self.path, source))?;
        // Behind the last end of a line is what was not written whole.
        let whole = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or_default();
        let mut lines = whole.lines().enumerate();
        let damaged = |number, source| {
            let path = self.path.clone();
            JournalError::Damaged { path, line: number + 1, source }
        };
        let owner = lines
            .next()
            .map(|(number, line)| {
                serde_json::from_str(line).map_err(|error| damaged(number, error))
            })
            .transpose()?;
        let changes = lines
            .map(|(number, line)| {
                serde_json::from_str(line).map_err(|error| damaged(number, error))
            })
            .collect::<Result<_, _>>()?;
        Ok((owner, changes))
    }

    /// Writes the file anew: owner and changes. Until it is whole the old one counts.
    fn rewrite(&mut self) -> Result<(), JournalError> {
        let failed = |source| unwritable(&self.path, source);
        let mut text = line(&self.owner).map_err(failed)?;
        for change in &self.changes {
            text += &line(change).map_err(failed)?;
        }
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.set_len(text.len() as u64))
            .and_then(|()| self.file.sync_all())
            .map_err(failed)
    }

    /// Notes a change, makes it, and takes the note back if it was refused.
    fn change(
        &mut self,
        change: Change,
        make: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), JournalError> {
        let noted = line(&change)
            .and_then(|line| self.file.write_all(line.as_bytes()))
            .and_then(|()| self.file.sync_all());
        noted.map_err(|source| unwritable(&self.path, source))?;
        self.changes.push(change.clone());
        if let Err(source) = make() {
            // A refused change may still have been made in part. Undoing one that was not made
            // does no harm; if that fails too, the note stays.
            if undo(&change).is_ok() {
                self.changes.pop();
                self.rewrite()?;
            }
            return Err(JournalError::Refused { change, source });
        }
        Ok(())
    }

    /// Gives a file of sysfs or tracefs another value.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written, or refuses the value.
    pub fn set(&mut self, path: &Path, value: &str) -> Result<(), JournalError> {
        let read = fs::read_to_string(path);
        let old = read.as_deref().unwrap_or_default().trim().to_owned();
        let change = Change::Value { path: path.to_owned(), old, new: value.to_owned() };
        if let Err(source) = read {
            return Err(JournalError::Refused { change, source });
        }
        self.change(change, || fs::write(path, value))
    }

    /// Makes a folder, such as an instance of tracefs.
    ///
    /// # Errors
    ///
    /// It cannot be made, or is there already.
    pub fn make_folder(&mut self, path: &Path) -> Result<(), JournalError> {
        let change = Change::Folder { path: path.to_owned() };
        if path.exists() {
            let source = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(JournalError::Refused { change, source });
        }
        self.change(change, || fs::create_dir(path))
    }

    /// Defines a probe event, `definition` being of the form `r64:group/name function …`.
    ///
    /// # Errors
    ///
    /// The kernel refuses it.
    pub fn add_probe(
        &mut self,
        path: &Path,
        event: &str,
        definition: &str,
    ) -> Result<(), JournalError> {
        let change = Change::Probe {
            path: path.to_owned(),
            event: event.to_owned(),
            definition: definition.to_owned(),
        };
        self.change(change, || append(path, definition))
    }

    /// Mounts tracefs.
    ///
    /// # Errors
    ///
    /// It cannot be mounted.
    pub fn mount_tracefs(&mut self, path: &Path) -> Result<(), JournalError> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        self.change(Change::Mount { path: path.to_owned() }, || {
            Ok(mount("tracefs", path, "tracefs", flags, None)?)
        })
    }

    /// Undoes all changes, the last first, and removes the journal.
    ///
    /// # Errors
    ///
    /// A change cannot be undone. It stays in the journal with those before it that cannot either;
    /// all others are undone.
    pub fn finish(mut self) -> Result<(), JournalError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), JournalError> {
        let mut left = Vec::new();
        let mut first = None;
        while let Some(change) = self.changes.pop() {
            if let Err(source) = undo(&change) {
                left.insert(0, change.clone());
                first = first.or(Some(JournalError::NotUndone { change, source }));
            }
        }
        match first {
            Some(error) => {
                self.changes = left;
                self.rewrite()?;
                // What remains is for `restore`, not for the drop that follows.
                self.changes.clear();
                Err(error)
            }
            None => self.remove(),
        }
    }

    fn remove(&self) -> Result<(), JournalError> {
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(unwritable(&self.path, source))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.changes.is_empty() {
            // On the way out of a panic or an error nobody listens; what remains is in the file.
            let _ = self.undo();
        }
    }
}

fn unwritable(path: &Path, source: io::Error) -> JournalError {
    JournalError::Unwritable { path: path.to_owned(), source }
}

fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(format!("{text}\n").as_bytes())
}

/// Whether an opened file is still the one of that name.
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (opened, named) = (file.metadata().map(identity), fs::metadata(path).map(identity));
    matches!((opened, named), (Ok(opened), Ok(named)) if opened == named)
}

/// Undoes a change. One that was not made, or is undone already, is none.
fn undo(change: &Change) -> io::Result<()> {
    match change {
        Change::Value { path, old, .. } => match fs::read_to_string(path) {
            Ok(now) if now.trim() == old => Ok(()),
            Ok(_) => patiently(|| fs::write(path, old)),
            Err(error) => gone(error),
        },
        Change::Folder { path } => patiently(|| fs::remove_dir(path).or_else(gone)),
        Change::Mount { path } => {
            // EINVAL: nothing is mounted there.
            patiently(|| match unmount(path, UnmountFlags::empty()) {
                Err(rustix::io::Errno::INVAL) => Ok(()),
                other => other.map_err(io::Error::from),
            })
        }
        Change::Probe { path, event, .. } => match fs::read_to_string(path) {
            Ok(probes) if probes.lines().any(|probe| defines(probe, event)) => {
                patiently(|| append(path, &format!("-:{event}")))
            }
            Ok(_) => Ok(()),
            Err(error) => gone(error),
        },
    }
}

/// Whether a line of `kprobe_events` defines an event: `r64:idlelab/sl function …`.
fn defines(probe: &str, event: &str) -> bool {
    probe.split_whitespace().next().and_then(|word| word.split_once(':')).map(|(_, name)| name)
        == Some(event)
}

/// What is gone needs no undoing.
fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Tries again while something is busy.
fn patiently(mut act: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                thread::sleep(BETWEEN_ATTEMPTS);
            }
            done => return done,
        }
    }
    act()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            fs::write(machine.governor(), "menu\n").unwrap();
            machine
        }

        fn governor(&self) -> PathBuf {
            self.0.path().join("current_governor")
        }

        fn state(&self) -> PathBuf {
            self.0.path().join("state")
        }

        fn journal(&self) -> Journal {
            Journal::begin(&self.state(), "test").unwrap()
        }
    }

    /// As SIGKILL leaves it: nothing is undone, and the lock is let go.
    fn killed(mut journal: Journal) {
        journal.changes.clear();
    }

    #[test]
    fn changes_are_undone_last_first_and_the_journal_is_removed() {
        let machine = Machine::new();
        let mut journal = machine.journal();
        journal.set(&machine.governor(), "teo").unwrap();
        journal.set(&machine.governor(), "ladder").unwrap();
        let folder = machine.0.path().join("instance");
        journal.make_folder(&folder).unwrap();
        assert!(folder.is_dir());
        journal.finish().unwrap();
        assert_eq!(fs::read_to_string(machine.governor()).unwrap(), "menu");
        assert!(!folder.exists());
        assert!(!machine.state().join(FILE).exists());
    }

    #[test]
    fn a_panic_undoes_too() {
        let machine = Machine::new();
        let path = machine.governor();
        let mut journal = machine.journal();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            journal.set(&path, "teo").unwrap();
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
        assert_eq!(fs::read_to_string(machine.governor()).unwrap(), "menu");
    }

    #[test]
    fn after_a_kill_the_next_refuses_until_restore_has_undone() {
        let machine = Machine::new();
        let mut journal = machine.journal();
        journal.set(&machine.governor(), "teo").unwrap();
        killed(journal);
        let refused = Journal::begin(&machine.state(), "next").unwrap_err();
        assert!(matches!(refused, JournalError::Unfinished { changes: 1, .. }), "{refused}");
        assert_eq!(fs::read_to_string(machine.governor()).unwrap(), "teo");
        let Restored::Undone(changes) = Journal::restore(&machine.state()).unwrap() else {
            unreachable!()
        };
        assert_eq!(changes.len(), 1);
        assert_eq!(fs::read_to_string(machine.governor()).unwrap(), "menu");
        assert_eq!(Journal::restore(&machine.state()).unwrap(), Restored::Nothing);
        machine.journal().finish().unwrap();
    }

    #[test]
    fn a_second_process_is_told_who_is_at_it() {
        let machine = Machine::new();
        let _journal = machine.journal();
        let refused = Journal::begin(&machine.state(), "second").unwrap_err().to_string();
        let expected = format!("process {} (test)", std::process::id());
        assert!(refused.contains(&expected), "{refused}");
        assert!(matches!(Journal::restore(&machine.state()), Err(JournalError::Held { .. })));
    }

    #[test]
    fn a_line_that_was_cut_off_belongs_to_a_change_that_was_not_made() {
        let machine = Machine::new();
        let mut journal = machine.journal();
        journal.set(&machine.governor(), "teo").unwrap();
        killed(journal);
        let path = machine.state().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        for end in 0..=text.len() {
            fs::write(machine.governor(), "teo").unwrap();
            fs::write(&path, &text[..end]).unwrap();
            Journal::restore(&machine.state()).unwrap();
            let expected = if end == text.len() { "menu" } else { "teo" };
            assert_eq!(fs::read_to_string(machine.governor()).unwrap(), expected, "{end}");
        }
    }

    #[test]
    fn a_reboot_has_undone_everything() {
        let machine = Machine::new();
        let mut journal = machine.journal();
        journal.owner.boot = "another".to_owned();
        journal.rewrite().unwrap();
        journal.set(&machine.governor(), "teo").unwrap();
        killed(journal);
        assert_eq!(Journal::restore(&machine.state()).unwrap(), Restored::Rebooted);
        assert_eq!(fs::read_to_string(machine.governor()).unwrap(), "teo");
    }

    #[test]
    fn a_refused_change_leaves_no_trace() {
        let machine = Machine::new();
        let mut journal = machine.journal();
        let missing = machine.0.path().join("missing/folder");
        let refused = journal.make_folder(&missing).unwrap_err();
        assert!(matches!(refused, JournalError::Refused { .. }), "{refused}");
        killed(journal);
        assert_eq!(Journal::restore(&machine.state()).unwrap(), Restored::Nothing);
    }

    #[test]
    fn a_probe_is_known_by_its_name() {
        assert!(defines("r64:idlelab/sl tick_nohz_get_sleep_length ret=$retval:s64", "idlelab/sl"));
        assert!(!defines("p:other/sl tick_nohz_get_sleep_length", "idlelab/sl"));
    }
}
