// SPDX-License-Identifier: GPL-2.0-or-later
//! ```text
//! teo
//! State  Usage  Above  Below  Above%  Below%
//! C1      2000    100    300    5.00   15.00
//! total   2000    100    300    5.00   15.00  <<< Misses 20.00 %
//! ```

use idlelab_outcome::{Outcome, StateOutcome};

use super::{LONGEST_NAME, cut, each, or_dash, per_cent, real, table};
use crate::layout::WIDTH;

pub(super) fn print(outcomes: &[Outcome]) -> String {
    each(outcomes, |outcome| {
        let header = ["State", "Usage", "Above", "Below", "Above%", "Below%"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(outcome.states.iter().map(|state| row(&state.name, Counts::from(state))));
        let counts = Counts { usage: outcome.idles, above: outcome.above, below: outcome.below };
        rows.push(row("total", counts));
        let text = table(&rows);
        let misses = outcome.misses.zip(outcome.idles);
        let share = real(misses.and_then(|(misses, idles)| per_cent(misses, idles)), 2);
        let remark = format!("<<< Misses {share} %");
        let total = text.lines().last().map_or(0, |line| line.chars().count());
        let gap = if total + 2 + remark.len() > WIDTH { "\n" } else { "  " };
        format!("{}{gap}{remark}\n", text.trim_end())
    })
}

#[derive(Clone, Copy)]
struct Counts {
    usage: Option<u64>,
    above: Option<u64>,
    below: Option<u64>,
}

impl From<&StateOutcome> for Counts {
    fn from(state: &StateOutcome) -> Self {
        Self { usage: Some(state.usage), above: state.above, below: state.below }
    }
}

fn row(name: &str, counts: Counts) -> Vec<String> {
    let share =
        |part: Option<u64>| part.zip(counts.usage).and_then(|(part, all)| per_cent(part, all));
    vec![
        cut(name, LONGEST_NAME),
        or_dash(counts.usage),
        or_dash(counts.above),
        or_dash(counts.below),
        real(share(counts.above), 2),
        real(share(counts.below), 2),
    ]
}
