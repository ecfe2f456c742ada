// SPDX-License-Identifier: GPL-2.0-or-later
//! Idle periods as they are kept in memory.
//!
//! A recording has millions of periods, and replay reads each of them whole, so a period is packed
//! into one row of 40 bytes. All times but the entry are distances of 32 bits to a time that is
//! near in most periods; what does not fit stands, exact, in a list beside the rows.

use idlelab_states::{Nanoseconds, StateIndex, Tick};

use crate::{Miss, Period, WakeCauses, WhatFollowed};

/// Idle periods in the order in which they were added. A period costs some 40 bytes of memory, and
/// 16 more for each of its times that is more than two seconds from the time it is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Periods {
    rows: Vec<Row>,
    /// The times that no distance can tell, in ascending order of their places.
    far: Vec<Far>,
}

/// A time that is far from the one that it is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Far {
    /// The row's number times eight, and the field: eight bytes instead of sixteen.
    place: u64,
    time: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// In nanoseconds.
    enter: i64,
    /// From the entry.
    exit: i32,
    /// From the entry.
    idle_start: i32,
    /// What the kernel measured beyond the traced stay.
    residency: i32,
    /// From the exit.
    expired_timer: i32,
    /// From the entry.
    next_timer: i32,
    /// From the entry.
    next_wheel_timer: i32,
    /// In microseconds, in which PM QoS counts: "no limit" is 2000 seconds.
    latency_limit: i32,
    facts: Facts,
}

/// Which time of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Exit,
    IdleStart,
    Residency,
    ExpiredTimer,
    NextTimer,
    NextWheelTimer,
    LatencyLimit,
}

/// Stands for null.
const NULL: i32 = i32::MIN;
/// Stands for [`Nanoseconds::MAX`].
const NEVER: i32 = i32::MIN + 1;
/// Says that the time is in the list of far ones.
const FAR: i32 = i32::MIN + 2;

const NANOSECONDS_PER_MICROSECOND: i64 = 1_000;

impl Periods {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The memory that is set aside for them, in bytes.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>() + self.far.capacity() * size_of::<Far>()
    }

    /// Adds a row at the end.
    pub fn push(&mut self, period: &Period) {
        let row = pack(&mut self.far, self.rows.len(), period);
        push_tightly(&mut self.rows, row);
    }

    /// Puts in the place of each row what `change` makes of it and its number, without a second
    /// list.
    pub fn change(&mut self, mut change: impl FnMut(usize, Period) -> Period) {
        let far = core::mem::take(&mut self.far);
        for (number, row) in self.rows.iter_mut().enumerate() {
            *row = pack(&mut self.far, number, &change(number, unpack(&far, number, row)));
        }
    }

    /// The row of this number, if there is one.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> Option<Period> {
        self.rows.get(row).map(|packed| unpack(&self.far, row, packed))
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Period> + '_ {
        self.rows.iter().enumerate().map(|(number, row)| unpack(&self.far, number, row))
    }
}

/// The row of this number, whose far times go to the end of `all_far`.
fn pack(all_far: &mut Vec<Far>, number: usize, period: &Period) -> Row {
    let (enter, exit) = (period.enter.get(), period.exit.get());
    let stay = exit.wrapping_sub(enter);
    let mut put_far = |field, time| {
        push_tightly(all_far, Far { place: place(number, field), time });
        FAR
    };
    // Wraps around, so that every time comes back by the same way.
    let mut distance = |field, time: Option<Nanoseconds>, from: i64| match time {
        None => NULL,
        Some(Nanoseconds::MAX) => NEVER,
        Some(time) => {
            narrow(time.get().wrapping_sub(from)).unwrap_or_else(|| put_far(field, time.get()))
        }
    };
    Row {
        enter,
        exit: distance(Field::Exit, Some(period.exit), enter),
        idle_start: distance(Field::IdleStart, period.idle_start, enter),
        residency: distance(Field::Residency, period.residency, stay),
        expired_timer: distance(Field::ExpiredTimer, period.expired_timer, exit),
        next_timer: distance(Field::NextTimer, period.next_timer, enter),
        next_wheel_timer: distance(Field::NextWheelTimer, period.next_wheel_timer, enter),
        latency_limit: match period.latency_limit.map(Nanoseconds::get) {
            Some(limit) if limit % NANOSECONDS_PER_MICROSECOND == 0 => {
                narrow(limit / NANOSECONDS_PER_MICROSECOND)
                    .unwrap_or_else(|| put_far(Field::LatencyLimit, limit))
            }
            Some(limit) => put_far(Field::LatencyLimit, limit),
            None => NULL,
        },
        facts: Facts::of(period),
    }
}

