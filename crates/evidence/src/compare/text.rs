// SPDX-License-Identifier: GPL-2.0-or-later
//! Comparisons as one reads them: verdicts in words, the numbers, then how they were found.

use super::estimate::Order;
use super::{ALPHA, Comparison, Metrics, POWER, ReplayedMetric, SampledMetric, Verdict, distinct};
use crate::layout::{lay_out, paragraph};
use crate::statistics::Resampling;
use crate::style::{Mark, Metric};

/// Where what a verdict is about begins.
const INDENT: usize = 26;
/// The longest name of a metric in a table.
const LONGEST_NAME: usize = 22;

/// Prints comparisons as plain text that pastes into a mail.
#[must_use]
pub fn comparisons_text(comparisons: &[Comparison], resampling: Resampling) -> String {
    let parts: Vec<String> = comparisons.iter().map(|it| comparison(it, resampling)).collect();
    parts.join("\n")
}

/// What styles that mark significance ask for: a metric and a governor, by their names. Not tested
/// is also what several workloads or platforms do not agree on.
pub fn mark(comparisons: &[Comparison]) -> impl Fn(&Metric, &str) -> Mark {
    move |metric, candidate| {
        let marks = comparisons
            .iter()
            .filter(|comparison| comparison.candidate == candidate)
            .filter_map(|comparison| match &comparison.metrics {
                Metrics::Sampling(rows) => rows.iter().find(|row| row.name == metric.name),
                Metrics::Recordings(_) => None,
            })
            .map(|row| match row.verdict {
                None | Some(Verdict::Undecided | Verdict::Mixed) => Mark::Untested,
                Some(Verdict::NoDetectableDifference | Verdict::Equal) => Mark::WithinNoise,
                Some(Verdict::Better | Verdict::Worse | Verdict::Higher | Verdict::Lower) => {
                    Mark::Significant
                }
            });
        match distinct(marks)[..] {
            [mark] => mark,
            _ => Mark::Untested,
        }
    }
}

fn comparison(comparison: &Comparison, resampling: Resampling) -> String {
    let mut title = format!("{} against {} (baseline)", comparison.candidate, comparison.baseline);
    let place = [&comparison.workload, &comparison.platform];
    let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
    if !place.is_empty() {
        title.push_str(&format!(": {}", place.join(", ")));
    }
    let title = paragraph("", 0, &title);
    let body = match &comparison.metrics {
        Metrics::Sampling(rows) => sampled(comparison, rows, resampling),
        Metrics::Recordings(rows) => replayed(rows),
    };
    format!("{title}\n{body}")
}

fn sampled(comparison: &Comparison, rows: &[SampledMetric], resampling: Resampling) -> String {
    let mut text = verdict_lines(sampled_verdicts(rows));
    text.push('\n');
    let columns =
        ["metric", "baseline", "candidate", "change%", "95% interval", "HL%", "p", "p Holm"];
    text.push_str(&lay_out(
        &columns,
        rows.iter().map(|row| {
            vec![
                cut(&full_name(&row.name, &row.unit)),
                number(row.baseline_mean),
                number(row.candidate_mean),
                or_dash(row.difference_percent.map(signed)),
                interval(row.low_percent, row.high_percent),
                or_dash(row.hodges_lehmann_percent.map(signed)),
                or_dash(row.p.filter(|_| row.verdict.is_some()).map(p_value)),
                or_dash(row.p_holm.map(p_value)),
            ]
        }),
    ));
    text.push('\n');
    for row in rows {
        for note in &row.notes {
            let body = format!("{}: {note}", full_name(&row.name, &row.unit));
            text.push_str(&paragraph("note", 12, &body));
        }
    }
    text.push_str(&conditions(comparison, rows, resampling));
    text
}

