// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_governors::{
    Device, Foresight, Governor, Kernel, NO_LATENCY_LIMIT, Selection, SleepLength, TickRequest,
};
use idlelab_states::{Availability, IdleStates, Nanoseconds, StateIndex, Tick, TickRate};

use crate::accounting::Statistics;
use crate::poll::poll_limit;
use crate::tick::TickDevice;

/// What the idle loop asks of the world.
pub trait Environment {
    /// When this CPU's next high-resolution timer but the tick is due; [`Nanoseconds::MAX`] if
    /// none is pending.
    fn next_hrtimer(&mut self) -> Nanoseconds;

    /// When this CPU's next timer of the timer wheel is due; [`Nanoseconds::MAX`] if none is
    /// pending.
    fn next_wheel_timer(&mut self) -> Nanoseconds;

    /// Whether RCU, pending softirqs and the rest let the tick be stopped.
    fn tick_stoppable(&mut self) -> bool {
        true
    }

    /// The exit latency that PM QoS allows.
    fn latency_limit(&mut self) -> Nanoseconds {
        NO_LATENCY_LIMIT
    }

    /// Tasks that wait for IO on this CPU.
    fn io_waiters(&mut self) -> u32 {
        0
    }

    /// The CPU's utilisation, of 1024.
    fn utilisation(&mut self) -> u32 {
        0
    }

    /// The CPU's load average in units of 1/2048.
    fn load(&mut self) -> u32 {
        0
    }

    /// When an event from outside ends the idle period, if that is known beforehand.
    fn wakeup(&mut self) -> Option<Nanoseconds> {
        None
    }
}

/// The idle loop of one CPU.
#[derive(Clone, Debug)]
pub struct IdleLoop<G> {
    governor: G,
    states: IdleStates,
    rate: TickRate,
    device: Device,
    tick: TickDevice,
    got_tick: bool,
    /// When the idle loop was entered, or the last interrupt in idle ended.
    idle_entry: Nanoseconds,
    statistics: Statistics,
}

/// What the CPU is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The state to enter.
    pub state: StateIndex,
    /// When the tick fires, if it runs.
    pub tick_due: Option<Nanoseconds>,
    /// How long the state may poll, if it polls.
    pub poll_limit: Option<Nanoseconds>,
    /// What the governor was told if it asked for the sleep length.
    pub sleep_length: Option<SleepLength>,
    /// Whether the tick ran when the governor was asked.
    pub tick: Tick,
    /// Whether it wanted the tick stopped.
    pub stop_requested: bool,
    /// Whether the tick was stopped in this round.
    pub stopped_tick: bool,
    governed: bool,
}

/// What happened when the CPU left its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// When the last interrupt of the stay was handled: the loop's time is taken anew there. None
    /// if there was no interrupt, as when polling reaches its limit.
    pub interrupt_end: Option<Nanoseconds>,
    /// Whether the tick's timer ran its handler. With the tick stopped it carries wheel timers.
    pub tick_fired: bool,
    /// Whether the polling state reached its limit.
    pub poll_limit_hit: bool,
}

impl<G: Governor> IdleLoop<G> {
    /// A CPU whose idle states are given to a governor for the first time; `phase` is where its
    /// tick falls within a tick length.
    pub fn new(mut governor: G, states: IdleStates, rate: TickRate, phase: Nanoseconds) -> Self {
        let mut device = Device::default();
        governor.enable(&states, &mut device);
        Self {
            governor,
            states,
            rate,
            device,
            tick: TickDevice::new(rate, phase),
            got_tick: false,
            idle_entry: Nanoseconds::ZERO,
            statistics: Statistics::default(),
        }
    }

    /// The counters so far.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The governor, to explain its decisions.
    #[must_use]
    pub fn governor(&self) -> &G {
        &self.governor
    }

    /// What the core keeps for the CPU.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The idle states.
    #[must_use]
    pub fn states(&self) -> &IdleStates {
        &self.states
    }

