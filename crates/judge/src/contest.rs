// SPDX-License-Identifier: GPL-2.0-or-later
//! Many scenarios, played to two governors on all processors.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use idlelab_governors::Governor;
use idlelab_states::TickRate;
use rayon::prelude::*;

use crate::case::{Case, Divergence, play};
use crate::duel::Duel;
use crate::random::Random;
use crate::scenario::{Machines, Scenario};
use crate::shrink::shrink;

/// Decisions that one thread makes before it looks for more to do.
const BLOCK: u64 = 1 << 16;

/// How often the governors of a machine are enabled, since a new one costs as much as a thousand
/// decisions.
const LIVES: usize = 8;

/// Makes governors that are as new.
pub trait Maker: Sync {
    /// What it makes.
    type Governor: Governor;

    /// One for a CPU of a machine with this tick rate.
    ///
    /// # Errors
    ///
    /// It cannot be made, a C file not be compiled.
    fn make(&self, rate: TickRate) -> Result<Self::Governor>;
}

impl<G: Governor, F: Fn(TickRate) -> G + Sync> Maker for F {
    type Governor = G;

    fn make(&self, rate: TickRate) -> Result<G> {
        Ok(self(rate))
    }
}

/// Two governors that are to be the same.
#[derive(Clone, Debug)]
pub struct Contest<A, B> {
    /// Makes the first.
    pub first: A,
    /// Makes the second.
    pub second: B,
    /// The machines to compare them on.
    pub machines: Machines,
    /// Their tick rates, or none for all that there are.
    pub rates: Vec<TickRate>,
}

/// What came of a contest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Decisions that were compared.
    pub decisions: u64,
    /// In so many scenarios.
    pub scenarios: u64,
    /// A case that they do not decide alike, as it was found.
    pub difference: Option<Case>,
}

impl<A: Maker, B: Maker> Contest<A, B> {
    /// Compares so many decisions, or up to a difference. The same seed compares the same on any
    /// number of threads. `progress` is told of decisions as they are made.
    ///
    /// # Errors
    ///
    /// A governor cannot be made.
    pub fn run(
        &self,
        seed: u64,
        decisions: u64,
        progress: &(impl Fn(u64) + Sync),
    ) -> Result<Outcome> {
        let (compared, scenarios) = (AtomicU64::new(0), AtomicU64::new(0));
        let difference = (0..decisions.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let size = BLOCK.min(decisions - block * BLOCK);
                let found = self.block(Random::of_part(seed, block), size, &scenarios);
                compared.fetch_add(size, Ordering::Relaxed);
                progress(size);
                found.transpose()
            })
            .find_first(Option::is_some)
            .flatten()
            .transpose()?;
        Ok(Outcome {
            decisions: compared.into_inner(),
            scenarios: scenarios.into_inner(),
            difference,
        })
    }

    fn block(
        &self,
        mut random: Random,
        mut left: u64,
        scenarios: &AtomicU64,
    ) -> Result<Option<Case>> {
        while left > 0 {
            let mut scenario =
                Scenario::new(Random::new(random.number()), self.machines, &self.rates)?;
            let mut duel =
                Duel::new(self.first.make(scenario.rate)?, self.second.make(scenario.rate)?);
            for _ in 0..LIVES {
                let length = (scenario.length as u64).min(left);
                left -= length;
                let beginning = scenario.clone();
                let steps = (0..length).map(|_| scenario.step());
                let found = play(beginning.states, steps, &mut duel);
                scenarios.fetch_add(1, Ordering::Relaxed);
                if let Some(divergence) = found {
                    return Ok(Some(Case::of(beginning, divergence.step.unwrap_or(0))));
                }
                scenario.begin();
            }
        }
        Ok(None)
    }

    /// Compares on these cases, or up to a difference.
    ///
    /// # Errors
    ///
    /// A governor cannot be made.
    pub fn run_cases(&self, cases: impl Iterator<Item = Case>) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for mut case in cases {
            outcome.scenarios += 1;
            if let Some(divergence) = self.play(&case)? {
                case.steps.truncate(divergence.step.map_or(0, |step| step + 1));
                outcome.decisions += case.steps.len() as u64;
                return Ok(Outcome { difference: Some(case), ..outcome });
            }
            outcome.decisions += case.steps.len() as u64;
        }
        Ok(outcome)
    }

    /// Plays a case to new governors.
    ///
    /// # Errors
    ///
    /// A governor cannot be made.
    pub fn play(&self, case: &Case) -> Result<Option<Divergence>> {
        Ok(case.play(self.first.make(case.rate)?, self.second.make(case.rate)?))
    }

    /// The shortest case to be found in which they differ as they do in this one, or the case
    /// itself if they do not.
    #[must_use]
    pub fn shrink(&self, case: Case) -> Case {
        let fewest = match self.machines {
            Machines::WithStates(fewest) => fewest,
            Machines::Guests => 2,
        };
        shrink(case, fewest, |case| self.play(case).ok()?.map(|found| found.step.unwrap_or(0)))
    }
}
