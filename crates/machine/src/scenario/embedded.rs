// SPDX-License-Identifier: GPL-2.0-or-later
//! Scenarios that come with this crate.

use super::{Changes, ScenarioError, read};
use crate::Model;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../scenarios/", $name, ".toml")))),*]
    };
}

static FILES: [(&str, &str); 11] = files![
    "idle-desktop",
    "periodic",
    "pgbench",
    "phone-idle",
    "pipe-cross-core",
    "pipe-same-core",
    "pipe-same-cpu",
    "random-reads",
    "sleep-sweep",
    "token",
    "video-60hz",
];

/// The names of all embedded scenarios, in alphabetical order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|&(name, _)| name)
}

/// The scenario of this name, as TOML.
#[must_use]
pub fn embedded_text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|&&(other, _)| other == name).map(|&(_, text)| text)
}

/// The scenario of this name.
#[must_use]
pub fn embedded(name: &str) -> Option<Result<Model, ScenarioError>> {
    embedded_text(name).map(|text| read(&format!("{name}.toml"), text, &Changes::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_scenario_is_a_model_of_its_name() {
        for name in names() {
            let model = embedded(name).unwrap().unwrap();
            assert_eq!(model.name, name);
            assert!(!model.description.is_empty() && !model.tasks.is_empty());
        }
    }
}
