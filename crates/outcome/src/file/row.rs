// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes as one flat table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Assumption, Bench, CpuOutcome, Energy, Figure, OffBy, Outcome, Regret, StateOutcome,
    WakeupLatency,
};

/// One idle state of one CPU, or of all CPUs together, and beside it what the outcome says of all
/// states. An outcome without states is one row. docs/outcomes.md describes the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which outcome of the file it is, from 0.
    #[serde(default)]
    pub outcome: u32,
    /// As of the outcome.
    pub bench: Bench,
    /// As of the outcome.
    pub governor: Option<String>,
    /// How well idlelab's own version of the governor is known; null where the governor ran in a
    /// kernel or is not in the catalogue. No part of an outcome: it follows from the name.
    #[serde(default)]
    pub standing: Option<String>,
    /// As of the outcome.
    pub platform: Option<String>,
    /// As of the outcome.
    #[serde(default)]
    pub workload: Option<String>,
    /// As of the outcome.
    #[serde(default)]
    pub iteration: u32,
    /// As of the outcome.
    #[serde(default)]
    pub order: Option<u32>,
    /// As of the outcome.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// As of the outcome.
    #[serde(default)]
    pub assumption: Option<Assumption>,
    /// The CPU's number; null, or `all` in CSV, for all CPUs together.
    #[serde(with = "all_or_number")]
    pub cpu: Option<u32>,
    /// The state's number; null where the CPU, or the outcome, has no states.
    pub state: Option<u32>,
    /// As of the state; so is all that follows up to `rejected`.
    pub name: Option<String>,
    /// Null without a state.
    pub usage: Option<u64>,
    /// Null without a state.
    pub time_ns: Option<u64>,
    /// Null where it is not known.
    #[serde(default)]
    pub above: Option<u64>,
    /// Null where it is not known.
    #[serde(default)]
    pub below: Option<u64>,
    /// Null where it is not known.
    #[serde(default)]
    pub rejected: Option<u64>,
    /// Of all states and CPUs; null in the rows of one CPU. So are the next three.
    #[serde(default)]
    pub idles: Option<u64>,
    /// Of all states and CPUs.
    #[serde(default)]
    pub misses: Option<u64>,
    /// Of all states and CPUs.
    #[serde(default)]
    pub all_above: Option<u64>,
    /// Of all states and CPUs.
    #[serde(default)]
    pub all_below: Option<u64>,
    /// Of all states; so is all that follows.
    #[serde(default)]
    pub ticks: Option<u64>,
    /// Of all states.
    #[serde(default)]
    pub sleep_length_queries: Option<u64>,
    /// Of all CPUs; null in the rows of one.
    #[serde(default)]
    pub measured_joules: Option<f64>,
    /// Of all states.
    #[serde(default)]
    pub modelled_joules: Option<f64>,
    /// Of all states.
    #[serde(default)]
    pub wakeup_latency_p50_ns: Option<u64>,
    /// Of all states.
    #[serde(default)]
    pub wakeup_latency_p99_ns: Option<u64>,
    /// Of all states.
    #[serde(default)]
    pub wakeup_latency_max_ns: Option<u64>,
    /// Of all states.
    #[serde(default)]
    pub too_shallow_ns: Option<u64>,
    /// Of all states.
    #[serde(default)]
    pub too_deep_ns: Option<u64>,
    /// Of all states.
    #[serde(default)]
    pub regret_joules: Option<f64>,
    /// Each wakeup latency and how often it occurred, in CSV and Parquet as the text of a JSON list;
    /// only in the first row of each CPU and of all.
    #[serde(default, with = "json_text")]
    pub wakeup_latency_counts: Option<Vec<(u64, u64)>>,
    /// Stays by their distance from the clairvoyant choice, likewise.
    #[serde(default, with = "json_text")]
    pub off_by: Option<Vec<OffBy>>,
    /// The workload's own results, likewise; only in the first row of all CPUs.
    #[serde(default, with = "json_text")]
    pub figures: Option<Vec<Figure>>,
}

