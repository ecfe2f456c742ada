// SPDX-License-Identifier: GPL-2.0-or-later
//! From events to idle periods.
//!
//! Per CPU a round of the idle loop is followed from the switch to the idle task (or the interrupt
//! before) through entry and exit to what came next:
//!
//! ```text
//!           ┌────────────── the loop goes round again ──────────────┐
//!           ▼                                                       │
//!  switch ─▶ round ── sel … selr ──▶ in a state ── exit ──▶ ended ──┴─ switch ─▶ (a task runs)
//!            (inputs)                (causes of a            (causes, miss,
//!                                     polling state)          reflection)
//! ```

use std::collections::BTreeMap;

use idlelab_recording::{
    CpuRecording, Decision, Fidelity, Miss, Note, NoteKind, Period, Recording, Reflection,
    WakeCauses, WhatFollowed,
};
use idlelab_states::{CpuId, Nanoseconds, StateIndex, Tick, TickRate};

use super::event::{Kind, Purpose};
use super::timers::{Jiffies, Pending, TickTimer};

/// Two estimates of a timer's due time may differ by as much as the trace's clock is read late.
const CLOCK_SLOP: Nanoseconds = Nanoseconds::from_micros(50);

/// Follows all CPUs of a trace.
#[derive(Default)]
pub(super) struct Tracker {
    cpus: BTreeMap<u32, Cpu>,
    hrtimers: Pending,
    wheel: Pending,
    tick_timer: TickTimer,
    jiffies: Jiffies,
    seen: Seen,
    governor: Option<String>,
    first: Option<Nanoseconds>,
    last: Nanoseconds,
    out_of_order: u64,
    states_out_of_range: u64,
}

/// Kinds of events that have been seen, by which the fidelity is known.
#[derive(Default)]
struct Seen {
    inputs: bool,
    causes: bool,
    timers: bool,
    misses: bool,
    tick_stops: bool,
}

/// What is known of one CPU at this moment.
#[derive(Default)]
struct Cpu {
    recording: CpuRecording,
    /// The inputs of each period's governor, aligned with the periods.
    sleep_lengths: Vec<Option<SleepLength>>,
    last_event: Nanoseconds,
    round: Round,
    state: State,
    tick: Tick,
    any_idle_event: bool,
    events_lost: u64,
    lost_since_period: bool,
    entries_without_exit: u64,
    exits_without_entry: u64,
    idle_at_start: bool,
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

#[derive(Clone, Copy)]
struct SleepLength {
    sleep: Nanoseconds,
    delta_tick: Nanoseconds,
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

impl Tracker {
    /// Takes the next event in the order of the file.
    pub(super) fn event(&mut self, cpu: u32, time: Nanoseconds, kind: Kind<'_>) {
        self.first.get_or_insert(time);
        self.last = self.last.max(time);
        self.timer_event(cpu, time, kind);
        match kind {
            Kind::Enter { cpu, state } => self.enter(cpu, time, state),
            Kind::Exit { cpu } => self.cpu(cpu, time).exit(time),
            Kind::Miss { cpu, miss } => {
                self.seen.misses = true;
                self.cpu(cpu, time).missed(miss);
            }
            Kind::Switch { from_idle, to_idle } => {
                self.seen.causes = true;
                self.cpu(cpu, time).switch(time, from_idle, to_idle);
            }
            Kind::Interrupt { purpose } => {
                self.seen.causes = true;
                let causes = match purpose {
                    Purpose::Device => WakeCauses::INTERRUPT,
                    Purpose::Timer | Purpose::Ipi => WakeCauses::NONE,
                };
                self.cpu(cpu, time).woken(time, causes, None);
            }
            Kind::Ipi => {
                self.seen.causes = true;
                self.cpu(cpu, time).woken(time, WakeCauses::IPI, None);
            }
            Kind::InterruptGoesOn => self.interrupt(cpu, time),
            Kind::TickStopped => {
                self.seen.tick_stops = true;
                let cpu = self.cpu(cpu, time);
                cpu.tick = Tick::Stopped;
                cpu.round.tick_stop_succeeded = true;
            }
            Kind::Select { governor } => {
                let name = String::from_utf8_lossy(governor);
                if self.governor.as_deref() != Some(&*name) {
                    self.governor = Some(name.into_owned());
                }
                self.cpu(cpu, time).round.selecting = true;
            }
            Kind::LatencyLimit { nanoseconds } => {
                self.seen.inputs = true;
                self.cpu(cpu, time).round.latency_limit = Some(Nanoseconds::new(nanoseconds));
            }
            Kind::TickState { stopped } => {
                let tick = if stopped { Tick::Stopped } else { Tick::Running };
                let cpu = self.cpu(cpu, time);
                cpu.tick = tick;
                cpu.round.tick.get_or_insert(tick);
            }
            Kind::SleepLength { sleep, delta_tick } => {
                self.cpu(cpu, time).round.sleep_length = Some(SleepLength {
                    sleep: Nanoseconds::new(sleep),
                    delta_tick: Nanoseconds::new(delta_tick),
                });
            }
            Kind::Selected { state, stop_tick } => self.selected(cpu, time, state, stop_tick),
            Kind::Reflect { state, residency, poll_time_limit } => {
                self.reflect(cpu, time, state, residency, poll_time_limit);
            }
            Kind::GotTick { fired } => self.cpu(cpu, time).got_tick(fired),
            Kind::HrtimerStart { .. }
            | Kind::HrtimerCancel { .. }
            | Kind::HrtimerExpire { .. }
            | Kind::TimerStart { .. }
            | Kind::TimerCancel { .. }
            | Kind::TimerExpire { .. }
            | Kind::Other => {}
        }
    }

