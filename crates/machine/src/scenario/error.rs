// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;

/// Why a scenario was refused: the file, where in it, and what is wrong with what is there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{place}: {problem}")]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// A place in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, from 1.
    Line(usize),
    /// A key's path, such as `task[2].program[0].wait`.
    Key(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, ":{line}"),
            Self::Key(key) => write!(f, ": {key}"),
        }
    }
}
