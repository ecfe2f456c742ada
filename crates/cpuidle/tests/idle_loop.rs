// SPDX-License-Identifier: GPL-2.0-or-later
//! The idle loop by hand: what the kernel's rules give for a few microseconds worked out on paper.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use idlelab_cpuidle::{Environment, IdleLoop, Left};
use idlelab_governors::{Device, Governor, Kernel, Metric, Selection, SleepLength, TickRequest};
use idlelab_states::{
    Availability, IdleState, IdleStates, Nanoseconds, StateIndex, Tick, TickRate,
};

fn us(microseconds: i64) -> Nanoseconds {
    Nanoseconds::from_micros(microseconds)
}

fn index(index: usize) -> StateIndex {
    StateIndex::new(index).unwrap()
}

/// Chooses what it is told to, and writes down what it sees.
#[derive(Clone, Debug, Default)]
struct Scripted {
    state: usize,
    keep_tick: bool,
    told: Vec<SleepLength>,
    limits: Vec<Nanoseconds>,
    devices: Vec<Device>,
    ticks: Vec<Tick>,
    got_tick: Vec<bool>,
}

impl Governor for Scripted {
    fn enable(&mut self, _states: &IdleStates, _device: &mut Device) {}

    fn select(&mut self, _states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        self.told.push(kernel.sleep_length());
        self.limits.push(kernel.latency_limit());
        self.ticks.push(kernel.tick());
        self.devices.push(*kernel.device());
        let tick = if self.keep_tick { TickRequest::Keep } else { TickRequest::Stop };
        Selection { state: index(self.state), tick }
    }

    fn reflect(&mut self, _entered: StateIndex, kernel: &mut dyn Kernel) {
        self.got_tick.push(kernel.take_got_tick());
        assert!(!kernel.take_got_tick(), "asking clears it");
    }

    fn explain(&self, _metrics: &mut dyn FnMut(Metric)) {}
}

struct World {
    hrtimer: Nanoseconds,
    wheel: Nanoseconds,
    stoppable: bool,
    limit: Nanoseconds,
}

impl World {
    fn quiet() -> Self {
        Self {
            hrtimer: Nanoseconds::MAX,
            wheel: Nanoseconds::MAX,
            stoppable: true,
            limit: us(2_000_000_000),
        }
    }
}

impl Environment for World {
    fn next_hrtimer(&mut self) -> Nanoseconds {
        self.hrtimer
    }
    fn next_wheel_timer(&mut self) -> Nanoseconds {
        self.wheel
    }
    fn tick_stoppable(&mut self) -> bool {
        self.stoppable
    }
    fn latency_limit(&mut self) -> Nanoseconds {
        self.limit
    }
}

/// POLL, C1 2/2, C6 100/300 at 250 Hz, the tick on whole multiples of 4 ms.
fn idle(governor: Scripted) -> IdleLoop<Scripted> {
    let states = IdleStates::new(&[
        IdleState::polling("POLL"),
        IdleState::new("C1", us(2), us(2)),
        IdleState::new("C6", us(100), us(300)),
    ])
    .unwrap();
    IdleLoop::new(governor, states, TickRate::from_hertz(250).unwrap(), Nanoseconds::ZERO)
}

fn interrupted(at: Nanoseconds) -> Left {
    Left { interrupt_end: Some(at), ..Left::default() }
}

#[test]
fn the_sleep_length_counts_the_tick_only_while_it_runs() {
    let mut cpu = idle(Scripted { state: 2, ..Scripted::default() });
    let mut world = World { hrtimer: us(50_000), ..World::quiet() };
    cpu.begin(us(9_000));
    let entry = cpu.select(&mut world);
    // Asked while the tick, due at 12 ms, still ran.
    assert_eq!(cpu.governor().told[0], SleepLength { sleep: us(41_000), delta_tick: us(3_000) });
    assert_eq!((entry.tick_due, entry.stopped_tick), (None, true));
    // An interrupt without work: the loop goes round, the tick stays stopped.
    cpu.left(&entry, entry.state, us(1_000), interrupted(us(10_100)));
    let entry = cpu.select(&mut world);
    assert_eq!(cpu.governor().told[1], SleepLength { sleep: us(39_900), delta_tick: us(39_900) });
    assert_eq!(cpu.governor().ticks, [Tick::Running, Tick::Stopped]);
    assert!(!entry.stopped_tick, "it was stopped before");
    // A task runs: the tick is restarted at its phase.
    cpu.left(&entry, entry.state, us(500), interrupted(us(10_700)));
    cpu.begin(us(21_000));
    cpu.select(&mut world);
    assert_eq!(cpu.governor().told[2], SleepLength { sleep: us(29_000), delta_tick: us(3_000) });
    assert_eq!(cpu.statistics().tick_stops, 2);
}

#[test]
fn a_tick_that_cannot_be_stopped_is_all_the_governor_is_told() {
    let mut cpu = idle(Scripted::default());
    let mut world = World { hrtimer: us(50_000), stoppable: false, ..World::quiet() };
    cpu.begin(us(9_000));
    let entry = cpu.select(&mut world);
    assert_eq!(cpu.governor().told[0], SleepLength { sleep: us(3_000), delta_tick: us(3_000) });
    assert_eq!(entry.tick_due, Some(us(12_000)), "the request is not met");
}

