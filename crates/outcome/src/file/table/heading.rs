// SPDX-License-Identifier: GPL-2.0-or-later
//! What the names above columns mean.

use super::line::{Split, cells, is_number, splits};
use crate::Better;

/// Words that stand in sentences and above no column.
const SENTENCE_WORDS: [&str; 14] =
    ["a", "an", "and", "are", "but", "for", "in", "is", "it", "of", "the", "to", "was", "with"];

/// A column's heading.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heading {
    /// As written, without its unit.
    pub(super) name: String,
    /// As written; empty if there is none.
    pub(super) unit: String,
    pub(super) role: Role,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Governor,
    Iteration,
    Workload,
    Platform,
    MeasuredJoules,
    ModelledJoules,
    /// Entries of a state or, in a table of runs, of all.
    Entries,
    Misses,
    MissShare,
    Above,
    Below,
    Rejected,
    /// An idle state's name.
    State,
    /// Time in a state, in units of this many nanoseconds.
    Time(u64),
    /// Mean time in a state, in units of this many nanoseconds.
    MeanTime(u64),
    /// What follows from the other columns.
    Derived,
    /// What idlelab has no word for.
    Figure,
}

impl Heading {
    pub(super) fn new(cell: &str) -> Self {
        let (name, unit) = name_and_unit(cell);
        let role = Role::of(&name, &unit);
        Self { name, unit, role }
    }

    /// Which direction is an improvement, as far as the name or the unit tells.
    pub(super) fn better(&self) -> Option<Better> {
        let name = self.name.to_lowercase();
        let unit = self.unit.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(&["iops", "throughput", "bandwidth", "ops/s", "jops", "score", "fps"])
            || unit.ends_with("/s")
        {
            Some(Better::Higher)
        } else if has(&["latency", "joule", "watt", "miss", "elapsed", "runtime"])
            || ["w", "j"].contains(&&*unit)
        {
            Some(Better::Lower)
        } else {
            None
        }
    }
}

impl Role {
    fn of(name: &str, unit: &str) -> Self {
        let key: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let share = unit == "%";
        let counted = |role| if share { Self::Derived } else { role };
        match key.as_str() {
            "gov" | "governor" | "kernel" | "config" | "variant" | "version" => Self::Governor,
            "iter" | "iteration" | "run" | "rep" | "repetition" => Self::Iteration,
            "device" | "workload" | "benchmark" | "test" => Self::Workload,
            "platform" | "machine" | "soc" | "board" => Self::Platform,
            "joules" | "joule" | "j" | "measuredj" | "measuredjoules" | "pkgjoules" => {
                Self::MeasuredJoules
            }
            "energy" | "measured" if unit.eq_ignore_ascii_case("j") => Self::MeasuredJoules,
            "modelledj" | "modelledjoules" => Self::ModelledJoules,
            "modelled" if unit.eq_ignore_ascii_case("j") => Self::ModelledJoules,
            "idles" | "idle" | "idlecount" | "entries" | "usage" | "count" => {
                counted(Self::Entries)
            }
            "idlemisses" | "misses" | "idlemiss" | "totalmisses" | "miss" => {
                if share {
                    Self::MissShare
                } else {
                    Self::Misses
                }
            }
            "idlemissratio" | "missratio" | "idlemissrate" | "missrate" => Self::MissShare,
            "above" | "aboves" | "overpred" | "overpredicted" | "toodeep" => counted(Self::Above),
            "below" | "belows" | "underpred" | "underpredicted" | "tooshallow" => {
                counted(Self::Below)
            }
            "rejected" => counted(Self::Rejected),
            "state" | "idlestate" | "cstate" => Self::State,
            "time" | "residency" => timed(unit).map_or(counted(Self::Figure), Self::Time),
            "avg" | "mean" | "average" | "meansleep" => {
                timed(unit).map_or(Self::Figure, Self::MeanTime)
            }
            "share" | "ratio" | "window" => Self::Derived,
            _ => Self::Figure,
        }
    }

    /// Whether its cells are words.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Governor | Self::Workload | Self::Platform | Self::State)
    }
}

/// A unit of time in nanoseconds.
pub(super) fn timed(unit: &str) -> Option<u64> {
    Some(match unit.to_lowercase().as_str() {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" | "secs" | "seconds" => 1_000_000_000,
        _ => return None,
    })
}

