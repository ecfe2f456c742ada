// SPDX-License-Identifier: GPL-2.0-or-later
use core::fmt;
use core::ops::{Index, IndexMut};

use crate::Nanoseconds;

/// The most idle states a table holds: the kernel's `CPUIDLE_STATE_MAX`.
pub const MAX_STATES: usize = 10;

/// The longest state name in bytes: the kernel's `CPUIDLE_NAME_LEN` less its terminating zero.
const MAX_NAME_BYTES: usize = 15;

/// The number of an idle state, 0 (shallowest) to 9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateIndex(u8);

impl StateIndex {
    /// State 0: the shallowest, and a polling one on most x86 and POWER machines.
    pub const ZERO: Self = Self(0);

    /// The state of this number, or `None` from [`MAX_STATES`] upward.
    #[must_use]
    pub const fn new(index: usize) -> Option<Self> {
        if index < MAX_STATES { Some(Self(index as u8)) } else { None }
    }

    /// The number, always below [`MAX_STATES`].
    #[must_use]
    pub const fn get(self) -> usize {
        // Never taken, but it lets the compiler see that no index is out of range, and so prove
        // that governors cannot panic.
        if self.0 as usize >= MAX_STATES { MAX_STATES - 1 } else { self.0 as usize }
    }

    /// The next shallower state's number.
    #[must_use]
    pub const fn shallower(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(index) => Some(Self(index)),
            None => None,
        }
    }
}

impl fmt::Display for StateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// One value for each idle state. Indexing by a [`StateIndex`] cannot fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerState<T>(pub [T; MAX_STATES]);

impl<T> Index<StateIndex> for PerState<T> {
    type Output = T;
    fn index(&self, state: StateIndex) -> &T {
        &self.0[state.get()]
    }
}

impl<T> IndexMut<StateIndex> for PerState<T> {
    fn index_mut(&mut self, state: StateIndex) -> &mut T {
        &mut self.0[state.get()]
    }
}

/// A state's name as sysfs shows it: UTF-8, cut at 15 bytes as the kernel cuts it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StateName {
    bytes: [u8; MAX_NAME_BYTES],
    len: u8,
}

impl StateName {
    /// Keeps as much of `name` as the kernel would, never half a character.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut len = name.len().min(MAX_NAME_BYTES);
        while !name.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; MAX_NAME_BYTES];
        for (kept, byte) in bytes.iter_mut().zip(name.bytes().take(len)) {
            *kept = byte;
        }
        Self { bytes, len: len as u8 }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.bytes
            .get(..usize::from(self.len))
            .and_then(|bytes| core::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}

impl fmt::Debug for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What the CPU does in an idle state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StateKind {
    /// Spins until there is work or the poll time limit passes (`CPUIDLE_FLAG_POLLING`).
    Polling,
    /// Stops executing until it is woken.
    #[default]
    Sleeping,
}

/// Whether the CPU's own timer goes on in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LocalTimer {
    /// The local timer can wake the CPU.
    #[default]
    Runs,
    /// The local timer stops, another CPU must broadcast (`CPUIDLE_FLAG_TIMER_STOP`).
    Stops,
}

/// Whether a state may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Availability {
    /// Governors may choose it.
    #[default]
    Enabled,
    /// Unusable or off by default, said by the driver. sysfs `disable` does not show it.
    DisabledByDriver,
    /// Turned off through sysfs `disable`.
    DisabledByUser,
}

/// One row of a machine's idle-state table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleState {
    /// The name sysfs shows.
    pub name: StateName,
    /// Worst-case time to leave the state, the time to enter it included: sysfs `latency`.
    pub exit_latency: Nanoseconds,
    /// The idle duration from which this state saves energy: sysfs `residency`.
    pub target_residency: Nanoseconds,
    /// Polling or sleeping.
    pub kind: StateKind,
    /// Whether the local timer goes on.
    pub local_timer: LocalTimer,
    /// Whether it may be used.
    pub availability: Availability,
}

impl IdleState {
    /// An enabled sleeping state whose local timer runs.
    #[must_use]
    pub fn new(name: &str, exit_latency: Nanoseconds, target_residency: Nanoseconds) -> Self {
        Self {
            name: StateName::new(name),
            exit_latency,
            target_residency,
            kind: StateKind::Sleeping,
            local_timer: LocalTimer::Runs,
            availability: Availability::Enabled,
        }
    }

