// SPDX-License-Identifier: GPL-2.0-or-later
//! Experiments in which there is no difference.

use idlelab_evidence::statistics::Resampling;
use idlelab_evidence::{Order, Run, estimate};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

const ALPHA: f64 = 0.05;

/// Fewer draws than a comparison takes: the level is the same for any number.
const DRAWS: usize = 399;

/// What makes runs differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// Normal, of deviation 1.
    Normal,
    /// Log-normal: skewed to the right, with a long tail.
    Skewed,
    /// Either of two values, six deviations apart, three times in four the lower one.
    Bimodal,
    /// Normal, and rising by so many deviations over the experiment.
    Drifting(f64),
    /// Normal, and rising by so many deviations, most of it at the beginning, as a machine warms up.
    Warming(f64),
}

/// The order in which the governors are run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Schedule {
    /// A B A B.
    Turns,
    /// A B B A.
    Mirrored,
    /// Drawn at random.
    Shuffled,
    /// Drawn at random, and not told.
    Untold,
    /// A A B B.
    Blocks,
}

/// How often the intervals excluded zero, and how often there was no verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Experiments.
    pub(crate) experiments: u32,
    /// Those refused.
    pub(crate) refused: u32,
    /// Those not refused whose interval excludes zero.
    pub(crate) excluding: u32,
    /// Those whose bootstrap interval, which starts at 30 runs, excludes zero.
    pub(crate) bootstrap_excluding: u32,
}

impl Found {
    /// The share of intervals that exclude zero, among those not refused.
    pub(crate) fn share(&self) -> f64 {
        f64::from(self.excluding) / f64::from((self.experiments - self.refused).max(1))
    }

    /// Whether that is at most 5 %, but for so many standard errors of the simulation.
    pub(crate) fn holds(&self, errors: f64) -> bool {
        let judged = f64::from((self.experiments - self.refused).max(1));
        self.share() <= ALPHA + errors * (ALPHA * (1.0 - ALPHA) / judged).sqrt()
    }
}

/// Runs experiments of `runs` runs for each of two governors.
pub(crate) fn simulate(noise: Noise, schedule: Schedule, runs: usize, experiments: u32) -> Found {
    let one = |experiment: u32| {
        let seed = u64::from(experiment) << 16 | runs as u64;
        let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let [baseline, candidate] = experiment_of(noise, schedule, runs, &mut random);
        let resampling = Resampling { exact_up_to: 4096, draws: DRAWS, seed: random.0.next_u64() };
        let Some(found) = estimate(&baseline, &candidate, ALPHA, resampling) else {
            return Found { experiments: 1, refused: 1, ..Found::default() };
        };
        let refused = found.refusal.is_some() || found.interval.low == f64::NEG_INFINITY;
        assert!(schedule != Schedule::Turns || found.order == Order::Pairs);
        Found {
            experiments: 1,
            refused: u32::from(refused),
            excluding: u32::from(!refused && !found.interval.contains(0.0)),
            bootstrap_excluding: u32::from(found.bca.is_some_and(|bca| !bca.contains(0.0))),
        }
    };
    (0..experiments).into_par_iter().map(one).reduce(Found::default, |one, other| Found {
        experiments: one.experiments + other.experiments,
        refused: one.refused + other.refused,
        excluding: one.excluding + other.excluding,
        bootstrap_excluding: one.bootstrap_excluding + other.bootstrap_excluding,
    })
}

fn experiment_of(
    noise: Noise,
    schedule: Schedule,
    runs: usize,
    random: &mut Random,
) -> [Vec<Run>; 2] {
    let mut governors: Vec<usize> = (0..2 * runs).map(|at| at % 2).collect();
    match schedule {
        Schedule::Turns => {}
        Schedule::Mirrored => {
            governors
                .iter_mut()
                .enumerate()
                .for_each(|(at, it)| *it = usize::from(at % 4 / 2 != at % 2));
        }
        Schedule::Blocks => governors.sort_unstable(),
        Schedule::Shuffled | Schedule::Untold => {
            for at in 0..governors.len() {
                let other = at + (random.unit() * (governors.len() - at) as f64) as usize;
                governors.swap(at, other);
            }
        }
    }
    let mut series = [Vec::new(), Vec::new()];
    let last = (governors.len() - 1) as f64;
    for (order, governor) in (0..).zip(governors) {
        let value = noise.draw(f64::from(order) / last, random);
        let order = (schedule != Schedule::Untold).then_some(order);
        if let Some(series) = series.get_mut(governor) {
            series.push(Run { order, value });
        }
    }
    series
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

impl Noise {
    fn draw(self, elapsed: f64, random: &mut Random) -> f64 {
        let normal = random.normal();
        match self {
            Self::Normal => normal,
            Self::Skewed => normal.exp(),
            Self::Bimodal if random.unit() < 0.75 => normal,
            Self::Bimodal => normal + 6.0,
            Self::Drifting(rise) => normal + rise * elapsed,
            Self::Warming(rise) => normal + rise * (1.0 - (-5.0 * elapsed).exp()),
        }
    }
}