fn name_and_unit(cell: &str) -> (String, String) {
    let owned = |name: &str, unit: &str| (name.trim().to_owned(), unit.trim().to_owned());
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((name, unit)) = cell.strip_suffix(close).and_then(|cell| cell.rsplit_once(open))
        {
            return owned(name, unit);
        }
    }
    if let Some(name) = cell.strip_suffix('%') {
        return owned(name, "%");
    }
    match cell.rsplit_once(' ') {
        Some((name, unit)) if timed(unit).is_some() || unit == "J" => owned(name, unit),
        _ => owned(cell, ""),
    }
}

/// The headings of a line, if it is the header of a table of outcomes: it has no numbers, and
/// enough of its names are known.
pub(super) fn header(line: &str) -> Option<(Split, Vec<Heading>)> {
    splits(line)
        .iter()
        .filter_map(|&split| {
            let cells = cells(line, split);
            let no_heading = |cell: &&str| is_number(cell) || SENTENCE_WORDS.contains(cell);
            if cells.len() < 2 || cells.iter().any(no_heading) {
                return None;
            }
            let headings: Vec<Heading> = cells
                .into_iter()
                .filter(|cell| split == Split::Bars || !cell.is_empty())
                .map(Heading::new)
                .collect();
            let known = headings.iter().filter(|heading| heading.role != Role::Figure).count();
            let score = 2 * known as isize - headings.len() as isize;
            is_header(split, &headings).then_some((score, split, headings))
        })
        // The first of equals, which is the most telling split.
        .reduce(|best, other| if other.0 > best.0 { other } else { best })
        .map(|(_, split, headings)| (split, headings))
}

fn is_header(split: Split, headings: &[Heading]) -> bool {
    let has = |wanted: fn(Role) -> bool| headings.iter().any(|heading| wanted(heading.role));
    // Beside states there may be names that nobody knows, as in a sentence.
    let states = headings.first().is_some_and(|heading| heading.role == Role::State)
        && (split != Split::Narrow || has(|role| role == Role::Entries));
    let counts = has(|role| {
        matches!(
            role,
            Role::Entries | Role::Misses | Role::Above | Role::Below | Role::MeasuredJoules
        )
    });
    let runs = has(|role| matches!(role, Role::Governor | Role::Iteration | Role::Workload));
    states || (headings.len() > 2 && runs && counts)
}

/// The headings of a line that goes on where the header before it was wrapped.
pub(super) fn wrapped_header(line: &str) -> Option<Vec<Heading>> {
    let headings: Vec<Heading> = cells(line, Split::Narrow).into_iter().map(Heading::new).collect();
    let known = headings.iter().filter(|heading| heading.role != Role::Figure).count();
    let words = !headings.iter().any(|heading| is_number(&heading.name));
    (words && known > 0 && known * 2 >= headings.len()).then_some(headings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(line: &str) -> Option<Vec<Role>> {
        header(line).map(|(_, headings)| headings.iter().map(|heading| heading.role).collect())
    }

    #[test]
    fn headers_are_told_from_prose() {
        use Role::{Above, Below, Entries, Governor, Iteration, MeasuredJoules, Misses};
        let expected = vec![Governor, Iteration, MeasuredJoules, Entries, Misses, Below, Above];
        for line in [
            "gov iter Joules idles idle_misses belows aboves",
            "governor   iter  measured J   idles  misses  below  above",
            "| Governor | Run | Energy (J) | Usage | Misses | Below | Above |",
            "kernel,run,energy [J],count,misses,too shallow,too deep",
        ] {
            assert_eq!(roles(line), Some(expected.clone()), "{line}");
        }
        assert_eq!(roles("On Monday the above kernel was idle and missed the test below"), None);
        assert_eq!(roles("the state of the art"), None);
    }

    #[test]
    fn units_are_taken_off() {
        let heading = Heading::new("4.6-rc2 (sec)");
        assert_eq!((heading.name.as_str(), heading.unit.as_str()), ("4.6-rc2", "sec"));
        assert_eq!(Heading::new("Avg(ms)").role, Role::MeanTime(1_000_000));
        assert_eq!(Heading::new("Above%").role, Role::Derived);
        assert_eq!(Heading::new("miss%").role, Role::MissShare);
    }

    #[test]
    fn a_direction_is_only_claimed_where_the_name_tells() {
        assert_eq!(Heading::new("iops").better(), Some(Better::Higher));
        assert_eq!(Heading::new("Rate (MB/s)").better(), Some(Better::Higher));
        assert_eq!(Heading::new("latency (us)").better(), Some(Better::Lower));
        assert_eq!(Heading::new("state1").better(), None);
    }
}