/// The verdicts, each with its numbers in words; what they have in common said once.
pub(crate) fn verdicts(comparison: &Comparison) -> Vec<(Verdict, String)> {
    match &comparison.metrics {
        Metrics::Sampling(rows) => sampled_verdicts(rows),
        Metrics::Recordings(rows) => replayed_verdicts(rows),
    }
}

fn verdict_lines(verdicts: Vec<(Verdict, String)>) -> String {
    verdicts.into_iter().map(|(verdict, body)| paragraph(words(verdict), INDENT, &body)).collect()
}

fn sampled_verdicts(rows: &[SampledMetric]) -> Vec<(Verdict, String)> {
    let decided = rows.iter().filter(|row| row.reason.is_none());
    let decided = decided.filter_map(|row| Some((row.verdict?, sentence(row, row.verdict?))));
    let undecided =
        distinct(rows.iter().filter_map(|row| row.reason.as_ref())).into_iter().map(|reason| {
            let of = rows.iter().filter(|row| row.reason.as_ref() == Some(reason));
            let names: Vec<String> = of.map(|row| full_name(&row.name, &row.unit)).collect();
            (Verdict::Undecided, format!("{}: {reason}", names.join(", ")))
        });
    decided.chain(undecided).collect()
}

/// The verdict's numbers, in per cent of the baseline where that is not 0.
fn sentence(row: &SampledMetric, verdict: Verdict) -> String {
    let name = full_name(&row.name, &row.unit);
    if verdict == Verdict::Equal {
        return format!("{name}: {} in every run", number(row.baseline_mean));
    }
    let (difference, range, least) = match row.difference_percent {
        Some(percent) => (
            format!("{} %", signed(percent)),
            format!("{} %", interval(row.low_percent, row.high_percent)),
            row.detectable_percent.map(|least| format!("{} %", magnitude(least))),
        ),
        None => (
            or_dash(row.difference.map(signed)),
            interval(row.low, row.high),
            row.detectable.map(number),
        ),
    };
    let p_values =
        format!("p {}, {} by Holm", or_dash(row.p.map(p_value)), or_dash(row.p_holm.map(p_value)));
    let mut sentence = format!("{name} {difference} (95 % interval {range}; {p_values})");
    if let (Verdict::NoDetectableDifference, Some(least)) = (verdict, least) {
        sentence.push_str(&format!("; from {least} on it would probably have been seen"));
    }
    sentence
}

fn conditions(comparison: &Comparison, rows: &[SampledMetric], resampling: Resampling) -> String {
    let most = |count: fn(&SampledMetric) -> usize| rows.iter().map(count).max().unwrap_or(0);
    let tested = rows.iter().filter(|row| row.p_holm.is_some()).count();
    let mut text = paragraph(
        "runs",
        12,
        &format!(
            "{} of {}, {} of {}",
            most(|row| row.baseline_runs),
            comparison.baseline,
            most(|row| row.candidate_runs),
            comparison.candidate
        ),
    );
    for order in distinct(rows.iter().filter_map(|row| row.order)) {
        text.push_str(&paragraph("order", 12, order_words(order)));
    }
    if tested == 0 {
        return text;
    }
    let all = rows.iter().all(|row| row.exact != Some(false));
    let arrangements = if all {
        "all arrangements".to_owned()
    } else {
        format!("up to {} random arrangements, seed {}", resampling.draws, resampling.seed)
    };
    let pairs = rows.iter().any(|row| row.order == Some(Order::Pairs));
    let test = if pairs { "signs of the pairs' differences" } else { "Welch's statistic" };
    text.push_str(&paragraph(
        "method",
        12,
        &format!(
            "differences of means, in per cent of the baseline's; two-sided permutation test of \
             {test} ({arrangements}), inverted for the interval; HL is the Hodges-Lehmann \
             estimate; verdicts at {:.0} % by Holm's correction over {tested} metric{}; what would \
             have been seen is at {:.0} % power",
            100.0 * ALPHA,
            if tested == 1 { "" } else { "s" },
            100.0 * POWER
        ),
    ));
    if rows.iter().any(|row| row.verdict.is_none()) {
        text.push_str(&paragraph("", 12, "shares of states are described, not tested"));
    }
    text
}

