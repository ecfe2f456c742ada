// SPDX-License-Identifier: GPL-2.0-or-later
//! One file of HTML that says who is better, how sure that is, and what it looks like.
//!
//! ```text
//!  verdict ─▶ tables ─▶ pictures ─▶ timeline ─▶ conditions, limits, commands
//! ```
//!
//! The page needs nothing but itself: pictures are SVG, colours follow the reader's, and only the
//! timeline has a script. The same input gives the same bytes.

mod histogram;
mod html;
mod pictures;
mod plot;
mod timeline;

use std::fmt::Write;

use idlelab_outcome::Outcome;

pub use histogram::Histogram;
pub use timeline::{Moment, Row, Stay, TimelineCpu};

use self::html::{escape, table};
use crate::compare::{
    Comparison, Metrics, Verdict, full_name, interval, number, or_dash, signed, verdicts, words,
};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("timeline.js");

/// All that a report tells.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the report is about, in a few words.
    pub title: String,
    /// Who was compared with whom; empty if nobody was.
    pub comparisons: Vec<Comparison>,
    /// The outcomes, the baseline's first.
    pub outcomes: Vec<Outcome>,
    /// A recording that governors were replayed on.
    pub recording: Option<Replayed>,
    /// Under which conditions all this holds: what, and how it was.
    pub conditions: Vec<(String, String)>,
    /// What must not be concluded from it.
    pub limits: Vec<String>,
    /// The commands that make it again.
    pub commands: Vec<String>,
}

/// Governors on a recording.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// The idle states, shallowest first.
    pub states: Vec<DrawnState>,
    /// What each governor would have had the CPUs do.
    pub governors: Vec<GovernorStays>,
    /// The first and the last moment, in nanoseconds of the recording's clock.
    pub span_ns: (i64, i64),
    /// Each CPU under the governors, in their order; at most two are drawn.
    pub cpus: Vec<TimelineCpu>,
    /// Moments worth looking at.
    pub moments: Vec<Moment>,
}

/// An idle state in pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnState {
    /// Its name.
    pub name: String,
    /// Its target residencies in nanoseconds: more than one where CPUs have different tables.
    pub residencies_ns: Vec<i64>,
}

/// A governor's stays, counted by their length.
#[derive(Clone, Debug, Default)]
pub struct GovernorStays {
    /// The governor.
    pub name: String,
    /// In each state.
    pub durations: Vec<Histogram>,
    /// Those in a state that was too deep.
    pub above: Histogram,
    /// Those in a state that was too shallow.
    pub below: Histogram,
}

impl Report {
    /// The page.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta \
             name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta \
             name=\"color-scheme\" content=\"light dark\"><title>{title}</title><link rel=\"icon\" \
             href=\"data:,\"><style>{STYLE}</style></head>\n<body><main><h1>{title}</h1>\n"
        );
        let mut section = |heading: &str, body: String| {
            if !body.is_empty() {
                let _ = write!(page, "<section><h2>{heading}</h2>\n{body}</section>\n");
            }
        };
        section("Verdict", self.verdict());
        section("Metrics", self.metrics());
        section("Outcomes", self.table());
        section("Differences and how sure they are", pictures::forest(&self.comparisons));
        section("Share of idle time in each state", pictures::shares(&self.outcomes));
        section("Wakeup latency that the states added", pictures::latency(&self.outcomes));
        section("Energy against wakeup latency", pictures::energy(&self.outcomes));
        if let Some(replayed) = &self.recording {
            section("Idle durations by state", pictures::durations(replayed));
            section("Too deep and too shallow, by duration", pictures::misses(replayed));
            section("Timeline", timeline::section(replayed));
        }
        section("Conditions", definitions(&self.conditions));
        section("What this does not show", list(&self.limits));
        section("To make it again", commands(&self.commands));
        page.push_str("</main>");
        if self.recording.is_some() {
            let _ = write!(page, "<script>{SCRIPT}</script>");
        }
        page.push_str("</body></html>\n");
        page
    }

    fn verdict(&self) -> String {
        let mut html = String::new();
        for comparison in &self.comparisons {
            let _ =
                write!(html, "<h3>{}</h3><ul class=\"verdicts\">", escape(&heading(comparison)));
            let mut said = verdicts(comparison);
            said.sort_by_key(|&(verdict, _)| place(verdict));
            // Those of replays are short.
            if matches!(comparison.metrics, Metrics::Recordings(_)) {
                said = together(said);
            }
            for (verdict, sentence) in said {
                let _ = write!(
                    html,
                    "<li class=\"{}\"><b>{}</b> {}</li>",
                    class(verdict),
                    words(verdict),
                    escape(&sentence)
                );
            }
            html.push_str("</ul>");
        }
        html
    }

    fn metrics(&self) -> String {
        self.comparisons.iter().map(metrics_table).collect()
    }

    fn table(&self) -> String {
        if self.outcomes.is_empty() {
            return String::new();
        }
        let count = |count: Option<u64>| or_dash(count.map(|count| count.to_string()));
        let rows: Vec<Vec<String>> = self
            .outcomes
            .iter()
            .map(|outcome| {
                let share = outcome.misses.zip(outcome.idles).filter(|&(_, idles)| idles > 0);
                let share = share.map(|(misses, idles)| 100.0 * misses as f64 / idles as f64);
                let energy = outcome.energy;
                let latency = outcome.wakeup_latency.as_ref();
                let time = |ns: u64| plot::time(ns as f64);
                vec![
                    outcome.governor.clone().unwrap_or_else(|| "unknown".to_owned()),
                    outcome.iteration.to_string(),
                    or_dash(energy.measured_joules.map(number)),
                    or_dash(energy.modelled_joules.map(number)),
                    count(outcome.idles),
                    count(outcome.above),
                    count(outcome.below),
                    or_dash(share.map(|share| format!("{share:.1}"))),
                    or_dash(latency.map(|latency| time(latency.p50_ns))),
                    or_dash(latency.map(|latency| time(latency.p99_ns))),
                ]
            })
            .collect();
        let head = [
            "governor",
            "run",
            "measured J",
            "modelled J",
            "idles",
            "above",
            "below",
            "miss %",
            "latency p50",
            "p99",
        ];
        // Columns of which nothing is known are no help.
        let known: Vec<usize> = (0..head.len())
            .filter(|&column| {
                rows.iter().any(|row| row.get(column).is_some_and(|cell| cell != "-"))
            })
            .collect();
        let pick =
            |row: &Vec<String>| known.iter().filter_map(|&at| row.get(at).cloned()).collect();
        let head: Vec<&str> = known.iter().filter_map(|&at| head.get(at).copied()).collect();
        table("Each run", &head, &rows.iter().map(pick).collect::<Vec<_>>())
    }
}

