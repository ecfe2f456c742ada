// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines and what happens on them, made up to find what sets two governors apart.
//!
//! A governor learns, so inputs come in stretches of one behaviour; it compares, so many values lie
//! on, just below and just above what it compares them with: residencies and latencies, the tick,
//! two ticks, half a tick, 15 µs, 7.5 µs, a variance of 400. Many scenarios are short, because the
//! counters of a governor that has just been enabled are small multiples of each other, and ties
//! between them are common then and rare later.

use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_governors::{NO_LATENCY_LIMIT, SleepLength};
use idlelab_states::{
    Availability, IdleState, IdleStates, MAX_STATES, Nanoseconds, StateKind, TableSizeError, Tick,
    TickRate,
};

use crate::random::Random;

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

/// The residency of a state that no timer reaches: `UINT_MAX` microseconds.
const UNREACHABLE: i64 = u32::MAX as i64 * MICROSECOND;

/// The tick rates that architectures offer, the usual ones more than once.
pub const TICK_RATES: [TickRate; 21] = [
    hertz(100),
    hertz(100),
    hertz(250),
    hertz(250),
    hertz(250),
    hertz(1000),
    hertz(1000),
    hertz(1000),
    hertz(300),
    hertz(300),
    hertz(24),
    hertz(32),
    hertz(48),
    hertz(64),
    hertz(128),
    hertz(200),
    hertz(256),
    hertz(500),
    hertz(512),
    hertz(1024),
    hertz(1200),
];

/// Refused by the compiler where no kernel is built with the rate.
#[expect(clippy::panic, reason = "called by the compiler alone")]
const fn hertz(rate: u32) -> TickRate {
    match TickRate::from_hertz(rate) {
        Some(rate) => rate,
        None => panic!("no kernel is built with this rate"),
    }
}

/// Tables of real machines, in microseconds of exit latency and target residency; a row of zeros
/// polls.
const REAL_TABLES: [&[(i64, i64)]; 8] = [
    &[(0, 0), (2, 2), (10, 20), (80, 211), (104, 345), (109, 345)],
    &[(0, 0), (1, 1), (120, 360), (1034, 3102)],
    &[(1, 1), (349, 6710), (434, 6710), (20_000, u32::MAX as i64)],
    &[(0, 0), (10, 100)],
    &[(0, 0), (1, 1)],
    &[(1, 1), (147, 2580), (181, 2580)],
    &[(0, 0), (2, 2), (10, 20), (133, 600)],
    &[(0, 0), (12, 120)],
];

/// What kind of machines to make up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// Of any kind, with at least so many idle states.
    WithStates(usize),
    /// Mostly guests, with a polling state and a halt; two states at least.
    Guests,
}

/// One idle period of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the kernel answers and what comes of the choice.
    pub inputs: StepInputs,
    /// The disabled states, a bit each.
    pub disabled: u16,
}

/// A machine, and an endless sequence of steps on one of its CPUs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The machine's tick rate.
    pub rate: TickRate,
    /// Its idle states, as they are when the governor is enabled.
    pub states: IdleStates,
    /// How many steps there are still to be.
    pub length: usize,
    random: Random,
    tick: i64,
    disabled: u16,
    /// Whether states are disabled and enabled on the way.
    switches_states: bool,
    stretch: Stretch,
    /// Steps left of the stretch.
    left: u64,
}

/// What happens during a stretch.
#[derive(Clone, Copy, Debug)]
enum Behaviour {
    /// The timer wakes the CPU.
    Timer,
    /// Something else does, before the timer.
    Early,
    /// Something else does, almost at once.
    Short,
    /// The tick does.
    Tick,
    /// The tick does, or something else.
    TickOrEarly,
    /// Polling comes to its time limit.
    PollTimeout,
    /// The timer, or something else.
    TimerOrEarly,
    /// The timer, within a few nanoseconds.
    NearTimer,
    /// The same again and again.
    Same,
    /// The same durations in turn, with outliers.
    Intervals,
    /// Anything that is compared with something.
    Wild,
    /// The driver rejects the states.
    Rejections,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    behaviour: Behaviour,
    /// The size of things.
    base: i64,
    latency_limit: i64,
    same_sleep: i64,
    same_residency: i64,
    spread: i64,
    outliers: u64,
    /// How often, in percent, a value is one of those that are compared with something.
    special: u64,
    stopped: u64,
    got_tick: u64,
    poll_time_limit: u64,
    rejected: u64,
    /// How often another state is entered than the chosen one.
    instead: u64,
}

