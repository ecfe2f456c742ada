// SPDX-License-Identifier: GPL-2.0-or-later
//! What a replay costs beside the bare governor: `cargo bench -p idlelab-replay`.
//!
//! The bare loop asks the governor the very questions that the recorded one was asked, on one
//! thread, with nothing around it. The ratio of the two, taken in turn in one run, is the promise:
//! at most 2, and at least five million idle periods a second for teo.

#![expect(clippy::expect_used, reason = "a bench that cannot set up has nothing to measure")]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use idlelab_governors::catalog::{self, AnyGovernor};
use idlelab_governors::steps::{StepDriver, StepInputs};
use idlelab_governors::{Governor, SleepLength};
use idlelab_platform::{Platform, embedded};
use idlelab_recording::Recording;
use idlelab_replay::{Prepared, WhatIf};
use idlelab_states::{CpuId, TickRate};

/// Enough that the quietest round is quiet on a busy machine.
const ROUNDS: usize = 60;

fn main() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings/teo-7.3-4cpu.txt.gz");
    let recording = idlelab_import::open(&path).expect("a recording of this repository");
    let platform = embedded::get("testbed-arm64-4cpu").expect("a built-in platform");
    let rate = TickRate::from_hertz(250).expect("a rate that kernels are built with");
    let prepared =
        Prepared::new(&recording, &platform, &WhatIf::default()).expect("the recorded machine");
    let one_thread =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    println!("governor  replay ns/period  bare governor ns/step  ratio  million periods/s");
    for name in ["teo", "menu"] {
        let governor = catalog::find(name).expect("in the catalogue");
        let steps = steps(&recording);
        let (mut replay, mut bare) = (Duration::MAX, Duration::MAX);
        let mut periods = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let outcome = one_thread.install(|| black_box(prepared.run(governor)));
            replay = replay.min(start.elapsed());
            periods = outcome.iter().filter_map(|outcome| outcome.idles).sum();
            let start = Instant::now();
            match governor.build(rate) {
                AnyGovernor::Teo(teo) => drive(&teo, &steps, &platform),
                AnyGovernor::Menu(menu) => drive(&menu, &steps, &platform),
                other => drive(&other, &steps, &platform),
            }
            bare = bare.min(start.elapsed());
        }
        let asked: usize = steps.iter().map(|(_, steps)| steps.len()).sum();
        let replay = replay.as_secs_f64() * 1e9 / periods as f64;
        let bare = bare.as_secs_f64() * 1e9 / asked as f64;
        println!(
            "{name:<9} {replay:>16.1}  {bare:>21.1}  {:>5.2}  {:>17.1}",
            replay / bare,
            1e3 / replay
        );
    }
}

/// The recorded questions and answers of each CPU.
fn steps(recording: &Recording) -> Vec<(CpuId, Vec<StepInputs>)> {
    recording
        .cpus
        .iter()
        .map(|cpu| {
            let steps = cpu.decisions.iter().filter_map(|decision| {
                let reflection = decision.reflection?;
                let (sleep, delta_tick) = decision.sleep_length.unwrap_or_default();
                Some(StepInputs {
                    sleep_length: SleepLength { sleep, delta_tick },
                    latency_limit: decision.latency_limit?,
                    tick: decision.tick.unwrap_or_default(),
                    got_tick: reflection.got_tick.unwrap_or_default(),
                    ..StepInputs::of_residency(reflection.residency)
                })
            });
            (cpu.cpu, steps.collect())
        })
        .collect()
}

fn drive<G: Governor + Clone>(
    governor: &G,
    steps: &[(CpuId, Vec<StepInputs>)],
    platform: &Platform,
) {
    for (cpu, steps) in steps {
        let states = platform.states_of(*cpu).expect("every CPU has the same states");
        let mut governor = governor.clone();
        let mut driver = StepDriver::new();
        driver.enable(&mut governor, states);
        for step in steps {
            black_box(driver.step(&mut governor, states, step));
        }
    }
}
