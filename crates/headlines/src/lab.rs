// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_evidence::statistics::{Quantiles, Resampling, bca_of_mean, mean};
use idlelab_governors::catalog;
use idlelab_machine::scenario::{Changes, ScenarioError, embedded_text, read};
use idlelab_machine::{Keep, Policy, SimulationError, simulate};
use idlelab_outcome::Outcome;
use rayon::prelude::*;

use crate::Measure;

/// How headlines are run.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    /// The seed of the first run; each further one has the next.
    pub first_seed: u64,
    /// How many runs of each governor, at least 2.
    pub runs: u32,
}

/// Why a headline could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeadlineError {
    /// The scenario is not built in.
    #[error("there is no built-in scenario {0:?}")]
    NoScenario(String),
    /// The scenario could not be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The governor is not in the catalogue.
    #[error("{0}")]
    Governor(String),
    /// The simulation could not be run.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// One run says nothing of chance.
    #[error("headlines need at least 2 runs, so that chance can be told")]
    TooFewRuns,
}

/// A scenario with what is to be otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) parameters: &'a [(&'a str, f64)],
}

impl<'a> Setup<'a> {
    pub(crate) fn of(scenario: &'a str) -> Self {
        Self { scenario, parameters: &[] }
    }

    pub(crate) fn with(self, parameters: &'a [(&'a str, f64)]) -> Self {
        Self { parameters, ..self }
    }
}

impl Lab {
    /// The runs of a governor, by ascending seed.
    pub(crate) fn runs(
        &self,
        setup: Setup<'_>,
        governor: &str,
    ) -> Result<Vec<Outcome>, HeadlineError> {
        if self.runs < 2 {
            return Err(HeadlineError::TooFewRuns);
        }
        let name = setup.scenario;
        let text = embedded_text(name).ok_or_else(|| HeadlineError::NoScenario(name.into()))?;
        let parameters =
            setup.parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let model = read(name, text, &Changes { parameters, ..Changes::default() })?;
        let governor =
            catalog::find(governor).map_err(|error| HeadlineError::Governor(error.to_string()))?;
        let seeds: Vec<u64> =
            (0..u64::from(self.runs)).map(|run| self.first_seed.wrapping_add(run)).collect();
        seeds
            .par_iter()
            .map(
                |&seed| Ok(simulate(&model, Policy::Named(governor), seed, Keep::Outcome)?.outcome),
            )
            .collect()
    }
}

/// A figure that each run gives.
pub(crate) fn measure(
    what: impl Into<String>,
    published: &'static str,
    (low, high): (f64, f64),
    values: &[f64],
) -> Measure {
    let resampling = Resampling { draws: 2_000, seed: 1, ..Resampling::default() };
    let interval = bca_of_mean(values, 0.05, Quantiles::Student, resampling);
    Measure {
        what: what.into(),
        published,
        low,
        high,
        simulated: mean(values),
        interval: (interval.low, interval.high),
    }
}

/// Runs of two governors with the same seeds, pair by pair.
pub(crate) fn paired(
    first: &[Outcome],
    second: &[Outcome],
    value: impl Fn(&Outcome, &Outcome) -> f64,
) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| value(first, second)).collect()
}

/// A result of the workload; not a number if it has none of this name.
pub(crate) fn figure(outcome: &Outcome, name: &str) -> f64 {
    let found = outcome.figures.iter().find(|figure| figure.name == name);
    found.map_or(f64::NAN, |figure| figure.value)
}

/// The share of the idle time in a state, in per cent.
pub(crate) fn time_share(outcome: &Outcome, state: usize) -> f64 {
    let time = outcome.states.get(state).map_or(0, |state| state.time_ns);
    per_cent(time, outcome.idle_ns())
}

/// The share of the entries of a state, in per cent.
pub(crate) fn entry_share(outcome: &Outcome, state: usize) -> f64 {
    let usage = outcome.states.get(state).map_or(0, |state| state.usage);
    per_cent(usage, outcome.idles.unwrap_or(0))
}

pub(crate) fn per_cent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
