// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording in time, under two governors.
//!
//! All of it is drawn coarsely: of each of many equal parts, the state that took most of it, and
//! how much of it the governors spent differently. Where that is too much to keep stay by stay,
//! windows round the moments worth looking at are kept exactly.

use std::fmt::Write;

use serde::Serialize;

use super::Replayed;
use super::html::{behind, escape, table};
use super::pictures::{shades, states_legend};
use super::plot::time;
use crate::compare::or_dash;

/// Stays that are kept exactly, of all CPUs and governors together.
const MOST_STAYS: usize = 60_000;
/// Parts that a CPU's time is drawn in, for few CPUs and for all together.
const PARTS: usize = 1_500;
const ALL_PARTS: usize = 400_000;
/// Governors that are drawn.
const GOVERNORS: usize = 2;

/// A stay in an idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// When it began, in nanoseconds.
    pub from_ns: i64,
    /// When it ended.
    pub to_ns: i64,
    /// The state's number.
    pub state: u8,
}

/// A CPU's stays under one governor, in order.
pub type Row = Vec<Stay>;

/// A CPU.
#[derive(Clone, Debug, Default)]
pub struct TimelineCpu {
    /// Its number.
    pub cpu: u32,
    /// Under each governor.
    pub rows: Vec<Row>,
}

/// A moment worth looking at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When, in nanoseconds.
    pub time_ns: i64,
    /// On which CPU.
    pub cpu: u32,
    /// What happens there.
    pub what: String,
    /// How often the like of it happens.
    pub count: u64,
    /// The command that tells more.
    pub command: Option<String>,
}

/// What the script draws.
#[derive(Serialize)]
struct Data {
    start: i64,
    end: i64,
    governors: Vec<String>,
    states: Vec<String>,
    shades: Vec<usize>,
    parts: usize,
    cpus: Vec<DataCpu>,
    windows: Vec<(i64, i64)>,
    moments: Vec<(i64, u32, String)>,
}

#[derive(Serialize)]
struct DataCpu {
    cpu: u32,
    /// For each governor a digit a part, the state that took most of it; `-` is none.
    coarse: Vec<String>,
    /// A digit a part: tenths of it that two governors spent differently.
    differ: String,
    /// For each governor and window: time since the last stay's end, length and state of each.
    exact: Vec<Vec<Vec<i64>>>,
}

pub(super) fn section(replayed: &Replayed) -> String {
    let governors: Vec<String> =
        replayed.governors.iter().take(GOVERNORS).map(|governor| governor.name.clone()).collect();
    let stays: usize =
        replayed.cpus.iter().flat_map(|cpu| cpu.rows.iter().take(GOVERNORS)).map(Vec::len).sum();
    if stays == 0 {
        return String::new();
    }
    let (start, end) = replayed.span_ns;
    let windows = windows(replayed, stays);
    let rows = replayed.cpus.len().max(1) * GOVERNORS;
    let parts = PARTS.min(ALL_PARTS / rows).max(50);
    let cpus = replayed
        .cpus
        .iter()
        .map(|cpu| {
            let rows: Vec<&[Stay]> = cpu.rows.iter().take(GOVERNORS).map(Vec::as_slice).collect();
            let coarse: Vec<Vec<[i64; 11]>> =
                rows.iter().map(|row| spent(row, (start, end), parts)).collect();
            DataCpu {
                cpu: cpu.cpu,
                differ: match &coarse[..] {
                    [a, b] => differ(a, b),
                    _ => String::new(),
                },
                coarse: coarse.iter().map(|row| row.iter().map(most).collect()).collect(),
                exact: rows
                    .iter()
                    .map(|row| windows.iter().map(|&window| exact(row, window)).collect())
                    .collect(),
            }
        })
        .collect();
    let data = Data {
        start,
        end,
        states: replayed.states.iter().map(|state| state.name.clone()).collect(),
        shades: shades(replayed.states.len()),
        parts,
        cpus,
        moments: replayed
            .moments
            .iter()
            .map(|moment| (moment.time_ns, moment.cpu, moment.what.clone()))
            .collect(),
        governors,
        windows,
    };
    let whole = data.windows == [(start, end)];
    // Nothing in a script element may look like its end.
    let json = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let kept = if whole {
        "Every stay is in this page."
    } else {
        "All of it is drawn coarsely; in the marked windows every stay is in this page."
    };
    let mut html = format!(
        "{}<div id=\"timeline\"><div class=\"controls\" role=\"toolbar\" aria-label=\"Timeline\">\
         <button type=\"button\" data-do=\"left\" aria-label=\"earlier\">&#9664;</button>\
         <button type=\"button\" data-do=\"in\" aria-label=\"zoom in\">+</button>\
         <button type=\"button\" data-do=\"out\" aria-label=\"zoom out\">&#8722;</button>\
         <button type=\"button\" data-do=\"right\" aria-label=\"later\">&#9654;</button>\
         <button type=\"button\" data-do=\"all\">all</button>\
         <label>go to <select data-do=\"go\"></select></label></div>\
         <canvas id=\"overview\" height=\"36\" aria-hidden=\"true\"></canvas>\
         <canvas id=\"stays\" tabindex=\"0\" role=\"img\" aria-label=\"Timeline of idle states; \
         arrow keys move, plus and minus zoom, 0 shows all\"></canvas>\
         <p id=\"reading\" aria-live=\"polite\"></p></div>\
         <noscript><p>The timeline needs scripts; what it shows is told by the tables \
         above.</p></noscript><p>{kept} Two rows for each CPU, one for each governor; below them, \
         darker where the two differ more. Keys: arrows, +, &#8722;, 0.</p>",
        states_legend(replayed)
    );
    html.push_str(&moments(replayed));
    let _ = write!(html, "<script type=\"application/json\" id=\"timeline-data\">{json}</script>");
    html
}