    /// Something was traced in interrupt context.
    pub(super) fn interrupt(&mut self, cpu: u32, time: Nanoseconds) {
        self.cpu(cpu, time).woken(time, WakeCauses::NONE, None);
    }

    /// The tracer lost events of a CPU: what it was in the midst of is unknown.
    pub(super) fn lost(&mut self, cpu: u32, events: u64) {
        let cpu = self.cpus.entry(cpu).or_default();
        cpu.events_lost = cpu.events_lost.saturating_add(events);
        cpu.lost_since_period = true;
        if let State::Ended(open) = core::mem::take(&mut cpu.state) {
            cpu.keep(open, WhatFollowed::Unknown);
        }
        cpu.round = Round::default();
    }

    fn cpu(&mut self, cpu: u32, time: Nanoseconds) -> &mut Cpu {
        let found = self.cpus.entry(cpu).or_default();
        if time < found.last_event {
            self.out_of_order += 1;
        } else {
            found.last_event = time;
        }
        found
    }

    fn timer_event(&mut self, cpu: u32, time: Nanoseconds, kind: Kind<'_>) {
        let (causes, due) = match kind {
            Kind::HrtimerStart { timer, is_tick, expires } => {
                self.seen.timers = true;
                if is_tick {
                    self.tick_timer.programmed(cpu, expires);
                } else {
                    self.hrtimers.start(timer, cpu, expires);
                }
                return;
            }
            Kind::HrtimerCancel { timer } => {
                self.hrtimers.remove(timer);
                return;
            }
            Kind::TimerStart { timer, cpu: wheel_cpu, due, now } => {
                if let Some(now) = now {
                    self.jiffies.seen(time, now);
                }
                self.wheel.start(timer, wheel_cpu.unwrap_or(cpu), due);
                return;
            }
            Kind::TimerCancel { timer } => {
                self.wheel.remove(timer);
                return;
            }
            Kind::HrtimerExpire { is_tick: true, .. } => (WakeCauses::TICK, None),
            Kind::HrtimerExpire { timer, is_tick: false } => {
                (WakeCauses::HRTIMER, self.hrtimers.remove(timer).map(Nanoseconds::new))
            }
            Kind::TimerExpire { timer } => {
                self.wheel.remove(timer);
                (WakeCauses::WHEEL_TIMER, None)
            }
            _ => return,
        };
        self.cpu(cpu, time).woken(time, causes, due);
    }

    fn enter(&mut self, cpu: u32, time: Nanoseconds, state: u64) {
        let Some(state) = usize::try_from(state).ok().and_then(StateIndex::new) else {
            self.states_out_of_range += 1;
            return;
        };
        let next_hrtimer = self
            .seen
            .timers
            .then(|| self.hrtimers.next(cpu).map_or(Nanoseconds::MAX, Nanoseconds::new));
        // In jiffies until the end of the trace is known.
        let next_wheel_timer = self.wheel.next(cpu).map(Nanoseconds::new);
        let inputs_recorded = self.seen.inputs;
        let cpu = self.cpu(cpu, time);
        let bypassed_cpuidle = inputs_recorded && !cpu.round.asked_anything();
        let period = Period {
            enter: time,
            state,
            next_timer: next_hrtimer,
            next_wheel_timer,
            bypassed_cpuidle,
            ..Period::default()
        };
        cpu.enter(period);
    }