/// Improvements first, what is open last.
const fn place(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Better => 0,
        Verdict::Worse => 1,
        Verdict::Higher => 2,
        Verdict::Lower => 3,
        Verdict::NoDetectableDifference => 4,
        Verdict::Mixed => 5,
        Verdict::Equal => 6,
        Verdict::Undecided => 7,
    }
}

/// What went the same way, said together.
fn together(said: Vec<(Verdict, String)>) -> Vec<(Verdict, String)> {
    let mut groups: Vec<(Verdict, String)> = Vec::new();
    for (verdict, sentence) in said {
        match groups.last_mut() {
            Some((last, sentences)) if *last == verdict => {
                sentences.push_str("; ");
                sentences.push_str(&sentence);
            }
            _ => groups.push((verdict, sentence)),
        }
    }
    groups
}

fn heading(comparison: &Comparison) -> String {
    let place = [&comparison.workload, &comparison.platform];
    let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
    let place = if place.is_empty() { String::new() } else { format!(": {}", place.join(", ")) };
    format!("{} against {} (baseline){place}", comparison.candidate, comparison.baseline)
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Higher | Verdict::Lower => "changed",
        Verdict::NoDetectableDifference | Verdict::Equal | Verdict::Mixed | Verdict::Undecided => {
            "open"
        }
    }
}

fn metrics_table(comparison: &Comparison) -> String {
    let change = |percent: Option<f64>| or_dash(percent.map(signed));
    match &comparison.metrics {
        Metrics::Sampling(rows) => {
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| {
                    vec![
                        full_name(&row.name, &row.unit),
                        number(row.baseline_mean),
                        number(row.candidate_mean),
                        change(row.difference_percent),
                        interval(row.low_percent, row.high_percent),
                        or_dash(row.p_holm.map(|p| format!("{p:.4}"))),
                        format!("{} / {}", row.baseline_runs, row.candidate_runs),
                        row.notes.join("; "),
                    ]
                })
                .collect();
            let head = [
                "metric",
                "baseline",
                "candidate",
                "change %",
                "95 % interval",
                "p (Holm)",
                "runs",
                "notes",
            ];
            table(&heading(comparison), &head, &rows)
        }
        Metrics::Recordings(rows) => {
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| {
                    vec![
                        full_name(&row.name, &row.unit),
                        number(row.baseline_mean),
                        number(row.candidate_mean),
                        change(row.difference_percent),
                        interval(row.lowest_percent, row.highest_percent),
                        format!("{}/{}/{}", row.cpus_lower, row.cpus_equal, row.cpus_higher),
                    ]
                })
                .collect();
            let head =
                ["metric", "baseline", "candidate", "change %", "of all replays", "CPUs -/=/+"];
            table(&heading(comparison), &head, &rows)
        }
    }
}

fn definitions(conditions: &[(String, String)]) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let one = |(name, value): &(String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value))
    };
    format!("<dl>{}</dl>", conditions.iter().map(one).collect::<String>())
}

fn list(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let one = |sentence: &String| format!("<li>{}</li>", escape(sentence));
    format!("<ul>{}</ul>", sentences.iter().map(one).collect::<String>())
}

fn commands(commands: &[String]) -> String {
    if commands.is_empty() {
        return String::new();
    }
    format!("<pre><code>{}</code></pre>", escape(&commands.join("\n")))
}

#[cfg(test)]
mod tests;
