// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_outcome::{Assumption, Bench, Figure, Outcome};

use crate::layout::{WIDTH, lay_out};

/// What was decided, what the workload got, where the time went, and what the bench adds.
#[must_use]
pub fn plain_text(outcomes: &[Outcome]) -> String {
    let simulated = outcomes.iter().any(|outcome| outcome.bench == Bench::Simulate);
    let how = if simulated { "simulated" } else { "replayed" };
    let mut text = format!("Idle decisions, {how}\n\n{}\n", decisions(outcomes));
    if outcomes.iter().any(|outcome| !outcome.figures.is_empty()) {
        text.push_str("Results of the workload\n\n");
        text.push_str(&figures(outcomes).join("\n"));
        text.push('\n');
    }
    text.push_str("Usage of each state, time in it, and its share of idle time\n\n");
    text.push_str(&states(outcomes).join("\n"));
    text.push_str("\nTicks in idle, cost of deciding, added latency");
    // A closed loop has no bound: its next wakeup depends on the choice.
    if outcomes.iter().any(|outcome| outcome.regret.is_some()) {
        text.push_str(", and idle time beside the clairvoyant choice");
    }
    text.push_str("\n\n");
    text.push_str(&replay(outcomes));
    text
}

/// Whether runs are repeated, so that a row says which repetition it is.
fn has_iterations(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|outcome| outcome.iteration > 0)
}

/// The columns that say which run a row is of.
fn run_columns(outcomes: &[Outcome]) -> Vec<String> {
    let mut columns = vec!["governor".to_owned()];
    columns.extend(has_iterations(outcomes).then(|| "iter".to_owned()));
    columns
}

/// What stands in [`run_columns`].
fn run_cells(outcomes: &[Outcome], outcome: &Outcome) -> Vec<String> {
    let mut cells = vec![label(outcome)];
    cells.extend(has_iterations(outcomes).then(|| outcome.iteration.to_string()));
    cells
}

/// The workload's own results, as many side by side as fit.
fn figures(outcomes: &[Outcome]) -> Vec<String> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for figure in outcomes.iter().flat_map(|outcome| &outcome.figures) {
        if !names.contains(&(&figure.name, &figure.unit)) {
            names.push((&figure.name, &figure.unit));
        }
    }
    as_many_as_fit(&names, |shown| {
        let mut columns = run_columns(outcomes);
        columns.extend(shown.iter().map(|(name, unit)| format!("{name} {unit}")));
        let rows = outcomes.iter().map(|outcome| {
            let mut row = run_cells(outcomes, outcome);
            row.extend(shown.iter().map(|&(name, unit)| {
                let is_it = |figure: &&Figure| figure.name == name && figure.unit == unit;
                let found = outcome.figures.iter().find(is_it);
                found.map_or_else(unknown, |figure| significant(figure.value))
            }));
            row
        });
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        lay_out(&columns, rows)
    })
}

/// Five digits: more than repeated runs agree in.
fn significant(value: f64) -> String {
    let whole = value.abs().max(1.0).log10().floor() as usize + 1;
    format!("{value:.*}", 5_usize.saturating_sub(whole))
}

/// Tables of items side by side, as many in each as the width of a mail allows.
fn as_many_as_fit<T>(items: &[T], table: impl Fn(&[T]) -> String) -> Vec<String> {
    let mut tables = Vec::new();
    let mut rest = items;
    while !rest.is_empty() {
        let fitting = (1..=rest.len())
            .rev()
            .find(|&count| {
                let table = table(rest.get(..count).unwrap_or_default());
                table.lines().all(|line| line.chars().count() <= WIDTH)
            })
            .unwrap_or(1);
        let (shown, remaining) = rest.split_at(fitting);
        tables.push(table(shown));
        rest = remaining;
    }
    tables
}

/// The row that kernel developers post.
fn decisions(outcomes: &[Outcome]) -> String {
    let iterations = has_iterations(outcomes);
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
    as_many_as_fit(&indices, |shown| states_side_by_side(outcomes, shown))
}

fn states_side_by_side(outcomes: &[Outcome], indices: &[usize]) -> String {
    let name = |index: usize| {
        let named = outcomes.iter().find_map(|outcome| outcome.states.get(index));
        named.map_or("", |state| state.name.as_str())
    };
    let mut columns = run_columns(outcomes);
    for &index in indices {
        columns.extend([name(index).to_owned(), "time s".to_owned(), "time%".to_owned()]);
    }
    let rows = outcomes.iter().map(|outcome| {
        let mut row = run_cells(outcomes, outcome);
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
    let bounded = outcomes.iter().any(|outcome| outcome.regret.is_some());
    let mut columns = run_columns(outcomes);
    columns.extend(["ticks", "sleep length asked", "wakeup latency us"].map(str::to_owned));
    if bounded {
        columns.extend(["shallow%", "deep%"].map(str::to_owned));
    }
    columns.extend(energy.then(|| "over bound J".to_owned()));
    let rows = outcomes.iter().map(|outcome| {
        let idle = outcome.idle_ns();
        let off = |time: fn(&idlelab_outcome::Regret) -> u64| {
            outcome.regret.map_or_else(unknown, |regret| per_cent(time(&regret), idle))
        };
        let mut row = run_cells(outcomes, outcome);
        row.extend([
            count(outcome.ticks),
            count(outcome.sleep_length_queries),
            outcome.wakeup_latency.as_ref().map_or_else(unknown, |latency| {
                [latency.p50_ns, latency.p99_ns, latency.max_ns].map(microseconds).join("/")
            }),
        ]);
        if bounded {
            row.extend([off(|regret| regret.too_shallow_ns), off(|regret| regret.too_deep_ns)]);
        }
        row.extend(energy.then(|| joules(regret_joules(outcome))));
        row
    });
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
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
    fn a_workloads_results_stand_beside_and_wrap() {
        let figure = |number: u32| Figure {
            name: format!("figure number {number}"),
            value: 1234.5678,
            unit: "us".into(),
            better: None,
        };
        let mut simulated = outcome(1);
        simulated.bench = Bench::Simulate;
        simulated.figures = (0..8).map(figure).collect();
        let text = plain_text(&[simulated]);
        assert!(text.starts_with("Idle decisions, simulated"), "{text}");
        assert!(text.contains("figure number 7 us") && text.contains("1234.6"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(!text.contains("clairvoyant"), "{text}");
    }

    #[test]
    fn five_digits_are_significant() {
        assert_eq!(significant(123_456.7), "123457");
        assert_eq!(significant(3.858_21), "3.8582");
        assert_eq!(significant(0.012_34), "0.0123");
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
