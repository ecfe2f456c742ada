// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings of any content that the types allow.

use idlelab_platform::{Platform, embedded};
use idlelab_recording::{
    Circumstances, CounterChange, CpuRecording, Decision, Fidelity, Miss, Note, NoteKind, Period,
    Periods, Recording, Reflection, StateCounts, WakeCauses, WhatFollowed,
};
use idlelab_states::{CpuId, Nanoseconds, StateIndex, Tick, TickRate};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Times as recordings have them, and the ends of every range that a narrower number has.
pub(crate) fn time() -> impl Strategy<Value = Nanoseconds> {
    const EDGES: [i64; 6] = [i64::MIN, -(1 << 31), 0, 1 << 31, 1 << 32, i64::MAX];
    prop_oneof![
        4 => 0..10_000_000_000_i64,
        1 => (select(&EDGES[..]), -4..4_i64).prop_map(|(edge, off)| edge.saturating_add(off)),
        1 => any::<i64>(),
    ]
    .prop_map(Nanoseconds::new)
}

fn state() -> impl Strategy<Value = StateIndex> {
    (0..10_usize).prop_map(|state| StateIndex::new(state).unwrap())
}

fn tick() -> impl Strategy<Value = Tick> {
    select(&[Tick::Running, Tick::Stopped][..])
}

fn causes() -> impl Strategy<Value = WakeCauses> {
    vec(any::<bool>(), 6).prop_map(|among| {
        let all = [
            WakeCauses::TICK,
            WakeCauses::WHEEL_TIMER,
            WakeCauses::HRTIMER,
            WakeCauses::INTERRUPT,
            WakeCauses::IPI,
            WakeCauses::POLL_LIMIT,
        ];
        let chosen = all.into_iter().zip(among).filter(|&(_, among)| among);
        chosen.fold(WakeCauses::NONE, |set, (cause, _)| set | cause)
    })
}

pub(crate) fn period() -> impl Strategy<Value = Period> {
    let times = (time(), time(), [0; 6].map(|_| option::of(time())));
    let followed = select(&[WhatFollowed::Unknown, WhatFollowed::Task, WhatFollowed::Idle][..]);
    let verdict = option::of(select(&[Miss::Above, Miss::Below][..]));
    let flags = (option::of(tick()), option::of(any::<bool>()), any::<bool>(), any::<bool>());
    (times, state(), causes(), followed, verdict, flags).prop_map(
        |((enter, exit, nullable), state, causes, followed_by, miss, flags)| {
            let [idle_start, residency, next_timer, next_wheel_timer, expired_timer, limit] =
                nullable;
            let (tick, tick_stoppable, events_lost_before, bypassed_cpuidle) = flags;
            Period {
                idle_start,
                enter,
                exit,
                state,
                residency,
                causes,
                followed_by,
                next_timer,
                next_wheel_timer,
                expired_timer,
                tick,
                tick_stoppable,
                latency_limit: limit,
                miss,
                events_lost_before,
                bypassed_cpuidle,
            }
        },
    )
}

fn decision() -> impl Strategy<Value = Decision> {
    let reflection = (state(), time(), any::<bool>(), option::of(any::<bool>())).prop_map(
        |(entered, residency, poll_time_limit, got_tick)| Reflection {
            entered,
            residency,
            poll_time_limit,
            got_tick,
        },
    );
    let told = (option::of(time()), option::of(tick()), option::of((time(), time())));
    (time(), told, state(), any::<bool>(), option::of(reflection)).prop_map(
        |(time, (latency_limit, tick, sleep_length), state, stop_tick, reflection)| Decision {
            time,
            latency_limit,
            tick,
            sleep_length,
            state,
            stop_tick,
            reflection,
        },
    )
}

fn note() -> impl Strategy<Value = Note> {
    (select(&NoteKind::ALL[..]), option::of(any::<u32>()), any::<u64>())
        .prop_map(|(kind, cpu, count)| Note { kind, cpu: cpu.map(CpuId), count })
}

fn machine() -> impl Strategy<Value = Platform> {
    const NAMES: [&str; 4] = ["testbed-arm64-4cpu", "rk3399", "i7-2600k", "raptor-lake-i5-1340p"];
    select(&NAMES[..]).prop_map(|name| embedded::get(name).unwrap())
}

fn cpus() -> impl Strategy<Value = Vec<CpuRecording>> {
    let cpu = (vec(period(), 0..20), vec(decision(), 0..20), option::of(time()));
    btree_map(any::<u32>(), cpu, 0..4).prop_map(|cpus| {
        let cpu = |(cpu, (rows, decisions, tick_phase)): (u32, (Vec<Period>, _, _))| {
            let mut periods = Periods::default();
            rows.iter().for_each(|period| periods.push(period));
            CpuRecording { cpu: CpuId(cpu), periods, decisions, tick_phase }
        };
        cpus.into_iter().map(cpu).collect()
    })
}

fn circumstances() -> impl Strategy<Value = Circumstances> {
    let counts = || {
        let count = || option::of(any::<u64>());
        (count(), count(), count(), count(), count()).prop_map(
            |(usage, time_us, above, below, rejected)| StateCounts {
                usage,
                time_us,
                above,
                below,
                rejected,
            },
        )
    };
    let change =
        (any::<u32>(), state(), counts(), counts()).prop_map(|(cpu, state, before, after)| {
            CounterChange { cpu: CpuId(cpu), state, before, after }
        });
    (option::of(".*"), option::of(".*"), vec("[^\n]*", 0..3), vec(change, 0..5)).prop_map(
        |(kernel, tick_rate_source, latency_holders, counters)| Circumstances {
            kernel,
            tick_rate_source,
            latency_holders,
            counters,
        },
    )
}

pub(crate) fn recording() -> impl Strategy<Value = Recording> {
    let known = (option::of(machine()), option::of(".*"), option::of(".*"));
    let rate = option::of((24..=1200_u32).prop_map(|hz| TickRate::from_hertz(hz).unwrap()));
    let span = (option::of((time(), time())), circumstances());
    let fidelity = (1..=4_u8).prop_map(|level| Fidelity::from_level(level).unwrap());
    (".*", cpus(), fidelity, known, rate, any::<bool>(), span, vec(note(), 0..5)).prop_map(
        |(
            source,
            cpus,
            fidelity,
            (machine, governor, clock),
            tick_rate,
            misses,
            (span, circumstances),
            notes,
        )| {
            Recording {
                source,
                cpus,
                fidelity,
                machine,
                governor,
                clock,
                tick_rate,
                misses_recorded: misses,
                span,
                circumstances,
                notes,
            }
        },
    )
}
