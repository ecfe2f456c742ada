// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_outcome::{Assumption, Outcome};

use crate::layout::{WIDTH, lay_out};

/// Three tables: what was decided, where the time went, and what the bench adds.
#[must_use]
pub fn plain_text(outcomes: &[Outcome]) -> String {
    let states = states(outcomes).join("\n");
    format!(
        "Idle decisions, replayed\n\n{}\n\
         Usage of each state, time in it, and its share of idle time\n\n{states}\n\
         Ticks in idle, cost of deciding, added latency, and idle time beside the clairvoyant \
         choice\n\n{}",
        decisions(outcomes),
        replay(outcomes)
    )
}

/// The row that kernel developers post.
fn decisions(outcomes: &[Outcome]) -> String {
    let iterations = outcomes.iter().any(|outcome| outcome.iteration > 0);
    let measured = outcomes.iter().any(|outcome| outcome.energy.measured_joules.is_some());
    let modelled = outcomes.iter().any(|outcome| outcome.energy.modelled_joules.is_some());
    let mut columns = vec!["governor"];
    columns.extend(iterations.then_some("iter"));
    columns.extend(measured.then_some("measured J"));
    columns.extend(modelled.then_some("modelled J"));
    columns.extend(["idles", "misses", "miss%", "above", "below"]);
    let rows = outcomes.iter().map(|outcome| {
        let mut row = vec![label(outcome)];
        row.extend(iterations.then(|| outcome.iteration.to_string()));
        row.extend(measured.then(|| joules(outcome.energy.measured_joules)));
        row.extend(modelled.then(|| joules(outcome.energy.modelled_joules)));
        row.extend([
            count(outcome.idles),
            count(outcome.misses),
            outcome
                .misses
                .zip(outcome.idles)
                .map_or_else(unknown, |(misses, idles)| per_cent(misses, idles)),
            count(outcome.above),
            count(outcome.below),
        ]);
        row
    });
    lay_out(&columns, rows)
}

/// Usage, time and share of each state, as many states side by side as fit.
fn states(outcomes: &[Outcome]) -> Vec<String> {
    let deepest = outcomes.iter().map(|outcome| outcome.states.len()).max().unwrap_or(0);
    let indices: Vec<usize> = (0..deepest).collect();
    let mut tables = Vec::new();
    let mut rest = &indices[..];
    while !rest.is_empty() {
        let fitting = (1..=rest.len())
            .rev()
            .find(|&count| {
                let table = states_side_by_side(outcomes, rest.get(..count).unwrap_or_default());
                table.lines().all(|line| line.chars().count() <= WIDTH)
            })
            .unwrap_or(1);
        let (shown, remaining) = rest.split_at(fitting);
        tables.push(states_side_by_side(outcomes, shown));
        rest = remaining;
    }
    tables
}

fn states_side_by_side(outcomes: &[Outcome], indices: &[usize]) -> String {
    let name = |index: usize| {
        let named = outcomes.iter().find_map(|outcome| outcome.states.get(index));
        named.map_or("", |state| state.name.as_str())
    };
    let mut columns = vec!["governor".to_owned()];
    for &index in indices {
        columns.extend([name(index).to_owned(), "time s".to_owned(), "time%".to_owned()]);
    }
    let rows = outcomes.iter().map(|outcome| {
        let mut row = vec![label(outcome)];
        for &index in indices {
            let state = outcome.states.get(index);
            row.extend(state.map_or_else(
                || ["-".to_owned(), "-".to_owned(), "-".to_owned()],
                |state| {
                    [
                        state.usage.to_string(),
                        seconds(state.time_ns),
                        per_cent(state.time_ns, outcome.idle_ns()),
                    ]
                },
            ));
        }
        row
    });
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    lay_out(&columns, rows)
}

/// What a replay adds.
fn replay(outcomes: &[Outcome]) -> String {
    let regret_joules = |outcome: &Outcome| outcome.regret.and_then(|regret| regret.joules);
    let energy = outcomes.iter().any(|outcome| regret_joules(outcome).is_some());
    let mut columns =
        vec!["governor", "ticks", "sleep length asked", "wakeup latency us", "shallow%", "deep%"];
    columns.extend(energy.then_some("over bound J"));
    let rows = outcomes.iter().map(|outcome| {
        let idle = outcome.idle_ns();
        let off = |time: fn(&idlelab_outcome::Regret) -> u64| {
            outcome.regret.map_or_else(unknown, |regret| per_cent(time(&regret), idle))
        };
        let mut row = vec![
            label(outcome),
            count(outcome.ticks),
            count(outcome.sleep_length_queries),
            outcome.wakeup_latency.as_ref().map_or_else(unknown, |latency| {
                [latency.p50_ns, latency.p99_ns, latency.max_ns].map(microseconds).join("/")
            }),
            off(|regret| regret.too_shallow_ns),
            off(|regret| regret.too_deep_ns),
        ];
        row.extend(energy.then(|| joules(regret_joules(outcome))));
        row
    });
    lay_out(&columns, rows)
}

fn label(outcome: &Outcome) -> String {
    let governor = outcome.governor.as_deref().unwrap_or("-");
    match outcome.assumption {
        None => governor.to_owned(),
        Some(Assumption::AllTimers) => format!("{governor}, all timers"),
        Some(Assumption::AllInterrupts) => format!("{governor}, all interrupts"),
    }
}

fn unknown() -> String {
    "-".to_owned()
}

fn count(count: Option<u64>) -> String {
    count.map_or_else(unknown, |count| count.to_string())
}

fn per_cent(part: u64, whole: u64) -> String {
    if whole == 0 { unknown() } else { format!("{:.2}", 100.0 * part as f64 / whole as f64) }
}

fn seconds(nanoseconds: u64) -> String {
    format!("{:.3}", nanoseconds as f64 * 1e-9)
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.1}", nanoseconds as f64 * 1e-3)
}

fn joules(energy: Option<f64>) -> String {
    energy.map_or_else(unknown, |energy| format!("{energy:.3}"))
}

#[cfg(test)]
mod tests {
    use idlelab_outcome::{Bench, CpuOutcome, StateOutcome};

    use super::*;

    fn outcome(states: usize) -> Outcome {
        let state = |index: usize| StateOutcome {
            name: format!("state-number-{index:02}"),
            usage: 123_456_789,
            time_ns: 98_765_432_109_876,
            above: Some(1),
            ..Default::default()
        };
        let cpu = CpuOutcome { states: (0..states).map(state).collect(), ..Default::default() };
        Outcome::of_cpus(Bench::Replay, Some("teo@over-eager"), Some("p"), vec![cpu])
    }

    #[test]
    fn ten_states_stay_within_the_width_of_a_mail() {
        let text = plain_text(&[outcome(10), outcome(10)]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("state-number-09"));
    }

    #[test]
    fn a_share_of_nothing_is_unknown() {
        assert_eq!(per_cent(0, 0), "-");
        assert_eq!(per_cent(1, 3), "33.33");
    }

    #[test]
    fn columns_that_no_row_has_are_left_out() {
        let text = plain_text(&[outcome(1)]);
        assert!(!text.contains("iter") && !text.contains("joules"), "{text}");
    }
}
