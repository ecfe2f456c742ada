// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables with a run a line.

use std::collections::{BTreeMap, BTreeSet};

use super::heading::{Heading, Role, wrapped_header};
use super::line::{Number, Split, count, is_number};
use super::{Line, Taken, duration_ns, fit, unknown};
use crate::file::{FromFile, Note};
use crate::{Figure, Outcome};

/// What stands in the place of a governor or an iteration where a line sums up others.
const SUMMARIES: [&str; 11] =
    ["mean", "avg", "average", "amean", "median", "min", "max", "sum", "total", "stddev", "std"];

pub(super) struct Runs {
    line: usize,
    split: Split,
    headings: Vec<Heading>,
    title: Option<String>,
    /// The beginning of a row that a mail program wrapped.
    begun: Option<(usize, String)>,
    /// The first cell of the row before, for rows that leave it out.
    label: Option<String>,
    rows: Vec<(usize, Vec<String>)>,
}

/// Which governor ran what where: runs of equal ones are repetitions.
type Key = (Option<String>, Option<String>, Option<String>);

/// The iterations of a governor so far.
#[derive(Default)]
struct Iterations {
    seen: BTreeSet<u32>,
    /// What is added to the table's own number, since that has started again.
    offset: u32,
}

impl Runs {
    pub(super) fn new(
        line: usize,
        split: Split,
        headings: Vec<Heading>,
        title: Option<String>,
    ) -> Self {
        Self { line, split, headings, title, begun: None, label: None, rows: Vec::new() }
    }

    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    pub(super) fn offer(&mut self, line: Line<'_>, read: &mut FromFile) -> Taken {
        if !self.has_rows()
            && line.number == self.line + 1
            && self.split != Split::Bars
            && let Some(more) = wrapped_header(line.text)
        {
            // One heading may have been cut at a blank, but not within a word.
            self.headings.extend(more);
            self.line += 1;
            return Taken::Yes;
        }
        if let Some(cells) = self.whole(line.text, read) {
            self.begun = None;
            return self.take(line.number, cells, read);
        }
        if let Some((number, begun)) = self.begun.take() {
            let joined = format!("{begun}  {}", line.text);
            if let Some(cells) = self.whole(&joined, read) {
                let text = "goes on in the next line, as wrapped by a mail program".to_owned();
                read.notes.push(Note { line: Some(number), text });
                return self.take(number, cells, read);
            }
        }
        if let Some(cells) = self.unlabelled(line.text) {
            return self.take(line.number, cells, read);
        }
        if self.begins_row(line.text) {
            self.begun = Some((line.number, line.text.to_owned()));
        }
        Taken::No
    }

    /// The cells of a line that is a whole row. Where the first heading has no cells below it, which
    /// happens to a column that was taken out, it is given up.
    fn whole(&mut self, text: &str, read: &mut FromFile) -> Option<Vec<String>> {
        if let Some(cells) = fit(text, self.split, &self.headings) {
            return Some(cells);
        }
        let [_, rest @ ..] = &self.headings[..] else { return None };
        let given_up = !self.has_rows() && rest.first()?.role.is_text();
        let cells = given_up.then(|| fit(text, self.split, rest)).flatten()?;
        if is_number(cells.first()?) {
            return None;
        }
        let name = self.headings.remove(0).name;
        let text =
            format!("nothing stands below `{name}`: the other headings are taken for the rows");
        read.notes.push(Note { line: Some(self.line), text });
        Some(cells)
    }

    /// A row that leaves out its label, which is that of the row before.
    fn unlabelled(&self, text: &str) -> Option<Vec<String>> {
        let label = self.label.clone()?;
        let [first, rest @ ..] = &self.headings[..] else { return None };
        if !first.role.is_text() || self.split == Split::Bars {
            return None;
        }
        let cells = fit(text, self.split, rest)?;
        Some(std::iter::once(label).chain(cells).collect())
    }

    /// Whether a line has a name, then numbers, but not enough.
    fn begins_row(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let named = self.headings.iter().any(|heading| heading.role.is_text());
        let numbers = words.iter().filter(|word| is_number(word)).count();
        words.len() < self.headings.len()
            && numbers * 2 >= words.len()
            && named == words.first().is_some_and(|word| !is_number(word))
    }

    fn take(&mut self, line: usize, mut cells: Vec<String>, read: &mut FromFile) -> Taken {
        let summary = cells.iter().any(|cell| SUMMARIES.contains(&&*cell.to_lowercase()));
        if summary {
            let text = "sums up other lines: left out".to_owned();
            read.notes.push(Note { line: Some(line), text });
            return Taken::Yes;
        }
        if let (Some(first), Some(heading)) = (cells.first_mut(), self.headings.first())
            && heading.role.is_text()
        {
            // In bars, a label that is left out is an empty cell.
            match &self.label {
                Some(label) if first.is_empty() => first.clone_from(label),
                _ => self.label = Some(first.clone()),
            }
        }
        self.rows.push((line, cells));
        Taken::Yes
    }