#[test]
fn a_wheel_timer_within_a_tick_keeps_the_tick() {
    let mut cpu = idle(Scripted::default());
    // The last boundary is 8 ms: a wheel timer at 12 ms is a tick away, one at 16 ms two.
    let mut near = World { wheel: us(12_000), ..World::quiet() };
    cpu.begin(us(9_000));
    assert_eq!(cpu.select(&mut near).tick_due, Some(us(12_000)));
    let mut far = World { wheel: us(16_000), ..World::quiet() };
    cpu.begin(us(9_000));
    assert_eq!(cpu.select(&mut far).tick_due, None);
    assert_eq!(cpu.governor().told[1].sleep, us(7_000));
}

#[test]
fn an_overdue_timer_makes_the_sleep_length_negative() {
    let mut cpu = idle(Scripted::default());
    let mut world = World { hrtimer: us(8_997), ..World::quiet() };
    cpu.begin(us(9_000));
    cpu.select(&mut world);
    assert_eq!(cpu.governor().told[0], SleepLength { sleep: us(-3), delta_tick: us(-3) });
}

#[test]
fn a_tick_in_idle_is_told_once() {
    let mut cpu = idle(Scripted { state: 1, keep_tick: true, ..Scripted::default() });
    cpu.begin(us(9_000));
    for (at, fired) in [(us(12_005), true), (us(13_000), false)] {
        let entry = cpu.select(&mut World::quiet());
        let left = Left { interrupt_end: Some(at), tick_fired: fired, poll_limit_hit: false };
        cpu.left(&entry, entry.state, us(100), left);
    }
    assert_eq!(cpu.governor().got_tick, [true, false]);
    assert_eq!(cpu.statistics().ticks, 1);
    let entry = cpu.select(&mut World::quiet());
    assert_eq!(entry.tick_due, Some(us(16_000)), "the next boundary");
}

#[test]
fn polling_ends_at_the_first_residency_of_ten_microseconds() {
    let mut cpu = idle(Scripted { state: 0, keep_tick: true, ..Scripted::default() });
    cpu.begin(us(9_000));
    let entry = cpu.select(&mut World::quiet());
    // C1 has 2 us, which do not count; C6 has 300, a sixteenth of 4 ms is 250.
    assert_eq!(entry.poll_limit, Some(us(250)));
    cpu.left(&entry, entry.state, us(250), Left { poll_limit_hit: true, ..Left::default() });
    cpu.select(&mut World { hrtimer: us(10_000), ..World::quiet() });
    let governor = cpu.governor();
    assert!(governor.devices[1].poll_time_limit);
    assert_eq!(governor.told[1].sleep, us(1_000), "the loop's time is not taken anew");
}

#[test]
fn a_write_to_disable_forgets_the_poll_limit() {
    let mut cpu = idle(Scripted { state: 0, keep_tick: true, ..Scripted::default() });
    cpu.begin(us(9_000));
    assert_eq!(cpu.select(&mut World::quiet()).poll_limit, Some(us(250)));
    cpu.set_availability(index(2), Availability::DisabledByUser);
    assert_eq!(cpu.select(&mut World::quiet()).poll_limit, Some(us(250)), "a sixteenth of a tick");
}

#[test]
fn a_rejected_entry_leaves_no_residency_and_is_not_reflected() {
    let mut cpu = idle(Scripted { state: 2, ..Scripted::default() });
    cpu.begin(us(9_000));
    let entry = cpu.select(&mut World::quiet());
    cpu.left(&entry, entry.state, us(777), interrupted(us(9_800)));
    let entry = cpu.select(&mut World::quiet());
    cpu.rejected(&entry);
    cpu.select(&mut World::quiet());
    let governor = cpu.governor();
    assert_eq!(governor.devices[1].last_residency, us(777));
    assert_eq!(governor.devices[2].last_residency, Nanoseconds::ZERO);
    assert_eq!(governor.got_tick.len(), 1);
    let counters = cpu.statistics().states[index(2)];
    assert_eq!((counters.usage, counters.rejected), (1, 1));
}

#[test]
fn the_latency_limit_reaches_the_governor() {
    let mut cpu = idle(Scripted::default());
    cpu.begin(us(0));
    cpu.select(&mut World { limit: us(20), ..World::quiet() });
    assert_eq!(cpu.governor().limits, [us(20)]);
}

#[test]
fn a_table_of_one_state_needs_no_governor() {
    let states = IdleStates::new(&[IdleState::new("WFI", us(1), us(1))]).unwrap();
    let rate = TickRate::from_hertz(250).unwrap();
    let mut cpu = IdleLoop::new(Scripted::default(), states, rate, Nanoseconds::ZERO);
    cpu.begin(us(9_000));
    let entry = cpu.select(&mut World::quiet());
    assert_eq!((entry.state, entry.tick_due), (index(0), Some(us(12_000))));
    let tick = Left { interrupt_end: Some(us(12_003)), tick_fired: true, poll_limit_hit: false };
    cpu.left(&entry, entry.state, us(3_000), tick);
    // After a tick the tick may be stopped.
    assert_eq!(cpu.select(&mut World::quiet()).tick_due, None);
    assert!(cpu.governor().told.is_empty());
    assert_eq!(cpu.statistics().states[index(0)].usage, 1);
}
