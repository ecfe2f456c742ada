// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_outcome::{Better, Figure, Outcome, Regret};

/// Durations that differ by no more than this share are taken to be equal.
const SAME_DURATION: f64 = 0.01;

/// What of runs is compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    pub(crate) name: String,
    /// Empty for counts and joules.
    pub(crate) unit: String,
    /// Which direction is an improvement.
    pub(crate) better: Option<Better>,
    pub(crate) role: Role,
}

/// Whether a metric gets a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It does, and so it counts when p-values are corrected for how many there are.
    Tested,
    /// It is what the governor does, not what comes of it: shares of time in states add up to one,
    /// and a test of each would cost the others their significance.
    Described,
}

/// The metrics that any of the outcomes has, and each one's values by the outcomes' order.
pub(crate) fn metrics(outcomes: &[&Outcome]) -> Vec<(Metric, Vec<Option<f64>>)> {
    let mut found: Vec<(Metric, Vec<Option<f64>>)> = Vec::new();
    let lasted_differently = durations_differ(outcomes);
    for (at, outcome) in outcomes.iter().enumerate() {
        for (metric, value) in of_outcome(outcome, lasted_differently) {
            // A sum or quotient may be beyond all numbers, and a file may say anything.
            if !value.is_finite() {
                continue;
            }
            let known = found.iter_mut().find(|(other, _)| *other == metric);
            if let Some((_, values)) = known {
                if let Some(slot) = values.get_mut(at) {
                    *slot = Some(value);
                }
            } else {
                let mut values = vec![None; outcomes.len()];
                if let Some(slot) = values.get_mut(at) {
                    *slot = Some(value);
                }
                found.push((metric, values));
            }
        }
    }
    // Tested ones first; the rest stays in the order of the table that developers post.
    found.sort_by_key(|(metric, _)| metric.role == Role::Described);
    found
}

fn of_outcome(outcome: &Outcome, lasted_differently: bool) -> Vec<(Metric, f64)> {
    let mut found = Vec::new();
    let mut add = |name: &str, unit: &str, better: Option<Better>, value: Option<f64>| {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        let metric = Metric { name, unit, better, role: Role::Tested };
        found.extend(value.map(|value| (metric, value)));
    };
    let lower = Some(Better::Lower);
    let joules = outcome.energy.measured_joules;
    let seconds = outcome.duration_ns.filter(|&ns| ns > 0).map(|ns| ns as f64 * 1e-9);
    let watts = joules.zip(seconds).map(|(joules, seconds)| joules / seconds);
    let of_idles = |count: Option<u64>| {
        let idles = outcome.idles.filter(|&idles| idles > 0)?;
        Some(100.0 * count? as f64 / idles as f64)
    };
    add("joules", "", lower, joules);
    // Of equally long runs, it says the same as their joules.
    add("average power", "W", lower, watts.filter(|_| lasted_differently));
    add("modelled joules", "", lower, outcome.energy.modelled_joules);
    for figure in &outcome.figures {
        add(&figure.name, &figure.unit, figure.better, Some(figure.value));
        if let Some((work, unit)) = work_per_joule(figure, joules, watts) {
            add(&figure.name, &unit, Some(Better::Higher), Some(work));
        }
    }
    add("idles", "", None, outcome.idles.map(|idles| idles as f64));
    add("misses", "%", lower, of_idles(outcome.misses));
    add("above", "%", lower, of_idles(outcome.above));
    add("below", "%", lower, of_idles(outcome.below));
    if let Some(latency) = outcome.wakeup_latency.as_ref().filter(|latency| latency.max_ns > 0) {
        add("wakeup latency p50", "us", lower, Some(latency.p50_ns as f64 * 1e-3));
        add("wakeup latency p99", "us", lower, Some(latency.p99_ns as f64 * 1e-3));
    }
    add("ticks in idle", "", None, outcome.ticks.map(|ticks| ticks as f64));
    add("sleep length asked", "", lower, outcome.sleep_length_queries.map(|count| count as f64));
    let idle = Some(outcome.idle_ns()).filter(|&idle| idle > 0);
    let share = |part: Option<u64>| Some(100.0 * part? as f64 / idle? as f64);
    let off = |time: fn(&Regret) -> u64| share(outcome.regret.as_ref().map(time));
    add("too shallow", "%", lower, off(|regret| regret.too_shallow_ns));
    add("too deep", "%", lower, off(|regret| regret.too_deep_ns));
    for state in &outcome.states {
        let (name, unit) = (state.name.clone(), "% of idle time".to_owned());
        let metric = Metric { name, unit, better: None, role: Role::Described };
        found.extend(share(Some(state.time_ns)).map(|share| (metric, share)));
    }
    found
}

/// Work for each joule: a rate over the average power, or an amount of work over the energy.
fn work_per_joule(
    figure: &Figure,
    joules: Option<f64>,
    watts: Option<f64>,
) -> Option<(f64, String)> {
    if figure.better != Some(Better::Higher) {
        return None;
    }
    let unit = &figure.unit;
    let (cost, unit) = match (unit.strip_suffix("/s"), unit.ends_with("Hz")) {
        (Some(work), _) => (watts?, format!("{work}/J")),
        (None, true) => (watts?, format!("{unit}/W")),
        (None, false) => (joules?, format!("{unit}/J")),
    };
    (cost > 0.0).then(|| (figure.value / cost, unit))
}

fn durations_differ(outcomes: &[&Outcome]) -> bool {
    let durations = || outcomes.iter().filter_map(|outcome| outcome.duration_ns);
    let (Some(shortest), Some(longest)) = (durations().min(), durations().max()) else {
        return false;
    };
    longest as f64 > shortest as f64 * (1.0 + SAME_DURATION)
}
