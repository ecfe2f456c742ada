// SPDX-License-Identifier: GPL-2.0-or-later
//! Counter snapshots as people read them: one pair as a table of states, several side by side.

use std::collections::{BTreeMap, BTreeSet};

use idlelab_outcome::count::{Count, Table};
use idlelab_outcome::{Outcome, StateOutcome};
use idlelab_platform::CpuList;
use idlelab_states::{CpuId, Nanoseconds};
use serde::Serialize;

use crate::layout::{NO_BREAK, WIDTH, lay_out, paragraph};

/// The longest name in a column; longer ones are cut. Joined names of several CPUs' states are.
const LONGEST_NAME: usize = 20;
/// Where the text of a heading such as `before` begins.
const INDENT: usize = 12;

/// A count and what a reader calls it.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// A short name, for columns.
    pub label: &'a str,
    /// The snapshot before; none if everything since the CPUs came up was counted.
    pub before: Option<&'a str>,
    /// The snapshot after.
    pub after: &'a str,
    /// What happened in between.
    pub count: &'a Count,
}

/// Which CPUs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpus {
    /// All of them together, and, where there are several, those of each kind.
    Sum,
    /// That, and then each.
    Each,
}

/// One idle state of one CPU or of all, or the total of the states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountRow {
    /// The count's name.
    pub label: String,
    /// The CPU's number, `all`, or the CPUs of one kind as a list.
    pub cpu: String,
    /// The state's number; null for the total.
    pub state: Option<usize>,
    /// The state's name, or `total`.
    pub name: String,
    /// How often it was entered.
    pub usage: u64,
    /// How long CPUs were in it.
    pub time_ns: u64,
    /// Its share of the idle time, in per cent; null without idle time.
    pub share_percent: Option<f64>,
    /// Its share of the time between the snapshots, in per cent; null without a window.
    pub window_percent: Option<f64>,
    /// Its mean length, in microseconds; null if it was not entered.
    pub mean_us: Option<f64>,
    /// How often it was too deep; null where the kernel does not count it.
    pub above: Option<u64>,
    /// How often it was too shallow; null where the kernel does not count it.
    pub below: Option<u64>,
    /// How often it was the wrong one.
    pub misses: Option<u64>,
    /// `above` of `usage`, in per cent.
    pub above_percent: Option<f64>,
    /// `below` of `usage`, in per cent.
    pub below_percent: Option<f64>,
    /// `misses` of `usage`, in per cent.
    pub miss_percent: Option<f64>,
    /// How often the driver refused it; null where the kernel does not count it.
    pub rejected: Option<u64>,
}