/// Where stays are kept exactly: everywhere if that is not too much, else round the moments.
fn windows(replayed: &Replayed, stays: usize) -> Vec<(i64, i64)> {
    let (start, end) = replayed.span_ns;
    if stays <= MOST_STAYS {
        return vec![(start, end)];
    }
    let mut centres: Vec<i64> = replayed.moments.iter().map(|moment| moment.time_ns).collect();
    if centres.is_empty() {
        centres.push(start + (end - start) / 2);
    }
    centres.sort_unstable();
    let share = MOST_STAYS as f64 / stays as f64 / centres.len() as f64;
    let mut half = ((end - start) as f64 * share / 2.0).max(1.0) as i64;
    let mut windows = around(&centres, half, replayed.span_ns);
    // Where windows overlap there is room for wider ones.
    while half < end - start && kept(replayed, &windows) < MOST_STAYS * 3 / 4 {
        half += half / 4 + 1;
        windows = around(&centres, half, replayed.span_ns);
    }
    // Stays crowd somewhere: what is too much is left out at each window's end.
    let mut left = MOST_STAYS;
    windows.retain_mut(|window| {
        let rows = replayed.cpus.iter().flat_map(|cpu| cpu.rows.iter().take(GOVERNORS));
        let within = |stay: &&Stay| stay.to_ns > window.0 && stay.from_ns < window.1;
        let mut ends: Vec<i64> =
            rows.flat_map(|row| row.iter().filter(within)).map(|stay| stay.to_ns).collect();
        ends.sort_unstable();
        if let Some(&end) = ends.get(left) {
            window.1 = end;
        }
        left = left.saturating_sub(ends.len());
        window.1 > window.0
    });
    windows
}

/// Windows round moments, joined where they overlap.
fn around(centres: &[i64], half: i64, (start, end): (i64, i64)) -> Vec<(i64, i64)> {
    let mut windows: Vec<(i64, i64)> = Vec::new();
    for centre in centres {
        let (from, to) = ((centre - half).max(start), (centre + half).min(end));
        match windows.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => windows.push((from, to)),
        }
    }
    windows
}

/// How many stays are in windows.
fn kept(replayed: &Replayed, windows: &[(i64, i64)]) -> usize {
    let rows = replayed.cpus.iter().flat_map(|cpu| cpu.rows.iter().take(GOVERNORS));
    rows.map(|row| {
        let within = |&(from, to): &(i64, i64)| {
            // Sorted, and none overlaps another.
            let first = row.partition_point(|stay| stay.to_ns <= from);
            row.partition_point(|stay| stay.from_ns < to).saturating_sub(first)
        };
        windows.iter().map(within).sum::<usize>()
    })
    .sum()
}

