// SPDX-License-Identifier: GPL-2.0-or-later
//! ```text
//! device  gov  iter  Joules  idles  idle_misses  idle_miss_ratio  belows  aboves  C1    C6
//! video   teo  0     260.09  67404  11189        0.166            1899    9290    1000  2000
//! ```

use idlelab_outcome::Outcome;

use super::{LONGEST_LABEL, StateKey, cut, label, or_dash, real, select, side_by_side};
use crate::layout::lay_out_left;

/// The longest heading of a figure, and the longest workload.
const LONGEST_HEADING: usize = 24;

pub(super) fn print(outcomes: &[Outcome]) -> String {
    let all: Vec<&Outcome> = outcomes.iter().collect();
    let any = |known: fn(&Outcome) -> bool| outcomes.iter().any(known);
    let device = any(|outcome| outcome.workload.is_some());
    let measured = any(|outcome| outcome.energy.measured_joules.is_some());
    let modelled = any(|outcome| outcome.energy.modelled_joules.is_some());
    let states = StateKey::of(&all);
    let mut figures: Vec<(&str, &str)> = Vec::new();
    for figure in outcomes.iter().flat_map(|outcome| &outcome.figures) {
        if !figures.contains(&(&figure.name, &figure.unit)) {
            figures.push((&figure.name, &figure.unit));
        }
    }

    let name = |(name, unit): &(&str, &str)| match *unit {
        "" => cut(name, LONGEST_HEADING),
        unit => cut(&format!("{name}({unit})"), LONGEST_HEADING),
    };
    // Blanks part columns, so that names have none.
    let word = |text: String| text.replace(' ', "_");
    let mut header: Vec<String> = Vec::new();
    header.extend(device.then(|| "device".to_owned()));
    header.extend(["gov".to_owned(), "iter".to_owned()]);
    let kept = header.len();
    header.extend(figures.iter().map(name).map(word));
    header.extend(measured.then(|| "Joules".to_owned()));
    header.extend(modelled.then(|| "modelled_J".to_owned()));
    let counts = ["idles", "idle_misses", "idle_miss_ratio", "belows", "aboves"];
    header.extend(counts.map(str::to_owned));
    header.extend(states.iter().map(|state| word(state.heading())));

    let columns = header.len();
    let mut rows = Vec::new();
    rows.extend(outcomes.iter().map(|outcome| {
        let mut row = Vec::new();
        row.extend(device.then(|| {
            outcome
                .workload
                .as_deref()
                .map_or_else(|| "-".to_owned(), |name| cut(name, LONGEST_HEADING))
        }));
        row.extend([cut(&label(outcome), LONGEST_LABEL), outcome.iteration.to_string()]);
        row.extend(figures.iter().map(|(name, unit)| {
            let mut of_run = outcome.figures.iter();
            or_dash(of_run.find(|f| f.name == *name && f.unit == *unit).map(|f| f.value))
        }));
        row.extend(measured.then(|| real(outcome.energy.measured_joules, 2)));
        row.extend(modelled.then(|| real(outcome.energy.modelled_joules, 2)));
        let ratio = outcome.misses.zip(outcome.idles).filter(|(_, idles)| *idles > 0);
        row.extend([
            or_dash(outcome.idles),
            or_dash(outcome.misses),
            real(ratio.map(|(misses, idles)| misses as f64 / idles as f64), 3),
            or_dash(outcome.below),
            or_dash(outcome.above),
        ]);
        row.extend(states.iter().map(|key| or_dash(key.state(outcome).map(|state| state.usage))));
        row
    }));
    side_by_side(kept, columns, |shown| {
        let header: Vec<&str> =
            shown.iter().filter_map(|&at| header.get(at).map(String::as_str)).collect();
        lay_out_left(&header, select(&rows, shown).into_iter())
    })
}
