// SPDX-License-Identifier: GPL-2.0-or-later
//! What one CPU is doing.

use idlelab_recording::{
    CpuRecording, Decision, Miss, Note, NoteKind, Period, Reflection, WakeCauses, WhatFollowed,
};
use idlelab_states::{CpuId, MAX_STATES, Nanoseconds, StateIndex, Tick};

use super::settle::SleepLength;

/// What is known of one CPU at this moment.
#[derive(Default)]
pub(super) struct Cpu {
    pub(super) recording: CpuRecording,
    /// What periods' governors were told, by the periods' numbers in ascending order.
    pub(super) sleep_lengths: Vec<(usize, SleepLength)>,
    last_event: Nanoseconds,
    round: Round,
    state: State,
    tick: Tick,
    any_idle_event: bool,
    events_lost: u64,
    lost_since_period: bool,
    entries_without_exit: u64,
    exits_without_entry: u64,
    /// An exit that the next entry may turn out to belong to.
    unpaired_exit: Option<Nanoseconds>,
    idle_at_start: bool,
    switches_to_idle: u64,
    traced_elsewhere: u64,
    offline: u64,
    suspended: u64,
}

/// The round of the idle loop that has not reached a state yet.
#[derive(Clone, Copy, Default)]
struct Round {
    start: Option<Nanoseconds>,
    latency_limit: Option<Nanoseconds>,
    tick: Option<Tick>,
    sleep_length: Option<SleepLength>,
    selecting: bool,
    stop_requested: Option<bool>,
    tick_stop_succeeded: bool,
    decision: Option<usize>,
}

#[derive(Default)]
enum State {
    /// A task runs, or nothing is known yet.
    #[default]
    Unknown,
    /// In an idle state.
    Idle(Open),
    /// Out of the state, until what follows is known.
    Ended(Open),
}

#[derive(Clone, Copy)]
struct Open {
    period: Period,
    sleep_length: Option<SleepLength>,
    decision: Option<usize>,
}

impl Cpu {
    /// Takes note of the time of an event; says whether it is not before the last one.
    pub(super) fn reached(&mut self, time: Nanoseconds) -> bool {
        let in_order = time >= self.last_event;
        if in_order {
            self.last_event = time;
        }
        in_order
    }

    /// The tracer lost events: what the CPU was in the midst of is unknown.
    pub(super) fn lost(&mut self, events: u64) {
        self.events_lost = self.events_lost.saturating_add(events);
        self.interrupted();
    }

    /// The CPU goes offline: a period that is open ends nowhere.
    pub(super) fn taken_offline(&mut self) {
        self.offline += 1;
        self.interrupted();
    }

    /// What happens from here on has nothing to do with what happened before.
    pub(super) fn interrupted(&mut self) {
        match core::mem::take(&mut self.state) {
            State::Ended(open) => self.keep(open, WhatFollowed::Unknown),
            State::Idle(_) => self.entries_without_exit += 1,
            State::Unknown => {}
        }
        self.round = Round::default();
        self.lost_since_period = true;
    }

    /// The stay that is under way is told anew, from its beginning.
    pub(super) fn forget_stay(&mut self) {
        self.state = State::Unknown;
        self.idle_at_start = false;
        self.any_idle_event = false;
        self.unpaired_exit = None;
    }

    /// An idle event during suspend.
    pub(super) fn idle_in_suspend(&mut self) {
        self.any_idle_event = true;
        self.suspended += 1;
    }

    /// An idle event of this CPU was traced by another one.
    pub(super) fn idle_traced_elsewhere(&mut self) {
        self.traced_elsewhere += 1;
    }

    /// Whether a governor is in the midst of a choice, as far as probes tell.
    pub(super) const fn is_selecting(&self) -> bool {
        self.round.selecting
    }

    pub(super) fn tick_stopped(&mut self) {
        self.tick = Tick::Stopped;
        self.round.tick_stop_succeeded = true;
    }

    pub(super) fn selecting(&mut self) {
        self.round.selecting = true;
    }

    pub(super) fn told_limit(&mut self, limit: Nanoseconds) {
        self.round.latency_limit = Some(limit);
    }

    pub(super) fn told_tick(&mut self, stopped: bool) {
        self.tick = if stopped { Tick::Stopped } else { Tick::Running };
        self.round.tick.get_or_insert(self.tick);
    }

