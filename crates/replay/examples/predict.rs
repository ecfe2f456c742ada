// SPDX-License-Identifier: GPL-2.0-or-later
//! Does what a replay says come true? Two recordings of one workload, one run under teo and one
//! under menu, each replayed through both governors, beside what really happened.
//!
//! `cargo run --release -p idlelab-replay --example predict`

use std::error::Error;
use std::path::PathBuf;

use idlelab_governors::catalog;
use idlelab_outcome::StateOutcome;
use idlelab_platform::embedded;
use idlelab_replay::{FreeRun, Prepared, WhatIf};

fn main() -> Result<(), Box<dyn Error>> {
    let platform = embedded::get("testbed-arm64-4cpu").ok_or("no such platform")?;
    let recordings = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings");
    let names = ["teo", "menu"];
    let mut prepared = Vec::new();
    for name in names {
        let recording = idlelab_import::open(&recordings.join(format!("{name}-7.3-4cpu.txt.gz")))?;
        prepared.push(Prepared::new(&recording, &platform, &WhatIf::default())?);
    }
    println!("                           share of idle time, per cent      idle periods");
    for (name, recorded) in names.iter().zip(&prepared) {
        let truth = recorded.recorded_states();
        print(&format!("{name}, real"), &truth, None);
        for (from, replayed) in names.iter().zip(&prepared) {
            let governor = catalog::find(name).map_err(|error| error.to_string())?;
            let how = if name == from { "replayed" } else { "predicted" };
            for outcome in replayed.run(governor) {
                let error = FreeRun::new(&truth, &outcome).worst_share_error;
                print(&format!("{name}, {how} from {from}"), &outcome.states, Some(error));
            }
        }
    }
    Ok(())
}

fn print(label: &str, states: &[StateOutcome], error: Option<f64>) {
    let idle: u64 = states.iter().map(|state| state.time_ns).sum();
    print!("{label:<27}");
    for state in states {
        print!("{:>7.2}", 100.0 * state.time_ns as f64 / idle.max(1) as f64);
    }
    let usage: Vec<String> = states.iter().map(|state| state.usage.to_string()).collect();
    let error = error.map_or_else(String::new, |error| format!("  worst {error:.2} points off"));
    println!("     {:<24}{error}", usage.join(" / "));
}
