// SPDX-License-Identifier: GPL-2.0-or-later
//! Which revision a kernel has.

use core::fmt;

use crate::catalog::GovernorName;

/// How well a revision is known to be a kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The revision is that kernel's.
    Exact,
    /// The revision is that of the release, or of an earlier point release; this one may have more
    /// by backports.
    BackportsMayDiffer,
    /// That kernel's text was not compared. The revision is the nearest that is described.
    Presumed,
}

impl Basis {
    /// What to beware of, as the end of a sentence.
    #[must_use]
    pub const fn caveat(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::BackportsMayDiffer => Some("the point release may differ from it by backports"),
            Self::Presumed => Some("the nearest that is described; that kernel's was not compared"),
        }
    }
}

/// A kernel version without its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series(u16, u16);

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl Series {
    /// The newest that is described.
    pub const NEWEST: Self = Self(7, 3);

    /// Whether there is such a kernel, of those from 4.5 on.
    fn exists(self) -> bool {
        let last = match self.0 {
            4 => 20,
            5 | 6 => 19,
            7 => Self::NEWEST.1,
            _ => return false,
        };
        self.1 <= last
    }
}

/// A kernel version as a user gives it: `6.12`, `6.12.117`, `debian-6.12.117`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    series: Series,
    point: Option<u16>,
    is_debian: bool,
}

impl Version {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (text, is_debian) = match text.strip_prefix("debian-") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (major, rest) = text.split_once('.')?;
        let (minor, point) = match rest.split_once('.') {
            Some((minor, point)) => (minor, Some(number(point)?)),
            None => (rest, None),
        };
        let series = Series(number(major)?, number(minor)?);
        Some(Self { series, point, is_debian })
    }
}

