// SPDX-License-Identifier: GPL-2.0-or-later
//! How fast the simulator is and what memory it takes: `cargo bench -p idlelab-machine`.
//!
//! The promise: at least three million events a second a core on the pipe scenario, and memory that
//! does not grow with simulated time.

#![expect(clippy::expect_used, reason = "a bench that cannot set up has nothing to measure")]

use std::fs;
use std::time::Instant;

use idlelab_governors::catalog;
use idlelab_machine::{Keep, Policy, scenario, simulate};
use idlelab_states::Nanoseconds;

const ROUNDS: usize = 5;

fn main() {
    println!("scenario         governor  simulated s  million events/s  peak memory MiB");
    for name in ["pipe-cross-core", "pipe-same-cpu", "sleep-sweep", "idle-desktop"] {
        for governor in ["teo", "menu"] {
            for seconds in [1, 10] {
                let mut model =
                    scenario::embedded(name).expect("built in").expect("a valid scenario");
                model.duration = Nanoseconds::new(seconds * 1_000_000_000);
                let policy = Policy::Named(catalog::find(governor).expect("in the catalogue"));
                let mut best = 0.0_f64;
                for _ in 0..ROUNDS {
                    let start = Instant::now();
                    let run = simulate(&model, policy, 1, Keep::Outcome).expect("it can be run");
                    best = best.max(run.events as f64 / start.elapsed().as_secs_f64() / 1e6);
                }
                println!("{name:<16} {governor:<8} {seconds:>12} {best:>17.2} {:>16}", peak());
            }
        }
    }
}

/// The most memory that this process has had, where the system tells.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.map_or_else(|| "-".to_owned(), |kib| format!("{:.1}", kib / 1024.0))
}
