// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_outcome::{Bench, CpuOutcome, StateOutcome, WakeupLatency};

use super::*;

fn state(name: &str, usage: u64, time_ns: u64) -> StateOutcome {
    StateOutcome {
        name: name.into(),
        usage,
        time_ns,
        above: Some(1),
        below: Some(2),
        ..Default::default()
    }
}

fn outcome(governor: &str, joules: f64, latency: u64) -> Outcome {
    let cpu = CpuOutcome {
        states: vec![state("WFI", 3, 1_000), state("<off>", 1, 3_000)],
        ..Default::default()
    };
    let mut outcome = Outcome::of_cpus(Bench::Replay, Some(governor), Some("box"), vec![cpu]);
    outcome.energy.modelled_joules = Some(joules);
    outcome.wakeup_latency = Some(WakeupLatency::new([(0, 3), (latency, 1)]));
    outcome
}

fn report() -> Report {
    let stay = |from_ns, to_ns, state| Stay { from_ns, to_ns, state };
    let mut durations = vec![Histogram::default(), Histogram::default()];
    durations[0].add(5_000);
    durations[1].add(900_000);
    let governor = |name: &str| {
        let mut above = Histogram::default();
        above.add(900_000);
        GovernorStays {
            name: name.into(),
            durations: durations.clone(),
            above,
            below: Histogram::default(),
        }
    };
    Report {
        title: "teo & menu on <a recording>".into(),
        outcomes: vec![outcome("teo", 1.0, 60_000), outcome("menu", 1.5, 1_000)],
        recording: Some(Replayed {
            states: ["WFI", "<off>"]
                .map(|name| DrawnState { name: name.into(), residencies_ns: vec![1_000] })
                .into(),
            governors: vec![governor("teo"), governor("menu")],
            span_ns: (0, 1_000_000),
            cpus: vec![TimelineCpu {
                cpu: 0,
                rows: vec![
                    vec![stay(0, 5_000, 0), stay(9_000, 909_000, 1)],
                    vec![stay(9_000, 909_000, 0)],
                ],
            }],
            moments: vec![Moment {
                time_ns: 9_000,
                cpu: 0,
                what: "teo <off>, menu WFI".into(),
                count: 1,
                command: None,
            }],
        }),
        conditions: vec![("platform".into(), "box".into())],
        limits: vec!["open loop".into()],
        commands: vec!["idlelab report a.txt > b".into()],
        ..Report::default()
    }
}

#[test]
fn the_same_report_is_the_same_bytes_and_needs_nothing_else() {
    let page = report().html();
    assert_eq!(page, report().html());
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        // The names of XML's languages are no addresses.
        let count = page.replace("http://www.w3.org/2000/svg", "").matches(outside).count();
        assert_eq!(count, 0, "{outside}");
    }
}

#[test]
fn nothing_that_a_file_says_becomes_markup() {
    let page = report().html();
    assert!(!page.contains("<off>"));
    assert!(page.contains("teo &amp; menu on &lt;a recording&gt;"));
    assert!(page.contains("idlelab report a.txt &gt; b"));
}

/// 1 µs of 4 µs in WFI.
#[test]
fn shares_are_drawn_and_told() {
    let page = report().html();
    assert!(page.contains("<title>WFI: 25 %</title>"), "{page}");
    assert!(page.contains("<td>75.00</td>"));
}

#[test]
fn sections_without_content_are_left_out() {
    let page = Report { title: "empty".into(), ..Report::default() }.html();
    assert!(!page.contains("<h2>"), "{page}");
    assert!(!page.contains("<script"));
}

/// A million stays on eight CPUs under two governors.
#[test]
fn a_million_stays_fit_in_two_megabytes() {
    let row = |shift: i64| -> Vec<Stay> {
        let stay = |number: i64| {
            let from_ns = number * 4_321_987 + shift;
            Stay { from_ns, to_ns: from_ns + 3_123_456, state: (number % 2) as u8 }
        };
        (0..62_500).map(stay).collect()
    };
    let mut report = report();
    let replayed = report.recording.as_mut().unwrap();
    replayed.span_ns = (0, 62_500 * 4_321_987);
    let cpu = |cpu| TimelineCpu { cpu, rows: vec![row(0), row(77_777)] };
    replayed.cpus = (0..8).map(cpu).collect();
    let page = report.html();
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    // And not so small that nothing was kept.
    assert!(page.len() > 500 << 10, "{} bytes", page.len());
}
