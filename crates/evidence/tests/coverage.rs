// SPDX-License-Identifier: GPL-2.0-or-later
//! The level of the intervals, by fewer simulated experiments than `--example coverage` has.

#[path = "../examples/coverage/simulation.rs"]
mod simulation;

use simulation::{Noise, Schedule, simulate};

const EXPERIMENTS: u32 = 1000;

#[track_caller]
fn holds(noise: Noise, schedule: Schedule, runs: usize) {
    let found = simulate(noise, schedule, runs, EXPERIMENTS);
    assert!(found.holds(4.0), "{noise:?}, {schedule:?}, {runs} runs: {found:?}");
    assert!(found.refused < EXPERIMENTS, "{found:?}");
}

#[test]
fn intervals_exclude_zero_no_more_often_than_they_may() {
    for noise in [Noise::Normal, Noise::Skewed, Noise::Bimodal] {
        holds(noise, Schedule::Untold, 5);
        holds(noise, Schedule::Turns, 10);
        holds(noise, Schedule::Shuffled, 10);
        holds(noise, Schedule::Mirrored, 40);
    }
}

#[test]
fn drift_neither_passes_for_a_difference_nor_hides_in_the_order() {
    for noise in [Noise::Drifting(1.0), Noise::Drifting(10.0), Noise::Warming(3.0)] {
        holds(noise, Schedule::Turns, 10);
        holds(noise, Schedule::Turns, 40);
        holds(noise, Schedule::Mirrored, 20);
        let blocks = simulate(noise, Schedule::Blocks, 10, 50);
        assert_eq!(blocks.refused, 50, "{blocks:?}");
    }
}

#[test]
fn five_pairs_are_refused() {
    assert_eq!(simulate(Noise::Normal, Schedule::Turns, 5, 50).refused, 50);
}

/// Why verdicts do not rest on the bootstrap: it fails for skewed noise even at 40 runs.
#[test]
fn the_bootstrap_is_no_better() {
    let found = simulate(Noise::Skewed, Schedule::Mirrored, 40, EXPERIMENTS);
    assert!(found.bootstrap_excluding > 2 * found.excluding.min(30), "{found:?}");
}
