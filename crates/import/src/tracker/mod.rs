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

mod by_cpu;
mod cpu;
mod settle;
mod timers;

use idlelab_recording::{Fidelity, Note, NoteKind, Period, Recording, WakeCauses};
use idlelab_states::{CpuId, Nanoseconds, StateIndex};

use self::by_cpu::ByCpu;
use self::cpu::Cpu;
use self::settle::SleepLength;
use self::timers::{Jiffies, Pending, TickTimer, TimerClock};
use crate::event::{Caller, Event, Purpose};

/// Follows all CPUs of a trace.
#[derive(Default)]
pub(crate) struct Tracker {
    cpus: ByCpu<Cpu>,
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
    suspended: bool,
    /// How many idle periods `power_start` has told; those count only until the first `cpu_idle`.
    power_starts: u64,
    /// The CPU that just set a limit of wakeup latency, until the limit of all is told.
    latency_request: Option<u32>,
    latency_limit: Option<Nanoseconds>,
    timer_clock: TimerClock,
}

/// Kinds of events that have been seen, by which the fidelity is known.
#[derive(Default)]
struct Seen {
    cpu_idle: bool,
    inputs: bool,
    causes: bool,
    timers: bool,
    misses: bool,
    tick_stops: bool,
}

impl Tracker {
    /// Takes the next event in the order of the file.
    #[inline]
    pub(crate) fn event(&mut self, cpu: u32, time: Nanoseconds, event: &Event<'_>) {
        self.passed(time);
        self.timer_event(cpu, time, event);
        match *event {
            Event::Enter { .. } | Event::Exit { .. } => self.idle_event(cpu, time, event),
            // The CPU that it names is not always right, but a CPU then always idled by itself.
            Event::PowerStart { state } if !self.seen.cpu_idle => {
                self.power_starts += 1;
                self.enter(cpu, time, state);
            }
            Event::PowerEnd if !self.seen.cpu_idle => self.cpu(cpu, time).exit(time),
            Event::Miss { cpu, miss } => {
                self.seen.misses = true;
                self.cpu(cpu, time).missed(miss);
            }
            Event::Switch { from_idle, to_idle } => {
                self.seen.causes = true;
                self.cpu(cpu, time).switch(time, from_idle, to_idle);
            }
            Event::Interrupt { purpose } => {
                self.seen.causes = true;
                let causes = match purpose {
                    Purpose::Device => WakeCauses::INTERRUPT,
                    Purpose::Timer | Purpose::Ipi => WakeCauses::NONE,
                };
                self.cpu(cpu, time).woken(time, causes, None);
            }
            Event::Ipi => {
                self.seen.causes = true;
                self.cpu(cpu, time).woken(time, WakeCauses::IPI, None);
            }
            Event::InterruptGoesOn => self.interrupt(cpu, time),
            Event::TickStopped => {
                self.seen.tick_stops = true;
                self.cpu(cpu, time).tick_stopped();
            }
            Event::Select { governor } => {
                let name = governor.map(String::from_utf8_lossy);
                if let Some(name) = name.filter(|name| self.governor.as_deref() != Some(&**name)) {
                    self.governor = Some(name.into_owned());
                }
                self.cpu(cpu, time).selecting();
            }
            // Where the caller has no name, it is the governor if that is in the midst of a choice.
            Event::LatencyLimit { caller: Caller::Unknown, .. }
            | Event::TickState { caller: Caller::Unknown, .. }
            | Event::SleepLength { caller: Caller::Unknown, .. }
                if !self.cpu(cpu, time).is_selecting() => {}
            Event::LatencyLimit { nanoseconds, .. } => {
                self.seen.inputs = true;
                self.cpu(cpu, time).told_limit(Nanoseconds::new(nanoseconds));
            }
            Event::TickState { stopped, .. } => self.cpu(cpu, time).told_tick(stopped),
            Event::SleepLength { sleep, delta_tick, .. } => {
                self.cpu(cpu, time).told_sleep_length(SleepLength {
                    sleep: Nanoseconds::new(sleep),
                    delta_tick: Nanoseconds::new(delta_tick),
                });
            }
            Event::Selected { state, stop_tick } => {
                if let Some(state) = self.state(state) {
                    self.cpu(cpu, time).selected(time, state, stop_tick);
                }
            }
            Event::Reflect { state, residency, poll_time_limit } => {
                if let Some(entered) = self.state(state) {
                    let residency = Nanoseconds::new(residency);
                    self.cpu(cpu, time).reflected(entered, residency, poll_time_limit);
                }
            }
            Event::GotTick { fired, .. } => self.cpu(cpu, time).got_tick(fired),
            Event::LatencyRequest => self.latency_request = Some(cpu),
            Event::LatencyTarget { microseconds } => {
                // Limits of other kinds, such as of frequencies, are told by the same event.
                if self.latency_request.take() == Some(cpu) {
                    self.latency_limit = Some(Nanoseconds::from_micros(microseconds));
                }
            }
            Event::Offline { cpu } => self.cpu(cpu, time).taken_offline(),
            Event::Suspend { begins } => {
                self.suspended = begins;
                self.cpus.values_mut().for_each(Cpu::interrupted);
            }
            Event::HrtimerStart { .. }
            | Event::HrtimerCancel { .. }
            | Event::HrtimerExpire { .. }
            | Event::TimerStart { .. }
            | Event::TimerCancel { .. }
            | Event::TimerExpire { .. }
            | Event::PowerStart { .. }
            | Event::PowerEnd
            | Event::Other => {}
        }
    }