/// CSV says `all` where it has no CPU, so that no one adds up sums and parts by accident.
mod all_or_number {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::ref_option, reason = "serde's interface")]
    pub(super) fn serialize<S: Serializer>(cpu: &Option<u32>, to: S) -> Result<S::Ok, S::Error> {
        match cpu {
            Some(cpu) => to.serialize_u32(*cpu),
            None => to.serialize_str("all"),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
        let text = String::deserialize(from)?;
        match text.as_str() {
            "all" => Ok(None),
            number => number.parse().map(Some).map_err(|_| {
                de::Error::custom(format!("{number:?} is no CPU; expected a number or `all`"))
            }),
        }
    }
}

/// A list as the text of its JSON, where tables have no lists.
mod json_text {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    #[expect(clippy::ref_option, reason = "serde's interface")]
    pub(super) fn serialize<T: Serialize, S: Serializer>(
        list: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match list {
            Some(list) => {
                to.serialize_some(&serde_json::to_string(list).map_err(ser::Error::custom)?)
            }
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?.filter(|text| !text.is_empty());
        text.map(|text| serde_json::from_str(&text).map_err(de::Error::custom)).transpose()
    }
}

/// The rows of outcomes. `standing` tells how well a governor is known, by its name.
pub fn rows<'a>(
    outcomes: &'a [Outcome],
    standing: impl Fn(&str) -> Option<String> + 'a,
) -> impl Iterator<Item = Row> + 'a {
    (0..).zip(outcomes).flat_map(move |(number, outcome)| {
        let standing = outcome.governor.as_deref().and_then(&standing);
        rows_of(number, outcome, standing)
    })
}

fn rows_of(number: u32, outcome: &Outcome, standing: Option<String>) -> Vec<Row> {
    let blank = Row {
        outcome: number,
        bench: outcome.bench,
        governor: outcome.governor.clone(),
        standing,
        platform: outcome.platform.clone(),
        workload: outcome.workload.clone(),
        iteration: outcome.iteration,
        order: outcome.order,
        duration_ns: outcome.duration_ns,
        assumption: outcome.assumption,
        ..Row::blank()
    };
    let all = Row {
        idles: outcome.idles,
        misses: outcome.misses,
        all_above: outcome.above,
        all_below: outcome.below,
        ticks: outcome.ticks,
        sleep_length_queries: outcome.sleep_length_queries,
        measured_joules: outcome.energy.measured_joules,
        modelled_joules: outcome.energy.modelled_joules,
        ..blank.clone()
    }
    .with_latency(outcome.wakeup_latency.as_ref())
    .with_regret(outcome.regret);
    let mut rows = of_states(&all, &outcome.states);
    if let Some(first) = rows.first_mut() {
        first.figures = Some(outcome.figures.clone());
        first.wakeup_latency_counts = latency_counts(outcome.wakeup_latency.as_ref());
        first.off_by.clone_from(&outcome.off_by);
    }
    for cpu in &outcome.per_cpu {
        let one = Row {
            cpu: Some(cpu.cpu),
            ticks: cpu.ticks,
            sleep_length_queries: cpu.sleep_length_queries,
            modelled_joules: cpu.modelled_joules,
            ..blank.clone()
        }
        .with_latency(cpu.wakeup_latency.as_ref())
        .with_regret(cpu.regret);
        let mut of_cpu = of_states(&one, &cpu.states);
        if let Some(first) = of_cpu.first_mut() {
            first.wakeup_latency_counts = latency_counts(cpu.wakeup_latency.as_ref());
            first.off_by.clone_from(&cpu.off_by);
        }
        rows.append(&mut of_cpu);
    }
    rows
}

fn latency_counts(latency: Option<&WakeupLatency>) -> Option<Vec<(u64, u64)>> {
    latency.map(|latency| latency.counts.clone())
}

fn of_states(all: &Row, states: &[StateOutcome]) -> Vec<Row> {
    if states.is_empty() {
        return vec![all.clone()];
    }
    let row = |(number, state): (u32, &StateOutcome)| Row {
        state: Some(number),
        name: Some(state.name.clone()),
        usage: Some(state.usage),
        time_ns: Some(state.time_ns),
        above: state.above,
        below: state.below,
        rejected: state.rejected,
        ..all.clone()
    };
    (0..).zip(states).map(row).collect()
}

