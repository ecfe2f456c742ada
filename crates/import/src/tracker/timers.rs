// SPDX-License-Identifier: GPL-2.0-or-later
//! Which timers are pending on which CPU.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

use idlelab_states::{Nanoseconds, TickRate};

use super::by_cpu::ByCpu;
use crate::event::TimerId;

/// Hashes the addresses of timers, at a fraction of what the standard library's way costs. As
/// there, a file cannot be made to fill one place of the table, since nobody knows the seed.
#[derive(Clone, Copy)]
struct ByAddress {
    seed: u64,
}

impl Default for ByAddress {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0) }
    }
}

impl BuildHasher for ByAddress {
    type Hasher = AddressHasher;

    fn build_hasher(&self) -> AddressHasher {
        AddressHasher(self.seed)
    }
}

struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    /// Both halves of a product, so that every bit of the address has a part in every bit.
    #[inline]
    fn write_u64(&mut self, address: u64) {
        let product = u128::from(address ^ self.0) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The timers of one kind, by due time per CPU. A due time is in nanoseconds for high-resolution
/// timers and in jiffies for the wheel.
#[derive(Default)]
pub(super) struct Pending {
    armed: HashMap<TimerId, (u32, i64), ByAddress>,
    by_due: ByCpu<BTreeSet<(i64, TimerId)>>,
}

impl Pending {
    /// A timer was started on a CPU, perhaps anew.
    pub(super) fn start(&mut self, timer: TimerId, cpu: u32, due: i64) {
        self.remove(timer);
        self.armed.insert(timer, (cpu, due));
        self.by_due.of(cpu).insert((due, timer));
    }

    /// A timer expired or was cancelled; says when it was due, if its start was seen.
    pub(super) fn remove(&mut self, timer: TimerId) -> Option<i64> {
        let (cpu, due) = self.armed.remove(&timer)?;
        self.by_due.of(cpu).remove(&(due, timer));
        Some(due)
    }

    /// The earliest due time on a CPU.
    pub(super) fn next(&self, cpu: u32) -> Option<i64> {
        self.by_due.get(cpu)?.first().map(|(due, _)| *due)
    }
}

/// A tick length that is seen this many times less often than another is none: a stopped tick's
/// timer carries other events, and now and then two of them are as far apart.
const RARELY: u64 = 16;

/// What the tick's own timer shows: the tick's length, and its phase on each CPU.
#[derive(Default)]
pub(super) struct TickTimer {
    last_due: ByCpu<Option<i64>>,
    /// How often a due time followed another by a tick length that kernels can have.
    lengths: BTreeMap<i64, u64>,
    /// By that length, the last due time that followed another so: what else the timer of a stopped
    /// tick carries is off the phase.
    periodic_due: ByCpu<BTreeMap<i64, i64>>,
    timers: BTreeSet<TimerId>,
}

impl TickTimer {
    /// Whether this is a CPU's tick, by an earlier start: raw text names a function only there.
    pub(super) fn is(&self, timer: TimerId) -> bool {
        self.timers.contains(&timer)
    }

    /// The tick's timer was programmed.
    pub(super) fn programmed(&mut self, timer: TimerId, cpu: u32, due: i64) {
        self.timers.insert(timer);
        if let Some(last) = self.last_due.of(cpu).replace(due) {
            let step = due.saturating_sub(last);
            if rate_of(step).is_some() {
                *self.lengths.entry(step).or_default() += 1;
                self.periodic_due.of(cpu).insert(step, due);
            }
        }
    }

    /// The tick rate of the shortest length, since a tick that is stopped for a while makes longer
    /// ones.
    pub(super) fn rate(&self) -> Option<TickRate> {
        let most = *self.lengths.values().max()?;
        let often = |&(_, count): &(&i64, &u64)| count.saturating_mul(RARELY) >= most;
        self.lengths.iter().find(often).and_then(|(&length, _)| rate_of(length))
    }

    /// Where within a tick a CPU's tick falls.
    pub(super) fn phase(&self, cpu: u32, rate: TickRate) -> Option<Nanoseconds> {
        let due = *self.periodic_due.get(cpu)?.get(&rate.tick().get())?;
        Some(Nanoseconds::new(due.rem_euclid(rate.tick().get())))
    }
}

/// The tick rate whose tick is so long, to the nanosecond.
fn rate_of(length: i64) -> Option<TickRate> {
    if length <= 0 {
        return None;
    }
    let hertz = u32::try_from(1_000_000_000_i64.saturating_add(length / 2) / length).ok()?;
    TickRate::from_hertz(hertz).filter(|rate| rate.tick() == Nanoseconds::new(length))
}

/// The clock in which high-resolution timers are due (`mono`), as against the trace's clock.
///
/// An expiry tells both: the trace's time and the timers' `now`, which was read some microseconds
/// before. The least difference of the last second or two is that of the clocks, which may drift.
#[derive(Default)]
pub(super) struct TimerClock {
    /// The second that is under way, and the least difference in it, in nanoseconds.
    second: i64,
    least: Option<i64>,
    /// The least difference in the second before.
    least_before: Option<i64>,
}

/// The clocks are the same if they differ by no more than an interrupt may be delayed, or, the other
/// way, than text cuts off its times; in nanoseconds.
const SAME_CLOCK: Range<i64> = -1_000..1_000_000;

impl TimerClock {
    /// A timer expired at `time` by the trace's clock, and `now` by its own.
    pub(super) fn seen(&mut self, time: Nanoseconds, now: Option<i64>) {
        let Some(difference) = now.and_then(|now| time.get().checked_sub(now)) else { return };
        let second = time.get().div_euclid(1_000_000_000);
        if second != self.second {
            self.second = second;
            self.least_before = self.least.take().or(self.least_before);
        }
        self.least = Some(self.least.map_or(difference, |least| least.min(difference)));
    }

    fn difference(&self) -> i64 {
        let least = match (self.least, self.least_before) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b).unwrap_or(0),
        };
        if SAME_CLOCK.contains(&least) { 0 } else { least }
    }

    /// Whether the clocks differ.
    pub(super) fn differs(&self) -> bool {
        self.difference() != 0
    }

    /// Brings a time by the timers' clock to the trace's.
    pub(super) fn to_trace(&self, time: i64) -> i64 {
        time.saturating_add(self.difference())
    }
}