impl Scenario {
    /// The scenario of these random numbers, with one of some tick rates, or of
    /// [all](TICK_RATES) if there are none.
    ///
    /// # Errors
    ///
    /// None: every table that is made up has 1 to [`MAX_STATES`] states.
    pub fn new(
        mut random: Random,
        machines: Machines,
        rates: &[TickRate],
    ) -> Result<Self, TableSizeError> {
        let any = random.pick(TICK_RATES);
        let some = random.below(rates.len() as u64) as usize;
        let rate = rates.get(some).copied().unwrap_or(any);
        let tick = rate.tick().get();
        let states = table(&mut random, machines, tick)?;
        let mut scenario = Self {
            rate,
            states,
            length: 0,
            random,
            tick,
            disabled: disabled(&states),
            switches_states: false,
            stretch: Stretch::NOTHING,
            left: 0,
        };
        scenario.begin();
        Ok(scenario)
    }

    /// Begins another life on the same machine: its governor is enabled again.
    pub fn begin(&mut self) {
        let random = &mut self.random;
        let length = match random.below(8) {
            0 => random.between(1, 6),
            1..=3 => random.between(4, 40),
            4..=6 => random.between(40, 400),
            _ => random.between(400, 2000),
        };
        self.length = length as usize;
        self.switches_states = random.percent(15);
        self.disabled = disabled(&self.states);
        self.begin_stretch();
    }

    /// The next step.
    pub fn step(&mut self) -> Step {
        if self.left == 0 {
            self.begin_stretch();
            if self.switches_states && self.random.percent(60) {
                let state = self.random.below(self.states.len() as u64);
                self.disabled ^= 1 << state;
            }
        }
        self.left -= 1;
        let sleep = self.sleep();
        let delta_tick = if self.random.percent(10.max(self.stretch.special)) {
            self.special_delta_tick()
        } else {
            sleep.min(self.random.between(0, self.tick - 1))
        };
        let residency = self.residency(sleep).max(0);
        let span = match self.random.below(20) {
            0 => self.around(sleep).max(0),
            1 => self.random.between(0, SECOND),
            _ => residency.saturating_add(self.random.between(0, 3 * MICROSECOND)),
        };
        let stretch = self.stretch;
        let random = &mut self.random;
        let mut inputs = StepInputs {
            sleep_length: SleepLength { sleep: ns(sleep), delta_tick: ns(delta_tick) },
            latency_limit: ns(stretch.latency_limit),
            tick: if random.percent(stretch.stopped) { Tick::Stopped } else { Tick::Running },
            entry: match random.below(100) {
                percent if percent < stretch.rejected => Entry::Rejected,
                percent if percent < stretch.rejected + stretch.instead => {
                    let state = random.below(self.states.len() as u64) as usize;
                    self.states.index(state).map_or(Entry::Entered, Entry::Instead)
                }
                _ => Entry::Entered,
            },
            span: ns(span),
            got_tick: random.percent(stretch.got_tick),
            poll_time_limit: random.percent(stretch.poll_time_limit),
            ..StepInputs::of_residency(ns(residency))
        };
        if random.below(1000) < stretch.special {
            inputs.latency_limit = ns(self.special_limit());
        }
        if self.random.percent(20) {
            inputs.io_waiters = self.random.below(4) as u32;
            inputs.load = self.random.below(6) as u32 * 512;
            let any = self.random.below(1025) as u32;
            inputs.utilisation = self.random.pick([15, 16, 17, any]);
        }
        self.length = self.length.saturating_sub(1);
        if self.length == 0 && inputs.entry == Entry::Rejected {
            // After a rejected entry teo leaves -1 in the device for whoever comes next, which a
            // `Device` does not hold. The next life is to begin like the first.
            inputs.entry = Entry::Entered;
        }
        Step { inputs, disabled: self.disabled }
    }

