// SPDX-License-Identifier: GPL-2.0-or-later
//! A run: what happens, in order of time.

use std::collections::VecDeque;

use idlelab_cpuidle::{IdleLoop, Left};
use idlelab_governors::Governor;
use idlelab_platform::TimerWakes;
use idlelab_recording::{Period, WakeCauses, WhatFollowed};
use idlelab_states::{Nanoseconds, StateIndex, Tick};

use crate::cpu::{Arrival, Cpu, CpuTime, Known, Phase, Stay};
use crate::energy::Meter;
use crate::error::SimulationError;
use crate::histogram::Histogram;
use crate::latency::ExitLatency;
use crate::model::{Costs, Model, Operation, RemoteWake};
use crate::random::{Purpose, Stream};
use crate::record::Recorder;
use crate::timers::{Timer, Timers};
use crate::utilisation::Utilisation;

const NEVER: i64 = i64::MAX;

#[derive(Clone, Debug)]
struct Task {
    /// Which operation is next.
    next: usize,
    /// Whether the time that the next operation itself takes is part of `remaining`.
    paid: bool,
    /// Nanoseconds to execute before the next operation.
    remaining: i64,
    stream: Stream,
    /// When it became runnable, if it has not run since.
    woken: Option<i64>,
    last_mark: i64,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    count: u64,
    waiting: VecDeque<u32>,
}

/// How often things were posted, taken and waited for: nothing may be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Posts to channels.
    pub posted: u64,
    /// Posts that a task took.
    pub taken: u64,
    /// Posts that wait to be taken.
    pub waiting: u64,
    /// Channels that hold posts although tasks wait for them.
    pub stuck: u64,
    /// Timers that were set.
    pub timers_set: u64,
    /// Timers that woke their task.
    pub timers_fired: u64,
    /// Timers that are still to come.
    pub timers_pending: u64,
    /// Timers that should have fired before the end and have not.
    pub timers_overdue: u64,
}

pub(crate) struct Simulation<'m, G> {
    model: &'m Model,
    costs: Costs,
    tick: i64,
    now: i64,
    /// The first tick after `now`; all CPUs' ticks are in step.
    boundary: i64,
    /// CPUs, then a request of each task, then sources.
    queue: crate::queue::Queue,
    cpus: Vec<Cpu<G>>,
    tasks: Vec<Task>,
    channels: Vec<Channel>,
    /// Tasks that wait at each barrier.
    barriers: Vec<Vec<u32>>,
    sources: Vec<Stream>,
    meter: Option<Meter>,
    recorder: Option<Recorder>,
    pre_armed: bool,
    /// From one mark to the next of the same task.
    iterations: Histogram,
    /// From when a task could run until it ran.
    delays: Histogram,
    balance: Balance,
    events: u64,
}

/// What a run leaves behind.
pub(crate) struct Finished<G> {
    pub(crate) loops: Vec<IdleLoop<G>>,
    pub(crate) times: Vec<CpuTime>,
    pub(crate) wakeups: Vec<Histogram>,
    pub(crate) meter: Option<Meter>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) iterations: Histogram,
    pub(crate) delays: Histogram,
    pub(crate) balance: Balance,
    pub(crate) events: u64,
}