fn number(text: &str) -> Option<u16> {
    // A sign would parse, but is no part of a version.
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// From this series on the governor has this revision.
struct Since(Series, GovernorName, Basis);

/// The text of this point release was compared.
struct Point(Series, u16, GovernorName);

/// All revisions of one governor that kernels had.
pub(super) struct Lineage {
    pub(super) governor: &'static str,
    since: &'static [Since],
    points: &'static [Point],
}

use Basis::{Exact, Presumed};
use GovernorName as Name;

static TEO: Lineage = Lineage {
    governor: "teo",
    since: &[
        Since(Series(5, 1), Name::Teo5_1, Exact),
        Since(Series(5, 3), Name::Teo5_3, Exact),
        Since(Series(5, 4), Name::Teo5_3, Presumed),
        Since(Series(5, 5), Name::Teo5_10, Presumed),
        Since(Series(5, 10), Name::Teo5_10, Exact),
        Since(Series(5, 11), Name::Teo5_10, Presumed),
        Since(Series(5, 14), Name::Teo5_14, Exact),
        Since(Series(6, 3), Name::Teo6_3, Exact),
        Since(Series(6, 6), Name::Teo6_6, Exact),
        Since(Series(6, 11), Name::Teo6_11, Exact),
        Since(Series(6, 14), Name::Teo6_14, Exact),
        Since(Series(6, 15), Name::Teo6_14, Presumed),
        Since(Series(6, 19), Name::Teo6_19, Exact),
        Since(Series(7, 0), Name::Teo7_0, Exact),
        Since(Series(7, 1), Name::Teo, Exact),
    ],
    points: &[
        Point(Series(6, 1), 192, Name::Teo5_14),
        Point(Series(6, 8), 1, Name::Teo6_6),
        Point(Series(6, 12), 117, Name::Teo6_12_117),
        Point(Series(7, 2), 13, Name::Teo),
        Point(Series(7, 3), 4, Name::Teo),
    ],
};

static MENU: Lineage = Lineage {
    governor: "menu",
    since: &[
        Since(Series(4, 5), Name::Menu4_5, Exact),
        Since(Series(4, 6), Name::Menu4_6, Exact),
        Since(Series(4, 7), Name::Menu4_6, Presumed),
        // From here on it has a say in the tick.
        Since(Series(4, 17), Name::Menu5_10, Presumed),
        Since(Series(5, 10), Name::Menu5_10, Exact),
        Since(Series(5, 11), Name::Menu5_10, Presumed),
        Since(Series(5, 13), Name::Menu5_14, Presumed),
        Since(Series(5, 14), Name::Menu5_14, Exact),
        Since(Series(6, 6), Name::Menu6_6, Exact),
        Since(Series(6, 12), Name::Menu6_12, Exact),
        Since(Series(6, 15), Name::Menu6_15, Exact),
        Since(Series(6, 16), Name::Menu6_15, Presumed),
        Since(Series(6, 17), Name::Menu6_17, Exact),
        Since(Series(6, 18), Name::Menu6_18, Exact),
        Since(Series(6, 19), Name::Menu6_19, Exact),
        Since(Series(7, 0), Name::Menu6_19, Presumed),
        Since(Series(7, 1), Name::Menu, Exact),
    ],
    points: &[
        Point(Series(4, 5), 7, Name::Menu4_5),
        Point(Series(4, 6), 2, Name::Menu4_6),
        Point(Series(6, 1), 192, Name::Menu6_1_192),
        Point(Series(6, 8), 1, Name::Menu6_6),
        Point(Series(6, 12), 117, Name::Menu6_12_117),
        Point(Series(6, 13), 7, Name::Menu6_12),
        Point(Series(7, 2), 13, Name::Menu),
        Point(Series(7, 3), 4, Name::Menu),
    ],
};

static LADDER: Lineage = Lineage {
    governor: "ladder",
    since: &[Since(Series(6, 1), Name::Ladder, Exact)],
    points: &[
        Point(Series(6, 1), 192, Name::Ladder),
        Point(Series(6, 12), 117, Name::Ladder),
        Point(Series(7, 2), 13, Name::Ladder),
        Point(Series(7, 3), 4, Name::Ladder),
    ],
};

static HALTPOLL: Lineage = Lineage {
    governor: "haltpoll",
    since: &[
        Since(Series(5, 4), Name::Haltpoll6_8, Presumed),
        Since(Series(6, 1), Name::Haltpoll6_8, Exact),
        Since(Series(6, 9), Name::Haltpoll, Presumed),
        Since(Series(6, 12), Name::Haltpoll, Exact),
    ],
    points: &[
        Point(Series(6, 1), 192, Name::Haltpoll6_8),
        Point(Series(6, 8), 1, Name::Haltpoll6_8),
        Point(Series(6, 12), 117, Name::Haltpoll),
        Point(Series(7, 2), 13, Name::Haltpoll),
        Point(Series(7, 3), 4, Name::Haltpoll),
    ],
};

static LINEAGES: [&Lineage; 4] = [&TEO, &MENU, &LADDER, &HALTPOLL];

impl Lineage {
    pub(super) fn of(governor: &str) -> Option<&'static Self> {
        LINEAGES.into_iter().find(|lineage| lineage.governor == governor)
    }

    /// The first kernel that is described.
    pub(super) fn first(&self) -> Series {
        self.since.first().map_or(Series::NEWEST, |&Since(series, ..)| series)
    }

    /// The revision in force in a kernel.
    pub(super) fn in_force(&self, version: Version) -> Option<(GovernorName, Basis)> {
        let Version { series, point, is_debian } = version;
        // What a point release was found to have, later ones of the series have too, and perhaps
        // more.
        let compared = self
            .points
            .iter()
            .filter(|&&Point(of, number, _)| of == series && Some(number) <= point)
            .max_by_key(|&&Point(_, number, _)| number);
        if let Some(&Point(_, number, name)) = compared {
            let is_this = Some(number) == point;
            return Some((name, if is_this { Exact } else { Basis::BackportsMayDiffer }));
        }
        if !series.exists() {
            return None;
        }
        let &Since(_, name, basis) =
            self.since.iter().rev().find(|&&Since(since, ..)| since <= series)?;
        let is_release = point.unwrap_or(0) == 0 && !is_debian;
        let basis = if is_release || basis == Presumed { basis } else { Basis::BackportsMayDiffer };
        Some((name, basis))
    }
}
