// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_outcome::{CpuOutcome, Energy, Figure, StateOutcome};

use super::*;
use crate::layout::WIDTH;
use crate::style::{self, Mark};

/// Noise about 0. Its count is odd, so that it falls to either of two governors in turn.
const NOISE: [f64; 11] = [0.3, -0.8, 1.1, -0.2, 0.6, -1.3, 0.9, -0.5, 0.1, -1.0, 0.7];

fn run(governor: &str, order: Option<u32>, joules: f64) -> Sourced {
    let mut outcome = Outcome::of_cpus(Bench::Count, Some(governor), None, Vec::new());
    outcome.bench = Bench::Published;
    outcome.idles = None;
    outcome.misses = None;
    outcome.above = None;
    outcome.below = None;
    outcome.ticks = None;
    outcome.sleep_length_queries = None;
    outcome.wakeup_latency = None;
    outcome.regret = None;
    outcome.order = order;
    outcome.energy = Energy { measured_joules: Some(joules), modelled_joules: None };
    Sourced { source: "runs".into(), outcome }
}

fn question() -> Question {
    Question { by: None, baseline: None, metrics: Vec::new(), resampling: Resampling::default() }
}

/// teo and menu in turn, `pairs` runs each; menu's joules are higher by `more`.
fn in_turn(pairs: u32, more: f64, drift: f64) -> Vec<Sourced> {
    (0..2 * pairs)
        .map(|order| {
            let noise = NOISE[order as usize % 11] + drift * f64::from(order);
            match order % 2 {
                0 => run("teo", Some(order), 100.0 + noise),
                _ => run("menu", Some(order), 100.0 + noise + more),
            }
        })
        .collect()
}

fn only_metric(runs: &[Sourced]) -> SampledMetric {
    let comparisons = compare(runs, &question()).unwrap();
    let [Comparison { metrics: Metrics::Sampling(rows), .. }] = &comparisons[..] else {
        panic!("{comparisons:?}")
    };
    assert_eq!(rows.len(), 1);
    rows[0].clone()
}

#[test]
fn five_pairs_are_undecided_whatever_the_difference() {
    let row = only_metric(&in_turn(5, 50.0, 0.0));
    assert_eq!((row.verdict, row.p), (Some(Verdict::Undecided), Some(0.0625)));
    assert_eq!((row.low, row.high), (None, None));
    let reason = row.reason.unwrap();
    assert!(reason.contains("5 pairs can never be significant"), "{reason}");
    assert!(reason.contains("at least 6 pairs"), "{reason}");
}

#[test]
fn eight_pairs_see_a_difference_in_energy_as_worse() {
    let row = only_metric(&in_turn(8, 5.0, 0.0));
    // All eight differences have one sign: 2 of 256 arrangements.
    assert_eq!((row.verdict, row.p), (Some(Verdict::Worse), Some(2.0 / 256.0)));
    assert_eq!((row.order, row.exact), (Some(Order::Pairs), Some(true)));
    let swapped: Vec<Sourced> = in_turn(8, -5.0, 0.0);
    assert_eq!(only_metric(&swapped).verdict, Some(Verdict::Better));
}

#[test]
fn no_difference_says_what_would_have_been_seen() {
    let row = only_metric(&in_turn(8, 0.2, 0.0));
    assert_eq!(row.verdict, Some(Verdict::NoDetectableDifference));
    let least = row.detectable.unwrap();
    assert!(row.high.unwrap() < least && least < 3.0, "{row:?}");
    let text = comparisons_text(
        &compare(&in_turn(8, 0.2, 0.0), &question()).unwrap(),
        Resampling::default(),
    );
    assert!(text.contains("it would probably have been seen"), "{text}");
}

#[test]
fn one_governor_after_the_other_is_undecided() {
    let runs: Vec<Sourced> = (0..8)
        .map(|order| {
            let governor = if order < 4 { "teo" } else { "menu" };
            let more = if order < 4 { 0.0 } else { 50.0 };
            run(governor, Some(order), 100.0 + more + NOISE[order as usize])
        })
        .collect();
    let row = only_metric(&runs);
    assert_eq!((row.verdict, row.order), (Some(Verdict::Undecided), Some(Order::Blocks)));
    assert!(row.reason.unwrap().contains("run them in turn"));
    // The same runs, where nobody says in which order they were: taken on trust.
    let untold: Vec<Sourced> = runs
        .into_iter()
        .map(|mut run| {
            run.outcome.order = None;
            run
        })
        .collect();
    let row = only_metric(&untold);
    assert_eq!((row.verdict, row.order), (Some(Verdict::Worse), Some(Order::Unknown)));
}