impl<'m, G: Governor> Simulation<'m, G> {
    pub(crate) fn new(
        model: &'m Model,
        mut build: impl FnMut(usize) -> G,
        seed: u64,
        recorder: Option<Recorder>,
    ) -> Result<Self, SimulationError> {
        let mut cpus = Vec::with_capacity(model.cpus.len());
        for (number, &cpu) in model.cpus.iter().enumerate() {
            let states = model
                .platform
                .states_of(cpu)
                .ok_or_else(|| SimulationError::no_states(cpu, &model.platform.name))?;
            let latencies = Stream::new(seed, Purpose::ExitLatency, number);
            cpus.push(Cpu {
                idle: IdleLoop::new(build(number), *states, model.rate, Nanoseconds::ZERO),
                phase: Phase::Running,
                since: 0,
                time: CpuTime::default(),
                run_queue: VecDeque::new(),
                hrtimers: Timers::default(),
                wheel_timers: Timers::default(),
                pending: Vec::new(),
                ipi: NEVER,
                resched: NEVER,
                task: 0,
                segment: 0,
                slice_end: NEVER,
                stay: None,
                busy: 0,
                exit_latency: ExitLatency::new(
                    &model.platform,
                    cpu,
                    states,
                    &model.exit_latencies,
                    latencies,
                ),
                wakeups: Histogram::default(),
                rcu: Stream::new(seed, Purpose::Rcu, number),
                rcu_needs_tick: false,
                io_waiters: 0,
                utilisation: Utilisation::default(),
            });
        }
        let tasks = (0..model.tasks.len())
            .map(|number| Task {
                next: 0,
                paid: false,
                remaining: 0,
                stream: Stream::new(seed, Purpose::Task, number),
                woken: None,
                last_mark: 0,
            })
            .collect();
        let sources = (0..model.sources.len())
            .map(|number| Stream::new(seed, Purpose::Source, number))
            .collect();
        let actors = model.cpus.len() + model.tasks.len() + model.sources.len();
        let tick = model.rate.tick().get();
        Ok(Self {
            model,
            costs: model.costs,
            tick,
            now: 0,
            boundary: tick,
            queue: crate::queue::Queue::new(actors),
            cpus,
            tasks,
            channels: vec![Channel::default(); model.channels],
            barriers: vec![Vec::new(); model.barriers.len()],
            sources,
            meter: Meter::new(&model.platform, &model.cpus, model.mhz),
            recorder,
            pre_armed: model.platform.timer_wakes == Some(TimerWakes::PreArmed),
            iterations: Histogram::default(),
            delays: Histogram::default(),
            balance: Balance::default(),
            events: 0,
        })
    }

    pub(crate) fn run(mut self) -> Finished<G> {
        let end = self.model.duration.get();
        for (number, task) in self.model.tasks.iter().enumerate() {
            self.cpus[task.cpu].run_queue.push_back(number as u32);
        }
        for cpu in 0..self.cpus.len() {
            self.next_task(cpu);
        }
        for source in 0..self.sources.len() {
            self.schedule_arrival(source);
        }
        while let Some((time, actor)) = self.queue.pop(end) {
            self.now = time;
            self.events += 1;
            if time >= self.boundary {
                self.boundary = time - time % self.tick + self.tick;
            }
            self.happen(actor);
        }
        self.now = end;
        self.finish()
    }

    fn finish(mut self) -> Finished<G> {
        for cpu in &mut self.cpus {
            cpu.account(self.now);
            let timers = cpu.hrtimers.len() + cpu.wheel_timers.len();
            self.balance.timers_pending += timers as u64;
            let quiet = cpu.phase == Phase::Idle && cpu.busy <= self.now;
            let overdue = cpu.hrtimers.next() < self.now;
            self.balance.timers_overdue += u64::from(quiet && overdue);
        }
        for channel in &self.channels {
            self.balance.waiting += channel.count;
            self.balance.stuck += u64::from(channel.count > 0 && !channel.waiting.is_empty());
        }
        let mut finished = Finished {
            loops: Vec::new(),
            times: Vec::new(),
            wakeups: Vec::new(),
            meter: self.meter,
            recorder: self.recorder,
            iterations: self.iterations,
            delays: self.delays,
            balance: self.balance,
            events: self.events,
        };
        for cpu in self.cpus {
            finished.loops.push(cpu.idle);
            finished.times.push(cpu.time);
            finished.wakeups.push(cpu.wakeups);
        }
        finished
    }

    #[inline]
    fn happen(&mut self, actor: usize) {
        let (cpus, tasks) = (self.cpus.len(), self.tasks.len());
        if actor < cpus {
            match self.cpus[actor].phase {
                Phase::Running => self.run_on(actor),
                Phase::Switching => self.switched(actor),
                Phase::Entering => self.enter(actor),
                Phase::Idle => self.disturbed(actor),
                Phase::Exiting => self.exited(actor),
                Phase::Handling => self.handled(actor),
            }
        } else if actor < cpus + tasks {
            let task = actor - cpus;
            let home = self.model.tasks[task].cpu;
            let device = match self.model.tasks[task].program.get(self.tasks[task].next) {
                Some(&Operation::Read(device)) => self.model.devices.get(device),
                _ => None,
            };
            let cpu = device.and_then(|device| device.interrupts).unwrap_or(home);
            self.interrupt(cpu, Arrival::Completed { task: task as u32 });
        } else {
            let source = actor - cpus - tasks;
            let of = self.model.sources[source];
            self.schedule_arrival(source);
            self.interrupt(of.cpu, Arrival::Posted { channel: of.channel });
        }
    }

