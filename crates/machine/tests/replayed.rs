// SPDX-License-Identifier: GPL-2.0-or-later
//! A simulation, recorded and replayed: under its own governor it must come out the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use idlelab_governors::catalog;
use idlelab_machine::{Keep, Policy, Run, scenario, simulate, write_ftrace};
use idlelab_recording::{Fidelity, Recording};
use idlelab_replay::{FreeRun, Prepared, WhatIf, check_accounting, check_decisions};
use idlelab_states::Nanoseconds;

/// Governors that ask nothing but what a recording holds.
const GOVERNORS: [&str; 5] = ["teo", "teo@6.14", "menu", "menu@6.15", "ladder"];

fn recorded(name: &str, governor: &str, duration: i64) -> (Run, Recording) {
    let mut model = scenario::embedded(name).unwrap().unwrap();
    model.duration = Nanoseconds::new(duration);
    let policy = Policy::Named(catalog::find(governor).unwrap());
    let mut run = simulate(&model, policy, 3, Keep::Recording).unwrap();
    let recording = run.recording.take().unwrap();
    (run, recording)
}

#[test]
fn its_own_governor_makes_every_decision_again() {
    for name in scenario::names() {
        for governor in GOVERNORS {
            let (_, recording) = recorded(name, governor, 300_000_000);
            let machine = recording.machine.clone().unwrap();
            let rate = recording.tick_rate.unwrap();
            let check =
                check_decisions(&recording, &machine, rate, catalog::find(governor).unwrap())
                    .unwrap();
            assert_eq!(check.reproduced, check.decisions, "{name} {governor}: {check:?}");
            assert!(check.decisions > 0 || name == "pipe-same-cpu", "{name} {governor}");
            let accounting = check_accounting(&recording, &machine).unwrap().unwrap();
            assert!(accounting.is_exact(), "{name} {governor}: {accounting:?}");
        }
    }
}

#[test]
fn a_free_run_lands_where_the_simulation_did() {
    for name in scenario::names().filter(|&name| name != "pipe-same-cpu") {
        for governor in ["teo", "menu"] {
            let (_, recording) = recorded(name, governor, 2_000_000_000);
            let machine = recording.machine.clone().unwrap();
            let prepared = Prepared::new(&recording, &machine, &WhatIf::default()).unwrap();
            let replayed = prepared.run(catalog::find(governor).unwrap());
            let free = FreeRun::new(&prepared.recorded_states(), &replayed[0]);
            assert!(free.worst_share_error < 2.0, "{name} {governor}: {free:#?}");
        }
    }
}

/// In open loop, that CPU's own modelled energy: exactly what the bound is defined for.
#[test]
fn nobody_beats_the_clairvoyant_in_open_loop() {
    for name in ["pipe-cross-core", "token", "sleep-sweep", "video-60hz"] {
        let (_, recording) = recorded(name, "teo", 500_000_000);
        let machine = recording.machine.clone().unwrap();
        let prepared = Prepared::new(&recording, &machine, &WhatIf::default()).unwrap();
        let names: Vec<_> = ["teo", "menu", "ladder", "state:1", "deepest"]
            .map(|name| catalog::find(name).unwrap())
            .into();
        for outcome in prepared.compare(&names) {
            for cpu in &outcome.per_cpu {
                let joules = cpu.regret.unwrap().joules.unwrap();
                let governor = outcome.governor.as_deref().unwrap();
                assert!(joules > -1e-9, "{name} {governor} cpu{}: {joules}", cpu.cpu);
            }
        }
    }
}

#[test]
fn the_trace_is_read_back() {
    for name in ["pipe-cross-core", "phone-idle", "idle-desktop"] {
        let (_, recording) = recorded(name, "teo", 200_000_000);
        let mut text = Vec::new();
        write_ftrace(&recording, &mut text).unwrap();
        let read = idlelab_import::read(&text[..], "simulated").unwrap();
        assert_eq!(read.fidelity, Fidelity::Inputs, "{name}");
        assert_eq!(read.governor.as_deref(), Some("teo"));
        let quiet = |recording: &Recording| -> Vec<_> {
            recording
                .cpus
                .iter()
                .filter(|cpu| !cpu.periods.is_empty())
                .map(|cpu| {
                    let periods: Vec<_> = cpu
                        .periods
                        .iter()
                        .map(|period| (period.enter, period.exit, period.state, period.miss))
                        .collect();
                    (cpu.cpu, periods)
                })
                .collect()
        };
        assert_eq!(quiet(&read), quiet(&recording), "{name}");
        let machine = recording.machine.as_ref().unwrap();
        let rate = recording.tick_rate.unwrap();
        let check = check_decisions(&read, machine, rate, catalog::find("teo").unwrap()).unwrap();
        assert_eq!(check.reproduced, check.decisions, "{name}: {check:?}");
        assert!(check.decisions > 0);
    }
}
