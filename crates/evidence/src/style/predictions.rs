// SPDX-License-Identifier: GPL-2.0-or-later
//! ```text
//! teo
//! State  Ratio  Avg(ms)  Count  Over-pred  Under-pred
//! C1     12.50    0.250   2000        100         300
//! ```

use idlelab_outcome::Outcome;

use super::{LONGEST_NAME, cut, each, or_dash, per_cent, real, table};

pub(super) fn print(outcomes: &[Outcome]) -> String {
    each(outcomes, |outcome| {
        let idle = outcome.idle_ns();
        let header = ["State", "Ratio", "Avg(ms)", "Count", "Over-pred", "Under-pred"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(outcome.states.iter().map(|state| {
            let mean = state.time_ns as f64 / 1e6 / state.usage as f64;
            vec![
                cut(&state.name, LONGEST_NAME),
                real(per_cent(state.time_ns, idle), 2),
                real((state.usage > 0).then_some(mean), 3),
                state.usage.to_string(),
                or_dash(state.above),
                or_dash(state.below),
            ]
        }));
        table(&rows)
    })
}