    fn schedule_arrival(&mut self, source: usize) {
        let every = self.model.sources[source].every.draw(&mut self.sources[source]).max(1);
        let actor = self.cpus.len() + self.tasks.len() + source;
        self.queue.schedule(actor, self.now + every);
    }

    fn set_phase(&mut self, cpu: usize, phase: Phase) {
        let cpu = &mut self.cpus[cpu];
        cpu.account(self.now);
        cpu.phase = phase;
    }

    // ---- Tasks ----

    /// Turns to the next task, or to the idle loop.
    fn next_task(&mut self, cpu: usize) {
        let Some(task) = self.cpus[cpu].run_queue.pop_front() else {
            return self.begin_idle(cpu);
        };
        let was_running = self.cpus[cpu].phase == Phase::Running;
        let cost = if was_running { self.costs.context_switch } else { self.costs.idle_exit };
        self.cpus[cpu].task = task;
        self.set_phase(cpu, Phase::Switching);
        self.queue.schedule(cpu, self.now + cost);
    }

    /// The task that was switched to begins.
    fn switched(&mut self, cpu: usize) {
        self.set_phase(cpu, Phase::Running);
        let number = self.cpus[cpu].task as usize;
        if let Some(woken) = self.tasks[number].woken.take() {
            self.delays.add(self.now - woken);
        }
        self.cpus[cpu].slice_end = self.now + self.costs.slice;
        self.cpus[cpu].segment = self.now;
        let handling = self.handle_interrupts(cpu);
        self.tasks[number].remaining += handling;
        // One that is still on its way finds its work done.
        self.cpus[cpu].ipi = NEVER;
        self.go_on(cpu);
    }

    fn go_on(&mut self, cpu: usize) {
        if self.tasks[self.cpus[cpu].task as usize].remaining > 0 {
            self.execute(cpu);
        } else {
            self.advance(cpu);
        }
    }

    /// Ticks that hit a running CPU after `from` and up to `to`.
    fn ticks(&self, from: i64, to: i64) -> i64 {
        to / self.tick - from / self.tick
    }

    /// Lets the task execute what remains, up to what comes first.
    #[inline]
    fn execute(&mut self, number: usize) {
        let cpu = &self.cpus[number];
        let remaining = self.tasks[cpu.task as usize].remaining;
        let mut end = self.now + remaining;
        // Ticks of a running CPU are no events: they only take their time.
        if end >= self.boundary {
            loop {
                let later = self.now + remaining + self.ticks(self.now, end) * self.costs.tick;
                if later == end {
                    break;
                }
                end = later;
            }
        }
        let mut next = end.min(self.timer_interrupt(cpu));
        if !cpu.run_queue.is_empty() {
            next = next.min(cpu.slice_end.max(self.now));
        }
        self.queue.schedule(number, next.max(self.now));
    }

    /// When a timer interrupts a running CPU: when the hardware fires, or by the way with a tick.
    fn timer_interrupt(&self, cpu: &Cpu<G>) -> i64 {
        let hrtimer = cpu.hrtimers.next();
        if hrtimer == NEVER {
            return cpu.wheel_timers.next();
        }
        let from = cpu.hrtimers.next_from().max(self.now);
        let tick = (from + self.tick - 1) / self.tick * self.tick;
        hrtimer.min(tick).min(cpu.wheel_timers.next())
    }

    /// Takes what was executed off what remains.
    fn settle(&mut self, cpu: usize) {
        let began = std::mem::replace(&mut self.cpus[cpu].segment, self.now);
        let mut done = self.now - began;
        if began < self.boundary - self.tick {
            done -= self.ticks(began, self.now) * self.costs.tick;
        }
        let task = &mut self.tasks[self.cpus[cpu].task as usize];
        task.remaining = (task.remaining - done.max(0)).max(0);
    }

    /// Something happens to a running task: its work is done, a timer fires, its slice is over.
    fn run_on(&mut self, cpu: usize) {
        self.settle(cpu);
        let task = self.cpus[cpu].task as usize;
        if self.timer_interrupt(&self.cpus[cpu]) <= self.now {
            let handling = self.handle_interrupts(cpu);
            self.tasks[task].remaining += handling;
        }
        let this = &mut self.cpus[cpu];
        if self.tasks[task].remaining > 0
            && this.slice_end <= self.now
            && !this.run_queue.is_empty()
        {
            this.run_queue.push_back(this.task);
            return self.next_task(cpu);
        }
        self.go_on(cpu);
    }

