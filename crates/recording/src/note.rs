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

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// As is to be expected of a recording: nothing to do.
    Info,
    /// Something is odd, or less is known than could be.
    Warning,
    /// A part of what happened is missing.
    DataLoss,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::DataLoss => "data loss",
        })
    }
}

/// The kinds of [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// The tracer dropped events; the idle period they fall in is left out.
    LostEvents,
    /// Events that newer ones overwrote before the trace was read: it begins later than it was
    /// switched on.
    OverwrittenEvents,
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
    /// The file ends in the midst of a line or of a CPU's data.
    CutFile,
    /// A page of the ring buffer holds something else than events.
    DamagedPage,
    /// The CPU idles, as the scheduler tells, but has no `cpu_idle` events: it is left out.
    NoIdleEvents,
    /// A `cpu_idle` event that another CPU than the one it names traced.
    TracedElsewhere,
    /// A stay that is shorter than one that the kernel called too short for the same state, and
    /// yet was not called so: the driver seems to have rejected the state.
    LooksRejected,
    /// A CPU was taken offline; the periods before and after are not joined.
    Offline,
    /// Idle periods during suspend: no governor chose them.
    Suspended,
    /// Timers' deadlines are told by another clock than the trace's, and were brought to it.
    OtherTimerClock,
    /// A CPU's data in a buffer with another clock than the first buffer's.
    OtherClock,
    /// An event that a second buffer recorded as well.
    RecordedTwice,
    /// A time stamp that 64 bits of nanoseconds cannot hold.
    TimeOutOfRange,
    /// Functions have no names, so that ticks cannot be told from other timers.
    UnnamedFunctions,
    /// The file asks that its times be moved to another clock.
    ShiftNotApplied,
    /// A time stamp that does not tell time.
    NoTime,
    /// An idle period of a kernel that has no `cpu_idle` but `power_start`, in which drivers told
    /// states by other numbers than cpuidle's.
    PowerEvents,
    /// An event of a guest, whose CPUs are not the machine's.
    GuestEvents,
    /// A record that cannot be, after which nothing in the file can be found.
    DamagedRecord,
    /// An entry into an idle state that the kernel counted and the tracer did not see.
    UntracedIdle,
    /// An idle period under another governor than the recorded one, before that was switched in.
    OtherGovernor,
}