    fn selected(&mut self, cpu: u32, time: Nanoseconds, state: u64, stop_tick: bool) {
        let Some(state) = usize::try_from(state).ok().and_then(StateIndex::new) else {
            self.states_out_of_range += 1;
            return;
        };
        let cpu = self.cpu(cpu, time);
        cpu.round.stop_requested = Some(stop_tick);
        if !core::mem::take(&mut cpu.round.selecting) {
            return;
        }
        cpu.round.decision = Some(cpu.recording.decisions.len());
        cpu.recording.decisions.push(Decision {
            time,
            latency_limit: cpu.round.latency_limit,
            tick: cpu.round.tick,
            sleep_length: cpu.round.sleep_length.map(|length| (length.sleep, length.delta_tick)),
            state,
            stop_tick,
            reflection: None,
        });
    }

    fn reflect(
        &mut self,
        cpu: u32,
        time: Nanoseconds,
        state: u64,
        residency: i64,
        poll_time_limit: bool,
    ) {
        let Some(entered) = usize::try_from(state).ok().and_then(StateIndex::new) else {
            self.states_out_of_range += 1;
            return;
        };
        let cpu = self.cpu(cpu, time);
        let State::Ended(open) = &mut cpu.state else { return };
        let residency = Nanoseconds::new(residency);
        open.period.residency = Some(residency);
        let decision = open.decision.and_then(|row| cpu.recording.decisions.get_mut(row));
        if let Some(decision) = decision {
            let got_tick = None;
            decision.reflection =
                Some(Reflection { entered, residency, poll_time_limit, got_tick });
        }
    }

    /// The recording, once all events are taken.
    pub(super) fn finish(self) -> Recording {
        let tick_rate = self.tick_timer.rate();
        let mut notes = Vec::new();
        let mut cpus = Vec::new();
        for (number, mut cpu) in self.cpus {
            cpu.recording.cpu = CpuId(number);
            cpu.end(&mut notes);
            if let Some(rate) = tick_rate {
                cpu.recording.tick_phase = self.tick_timer.phase(number, rate);
            }
            let epoch = tick_rate.and_then(|rate| {
                self.jiffies.epoch(rate, cpu.recording.tick_phase.unwrap_or_default())
            });
            let wheel = tick_rate.zip(epoch).map(|(rate, epoch)| (epoch, rate.tick()));
            let recording = cpu.settle(wheel, tick_rate, self.seen.tick_stops);
            if !recording.periods.is_empty() {
                cpus.push(recording);
            }
        }
        for (kind, count) in [
            (NoteKind::OutOfOrder, self.out_of_order),
            (NoteKind::StateOutOfRange, self.states_out_of_range),
        ] {
            if count > 0 {
                notes.push(Note { kind, cpu: None, count });
            }
        }
        let inputs = cpus.iter().flat_map(|cpu| &cpu.decisions).any(|d| d.reflection.is_some());
        let fidelity = match (inputs, self.seen.timers, self.seen.causes) {
            (true, _, _) => Fidelity::Inputs,
            (_, true, _) => Fidelity::Timers,
            (_, _, true) => Fidelity::Causes,
            _ => Fidelity::Idle,
        };
        Recording {
            source: String::new(),
            cpus,
            fidelity,
            governor: self.governor,
            tick_rate,
            misses_recorded: self.seen.misses,
            span: self.first.map(|first| (first, self.last)),
            notes,
        }
    }
}

impl Cpu {
    fn enter(&mut self, period: Period) {
        match core::mem::take(&mut self.state) {
            State::Ended(open) => self.keep(open, WhatFollowed::Idle),
            State::Idle(_) => self.entries_without_exit += 1,
            State::Unknown => {}
        }
        self.any_idle_event = true;
        let round = core::mem::take(&mut self.round);
        let period = Period {
            idle_start: round.start,
            tick: Some(self.tick),
            tick_stoppable: round.tick_stoppable(),
            latency_limit: round.latency_limit,
            events_lost_before: core::mem::take(&mut self.lost_since_period),
            ..period
        };
        self.state = State::Idle(Open {
            period,
            sleep_length: round.sleep_length,
            decision: round.decision,
        });
    }

    fn exit(&mut self, time: Nanoseconds) {
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
            State::Unknown if !self.any_idle_event => self.idle_at_start = true,
            State::Unknown if self.lost_since_period => {}
            State::Unknown => self.exits_without_entry += 1,
        }
        self.any_idle_event = true;
    }

    fn missed(&mut self, miss: Miss) {
        if let State::Ended(open) = &mut self.state {
            open.period.miss = Some(miss);
        }
    }

