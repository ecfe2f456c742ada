// SPDX-License-Identifier: GPL-2.0-or-later
//! ```text
//! | governor | iter | joules | idles | misses | miss% | above | below |
//! |----------|-----:|-------:|------:|-------:|------:|------:|------:|
//! | teo      |    0 | 170.02 | 12690 |    646 |  5.09 |   275 |   371 |
//! ```

use idlelab_outcome::Outcome;

use super::metric::by_workload;
use super::{
    LONGEST_LABEL, cut, label, markdown_table, or_dash, per_cent, real, select, side_by_side,
};
use crate::layout::WIDTH;

pub(super) fn print(outcomes: &[Outcome]) -> String {
    let tables = by_workload(outcomes).into_iter().map(|(workload, runs)| {
        let rows = rows(&runs);
        let columns = rows.first().map_or(0, Vec::len);
        let text = side_by_side(1, columns, |shown| markdown_table(&select(&rows, shown)));
        match workload {
            Some(workload) => format!("**{}**\n\n{text}", cut(workload, WIDTH - 4)),
            None => text,
        }
    });
    tables.collect::<Vec<String>>().join("\n")
}

fn rows(runs: &[&Outcome]) -> Vec<Vec<String>> {
    let measured = runs.iter().any(|run| run.energy.measured_joules.is_some());
    let modelled = runs.iter().any(|run| run.energy.modelled_joules.is_some());
    let mut header = vec!["governor".to_owned(), "iter".to_owned()];
    header.extend(measured.then(|| "joules".to_owned()));
    header.extend(modelled.then(|| "modelled joules".to_owned()));
    header.extend(["idles", "misses", "miss%", "above", "below"].map(str::to_owned));
    let mut rows = vec![header];
    rows.extend(runs.iter().map(|run| {
        let share = run.misses.zip(run.idles).and_then(|(misses, idles)| per_cent(misses, idles));
        let mut row = vec![cut(&label(run), LONGEST_LABEL), run.iteration.to_string()];
        row.extend(measured.then(|| real(run.energy.measured_joules, 2)));
        row.extend(modelled.then(|| real(run.energy.modelled_joules, 2)));
        row.extend([
            or_dash(run.idles),
            or_dash(run.misses),
            real(share, 2),
            or_dash(run.above),
            or_dash(run.below),
        ]);
        row
    }));
    rows
}
