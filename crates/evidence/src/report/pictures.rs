// SPDX-License-Identifier: GPL-2.0-or-later
//! The pictures of a report, each with the table that it shows.

use std::fmt::Write;

use idlelab_outcome::{Assumption, Outcome};

use super::histogram::{Histogram, reach};
use super::html::{behind, escape, table};
use super::plot::{Axis, Plot, count, per_cent, time, trimmed};
use super::{Replayed, heading};
use crate::compare::{Comparison, Metrics, Verdict, full_name, interval, signed};

/// The width of a picture, in pixels before it is scaled.
const WIDTH: f64 = 760.0;
/// Room for the names of metrics.
const NAMES: f64 = 210.0;
/// The height of each row of a picture that has rows.
const ROW: f64 = 22.0;
/// Colours that a style sheet has for states.
const SHADES: usize = 10;
/// Lines and points that can be told apart.
const KINDS: usize = 8;

/// A metric as a row of a forest plot: per cent of the baseline.
struct Effect {
    name: String,
    change: f64,
    ends: (Option<f64>, Option<f64>),
    class: &'static str,
}

/// How far each metric changed, with its interval.
pub(super) fn forest(comparisons: &[Comparison]) -> String {
    comparisons.iter().map(forest_of).collect()
}

fn forest_of(comparison: &Comparison) -> String {
    let (effects, what) = match &comparison.metrics {
        Metrics::Sampling(rows) => {
            let effect = |row: &crate::SampledMetric| {
                Some(Effect {
                    name: full_name(&row.name, &row.unit),
                    change: row.difference_percent?,
                    ends: (row.low_percent, row.high_percent),
                    class: class(row.verdict),
                })
            };
            (rows.iter().filter_map(effect).collect::<Vec<_>>(), "95 % interval")
        }
        Metrics::Recordings(rows) => {
            let effect = |row: &crate::ReplayedMetric| {
                Some(Effect {
                    name: full_name(&row.name, &row.unit),
                    change: row.difference_percent?,
                    ends: (row.lowest_percent, row.highest_percent),
                    class: class(Some(row.verdict)),
                })
            };
            (rows.iter().filter_map(effect).collect(), "range of all replays, no interval")
        }
    };
    if effects.is_empty() {
        return String::new();
    }
    // One wild metric must not flatten the others: what is beyond is drawn at the edge.
    let mut sizes: Vec<f64> = effects
        .iter()
        .flat_map(|effect| [Some(effect.change), effect.ends.0, effect.ends.1])
        .flatten()
        .map(f64::abs)
        .collect();
    sizes.sort_by(f64::total_cmp);
    let typical = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
    let farthest = sizes.last().copied().unwrap_or(1.0).max(1.0);
    let far = (6.0 * typical).clamp(1.0, 1_000.0).min(farthest);
    let rows = effects.len() as f64;
    let x = Axis::linear(-far, far, "change against the baseline, per cent", trimmed);
    let y = Axis::rows(effects.len());
    let size = (WIDTH, rows * ROW + 56.0);
    let title = format!("Change of each metric: {}", heading(comparison));
    let mut plot = Plot::new(size, x, y, &title, what).with_room(NAMES);
    plot.rule(0.0, "zero", "no change");
    for (number, effect) in effects.iter().enumerate() {
        let at = rows - number as f64 - 0.5;
        let label = format!(
            "{}: {} % ({what}: {})",
            effect.name,
            signed(effect.change),
            interval(effect.ends.0, effect.ends.1)
        );
        if let (Some(low), Some(high)) = effect.ends {
            plot.line(&[(low, at), (high, at)], effect.class, &label);
        }
        plot.point((effect.change, at), 1, effect.class, &label);
        plot.row(at, &effect.name);
    }
    let rows: Vec<Vec<String>> = effects
        .iter()
        .map(|effect| {
            vec![effect.name.clone(), signed(effect.change), interval(effect.ends.0, effect.ends.1)]
        })
        .collect();
    let table = table(&title, &["metric", "change %", what], &rows);
    format!(
        "<figure>{}<figcaption>{}. Bars: {what}. What lies beyond is drawn at the \
         edge.</figcaption>{}</figure>",
        plot.svg(),
        escape(&heading(comparison)),
        behind("The numbers", &table)
    )
}

const fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Better) => "better",
        Some(Verdict::Worse) => "worse",
        Some(Verdict::Higher | Verdict::Lower) => "changed",
        _ => "open",
    }
}

