// SPDX-License-Identifier: GPL-2.0-or-later
//! Chance, by streams that do not depend on one another.
//!
//! Each task, source and CPU draws from a stream of its own, seeded by the run's seed and by what
//! it is for. So two governors see the same workload draw by draw, however they order it (common
//! random numbers), and their difference is not blurred by chance.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A task's durations, those of its requests to devices included.
    Task,
    /// A source's arrivals.
    Source,
    /// A CPU's exit latencies.
    ExitLatency,
    /// Whether RCU needs a CPU's tick.
    Rcu,
}

/// Random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of one thing.
    pub(crate) fn new(seed: u64, purpose: Purpose, number: usize) -> Self {
        // The generator spreads its seed's bits itself; the parts only have to differ.
        let part = (purpose as u64) << 48 | number as u64;
        let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ part;
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// From 0 up to 1, without 1.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Above 0, up to 1: what a logarithm takes.
    #[inline]
    fn positive(&mut self) -> f64 {
        1.0 - self.unit()
    }
}

/// A duration, or how one is drawn. Parameters are nanoseconds unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Duration {
    /// Always the same.
    Fixed(i64),
    /// Anything from the first up to the second, equally likely.
    Uniform(i64, i64),
    /// Memoryless, with this mean.
    Exponential(f64),
    /// The exponential of a normal distribution.
    LogNormal {
        /// The median in nanoseconds.
        median: f64,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Duration {
    /// Draws one, in nanoseconds, not negative.
    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> i64 {
        match *self {
            Self::Fixed(nanoseconds) => nanoseconds,
            Self::Uniform(from, to) => {
                let width = (to - from).max(0) as f64 + 1.0;
                from + (stream.unit() * width) as i64
            }
            Self::Exponential(mean) => (-stream.positive().ln() * mean).round() as i64,
            Self::LogNormal { median, sigma } => {
                let radius = (-2.0 * stream.positive().ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * stream.unit()).cos();
                (median * (sigma * normal).exp()).round() as i64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn draws(duration: Duration) -> Vec<f64> {
        let mut stream = Stream::new(7, Purpose::Task, 3);
        (0..DRAWS).map(|_| duration.draw(&mut stream) as f64).collect()
    }

    /// Five standard errors: a fixed seed either holds or does not.
    fn assert_mean(sample: &[f64], mean: f64, deviation: f64) {
        let found = sample.iter().sum::<f64>() / sample.len() as f64;
        let error = deviation / (sample.len() as f64).sqrt();
        assert!((found - mean).abs() < 5.0 * error, "{found} is not {mean} ± {error}");
    }

    #[test]
    fn durations_have_the_moments_of_their_distributions() {
        assert_mean(&draws(Duration::Uniform(1_000, 3_000)), 2_000.0, 2_000.0 / 12_f64.sqrt());
        assert_mean(&draws(Duration::Exponential(5_000.0)), 5_000.0, 5_000.0);
        let logs: Vec<f64> = draws(Duration::LogNormal { median: 1e6, sigma: 0.5 })
            .into_iter()
            .map(f64::ln)
            .collect();
        assert_mean(&logs, 1e6_f64.ln(), 0.5);
        let squares: Vec<f64> = logs.iter().map(|log| (log - 1e6_f64.ln()).powi(2)).collect();
        assert_mean(&squares, 0.25, 0.25 * 2_f64.sqrt());
    }

    #[test]
    fn streams_of_different_things_differ() {
        let mut heads: Vec<u64> = Vec::new();
        for seed in 0..4 {
            for purpose in [Purpose::Task, Purpose::Source, Purpose::ExitLatency, Purpose::Rcu] {
                for number in 0..4 {
                    heads.push(Stream::new(seed, purpose, number).0.next_u64());
                }
            }
        }
        let all = heads.len();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!(heads.len(), all);
    }
}