    /// The polling state: no latency, no residency.
    #[must_use]
    pub fn polling(name: &str) -> Self {
        Self { kind: StateKind::Polling, ..Self::new(name, Nanoseconds::ZERO, Nanoseconds::ZERO) }
    }

    /// Whether governors may choose it.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.availability == Availability::Enabled
    }

    /// Whether the CPU spins in it.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        self.kind == StateKind::Polling
    }
}

/// A table was given no states, or more than [`MAX_STATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSizeError(pub usize);

impl fmt::Display for TableSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an idle-state table has 1 to {MAX_STATES} states, this one has {}", self.0)
    }
}

impl core::error::Error for TableSizeError {}

/// The idle states of one CPU, shallowest first.
///
/// Nothing else is promised: residencies may be equal or out of order, latency may exceed
/// residency, any state may be disabled. Real tables do all of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleStates {
    states: [IdleState; MAX_STATES],
    len: u8,
}

impl IdleStates {
    /// Makes a table of 1 to [`MAX_STATES`] states.
    ///
    /// # Errors
    ///
    /// Any other number of states.
    pub fn new(states: &[IdleState]) -> Result<Self, TableSizeError> {
        if states.is_empty() || states.len() > MAX_STATES {
            return Err(TableSizeError(states.len()));
        }
        let mut table = [IdleState::default(); MAX_STATES];
        for (row, state) in table.iter_mut().zip(states) {
            *row = *state;
        }
        Ok(Self { states: table, len: states.len() as u8 })
    }

    /// How many states there are, 1 to [`MAX_STATES`].
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a table is never empty")]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// The state of this number, if the table has it.
    #[must_use]
    pub const fn index(&self, index: usize) -> Option<StateIndex> {
        if index < self.len() { StateIndex::new(index) } else { None }
    }

    /// The last state's number, enabled or not.
    #[must_use]
    pub const fn last(&self) -> StateIndex {
        StateIndex(self.len - 1)
    }

    /// The rows, shallowest first.
    #[must_use]
    pub fn as_slice(&self) -> &[IdleState] {
        self.states.get(..self.len()).unwrap_or_default()
    }

    /// The numbers of all states, shallowest first.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = StateIndex> + use<> {
        (0..self.len).map(StateIndex)
    }

    /// The numbers of the enabled states, shallowest first.
    pub fn enabled(&self) -> impl DoubleEndedIterator<Item = StateIndex> + '_ {
        self.indices().filter(|&state| self[state].is_enabled())
    }

    /// The deepest enabled state, if any is enabled.
    #[must_use]
    pub fn deepest(&self) -> Option<StateIndex> {
        self.enabled().next_back()
    }

    /// Enables or disables a state, as a write to sysfs `disable` does.
    pub fn set_availability(&mut self, state: StateIndex, availability: Availability) {
        self.states[state.get()].availability = availability;
    }
}

impl Index<StateIndex> for IdleStates {
    type Output = IdleState;
    /// Beyond the table's end this is a state of no latency and no residency.
    fn index(&self, state: StateIndex) -> &IdleState {
        &self.states[state.get()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_where_the_kernel_cuts_them() {
        assert_eq!(StateName::new("cluster-retention-2").as_str(), "cluster-retenti");
        assert_eq!(StateName::new("haltpoll idle").as_str(), "haltpoll idle");
        assert_eq!(StateName::new("fourteen bytesä").as_str(), "fourteen bytes");
    }

    #[test]
    fn tables_of_no_state_or_eleven_are_refused() {
        assert_eq!(IdleStates::new(&[]), Err(TableSizeError(0)));
        assert_eq!(IdleStates::new(&[IdleState::default(); 11]), Err(TableSizeError(11)));
    }

    #[test]
    fn the_deepest_state_is_an_enabled_one() {
        let mut table = IdleStates::new(&[IdleState::default(); 3]).unwrap();
        table.set_availability(StateIndex(2), Availability::DisabledByUser);
        assert_eq!(table.deepest(), Some(StateIndex(1)));
        assert_eq!(table.last(), StateIndex(2));
    }
}
