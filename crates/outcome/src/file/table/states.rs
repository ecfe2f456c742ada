// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables with an idle state a line.

use super::heading::{Heading, Role, timed};
use super::line::{Number, Split, count};
use super::{Line, Taken, duration_ns, fit, unknown};
use crate::file::{FromFile, Note};
use crate::{Bench, CpuOutcome, Figure, Outcome, StateOutcome};

pub(super) struct States {
    line: usize,
    split: Split,
    headings: Vec<Heading>,
    title: Option<String>,
    rows: Vec<(usize, Vec<String>)>,
    /// Whether the line of totals has been there.
    ended: bool,
}

impl States {
    pub(super) fn new(
        line: usize,
        split: Split,
        headings: Vec<Heading>,
        title: Option<String>,
    ) -> Self {
        Self { line, split, headings, title, rows: Vec::new(), ended: false }
    }

    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    pub(super) fn offer(&mut self, line: Line<'_>) -> Taken {
        if self.ended {
            return Taken::No;
        }
        // A remark at the end, as in `<<< Misses 33 %`.
        let text = line.text.split("<<<").next().unwrap_or_default().trim_end();
        let Some(cells) = fit(text, self.split, &self.headings) else { return Taken::No };
        let first = cells.first().map(|cell| cell.to_lowercase()).unwrap_or_default();
        if ["total", "totals", "sum", "all"].contains(&&*first) {
            self.ended = true;
        } else {
            self.rows.push((line.number, cells));
        }
        Taken::Yes
    }

    pub(super) fn close(self, read: &mut FromFile) {
        if self.headings.iter().any(|heading| heading.role == Role::Entries) {
            self.one_outcome(read);
        } else {
            self.outcomes_across(read);
        }
    }

    /// The table is of one run, and has columns for its counters. Its title is all that may tell the
    /// governor.
    fn one_outcome(self, read: &mut FromFile) {
        let mut states = Vec::new();
        for (line, cells) in &self.rows {
            match self.state(cells) {
                Ok(state) => states.push(state),
                Err(reason) => {
                    let text = format!("{reason}: this table of states is left out");
                    read.notes.push(Note { line: Some(*line), text });
                    return;
                }
            }
        }
        let timed = self.has(|role| matches!(role, Role::Time(_) | Role::MeanTime(_)));
        if !timed {
            self.say(read, "has no time in states: it is taken to be none");
        } else if !self.has(|role| matches!(role, Role::Time(_))) {
            self.say(read, "has mean times, of which the times in states are computed");
        }
        let cpu = CpuOutcome { states, ..CpuOutcome::default() };
        let mut outcome =
            Outcome::of_cpus(Bench::Published, self.title.as_deref(), None, vec![cpu]);
        outcome.per_cpu.clear();
        outcome.duration_ns = self.title.as_deref().and_then(duration_ns);
        let same = |other: &&Outcome| other.governor == outcome.governor;
        let before = read.outcomes.iter().filter(same).count();
        outcome.iteration = u32::try_from(before).unwrap_or(u32::MAX);
        read.outcomes.push(outcome);
    }

    fn has(&self, wanted: fn(Role) -> bool) -> bool {
        self.headings.iter().any(|heading| wanted(heading.role))
    }

    fn say(&self, read: &mut FromFile, text: &str) {
        read.notes.push(Note { line: Some(self.line), text: format!("the table {text}") });
    }

    fn state(&self, cells: &[String]) -> Result<StateOutcome, String> {
        let mut state =
            StateOutcome { name: cells.first().cloned().unwrap_or_default(), ..Default::default() };
        let (mut usage, mut time, mut mean) = (None, None, None);
        for (heading, cell) in self.headings.iter().zip(cells) {
            let Some(value) = Number::of(cell).and_then(Number::value) else { continue };
            let counted = || {
                count(value).map(Some).ok_or_else(|| {
                    format!("`{}` is {value} where a count was expected", heading.name)
                })
            };
            match heading.role {
                Role::Entries => usage = counted()?,
                Role::Above => state.above = counted()?,
                Role::Below => state.below = counted()?,
                Role::Rejected => state.rejected = counted()?,
                Role::Time(unit) => time = count((value * unit as f64).round()),
                Role::MeanTime(unit) => mean = Some(value * unit as f64),
                _ => {}
            }
        }
        state.usage = usage.ok_or_else(|| format!("state {} has no entries", state.name))?;
        let product = mean.and_then(|mean| count((mean * state.usage as f64).round()));
        state.time_ns = time.or(product).unwrap_or(0);
        Ok(state)
    }

    /// Each column is of another run, with one number of each state: it cannot be told from a result
    /// of the workload's own.
    fn outcomes_across(self, read: &mut FromFile) {
        let text = "has one number for each state, which is kept as a figure of its column";
        self.say(read, text);
        let duration = self.title.as_deref().and_then(duration_ns);
        for (column, heading) in self.headings.iter().enumerate().skip(1) {
            let mut outcome = unknown(Some(heading.name.clone()));
            outcome.workload.clone_from(&self.title);
            outcome.duration_ns = duration;
            let of_unit = match heading.unit.as_str() {
                "%" => "share of state",
                unit if timed(unit).is_some() => "time in state",
                _ => "state",
            };
            for (_, cells) in &self.rows {
                let (Some(state), Some(cell)) = (cells.first(), cells.get(column)) else {
                    continue;
                };
                let Some(value) = Number::of(cell).and_then(Number::value) else { continue };
                outcome.figures.push(Figure {
                    name: format!("{of_unit} {}", whole(state)),
                    value,
                    unit: heading.unit.clone(),
                    better: None,
                });
            }
            read.outcomes.push(outcome);
        }
    }
}

/// A state's number without the decimals that a spreadsheet gave it.
fn whole(state: &str) -> &str {
    match state.split_once('.') {
        Some((number, zeros))
            if number.parse::<u8>().is_ok() && zeros.bytes().all(|byte| byte == b'0') =>
        {
            number
        }
        _ => state,
    }
}