impl Row {
    /// A row that knows nothing.
    pub(super) const fn blank() -> Self {
        Self {
            outcome: 0,
            bench: Bench::Published,
            governor: None,
            standing: None,
            platform: None,
            workload: None,
            iteration: 0,
            order: None,
            duration_ns: None,
            assumption: None,
            cpu: None,
            state: None,
            name: None,
            usage: None,
            time_ns: None,
            above: None,
            below: None,
            rejected: None,
            idles: None,
            misses: None,
            all_above: None,
            all_below: None,
            ticks: None,
            sleep_length_queries: None,
            measured_joules: None,
            modelled_joules: None,
            wakeup_latency_p50_ns: None,
            wakeup_latency_p99_ns: None,
            wakeup_latency_max_ns: None,
            too_shallow_ns: None,
            too_deep_ns: None,
            regret_joules: None,
            wakeup_latency_counts: None,
            off_by: None,
            figures: None,
        }
    }

    fn with_latency(self, latency: Option<&WakeupLatency>) -> Self {
        Self {
            wakeup_latency_p50_ns: latency.map(|latency| latency.p50_ns),
            wakeup_latency_p99_ns: latency.map(|latency| latency.p99_ns),
            wakeup_latency_max_ns: latency.map(|latency| latency.max_ns),
            ..self
        }
    }

    fn with_regret(self, regret: Option<Regret>) -> Self {
        Self {
            too_shallow_ns: regret.map(|regret| regret.too_shallow_ns),
            too_deep_ns: regret.map(|regret| regret.too_deep_ns),
            regret_joules: regret.and_then(|regret| regret.joules),
            ..self
        }
    }

    fn latency(&self) -> Option<WakeupLatency> {
        Some(WakeupLatency {
            p50_ns: self.wakeup_latency_p50_ns?,
            p99_ns: self.wakeup_latency_p99_ns?,
            max_ns: self.wakeup_latency_max_ns?,
            counts: self.wakeup_latency_counts.clone().unwrap_or_default(),
        })
    }

    fn regret(&self) -> Option<Regret> {
        Some(Regret {
            too_shallow_ns: self.too_shallow_ns?,
            too_deep_ns: self.too_deep_ns?,
            joules: self.regret_joules,
        })
    }

    /// Whether a row is of the same run as another.
    fn is_of_same_run(&self, other: &Self) -> bool {
        let run = |row: &Self| (row.outcome, row.bench, row.iteration, row.order, row.assumption);
        run(self) == run(other)
            && self.governor == other.governor
            && self.platform == other.platform
            && self.workload == other.workload
    }
}

/// Where the counts of all states together are from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Totals {
    /// Their own columns.
    Given,
    /// The states, since there are no such columns.
    SumOfStates,
}

/// Puts outcomes together from rows, which come run by run and in any order within a run.
pub(super) struct Gather {
    totals: Totals,
    outcomes: Vec<Outcome>,
    run: Option<Run>,
}

/// The rows of a run: its first, and those of each CPU by their states.
struct Run {
    first: Row,
    cpus: BTreeMap<Option<u32>, Cpu>,
    /// CPUs in the order of the rows.
    order: Vec<u32>,
}

struct Cpu {
    first: Row,
    states: BTreeMap<u32, StateOutcome>,
    /// The number of the first row.
    row: usize,
}

impl Gather {
    pub(super) fn new(totals: Totals) -> Self {
        Self { totals, outcomes: Vec::new(), run: None }
    }

