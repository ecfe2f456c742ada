// SPDX-License-Identifier: GPL-2.0-or-later
//! Plain-text tables as people publish them.
//!
//! ```text
//! Idle 5 min:                                        the workload, and how long it ran
//! gov  iter  Joules  idles  idle_misses  …           a run a line
//! teo  0     170.0   12690  646          …
//!
//! State  Usage  Above  Below                         a state a line: an outcome a table
//! C1     2000   0      300
//!
//! State  old (sec)  new (sec)                        a state a line, a column an outcome
//! C1     38.68      0.00
//! ```
//!
//! Tables may be quoted (`> `), parted by tabs, blanks or bars, and wrapped by a mail program. What
//! is around them is passed over.

mod heading;
mod line;
mod runs;
mod states;

use super::{FromFile, Note};
use crate::{Bench, Energy, Outcome};
use heading::{Heading, Role};
use line::Split;
use runs::Runs;
use states::States;

/// The longest line that can be the title of a table.
const LONGEST_TITLE: usize = 80;
/// How far above its header a title may be.
const TITLE_DISTANCE: usize = 3;

/// A line of the file.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// From 1.
    number: usize,
    /// Without quoting.
    text: &'a str,
}

/// A table that is being read.
enum Table {
    Runs(Runs),
    States(States),
}

/// What a table made of a line.
enum Taken {
    /// It is part of the table.
    Yes,
    /// It is not, and may be anything.
    No,
}

pub(super) fn read(text: &str) -> FromFile {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader.line(Line { number: at + 1, text: line::unquoted(line) });
    }
    reader.close();
    reader.read
}

#[derive(Default)]
struct Reader {
    read: FromFile,
    /// A header without a row, which may be a sentence.
    candidate: Option<Table>,
    current: Option<Table>,
    /// The last line that was no part of a table.
    title: Option<(usize, String)>,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        if line.text.is_empty() || line::is_rule(line.text) {
            return;
        }
        if let Some(candidate) = &mut self.candidate
            && let Taken::Yes = candidate.offer(line, &mut self.read)
        {
            if candidate.has_rows() {
                let candidate = self.candidate.take();
                self.close();
                self.current = candidate;
            }
            return;
        }
        if let Some(current) = &mut self.current
            && let Taken::Yes = current.offer(line, &mut self.read)
        {
            return;
        }
        if let Some((split, headings)) = heading::header(line.text) {
            let title = self
                .title
                .take()
                .filter(|(at, _)| line.number - at <= TITLE_DISTANCE)
                .map(|(_, title)| title);
            self.candidate = Some(Table::new(line.number, split, headings, title));
            return;
        }
        let title = line.text.trim_end_matches(':').trim_end();
        let usable = title.chars().count() <= LONGEST_TITLE;
        self.title = usable.then(|| (line.number, title.to_owned()));
        if self.current.is_some() && line::is_mostly_numbers(line.text) {
            let text = "does not fit the table's header: left out".to_owned();
            self.read.notes.push(Note { line: Some(line.number), text });
        }
    }

    fn close(&mut self) {
        match self.current.take() {
            Some(Table::Runs(runs)) => runs.close(&mut self.read),
            Some(Table::States(states)) => states.close(&mut self.read),
            None => {}
        }
    }
}

impl Table {
    fn new(line: usize, split: Split, headings: Vec<Heading>, title: Option<String>) -> Self {
        if headings.first().is_some_and(|heading| heading.role == Role::State) {
            Self::States(States::new(line, split, headings, title))
        } else {
            Self::Runs(Runs::new(line, split, headings, title))
        }
    }

    fn offer(&mut self, line: Line<'_>, read: &mut FromFile) -> Taken {
        match self {
            Self::Runs(runs) => runs.offer(line, read),
            Self::States(states) => states.offer(line),
        }
    }

    fn has_rows(&self) -> bool {
        match self {
            Self::Runs(runs) => runs.has_rows(),
            Self::States(states) => states.has_rows(),
        }
    }
}

/// A published outcome of which nothing is known but who governed.
fn unknown(governor: Option<String>) -> Outcome {
    Outcome {
        bench: Bench::Published,
        governor,
        platform: None,
        workload: None,
        iteration: 0,
        order: None,
        duration_ns: None,
        assumption: None,
        idles: None,
        misses: None,
        above: None,
        below: None,
        ticks: None,
        sleep_length_queries: None,
        energy: Energy::default(),
        figures: Vec::new(),
        wakeup_latency: None,
        regret: None,
        states: Vec::new(),
        per_cpu: Vec::new(),
    }
}

/// The cells of a row that has as many as `headings`, split the way that makes it so: numbers where
/// numbers belong.
fn fit(text: &str, split: Split, headings: &[Heading]) -> Option<Vec<String>> {
    let fits = |cells: &[String]| {
        cells.len() == headings.len()
            && cells
                .iter()
                .zip(headings)
                .all(|(cell, heading)| heading.role.is_text() || line::Number::of(cell).is_some())
    };
    let owned = |cells: Vec<&str>| cells.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let ways: &[Split] = match split {
        Split::Bars | Split::Commas => &[split],
        Split::Wide | Split::Narrow => &[Split::Wide, Split::Narrow],
    };
    let found = ways.iter().map(|&way| owned(line::cells(text, way))).find(|cells| fits(cells));
    if found.is_some() || matches!(split, Split::Bars | Split::Commas) {
        return found;
    }
    // A name with blanks in it, before numbers.
    let words = line::cells(text, Split::Narrow);
    let name = words.len().checked_sub(headings.len())? + 1;
    let (name, numbers) = words.split_at_checked(name)?;
    let mut cells = vec![name.join(" ")];
    cells.extend(owned(numbers.to_vec()));
    (headings.first()?.role.is_text() && !line::is_number(&cells[0]) && fits(&cells))
        .then_some(cells)
}

/// How long a run was, if its title has one time in it, such as `5 min`.
fn duration_ns(title: &str) -> Option<u64> {
    let words: Vec<&str> = title
        .split(|c: char| c.is_whitespace() || "(),;:/".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let (number, unit) = word.split_at(digits);
        let unit = if unit.is_empty() { words.get(at + 1).copied().unwrap_or("") } else { unit };
        let seconds = match unit {
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            _ => continue,
        };
        let nanoseconds = number.parse::<f64>().ok().map(|number| (number * seconds * 1e9).round());
        match (nanoseconds.and_then(line::count).filter(|&time| time > 0), found) {
            (Some(time), None) => found = Some(time),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::duration_ns;

    #[test]
    fn a_title_may_tell_how_long_it_ran() {
        assert_eq!(duration_ns("Idle 5 min"), Some(300_000_000_000));
        assert_eq!(duration_ns("Video playback 2min, 4K"), Some(120_000_000_000));
        assert_eq!(duration_ns("sleep 0.5 s"), Some(500_000_000));
        assert_eq!(duration_ns("done for 20e6 loops"), None);
        assert_eq!(duration_ns("5 min, then 10 min"), None, "which of them?");
        assert_eq!(duration_ns("99999999999999 h"), None);
    }
}