/// How long each part was spent in each state, and, last, in none.
fn spent(row: &[Stay], (start, end): (i64, i64), parts: usize) -> Vec<[i64; 11]> {
    let length = ((end - start) / parts as i64).max(1);
    let mut spent = vec![[0_i64; 11]; parts];
    for stay in row {
        let (mut from, to) = (stay.from_ns.max(start), stay.to_ns.min(end));
        while from < to {
            let part = ((from - start) / length) as usize;
            let part_end = if part + 1 >= parts { end } else { start + (part as i64 + 1) * length };
            let until = to.min(part_end);
            if let Some(time) = spent
                .get_mut(part.min(parts - 1))
                .and_then(|times| times.get_mut(stay.state as usize))
            {
                *time += until - from;
            }
            from = until.max(from + 1);
        }
    }
    for (number, times) in spent.iter_mut().enumerate() {
        let whole = if number + 1 == parts { end - start - number as i64 * length } else { length };
        let idle: i64 = times.iter().sum();
        if let Some(none) = times.last_mut() {
            *none = (whole - idle).max(0);
        }
    }
    spent
}

/// The state that took most of a part.
fn most(times: &[i64; 11]) -> char {
    let most = times.iter().enumerate().max_by_key(|&(state, time)| (time, state));
    match most {
        Some((state @ 0..10, _)) => char::from(b'0' + state as u8),
        _ => '-',
    }
}

/// Tenths of each part that two governors spent differently.
fn differ(a: &[[i64; 11]], b: &[[i64; 11]]) -> String {
    let one = |(a, b): (&[i64; 11], &[i64; 11])| {
        let whole: i64 = a.iter().sum::<i64>().max(1);
        let moved: i64 = a.iter().zip(b).map(|(a, b)| (a - b).max(0)).sum();
        char::from(b'0' + (moved * 9 / whole).clamp(0, 9) as u8)
    };
    a.iter().zip(b).map(one).collect()
}

/// The stays in a window: time since the last one's end (at first, the window's start), length and
/// state of each.
fn exact(row: &[Stay], (from, to): (i64, i64)) -> Vec<i64> {
    let mut last = from;
    let mut numbers = Vec::new();
    for stay in row.iter().filter(|stay| stay.to_ns > from && stay.from_ns < to) {
        numbers.extend([stay.from_ns - last, stay.to_ns - stay.from_ns, i64::from(stay.state)]);
        last = stay.to_ns;
    }
    numbers
}

fn moments(replayed: &Replayed) -> String {
    if replayed.moments.is_empty() {
        return String::new();
    }
    let (start, _) = replayed.span_ns;
    let rows: Vec<Vec<String>> = replayed
        .moments
        .iter()
        .map(|moment| {
            vec![
                moment.what.clone(),
                moment.count.to_string(),
                format!("{} in, cpu {}", time((moment.time_ns - start) as f64), moment.cpu),
                or_dash(moment.command.clone()),
            ]
        })
        .collect();
    let table =
        table("Where the two governors part", &["what each does", "times", "first", "why"], &rows);
    let summary = escape("Where the two governors part");
    behind(&summary, &table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(from_ns: i64, to_ns: i64, state: u8) -> Stay {
        Stay { from_ns, to_ns, state }
    }

    /// Ten parts of ten: 0–25 in state 1, 30–34 in state 0, 40–100 in state 2.
    #[test]
    fn a_part_is_drawn_as_what_took_most_of_it() {
        let row = [stay(0, 25, 1), stay(30, 34, 0), stay(40, 100, 2)];
        let parts = spent(&row, (0, 100), 10);
        assert_eq!(parts.iter().map(most).collect::<String>(), "11--222222");
        // Half of the third part was in state 1, and half in none.
        assert_eq!((parts[2][1], parts[2][10]), (5, 5));
        let other = spent(&[stay(0, 100, 2)], (0, 100), 10);
        // All of the first three parts, ten tenths of what was idle or not, then nothing.
        assert_eq!(differ(&parts, &other), "9999000000");
    }

    #[test]
    fn stays_of_a_window_are_told_by_their_distances() {
        let row = [stay(0, 10, 1), stay(15, 20, 0), stay(30, 90, 2), stay(95, 96, 0)];
        assert_eq!(exact(&row, (12, 40)), [3, 5, 0, 10, 60, 2]);
        // One that is under way when the window begins begins before it.
        assert_eq!(exact(&row, (5, 12)), [-5, 10, 1]);
    }
}