#[test]
fn drift_between_the_runs_of_a_pair_is_no_difference() {
    // Each run is 3 above the one before, so menu, which is always second, is 3 above teo.
    let row = only_metric(&in_turn(12, 0.0, 3.0));
    let drift = row.drift.unwrap();
    assert!(drift.subtracted && (drift.slope - 3.0).abs() < 0.1, "{drift:?}");
    assert_eq!(row.verdict, Some(Verdict::NoDetectableDifference), "{row:?}");
    assert!(row.notes.iter().any(|note| note.starts_with("drifts by")), "{row:?}");
}

#[test]
fn drift_of_runs_that_are_not_in_pairs_is_undecided() {
    let order = "ABBABAABBBAABABAABBABABA";
    let runs: Vec<Sourced> = (0..24)
        .map(|at| {
            let governor = if order.as_bytes()[at] == b'A' { "teo" } else { "menu" };
            run(governor, Some(at as u32), 100.0 + 3.0 * at as f64 + NOISE[at % 11])
        })
        .collect();
    let row = only_metric(&runs);
    assert_eq!((row.verdict, row.order), (Some(Verdict::Undecided), Some(Order::Mixed)));
    assert!(row.reason.unwrap().contains("drift"));
}

#[test]
fn holm_is_over_all_metrics_and_a_choice_beforehand_has_fewer() {
    let mut runs = in_turn(8, 5.0, 0.0);
    for (at, run) in runs.iter_mut().enumerate() {
        let noise = NOISE[at % 11];
        let figure = |name: &str, value| Figure {
            name: name.into(),
            value,
            unit: "MB/s".into(),
            better: Some(Better::Higher),
        };
        run.outcome.figures = vec![figure("read", 50.0 + noise), figure("write", 70.0 - noise)];
        run.outcome.duration_ns = Some(10_000_000_000);
    }
    let comparisons = compare(&runs, &question()).unwrap();
    let Metrics::Sampling(rows) = &comparisons[0].metrics else { panic!("{comparisons:?}") };
    let names: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.name.as_str(), row.unit.as_str())).collect();
    assert_eq!(
        names,
        [("joules", ""), ("read", "MB/s"), ("read", "MB/J"), ("write", "MB/s"), ("write", "MB/J")]
    );
    // 50.3 MB/s at 100.3 J in 10 s.
    let first = rows[2].baseline_mean;
    assert!((first - 5.0).abs() < 0.1, "{first}");
    assert_eq!(rows[0].p_holm, Some(5.0 * 2.0 / 256.0));
    let chosen = Question { metrics: vec!["joules".into()], ..question() };
    let comparisons = compare(&runs, &chosen).unwrap();
    let Metrics::Sampling(rows) = &comparisons[0].metrics else { panic!("{comparisons:?}") };
    assert_eq!(rows[0].p_holm, rows[0].p);
    // Six pairs: 2 of 64 is below 5 %, five times that is not.
    let comparisons = compare(&runs[..12], &question()).unwrap();
    let Metrics::Sampling(rows) = &comparisons[0].metrics else { panic!("{comparisons:?}") };
    assert_eq!(rows[0].verdict, Some(Verdict::Undecided));
    assert!(rows[0].reason.as_ref().unwrap().contains("--metric"));
}

#[test]
fn an_outlier_is_named() {
    let mut runs = in_turn(10, 0.0, 0.0);
    runs[4].outcome.energy.measured_joules = Some(300.0);
    runs[4].outcome.iteration = 2;
    let row = only_metric(&runs);
    assert!(row.notes.contains(&"outlier of the baseline: iteration 2 (300.00)".to_owned()));
}

fn replay(governor: &str, source: &str, above: [u64; 3]) -> Sourced {
    let cpu = |(number, above)| CpuOutcome {
        cpu: number,
        states: vec![StateOutcome {
            name: "C1".into(),
            usage: 100,
            time_ns: 1000,
            above: Some(above),
            below: Some(0),
            rejected: None,
        }],
        ..CpuOutcome::default()
    };
    let cpus = (0..).zip(above).map(cpu).collect();
    let outcome = Outcome::of_cpus(Bench::Replay, Some(governor), Some("p"), cpus);
    Sourced { source: source.into(), outcome }
}