fn order_words(order: Order) -> &'static str {
    match order {
        Order::Pairs => "in turn: each run is compared with its neighbour",
        Order::Mixed => "mixed: the runs are compared as two samples",
        Order::Blocks => "one governor before the other",
        Order::Unknown => {
            "not told: the runs are taken to be exchangeable, and a drift would not be seen"
        }
    }
}

fn replayed_verdicts(rows: &[ReplayedMetric]) -> Vec<(Verdict, String)> {
    let sentence = |row: &ReplayedMetric| {
        let name = full_name(&row.name, &row.unit);
        let difference = match row.difference_percent {
            Some(percent) => format!("{} %", signed(percent)),
            None => signed(row.difference),
        };
        let mut body = match row.verdict {
            Verdict::Equal => format!("{name}: {}", number(row.baseline_mean)),
            _ => format!("{name} {difference}"),
        };
        let agreeing = match row.verdict {
            Verdict::Mixed | Verdict::Equal => None,
            _ if row.difference < 0.0 => Some(row.cpus_lower),
            _ => Some(row.cpus_higher),
        };
        let cpus = row.cpus_lower + row.cpus_equal + row.cpus_higher;
        if let Some(agreeing) = agreeing.filter(|_| cpus > 0) {
            body.push_str(&format!(", the same way on {agreeing} of {cpus} CPUs"));
        }
        (row.verdict, body)
    };
    rows.iter().map(sentence).collect()
}

fn replayed(rows: &[ReplayedMetric]) -> String {
    let mut text = verdict_lines(replayed_verdicts(rows));
    text.push('\n');
    let columns = ["metric", "baseline", "candidate", "change%", "replays%", "CPUs -/=/+"];
    text.push_str(&lay_out(
        &columns,
        rows.iter().map(|row| {
            vec![
                cut(&full_name(&row.name, &row.unit)),
                number(row.baseline_mean),
                number(row.candidate_mean),
                or_dash(row.difference_percent.map(signed)),
                interval(row.lowest_percent, row.highest_percent),
                format!("{}/{}/{}", row.cpus_lower, row.cpus_equal, row.cpus_higher),
            ]
        }),
    ));
    text.push('\n');
    let replays = rows.iter().map(|row| row.replays).max().unwrap_or(0);
    text.push_str(&paragraph(
        "replays",
        12,
        &format!(
            "{replays}, each bound of a recording counted; the same replay again gives the same, so \
             there is no sampling error and no p-value: what is uncertain is whether other \
             recordings, CPUs and bounds agree"
        ),
    ));
    text
}

pub(crate) fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NoDetectableDifference => "no detectable difference",
        Verdict::Equal => "equal",
        Verdict::Mixed => "mixed",
        Verdict::Undecided => "undecided",
    }
}

pub(crate) fn full_name(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} {unit}") }
}

pub(crate) fn cut(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    let kept: String = name.chars().take(LONGEST_NAME - 3).collect();
    format!("{kept}...")
}

pub(crate) fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// Five digits that count, or all before the point.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e9).contains(&size) {
        return format!("{value:.3e}");
    }
    let before = if size < 1.0 { 0 } else { size.log10() as usize + 1 };
    format!("{value:.*}", 5_usize.saturating_sub(before.max(1)).min(4))
}

/// A magnitude of per cents, as many decimals as say something.
pub(crate) fn magnitude(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.1e}"),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 0.95 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub(crate) fn signed(value: f64) -> String {
    let text = magnitude(value);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

pub(crate) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (None, None) => "-".to_owned(),
        (low, high) => {
            let end = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), signed);
            format!("{} to {}", end(low), end(high))
        }
    }
}

pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}
