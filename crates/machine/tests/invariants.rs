// SPDX-License-Identifier: GPL-2.0-or-later
//! What must hold whatever is simulated: time and energy add up, no wakeup is lost, a seed says
//! everything.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use idlelab_governors::catalog;
use idlelab_machine::{
    Device, Duration, Keep, Model, Operation, Policy, RemoteWake, Run, Source, Task, scenario,
    simulate,
};
use idlelab_platform::{CpuList, PowerScope, embedded};
use idlelab_states::{CpuId, Nanoseconds, StateIndex, TickRate};
use proptest::prelude::*;

fn policy(name: &str) -> Policy<'static> {
    Policy::Named(catalog::find(name).unwrap())
}

fn run(model: &Model, governor: &str, seed: u64) -> Run {
    simulate(model, policy(governor), seed, Keep::Recording).unwrap()
}

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (1_i64..3_000_000).prop_map(Duration::Fixed),
        (1_i64..5_000, 5_000_i64..900_000).prop_map(|(from, to)| Duration::Uniform(from, to)),
        (500.0..800_000.0).prop_map(Duration::Exponential),
        (500.0..400_000.0, 0.0..1.5)
            .prop_map(|(median, sigma)| Duration::LogNormal { median, sigma }),
    ]
}

const CHANNELS: usize = 3;

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => durations().prop_map(Operation::Compute),
        2 => (durations(), 0_i64..100_000)
            .prop_map(|(duration, slack)| Operation::Sleep { duration, slack }),
        1 => durations().prop_map(Operation::SleepCoarsely),
        3 => (0..CHANNELS).prop_map(Operation::Post),
        3 => (0..CHANNELS).prop_map(Operation::Wait),
        1 => (0_usize..2).prop_map(Operation::Read),
        1 => Just(Operation::Barrier(0)),
        1 => Just(Operation::Mark),
    ]
}

const MACHINES: [(&str, &str); 4] = [
    ("pipe-cross-core", "i7-2600k"),
    ("random-reads", "rk3399"),
    ("phone-idle", "mt8196"),
    ("token", "i5-10600k"),
];

prop_compose! {
    /// A machine of the built-in scenarios with tasks that do anything.
    fn models()(
        machine in 0..MACHINES.len(),
        hertz in prop_oneof![Just(100), Just(250), Just(1_000)],
        rcu in prop_oneof![Just(0.0), 0.0..1.0],
        monitor in any::<bool>(),
        programs in prop::collection::vec(
            (0_usize..6, prop::collection::vec(operations(), 1..7)), 1..9
        ),
        arrivals in prop::collection::vec((0_usize..4, prop::option::of(0..CHANNELS), 5_000.0..2e6), 0..3),
    ) -> Model {
        let (scenario, platform) = MACHINES[machine];
        let mut model = scenario::embedded(scenario).unwrap().unwrap();
        assert_eq!(model.platform.name, platform);
        model.rate = TickRate::from_hertz(hertz).unwrap();
        model.duration = Nanoseconds::new(40_000_000);
        model.rcu_needs_tick = rcu;
        model.costs.remote_wake = if monitor { RemoteWake::Monitor } else { RemoteWake::Ipi };
        model.channels = CHANNELS;
        model.barriers = vec![2];
        model.devices = vec![
            Device { interrupts: None, latency: Duration::Exponential(90_000.0) },
            Device { interrupts: Some(1), latency: Duration::Uniform(1_000, 400_000) },
        ];
        model.sources = arrivals
            .into_iter()
            .map(|(cpu, channel, mean)| Source { cpu, channel, every: Duration::Exponential(mean) })
            .collect();
        model.tasks = programs
            .into_iter()
            .filter(|(_, program)| program.iter().any(|&step| step != Operation::Mark))
            .map(|(cpu, program)| Task { name: "any".into(), cpu, program })
            .collect();
        model
    }
}

fn governors() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("teo"),
        Just("menu"),
        Just("teo@6.6"),
        Just("menu@4.6"),
        Just("ladder"),
        Just("state:0"),
        Just("state:1"),
        Just("deepest"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn time_adds_up_and_no_wakeup_is_lost(model in models(), name in governors(), seed in any::<u64>()) {
        let run = run(&model, name, seed);
        let end = model.duration.get();
        for (time, cpu) in run.times.iter().zip(&run.outcome.per_cpu) {
            prop_assert_eq!(time.total(), end);
            prop_assert!(time.running >= 0 && time.overhead >= 0);
            // A stay that the end cuts off is in the CPU's time and not yet counted.
            let counted: u64 = cpu.states.iter().map(|state| state.time_ns).sum();
            let all: i64 = time.idle.0.iter().sum();
            prop_assert!(counted <= all.cast_unsigned());
        }
        let balance = run.balance;
        prop_assert_eq!(balance.posted, balance.taken + balance.waiting);
        prop_assert_eq!(balance.stuck, 0);
        prop_assert_eq!(balance.timers_set, balance.timers_fired + balance.timers_pending);
        prop_assert_eq!(balance.timers_overdue, 0);
    }

    #[test]
    fn a_seed_says_everything(model in models(), name in governors(), seed in any::<u64>()) {
        let (one, other) = (run(&model, name, seed), run(&model, name, seed));
        prop_assert_eq!(one.outcome, other.outcome);
        prop_assert_eq!(one.recording, other.recording);
    }

    #[test]
    fn keeping_a_recording_changes_nothing(model in models(), name in governors()) {
        let kept = run(&model, name, 5);
        let bare = simulate(&model, policy(name), 5, Keep::Outcome).unwrap();
        prop_assert_eq!(kept.outcome, bare.outcome);
    }

    /// The energy once more, from the recorded stays instead of the running sums.
    #[test]
    fn energy_is_that_of_the_recorded_stays(model in models(), name in governors()) {
        let run = run(&model, name, 9);
        let Some(parts) = &run.energy else { return Ok(()) };
        let found = parts.total();
        prop_assert_eq!(run.outcome.energy.modelled_joules, Some(found));
        let expected = from_stays(&model, &run);
        prop_assert!((found - expected).abs() <= 1e-9 * expected, "{} {}", found, expected);
    }
}

