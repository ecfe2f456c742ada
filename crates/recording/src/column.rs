// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::Nanoseconds;

/// A column of times in which a row may be null. A row costs eight bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeColumn(Vec<i64>);

/// The value that stands for null. No clock of the kernel reaches it: they count up from zero.
const NULL: i64 = i64::MIN;

impl TimeColumn {
    /// Adds a row.
    pub fn push(&mut self, time: Option<Nanoseconds>) {
        self.0.push(time.map_or(NULL, Nanoseconds::get));
    }

    /// The row of this number; null beyond the end.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> Option<Nanoseconds> {
        self.0.get(row).copied().filter(|&time| time != NULL).map(Nanoseconds::new)
    }

    /// Replaces a row that exists.
    pub fn set(&mut self, row: usize, time: Option<Nanoseconds>) {
        if let Some(slot) = self.0.get_mut(row) {
            *slot = time.map_or(NULL, Nanoseconds::get);
        }
    }
}
