// SPDX-License-Identifier: GPL-2.0-or-later
//! Brings events in order.
//!
//! perf reads the CPUs' buffers one after the other, round by round, and ends each round with a
//! mark. What is read in one round may be later than what the next one finds, but never later than
//! what the round after that finds: at the end of a round everything up to the latest time of the
//! round before it is complete.
//!
//! ```text
//!  round 1   CPU 0: 1 2 4   CPU 1: 2 3
//!  round 2   CPU 0: 5 7     CPU 1: 4 6     at its end 1 … 4 are complete
//!  round 3   CPU 0: 8       CPU 1: 7 9     at its end 5 … 7 are complete
//! ```

use core::mem;
use core::ops::Range;

/// Events that wait for others that may be earlier.
#[derive(Default)]
pub(super) struct Rounds {
    waiting: Vec<Waiting>,
    records: Vec<u8>,
    /// The latest time of all, and of all up to the end of the last round.
    latest: u64,
    complete: u64,
}

struct Waiting {
    time: u64,
    cpu: u32,
    what: Kept,
}

enum Kept {
    /// Where its bytes are.
    Record(Range<usize>),
    Lost(u64),
}

/// An event in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A tracepoint's record.
    Record(&'a [u8]),
    /// So many events were lost here.
    Lost(u64),
}

impl Rounds {
    /// Keeps a record until its turn.
    pub(super) fn record(&mut self, cpu: u32, time: u64, record: &[u8]) {
        let start = self.records.len();
        self.records.extend_from_slice(record);
        self.wait(cpu, time, Kept::Record(start..self.records.len()));
    }

    /// Keeps in mind that events were lost.
    pub(super) fn lost(&mut self, cpu: u32, time: Option<u64>, events: u64) {
        self.wait(cpu, time.unwrap_or(self.latest), Kept::Lost(events));
    }

    fn wait(&mut self, cpu: u32, time: u64, what: Kept) {
        self.latest = self.latest.max(time);
        self.waiting.push(Waiting { time, cpu, what });
    }

    /// A round is over: hands out what is complete, as CPU, time and event.
    pub(super) fn finish_round(&mut self, take: impl FnMut(u32, u64, Next<'_>)) {
        let complete = mem::replace(&mut self.complete, self.latest);
        self.hand_out(complete, take);
    }

    /// Nothing more comes: hands out the rest.
    pub(super) fn finish(&mut self, take: impl FnMut(u32, u64, Next<'_>)) {
        self.hand_out(u64::MAX, take);
    }

    fn hand_out(&mut self, until: u64, mut take: impl FnMut(u32, u64, Next<'_>)) {
        // Stable: events of one time stay in the order of the file.
        self.waiting.sort_by_key(|waiting| waiting.time);
        let count = self.waiting.partition_point(|waiting| waiting.time <= until);
        for Waiting { time, cpu, what } in self.waiting.drain(..count) {
            take(
                cpu,
                time,
                match what {
                    Kept::Record(place) => {
                        Next::Record(self.records.get(place).unwrap_or_default())
                    }
                    Kept::Lost(events) => Next::Lost(events),
                },
            );
        }
        let before = mem::take(&mut self.records);
        for waiting in &mut self.waiting {
            if let Kept::Record(place) = &mut waiting.what {
                let start = self.records.len();
                self.records.extend_from_slice(before.get(place.clone()).unwrap_or_default());
                *place = start..self.records.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture above.
    #[test]
    fn a_round_completes_the_one_before() {
        let mut rounds = Rounds::default();
        let mut seen = Vec::new();
        let mut round = |events: &[(u32, u64)]| {
            for &(cpu, time) in events {
                rounds.record(cpu, time, &[time as u8]);
            }
            let mut now = Vec::new();
            rounds.finish_round(|_, time, next| {
                assert_eq!(next, Next::Record(&[time as u8]));
                now.push(time);
            });
            seen.push(now);
        };
        round(&[(0, 1), (0, 2), (0, 4), (1, 2), (1, 3)]);
        round(&[(0, 5), (0, 7), (1, 4), (1, 6)]);
        round(&[(0, 8), (1, 7), (1, 9)]);
        rounds.lost(0, None, 6);
        let mut rest = Vec::new();
        rounds.finish(|_, time, next| rest.push((time, next == Next::Lost(6))));
        assert_eq!(seen, [vec![], vec![1, 2, 2, 3, 4, 4], vec![5, 6, 7, 7]]);
        assert_eq!(rest, [(8, false), (9, false), (9, true)]);
    }
}