    /// Does operations until one takes time.
    fn advance(&mut self, cpu: usize) {
        let number = self.cpus[cpu].task as usize;
        let model = self.model;
        let program = &model.tasks[number].program;
        loop {
            let task = &mut self.tasks[number];
            let Some(&operation) = program.get(task.next) else {
                task.next = 0;
                continue;
            };
            if let Operation::Compute(duration) = operation {
                task.remaining += duration.draw(&mut task.stream).max(1);
                task.next += 1;
                // One segment with a system call that follows, but not for ever with itself.
                if !matches!(program.get(task.next), None | Some(Operation::Compute(_))) {
                    continue;
                }
                return self.execute(cpu);
            }
            if operation != Operation::Mark && !task.paid {
                task.paid = true;
                task.remaining += self.costs.system_call.max(1);
            }
            if task.remaining > 0 {
                return self.execute(cpu);
            }
            task.paid = false;
            if self.operate(cpu, number, operation) {
                return self.next_task(cpu);
            }
            self.tasks[number].next += 1;
        }
    }

    /// Does an operation; says whether the task waits. What it waits for moves it on.
    fn operate(&mut self, cpu: usize, number: usize, operation: Operation) -> bool {
        let now = self.now;
        let task = &mut self.tasks[number];
        let id = number as u32;
        match operation {
            Operation::Compute(_) => false,
            Operation::Mark => {
                self.iterations.add(now - task.last_mark);
                task.last_mark = now;
                false
            }
            Operation::Sleep { duration, slack } => {
                let from = now + duration.draw(&mut task.stream).max(1);
                self.balance.timers_set += 1;
                self.cpus[cpu].hrtimers.add(Timer { from, by: from + slack, task: id });
                true
            }
            Operation::SleepCoarsely(duration) => {
                // A timer of the wheel never fires early: it counts from the next tick on.
                let ticks = (duration.draw(&mut task.stream) + self.tick - 1) / self.tick;
                let by = self.boundary + ticks.max(0) * self.tick;
                self.balance.timers_set += 1;
                self.cpus[cpu].wheel_timers.add(Timer { from: by, by, task: id });
                true
            }
            Operation::Post(channel) => {
                self.post(channel, cpu);
                false
            }
            Operation::Wait(channel) => {
                let queue = &mut self.channels[channel];
                if queue.count > 0 {
                    queue.count -= 1;
                    self.balance.taken += 1;
                    return false;
                }
                queue.waiting.push_back(id);
                true
            }
            Operation::Read(device) => {
                let latency = self.model.devices[device].latency.draw(&mut task.stream).max(1);
                self.cpus[cpu].io_waiters += 1;
                self.queue.schedule(self.cpus.len() + number, now + latency);
                true
            }
            Operation::Barrier(barrier) => {
                let waiting = &mut self.barriers[barrier];
                if waiting.len() + 1 < self.model.barriers[barrier] {
                    waiting.push(id);
                    return true;
                }
                for other in std::mem::take(waiting) {
                    self.wake(other, cpu);
                }
                false
            }
        }
    }

    fn post(&mut self, channel: usize, by: usize) {
        self.balance.posted += 1;
        match self.channels[channel].waiting.pop_front() {
            Some(task) => {
                self.balance.taken += 1;
                self.wake(task, by);
            }
            None => self.channels[channel].count += 1,
        }
    }

    /// Makes a task runnable that waited: done by the CPU `by`, in a task or in an interrupt.
    fn wake(&mut self, number: u32, by: usize) {
        let task = &mut self.tasks[number as usize];
        // The operation that it waited in is done.
        task.next += 1;
        task.woken = Some(self.now);
        let home = self.model.tasks[number as usize].cpu;
        let cpu = &mut self.cpus[home];
        cpu.run_queue.push_back(number);
        if by == home {
            return;
        }
        match cpu.phase {
            Phase::Idle => {
                let polls = cpu.stay.as_ref().is_some_and(|stay| stay.entry.poll_limit.is_some());
                if polls || self.costs.remote_wake == RemoteWake::Monitor {
                    cpu.resched = cpu.resched.min(self.now + self.costs.notice);
                } else if cpu.ipi == NEVER {
                    cpu.ipi = self.now + self.costs.ipi_flight;
                    if self.cpus[by].phase == Phase::Running {
                        let sender = self.cpus[by].task as usize;
                        self.tasks[sender].remaining += self.costs.ipi_send;
                    }
                }
                self.arm(home);
            }
            Phase::Running => {
                self.settle(home);
                self.execute(home);
            }
            // It looks for tasks at the end of what it is doing.
            Phase::Switching | Phase::Entering | Phase::Exiting | Phase::Handling => {}
        }
    }

