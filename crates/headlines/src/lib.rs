// SPDX-License-Identifier: GPL-2.0-or-later
//! Published experiments on idle governors, run again in the simulator.
//!
//! A headline is what somebody published with numbers: which governor did what, on which machine.
//! Each is run once with the one set of parameters that its platform has, and reaches the published
//! conclusion if every figure lies within the band that was set beforehand. One that does not stays
//! in the table as missed: nothing here is fitted to a headline.
//!
//! ```no_run
//! use idlelab_headlines::{Lab, headlines};
//!
//! for headline in headlines(&Lab { first_seed: 1, runs: 5 })? {
//!     println!("{} {:?}", headline.id, headline.conclusion);
//! }
//! # Ok::<(), idlelab_headlines::HeadlineError>(())
//! ```

mod experiments;
mod lab;
mod table;

use serde::Serialize;

pub use lab::{HeadlineError, Lab};
pub use table::plain_text;

/// A published experiment with what the simulator says of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Headline {
    /// Its number, such as `H3`.
    pub id: &'static str,
    /// What was done.
    pub experiment: &'static str,
    /// On which machine.
    pub platform: &'static str,
    /// The figures.
    pub measures: Vec<Measure>,
    /// What came of it.
    pub conclusion: Conclusion,
    /// Why it is missed or not run, or what is to be known of how it was run; may be empty.
    pub remark: &'static str,
}

/// What came of a headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every figure lies within its band.
    Same,
    /// One does not.
    Missed,
    /// It cannot be run.
    NotRun,
}

/// One figure of a headline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// What it is, with its unit.
    pub what: String,
    /// What was published.
    pub published: &'static str,
    /// Within which values the conclusion is the same.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The mean over the runs.
    pub simulated: f64,
    /// The interval in which the mean lies with 95 % confidence, as far as chance between seeds
    /// goes; the error of the model is not in it.
    pub interval: (f64, f64),
}

impl Measure {
    /// Whether it lies within its band.
    #[must_use]
    pub fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.simulated)
    }
}

/// Runs all headlines.
///
/// # Errors
///
/// A scenario, governor or parameter that is not there.
pub fn headlines(lab: &Lab) -> Result<Vec<Headline>, HeadlineError> {
    experiments::ALL.iter().map(|experiment| experiment(lab)).collect()
}