/// Depth 0 is executing, depth n idle state n - 1.
type Depths = Vec<(i64, usize)>;

/// The depth of a CPU from each of these times on.
fn depths(model: &Model, run: &Run, cpu: usize) -> Depths {
    let end = model.duration.get();
    let recording = &run.recording.as_ref().unwrap().cpus[cpu];
    let mut depths = vec![(0, 0)];
    let mut left = run.times[cpu].idle;
    for period in recording.periods.iter() {
        depths.push((period.enter.get(), period.state.get() + 1));
        depths.push((period.exit.get(), 0));
        left[period.state] -= (period.exit - period.enter).get();
    }
    // The stay that the end cut off.
    for state in (0..10).filter_map(StateIndex::new) {
        if left[state] > 0 {
            depths.push((end - left[state], state.get() + 1));
        }
    }
    depths
}

fn at(depths: &Depths, time: i64) -> usize {
    depths.iter().rev().find(|(from, _)| *from <= time).unwrap().1
}

fn from_stays(model: &Model, run: &Run) -> f64 {
    let platform = &model.platform;
    let power = platform.power().unwrap();
    let end = model.duration.get();
    let all: Vec<Depths> = (0..model.cpus.len()).map(|cpu| depths(model, run, cpu)).collect();
    let mut joules = 0.0;
    let mut done: Vec<CpuId> = Vec::new();
    for &cpu in &model.cpus {
        if done.contains(&cpu) {
            continue;
        }
        let of_cpu = platform.power_of(cpu).unwrap();
        let core: CpuList = match of_cpu.scope {
            PowerScope::Core => platform.topology.as_ref().unwrap().core_of(cpu).unwrap().clone(),
            PowerScope::Cpu => [cpu].into_iter().collect(),
        };
        done.extend(core.iter());
        let threads: Vec<&Depths> = model
            .cpus
            .iter()
            .zip(&all)
            .filter(|(cpu, _)| core.contains(**cpu))
            .map(|(_, depths)| depths)
            .collect();
        let mut moments: Vec<i64> =
            threads.iter().flat_map(|thread| thread.iter().map(|(from, _)| *from)).collect();
        moments.push(end);
        moments.sort_unstable();
        let mut before = 0;
        for pair in moments.windows(2) {
            let depth = threads.iter().map(|thread| at(thread, pair[0])).min().unwrap();
            let time = (pair[1] - pair[0]) as f64 * 1e-9;
            let state = depth.checked_sub(1).and_then(StateIndex::new);
            let (watts, transition) = match state {
                None => (of_cpu.active.as_ref().unwrap().at(model.mhz), 0.0),
                Some(state) => {
                    let state = of_cpu.states[state].as_ref().unwrap();
                    (state.watts.at(model.mhz), state.transition.value.0)
                }
            };
            joules += watts * time;
            if depth != before && pair[1] > pair[0] {
                joules += transition;
                before = depth;
            }
        }
    }
    // Neither machine has a shared part that can be off.
    for shared in &power.shared {
        assert!(shared.levels.is_empty());
        joules += shared.watts(0, model.mhz) * end as f64 * 1e-9;
    }
    joules
}

#[test]
fn the_machines_with_power_numbers_are_among_those_tried() {
    let with_power =
        MACHINES.iter().filter(|(_, name)| embedded::get(name).unwrap().power().is_some());
    assert_eq!(with_power.count(), 2);
}

#[test]
fn memory_of_a_run_does_not_depend_on_its_length() {
    // What a run keeps is its outcome, whose size is that of its histograms.
    let mut model = scenario::embedded("pipe-cross-core").unwrap().unwrap();
    let size = |run: &Run| {
        run.outcome
            .per_cpu
            .iter()
            .map(|cpu| cpu.wakeup_latency.as_ref().unwrap().counts.len())
            .sum::<usize>()
    };
    model.duration = Nanoseconds::new(50_000_000);
    let short = simulate(&model, policy("teo"), 1, Keep::Outcome).unwrap();
    model.duration = Nanoseconds::new(500_000_000);
    let long = simulate(&model, policy("teo"), 1, Keep::Outcome).unwrap();
    assert!(long.events > 9 * short.events);
    assert!(size(&long) < size(&short) + 200, "{} {}", size(&long), size(&short));
}

#[test]
fn the_clairvoyant_is_refused_with_a_reason() {
    let model = scenario::embedded("pipe-cross-core").unwrap().unwrap();
    let error = simulate(&model, policy("clairvoyant"), 1, Keep::Outcome).unwrap_err();
    assert!(error.to_string().contains("replay a recording"), "{error}");
}