/// The clock of the timer wheel: which jiffy began when.
///
/// A timer start tells the current jiffy, as deadline less timeout. Jiffies advance with the
/// tick, and lag while no CPU ticks, so of all starts the one that puts jiffies latest is right.
#[derive(Default)]
pub(super) struct Jiffies {
    /// Jiffies, and the first time at which each was the current one.
    seen: Vec<(Nanoseconds, i64)>,
}

impl Jiffies {
    /// A timer start at `time` showed that the current jiffy is `now`.
    pub(super) fn seen(&mut self, time: Nanoseconds, now: i64) {
        // Of one jiffy's starts the earliest puts jiffies latest.
        match self.seen.last_mut() {
            Some((first, jiffy)) if *jiffy == now => *first = time.min(*first),
            _ => self.seen.push((time, now)),
        }
    }

    /// The time from which jiffy 0 would count, given the tick and its phase.
    pub(super) fn epoch(&self, rate: TickRate, phase: Nanoseconds) -> Option<Nanoseconds> {
        let tick = rate.tick().get();
        let offset = |&(time, now): &(Nanoseconds, i64)| {
            ((time.get() - phase.get()).div_euclid(tick)).checked_sub(now)
        };
        let ticks = self.seen.iter().filter_map(offset).min()?;
        Some(Nanoseconds::new(ticks.checked_mul(tick)?) + phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_ticks_other_events_do_not_hide_the_ticks_length() {
        let mut ticks = TickTimer::default();
        // At 250 Hz, boundaries at 1 ms past each tick; twice the tick's timer carries a wheel
        // timer's due time or an overdue one.
        let mut due = 1_000_000;
        for number in 0..64 {
            due += 4_000_000;
            ticks.programmed(TimerId(1), 0, due);
            if number % 16 == 5 {
                ticks.programmed(TimerId(1), 0, due + 1_234_567);
            }
        }
        let rate = ticks.rate().unwrap();
        assert_eq!(rate.hertz(), 250);
        assert_eq!(ticks.phase(0, rate), Some(Nanoseconds::new(1_000_000)));
    }

    #[test]
    fn the_earliest_timer_of_a_cpu_is_next() {
        let (a, b, c) = (TimerId(1), TimerId(2), TimerId(3));
        let mut timers = Pending::default();
        timers.start(a, 0, 30);
        timers.start(b, 0, 20);
        timers.start(c, 1, 10);
        assert_eq!(timers.next(0), Some(20));
        timers.start(b, 1, 5);
        assert_eq!((timers.next(0), timers.next(1)), (Some(30), Some(5)));
        assert_eq!(timers.remove(b), Some(5));
        assert_eq!(timers.remove(b), None);
        assert_eq!(timers.next(1), Some(10));
    }

    #[test]
    fn the_tick_rate_is_read_off_the_ticks_timer() {
        let mut tick = TickTimer::default();
        for due in [300_000_000, 304_000_000, 400_000_000, 404_000_000] {
            tick.programmed(TimerId(9), 2, due);
        }
        let rate = tick.rate().unwrap();
        assert_eq!(rate.hertz(), 250);
        assert_eq!(tick.phase(2, rate), Some(Nanoseconds::ZERO));
    }

    #[test]
    fn deadlines_follow_the_clock_of_the_trace() {
        let mut clock = TimerClock::default();
        assert_eq!(clock.to_trace(7), 7);
        // The trace's clock is ahead by 38 ms, the expiry traced 4 us late, then 2 us.
        clock.seen(Nanoseconds::new(10_038_004_000), Some(10_000_000_000));
        clock.seen(Nanoseconds::new(10_039_002_000), Some(10_001_000_000));
        assert_eq!(clock.to_trace(11_000_000_000), 11_038_002_000);
        // One clock, read late.
        let mut same = TimerClock::default();
        same.seen(Nanoseconds::new(1_000_900), Some(1_000_000));
        assert!(!same.differs());
        // One clock, read at once and cut off to microseconds.
        same.seen(Nanoseconds::new(5_000_002_000), Some(5_000_002_900));
        assert!(!same.differs());
    }

    #[test]
    fn jiffies_count_from_the_start_that_puts_them_latest() {
        let rate = TickRate::from_hertz(250).unwrap();
        let mut jiffies = Jiffies::default();
        // At 1.001 s the jiffy is 250; at 1.009 s it is still 251 where 252 was due.
        jiffies.seen(Nanoseconds::from_micros(1_001_000), 250);
        jiffies.seen(Nanoseconds::from_micros(1_009_000), 251);
        assert_eq!(jiffies.epoch(rate, Nanoseconds::ZERO), Some(Nanoseconds::ZERO));
    }
}
