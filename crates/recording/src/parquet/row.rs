// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{CpuId, Nanoseconds, StateIndex, Tick};

use super::ReadError;
use crate::{Decision, Miss, Period, Reflection, WakeCauses, WhatFollowed};

/// A row of the file: one round of the idle loop, with a field for each thing that may be null.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) cpu: u32,
    pub(super) idle_start: Option<Nanoseconds>,
    pub(super) enter: Option<Nanoseconds>,
    pub(super) exit: Option<Nanoseconds>,
    pub(super) state: Option<StateIndex>,
    pub(super) residency: Option<Nanoseconds>,
    /// None if nothing is known.
    pub(super) causes: Option<WakeCauses>,
    pub(super) followed_by: Option<WhatFollowed>,
    pub(super) next_timer: Option<Nanoseconds>,
    pub(super) next_wheel_timer: Option<Nanoseconds>,
    pub(super) expired_timer: Option<Nanoseconds>,
    pub(super) tick: Option<Tick>,
    pub(super) tick_stoppable: Option<bool>,
    pub(super) latency_limit: Option<Nanoseconds>,
    pub(super) miss: Option<Miss>,
    pub(super) events_lost_before: Option<bool>,
    pub(super) bypassed_cpuidle: Option<bool>,
    pub(super) decided: Option<Nanoseconds>,
    pub(super) told_latency_limit: Option<Nanoseconds>,
    pub(super) told_tick: Option<Tick>,
    pub(super) told_sleep_length: Option<Nanoseconds>,
    pub(super) told_delta_tick: Option<Nanoseconds>,
    pub(super) selected_state: Option<StateIndex>,
    pub(super) stop_tick: Option<bool>,
    pub(super) reflected_state: Option<StateIndex>,
    pub(super) reflected_residency: Option<Nanoseconds>,
    pub(super) reflected_poll_time_limit: Option<bool>,
    pub(super) reflected_got_tick: Option<bool>,
}

impl Row {
    pub(super) fn new(cpu: CpuId, period: Option<&Period>, decision: Option<&Decision>) -> Self {
        let mut row = Self { cpu: cpu.0, ..Self::default() };
        if let Some(period) = period {
            row.put_period(period);
        }
        if let Some(decision) = decision {
            row.put_decision(decision);
        }
        row
    }

    fn put_period(&mut self, period: &Period) {
        self.idle_start = period.idle_start;
        self.enter = Some(period.enter);
        self.exit = Some(period.exit);
        self.state = Some(period.state);
        self.residency = period.residency;
        self.causes = Some(period.causes).filter(|causes| !causes.is_empty());
        self.followed_by = match period.followed_by {
            WhatFollowed::Unknown => None,
            known => Some(known),
        };
        self.next_timer = period.next_timer;
        self.next_wheel_timer = period.next_wheel_timer;
        self.expired_timer = period.expired_timer;
        self.tick = period.tick;
        self.tick_stoppable = period.tick_stoppable;
        self.latency_limit = period.latency_limit;
        self.miss = period.miss;
        self.events_lost_before = Some(period.events_lost_before);
        self.bypassed_cpuidle = Some(period.bypassed_cpuidle);
    }

    fn put_decision(&mut self, decision: &Decision) {
        self.decided = Some(decision.time);
        self.told_latency_limit = decision.latency_limit;
        self.told_tick = decision.tick;
        self.told_sleep_length = decision.sleep_length.map(|(sleep, _)| sleep);
        self.told_delta_tick = decision.sleep_length.map(|(_, delta_tick)| delta_tick);
        self.selected_state = Some(decision.state);
        self.stop_tick = Some(decision.stop_tick);
        if let Some(reflection) = decision.reflection {
            self.reflected_state = Some(reflection.entered);
            self.reflected_residency = Some(reflection.residency);
            self.reflected_poll_time_limit = Some(reflection.poll_time_limit);
            self.reflected_got_tick = reflection.got_tick;
        }
    }

    /// The idle period, if the round reached a state. `row` is the number that errors state.
    pub(super) fn period(&self, row: u64) -> Result<Option<Period>, ReadError> {
        let Some(enter) = self.enter else { return Ok(None) };
        let needed = Needed { row, because_of: "enter_ns" };
        Ok(Some(Period {
            idle_start: self.idle_start,
            enter,
            exit: needed.get(self.exit, "exit_ns")?,
            state: needed.get(self.state, "state")?,
            residency: self.residency,
            causes: self.causes.unwrap_or_default(),
            followed_by: self.followed_by.unwrap_or_default(),
            next_timer: self.next_timer,
            next_wheel_timer: self.next_wheel_timer,
            expired_timer: self.expired_timer,
            tick: self.tick,
            tick_stoppable: self.tick_stoppable,
            latency_limit: self.latency_limit,
            miss: self.miss,
            events_lost_before: needed.get(self.events_lost_before, "events_lost_before")?,
            bypassed_cpuidle: needed.get(self.bypassed_cpuidle, "bypassed_cpuidle")?,
        }))
    }

    /// The decision, if one was recorded. `row` is the number that errors state.
    pub(super) fn decision(&self, row: u64) -> Result<Option<Decision>, ReadError> {
        let Some(time) = self.decided else { return Ok(None) };
        let needed = Needed { row, because_of: "decided_ns" };
        let sleep_length = match self.told_sleep_length {
            Some(sleep) => {
                let needed = Needed { row, because_of: "told_sleep_length_ns" };
                Some((sleep, needed.get(self.told_delta_tick, "told_delta_tick_ns")?))
            }
            None => None,
        };
        Ok(Some(Decision {
            time,
            latency_limit: self.told_latency_limit,
            tick: self.told_tick,
            sleep_length,
            state: needed.get(self.selected_state, "selected_state")?,
            stop_tick: needed.get(self.stop_tick, "stop_tick")?,
            reflection: self.reflection(row)?,
        }))
    }

    fn reflection(&self, row: u64) -> Result<Option<Reflection>, ReadError> {
        let Some(entered) = self.reflected_state else { return Ok(None) };
        let needed = Needed { row, because_of: "reflected_state" };
        let limit = self.reflected_poll_time_limit;
        Ok(Some(Reflection {
            entered,
            residency: needed.get(self.reflected_residency, "reflected_residency_ns")?,
            poll_time_limit: needed.get(limit, "reflected_poll_time_limit")?,
            got_tick: self.reflected_got_tick,
        }))
    }
}

/// What must be there because something else is.
struct Needed {
    row: u64,
    because_of: &'static str,
}

impl Needed {
    fn get<T>(&self, value: Option<T>, column: &'static str) -> Result<T, ReadError> {
        value.ok_or(ReadError::Null { row: self.row, column, because_of: self.because_of })
    }
}