/// What an outcome is called in a picture.
fn name(outcome: &Outcome) -> String {
    let governor = outcome.governor.as_deref().unwrap_or("unknown");
    let bound = match outcome.assumption {
        None => "",
        Some(Assumption::AllTimers) => ", all timers",
        Some(Assumption::AllInterrupts) => ", all interrupts",
    };
    if outcome.iteration > 0 {
        format!("{governor}{bound} #{}", outcome.iteration)
    } else {
        format!("{governor}{bound}")
    }
}

/// The class of a state's colour: spread over all shades, so that neighbours differ.
fn shade(state: usize, states: usize) -> String {
    format!("state{}", shade_number(state, states))
}

fn shade_number(state: usize, states: usize) -> usize {
    (state * (SHADES - 1) / states.saturating_sub(1).max(1)).min(SHADES - 1)
}

fn legend(names: &[String]) -> String {
    let one = |(number, name): (usize, &String)| {
        let shade = shade(number, names.len());
        format!(
            "<li><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"{shade}\" width=\"12\" height=\"12\"/></svg>{}</li>",
            escape(name)
        )
    };
    format!("<ul class=\"legend\">{}</ul>", names.iter().enumerate().map(one).collect::<String>())
}

/// How idle time was shared among states.
pub(super) fn shares(outcomes: &[Outcome]) -> String {
    let shown: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.idle_ns() > 0).collect();
    let Some(states) = shown.iter().map(|outcome| outcome.states.len()).max() else {
        return String::new();
    };
    let named = shown.iter().find(|outcome| outcome.states.len() == states);
    let names: Vec<String> = named
        .map(|outcome| outcome.states.iter().map(|state| state.name.clone()).collect())
        .unwrap_or_default();
    let mut head = vec!["run"];
    head.extend(names.iter().map(String::as_str));
    let mut bars = String::new();
    let mut rows = Vec::new();
    for outcome in &shown {
        let idle = outcome.idle_ns() as f64;
        let mut row = vec![name(outcome)];
        let mut parts = String::new();
        let mut left = 0.0;
        for (number, state) in outcome.states.iter().enumerate() {
            let share = state.time_ns as f64 / idle;
            let (at, width) = (1_000.0 * left, 1_000.0 * share);
            let _ = write!(
                parts,
                "<rect class=\"{}\" x=\"{at:.1}\" width=\"{width:.1}\" height=\"20\"><title>{}: \
                 {}</title></rect>",
                shade(number, states),
                escape(&state.name),
                per_cent(share)
            );
            left += share;
            row.push(format!("{:.2}", 100.0 * share));
        }
        let _ = write!(
            bars,
            "<div class=\"bar\"><span>{}</span><svg viewBox=\"0 0 1000 20\" \
             preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{parts}</svg></div>",
            escape(&name(outcome)),
            escape(&format!("shares of idle time of {}", name(outcome)))
        );
        rows.push(row);
    }
    let table = table("Share of idle time, per cent", &head, &rows);
    format!(
        "<figure>{}{bars}<figcaption>From the shallowest state to the deepest.</figcaption>{}\
         </figure>",
        legend(&names),
        behind("The numbers", &table)
    )
}

