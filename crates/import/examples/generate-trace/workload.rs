// SPDX-License-Identifier: GPL-2.0-or-later
//! What a CPU does, event by event.

use std::collections::VecDeque;

use crate::kinds::{self, Function, Kind};

/// The kernel's tick, in nanoseconds: 250 Hz.
const TICK: u64 = 4_000_000;

/// Flags of a record: interrupts are off, or it is from a hard or a soft interrupt.
const IRQS_OFF: u8 = 0x01;
const HARD_IRQ: u8 = 0x09;
const SOFT_IRQ: u8 = 0x10;

/// How many tasks a CPU has.
const TASKS: u64 = 5;

/// A task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) pid: u32,
    pub(crate) name: &'static str,
}

const NAMES: [&str; 5] = ["worker", "kworker/u8:2", "rcu_preempt", "audio out", "db-writer"];

/// The value of a field.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    Number(u64),
    Text(&'static str),
}

/// One event of one CPU.
pub(crate) struct Event {
    /// In nanoseconds, by the clock `mono`.
    pub(crate) time: u64,
    pub(crate) flags: u8,
    pub(crate) task: Task,
    pub(crate) kind: &'static Kind,
    pub(crate) values: Vec<Value>,
}

/// The events of one CPU in the order of their times.
pub(crate) struct Cpu {
    pub(crate) number: u32,
    cpus: u32,
    random: Random,
    time: u64,
    end: u64,
    next_tick: u64,
    running: Task,
    flags: u8,
    ready: VecDeque<Event>,
}