    fn begin_stretch(&mut self) {
        use Behaviour::{
            Early, Intervals, NearTimer, PollTimeout, Rejections, Same, Short, Tick, TickOrEarly,
            Timer, TimerOrEarly, Wild,
        };
        let behaviour = self.random.pick([
            Timer,
            Early,
            Early,
            Short,
            Short,
            Tick,
            TickOrEarly,
            PollTimeout,
            TimerOrEarly,
            TimerOrEarly,
            NearTimer,
            Same,
            Intervals,
            Wild,
            Rejections,
        ]);
        let latency_limit =
            if self.random.percent(20) { self.special_limit() } else { NO_LATENCY_LIMIT.get() };
        let (same_sleep, same_residency) = (self.special_sleep(), self.special_residency());
        let random = &mut self.random;
        let mut base = random.of_any_size(10, 26);
        let mut spread = 0;
        if matches!(behaviour, Intervals) {
            // A spread of a sixth of the mean, or 20 us, is what menu takes for a pattern.
            let sixth = random.of_any_size(1, 12);
            let micros = random.pick([18, 19, 20, 21, sixth, sixth, sixth - 1, sixth + 1]);
            spread = micros * MICROSECOND;
            base = random.pick([6 * sixth * MICROSECOND, base]).max(spread);
        }
        self.left = random.between(1, random.clone().pick([4, 20, 60])) as u64;
        self.stretch = Stretch {
            behaviour,
            base,
            latency_limit,
            same_sleep,
            same_residency,
            spread,
            outliers: random.pick([0, 0, 0, 1, 2, 3]),
            special: if matches!(behaviour, Intervals) {
                random.pick([0, 0, 0, 5])
            } else {
                random.pick([0, 10, 30, 70])
            },
            stopped: random.pick([0, 0, 0, 10, 50, 100]),
            got_tick: match behaviour {
                Tick => 90,
                TickOrEarly => 50,
                _ => random.pick([0, 0, 5, 20, 60]),
            },
            poll_time_limit: match behaviour {
                PollTimeout => 90,
                _ => random.pick([0, 10, 50, 100]),
            },
            rejected: match behaviour {
                Rejections => 85,
                _ => random.pick([0, 0, 0, 3]),
            },
            instead: random.pick([0, 0, 0, 0, 0, 0, 5, 50]),
        };
    }

    fn sleep(&mut self) -> i64 {
        let Stretch { behaviour, base, same_sleep, special, .. } = self.stretch;
        if matches!(behaviour, Behaviour::Same) {
            return same_sleep;
        }
        let far = matches!(behaviour, Behaviour::Tick | Behaviour::TickOrEarly);
        if far && self.random.percent(70) {
            let near = self.tick + self.random.between(0, 3 * self.tick);
            let never = i64::MAX - self.random.between(0, 1000 * SECOND);
            return self.random.pick([SECOND, near, never]);
        }
        if self.random.percent(special) {
            return self.special_sleep();
        }
        let any = self.random.between(1, 3 * self.tick);
        let later = base + self.random.between(0, 4 * base);
        self.random.pick([base / 2, later, later, SECOND, any])
    }

    fn residency(&mut self, sleep: i64) -> i64 {
        use Behaviour::{
            Early, Intervals, NearTimer, PollTimeout, Rejections, Same, Short, Tick, TickOrEarly,
            Timer, TimerOrEarly, Wild,
        };
        let Stretch { behaviour, base, same_residency, spread, outliers, special, .. } =
            self.stretch;
        let special =
            !matches!(behaviour, Timer | NearTimer | Same) && self.random.percent(special);
        if special {
            return self.special_residency();
        }
        match behaviour {
            Timer => self.at_timer(sleep),
            TimerOrEarly if self.random.percent(40) => self.at_timer(sleep),
            NearTimer => {
                let latency = self.some_state().exit_latency.get();
                let after = self.random.pick([0, 0, latency, latency / 2]);
                self.around(sleep.saturating_add(after))
            }
            Tick => self.at_tick(),
            TickOrEarly if self.random.percent(60) => self.at_tick(),
            Short => self.random.between(1, 16 * MICROSECOND),
            Same => same_residency,
            // Of eight intervals, which menu remembers, so many are outliers, and the others lie
            // evenly about their mean.
            Intervals if self.left % 8 < outliers => {
                self.random.pick([MICROSECOND, base / 2, base * 2, 10 * base])
            }
            Intervals if self.left.is_multiple_of(2) => base + spread,
            Intervals => base - spread,
            Wild => self.special_residency(),
            Early | TickOrEarly | TimerOrEarly | PollTimeout | Rejections => {
                base / 2 + self.random.between(0, base)
            }
        }
    }

    /// The timer wakes the CPU, which takes a while.
    fn at_timer(&mut self, sleep: i64) -> i64 {
        let latency = self.some_state().exit_latency.get();
        let late = self.random.pick([0, 1, 500, 1500, 3000, latency, latency / 2]);
        sleep.clamp(0, 2 * SECOND).saturating_add(late)
    }

