// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors by name.
//!
//! `teo` is the newest kernel's, `teo@6.12` that of 6.12, whichever revision was in force then.
//!
//! ```
//! use idlelab_governors::catalog::{self, Basis};
//! use idlelab_states::TickRate;
//!
//! let name = catalog::find("teo@6.8")?;
//! assert_eq!(name.to_string(), "teo@6.6");
//! let governor = name.build(TickRate::from_hertz(250).ok_or("no such tick rate")?);
//!
//! let resolution = catalog::resolve("menu@6.12.30")?;
//! assert_eq!(resolution.name.to_string(), "menu@6.12");
//! assert_eq!(resolution.basis, Basis::BackportsMayDiffer);
//!
//! let error = catalog::find("teo@over-eeger").unwrap_err();
//! assert!(error.to_string().contains("did you mean teo@over-eager?"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod any;
mod kernels;
mod spelling;

use core::fmt;

use idlelab_states::{MAX_STATES, StateIndex, TickRate};

use crate::clairvoyant::Clairvoyant;
use crate::fixed::Fixed;
use crate::haltpoll::Haltpoll;
use crate::history::{
    ladder_fixed, menu as menu_5_10, menu_4_5, teo_5_1, teo_5_14, teo_6_6, teo_6_14, teo_6_19,
};
use crate::ladder::Ladder;
use crate::menu::Menu;
use crate::teo::Teo;

pub use any::AnyGovernor;
pub use kernels::{Basis, Series};

use kernels::{Lineage, Version};
use spelling::edit_distance;

/// What a governor here may be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its decisions were compared with the C file of the kernel, or of the patch, compiled, and
    /// were the same.
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
pub static CATALOGUE: [Entry; 36] = [
    GovernorName::Teo.entry(),
    GovernorName::Teo7_0.entry(),
    GovernorName::Teo6_19.entry(),
    GovernorName::Teo6_14.entry(),
    GovernorName::TeoOverEager.entry(),
    GovernorName::Teo6_12_117.entry(),
    GovernorName::Teo6_11.entry(),
    GovernorName::Teo6_6.entry(),
    GovernorName::Teo6_3.entry(),
    GovernorName::Teo5_14.entry(),
    GovernorName::Teo5_10.entry(),
    GovernorName::Teo5_3.entry(),
    GovernorName::Teo5_1.entry(),
    GovernorName::TeoRfcV6.entry(),
    GovernorName::TeoRfcV5.entry(),
    GovernorName::Menu.entry(),
    GovernorName::Menu6_19.entry(),
    GovernorName::Menu6_18.entry(),
    GovernorName::Menu6_17.entry(),
    GovernorName::Menu6_15.entry(),
    GovernorName::Menu6_12_117.entry(),
    GovernorName::Menu6_12.entry(),
    GovernorName::Menu6_6.entry(),
    GovernorName::Menu6_1_192.entry(),
    GovernorName::Menu5_14.entry(),
    GovernorName::Menu5_10.entry(),
    GovernorName::Menu4_6.entry(),
    GovernorName::Menu4_6Reverted.entry(),
    GovernorName::Menu4_5.entry(),
    GovernorName::Ladder.entry(),
    GovernorName::LadderFixed.entry(),
    GovernorName::Haltpoll.entry(),
    GovernorName::Haltpoll6_8.entry(),
    GovernorName::State(StateIndex::ZERO).entry(),
    GovernorName::Deepest.entry(),
    GovernorName::Clairvoyant.entry(),
];

/// The names that are complete as they stand.
const PLAIN_NAMES: [GovernorName; 35] = [
    GovernorName::Teo,
    GovernorName::Teo7_0,
    GovernorName::Teo6_19,
    GovernorName::Teo6_14,
    GovernorName::TeoOverEager,
    GovernorName::Teo6_12_117,
    GovernorName::Teo6_11,
    GovernorName::Teo6_6,
    GovernorName::Teo6_3,
    GovernorName::Teo5_14,
    GovernorName::Teo5_10,
    GovernorName::Teo5_3,
    GovernorName::Teo5_1,
    GovernorName::TeoRfcV6,
    GovernorName::TeoRfcV5,
    GovernorName::Menu,
    GovernorName::Menu6_19,
    GovernorName::Menu6_18,
    GovernorName::Menu6_17,
    GovernorName::Menu6_15,
    GovernorName::Menu6_12_117,
    GovernorName::Menu6_12,
    GovernorName::Menu6_6,
    GovernorName::Menu6_1_192,
    GovernorName::Menu5_14,
    GovernorName::Menu5_10,
    GovernorName::Menu4_6,
    GovernorName::Menu4_6Reverted,
    GovernorName::Menu4_5,
    GovernorName::Ladder,
    GovernorName::LadderFixed,
    GovernorName::Haltpoll,
    GovernorName::Haltpoll6_8,
    GovernorName::Deepest,
    GovernorName::Clairvoyant,
];

