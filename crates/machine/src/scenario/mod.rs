// SPDX-License-Identifier: GPL-2.0-or-later
#![doc = include_str!("../../SCENARIOS.md")]

mod build;
mod embedded;
mod error;
mod text;

use idlelab_platform::Platform;
use idlelab_states::{Nanoseconds, TickRate};

pub use embedded::{embedded, embedded_text, names};
pub use error::ScenarioError;

use crate::Model;

/// What is to be otherwise than the file says.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Another machine; its own kernel costs go with it.
    pub platform: Option<Platform>,
    /// Another length.
    pub duration: Option<Nanoseconds>,
    /// Another tick rate.
    pub rate: Option<TickRate>,
    /// Other values of parameters, by their names.
    pub parameters: Vec<(String, f64)>,
}

/// Makes a model of a scenario. `file` is what messages call it.
///
/// # Errors
///
/// What the text cannot mean, by file, line or key.
pub fn read(file: &str, text: &str, changes: &Changes) -> Result<Model, ScenarioError> {
    let parsed = text::parse(file, text)?;
    build::model(file, parsed, changes)
}

/// What a scenario says it is, in a line.
///
/// # Errors
///
/// What the text cannot mean, by file and line.
pub fn description(file: &str, text: &str) -> Result<String, ScenarioError> {
    text::parse(file, text).map(|parsed: text::Scenario| parsed.description)
}