    /// Whether the tick is stopped.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick.state()
    }

    /// Enables or disables a state, as a write to sysfs does; that forgets the poll limit.
    pub fn set_availability(&mut self, state: StateIndex, availability: Availability) {
        self.states.set_availability(state, availability);
        self.device.poll_limit = Nanoseconds::ZERO;
    }

    /// The idle task was picked at `now`, after a task ran: a stopped tick was restarted when the
    /// idle loop was left, at the phase it always had.
    #[inline]
    pub fn begin(&mut self, now: Nanoseconds) {
        self.idle_entry = now;
        self.got_tick = false;
        self.tick.restart(now);
    }

    /// One round of the idle loop up to the state's entry.
    #[inline]
    pub fn select(&mut self, environment: &mut impl Environment) -> Entry {
        let mut sleep_length = None;
        let tick = self.tick.state();
        let governed = self.states.len() > 1;
        let selection = if governed {
            let mut kernel = Asked {
                device: &mut self.device,
                tick: &self.tick,
                got_tick: &mut self.got_tick,
                now: self.idle_entry,
                environment,
                sleep_length: &mut sleep_length,
            };
            self.governor.select(&self.states, &mut kernel)
        } else {
            // With one state the core does not ask (kernel 7.1 and the Debian kernels described):
            // after a tick the tick may be stopped.
            let tick = if self.got_tick { TickRequest::Stop } else { TickRequest::Keep };
            Selection { state: StateIndex::ZERO, tick }
        };
        self.statistics.sleep_length_queries += u64::from(sleep_length.is_some());
        let stop_requested = selection.tick == TickRequest::Stop;
        let stopped_tick = stop_requested && self.try_to_stop_tick(environment);
        self.got_tick = false;
        let poll_limit = self.states[selection.state].is_polling().then(|| self.poll_limit());
        if poll_limit.is_some() {
            self.device.poll_time_limit = false;
        }
        Entry {
            state: selection.state,
            tick_due: self.tick.due(),
            poll_limit,
            sleep_length,
            tick,
            stop_requested,
            stopped_tick,
            governed,
        }
    }

    /// The CPU was in `entered` (the driver may demote) for `residency`.
    #[inline]
    pub fn left(&mut self, entry: &Entry, entered: StateIndex, residency: Nanoseconds, left: Left) {
        self.device.last_residency = residency;
        self.device.poll_time_limit |= left.poll_limit_hit;
        self.statistics.stayed(&self.states, entered, residency);
        if let Some(end) = left.interrupt_end {
            self.idle_entry = end;
        }
        if left.tick_fired {
            self.tick.fired(self.idle_entry);
            self.got_tick = true;
            self.statistics.ticks += 1;
        }
        if entry.governed {
            let mut environment = Nothing;
            let mut kernel = Asked {
                device: &mut self.device,
                tick: &self.tick,
                got_tick: &mut self.got_tick,
                now: self.idle_entry,
                environment: &mut environment,
                sleep_length: &mut None,
            };
            self.governor.reflect(entered, &mut kernel);
        }
    }

    /// The driver refused to enter the state: the governor is not told, but finds a residency of
    /// zero.
    pub fn rejected(&mut self, entry: &Entry) {
        self.device.last_residency = Nanoseconds::ZERO;
        self.statistics.states[entry.state].rejected += 1;
    }

    /// A task was to run before the state was entered: the core leaves it there, tells nobody and
    /// counts nothing, but the governor finds a residency of zero.
    pub fn not_entered(&mut self) {
        self.device.last_residency = Nanoseconds::ZERO;
    }

    fn try_to_stop_tick(&mut self, environment: &mut impl Environment) -> bool {
        if self.tick.state() == Tick::Stopped || !environment.tick_stoppable() {
            return false;
        }
        if self.tick.serves(environment.next_wheel_timer(), self.idle_entry) {
            return false;
        }
        self.tick.stop();
        self.statistics.tick_stops += 1;
        true
    }

    fn poll_limit(&mut self) -> Nanoseconds {
        if self.device.poll_limit == Nanoseconds::ZERO {
            self.device.poll_limit = poll_limit(&self.states, self.rate);
        }
        self.device.poll_limit
    }
}

/// The kernel as a governor sees it, for the length of one call.
struct Asked<'a, E> {
    device: &'a mut Device,
    tick: &'a TickDevice,
    got_tick: &'a mut bool,
    now: Nanoseconds,
    environment: &'a mut E,
    sleep_length: &'a mut Option<SleepLength>,
}

impl<E: Environment> Kernel for Asked<'_, E> {
    fn sleep_length(&mut self) -> SleepLength {
        let hrtimer = self.environment.next_hrtimer();
        let wheel = self.environment.next_wheel_timer();
        let programmed = match self.tick.due() {
            Some(tick) => hrtimer.min(tick),
            // The stopped tick's own timer carries the next wheel timer.
            None => hrtimer.min(wheel),
        };
        let delta_tick = programmed - self.now;
        let keeps_tick = !self.environment.tick_stoppable() || self.tick.serves(wheel, self.now);
        let sleep = if keeps_tick { delta_tick } else { hrtimer.min(wheel) - self.now };
        let told = SleepLength { sleep, delta_tick };
        *self.sleep_length = Some(told);
        told
    }

    fn latency_limit(&mut self) -> Nanoseconds {
        self.environment.latency_limit()
    }

    fn tick(&mut self) -> Tick {
        self.tick.state()
    }

    fn take_got_tick(&mut self) -> bool {
        core::mem::take(self.got_tick)
    }

    fn clock(&mut self) -> Nanoseconds {
        self.now
    }

    fn io_waiters(&mut self) -> u32 {
        self.environment.io_waiters()
    }

    fn utilisation(&mut self) -> u32 {
        self.environment.utilisation()
    }

    fn load(&mut self) -> u32 {
        self.environment.load()
    }

    fn device(&mut self) -> &mut Device {
        self.device
    }

    fn foresight(&mut self) -> Option<Foresight> {
        let wakeup = self.environment.wakeup()?;
        let stoppable = self.environment.tick_stoppable()
            && !self.tick.serves(self.environment.next_wheel_timer(), self.now);
        Some(Foresight {
            idle: wakeup - self.now,
            tick: self.tick.due().map(|due| due - self.now),
            stoppable,
        })
    }
}

/// No governor asks of the world when it is told what happened.
struct Nothing;

impl Environment for Nothing {
    fn next_hrtimer(&mut self) -> Nanoseconds {
        Nanoseconds::MAX
    }

    fn next_wheel_timer(&mut self) -> Nanoseconds {
        Nanoseconds::MAX
    }
}