    /// Something happened in interrupt context.
    fn woken(&mut self, time: Nanoseconds, causes: WakeCauses, due: Option<Nanoseconds>) {
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

    fn switch(&mut self, time: Nanoseconds, from_idle: bool, to_idle: bool) {
        if from_idle {
            if let State::Ended(open) = core::mem::take(&mut self.state) {
                self.keep(open, WhatFollowed::Task);
            }
            // The tick is restarted when the idle task is left.
            self.tick = Tick::Running;
        }
        if to_idle {
            self.round = Round { start: Some(time), ..Round::default() };
        }
    }

    fn got_tick(&mut self, fired: bool) {
        let State::Ended(open) = &self.state else { return };
        let decision = open.decision.and_then(|row| self.recording.decisions.get_mut(row));
        if let Some(reflection) = decision.and_then(|decision| decision.reflection.as_mut()) {
            reflection.got_tick = Some(fired);
        }
    }

    fn keep(&mut self, open: Open, followed_by: WhatFollowed) {
        self.recording.periods.push(&Period { followed_by, ..open.period });
        self.sleep_lengths.push(open.sleep_length);
    }

    fn end(&mut self, notes: &mut Vec<Note>) {
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
        ] {
            if count > 0 {
                notes.push(Note { kind, cpu: Some(self.recording.cpu), count });
            }
        }
    }

    /// Brings all timers of the periods to nanoseconds, and lets what the governor was told
    /// correct what the timer events suggest.
    fn settle(
        self,
        wheel: Option<(Nanoseconds, Nanoseconds)>,
        tick_rate: Option<TickRate>,
        tick_stops_recorded: bool,
    ) -> CpuRecording {
        let ticks = tick_rate.zip(self.recording.tick_phase);
        let mut settled = CpuRecording {
            cpu: self.recording.cpu,
            decisions: self.recording.decisions,
            tick_phase: self.recording.tick_phase,
            ..CpuRecording::default()
        };
        for (mut period, asked) in self.recording.periods.iter().zip(self.sleep_lengths) {
            period.next_wheel_timer =
                period.next_wheel_timer.zip(wheel).and_then(|(jiffy, (epoch, tick))| {
                    Some(Nanoseconds::new(jiffy.get().checked_mul(tick.get())?) + epoch)
                });
            if let (Some(next), Some(wheel)) = (period.next_timer, period.next_wheel_timer) {
                period.next_timer = Some(next.min(wheel));
            }
            if let Some(length) = asked {
                length.correct(&mut period, ticks);
            }
            // A timer that is overdue, or that the kernel did not know of, is one whose end was
            // not traced: it moved to another CPU.
            let earliest = period.next_timer.unwrap_or(period.enter);
            period.next_wheel_timer = period.next_wheel_timer.filter(|&wheel| wheel >= earliest);
            if !tick_stops_recorded && asked.is_none() {
                period.tick = None;
            }
            settled.periods.push(&period);
        }
        settled
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

impl SleepLength {
    /// When the loop's round began. The trace tells it to some microseconds; where the timer that
    /// was slept for is known, or it is the tick, the sleep length tells it exactly.
    fn start(self, period: &Period, ticks: Option<(TickRate, Nanoseconds)>) -> Option<Nanoseconds> {
        let start = period.idle_start?;
        let near =
            |exact: &Nanoseconds| *exact <= start + CLOCK_SLOP && start <= *exact + CLOCK_SLOP;
        let by_timer = period.next_timer.map(|next| next - self.sleep).filter(near);
        let by_tick = || {
            let (rate, phase) = ticks.filter(|_| period.tick == Some(Tick::Running))?;
            let tick = rate.tick().get();
            // The boundary nearest to where the tick was said to be.
            let said = (start + self.delta_tick - phase + Nanoseconds::new(tick / 2)).get();
            let boundary = Nanoseconds::new(said) - Nanoseconds::new(said.rem_euclid(tick)) + phase;
            Some(boundary - self.delta_tick).filter(near)
        };
        by_timer.or_else(by_tick).or(Some(start))
    }

    /// The kernel's answer to its governor is the truth: `sleep` reaches beyond `delta_tick` only
    /// if the tick can be stopped, and equals it if not.
    fn correct(self, period: &mut Period, ticks: Option<(TickRate, Nanoseconds)>) {
        let Some(start) = self.start(period, ticks) else { return };
        period.idle_start = Some(start);
        let told = start + self.sleep;
        let beyond_tick = self.sleep > self.delta_tick;
        let far = |time: Nanoseconds, from: Nanoseconds| {
            time > from + CLOCK_SLOP || time + CLOCK_SLOP < from
        };
        if beyond_tick {
            period.tick_stoppable = Some(true);
        }
        match period.next_timer {
            // Told the tick, though nothing is due before it or long after.
            Some(next) if !beyond_tick && next > told + CLOCK_SLOP => {
                if period.tick != Some(Tick::Stopped) {
                    period.tick_stoppable = Some(false);
                }
            }
            Some(next) if far(next, told) => period.next_timer = Some(told),
            Some(_) => {}
            None => period.next_timer = beyond_tick.then_some(told),
        }
    }
}