    fn idle_event(&mut self, cpu: u32, time: Nanoseconds, event: &Event<'_>) {
        let (Event::Enter { cpu: idle, .. } | Event::Exit { cpu: idle }) = *event else { return };
        if !self.seen.cpu_idle {
            self.seen.cpu_idle = true;
            // What `power_start` or `power_end` told just before, this event tells again.
            self.cpus.values_mut().for_each(Cpu::forget_stay);
        }
        if self.suspended {
            return self.cpu(idle, time).idle_in_suspend();
        }
        self.traced_by(cpu, idle);
        match *event {
            Event::Enter { state, .. } => self.enter(idle, time, state),
            _ => self.cpu(idle, time).exit(time),
        }
    }

    /// An event that tells nothing but its time.
    #[inline]
    pub(crate) fn passed(&mut self, time: Nanoseconds) {
        self.first.get_or_insert(time);
        self.last = self.last.max(time);
    }

    /// Something was traced in interrupt context.
    pub(crate) fn interrupt(&mut self, cpu: u32, time: Nanoseconds) {
        self.cpu(cpu, time).woken(time, WakeCauses::NONE, None);
    }

    /// The tracer lost events of a CPU: what it was in the midst of is unknown.
    pub(crate) fn lost(&mut self, cpu: u32, events: u64) {
        self.cpus.of(cpu).lost(events);
    }

    /// Takes note of an idle event that another CPU traced.
    fn traced_by(&mut self, cpu: u32, idle: u32) {
        if cpu != idle {
            self.cpus.of(idle).idle_traced_elsewhere();
        }
    }

    fn cpu(&mut self, cpu: u32, time: Nanoseconds) -> &mut Cpu {
        let found = self.cpus.of(cpu);
        if !found.reached(time) {
            self.out_of_order += 1;
        }
        found
    }

    /// The state of this number, if a table can hold it.
    fn state(&mut self, number: u64) -> Option<StateIndex> {
        let state = usize::try_from(number).ok().and_then(StateIndex::new);
        self.states_out_of_range += u64::from(state.is_none());
        state
    }

    fn timer_event(&mut self, cpu: u32, time: Nanoseconds, event: &Event<'_>) {
        let (causes, due) = match *event {
            Event::HrtimerStart { timer, is_tick, expires } => {
                self.seen.timers = true;
                if is_tick {
                    self.tick_timer.programmed(timer, cpu, expires);
                } else {
                    self.hrtimers.start(timer, cpu, self.timer_clock.to_trace(expires));
                }
                return;
            }
            Event::HrtimerCancel { timer } => {
                self.hrtimers.remove(timer);
                return;
            }
            Event::TimerStart { timer, cpu: wheel_cpu, due, now } => {
                if let Some(now) = now {
                    self.jiffies.seen(time, now);
                }
                self.wheel.start(timer, wheel_cpu.unwrap_or(cpu), due);
                return;
            }
            Event::TimerCancel { timer } => {
                self.wheel.remove(timer);
                return;
            }
            Event::HrtimerExpire { timer, is_tick, now } => {
                self.timer_clock.seen(time, now);
                if is_tick || self.tick_timer.is(timer) {
                    return self.cpu(cpu, time).woken(time, WakeCauses::TICK, None);
                }
                (WakeCauses::HRTIMER, self.hrtimers.remove(timer).map(Nanoseconds::new))
            }
            Event::TimerExpire { timer } => {
                self.wheel.remove(timer);
                (WakeCauses::WHEEL_TIMER, None)
            }
            _ => return,
        };
        self.cpu(cpu, time).woken(time, causes, due);
    }

    fn enter(&mut self, cpu: u32, time: Nanoseconds, state: u64) {
        let Some(state) = self.state(state) else { return };
        let next_hrtimer = self
            .seen
            .timers
            .then(|| self.hrtimers.next(cpu).map_or(Nanoseconds::MAX, Nanoseconds::new));
        // In jiffies until the end of the trace is known.
        let next_wheel_timer = self.wheel.next(cpu).map(Nanoseconds::new);
        let inputs_recorded = self.seen.inputs;
        let period = Period {
            enter: time,
            state,
            next_timer: next_hrtimer,
            next_wheel_timer,
            latency_limit: self.latency_limit,
            ..Period::default()
        };
        self.cpu(cpu, time).enter(period, inputs_recorded);
    }

    /// The recording, once all events are taken.
    pub(crate) fn finish(self) -> Recording {
        let tick_rate = self.tick_timer.rate();
        let mut notes = Vec::new();
        let mut cpus = Vec::new();
        for (number, mut cpu) in self.cpus.into_ascending() {
            cpu.end(CpuId(number), &mut notes);
            let phase = tick_rate.and_then(|rate| {
                let phase = self.tick_timer.phase(number, rate)?;
                let moved = self.timer_clock.to_trace(phase.get());
                Some(Nanoseconds::new(moved.rem_euclid(rate.tick().get())))
            });
            let ticks = tick_rate.zip(phase);
            let epoch =
                tick_rate.and_then(|rate| self.jiffies.epoch(rate, phase.unwrap_or_default()));
            let wheel = tick_rate.zip(epoch).map(|(rate, epoch)| (epoch, rate.tick()));
            let recording = cpu.settle(wheel, ticks, self.seen.tick_stops);
            if !recording.periods.is_empty() {
                cpus.push(recording);
            }
        }
        for (kind, count) in [
            (NoteKind::OutOfOrder, self.out_of_order),
            (NoteKind::StateOutOfRange, self.states_out_of_range),
            (NoteKind::PowerEvents, if self.seen.cpu_idle { 0 } else { self.power_starts }),
            (NoteKind::OtherTimerClock, u64::from(self.timer_clock.differs())),
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
            ..Recording::default()
        }
    }
}
