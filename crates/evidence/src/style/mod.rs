// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes in the table styles that people use on the mailing lists.
//!
//! All are plain text of at most [`WIDTH`] columns, [`Style::Wide`] excepted, without
//! tabs. What is not known is `-`. docs/outcomes.md shows each.

mod lkp;
mod markdown;
mod metric;
mod metrics_box;
mod mmtests;
mod over_under;
mod predictions;
mod runs;
mod shares;
mod states;
mod wide;

use idlelab_outcome::{Assumption, Outcome, StateOutcome};

use crate::layout::{WIDTH, lay_out};

pub use metric::{Mark, Metric, metrics};

/// The longest name in a column; longer ones are cut.
const LONGEST_NAME: usize = 20;
/// The longest governor where rows are called by it, which may say of which bound it is.
const LONGEST_LABEL: usize = 32;

/// How a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line for each run: joules, idles, misses, below, above, and entries of each state.
    Runs,
    /// A line for each state: usage, above and below; then the share of misses.
    States,
    /// Times in states, a column for each governor with its change against the first.
    Times,
    /// A box with a column for each state: usage, misses, times.
    Box,
    /// A line for each state: share, mean time, count, predicted too long or too short.
    Predictions,
    /// Markdown: states down, governors across, shares of the idle time.
    Shares,
    /// Mean, %stddev and %change of each metric, as LKP prints them.
    Lkp,
    /// Shares of stays that were k states too shallow or too deep.
    OverUnder,
    /// Means with their changes, marked by significance, as mmtests prints them.
    Mmtests,
    /// One long line for each run and CPU, as of turbostat; wider than [`WIDTH`].
    Wide,
    /// Markdown: a line for each run.
    Markdown,
}

impl Style {
    /// Prints outcomes. `mark` tells whether a metric of a governor, both by the names that
    /// [`metrics`] gives them, differs from the first governor's beyond the noise; only styles that
    /// mark it ask.
    #[must_use]
    pub fn print(self, outcomes: &[Outcome], mark: &dyn Fn(&Metric, &str) -> Mark) -> String {
        match self {
            Self::Runs => runs::print(outcomes),
            Self::States => states::print(outcomes),
            Self::Times => shares::times(outcomes),
            Self::Box => metrics_box::print(outcomes),
            Self::Predictions => predictions::print(outcomes),
            Self::Shares => shares::markdown(outcomes),
            Self::Lkp => lkp::print(outcomes),
            Self::OverUnder => over_under::print(outcomes),
            Self::Mmtests => mmtests::print(outcomes, mark),
            Self::Wide => wide::print(outcomes),
            Self::Markdown => markdown::print(outcomes),
        }
    }
}

/// What a run is called: its governor, and which of two bounds it is.
fn label(outcome: &Outcome) -> String {
    let governor = outcome.governor.as_deref().unwrap_or("-");
    match outcome.assumption {
        None => governor.to_owned(),
        Some(Assumption::AllTimers) => format!("{governor}, all timers"),
        Some(Assumption::AllInterrupts) => format!("{governor}, all interrupts"),
    }
}

/// A heading for what belongs to one run, such as `video: teo, iteration 2`.
fn title(outcome: &Outcome, outcomes: &[Outcome]) -> String {
    let workload = outcome.workload.as_ref();
    let mut title = workload.map_or_else(String::new, |workload| format!("{workload}: "));
    title.push_str(&label(outcome));
    if outcomes.iter().any(|other| other.iteration != outcome.iteration) {
        title.push_str(&format!(", iteration {}", outcome.iteration));
    }
    cut(&title, WIDTH)
}

/// A table for each run, below its title.
fn each(outcomes: &[Outcome], table: impl Fn(&Outcome) -> String) -> String {
    let tables: Vec<String> = outcomes
        .iter()
        .map(|outcome| format!("{}\n{}", title(outcome, outcomes), table(outcome)))
        .collect();
    tables.join("\n")
}

