// SPDX-License-Identifier: GPL-2.0-or-later
//! As the Linux Kernel Performance project reports, with governors in the place of commits.
//!
//! ```text
//! =========================================================================================
//! bench/platform/workload:
//!   published/-/video
//!
//! governor:
//!   teo
//!   menu
//!
//!              teo                        menu
//! ---------------- ---------------------------
//!          %stddev     %change         %stddev
//!              \          |                \
//!     237.08 ± 12%     -10.3%     212.68 ±  4%  joules
//! ```
//!
//! Of what is in per cent, the change is in points and has no sign for per cent. A deviation below
//! 2 % is not shown.

use idlelab_outcome::{Bench, Outcome};

use super::cut;
use super::metric::{Metric, by_workload, labels, mean, metrics, standard_deviation};
use crate::layout::WIDTH;

/// Columns of the first governor, and of each other.
const FIRST: usize = 16;
const OTHER: usize = 27;
/// What is left for a metric's name beside two others.
const OTHERS_AT_ONCE: usize = 2;

pub(super) fn print(outcomes: &[Outcome]) -> String {
    let mut blocks = Vec::new();
    for (workload, runs) in by_workload(outcomes) {
        let labels = labels(&runs);
        let Some((first, others)) = labels.split_first() else { continue };
        let metrics = metrics(&runs);
        let chunks: Vec<&[String]> =
            if others.is_empty() { vec![&[]] } else { others.chunks(OTHERS_AT_ONCE).collect() };
        for chunk in chunks {
            blocks.push(block(workload, &runs, first, chunk, &metrics));
        }
    }
    blocks.join("\n")
}

fn block(
    workload: Option<&str>,
    runs: &[&Outcome],
    first: &str,
    others: &[String],
    metrics: &[Metric],
) -> String {
    let bench = match runs.first().map(|run| run.bench) {
        Some(Bench::Replay) => "replay",
        Some(Bench::Simulate) => "simulate",
        Some(Bench::Count) => "count",
        Some(Bench::Published) | None => "published",
    };
    let platform = runs.first().and_then(|run| run.platform.as_deref()).unwrap_or("-");
    let values = cut(&format!("  {bench}/{platform}/{}", workload.unwrap_or("-")), WIDTH);
    let mut text = format!("{}\nbench/platform/workload:\n{values}\n\ngovernor:\n", "=".repeat(89));
    for label in std::iter::once(first).chain(others.iter().map(String::as_str)) {
        text.push_str(&format!("  {}\n", cut(label, WIDTH - 2)));
    }
    let mut lines = [
        format!("{:>FIRST$}", cut(first, FIRST)),
        "-".repeat(FIRST),
        format!("{:>FIRST$}", "%stddev"),
        format!("{:>FIRST$}", "\\  "),
    ];
    for label in others {
        lines[0].push_str(&format!(" {:>OTHER$}", cut(label, OTHER)));
        lines[1].push_str(&format!(" {}", "-".repeat(OTHER)));
        lines[2].push_str("     %change         %stddev");
        lines[3].push_str("        |                \\  ");
    }
    text.push('\n');
    for line in lines {
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    for metric in metrics {
        text.push_str(&row(metric, first, others));
    }
    text
}

fn row(metric: &Metric, first: &str, others: &[String]) -> String {
    let of_first = metric.of(first);
    let mut line = of_first.map_or_else(
        || format!("{:>10}      ", "-"),
        |values| format!("{:>10}{}", number(mean(values)), deviation(values)),
    );
    for label in others {
        let values = metric.of(label);
        let change = of_first.zip(values).map(|(old, new)| change(metric, mean(old), mean(new)));
        line.push_str(&format!("{:>11}", change.unwrap_or_else(|| "- ".to_owned())));
        line.push_str(&values.map_or_else(
            || format!("{:>11}      ", "-"),
            |values| format!("{:>11}{}", number(mean(values)), deviation(values)),
        ));
    }
    let room = WIDTH.saturating_sub(line.chars().count() + 2);
    let unit = match metric.unit.as_str() {
        "" => String::new(),
        "%" => "%".to_owned(),
        unit => format!("({unit})"),
    };
    let name = format!("{}{unit}", metric.name.replace(' ', "_"));
    format!("{line}  {}\n", cut(&name, room))
}

/// Two decimals, none from a thousand on, and an exponent from a hundred million on.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1e8 => exponent(value),
        size if size >= 1e3 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// As C prints it, with a sign and two digits.
fn exponent(value: f64) -> String {
    let text = format!("{value:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}e+{exponent:0>2}")
}

/// Six columns.
fn deviation(values: &[f64]) -> String {
    let relative = standard_deviation(values)
        .map(|deviation| (100.0 * deviation / mean(values).abs()).round())
        .filter(|relative| *relative >= 2.0);
    match relative {
        Some(relative) if relative.is_finite() => format!(" ±{:>3}%", relative.min(999.0)),
        _ => " ".repeat(6),
    }
}

fn change(metric: &Metric, old: f64, new: f64) -> String {
    if metric.unit == "%" {
        return format!("{:+.1} ", new - old);
    }
    let relative = 100.0 * (new - old) / old;
    if !relative.is_finite() {
        return "- ".to_owned();
    }
    format!("{relative:+.1}%")
}
