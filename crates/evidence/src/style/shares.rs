// SPDX-License-Identifier: GPL-2.0-or-later
//! States down, governors across.
//!
//! ```text
//! | % of idle time |   teo |  menu |
//! |----------------|------:|------:|
//! | C1             | 40.00 | 30.00 |
//!
//! State  teo (sec)  menu (sec)        %
//! C1          4.00        3.00   -25.00
//! total      10.00       10.00     0.00
//! ```

use idlelab_outcome::Outcome;

use super::metric::{by_workload, labels};
use super::{
    LONGEST_NAME, StateKey, cut, label, markdown_table, per_cent, real, select, side_by_side, table,
};
use crate::layout::WIDTH;

/// Time in states, in per cent of the idle time of all runs of a governor.
pub(super) fn markdown(outcomes: &[Outcome]) -> String {
    let tables = by_workload(outcomes).into_iter().map(|(workload, runs)| {
        let governors = governors(&runs);
        let mut header = vec!["% of idle time".to_owned()];
        header.extend(governors.iter().map(|governor| cut(&governor.name, LONGEST_NAME)));
        let mut rows = vec![header];
        for state in StateKey::of(&runs) {
            let mut row = vec![state.heading()];
            row.extend(governors.iter().map(|governor| {
                let share =
                    governor.time_ns(&state).and_then(|time| per_cent(time, governor.idle_ns()));
                real(share, 2)
            }));
            rows.push(row);
        }
        let columns = rows.first().map_or(0, Vec::len);
        let text = side_by_side(1, columns, |shown| markdown_table(&select(&rows, shown)));
        match workload {
            Some(workload) => format!("**{}**\n\n{text}", cut(workload, WIDTH - 4)),
            None => text,
        }
    });
    tables.collect::<Vec<String>>().join("\n")
}

/// Time in states in seconds, of all runs of a governor; changes are against the first.
pub(super) fn times(outcomes: &[Outcome]) -> String {
    let tables = by_workload(outcomes).into_iter().map(|(workload, runs)| {
        let governors = governors(&runs);
        let mut header = vec!["State".to_owned()];
        for (at, governor) in governors.iter().enumerate() {
            header.push(format!("{} (sec)", cut(&governor.name, LONGEST_NAME)));
            header.extend((at > 0).then(|| "%".to_owned()));
        }
        let mut rows = vec![header];
        for state in StateKey::of(&runs) {
            let times: Vec<_> = governors.iter().map(|one| one.time_ns(&state)).collect();
            rows.push(against_first(&state.heading(), &times));
        }
        let totals: Vec<_> = governors.iter().map(|one| Some(one.idle_ns())).collect();
        rows.push(against_first("total", &totals));
        let columns = rows.first().map_or(0, Vec::len);
        let text = side_by_side(2, columns, |shown| table(&select(&rows, shown)));
        match workload {
            Some(workload) => format!("{}\n\n{text}", cut(workload, WIDTH)),
            None => text,
        }
    });
    tables.collect::<Vec<String>>().join("\n")
}

fn against_first(name: &str, times: &[Option<u64>]) -> Vec<String> {
    let seconds = |time: Option<u64>| time.map(|time| time as f64 / 1e9);
    let first = times.first().copied().flatten();
    let mut row = vec![name.to_owned()];
    for (at, &time) in times.iter().enumerate() {
        row.push(real(seconds(time), 2));
        let change = seconds(time).zip(seconds(first)).filter(|(_, first)| *first > 0.0);
        row.extend(
            (at > 0).then(|| real(change.map(|(time, first)| 100.0 * (time - first) / first), 2)),
        );
    }
    row
}

/// All runs of a governor.
struct Governor<'a> {
    name: String,
    runs: Vec<&'a Outcome>,
}

fn governors<'a>(runs: &[&'a Outcome]) -> Vec<Governor<'a>> {
    let of = |name: &String| runs.iter().copied().filter(|run| label(run) == *name).collect();
    labels(runs).into_iter().map(|name| Governor { runs: of(&name), name }).collect()
}

impl Governor<'_> {
    /// Time in a state; none if it has no such state.
    fn time_ns(&self, key: &StateKey) -> Option<u64> {
        let states = self.runs.iter().filter_map(|run| key.state(run));
        states.map(|state| state.time_ns).reduce(u64::saturating_add)
    }

    fn idle_ns(&self) -> u64 {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.idle_ns()))
    }
}
