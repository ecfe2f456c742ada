// SPDX-License-Identifier: GPL-2.0-or-later
//! ```text
//! teo
//! +------------------------+--------+--------+---------+
//! | Metric                 |   POLL |     C1 |   total |
//! +------------------------+--------+--------+---------+
//! | Usage                  |    100 |   2000 |    2100 |
//! ```

use idlelab_outcome::{Outcome, StateOutcome, WakeupLatency};

use super::{LONGEST_NAME, cut, each, or_dash, per_cent, real, select, side_by_side, widths};

pub(super) fn print(outcomes: &[Outcome]) -> String {
    each(outcomes, |outcome| {
        let rows = rows(outcome);
        let columns = rows.first().map_or(0, Vec::len);
        side_by_side(1, columns, |shown| boxed(&select(&rows, shown)))
    })
}

fn rows(outcome: &Outcome) -> Vec<Vec<String>> {
    let idle = outcome.idle_ns();
    let known = !outcome.states.is_empty();
    let total = StateOutcome {
        name: "total".to_owned(),
        usage: outcome.idles.unwrap_or(0),
        time_ns: idle,
        above: outcome.above,
        below: outcome.below,
        rejected: None,
    };
    let row = |name: &str, of_state: &dyn Fn(&StateOutcome) -> String, of_all: String| {
        let mut row = vec![name.to_owned()];
        row.extend(outcome.states.iter().map(of_state));
        row.push(of_all);
        row
    };
    let timed = |of: &dyn Fn(&StateOutcome) -> String| if known { of(&total) } else { "-".into() };
    let micros = |state: &StateOutcome| real(Some(state.time_ns as f64 / 1e3), 0);
    let share = |state: &StateOutcome| real(per_cent(state.time_ns, idle), 2);
    let sleep = |state: &StateOutcome| {
        let mean = state.time_ns as f64 / 1e3 / state.usage as f64;
        real((state.usage > 0).then_some(mean), 1)
    };
    let latency = outcome.wakeup_latency.as_ref().and_then(mean_latency_us);
    vec![
        row("Metric", &|state| cut(&state.name, LONGEST_NAME), total.name.clone()),
        row("Usage", &|state| state.usage.to_string(), or_dash(outcome.idles)),
        row("Above", &|state| or_dash(state.above), or_dash(outcome.above)),
        row("Below", &|state| or_dash(state.below), or_dash(outcome.below)),
        row("Time (us)", &micros, timed(&micros)),
        row("Time (%)", &share, timed(&share)),
        row("Mean sleep (us)", &sleep, timed(&sleep)),
        // Wakeups from outside are not told apart by state.
        row("Mean wake latency (us)", &|_| "-".to_owned(), real(latency, 1)),
    ]
}

fn mean_latency_us(latency: &WakeupLatency) -> Option<f64> {
    let wakeups: f64 = latency.counts.iter().map(|&(_, count)| count as f64).sum();
    let sum: f64 = latency.counts.iter().map(|&(time, count)| time as f64 * count as f64).sum();
    (wakeups > 0.0).then(|| sum / wakeups / 1e3)
}

fn boxed(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect();
    let mut text = format!("{rule}+\n");
    for (number, row) in rows.iter().enumerate() {
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if at == 0 {
                text.push_str(&format!("| {cell:<width$} "));
            } else {
                text.push_str(&format!("| {cell:>width$} "));
            }
        }
        text.push_str("|\n");
        if number == 0 {
            text.push_str(&format!("{rule}+\n"));
        }
    }
    format!("{text}{rule}+\n")
}