    // ---- Interrupts ----

    /// A device's interrupt arrives.
    fn interrupt(&mut self, cpu: usize, arrival: Arrival) {
        self.cpus[cpu].pending.push(arrival);
        match self.cpus[cpu].phase {
            Phase::Running => {
                self.settle(cpu);
                let handling = self.handle_interrupts(cpu);
                let task = self.cpus[cpu].task as usize;
                self.tasks[task].remaining += handling;
                self.execute(cpu);
            }
            Phase::Idle => self.arm(cpu),
            Phase::Switching | Phase::Entering | Phase::Exiting | Phase::Handling => {}
        }
    }

    /// Whether an interrupt waits for the CPU.
    fn is_interrupted(&self, cpu: &Cpu<G>) -> bool {
        !cpu.pending.is_empty() || cpu.ipi <= self.now || self.timer_due(cpu) <= self.now
    }

    /// When the hardware fires a timer, the tick's included.
    #[inline]
    fn timer_due(&self, cpu: &Cpu<G>) -> i64 {
        let tick = match &cpu.stay {
            Some(stay) if cpu.idle.tick() == Tick::Running => stay.tick_due,
            Some(_) => cpu.wheel_timers.next(),
            None => return self.timer_interrupt(cpu),
        };
        cpu.hrtimers.next().min(tick)
    }

    /// Handles all that is due and pending; says how long it takes.
    fn handle_interrupts(&mut self, number: usize) -> i64 {
        let (now, costs) = (self.now, self.costs);
        let mut taken = 0;
        let mut causes = WakeCauses::NONE;
        let mut expired = None;
        if self.timer_due(&self.cpus[number]) <= now {
            let due = self.cpus[number].hrtimers.next();
            while let Some(timer) = self.cpus[number].hrtimers.expire(now) {
                taken += costs.timer;
                causes |= WakeCauses::HRTIMER;
                expired = Some(due.min(now));
                self.balance.timers_fired += 1;
                self.wake(timer.task, number);
            }
            let cpu = &mut self.cpus[number];
            let tick_runs = cpu.idle.tick() == Tick::Running;
            if let Some(stay) = &mut cpu.stay {
                if tick_runs && stay.tick_due <= now {
                    stay.tick_due = NEVER;
                    stay.tick_fired = true;
                    cpu.rcu_needs_tick = false;
                    taken += costs.tick;
                    causes |= WakeCauses::TICK;
                } else if !tick_runs && cpu.wheel_timers.next() <= now {
                    // The stopped tick's own timer carries the wheel's.
                    stay.tick_fired = true;
                    taken += costs.tick;
                    causes |= WakeCauses::TICK;
                }
            }
            while let Some(timer) = self.cpus[number].wheel_timers.expire(now) {
                taken += costs.timer;
                causes |= WakeCauses::WHEEL_TIMER;
                self.balance.timers_fired += 1;
                self.wake(timer.task, number);
            }
        }
        if self.cpus[number].ipi <= now {
            self.cpus[number].ipi = NEVER;
            taken += costs.ipi;
            causes |= WakeCauses::IPI;
        }
        let mut pending = std::mem::take(&mut self.cpus[number].pending);
        for arrival in pending.drain(..) {
            taken += costs.device;
            causes |= WakeCauses::INTERRUPT;
            match arrival {
                Arrival::Completed { task } => {
                    let home = self.model.tasks[task as usize].cpu;
                    self.cpus[home].io_waiters -= 1;
                    self.wake(task, number);
                }
                Arrival::Posted { channel: Some(channel) } => self.post(channel, number),
                Arrival::Posted { channel: None } => {}
            }
        }
        // Its memory is used again.
        self.cpus[number].pending = pending;
        if let Some(stay) = &mut self.cpus[number].stay
            && !causes.is_empty()
        {
            stay.causes |= causes;
            stay.expired_timer = stay.expired_timer.or(expired);
            stay.interrupt_end = Some(now + taken);
        }
        taken
    }

    // ---- Idle ----