    /// Makes outcomes of the rows.
    pub(super) fn close(self, read: &mut FromFile) {
        let duration = self.title.as_deref().and_then(duration_ns);
        if let Some(duration) = duration {
            let seconds = duration as f64 / 1e9;
            let text = format!("each run is taken to have lasted {seconds} s, as the title says");
            read.notes.push(Note { line: Some(self.line), text });
        }
        let mut iterations: BTreeMap<Key, Iterations> = BTreeMap::new();
        for (line, cells) in &self.rows {
            let row = Row { line: *line, headings: &self.headings, cells };
            let mut outcome = match row.outcome() {
                Ok(outcome) => outcome,
                Err(reason) => {
                    let text = format!("{reason}: left out");
                    read.notes.push(Note { line: Some(*line), text });
                    continue;
                }
            };
            row.check(&outcome, read);
            outcome.workload = match (self.title.clone(), outcome.workload.take()) {
                (Some(title), Some(workload)) => Some(format!("{title}, {workload}")),
                (title, workload) => title.or(workload),
            };
            outcome.duration_ns = duration;
            let told = row.number(Role::Iteration).is_some();
            let key =
                (outcome.governor.clone(), outcome.workload.clone(), outcome.platform.clone());
            let so_far = iterations.entry(key).or_default();
            outcome.iteration = so_far.next(told.then_some(outcome.iteration), *line, read);
            read.outcomes.push(outcome);
        }
    }
}

impl Iterations {
    /// The number of a run whose table gives it `told`.
    fn next(&mut self, told: Option<u32>, line: usize, read: &mut FromFile) -> u32 {
        let after_last = self.seen.last().map_or(0, |last| last.saturating_add(1));
        let number = match told {
            None => after_last,
            Some(told) => {
                let number = told.saturating_add(self.offset);
                if self.seen.contains(&number) {
                    self.offset = after_last.saturating_sub(told);
                    let text = format!(
                        "a governor comes again with iteration {told}: its runs from here on are \
                         counted from {after_last}"
                    );
                    read.notes.push(Note { line: Some(line), text });
                    after_last
                } else {
                    number
                }
            }
        };
        self.seen.insert(number);
        number
    }
}

/// A row and what its cells are.
struct Row<'a> {
    line: usize,
    headings: &'a [Heading],
    cells: &'a [String],
}

impl Row<'_> {
    fn cells(&self) -> impl Iterator<Item = (&Heading, &str)> {
        self.headings.iter().zip(self.cells.iter().map(String::as_str))
    }

    fn text(&self, role: Role) -> Option<String> {
        let mut cells = self.cells().filter(|(heading, _)| heading.role == role);
        cells.next().map(|(_, cell)| cell.to_owned()).filter(|cell| !cell.is_empty())
    }

    fn number(&self, role: Role) -> Option<(&Heading, f64, i32)> {
        self.cells().filter(|(heading, _)| heading.role == role).find_map(|(heading, cell)| {
            match Number::of(cell)? {
                Number::Known { value, decimals } => Some((heading, value, decimals)),
                Number::Unknown => None,
            }
        })
    }

    fn count(&self, role: Role) -> Result<Option<u64>, String> {
        let Some((heading, value, _)) = self.number(role) else { return Ok(None) };
        match count(value) {
            Some(count) => Ok(Some(count)),
            None => Err(format!("`{}` is {value} where a count was expected", heading.name)),
        }
    }

    fn outcome(&self) -> Result<Outcome, String> {
        let mut outcome = unknown(self.text(Role::Governor));
        outcome.platform = self.text(Role::Platform);
        outcome.workload = self.text(Role::Workload);
        let iteration = self.count(Role::Iteration)?.unwrap_or(0);
        outcome.iteration = u32::try_from(iteration)
            .map_err(|_| format!("iteration {iteration} is beyond counting"))?;
        outcome.idles = self.count(Role::Entries)?;
        (outcome.above, outcome.below) = (self.count(Role::Above)?, self.count(Role::Below)?);
        let sum = || outcome.above?.checked_add(outcome.below?);
        outcome.misses = self.count(Role::Misses)?.or_else(sum);
        let joules = |role| self.number(role).map(|(_, value, _)| value);
        outcome.energy.measured_joules = joules(Role::MeasuredJoules);
        outcome.energy.modelled_joules = joules(Role::ModelledJoules);
        for (heading, cell) in self.cells() {
            // A share that nothing else tells is a result of its own.
            let lone_share = heading.role == Role::MissShare && outcome.misses.is_none();
            let timed = matches!(heading.role, Role::Time(_) | Role::MeanTime(_));
            if heading.role == Role::Figure || timed || lone_share {
                outcome.figures.extend(figure(heading, cell));
            }
        }
        Ok(outcome)
    }

    /// Holds the row's numbers against each other: a column that was read as another would show.
    fn check(&self, outcome: &Outcome, read: &mut FromFile) {
        let mut say = |text: String| read.notes.push(Note { line: Some(self.line), text });
        if let (Some(misses), Some(above), Some(below)) =
            (outcome.misses, outcome.above, outcome.below)
            && above.checked_add(below) != Some(misses)
        {
            say(format!("{above} above and {below} below are not the {misses} misses beside them"));
        }
        if let (Some(misses), Some(idles)) = (outcome.misses, outcome.idles)
            && misses > idles
        {
            say(format!("has more misses ({misses}) than idle periods ({idles})"));
        }
        if let (Some(misses), Some(idles), Some((heading, share, decimals))) =
            (outcome.misses, outcome.idles, self.number(Role::MissShare))
            && idles > 0
        {
            let per_cent = if heading.unit == "%" { 100.0 } else { 1.0 };
            let computed = per_cent * misses as f64 / idles as f64;
            // The last digit may have been rounded or cut.
            if (computed - share).abs() > 1.001 * 0.1f64.powi(decimals) {
                say(format!(
                    "`{}` is {share}, but {misses} of {idles} are {computed:.3}",
                    heading.name
                ));
            }
        }
    }
}

fn figure(heading: &Heading, cell: &str) -> Option<Figure> {
    Some(Figure {
        name: heading.name.clone(),
        value: Number::of(cell)?.value()?,
        unit: heading.unit.clone(),
        better: heading.better(),
    })
}