const STATE_PREFIX: &str = "state:";

/// Between a governor and the kernel whose it is.
const AT: char = '@';

/// A governor that was found in the catalogue. Displays as its canonical name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GovernorName {
    /// `teo`
    Teo,
    /// `teo@7.0`
    Teo7_0,
    /// `teo@6.19`
    Teo6_19,
    /// `teo@6.14`
    Teo6_14,
    /// `teo@over-eager`
    TeoOverEager,
    /// `teo@6.12.117`
    Teo6_12_117,
    /// `teo@6.11`
    Teo6_11,
    /// `teo@6.6`
    Teo6_6,
    /// `teo@6.3`
    Teo6_3,
    /// `teo@5.14`
    Teo5_14,
    /// `teo@5.10`
    Teo5_10,
    /// `teo@5.3`
    Teo5_3,
    /// `teo@5.1`
    Teo5_1,
    /// `teo@rfc-v6`
    TeoRfcV6,
    /// `teo@rfc-v5`
    TeoRfcV5,
    /// `menu`
    Menu,
    /// `menu@6.19`
    Menu6_19,
    /// `menu@6.18`
    Menu6_18,
    /// `menu@6.17`
    Menu6_17,
    /// `menu@6.15`
    Menu6_15,
    /// `menu@6.12.117`
    Menu6_12_117,
    /// `menu@6.12`
    Menu6_12,
    /// `menu@6.6`
    Menu6_6,
    /// `menu@6.1.192`
    Menu6_1_192,
    /// `menu@5.14`
    Menu5_14,
    /// `menu@5.10`
    Menu5_10,
    /// `menu@4.6`
    Menu4_6,
    /// `menu@4.6-reverted`
    Menu4_6Reverted,
    /// `menu@4.5`
    Menu4_5,
    /// `ladder`
    Ladder,
    /// `ladder@fixed`
    LadderFixed,
    /// `haltpoll`
    Haltpoll,
    /// `haltpoll@6.8`
    Haltpoll6_8,
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
            Self::Teo7_0 => Entry {
                name: "teo@7.0",
                kernels: "7.0",
                description: "a hit needs a timer that fired; the most intercepts bound the walk",
                standing: Standing::EqualToKernel,
            },
            Self::Teo6_19 => Entry {
                name: "teo@6.19",
                kernels: "6.19",
                description: "weights decay to nothing; ticks count for the deepest state",
                standing: Standing::EqualToKernel,
            },
            Self::Teo6_14 => Entry {
                name: "teo@6.14",
                kernels: "6.14 to 6.18",
                description: "spares the sleep length where short idle periods are the rule",
                standing: Standing::EqualToKernel,
            },
            Self::TeoOverEager => Entry {
                name: "teo@over-eager",
                kernels: "none: a patch to 6.14, February 2025, withdrawn",
                description: "teo@6.14 that leaves the deepest state for shallow hits too",
                standing: Standing::EqualToKernel,
            },
            Self::Teo6_12_117 => Entry {
                name: "teo@6.12.117",
                kernels: "6.12.117 of Debian",
                description: "teo@6.11 that chooses no state deeper than the timer",
                standing: Standing::EqualToKernel,
            },
            Self::Teo6_11 => Entry {
                name: "teo@6.11",
                kernels: "6.11 to 6.13",
                description: "no utilisation, no last nine wakeups; asks even for state 0",
                standing: Standing::EqualToKernel,
            },
            Self::Teo6_6 => Entry {
                name: "teo@6.6",
                kernels: "6.6 to 6.10",
                description: "asks for the sleep length last, or not at all",
                standing: Standing::EqualToKernel,
            },
            Self::Teo6_3 => Entry {
                name: "teo@6.3",
                kernels: "6.3 to 6.5",
                description: "teo@5.14 that sleeps shallower on a busy CPU",
                standing: Standing::EqualToKernel,
            },
            Self::Teo5_14 => Entry {
                name: "teo@5.14",
                kernels: "5.14 to 6.2, 6.1.192 of Debian",
                description: "bins of idle durations instead of early hits",
                standing: Standing::EqualToKernel,
            },
            Self::Teo5_10 => Entry {
                name: "teo@5.10",
                kernels: "5.5 to 5.13",
                description: "hits, misses and early hits, in nanoseconds",
                standing: Standing::EqualToKernel,
            },
            Self::Teo5_3 => Entry {
                name: "teo@5.3",
                kernels: "5.3 and 5.4",
                description: "teo@5.1 that may stop the tick under a latency limit",
                standing: Standing::EqualToKernel,
            },
            Self::Teo5_1 => Entry {
                name: "teo@5.1",
                kernels: "5.1 and 5.2",
                description: "the first: hits, misses and early hits, in microseconds",
                standing: Standing::Reconstructed,
            },
            Self::TeoRfcV6 => Entry {
                name: "teo@rfc-v6",
                kernels: "none: the sixth draft, November 2018",
                description: "a pattern refines the state that the timer suggests",
                standing: Standing::Reconstructed,
            },
            Self::TeoRfcV5 => Entry {
                name: "teo@rfc-v5",
                kernels: "none: the fifth draft, November 2018",
                description: "a pattern of early wakeups comes before the timer",
                standing: Standing::EqualToKernel,
            },
            Self::Menu => Entry {
                name: "menu",
                kernels: "7.1 to 7.3",
                description: "the least of a typical interval and the corrected next timer",
                standing: Standing::EqualToKernel,
            },
            Self::Menu6_19 => Entry {
                name: "menu@6.19",
                kernels: "6.19 and 7.0",
                description: "leaves polling only for states below 15 us that are not too slow",
                standing: Standing::EqualToKernel,
            },
            Self::Menu6_18 => Entry {
                name: "menu@6.18",
                kernels: "6.18",
                description: "gives up on scattered intervals; leaves polling for fast states",
                standing: Standing::Reconstructed,
            },
            Self::Menu6_17 => Entry {
                name: "menu@6.17",
                kernels: "6.17",
                description: "rejected entries are recorded; the latency limit comes first",
                standing: Standing::Reconstructed,
            },
            Self::Menu6_15 => Entry {
                name: "menu@6.15",
                kernels: "6.15 and 6.16",
                description: "outliers at both ends; scattered intervals predict their longest",
                standing: Standing::EqualToKernel,
            },
            Self::Menu6_12_117 => Entry {
                name: "menu@6.12.117",
                kernels: "6.12.117 of Debian",
                description: "menu@6.12 with nearly all that was changed up to 7.1",
                standing: Standing::EqualToKernel,
            },
            Self::Menu6_12 => Entry {
                name: "menu@6.12",
                kernels: "6.12 to 6.14",
                description: "tasks that wait for IO no longer count",
                standing: Standing::EqualToKernel,
            },
            Self::Menu6_6 => Entry {
                name: "menu@6.6",
                kernels: "6.6 to 6.11",
                description: "asks for the sleep length only if the typical interval is not short",
                standing: Standing::EqualToKernel,
            },
            Self::Menu6_1_192 => Entry {
                name: "menu@6.1.192",
                kernels: "6.1.192 of Debian",
                description: "menu@5.14 that records rejected entries",
                standing: Standing::EqualToKernel,
            },
            Self::Menu5_14 => Entry {
                name: "menu@5.14",
                kernels: "5.13 to 6.5",
                description: "an expired timer is one that expires now",
                standing: Standing::EqualToKernel,
            },
            Self::Menu5_10 => Entry {
                name: "menu@5.10",
                kernels: "4.17 to 5.12",
                description: "asks first; tasks that wait for IO tighten the latency limit",
                standing: Standing::EqualToKernel,
            },
            Self::Menu4_6 => Entry {
                name: "menu@4.6",
                kernels: "4.6 to 4.16",
                description: "polls only if the timer is near",
                standing: Standing::EqualToKernel,
            },
            Self::Menu4_6Reverted => Entry {
                name: "menu@4.6-reverted",
                kernels: "none: 4.6 without 0c313cb20732, 2016",
                description: "polls if the expected idle period is short",
                standing: Standing::Reconstructed,
            },
            Self::Menu4_5 => Entry {
                name: "menu@4.5",
                kernels: "4.5",
                description: "polls if the prediction is short, the more so on a loaded CPU",
                standing: Standing::EqualToKernel,
            },
            Self::Ladder => Entry {
                name: "ladder",
                kernels: "6.1 to 7.3",
                description: "a state deeper after four long idle periods, back after a short one",
                standing: Standing::EqualToKernel,
            },
            Self::LadderFixed => Entry {
                name: "ladder@fixed",
                kernels: "none: a series of November 2022, not merged",
                description: "passes disabled states; deeper after two long idle periods",
                standing: Standing::EqualToKernel,
            },
            Self::Haltpoll => Entry {
                name: "haltpoll",
                kernels: "6.9 to 7.3",
                description: "for guests: polls before it halts, longer where that would have paid",
                standing: Standing::EqualToKernel,
            },
            Self::Haltpoll6_8 => Entry {
                name: "haltpoll@6.8",
                kernels: "5.4 to 6.8",
                description: "its poll limit shrinks on and on, never to nothing",
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
        let teo_6_19 = |revision| AnyGovernor::Teo6_19(teo_6_19::Teo::new(tick_rate, revision));
        let teo_6_14 =
            |preselection| AnyGovernor::Teo6_14(teo_6_14::Teo::new(tick_rate, preselection));
        let teo_6_6 = |revision| AnyGovernor::Teo6_6(teo_6_6::Teo::new(tick_rate, revision));
        let teo_5_14 = |revision| AnyGovernor::Teo5_14(teo_5_14::Teo::new(tick_rate, revision));
        let teo_5_1 = |revision| AnyGovernor::Teo5_1(teo_5_1::Teo::new(tick_rate, revision));
        let menu_5_10 = |revision| AnyGovernor::Menu5_10(menu_5_10::Menu::new(tick_rate, revision));
        let menu_4_5 = |revision| AnyGovernor::Menu4_5(menu_4_5::Menu::new(revision));
        match self {
            Self::Teo => AnyGovernor::Teo(Teo::new(tick_rate)),
            Self::Teo7_0 => teo_6_19(teo_6_19::Revision::V7_0),
            Self::Teo6_19 => teo_6_19(teo_6_19::Revision::V6_19),
            Self::Teo6_14 => teo_6_14(teo_6_14::Preselection::AsReleased),
            Self::TeoOverEager => teo_6_14(teo_6_14::Preselection::OverEager),
            Self::Teo6_12_117 => teo_6_6(teo_6_6::Revision::V6_12_117),
            Self::Teo6_11 => teo_6_6(teo_6_6::Revision::V6_11),
            Self::Teo6_6 => teo_6_6(teo_6_6::Revision::V6_6),
            Self::Teo6_3 => teo_5_14(teo_5_14::Revision::V6_3),
            Self::Teo5_14 => teo_5_14(teo_5_14::Revision::V5_14),
            Self::Teo5_10 => teo_5_1(teo_5_1::Revision::V5_10),
            Self::Teo5_3 => teo_5_1(teo_5_1::Revision::V5_3),
            Self::Teo5_1 => teo_5_1(teo_5_1::Revision::V5_1),
            Self::TeoRfcV6 => teo_5_1(teo_5_1::Revision::RfcV6),
            Self::TeoRfcV5 => teo_5_1(teo_5_1::Revision::RfcV5),
            Self::Menu => AnyGovernor::Menu(Menu::new(tick_rate)),
            Self::Menu6_19 => menu_5_10(menu_5_10::Revision::V6_19),
            Self::Menu6_18 => menu_5_10(menu_5_10::Revision::V6_18),
            Self::Menu6_17 => menu_5_10(menu_5_10::Revision::V6_17),
            Self::Menu6_15 => menu_5_10(menu_5_10::Revision::V6_15),
            Self::Menu6_12_117 => menu_5_10(menu_5_10::Revision::V6_12_117),
            Self::Menu6_12 => menu_5_10(menu_5_10::Revision::V6_12),
            Self::Menu6_6 => menu_5_10(menu_5_10::Revision::V6_6),
            Self::Menu6_1_192 => menu_5_10(menu_5_10::Revision::V6_1_192),
            Self::Menu5_14 => menu_5_10(menu_5_10::Revision::V5_14),
            Self::Menu5_10 => menu_5_10(menu_5_10::Revision::V5_10),
            Self::Menu4_6 => menu_4_5(menu_4_5::Revision::V4_6),
            Self::Menu4_6Reverted => menu_4_5(menu_4_5::Revision::V4_6Reverted),
            Self::Menu4_5 => menu_4_5(menu_4_5::Revision::V4_5),
            Self::Ladder => AnyGovernor::Ladder(Ladder::new()),
            Self::LadderFixed => AnyGovernor::LadderFixed(ladder_fixed::Ladder::new()),
            Self::Haltpoll => AnyGovernor::Haltpoll(Haltpoll::new()),
            Self::Haltpoll6_8 => AnyGovernor::Haltpoll(Haltpoll::of_6_8()),
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

/// The revision that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The revision.
    pub name: GovernorName,
    /// How well it is known to be what was asked for.
    pub basis: Basis,
}

impl Resolution {
    const fn exact(name: GovernorName) -> Self {
        Self { name, basis: Basis::Exact }
    }
}

/// Finds a governor by the name that a user gave: see [`resolve`], which also says how well the
/// governor found is known to be the one asked for.
///
/// # Errors
///
/// As of [`resolve`].
pub fn find(name: &str) -> Result<GovernorName, UnknownGovernor<'_>> {
    resolve(name).map(|resolution| resolution.name)
}