impl Cpu {
    pub(crate) fn new(number: u32, cpus: u32, seconds: u64, seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x1_0001).wrapping_add(u64::from(number)));
        let time = 100_000_000_000 + random.below(50_000);
        let mut cpu = Self {
            number,
            cpus,
            random,
            time,
            end: time + seconds * 1_000_000_000,
            // Ticks of CPUs are set apart.
            next_tick: (time / TICK + 1) * TICK + u64::from(number) * 7_812,
            running: idle(),
            flags: 0,
            ready: VecDeque::new(),
        };
        cpu.running = cpu.task(0);
        cpu
    }

    /// All tasks that ever run on it.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = Task> + '_ {
        (0..TASKS).map(|number| self.task(number))
    }

    fn task(&self, number: u64) -> Task {
        let name = NAMES.get(number as usize).copied().unwrap_or("worker");
        Task { pid: 1_000 + self.number * 16 + number as u32, name }
    }

    /// Traces an event, which takes a moment.
    fn trace(&mut self, kind: &'static Kind, values: &[Value]) {
        self.time += 300 + self.random.below(1_200);
        let (time, flags, task) = (self.time, self.flags, self.running);
        self.ready.push_back(Event { time, flags, task, kind, values: values.to_vec() });
    }

    fn numbers<const N: usize>(&mut self, kind: &'static Kind, values: [u64; N]) {
        self.trace(kind, &values.map(Value::Number));
    }

    /// The address of a timer of this CPU.
    fn timer(&self, number: u64) -> u64 {
        0xffff_8880_0000_0000 + u64::from(self.number) * 0x10_0000 + number * 0x140
    }

    /// A task runs for a while, sets its timer, and the CPU goes idle until something is due.
    fn round(&mut self) {
        self.time += self.random.logarithmic(3_000, 300_000);
        if self.random.below(8) == 0 {
            let other = u64::from(self.random.below(u64::from(self.cpus)) as u32);
            self.wake(self.task(1), other);
        }
        if self.random.below(16) == 0 {
            let next = self.task(self.random.peek() % TASKS);
            self.switch(next, 0);
            self.time += self.random.logarithmic(3_000, 100_000);
        }
        let sleep = self.random.logarithmic(20_000, 20_000_000);
        let due = self.time + sleep;
        let number = u64::from(self.running.pid % 16) + 1;
        let slack = 50_000;
        self.hrtimer_start(number, kinds::SLEEPER, due + slack, due);
        if self.random.below(32) == 0 {
            let jiffies = 4_294_667_296 + self.time / TICK;
            let flags = u64::from(self.number);
            let timer = self.timer(64 + number);
            let function = kinds::TIMEOUT.0;
            self.numbers(kinds::TIMER_START, [timer, function, jiffies + 25, jiffies, flags]);
            self.numbers(kinds::TIMER_CANCEL, [timer]);
        }
        let sleeper = self.running;
        self.switch(idle(), 1);
        let by_device = self.random.below(5) == 0;
        let by_other_cpu = !by_device && self.random.below(8) == 0;
        let wakeup = if by_device || by_other_cpu { self.time + sleep / 2 } else { due };
        self.idle_until(wakeup);
        self.flags = HARD_IRQ;
        if by_device {
            self.trace(kinds::IRQ_ENTRY, &[Value::Number(27), Value::Text("nvme0q1")]);
            self.wake(sleeper, u64::from(self.number));
            self.numbers(kinds::IRQ_EXIT, [27, 1]);
        } else if by_other_cpu {
            self.numbers(kinds::RESCHEDULE_ENTRY, [253]);
            self.numbers(kinds::RESCHEDULE_EXIT, [253]);
        } else {
            self.numbers(kinds::LOCAL_TIMER_ENTRY, [236]);
            self.hrtimer_expire_entry(number, kinds::SLEEPER);
            self.wake(sleeper, u64::from(self.number));
            self.numbers(kinds::HRTIMER_EXPIRE_EXIT, [self.timer(number)]);
            self.numbers(kinds::LOCAL_TIMER_EXIT, [236]);
        }
        self.flags = IRQS_OFF;
        if by_device || by_other_cpu {
            self.switch(sleeper, 0);
            self.numbers(kinds::HRTIMER_CANCEL, [self.timer(number)]);
        } else {
            self.switch(sleeper, 0);
        }
    }

    fn wake(&mut self, task: Task, cpu: u64) {
        let values = [
            Value::Text(task.name),
            Value::Number(u64::from(task.pid)),
            Value::Number(120),
            Value::Number(cpu),
        ];
        self.trace(kinds::WAKING, &values);
        self.trace(kinds::WAKEUP, &values);
    }

    fn switch(&mut self, next: Task, state: u64) {
        let previous = self.running;
        self.flags = IRQS_OFF;
        self.trace(
            kinds::SWITCH,
            &[
                Value::Text(previous.name),
                Value::Number(u64::from(previous.pid)),
                Value::Number(120),
                Value::Number(state),
                Value::Text(next.name),
                Value::Number(u64::from(next.pid)),
                Value::Number(120),
            ],
        );
        self.running = next;
    }

    fn hrtimer_start(&mut self, number: u64, function: Function, due: u64, soft: u64) {
        self.numbers(kinds::HRTIMER_START, [self.timer(number), function.0, due, soft]);
    }

    fn hrtimer_expire_entry(&mut self, number: u64, function: Function) {
        let values = [self.timer(number), self.time, function.0];
        self.numbers(kinds::HRTIMER_EXPIRE_ENTRY, values);
    }

    /// Goes through the idle loop until `wakeup`; wakes for ticks, unless it stops the tick.
    fn idle_until(&mut self, wakeup: u64) {
        self.flags = IRQS_OFF;
        loop {
            let left = wakeup.saturating_sub(self.time);
            // A governor is wrong at times.
            let state = match left.wrapping_mul(1 + self.random.below(3)) {
                0..20_000 => 0,
                20_000..200_000 => 1,
                200_000..4_000_000 => 2,
                _ => 3,
            };
            let stop_tick = state == 3;
            if stop_tick {
                self.numbers(kinds::TICK_STOP, [1, 0]);
                self.next_tick = self.next_tick.max(wakeup.div_ceil(TICK) * TICK);
                self.hrtimer_start(0, kinds::TICK, self.next_tick, self.next_tick);
            }
            let number = u64::from(self.number);
            self.numbers(kinds::CPU_IDLE, [state, number]);
            let by_tick = self.next_tick < wakeup;
            self.time = self.time.max(wakeup.min(self.next_tick)) + 500;
            self.numbers(kinds::CPU_IDLE, [u64::from(u32::MAX), number]);
            if !by_tick {
                return;
            }
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.flags = HARD_IRQ;
        self.numbers(kinds::LOCAL_TIMER_ENTRY, [236]);
        self.hrtimer_expire_entry(0, kinds::TICK);
        self.numbers(kinds::SOFTIRQ_RAISE, [1]);
        self.numbers(kinds::SOFTIRQ_RAISE, [9]);
        self.numbers(kinds::HRTIMER_EXPIRE_EXIT, [self.timer(0)]);
        while self.next_tick <= self.time {
            self.next_tick += TICK;
        }
        self.hrtimer_start(0, kinds::TICK, self.next_tick, self.next_tick);
        self.numbers(kinds::LOCAL_TIMER_EXIT, [236]);
        self.flags = SOFT_IRQ;
        for vector in [1, 9] {
            self.numbers(kinds::SOFTIRQ_ENTRY, [vector]);
            self.numbers(kinds::SOFTIRQ_EXIT, [vector]);
        }
        self.flags = IRQS_OFF;
    }
}

impl Iterator for Cpu {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if self.ready.is_empty() && self.time < self.end {
            self.round();
        }
        self.ready.pop_front()
    }
}

fn idle() -> Task {
    Task { pid: 0, name: "swapper" }
}

/// SplitMix64, which every seed suits.
struct Random(u64);

impl Random {
    /// The number that comes next, without going on.
    fn peek(&self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.peek()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Between two bounds, each order of magnitude as likely as another.
    fn logarithmic(&mut self, low: u64, high: u64) -> u64 {
        let unit = self.below(1 << 32) as f64 / (1_u64 << 32) as f64;
        (low as f64 * (high as f64 / low as f64).powf(unit)) as u64
    }
}
