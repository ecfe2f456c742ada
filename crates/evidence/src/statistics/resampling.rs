// SPDX-License-Identifier: GPL-2.0-or-later
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// How much is computed, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// Up to so many arrangements, all of them are looked at and the test is exact.
    pub exact_up_to: usize,
    /// So many are drawn at random where there are more, and so many bootstrap samples.
    pub draws: usize,
    /// Where random numbers start.
    pub seed: u64,
}

impl Default for Resampling {
    /// What a comparison uses: a p-value of 0.05 is then known to within 0.003.
    fn default() -> Self {
        Self { exact_up_to: 65_536, draws: 19_999, seed: 1 }
    }
}

/// Random whole numbers.
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; which ones are likelier differs by less than one in 2^32 for the
    /// numbers of runs that occur here.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How many ways there are to choose `chosen` of `all`; saturates.
pub(super) fn combinations(all: usize, chosen: usize) -> usize {
    let chosen = chosen.min(all.saturating_sub(chosen));
    let mut ways: u128 = 1;
    for step in 1..=chosen {
        ways = ways.saturating_mul((all - chosen + step) as u128) / step as u128;
        if ways > usize::MAX as u128 {
            return usize::MAX;
        }
    }
    ways as usize
}
