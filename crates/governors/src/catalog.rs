// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors by name.
//!
//! ```
//! use idlelab_governors::catalog;
//! use idlelab_states::TickRate;
//!
//! let name = catalog::find("teo@6.14")?;
//! assert_eq!(name.to_string(), "teo@6.14");
//! let governor = name.build(TickRate::from_hertz(250).ok_or("no such tick rate")?);
//!
//! let error = catalog::find("teo@6.15").unwrap_err();
//! assert!(error.to_string().contains("did you mean teo@6.14?"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use core::fmt;

use idlelab_states::{IdleStates, MAX_STATES, StateIndex, TickRate};

use crate::clairvoyant::Clairvoyant;
use crate::fixed::Fixed;
use crate::haltpoll::Haltpoll;
use crate::history::teo_6_14;
use crate::ladder::Ladder;
use crate::menu::Menu;
use crate::teo::Teo;
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Any governor of the catalogue, without allocation.
#[derive(Clone, Debug)]
pub enum AnyGovernor {
    /// [`teo`](crate::teo).
    Teo(Teo),
    /// [`teo` of 6.14](crate::history::teo_6_14), as released or over-eager.
    Teo614(teo_6_14::Teo),
    /// [`menu`](crate::menu).
    Menu(Menu),
    /// [`ladder`](crate::ladder).
    Ladder(Ladder),
    /// [`haltpoll`](crate::haltpoll).
    Haltpoll(Haltpoll),
    /// [One state, or the deepest](crate::fixed).
    Fixed(Fixed),
    /// [`clairvoyant`](crate::clairvoyant).
    Clairvoyant(Clairvoyant),
}

macro_rules! whichever {
    ($any:expr, $governor:ident => $call:expr) => {
        match $any {
            AnyGovernor::Teo($governor) => $call,
            AnyGovernor::Teo614($governor) => $call,
            AnyGovernor::Menu($governor) => $call,
            AnyGovernor::Ladder($governor) => $call,
            AnyGovernor::Haltpoll($governor) => $call,
            AnyGovernor::Fixed($governor) => $call,
            AnyGovernor::Clairvoyant($governor) => $call,
        }
    };
}

impl Governor for AnyGovernor {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        whichever!(self, governor => governor.enable(states, device));
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        whichever!(self, governor => governor.select(states, kernel))
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        whichever!(self, governor => governor.reflect(entered, kernel));
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        whichever!(self, governor => governor.explain(metrics));
    }
}

/// What a governor here may be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its decisions were compared with the kernel's own C file, compiled, and were the same.
    EqualToKernel,
    /// Written from changelogs, mails or diffs; no such C file could be had to compare with.
    Reconstructed,
    /// No kernel has it.
    Own,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::EqualToKernel => "equal to the kernel's C",
            Self::Reconstructed => "reconstructed",
            Self::Own => "idlelab's own",
        })
    }
}

/// What the catalogue says of a governor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name to give; `state:N` stands for ten of them.
    pub name: &'static str,
    /// The kernels that have it, in words.
    pub kernels: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// What it may be taken for.
    pub standing: Standing,
}

/// All governors there are, in the order to list them.
pub static CATALOGUE: [Entry; 9] = [
    GovernorName::Teo.entry(),
    GovernorName::Teo614.entry(),
    GovernorName::TeoOverEager.entry(),
    GovernorName::Menu.entry(),
    GovernorName::Ladder.entry(),
    GovernorName::Haltpoll.entry(),
    GovernorName::State(StateIndex::ZERO).entry(),
    GovernorName::Deepest.entry(),
    GovernorName::Clairvoyant.entry(),
];

/// The names that are complete as they stand.
const PLAIN_NAMES: [GovernorName; 8] = [
    GovernorName::Teo,
    GovernorName::Teo614,
    GovernorName::TeoOverEager,
    GovernorName::Menu,
    GovernorName::Ladder,
    GovernorName::Haltpoll,
    GovernorName::Deepest,
    GovernorName::Clairvoyant,
];

const STATE_PREFIX: &str = "state:";

/// A governor that was found in the catalogue. Displays as its canonical name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GovernorName {
    /// `teo`
    Teo,
    /// `teo@6.14`
    Teo614,
    /// `teo@over-eager`
    TeoOverEager,
    /// `menu`
    Menu,
    /// `ladder`
    Ladder,
    /// `haltpoll`
    Haltpoll,
    /// `state:N`
    State(StateIndex),
    /// `deepest`
    Deepest,
    /// `clairvoyant`
    Clairvoyant,
}

impl GovernorName {
    /// What the catalogue says of it.
    #[must_use]
    pub const fn entry(self) -> Entry {
        match self {
            Self::Teo => Entry {
                name: "teo",
                kernels: "7.1 to 7.3",
                description: "timer events oriented: hits and intercepts of the next timer",
                standing: Standing::EqualToKernel,
            },
            Self::Teo614 => Entry {
                name: "teo@6.14",
                kernels: "6.14 to 6.18",
                description: "teo when it first skipped the sleep length for short idle periods",
                standing: Standing::EqualToKernel,
            },
            Self::TeoOverEager => Entry {
                name: "teo@over-eager",
                kernels: "none: a patch to 6.14, February 2025, withdrawn",
                description: "teo@6.14 that leaves the deepest state for shallow hits too",
                standing: Standing::EqualToKernel,
            },
            Self::Menu => Entry {
                name: "menu",
                kernels: "7.1 to 7.3",
                description: "the least of a typical interval and the corrected next timer",
                standing: Standing::EqualToKernel,
            },
            Self::Ladder => Entry {
                name: "ladder",
                kernels: "6.1 to 7.3",
                description: "one state deeper after four long idle periods, back after a short one",
                standing: Standing::EqualToKernel,
            },
            Self::Haltpoll => Entry {
                name: "haltpoll",
                kernels: "6.12 to 7.3",
                description: "for guests: polls before it halts, longer where that would have paid",
                standing: Standing::EqualToKernel,
            },
            Self::State(_) => Entry {
                name: "state:N",
                kernels: "none",
                description: "always idle state N, or the next shallower enabled one",
                standing: Standing::Own,
            },
            Self::Deepest => Entry {
                name: "deepest",
                kernels: "none",
                description: "always the deepest enabled state within the latency limit",
                standing: Standing::Own,
            },
            Self::Clairvoyant => Entry {
                name: "clairvoyant",
                kernels: "none",
                description: "knows the wakeup in advance: the bound nobody can beat",
                standing: Standing::Own,
            },
        }
    }