/// Finds a governor by the name that a user gave: one of the catalogue, or `NAME@VERSION` for the
/// revision in force in that kernel, such as `6.12`, `6.12.30` or `debian-6.12.117`.
///
/// # Errors
///
/// No governor has that name, it is not described for that kernel, or `state:N` has no number of a
/// state.
pub fn resolve(name: &str) -> Result<Resolution, UnknownGovernor<'_>> {
    if let Some(number) = name.strip_prefix(STATE_PREFIX) {
        return state_number(number)
            .map(|state| Resolution::exact(GovernorName::State(state)))
            .ok_or(UnknownGovernor::StateNumber(name));
    }
    if let Some(known) = PLAIN_NAMES.into_iter().find(|known| known.entry().name == name) {
        return Ok(Resolution::exact(known));
    }
    let of_kernel = name
        .split_once(AT)
        .and_then(|(governor, version)| Some((Lineage::of(governor)?, Version::parse(version)?)));
    let Some((lineage, version)) = of_kernel else {
        return Err(UnknownGovernor::Name(name));
    };
    let (name, basis) = lineage.in_force(version).ok_or(UnknownGovernor::Kernel {
        name,
        governor: lineage.governor,
        first: lineage.first(),
    })?;
    Ok(Resolution { name, basis })
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
    /// The governor is not described for that kernel, or there is no such kernel.
    Kernel {
        /// The name that was asked for.
        name: &'a str,
        /// The governor in it.
        governor: &'static str,
        /// The first kernel that it is described for; [`Series::NEWEST`] is the last.
        first: Series,
    },
}

impl UnknownGovernor<'_> {
    /// The name that was asked for.
    #[must_use]
    pub const fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::StateNumber(name) | Self::Kernel { name, .. } => name,
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
            Self::Kernel { name, governor, first } => {
                let newest = Series::NEWEST;
                write!(
                    f,
                    "{name:?} is not described: {governor} is, of kernels {first} to {newest}"
                )
            }
            Self::Name(name) => {
                let nearest = self.nearest();
                write!(f, "no governor is called {name:?}, did you mean {nearest}? There are")?;
                for (index, entry) in CATALOGUE.iter().enumerate() {
                    let separator = if index == 0 { " " } else { ", " };
                    write!(f, "{separator}{}", entry.name)?;
                }
                write!(f, "; and NAME@VERSION for kernels of 4.5 to {}", Series::NEWEST)
            }
        }
    }
}

impl core::error::Error for UnknownGovernor<'_> {}