impl NoteKind {
    /// How much notes of this kind matter.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::IdleAtStart
            | Self::IdleAtEnd
            | Self::Offline
            | Self::Suspended
            | Self::OtherTimerClock
            | Self::RecordedTwice
            | Self::GuestEvents
            | Self::OtherGovernor
            | Self::ShiftNotApplied => Severity::Info,
            Self::EntryWithoutExit
            | Self::ExitWithoutEntry
            | Self::OutOfOrder
            | Self::UnknownLine
            | Self::StateOutOfRange
            | Self::NoIdleEvents
            | Self::TracedElsewhere
            | Self::LooksRejected
            | Self::UnnamedFunctions
            | Self::PowerEvents => Severity::Warning,
            Self::LostEvents
            | Self::OverwrittenEvents
            | Self::IncompleteEvent
            | Self::CutFile
            | Self::DamagedPage
            | Self::DamagedRecord
            | Self::OtherClock
            | Self::TimeOutOfRange
            | Self::UntracedIdle
            | Self::NoTime => Severity::DataLoss,
        }
    }

    /// All kinds.
    pub const ALL: [Self; 29] = [
        Self::LostEvents,
        Self::OverwrittenEvents,
        Self::IdleAtStart,
        Self::IdleAtEnd,
        Self::EntryWithoutExit,
        Self::ExitWithoutEntry,
        Self::OutOfOrder,
        Self::UnknownLine,
        Self::IncompleteEvent,
        Self::StateOutOfRange,
        Self::CutFile,
        Self::DamagedPage,
        Self::NoIdleEvents,
        Self::TracedElsewhere,
        Self::LooksRejected,
        Self::Offline,
        Self::Suspended,
        Self::OtherTimerClock,
        Self::OtherClock,
        Self::RecordedTwice,
        Self::TimeOutOfRange,
        Self::UnnamedFunctions,
        Self::ShiftNotApplied,
        Self::NoTime,
        Self::PowerEvents,
        Self::GuestEvents,
        Self::DamagedRecord,
        Self::UntracedIdle,
        Self::OtherGovernor,
    ];

    /// The word that stands for it in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LostEvents => "lost-events",
            Self::OverwrittenEvents => "overwritten-events",
            Self::IdleAtStart => "idle-at-start",
            Self::IdleAtEnd => "idle-at-end",
            Self::EntryWithoutExit => "entry-without-exit",
            Self::ExitWithoutEntry => "exit-without-entry",
            Self::OutOfOrder => "out-of-order",
            Self::UnknownLine => "unknown-line",
            Self::IncompleteEvent => "incomplete-event",
            Self::StateOutOfRange => "state-out-of-range",
            Self::CutFile => "cut-file",
            Self::DamagedPage => "damaged-page",
            Self::NoIdleEvents => "no-idle-events",
            Self::TracedElsewhere => "traced-elsewhere",
            Self::LooksRejected => "looks-rejected",
            Self::Offline => "offline",
            Self::Suspended => "suspended",
            Self::OtherTimerClock => "other-timer-clock",
            Self::OtherClock => "other-clock",
            Self::RecordedTwice => "recorded-twice",
            Self::TimeOutOfRange => "time-out-of-range",
            Self::UnnamedFunctions => "unnamed-functions",
            Self::ShiftNotApplied => "shift-not-applied",
            Self::NoTime => "no-time",
            Self::PowerEvents => "power-events",
            Self::GuestEvents => "guest-events",
            Self::DamagedRecord => "damaged-record",
            Self::UntracedIdle => "untraced-idle",
            Self::OtherGovernor => "other-governor",
        }
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LostEvents => "events lost by the tracer; idle periods there are left out",
            Self::OverwrittenEvents => {
                "events overwritten by newer ones; the recording begins after them"
            }
            Self::IdleAtStart => "idle when the recording began, that period left out",
            Self::IdleAtEnd => "idle when the recording ended, that period left out",
            Self::EntryWithoutExit => "entries into idle without an exit, left out",
            Self::ExitWithoutEntry => "exits from idle without an entry, left out",
            Self::OutOfOrder => "events earlier than the one before them",
            Self::UnknownLine => "lines that are no events, skipped",
            Self::IncompleteEvent => "events without a field that they need, skipped",
            Self::StateOutOfRange => "idle states beyond the ten that a table holds, skipped",
            Self::CutFile => "place where the file's end cuts a line or a CPU's data off",
            Self::DamagedPage => "pages of the ring buffer that hold no events, skipped",
            Self::NoIdleEvents => "switches to idle without a cpu_idle event; the CPU is left out",
            Self::TracedElsewhere => "cpu_idle events traced by another CPU than the one they name",
            Self::LooksRejected => "stays far too short and not called so: rejected entries?",
            Self::Offline => "times taken offline",
            Self::Suspended => "idle events during suspend, which no governor chose, left out",
            Self::OtherTimerClock => "other clock of timers' deadlines; moved to the trace's",
            Self::OtherClock => "CPUs' data of buffers with another clock, left out",
            Self::RecordedTwice => "events that a second buffer recorded as well, taken once",
            Self::TimeOutOfRange => "events later than 292 years, skipped",
            Self::UnnamedFunctions => "table of symbols missing; ticks look like other timers",
            Self::ShiftNotApplied => "request to move times to another clock, not followed",
            Self::NoTime => "events whose time stamp is no time, skipped",
            Self::GuestEvents => "events of guests, whose CPUs are others, left out",
            Self::DamagedRecord => "damaged record; what follows it in the file is left out",
            Self::UntracedIdle => {
                "entries into idle states that the kernel counted and the tracer did not see; the \
                 CPU is left out"
            }
            Self::OtherGovernor => {
                "idle periods before the recorded governor was switched in, left out"
            }
            Self::PowerEvents => {
                "idle periods by power_start, whose states may be numbered as the driver likes"
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_where_how_often_and_what() {
        let note = Note { kind: NoteKind::OutOfOrder, cpu: Some(CpuId(3)), count: 2 };
        assert_eq!(note.to_string(), "cpu3: 2 events earlier than the one before them");
        assert!(note.kind.severity() < NoteKind::LostEvents.severity());
    }
}
