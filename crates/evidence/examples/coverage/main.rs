// SPDX-License-Identifier: GPL-2.0-or-later
//! Prints how often an interval excludes zero where there is no difference, or the method refuses.
//!
//! `cargo run --release -p idlelab-evidence --example coverage`
//!
//! At most 5 % may, but for what chance does to 10,000 experiments; the status is 1 if more do.

mod simulation;

use std::process::ExitCode;

use simulation::{Noise, Schedule, simulate};

const EXPERIMENTS: u32 = 10_000;
/// Of a hundred cells at 5 %, one or none is beyond three standard errors by chance.
const ERRORS: f64 = 3.0;
const RUNS: [usize; 4] = [5, 10, 20, 40];

const NOISES: [(&str, Noise); 7] = [
    ("normal", Noise::Normal),
    ("skewed", Noise::Skewed),
    ("bimodal", Noise::Bimodal),
    ("drift, 1 deviation", Noise::Drifting(1.0)),
    ("drift, 3 deviations", Noise::Drifting(3.0)),
    ("drift, 10 deviations", Noise::Drifting(10.0)),
    ("warming up, 3 dev.", Noise::Warming(3.0)),
];

const SCHEDULES: [(&str, Schedule); 5] = [
    ("ABAB", Schedule::Turns),
    ("ABBA", Schedule::Mirrored),
    ("shuffled", Schedule::Shuffled),
    ("shuffled, not told", Schedule::Untold),
    ("AABB", Schedule::Blocks),
];

fn main() -> ExitCode {
    println!(
        "No true difference, {EXPERIMENTS} experiments a cell: 95 % intervals that exclude zero,\n\
         of those not refused; in brackets, how many are refused\n"
    );
    print!("{:<20}  {:<18}", "noise", "order");
    RUNS.iter().for_each(|runs| print!("  {:>13}", format!("{runs} runs")));
    println!("  {:>9}", "BCa of 40");
    let mut exceeding = 0;
    for (name, noise) in NOISES {
        for (order, schedule) in SCHEDULES {
            print!("{name:<20}  {order:<18}");
            let mut bootstrap = 0;
            for runs in RUNS {
                let found = simulate(noise, schedule, runs, EXPERIMENTS);
                let refused = 100.0 * f64::from(found.refused) / f64::from(EXPERIMENTS);
                let share = if found.refused == EXPERIMENTS {
                    "-".to_owned()
                } else {
                    format!(
                        "{:.2}%{}",
                        100.0 * found.share(),
                        if found.holds(ERRORS) { "" } else { "!" }
                    )
                };
                print!("  {:>13}", format!("{share} ({refused:.0}%)"));
                exceeding += u32::from(!found.holds(ERRORS));
                bootstrap = found.bootstrap_excluding;
            }
            println!("  {:>8.2}%", 100.0 * f64::from(bootstrap) / f64::from(EXPERIMENTS));
        }
    }
    println!(
        "\nThe last column is the bootstrap's interval, which is printed beside and decides nothing.\n\
         {exceeding} cells exceed 5 % by more than three standard errors (marked `!`)"
    );
    ExitCode::from(u8::from(exceeding > 0))
}