    /// Builds the governor of one CPU, on a kernel of this tick rate.
    #[must_use]
    pub fn build(self, tick_rate: TickRate) -> AnyGovernor {
        let teo_6_14 =
            |preselection| AnyGovernor::Teo614(teo_6_14::Teo::new(tick_rate, preselection));
        match self {
            Self::Teo => AnyGovernor::Teo(Teo::new(tick_rate)),
            Self::Teo614 => teo_6_14(teo_6_14::Preselection::AsReleased),
            Self::TeoOverEager => teo_6_14(teo_6_14::Preselection::OverEager),
            Self::Menu => AnyGovernor::Menu(Menu::new(tick_rate)),
            Self::Ladder => AnyGovernor::Ladder(Ladder::new()),
            Self::Haltpoll => AnyGovernor::Haltpoll(Haltpoll::new()),
            Self::State(state) => AnyGovernor::Fixed(Fixed::state(state)),
            Self::Deepest => AnyGovernor::Fixed(Fixed::deepest()),
            Self::Clairvoyant => AnyGovernor::Clairvoyant(Clairvoyant::new()),
        }
    }
}

impl fmt::Display for GovernorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(state) => write!(f, "{STATE_PREFIX}{state}"),
            _ => f.pad(self.entry().name),
        }
    }
}

/// Finds a governor by the name that a user gave.
///
/// # Errors
///
/// No governor has that name, or `state:N` has no number of a state.
pub fn find(name: &str) -> Result<GovernorName, UnknownGovernor<'_>> {
    if let Some(number) = name.strip_prefix(STATE_PREFIX) {
        return state_number(number)
            .map(GovernorName::State)
            .ok_or(UnknownGovernor::StateNumber(name));
    }
    PLAIN_NAMES
        .into_iter()
        .find(|known| known.entry().name == name)
        .ok_or(UnknownGovernor::Name(name))
}

fn state_number(text: &str) -> Option<StateIndex> {
    // A sign would parse, but is no part of the name.
    if text.starts_with('+') {
        return None;
    }
    StateIndex::new(text.parse().ok()?)
}

/// No governor is called that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownGovernor<'a> {
    /// There is no such name.
    Name(&'a str),
    /// What follows `state:` is not the number of a state.
    StateNumber(&'a str),
}

impl UnknownGovernor<'_> {
    /// The name that was asked for.
    #[must_use]
    pub const fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::StateNumber(name) => name,
        }
    }

    /// The name in the catalogue that is spelled most like it.
    #[must_use]
    pub fn nearest(&self) -> &'static str {
        CATALOGUE
            .iter()
            .map(|entry| entry.name)
            .min_by_key(|known| edit_distance(self.name(), known))
            .unwrap_or_default()
    }
}

impl fmt::Display for UnknownGovernor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateNumber(name) => {
                let last = MAX_STATES - 1;
                write!(f, "{name:?} names no idle state: {STATE_PREFIX}N takes 0 to {last}")
            }
            Self::Name(name) => {
                let nearest = self.nearest();
                write!(f, "no governor is called {name:?}, did you mean {nearest}? There are")?;
                for (index, entry) in CATALOGUE.iter().enumerate() {
                    let separator = if index == 0 { " " } else { ", " };
                    write!(f, "{separator}{}", entry.name)?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for UnknownGovernor<'_> {}

/// The longest name in the catalogue that the edit distance must have room for, in characters.
const LONGEST_NAME: usize = 15;

/// How many characters must be put in, left out or changed to make one name of the other.
fn edit_distance(given: &str, known: &str) -> usize {
    // Row by row of the usual table: each cell is the distance of what was read of `given` to the
    // first so many characters of `known`.
    let mut row = [0_usize; LONGEST_NAME];
    for (length, cell) in (1..).zip(&mut row) {
        *cell = length;
    }
    let mut given_length = 0_usize;
    for character in given.chars() {
        let mut diagonal = given_length;
        given_length = given_length.saturating_add(1);
        let mut left = given_length;
        for (cell, known_character) in row.iter_mut().zip(known.chars()) {
            let changed = diagonal.saturating_add(usize::from(character != known_character));
            diagonal = *cell;
            left = changed.min(left.min(*cell).saturating_add(1));
            *cell = left;
        }
    }
    match known.chars().count().checked_sub(1) {
        Some(last) => row.get(last).copied().unwrap_or(usize::MAX),
        None => given_length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances_count_characters() {
        assert_eq!(edit_distance("menu", "menu"), 0);
        assert_eq!(edit_distance("meun", "menu"), 2);
        assert_eq!(edit_distance("", "teo"), 3);
        assert_eq!(edit_distance("teo@6.15", "teo@6.14"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("mënu", "menu"), 1);
    }

    #[test]
    fn every_name_of_the_catalogue_fits_the_edit_distance() {
        assert!(CATALOGUE.iter().all(|entry| (1..=LONGEST_NAME).contains(&entry.name.len())));
    }
}
