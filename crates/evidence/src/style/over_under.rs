// SPDX-License-Identifier: GPL-2.0-or-later
//! Shares of the stays, in per cent, that were in the state that the clairvoyant bound would have
//! taken, or undersleep (US) or oversleep (OS) by so many states.
//!
//! ```text
//! governor  US 2   US 1  Correct  OS 1
//! teo       0.50  10.00    80.00  9.50
//! ```
//!
//! Where only the kernel's counters are known, they do not tell by how many: `US` is *below*, `OS`
//! is *above*.

use std::collections::BTreeMap;

use idlelab_outcome::Outcome;

use super::{LONGEST_LABEL, cut, label, per_cent, real, select, side_by_side, table};

pub(super) fn print(outcomes: &[Outcome]) -> String {
    let mut parts = Vec::new();
    let iterations = outcomes.iter().any(|outcome| outcome.iteration > 0);
    let known: Vec<&Outcome> = outcomes.iter().filter(|run| run.off_by.is_some()).collect();
    let counted: Vec<&Outcome> = outcomes.iter().filter(|run| run.off_by.is_none()).collect();
    if !known.is_empty() {
        parts.push(by_states(&known, iterations));
    }
    if !counted.is_empty() {
        parts.push(by_counters(&counted, iterations));
    }
    parts.join("\n")
}

fn by_states(runs: &[&Outcome], iterations: bool) -> String {
    let stays: Vec<BTreeMap<i8, u64>> = runs
        .iter()
        .map(|run| run.off_by.iter().flatten().map(|off| (off.states, off.stays)).collect())
        .collect();
    let used = |states: i8| stays.iter().any(|of| of.get(&states).is_some_and(|&stays| stays > 0));
    let columns: Vec<i8> = (i8::MIN..=i8::MAX).filter(|&at| at == 0 || used(at)).collect();
    let mut header = named("governor", "iter", iterations);
    let kept = header.len();
    header.extend(columns.iter().map(|&states| match states {
        0 => "Correct".to_owned(),
        shallower @ ..0 => format!("US {}", shallower.unsigned_abs()),
        deeper => format!("OS {deeper}"),
    }));
    let mut rows = vec![header];
    for (run, stays) in runs.iter().zip(&stays) {
        let mut row = named(&label(run), &run.iteration.to_string(), iterations);
        let all = stays.values().fold(0u64, |sum, &stays| sum.saturating_add(stays));
        row.extend(
            columns
                .iter()
                .map(|states| real(per_cent(stays.get(states).copied().unwrap_or(0), all), 2)),
        );
        rows.push(row);
    }
    let columns = rows.first().map_or(0, Vec::len);
    side_by_side(kept, columns, |shown| table(&select(&rows, shown)))
}

fn by_counters(runs: &[&Outcome], iterations: bool) -> String {
    let mut header = named("governor", "iter", iterations);
    header.extend(["US", "Correct", "OS"].map(str::to_owned));
    let mut rows = vec![header];
    for run in runs {
        let correct = run.idles.zip(run.misses).map(|(idles, misses)| idles.saturating_sub(misses));
        let mut row = named(&label(run), &run.iteration.to_string(), iterations);
        row.extend([run.below, correct, run.above].map(|part| {
            real(part.zip(run.idles).and_then(|(part, idles)| per_cent(part, idles)), 2)
        }));
        rows.push(row);
    }
    table(&rows)
}

fn named(name: &str, iteration: &str, iterations: bool) -> Vec<String> {
    let mut cells = vec![cut(name, LONGEST_LABEL)];
    cells.extend(iterations.then(|| iteration.to_owned()));
    cells
}