    pub(super) fn told_sleep_length(&mut self, length: SleepLength) {
        self.round.sleep_length = Some(length);
    }

    pub(super) fn selected(&mut self, time: Nanoseconds, state: StateIndex, stop_tick: bool) {
        self.round.stop_requested = Some(stop_tick);
        if !core::mem::take(&mut self.round.selecting) {
            return;
        }
        self.round.decision = Some(self.recording.decisions.len());
        self.recording.decisions.push(Decision {
            time,
            latency_limit: self.round.latency_limit,
            tick: self.round.tick,
            sleep_length: self.round.sleep_length.map(|length| (length.sleep, length.delta_tick)),
            state,
            stop_tick,
            reflection: None,
        });
    }

    pub(super) fn reflected(
        &mut self,
        entered: StateIndex,
        residency: Nanoseconds,
        poll_time_limit: bool,
    ) {
        let State::Ended(open) = &mut self.state else { return };
        open.period.residency = Some(residency);
        let decision = open.decision.and_then(|row| self.recording.decisions.get_mut(row));
        if let Some(decision) = decision {
            let got_tick = None;
            decision.reflection =
                Some(Reflection { entered, residency, poll_time_limit, got_tick });
        }
    }

    /// Enters a state. Where the inputs of governors are recorded, a round without any is one
    /// that cpuidle had no part in.
    pub(super) fn enter(&mut self, period: Period, inputs_recorded: bool) {
        let unpaired_exit = self.unpaired_exit.take();
        let mut early_exit = None;
        match core::mem::take(&mut self.state) {
            // The exit that ended the stay before is later than this entry: it is this one's, and
            // was written before it.
            State::Ended(open) if open.period.exit > period.enter => {
                early_exit = Some(open.period.exit);
                self.entries_without_exit += 1;
            }
            State::Ended(open) => self.keep(open, WhatFollowed::Idle),
            State::Idle(_) => self.entries_without_exit += 1,
            State::Unknown => {
                early_exit = unpaired_exit.filter(|&exit| exit > period.enter);
                if early_exit.is_some() && !core::mem::take(&mut self.idle_at_start) {
                    self.exits_without_entry -= 1;
                }
            }
        }
        self.any_idle_event = true;
        let round = core::mem::take(&mut self.round);
        let period = Period {
            idle_start: round.start,
            tick: Some(self.tick),
            tick_stoppable: round.tick_stoppable(),
            latency_limit: round.latency_limit.or(period.latency_limit),
            bypassed_cpuidle: inputs_recorded && !round.asked_anything(),
            events_lost_before: core::mem::take(&mut self.lost_since_period),
            ..period
        };
        let mut open = Open { period, sleep_length: round.sleep_length, decision: round.decision };
        self.state = match early_exit {
            Some(exit) => {
                open.period.exit = exit;
                self.round.start = Some(exit);
                State::Ended(open)
            }
            None => State::Idle(open),
        };
    }

    pub(super) fn exit(&mut self, time: Nanoseconds) {
        match core::mem::take(&mut self.state) {
            State::Idle(mut open) => {
                // An exit that was traced before its entry cannot be a negative stay.
                open.period.exit = time.max(open.period.enter);
                self.round.start = Some(time);
                self.state = State::Ended(open);
            }
            State::Ended(open) => {
                self.keep(open, WhatFollowed::Unknown);
                self.exits_without_entry += 1;
            }
            State::Unknown if !self.any_idle_event => {
                self.idle_at_start = true;
                self.unpaired_exit = Some(time);
            }
            State::Unknown => {
                self.exits_without_entry += 1;
                self.unpaired_exit = Some(time);
            }
        }
        self.any_idle_event = true;
    }

    pub(super) fn missed(&mut self, miss: Miss) {
        if let State::Ended(open) = &mut self.state {
            open.period.miss = Some(miss);
        }
    }

    /// Something happened in interrupt context.
    pub(super) fn woken(
        &mut self,
        time: Nanoseconds,
        causes: WakeCauses,
        due: Option<Nanoseconds>,
    ) {
        if let State::Idle(open) | State::Ended(open) = &mut self.state {
            open.period.causes |= causes;
            if let Some(due) = due {
                let first = open.period.expired_timer.map_or(due, |first| first.min(due));
                open.period.expired_timer = Some(first);
            }
            // The kernel takes the time anew at the end of each interrupt in idle.
            self.round.start = Some(time);
        }
    }