/// How often which wakeup latency was added: the share of wakeups up to it.
pub(super) fn latency(outcomes: &[Outcome]) -> String {
    let shown: Vec<(&Outcome, &[(u64, u64)])> = outcomes
        .iter()
        .filter_map(|outcome| Some((outcome, &outcome.wakeup_latency.as_ref()?.counts[..])))
        .filter(|(_, counts)| !counts.is_empty())
        .take(KINDS)
        .collect();
    let longest = shown.iter().filter_map(|(_, counts)| counts.last()).map(|&(ns, _)| ns).max();
    let Some(longest) = longest.filter(|&longest| longest > 0) else { return String::new() };
    let counted = shown.iter().flat_map(|(_, counts)| counts.iter().map(|&(ns, _)| ns));
    let shortest = counted.filter(|&ns| ns > 0).min().unwrap_or(longest);
    // Nothing added is drawn where the axis begins.
    let x = Axis::logarithmic(
        shortest as f64 / 2.0,
        longest as f64 * 1.5,
        "wakeup latency added",
        time,
    );
    let y = Axis::linear(0.0, 1.0, "share of wakeups up to it", per_cent);
    let mut plot = Plot::new(
        (WIDTH, 300.0),
        x,
        y,
        "Wakeup latency, cumulative",
        "For each governor, the share of wakeups whose added latency is at most so long",
    );
    let mut rows = Vec::new();
    for (number, (outcome, counts)) in shown.iter().enumerate() {
        let total: f64 = counts.iter().map(|&(_, count)| count as f64).sum();
        let (mut seen, mut points) = (0.0, vec![(0.0, 0.0)]);
        for &(latency, count) in *counts {
            points.push((latency as f64, seen / total));
            seen += count as f64;
            points.push((latency as f64, seen / total));
        }
        points.push((f64::MAX, 1.0));
        plot.line(&points, &format!("kind{number}"), &name(outcome));
        if let Some(latency) = &outcome.wakeup_latency {
            let times = [latency.p50_ns, latency.p99_ns, latency.max_ns];
            let mut row = vec![name(outcome)];
            row.extend(times.map(|ns| time(ns as f64)));
            rows.push(row);
        }
    }
    let names: Vec<String> = shown.iter().map(|(outcome, _)| name(outcome)).collect();
    let table = table("Wakeup latency added", &["run", "p50", "p99", "max"], &rows);
    format!(
        "<figure>{}{}<figcaption>Latency by the exit latencies that were used; not what else makes \
         a wakeup slow.</figcaption>{}</figure>",
        plot.svg(),
        kinds(&names),
        behind("The numbers", &table)
    )
}

/// A legend of lines and points.
fn kinds(names: &[String]) -> String {
    let one = |(number, name): (usize, &String)| {
        format!(
            "<li><svg class=\"key\" viewBox=\"0 0 24 12\" aria-hidden=\"true\"><path class=\"line \
             kind{number}\" d=\"M0 6H24\"/></svg>{}</li>",
            escape(name)
        )
    };
    format!("<ul class=\"legend\">{}</ul>", names.iter().enumerate().map(one).collect::<String>())
}

/// Energy against latency: towards the lower left is better.
pub(super) fn energy(outcomes: &[Outcome]) -> String {
    let point = |outcome: &Outcome| {
        let joules = outcome.energy.measured_joules.or(outcome.energy.modelled_joules)?;
        let counts = &outcome.wakeup_latency.as_ref()?.counts;
        let wakeups: f64 = counts.iter().map(|&(_, count)| count as f64).sum();
        let sum: f64 = counts.iter().map(|&(ns, count)| ns as f64 * count as f64).sum();
        (wakeups > 0.0).then(|| (name(outcome), sum / wakeups, joules))
    };
    let points: Vec<(String, f64, f64)> = outcomes.iter().filter_map(point).take(KINDS).collect();
    if points.len() < 2 {
        return String::new();
    }
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        values.for_each(|value| (low, high) = (low.min(value), high.max(value)));
        let room = ((high - low) * 0.1).max(high.abs() * 0.01);
        ((low - room).max(0.0), high + room)
    };
    let (left, right) = ends(&mut points.iter().map(|point| point.1));
    let (low, high) = ends(&mut points.iter().map(|point| point.2));
    let is_measured = outcomes.iter().any(|outcome| outcome.energy.measured_joules.is_some());
    let label = if is_measured { "measured energy, joules" } else { "modelled energy, joules" };
    let x = Axis::linear(left, right, "mean wakeup latency added", time);
    let y = Axis::linear(low, high, label, trimmed);
    let mut plot = Plot::new(
        (WIDTH, 300.0),
        x,
        y,
        "Energy against wakeup latency",
        "One point for each governor; lower left is better",
    );
    for (number, (name, latency, joules)) in points.iter().enumerate() {
        let text = format!("{name}: {}, {} J", time(*latency), trimmed(*joules));
        plot.point((*latency, *joules), number, &format!("kind{number}"), &text);
        plot.word((*latency, *joules), *latency < (left + right) / 2.0, name);
    }
    let rows: Vec<Vec<String>> = points
        .iter()
        .map(|(name, latency, joules)| vec![name.clone(), time(*latency), trimmed(*joules)])
        .collect();
    let table = table("Energy and latency", &["run", "mean latency added", label], &rows);
    format!(
        "<figure>{}<figcaption>Lower left is better. <i>clairvoyant</i> knows each wakeup \
         beforehand and chooses the least energy of each CPU by itself: a bound, not a governor. \
         Power that CPUs share is outside it, so that a governor under which they sleep deeply \
         together may come out below.</figcaption>{}</figure>",
        plot.svg(),
        behind("The numbers", &table)
    )
}

