// SPDX-License-Identifier: GPL-2.0-or-later
//! The timers of one CPU.

/// A timer that wakes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    /// When it may fire.
    pub(crate) from: i64,
    /// When the hardware fires at the latest.
    pub(crate) by: i64,
    pub(crate) task: u32,
}

/// Timers, the next one last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers(Vec<Timer>);

impl Timers {
    pub(crate) fn add(&mut self, timer: Timer) {
        // Of two at one time the older fires first.
        let place = self.0.partition_point(|other| other.by > timer.by);
        self.0.insert(place, timer);
    }

    /// When the hardware fires for the next one; [`i64::MAX`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> i64 {
        self.0.last().map_or(i64::MAX, |timer| timer.by)
    }

    /// From when on the next one may fire.
    pub(crate) fn next_from(&self) -> i64 {
        self.0.last().map_or(i64::MAX, |timer| timer.from)
    }

    /// Takes out the next one if it may fire at `now`. Like the kernel's, this does not look
    /// behind a timer that may not.
    pub(crate) fn expire(&mut self, now: i64) -> Option<Timer> {
        self.0.pop_if(|timer| timer.from <= now)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_by_their_latest_time_and_oldest_first() {
        let mut timers = Timers::default();
        for (task, (from, by)) in (0..).zip([(10, 60), (20, 30), (5, 60)]) {
            timers.add(Timer { from, by, task });
        }
        assert_eq!((timers.next(), timers.next_from()), (30, 20));
        assert_eq!(timers.expire(19), None);
        let order: Vec<u32> = std::iter::from_fn(|| timers.expire(30)).map(|t| t.task).collect();
        assert_eq!(order, [1, 0, 2]);
        assert_eq!(timers.next(), i64::MAX);
    }
}
