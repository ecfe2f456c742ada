// SPDX-License-Identifier: GPL-2.0-or-later
//! As mmtests compares kernels. Stars mark what is beyond the noise, brackets what is within, and
//! what nobody tested is between blanks. Rates have their harmonic mean. A change is positive where
//! it is an improvement; of what is neither better nor worse, where it is more.
//!
//! ```text
//!                               teo                   menu
//! Hmean     1-PING  32419.12 (   0.00%)    24696.23 * -23.82%*
//! Amean     joules    237.08 (   0.00%)      212.68 (  10.29%)
//! ```

use idlelab_outcome::{Better, Outcome};

use super::cut;
use super::metric::{Mark, Metric, by_workload, labels, mean, metrics};
use crate::layout::WIDTH;

/// The longest name of a metric.
const LONGEST: usize = 24;
/// The mean's columns, and those of the change behind it.
const VALUE: usize = 12;
const CHANGE: usize = 11;

pub(super) fn print(outcomes: &[Outcome], mark: &dyn Fn(&Metric, &str) -> Mark) -> String {
    let mut blocks = Vec::new();
    for (workload, runs) in by_workload(outcomes) {
        let metrics = metrics(&runs);
        let labels = labels(&runs);
        let Some((first, others)) = labels.split_first() else { continue };
        let names = metrics.iter().map(|metric| name(metric).chars().count());
        let names = names.max().unwrap_or(0);
        let at_once = ((WIDTH - 10 - names) / (VALUE + CHANGE)).saturating_sub(1).max(1);
        let chunks: Vec<&[String]> =
            if others.is_empty() { vec![&[]] } else { others.chunks(at_once).collect() };
        for chunk in chunks {
            let mut text = workload.map_or_else(String::new, |w| format!("{}\n", cut(w, WIDTH)));
            text.push_str(&" ".repeat(10 + names));
            for label in std::iter::once(first).chain(chunk) {
                text.push_str(&format!("{:>1$}", cut(label, VALUE + CHANGE - 2), VALUE + CHANGE));
            }
            text.push('\n');
            for metric in &metrics {
                text.push_str(&row(metric, names, first, chunk, mark));
            }
            blocks.push(text);
        }
    }
    blocks.join("\n")
}

fn name(metric: &Metric) -> String {
    let name = metric.name.replace(' ', "_");
    let name = if metric.unit == "%" { format!("{name}%") } else { name };
    cut(&name, LONGEST)
}

/// Whether a metric is a rate, which has its harmonic mean: all work over all time.
fn is_rate(metric: &Metric) -> bool {
    let positive = metric.values.iter().flat_map(|(_, values)| values).all(|value| *value > 0.0);
    metric.better == Some(Better::Higher) && positive
}

fn row(
    metric: &Metric,
    names: usize,
    first: &str,
    others: &[String],
    mark: &dyn Fn(&Metric, &str) -> Mark,
) -> String {
    let rate = is_rate(metric);
    let average = |values: &[f64]| {
        if rate {
            values.len() as f64 / values.iter().map(|value| 1.0 / value).sum::<f64>()
        } else {
            mean(values)
        }
    };
    let old = metric.of(first).map(average);
    let kind = if rate { "Hmean" } else { "Amean" };
    let mut line = format!("{kind:<10}{:<names$}", name(metric));
    line.push_str(&cell(old, old.map(|_| 0.0), Mark::WithinNoise));
    for label in others {
        let new = metric.of(label).map(average);
        let change = old.zip(new).map(|(old, new)| gain(metric, old, new));
        line.push_str(&cell(new, change, mark(metric, label)));
    }
    format!("{}\n", line.trim_end())
}

/// In per cent of the old.
fn gain(metric: &Metric, old: f64, new: f64) -> f64 {
    let relative = if new == old { 0.0 } else { 100.0 * (new - old) / old };
    match metric.better {
        Some(Better::Lower) if relative != 0.0 => -relative,
        _ => relative,
    }
}

fn cell(value: Option<f64>, change: Option<f64>, mark: Mark) -> String {
    let Some(value) = value else { return format!("{:>VALUE$}{:>CHANGE$}", "-", "") };
    let change = match change.filter(|change| change.is_finite()) {
        Some(change) => format!("{change:7.2}%"),
        None => format!("{:>8}", "-"),
    };
    let (open, close) = match mark {
        Mark::Untested => (' ', ' '),
        Mark::WithinNoise => ('(', ')'),
        Mark::Significant => ('*', '*'),
    };
    format!("{value:>VALUE$.2} {open}{change}{close}")
}
