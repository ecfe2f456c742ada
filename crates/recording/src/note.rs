// SPDX-License-Identifier: GPL-2.0-or-later
use core::fmt;

use idlelab_states::CpuId;

/// Something that the reader of a recording should know: a loss, an oddity, a part left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// The CPU it concerns, if one.
    pub cpu: Option<CpuId>,
    /// How often it happened, or how many events were lost.
    pub count: u64,
}

/// The kinds of [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// The tracer dropped events; the idle period they fall in is left out.
    LostEvents,
    /// An exit without an entry: the CPU was idle when the recording began.
    IdleAtStart,
    /// An entry without an exit: the CPU was idle when the recording ended.
    IdleAtEnd,
    /// An entry followed by another entry.
    EntryWithoutExit,
    /// An exit that follows another exit.
    ExitWithoutEntry,
    /// An event earlier than the one before it on the same CPU.
    OutOfOrder,
    /// A line that is no event.
    UnknownLine,
    /// An event of a kind that is read, without a field that it needs.
    IncompleteEvent,
    /// A state number that no table can hold.
    StateOutOfRange,
    /// The last line is cut.
    CutFile,
}

impl NoteKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::LostEvents,
        Self::IdleAtStart,
        Self::IdleAtEnd,
        Self::EntryWithoutExit,
        Self::ExitWithoutEntry,
        Self::OutOfOrder,
        Self::UnknownLine,
        Self::IncompleteEvent,
        Self::StateOutOfRange,
        Self::CutFile,
    ];

    /// The word that stands for it in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LostEvents => "lost-events",
            Self::IdleAtStart => "idle-at-start",
            Self::IdleAtEnd => "idle-at-end",
            Self::EntryWithoutExit => "entry-without-exit",
            Self::ExitWithoutEntry => "exit-without-entry",
            Self::OutOfOrder => "out-of-order",
            Self::UnknownLine => "unknown-line",
            Self::IncompleteEvent => "incomplete-event",
            Self::StateOutOfRange => "state-out-of-range",
            Self::CutFile => "cut-file",
        }
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LostEvents => "events lost by the tracer; idle periods there are left out",
            Self::IdleAtStart => "idle when the recording began, that period left out",
            Self::IdleAtEnd => "idle when the recording ended, that period left out",
            Self::EntryWithoutExit => "entries into idle without an exit, left out",
            Self::ExitWithoutEntry => "exits from idle without an entry, left out",
            Self::OutOfOrder => "events earlier than the one before them",
            Self::UnknownLine => "lines that are no events, skipped",
            Self::IncompleteEvent => "events without a field that they need, skipped",
            Self::StateOutOfRange => "idle states beyond the ten that a table holds, skipped",
            Self::CutFile => "line cut by the end of the file, skipped",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cpu) = self.cpu {
            write!(f, "{cpu}: ")?;
        }
        write!(f, "{} {}", self.count, self.kind)
    }
}