fn replayed(runs: &[Sourced], name: &str) -> ReplayedMetric {
    let comparisons = compare(runs, &question()).unwrap();
    let Metrics::Recordings(rows) = &comparisons[0].metrics else { panic!("{comparisons:?}") };
    rows.iter().find(|row| row.name == name).unwrap().clone()
}

#[test]
fn replays_have_no_p_value_but_recordings_and_cpus_that_agree_or_not() {
    let mut runs = vec![replay("teo", "one", [10, 20, 30]), replay("menu", "one", [20, 30, 30])];
    let above = replayed(&runs, "above");
    // 60 and 80 of 300.
    assert_eq!((above.baseline_mean, above.candidate_mean), (20.0, 80.0 / 3.0));
    assert_eq!((above.cpus_lower, above.cpus_equal, above.cpus_higher), (0, 1, 2));
    assert_eq!(above.verdict, Verdict::Worse);
    assert_eq!(replayed(&runs, "below").verdict, Verdict::Equal);
    runs.extend([replay("teo", "two", [10, 20, 30]), replay("menu", "two", [5, 10, 30])]);
    let above = replayed(&runs, "above");
    assert_eq!((above.replays, above.verdict), (2, Verdict::Mixed));
    assert_eq!(above.lowest_percent.unwrap(), -25.0);
    let text = comparisons_text(&compare(&runs, &question()).unwrap(), Resampling::default());
    assert!(text.contains("no sampling error") && !text.contains("Holm"), "{text}");
}

#[test]
fn cpus_that_go_both_ways_are_mixed() {
    let runs = [replay("teo", "one", [10, 20, 30]), replay("menu", "one", [40, 10, 30])];
    assert_eq!(replayed(&runs, "above").verdict, Verdict::Mixed);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let runs = in_turn(6, 0.0, 0.0);
    let teo: Vec<Sourced> = runs.iter().step_by(2).cloned().collect();
    assert_eq!(compare(&teo, &question()), Err(CompareError::Alone("runs".into())));
    let asked = Question { baseline: Some("ladder".into()), ..question() };
    let known = "teo, menu".to_owned();
    assert_eq!(
        compare(&runs, &asked),
        Err(CompareError::NoBaseline { asked: "ladder".into(), known })
    );
    let mixed = [runs[0].clone(), replay("menu", "one", [1, 2, 3])];
    assert_eq!(compare(&mixed, &question()), Err(CompareError::MixedBenches));
    let asked = Question { metrics: vec!["watts".into()], ..question() };
    let known = "joules".to_owned();
    assert_eq!(
        compare(&runs, &asked),
        Err(CompareError::NoMetric { asked: "watts".into(), known })
    );
    let mut elsewhere = vec![runs[0].clone(), runs[1].clone()];
    elsewhere[1].outcome.workload = Some("video".into());
    assert_eq!(compare(&elsewhere, &question()), Err(CompareError::NothingInCommon("teo".into())));
}

#[test]
fn files_are_compared_where_all_are_of_one_governor() {
    let mut runs: Vec<Sourced> = in_turn(8, 5.0, 0.0);
    for run in &mut runs {
        run.source = run.outcome.governor.replace("teo".into()).unwrap();
    }
    let comparisons = compare(&runs, &question()).unwrap();
    assert_eq!((&*comparisons[0].baseline, &*comparisons[0].candidate), ("teo", "menu"));
}

#[test]
fn text_fits_a_mail_whatever_the_values() {
    let mut runs = in_turn(8, 1e12, 0.0);
    for run in &mut runs {
        run.outcome.figures = vec![Figure {
            name: "a-name-that-goes-on-and-on-and-on".into(),
            value: 1e-9,
            unit: "MB/s".into(),
            better: None,
        }];
    }
    let text = comparisons_text(&compare(&runs, &question()).unwrap(), Resampling::default());
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    assert!(text.contains("equal"), "{text}");
}

#[test]
fn styles_learn_what_is_significant() {
    let runs = in_turn(8, 5.0, 0.0);
    let comparisons = compare(&runs, &question()).unwrap();
    let outcomes: Vec<&Outcome> = runs.iter().map(|run| &run.outcome).collect();
    let metrics = style::metrics(&outcomes);
    let joules = metrics.iter().find(|metric| metric.name == "joules").unwrap();
    assert_eq!(mark(&comparisons)(joules, "menu"), Mark::Significant);
    assert_eq!(mark(&comparisons)(joules, "ladder"), Mark::Untested);
    let comparisons = compare(&in_turn(8, 0.1, 0.0), &question()).unwrap();
    assert_eq!(mark(&comparisons)(joules, "menu"), Mark::WithinNoise);
}