fn cut(name: &str, longest: usize) -> String {
    if name.chars().count() <= longest {
        return name.to_owned();
    }
    let kept: String = name.chars().take(longest.saturating_sub(3)).collect();
    format!("{kept}...")
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn real(value: Option<f64>, decimals: usize) -> String {
    or_dash(value.map(|value| format!("{value:.decimals$}")))
}

/// In per cent; not known where there is no whole.
fn per_cent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// The widths that cells of a table need.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns)
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect()
}

/// Rows, the first of which is the header: names to the left, figures to the right.
fn table(rows: &[Vec<String>]) -> String {
    let Some((header, rows)) = rows.split_first() else { return String::new() };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    lay_out(&header, rows.iter().cloned())
}

/// As few tables below each other as fit the width of a mail. Each has the columns `kept`, and some
/// of the others, in their order.
fn side_by_side(kept: usize, columns: usize, lines: impl Fn(&[usize]) -> String) -> String {
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= WIDTH);
    let rest: Vec<usize> = (kept..columns).collect();
    let mut rest = &rest[..];
    let mut tables = Vec::new();
    loop {
        let with = |count: usize| -> Vec<usize> {
            (0..kept).chain(rest.iter().take(count).copied()).collect()
        };
        let count = (1..=rest.len()).rev().find(|&count| fits(&lines(&with(count)))).unwrap_or(1);
        tables.push(lines(&with(count)));
        rest = rest.get(count..).unwrap_or_default();
        if rest.is_empty() {
            return tables.join("\n");
        }
    }
}

/// Some columns of a table.
fn select(rows: &[Vec<String>], columns: &[usize]) -> Vec<Vec<String>> {
    let cells = |row: &Vec<String>| columns.iter().filter_map(|&at| row.get(at).cloned()).collect();
    rows.iter().map(cells).collect()
}

/// A Markdown table: the first column to the left, figures to the right. It is wide as its cells
/// are, and padded, so that it reads as plain text, too.
fn markdown_table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect()).collect();
    let widths: Vec<usize> = widths(&rows).into_iter().map(|width| width.max(3)).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            text.push_str(&match at {
                0 => format!("| {cell:<width$} "),
                _ => format!("| {cell:>width$} "),
            });
        }
        text.push_str("|\n");
        if number == 0 {
            for (at, &width) in widths.iter().enumerate() {
                text.push_str(&match at {
                    0 => format!("|{}", "-".repeat(width + 2)),
                    _ => format!("|{}:", "-".repeat(width + 1)),
                });
            }
            text.push_str("|\n");
        }
    }
    text
}

/// An idle state that tables of several runs have a row or a column for. Its name tells it, since a
/// number means another state under another driver; a name may come twice.
#[derive(Clone, PartialEq, Eq)]
struct StateKey {
    name: String,
    occurrence: usize,
}

impl StateKey {
    /// The states of all runs, in the order in which they come.
    fn of(outcomes: &[&Outcome]) -> Vec<Self> {
        let mut keys: Vec<Self> = Vec::new();
        for outcome in outcomes {
            for (at, state) in outcome.states.iter().enumerate() {
                let before = outcome.states.iter().take(at);
                let occurrence = before.filter(|other| other.name == state.name).count();
                let key = Self { name: state.name.clone(), occurrence };
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys
    }

    /// The number that the state has in a run.
    fn number(&self, outcome: &Outcome) -> Option<usize> {
        let states = outcome.states.iter().enumerate();
        let mut same = states.filter(|(_, state)| state.name == self.name);
        same.nth(self.occurrence).map(|(number, _)| number)
    }

    fn state<'a>(&self, outcome: &'a Outcome) -> Option<&'a StateOutcome> {
        outcome.states.get(self.number(outcome)?)
    }

    fn heading(&self) -> String {
        cut(&self.name, LONGEST_NAME)
    }
}

#[cfg(test)]
mod tests;