/// How long stays in each state were, with the target residencies drawn in.
pub(super) fn durations(replayed: &Replayed) -> String {
    let states = replayed.states.len();
    let all = replayed.governors.iter().flat_map(|governor| &governor.durations);
    let (from, to) = reach(all);
    let names: Vec<String> = replayed.states.iter().map(|state| state.name.clone()).collect();
    let mut html = legend(&names);
    for governor in &replayed.governors {
        let bins = governor.durations.iter().flat_map(Histogram::bins);
        let most = bins.map(|(_, _, count)| count).max().unwrap_or(1);
        let x = Axis::logarithmic(from, to, "length of a stay", time);
        let y = Axis::linear(0.0, most as f64, "stays", count);
        let title = format!("Lengths of stays under {}", governor.name);
        let about = "One outline for each idle state; vertical lines are target residencies";
        let mut plot = Plot::new((WIDTH, 240.0), x, y, &title, about);
        for (number, state) in replayed.states.iter().enumerate() {
            for &residency in state.residencies_ns.iter().filter(|&&ns| ns > 0) {
                let label =
                    format!("target residency of {}: {}", state.name, time(residency as f64));
                let class = format!("edge {}", shade(number, states));
                plot.rule(residency as f64, &class, &label);
            }
        }
        let mut rows = Vec::new();
        for (number, (histogram, state)) in
            governor.durations.iter().zip(&replayed.states).enumerate()
        {
            for (start, end, stays) in histogram.bins() {
                let label =
                    format!("{}: {stays} from {} to {}", state.name, time(start), time(end));
                let class = format!("stays {}", shade(number, states));
                plot.bar((start, 0.0), (end, stays as f64), &class, &label);
            }
            rows.push(vec![state.name.clone(), histogram.total().to_string()]);
        }
        let table = table(&title, &["state", "stays"], &rows);
        let _ = write!(
            html,
            "<figure><figcaption>{}</figcaption>{}{}</figure>",
            escape(&title),
            plot.svg(),
            behind("The numbers", &table)
        );
    }
    html
}

/// Which stays were in a state too deep, drawn upwards, or too shallow, drawn downwards.
pub(super) fn misses(replayed: &Replayed) -> String {
    let all = replayed.governors.iter().flat_map(|governor| [&governor.above, &governor.below]);
    let (from, to) = reach(all.clone());
    let most = all.flat_map(Histogram::bins).map(|bin| bin.2).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let mut html = String::new();
    for governor in &replayed.governors {
        let x = Axis::logarithmic(from, to, "length of a stay", time);
        let most = most as f64;
        let y = Axis::linear(-most, most, "below | above", |value| count(value.abs()));
        let title = format!("Wrong states under {}", governor.name);
        let about = "Upwards: stays in a state that was too deep. Downwards: too shallow";
        let mut plot = Plot::new((WIDTH, 240.0), x, y, &title, about);
        for (start, end, stays) in governor.above.bins() {
            let label = format!("{stays} above, {} to {}", time(start), time(end));
            plot.bar((start, 0.0), (end, stays as f64), "above", &label);
        }
        for (start, end, stays) in governor.below.bins() {
            let label = format!("{stays} below, {} to {}", time(start), time(end));
            plot.bar((start, 0.0), (end, -(stays as f64)), "below", &label);
        }
        let rows = [
            vec!["above".to_owned(), governor.above.total().to_string()],
            vec!["below".to_owned(), governor.below.total().to_string()],
        ];
        let _ = write!(
            html,
            "<figure><figcaption>{}. Above, drawn upwards: the state was too deep. Below, drawn \
             downwards: too shallow.</figcaption>{}{}</figure>",
            escape(&title),
            plot.svg(),
            behind("The numbers", &table(&title, &["kind", "stays"], &rows))
        );
    }
    html
}

/// The names of a timeline's states, for its legend.
pub(super) fn states_legend(replayed: &Replayed) -> String {
    let names: Vec<String> = replayed.states.iter().map(|state| state.name.clone()).collect();
    legend(&names)
}

/// The number of the colour of each state, for a script.
pub(super) fn shades(states: usize) -> Vec<usize> {
    (0..states).map(|state| shade_number(state, states)).collect()
}