/// Every state and the total, of all CPUs together and, if asked for, of each.
#[must_use]
pub fn count_rows(counted: &[Counted<'_>], cpus: Cpus) -> Vec<CountRow> {
    let parts = parts(counted, cpus);
    let mut rows = Vec::new();
    for one in counted {
        rows.extend(machine_rows(one));
        rows.extend(parts.iter().flat_map(|part| part_rows(one, part)));
    }
    rows
}

/// What was counted, in tables of at most [`WIDTH`] columns. The changes of several counts are
/// against the first one.
#[must_use]
pub fn count_text(counted: &[Counted<'_>], cpus: Cpus) -> String {
    let first = counted.first();
    let mut text = String::new();
    for (at, one) in counted.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        text.push_str(&heading(one, first.filter(|_| counted.len() > 1)));
    }
    let all: Vec<Vec<CountRow>> = counted.iter().map(machine_rows).collect();
    let title = match counted {
        [_] => "All CPUs",
        _ => "All CPUs; changes are against the first column (pp: percentage points)",
    };
    text.push_str(&section(title, counted, &all));
    if let [rows] = &all[..]
        && let Some(total) = rows.last()
    {
        text.push('\n');
        text.push_str(&paragraph("Misses:", "Misses: ".len(), &miss_share(total)));
    }
    for part in parts(counted, cpus) {
        let rows: Vec<Vec<CountRow>> = counted.iter().map(|one| part_rows(one, &part)).collect();
        text.push_str(&section(&format!("cpu{part}"), counted, &rows));
    }
    text
}

/// What is shown besides the sum of all: CPUs that have the same states, where not all have, since
/// a number then means several states; and, if asked for, each CPU.
fn parts(counted: &[Counted<'_>], cpus: Cpus) -> Vec<CpuList> {
    let mut parts: Vec<CpuList> = Vec::new();
    for count in counted.iter().map(|one| one.count).filter(|count| count.tables.len() > 1) {
        for table in &count.tables {
            if !parts.contains(&table.cpus) {
                parts.push(table.cpus.clone());
            }
        }
    }
    if cpus == Cpus::Each {
        let numbers: BTreeSet<u32> = counted.iter().flat_map(cpu_numbers).collect();
        parts.extend(numbers.into_iter().map(|cpu| CpuList::from_iter([CpuId(cpu)])));
    }
    parts
}

fn section(title: &str, counted: &[Counted<'_>], sets: &[Vec<CountRow>]) -> String {
    let table = match sets {
        [rows] => states_down(rows),
        sets => counts_across(counted, sets),
    };
    format!("\n{}\n{table}", paragraph("", 0, title))
}

fn cpu_numbers(one: &Counted<'_>) -> impl Iterator<Item = u32> {
    one.count.outcome.per_cpu.iter().map(|cpu| cpu.cpu)
}

fn miss_share(total: &CountRow) -> String {
    match (total.misses, total.above, total.below) {
        (Some(misses), Some(above), Some(below)) => format!(
            "{misses} of {} idle periods, {} % ({above} above, {below} below)",
            total.usage,
            real(total.miss_percent, 2)
        ),
        _ => "not known, the kernel or the files have no above and below".to_owned(),
    }
}

fn machine_rows(one: &Counted<'_>) -> Vec<CountRow> {
    rows(one, "all", &one.count.outcome)
}

fn part_rows(one: &Counted<'_>, cpus: &CpuList) -> Vec<CountRow> {
    rows(one, &cpus.to_string(), &one.count.part(cpus))
}

fn rows(one: &Counted<'_>, cpu: &str, outcome: &Outcome) -> Vec<CountRow> {
    let states = &outcome.states;
    let window_ns = one.count.observed_ns(outcome);
    let total = states.iter().cloned().reduce(|mut sum, state| {
        sum.add(&state);
        sum
    });
    let idle_ns = total.as_ref().map_or(0, |total| total.time_ns);
    let row = |state: Option<usize>, name: &str, counted: &StateOutcome| CountRow {
        label: one.label.to_owned(),
        cpu: cpu.to_owned(),
        state,
        name: name.to_owned(),
        usage: counted.usage,
        time_ns: counted.time_ns,
        share_percent: per_cent(counted.time_ns, idle_ns),
        window_percent: window_ns.and_then(|window| per_cent(counted.time_ns, window)),
        mean_us: (counted.usage > 0)
            .then(|| counted.time_ns as f64 / 1_000.0 / counted.usage as f64),
        above: counted.above,
        below: counted.below,
        misses: counted.misses(),
        above_percent: counted.above.and_then(|above| per_cent(above, counted.usage)),
        below_percent: counted.below.and_then(|below| per_cent(below, counted.usage)),
        miss_percent: counted.misses().and_then(|misses| per_cent(misses, counted.usage)),
        rejected: counted.rejected,
    };
    let mut rows: Vec<CountRow> =
        states.iter().enumerate().map(|(at, state)| row(Some(at), &state.name, state)).collect();
    rows.extend(total.map(|total| row(None, "total", &total)));
    rows
}

fn per_cent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// A figure of a row.
struct Metric {
    name: &'static str,
    of: fn(&CountRow) -> Value,
}

#[derive(Clone, Copy)]
enum Value {
    Count(Option<u64>),
    Real(Option<f64>, usize),
    PerCent(Option<f64>),
}

impl Value {
    fn text(self) -> String {
        match self {
            Self::Count(count) => count.map_or_else(|| "-".to_owned(), |count| count.to_string()),
            Self::Real(value, decimals) => real(value, decimals),
            Self::PerCent(value) => real(value, 2),
        }
    }

    /// In per cent of the first; of percentages, in points.
    fn change_from(self, first: Self) -> String {
        let relative = |value: f64, first: f64| {
            if value == first {
                "+0.00%".to_owned()
            } else if first == 0.0 {
                "-".to_owned()
            } else {
                format!("{:+.2}%", 100.0 * (value - first) / first)
            }
        };
        match (self, first) {
            (Self::Count(Some(value)), Self::Count(Some(first))) => {
                relative(value as f64, first as f64)
            }
            (Self::Real(Some(value), _), Self::Real(Some(first), _)) => relative(value, first),
            (Self::PerCent(Some(value)), Self::PerCent(Some(first))) => {
                format!("{:+.2} pp", value - first)
            }
            _ => "-".to_owned(),
        }
    }
}

fn real(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// What is shown of each state; figures that no row has are left out.
fn metrics(sets: &[&[CountRow]]) -> Vec<Metric> {
    let any = |known: fn(&CountRow) -> bool| sets.iter().any(|rows| rows.iter().any(known));
    let mut metrics = vec![
        Metric { name: "usage", of: |row| Value::Count(Some(row.usage)) },
        Metric { name: "time s", of: |row| Value::Real(Some(row.time_ns as f64 * 1e-9), 3) },
        Metric { name: "share%", of: |row| Value::PerCent(row.share_percent) },
    ];
    if any(|row| row.window_percent.is_some()) {
        metrics.push(Metric { name: "window%", of: |row| Value::PerCent(row.window_percent) });
    }
    metrics.extend([
        Metric { name: "mean us", of: |row| Value::Real(row.mean_us, 1) },
        Metric { name: "above", of: |row| Value::Count(row.above) },
        Metric { name: "below", of: |row| Value::Count(row.below) },
        Metric { name: "misses", of: |row| Value::Count(row.misses) },
        Metric { name: "above%", of: |row| Value::PerCent(row.above_percent) },
        Metric { name: "below%", of: |row| Value::PerCent(row.below_percent) },
    ]);
    if sets.len() > 1 {
        metrics.push(Metric { name: "miss%", of: |row| Value::PerCent(row.miss_percent) });
    }
    if any(|row| row.rejected.is_some_and(|times| times > 0)) {
        metrics.push(Metric { name: "rejected", of: |row| Value::Count(row.rejected) });
    }
    metrics
}

/// One count: a line for each state, a column for each figure.
fn states_down(rows: &[CountRow]) -> String {
    let names = Column { head: "state".to_owned(), cells: rows.iter().map(name).collect() };
    let columns = metrics(&[rows]).into_iter().map(|metric| {
        let cells = rows.iter().map(|row| (metric.of)(row).text()).collect();
        vec![Column { head: metric.name.to_owned(), cells }]
    });
    within_width(&names, &columns.collect::<Vec<_>>())
}

/// Several counts: a column for each, a block of lines for each state.
fn counts_across(counted: &[Counted<'_>], sets: &[Vec<CountRow>]) -> String {
    let by_name: Vec<BTreeMap<Key<'_>, &CountRow>> =
        sets.iter().map(|rows| keys(rows).zip(rows).collect()).collect();
    let mut states: Vec<Key<'_>> = Vec::new();
    for key in sets.iter().flat_map(|rows| keys(rows)) {
        if !states.contains(&key) {
            states.push(key);
        }
    }
    // The total closes the table even if a later count has states that the first lacks.
    states.sort_by_key(|key| key.total);
    let borrowed: Vec<&[CountRow]> = sets.iter().map(Vec::as_slice).collect();
    let metrics = metrics(&borrowed);

    let mut names = Vec::new();
    for state in &states {
        names.push(cut(state.name));
        names.extend(metrics.iter().map(|metric| format!("  {}", metric.name)));
    }
    let figures =
        |rows: &BTreeMap<Key<'_>, &CountRow>,
         show: &dyn Fn(Option<&CountRow>, &Metric, &Key<'_>) -> String| {
            let mut cells = Vec::new();
            for state in &states {
                cells.push(String::new());
                let row = rows.get(state).copied();
                cells.extend(metrics.iter().map(|metric| show(row, metric, state)));
            }
            cells
        };
    let first = by_name.first();
    let columns = by_name.iter().zip(counted).enumerate().map(|(at, (rows, one))| {
        let value = |row: Option<&CountRow>, metric: &Metric, _: &Key<'_>| {
            row.map_or_else(|| "-".to_owned(), |row| (metric.of)(row).text())
        };
        let mut columns = vec![Column { head: cut(one.label), cells: figures(rows, &value) }];
        if at > 0 {
            let change = |row: Option<&CountRow>, metric: &Metric, state: &Key<'_>| {
                let reference = first.and_then(|first| first.get(state).copied());
                row.zip(reference).map_or_else(
                    || "-".to_owned(),
                    |(row, reference)| (metric.of)(row).change_from((metric.of)(reference)),
                )
            };
            columns.push(Column { head: "change".to_owned(), cells: figures(rows, &change) });
        }
        columns
    });
    let names = Column { head: "state".to_owned(), cells: names };
    within_width(&names, &columns.collect::<Vec<_>>())
}

/// What tells that rows of two counts are of the same state: its name, since a number means
/// another state under another driver. A name may come twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    total: bool,
    name: &'a str,
    occurrence: usize,
}

fn keys(rows: &[CountRow]) -> impl Iterator<Item = Key<'_>> {
    rows.iter().enumerate().map(|(at, row)| Key {
        total: row.state.is_none(),
        name: &row.name,
        occurrence: rows.iter().take(at).filter(|other| other.name == row.name).count(),
    })
}

struct Column {
    head: String,
    cells: Vec<String>,
}

/// Groups of columns side by side, in as many tables below each other as the width asks for.
fn within_width(names: &Column, groups: &[Vec<Column>]) -> String {
    let table = |groups: &[Vec<Column>]| {
        let columns: Vec<&Column> = std::iter::once(names).chain(groups.iter().flatten()).collect();
        let heads: Vec<&str> = columns.iter().map(|column| column.head.as_str()).collect();
        let rows = (0..names.cells.len()).map(|at| {
            columns.iter().map(|column| column.cells.get(at).cloned().unwrap_or_default()).collect()
        });
        lay_out(&heads, rows)
    };
    let mut tables = Vec::new();
    let mut rest = groups;
    while !rest.is_empty() {
        let fits = |count: &usize| {
            let text = table(rest.get(..*count).unwrap_or_default());
            text.lines().all(|line| line.chars().count() <= WIDTH)
        };
        let (shown, remaining) = rest.split_at((1..=rest.len()).rev().find(fits).unwrap_or(1));
        tables.push(table(shown));
        rest = remaining;
    }
    tables.join("\n")
}

fn name(row: &CountRow) -> String {
    cut(&row.name)
}

fn cut(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    let mut cut: String = name.chars().take(LONGEST_NAME - 3).collect();
    cut.push_str("...");
    cut
}

/// What was counted, of which machine, and what must be known of it. `first` is what it is compared
/// with, if it is.
fn heading(one: &Counted<'_>, first: Option<&Counted<'_>>) -> String {
    let count = one.count;
    let mut text = String::new();
    let mut line = |head: &str, body: &str| text.push_str(&paragraph(head, INDENT, body));
    if first.is_some() {
        line("column", &cut(one.label));
    }
    match one.before {
        Some(before) => {
            line("before", before);
            line("after", one.after);
        }
        None => line("counters", &format!("{}, since the CPUs came up", one.after)),
    }
    if let Some(governor) = &count.outcome.governor {
        line("governor", governor);
    }
    if let Some(window) = count.window {
        line("window", &format!("{} s", window.get() as f64 / 1e9));
    }
    for table in &count.tables {
        line("states", &states(table));
    }
    for finding in &count.findings {
        line("note", &finding.to_string());
    }
    if first.is_some_and(|first| !cpu_numbers(first).eq(cpu_numbers(one))) {
        line("note", "other CPUs were counted than in the first column: compare shares, not sums");
    }
    if first.is_some_and(|first| first.count.window != count.window) {
        line("note", "the window is not the first column's: compare shares, not sums");
    }
    text
}

fn states(table: &Table) -> String {
    let us = |time: Option<Nanoseconds>| {
        time.map_or_else(|| "-".to_owned(), |time| time.as_micros().to_string())
    };
    let states: Vec<String> = table
        .states
        .iter()
        .map(|state| {
            let name = state.name.replace(' ', &NO_BREAK.to_string());
            format!("{name}{NO_BREAK}{}/{}", us(state.exit_latency), us(state.target_residency))
        })
        .collect();
    let us = if table.states.iter().all(|state| state.exit_latency.is_none()) {
        ""
    } else {
        " us (exit latency/target residency)"
    };
    format!("cpu{}: {}{us}", table.cpus, states.join(", "))
}

#[cfg(test)]
mod tests;