    /// Takes the row number `at` in. Errors name what is wrong with it, or with a row before it
    /// by that row's number.
    pub(super) fn add(&mut self, at: usize, row: Row) -> Result<(), (usize, String)> {
        let taken = |run: &Run| {
            let cpu = run.cpus.get(&row.cpu);
            cpu.is_some_and(|cpu| row.state.is_none_or(|state| cpu.states.contains_key(&state)))
        };
        if self.run.as_ref().is_none_or(|run| !run.first.is_of_same_run(&row) || taken(run)) {
            self.close()?;
        }
        let run = self.run.get_or_insert_with(|| Run {
            first: row.clone(),
            cpus: BTreeMap::new(),
            order: Vec::new(),
        });
        let cpu = run.cpus.entry(row.cpu).or_insert_with(|| {
            run.order.extend(row.cpu);
            Cpu { first: row.clone(), states: BTreeMap::new(), row: at }
        });
        // Lists are in one row of a CPU only, and rows may have been sorted otherwise.
        if row.wakeup_latency_counts.is_some() {
            cpu.first.wakeup_latency_counts.clone_from(&row.wakeup_latency_counts);
        }
        if row.off_by.is_some() {
            cpu.first.off_by.clone_from(&row.off_by);
        }
        if row.figures.is_some() {
            cpu.first.figures.clone_from(&row.figures);
        }
        if let Some(number) = row.state {
            let missing = |column: &str| (at, format!("state {number} has no `{column}`"));
            let state = StateOutcome {
                name: row.name.ok_or_else(|| missing("name"))?,
                usage: row.usage.ok_or_else(|| missing("usage"))?,
                time_ns: row.time_ns.ok_or_else(|| missing("time_ns"))?,
                above: row.above,
                below: row.below,
                rejected: row.rejected,
            };
            cpu.states.insert(number, state);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<Outcome>, (usize, String)> {
        self.close()?;
        Ok(self.outcomes)
    }

    fn close(&mut self) -> Result<(), (usize, String)> {
        let Some(mut run) = self.run.take() else { return Ok(()) };
        let mut per_cpu = Vec::new();
        for number in run.order {
            let Some(cpu) = run.cpus.remove(&Some(number)) else { continue };
            per_cpu.push(CpuOutcome {
                cpu: number,
                ticks: cpu.first.ticks,
                sleep_length_queries: cpu.first.sleep_length_queries,
                modelled_joules: cpu.first.modelled_joules,
                wakeup_latency: cpu.first.latency(),
                regret: cpu.first.regret(),
                off_by: cpu.first.off_by,
                states: in_order(cpu.states, cpu.row)?,
            });
        }
        let first = run.first;
        let mut outcome = Outcome::of_cpus(first.bench, first.governor.as_deref(), None, per_cpu);
        outcome.platform = first.platform;
        outcome.workload = first.workload;
        outcome.iteration = first.iteration;
        outcome.order = first.order;
        outcome.duration_ns = first.duration_ns;
        outcome.assumption = first.assumption;
        // Rows of CPUs alone add up as CPUs do.
        if let Some(all) = run.cpus.remove(&None) {
            let row = all.first;
            outcome.states = in_order(all.states, all.row)?;
            let states = &outcome.states;
            (outcome.idles, outcome.misses, outcome.above, outcome.below) = match self.totals {
                Totals::Given => (row.idles, row.misses, row.all_above, row.all_below),
                Totals::SumOfStates => (
                    sum(states, |state| Some(state.usage)),
                    sum(states, StateOutcome::misses),
                    sum(states, |state| state.above),
                    sum(states, |state| state.below),
                ),
            };
            outcome.ticks = row.ticks;
            outcome.sleep_length_queries = row.sleep_length_queries;
            outcome.energy = Energy {
                measured_joules: row.measured_joules,
                modelled_joules: row.modelled_joules,
            };
            outcome.wakeup_latency = row.latency();
            outcome.regret = row.regret();
            outcome.off_by = row.off_by;
            outcome.figures = row.figures.unwrap_or_default();
        }
        self.outcomes.push(outcome);
        Ok(())
    }
}

/// What states add up to; null without states.
fn sum(states: &[StateOutcome], count: fn(&StateOutcome) -> Option<u64>) -> Option<u64> {
    if states.is_empty() {
        return None;
    }
    states.iter().map(count).try_fold(0u64, |sum, count| Some(sum.saturating_add(count?)))
}

/// States by their numbers, which have no gaps. `row` is the number of a row of theirs.
fn in_order(
    states: BTreeMap<u32, StateOutcome>,
    row: usize,
) -> Result<Vec<StateOutcome>, (usize, String)> {
    for (expected, found) in (0..).zip(states.keys()) {
        if expected != *found {
            return Err((row, format!("state {expected} is missing, state {found} is there")));
        }
    }
    Ok(states.into_values().collect())
}