    pub(super) fn switch(&mut self, time: Nanoseconds, from_idle: bool, to_idle: bool) {
        if from_idle {
            if let State::Ended(open) = core::mem::take(&mut self.state) {
                self.keep(open, WhatFollowed::Task);
            }
            // The tick is restarted when the idle task is left.
            self.tick = Tick::Running;
        }
        if to_idle {
            self.switches_to_idle += 1;
            self.round = Round { start: Some(time), ..Round::default() };
        }
    }

    pub(super) fn got_tick(&mut self, fired: bool) {
        let State::Ended(open) = &self.state else { return };
        let decision = open.decision.and_then(|row| self.recording.decisions.get_mut(row));
        // The idle loop asks as well, after the governor.
        if let Some(reflection) = decision.and_then(|decision| decision.reflection.as_mut()) {
            reflection.got_tick.get_or_insert(fired);
        }
    }

    fn keep(&mut self, open: Open, followed_by: WhatFollowed) {
        let number = self.recording.periods.len();
        self.sleep_lengths.extend(open.sleep_length.map(|length| (number, length)));
        self.recording.periods.push(&Period { followed_by, ..open.period });
    }

    /// How many stays look as if the driver had rejected the state: less than half as long as a
    /// stay in the same state that the kernel called too short, and yet not called so. Half, since
    /// a stay as traced is longer than the residency as measured, by as much as tracing costs.
    fn looks_rejected(&self) -> u64 {
        let mut too_short = [Nanoseconds::ZERO; MAX_STATES];
        let stay = |period: &Period| period.exit - period.enter;
        for period in self.recording.periods.iter().filter(|p| p.miss == Some(Miss::Above)) {
            if let Some(longest) = too_short.get_mut(period.state.get()) {
                *longest = stay(&period).max(*longest);
            }
        }
        // Before the first recorded decision another governor may just have been unset.
        let first = self.recording.decisions.first().map(|decision| decision.time);
        let rejected = |period: &Period| {
            let longest = too_short.get(period.state.get()).copied().unwrap_or_default();
            period.miss.is_none()
                && !period.bypassed_cpuidle
                && !period.events_lost_before
                && first.is_none_or(|first| period.enter > first)
                && stay(period) + stay(period) < longest
        };
        self.recording.periods.iter().filter(rejected).count() as u64
    }

    /// The trace ends.
    pub(super) fn end(&mut self, cpu: CpuId, notes: &mut Vec<Note>) {
        self.recording.cpu = cpu;
        let idle_at_end = match core::mem::take(&mut self.state) {
            State::Ended(open) => {
                self.keep(open, WhatFollowed::Unknown);
                false
            }
            State::Idle(_) => true,
            State::Unknown => false,
        };
        for (kind, count) in [
            (NoteKind::LostEvents, self.events_lost),
            (NoteKind::IdleAtStart, u64::from(self.idle_at_start)),
            (NoteKind::IdleAtEnd, u64::from(idle_at_end)),
            (NoteKind::EntryWithoutExit, self.entries_without_exit),
            (NoteKind::ExitWithoutEntry, self.exits_without_entry),
            (NoteKind::NoIdleEvents, if self.any_idle_event { 0 } else { self.switches_to_idle }),
            (NoteKind::TracedElsewhere, self.traced_elsewhere),
            (NoteKind::LooksRejected, self.looks_rejected()),
            (NoteKind::Offline, self.offline),
            (NoteKind::Suspended, self.suspended),
        ] {
            if count > 0 {
                notes.push(Note { kind, cpu: Some(cpu), count });
            }
        }
    }
}

impl Round {
    /// Whether a governor was seen to ask for anything.
    fn asked_anything(&self) -> bool {
        self.latency_limit.is_some() || self.tick.is_some() || self.sleep_length.is_some()
    }

    /// Whether the kernel could stop the tick in this round, where that shows.
    fn tick_stoppable(&self) -> Option<bool> {
        match (self.tick, self.stop_requested) {
            (Some(Tick::Running), Some(true)) => Some(self.tick_stop_succeeded),
            _ if self.tick_stop_succeeded => Some(true),
            _ => None,
        }
    }
}