    fn begin_idle(&mut self, cpu: usize) {
        let this = &mut self.cpus[cpu];
        this.idle.begin(Nanoseconds::new(self.now));
        let probability = self.model.rcu_needs_tick;
        if probability > 0.0 && !this.rcu_needs_tick {
            this.rcu_needs_tick = this.rcu.unit() < probability;
        }
        self.select(cpu, self.costs.idle_entry);
    }

    /// Asks the governor; its state is entered after so long.
    fn select(&mut self, number: usize, cost: i64) {
        self.set_phase(number, Phase::Entering);
        let limit = self.model.latency_limit;
        let cpu = &mut self.cpus[number];
        let mut known = Known {
            hrtimer: cpu.hrtimers.next(),
            wheel_timer: cpu.wheel_timers.next(),
            stoppable: !cpu.rcu_needs_tick,
            latency_limit: limit,
            io_waiters: cpu.io_waiters,
            utilisation: cpu.utilisation.get(),
        };
        let entry = cpu.idle.select(&mut known);
        cpu.stay = Some(Stay {
            entry,
            idle_start: self.now,
            entered: 0,
            woken: 0,
            exit: 0,
            causes: WakeCauses::NONE,
            tick_due: entry.tick_due.map_or(NEVER, Nanoseconds::get),
            tick_fired: false,
            interrupt_end: None,
            poll_limit_hit: false,
            expired_timer: None,
            known,
        });
        if let Some(recorder) = &mut self.recorder {
            recorder.decided(number, Nanoseconds::new(self.now), limit, &entry);
        }
        self.queue.schedule(number, self.now + cost);
    }

    /// The state is entered, unless a task came meanwhile.
    fn enter(&mut self, number: usize) {
        if !self.cpus[number].run_queue.is_empty() {
            let cpu = &mut self.cpus[number];
            cpu.idle.not_entered();
            cpu.stay = None;
            return self.next_task(number);
        }
        self.set_phase(number, Phase::Idle);
        let cpu = &mut self.cpus[number];
        cpu.busy = self.now;
        let Some(stay) = &mut cpu.stay else { return };
        stay.entered = self.now;
        let state = stay.entry.state;
        self.metered(number, Some(state));
        self.arm(number);
    }

    #[inline]
    fn metered(&mut self, cpu: usize, state: Option<StateIndex>) {
        if let Some(meter) = &mut self.meter {
            meter.set(cpu, state, self.now);
        }
    }

    /// Sets when a CPU in a state is disturbed next.
    fn arm(&mut self, number: usize) {
        let cpu = &self.cpus[number];
        let Some(stay) = &cpu.stay else { return };
        let mut next = self.timer_due(cpu).min(cpu.ipi).min(cpu.resched);
        if !cpu.pending.is_empty() {
            next = self.now;
        }
        if let Some(limit) = stay.entry.poll_limit {
            next = next.min(stay.entered + limit.get());
            if !cpu.run_queue.is_empty() && cpu.resched == NEVER {
                next = self.now;
            }
        }
        if next == NEVER {
            self.queue.cancel(number);
        } else {
            self.queue.schedule(number, next.max(cpu.busy).max(self.now));
        }
    }

    /// Something happens to a CPU in a state.
    fn disturbed(&mut self, number: usize) {
        let now = self.now;
        let cpu = &self.cpus[number];
        let interrupted = self.is_interrupted(cpu);
        let timer = self.timer_due(cpu) <= now;
        let Some(stay) = &cpu.stay else { return };
        if let Some(limit) = stay.entry.poll_limit {
            let sees_task =
                !cpu.run_queue.is_empty() && (cpu.resched <= now || cpu.resched == NEVER);
            if !sees_task && interrupted {
                // Interrupts are on while polling: they are handled in the state.
                let taken = self.handle_interrupts(number);
                self.cpus[number].busy = now + taken;
                return self.arm(number);
            }
            let limit_hit = now >= stay.entered + limit.get();
            if !sees_task && !limit_hit {
                return self.arm(number);
            }
            let state = stay.entry.state;
            let cpu = &mut self.cpus[number];
            let by_other_cpu = cpu.resched != NEVER;
            cpu.resched = NEVER;
            let latency = if sees_task { cpu.exit_latency.draw(state) } else { 0 };
            if let Some(stay) = &mut cpu.stay {
                stay.woken = now;
                if sees_task {
                    if by_other_cpu {
                        stay.causes |= WakeCauses::IPI;
                    }
                } else {
                    stay.poll_limit_hit = true;
                    stay.causes |= WakeCauses::POLL_LIMIT;
                }
            }
            return self.exit(number, latency);
        }
        let state = stay.entry.state;
        let cpu = &mut self.cpus[number];
        let monitored = cpu.resched <= now;
        cpu.resched = NEVER;
        if let Some(stay) = &mut cpu.stay {
            stay.woken = now;
            if monitored {
                stay.causes |= WakeCauses::IPI;
            }
        }
        let latency = cpu.exit_latency.draw(state);
        let pre_armed = self.pre_armed && timer && cpu.pending.is_empty() && cpu.ipi > now;
        let latency = if pre_armed { latency.min(self.shallowest_exit(number)) } else { latency };
        self.exit(number, latency);
    }