#[inline]
fn unpack(all_far: &[Far], number: usize, row: &Row) -> Period {
    let time = |field, distance, from: i64| match distance {
        NULL => None,
        NEVER => Some(Nanoseconds::MAX),
        FAR => far(all_far, number, field),
        distance => Some(Nanoseconds::new(from.wrapping_add(i64::from(distance)))),
    };
    let enter = row.enter;
    // The exit is never null.
    let exit = time(Field::Exit, row.exit, enter).unwrap_or_default();
    let stay = exit.get().wrapping_sub(enter);
    let facts = row.facts;
    Period {
        idle_start: time(Field::IdleStart, row.idle_start, enter),
        enter: Nanoseconds::new(enter),
        exit,
        state: facts.state(),
        residency: time(Field::Residency, row.residency, stay),
        causes: facts.causes(),
        followed_by: facts.followed_by(),
        next_timer: time(Field::NextTimer, row.next_timer, enter),
        next_wheel_timer: time(Field::NextWheelTimer, row.next_wheel_timer, enter),
        expired_timer: time(Field::ExpiredTimer, row.expired_timer, exit.get()),
        tick: facts.tick(),
        tick_stoppable: facts.tick_stoppable(),
        latency_limit: match row.latency_limit {
            NULL => None,
            FAR => far(all_far, number, Field::LatencyLimit),
            micros => Some(Nanoseconds::from_micros(i64::from(micros))),
        },
        miss: facts.miss(),
        events_lost_before: facts.has(Facts::EVENTS_LOST_BEFORE),
        bypassed_cpuidle: facts.has(Facts::BYPASSED_CPUIDLE),
    }
}

#[cold]
fn far(all_far: &[Far], row: usize, field: Field) -> Option<Nanoseconds> {
    let at = all_far.binary_search_by_key(&place(row, field), |far| far.place).ok()?;
    all_far.get(at).map(|far| Nanoseconds::new(far.time))
}

/// Rows cost 40 bytes, so no memory holds so many that this overflows.
const fn place(row: usize, field: Field) -> u64 {
    (row as u64) << 3 | field as u64
}

/// The distance, if it fits beside the values that stand for something else.
fn narrow(distance: i64) -> Option<i32> {
    i32::try_from(distance).ok().filter(|&distance| distance > FAR)
}

/// Grows by an eighth instead of to the double, so that little memory is set aside in vain.
fn push_tightly<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        items.reserve_exact(items.len() / 8 + 8);
    }
    items.push(item);
}

/// What a period has beside times, in 20 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts(u32);

impl Facts {
    const CAUSES: u32 = 4;
    const FOLLOWED_BY: u32 = 10;
    const TICK: u32 = 12;
    const TICK_STOPPABLE: u32 = 14;
    const MISS: u32 = 16;
    const EVENTS_LOST_BEFORE: u32 = 18;
    const BYPASSED_CPUIDLE: u32 = 19;

    fn of(period: &Period) -> Self {
        let followed_by = match period.followed_by {
            WhatFollowed::Unknown => 0,
            WhatFollowed::Task => 1,
            WhatFollowed::Idle => 2,
        };
        let tick = match period.tick {
            None => 0,
            Some(Tick::Running) => 1,
            Some(Tick::Stopped) => 2,
        };
        let tick_stoppable = period.tick_stoppable.map_or(0, |stoppable| 1 + u32::from(stoppable));
        let miss = match period.miss {
            None => 0,
            Some(Miss::Above) => 1,
            Some(Miss::Below) => 2,
        };
        Self(
            period.state.get() as u32
                | period.causes.bits() << Self::CAUSES
                | followed_by << Self::FOLLOWED_BY
                | tick << Self::TICK
                | tick_stoppable << Self::TICK_STOPPABLE
                | miss << Self::MISS
                | u32::from(period.events_lost_before) << Self::EVENTS_LOST_BEFORE
                | u32::from(period.bypassed_cpuidle) << Self::BYPASSED_CPUIDLE,
        )
    }

    fn state(self) -> StateIndex {
        StateIndex::new((self.0 & 0xf) as usize).unwrap_or_default()
    }

    fn causes(self) -> WakeCauses {
        WakeCauses::from_bits(self.0 >> Self::CAUSES)
    }

    /// One of the fields of two bits.
    fn pair(self, at: u32) -> u32 {
        self.0 >> at & 3
    }

    fn has(self, at: u32) -> bool {
        self.0 >> at & 1 == 1
    }

    fn followed_by(self) -> WhatFollowed {
        match self.pair(Self::FOLLOWED_BY) {
            1 => WhatFollowed::Task,
            2 => WhatFollowed::Idle,
            _ => WhatFollowed::Unknown,
        }
    }

    fn tick(self) -> Option<Tick> {
        match self.pair(Self::TICK) {
            1 => Some(Tick::Running),
            2 => Some(Tick::Stopped),
            _ => None,
        }
    }

    fn tick_stoppable(self) -> Option<bool> {
        match self.pair(Self::TICK_STOPPABLE) {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }

    fn miss(self) -> Option<Miss> {
        match self.pair(Self::MISS) {
            1 => Some(Miss::Above),
            2 => Some(Miss::Below),
            _ => None,
        }
    }
}