    /// The tick wakes the CPU, which takes a while.
    fn at_tick(&mut self) -> i64 {
        let late = self.random.pick([0, 1500, self.tick / 10]);
        self.tick - self.random.between(0, self.tick / 8) + late
    }

    fn some_state(&mut self) -> IdleState {
        let number = self.random.below(self.states.len() as u64) as usize;
        self.states.as_slice().get(number).copied().unwrap_or_default()
    }

    /// A value, or its neighbour.
    fn around(&mut self, value: i64) -> i64 {
        value.saturating_add(self.random.between(-1, 1))
    }

    fn special_sleep(&mut self) -> i64 {
        let residency = self.some_state().target_residency.get();
        let value = match self.random.below(16) {
            0..=4 => residency,
            5 | 6 => self.tick,
            7 | 8 => 2 * self.tick,
            9 => self.tick / 2,
            10 => {
                let magnitudes = [10_000, 100_000, MILLISECOND, 10 * MILLISECOND, SECOND / 10];
                self.random.pick([0, 1, 15_000, UNREACHABLE]).max(self.random.pick(magnitudes))
            }
            11 => self.random.pick([0, 1, 1000, 15_000]),
            12 => -self.random.of_any_size(1, 62),
            13 => i64::MAX,
            14 => i64::MAX - self.random.of_any_size(1, 62),
            _ => self.random.pick([i64::MIN, SECOND, UNREACHABLE, UNREACHABLE + MICROSECOND]),
        };
        self.around(value)
    }

    fn special_delta_tick(&mut self) -> i64 {
        let residency = self.some_state().target_residency.get();
        let value = match self.random.below(8) {
            0..=2 => residency,
            3 => self.tick,
            4 => self.tick / 2,
            5 => 2 * self.tick,
            6 => -self.random.of_any_size(1, 40),
            _ => self.random.pick([0, i64::MAX, i64::MIN, 3 * self.tick, 12 * self.tick]),
        };
        self.around(value)
    }

    fn special_limit(&mut self) -> i64 {
        let latency = self.some_state().exit_latency.get();
        let value = match self.random.below(8) {
            0..=3 => latency,
            4 => 0,
            5 => 7_500,
            6 => self.random.pick([1, 1_000, 5_000, 15_000]),
            _ => self.random.pick([20_000, 50_000, 150_000, MILLISECOND]),
        };
        self.around(value).max(0)
    }

    fn special_residency(&mut self) -> i64 {
        let latency = self.some_state().exit_latency.get();
        // What governors take off a measurement.
        let latency = self.random.pick([0, latency / 2, latency]);
        let residency = self.some_state().target_residency.get();
        let value = match self.random.below(16) {
            0..=3 => residency,
            4 | 5 => 15_000,
            6 | 7 => self.tick,
            8 => latency,
            9 => 2 * latency,
            10 => self.random.pick([50 * MILLISECOND, 45 * MILLISECOND, self.tick / 2]),
            11 | 12 => return self.around_poll_limits(),
            13 => 0,
            14 => self.random.of_any_size(1, 63),
            _ => self.random.pick([UNREACHABLE, 10 * SECOND, i64::MAX, 2 * self.tick]),
        };
        self.around(value.saturating_add(latency))
    }

    /// Where haltpoll's limit grows and shrinks.
    fn around_poll_limits(&mut self) -> i64 {
        let limits = [25_000, 50_000, 100_000, 200_000, 400_000, 12_500];
        let limit = self.random.pick(limits);
        self.around(limit)
    }
}

impl Stretch {
    const NOTHING: Self = Self {
        behaviour: Behaviour::Same,
        base: 1,
        latency_limit: 0,
        same_sleep: 0,
        same_residency: 0,
        spread: 0,
        outliers: 0,
        special: 0,
        stopped: 0,
        got_tick: 0,
        poll_time_limit: 0,
        rejected: 0,
        instead: 0,
    };
}

fn table(random: &mut Random, machines: Machines, tick: i64) -> Result<IdleStates, TableSizeError> {
    let fewest = match machines {
        Machines::WithStates(fewest) => fewest.clamp(1, MAX_STATES),
        Machines::Guests if random.percent(60) => return guest(random),
        Machines::Guests => 2,
    };
    let mut rows = [IdleState::default(); MAX_STATES];
    let mut len = 0;
    if random.percent(25) {
        let real = random.pick(REAL_TABLES);
        for (row, &(latency, residency)) in rows.iter_mut().zip(real) {
            *row = IdleState {
                exit_latency: ns(latency * MICROSECOND),
                target_residency: ns(residency * MICROSECOND),
                kind: if residency == 0 { StateKind::Polling } else { StateKind::Sleeping },
                ..IdleState::default()
            };
            len += 1;
        }
    }
    if len < fewest {
        len = random.pick([1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10]).max(fewest);
        make_up(random, &mut rows[..len], tick);
    }
    disable(random, &mut rows[..len]);
    IdleStates::new(&rows[..len])
}

