// SPDX-License-Identifier: GPL-2.0-or-later
use std::io;
use std::path::{Path, PathBuf};

use idlelab_import::ImportError;

use crate::JournalError;

/// Why there is no recording. Whatever had been changed is undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A file cannot be read or written.
    #[error("{}: cannot be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The changes that it takes cannot be made, or not be undone.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The user may not trace.
    #[error(
        "{}: no right to trace; run as root (or with CAP_SYS_ADMIN and CAP_DAC_OVERRIDE), or give \
         the machine's owner what `idlelab record --print-setup` prints", path.display()
    )]
    NoRight {
        /// The file or folder that was refused.
        path: PathBuf,
        /// What the system said.
        source: JournalError,
    },
    /// There is no tracefs.
    #[error(
        "{}: no tracefs here; the kernel needs CONFIG_TRACING and CONFIG_EVENT_TRACING, and a \
         container needs /sys/kernel/tracing of its host", path.display()
    )]
    NoTracefs {
        /// Where it should be.
        path: PathBuf,
    },
    /// The kernel does not trace idle states.
    #[error(
        "{}: the kernel has no event power:cpu_idle; it needs CONFIG_EVENT_TRACING and \
         CONFIG_CPU_IDLE", path.display()
    )]
    NoIdleEvents {
        /// The folder of events.
        path: PathBuf,
    },
    /// The governor to switch in is not there.
    #[error(
        "{asked}: the kernel has no such governor, or none to switch in from; it has: {present}"
    )]
    NoGovernor {
        /// The governor.
        asked: String,
        /// Those that the kernel has.
        present: String,
    },
    /// The command to record cannot be run.
    #[error("{command}: cannot be run")]
    Command {
        /// Its name.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error(
        "{events} events and no whole idle period: no CPU that the kernel's tracer sees went idle; \
         is the machine too busy, or cpuidle off (cpuidle.off=1, idle=poll)?"
    )]
    NoIdle {
        /// How many events there were.
        events: u64,
    },
    /// The pages give no recording.
    #[error("what was recorded gives no recording")]
    Import(#[from] ImportError),
}

impl RecordError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}

/// Tells a lack of rights from other refusals.
pub(crate) fn refused(path: &Path, error: JournalError) -> RecordError {
    match error {
        JournalError::Refused { ref source, .. } | JournalError::Unwritable { ref source, .. }
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            RecordError::NoRight { path: path.to_owned(), source: error }
        }
        error => RecordError::Journal(error),
    }
}