    /// What leaving the shallowest state usually takes in which the CPU does not poll: a timer for
    /// which the hardware gets ready beforehand takes no longer in any state.
    fn shallowest_exit(&self, number: usize) -> i64 {
        let cpu = &self.cpus[number];
        let states = cpu.idle.states();
        let shallowest = states.indices().find(|&state| !states[state].is_polling());
        shallowest.map_or(0, |state| cpu.exit_latency.typical(state))
    }

    fn exit(&mut self, number: usize, latency: i64) {
        self.set_phase(number, Phase::Exiting);
        self.queue.schedule(number, self.now + latency);
    }

    /// The CPU is out of its state.
    fn exited(&mut self, number: usize) {
        self.set_phase(number, Phase::Handling);
        self.metered(number, None);
        let now = self.now;
        let cpu = &mut self.cpus[number];
        cpu.resched = NEVER;
        if let Some(stay) = &mut cpu.stay {
            stay.exit = now;
        }
        let taken = self.handle_interrupts(number);
        if taken > 0 {
            self.queue.schedule(number, now + taken);
        } else {
            self.handled(number);
        }
    }

    /// Interrupts are handled: the governor is told, and the loop goes round or ends.
    fn handled(&mut self, number: usize) {
        if self.is_interrupted(&self.cpus[number]) {
            let taken = self.handle_interrupts(number);
            if taken > 0 {
                return self.queue.schedule(number, self.now + taken);
            }
        }
        let cpu = &mut self.cpus[number];
        let Some(stay) = cpu.stay.take() else { return };
        let residency = Nanoseconds::new(stay.exit - stay.entered);
        let left = Left {
            interrupt_end: stay.interrupt_end.map(Nanoseconds::new),
            tick_fired: stay.tick_fired,
            poll_limit_hit: stay.poll_limit_hit,
        };
        let known = stay.known;
        let tick_before = stay.entry.tick;
        cpu.idle.left(&stay.entry, stay.entry.state, residency, left);
        let own = WakeCauses::TICK | WakeCauses::POLL_LIMIT;
        if !own.contains(stay.causes) && !stay.poll_limit_hit {
            cpu.wakeups.add(stay.exit - stay.woken);
        }
        let runs = !cpu.run_queue.is_empty();
        if let Some(recorder) = &mut self.recorder {
            let near = known.wheel_timer != NEVER
                && tick_before == Tick::Running
                && known.wheel_timer - (stay.idle_start - stay.idle_start % self.tick) <= self.tick;
            let stopped = tick_before == Tick::Stopped || stay.entry.stopped_tick;
            let period = Period {
                idle_start: Some(Nanoseconds::new(stay.idle_start)),
                enter: Nanoseconds::new(stay.entered),
                exit: Nanoseconds::new(stay.exit),
                state: stay.entry.state,
                causes: stay.causes,
                followed_by: if runs { WhatFollowed::Task } else { WhatFollowed::Idle },
                next_timer: Some(Nanoseconds::new(known.hrtimer.min(known.wheel_timer))),
                next_wheel_timer: Some(Nanoseconds::new(known.wheel_timer)),
                expired_timer: stay.expired_timer.map(Nanoseconds::new),
                tick: Some(if stopped { Tick::Stopped } else { Tick::Running }),
                tick_stoppable: Some(known.stoppable && !near),
                latency_limit: Some(known.latency_limit),
                ..Period::default()
            };
            let states = self.cpus[number].idle.states();
            recorder.left(number, states, period, stay.poll_limit_hit, stay.tick_fired);
        }
        if runs {
            self.next_task(number);
        } else {
            self.select(number, self.costs.idle_again);
        }
    }
}