/// A table of a machine that never was.
fn make_up(random: &mut Random, rows: &mut [IdleState], tick: i64) {
    let whole_microseconds = random.percent(60);
    let largest = random.pick([17, 22, 27]);
    for row in &mut *rows {
        let compared = random.pick([tick / 2, tick, 2 * tick, 15_000, 7_500, 1_000, 2_000, 10_000]);
        row.target_residency = ns(if random.percent(35) {
            compared + random.between(-1, 1)
        } else {
            let residency = random.of_any_size(10, largest);
            if whole_microseconds {
                (residency / MICROSECOND).max(1) * MICROSECOND
            } else {
                residency
            }
        });
    }
    if random.percent(30) {
        let one = random.below(rows.len() as u64) as usize;
        let other = random.below(rows.len() as u64) as usize;
        rows[one].target_residency = rows[other].target_residency;
    }
    if random.percent(90) {
        rows.sort_by_key(|row| row.target_residency);
    }
    for row in &mut *rows {
        let residency = row.target_residency.get();
        let latency = match random.below(20) {
            0..=1 => residency,
            2..=14 => residency * random.between(5, 60) / 100,
            15..=16 => residency * random.between(100, 400) / 100,
            _ => random.pick([0, 1, 999, 5_000, 7_499, 7_500, 7_501, 14_999, 15_000, 50_000]),
        };
        row.exit_latency =
            ns(if whole_microseconds { latency / MICROSECOND * MICROSECOND } else { latency });
    }
    if random.percent(85) {
        let mut latencies = [Nanoseconds::ZERO; MAX_STATES];
        let latencies = &mut latencies[..rows.len()];
        for (latency, row) in latencies.iter_mut().zip(&*rows) {
            *latency = row.exit_latency;
        }
        latencies.sort_unstable();
        for (row, latency) in rows.iter_mut().zip(&*latencies) {
            row.exit_latency = *latency;
        }
    }
    match random.below(20) {
        0..=11 => rows[0] = IdleState::polling(""),
        12..=14 => rows[0] = IdleState::new("", ns(MICROSECOND), ns(MICROSECOND)),
        15 => rows[0].kind = StateKind::Polling,
        _ => {}
    }
    let last = rows.len() - 1;
    match random.below(40) {
        0..=1 => {
            let odd = random.below(rows.len() as u64) as usize;
            rows[odd].kind = StateKind::Polling;
        }
        2..=3 => rows[last].target_residency = ns(UNREACHABLE),
        4 => rows[last].target_residency = ns(random.of_any_size(40, 63)),
        _ => {}
    }
}

fn disable(random: &mut Random, rows: &mut [IdleState]) {
    let by = random.pick([Availability::DisabledByUser, Availability::DisabledByDriver]);
    match random.below(50) {
        0..=17 => {
            for row in rows {
                if random.percent(30) {
                    row.availability = by;
                }
            }
        }
        18..=22 => {
            let kept = random.below(rows.len() as u64) as usize;
            for (number, row) in rows.iter_mut().enumerate() {
                if number != kept {
                    row.availability = by;
                }
            }
        }
        23 => rows.iter_mut().for_each(|row| row.availability = by),
        24..=27 => rows[0].availability = by,
        _ => {}
    }
}

fn guest(random: &mut Random) -> Result<IdleStates, TableSizeError> {
    let halt = random.pick([(1, 1), (1, 1), (5, 20), (0, 0)]);
    let (latency, residency) = (halt.0 * MICROSECOND, halt.1 * MICROSECOND);
    let mut rows = [IdleState::polling(""), IdleState::new("", ns(latency), ns(residency))];
    if random.percent(10) {
        disable(random, &mut rows);
    }
    IdleStates::new(&rows)
}

fn disabled(states: &IdleStates) -> u16 {
    let bits = states.as_slice().iter().zip(0..);
    bits.map(|(state, bit): (_, u16)| u16::from(!state.is_enabled()) << bit).sum()
}

const fn ns(nanoseconds: i64) -> Nanoseconds {
    Nanoseconds::new(nanoseconds)
}
