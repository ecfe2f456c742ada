// SPDX-License-Identifier: GPL-2.0-or-later
//! The statistics beside SciPy and others: `scipy/make.py` made the data and their answers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use idlelab_evidence::statistics::{
    Design, Interval, Quantiles, Relabellings, Resampling, SignFlips, bca_of_mean,
    bca_of_mean_difference, detectable, dip, holm, location, shift, trend, upper_deviation,
};
use serde_json::Value;

const ALPHA: f64 = 0.05;

fn expected(part: &str) -> Value {
    let document: Value = serde_json::from_str(include_str!("scipy/expected.json")).unwrap();
    document.get(part).unwrap().clone()
}

fn cases(part: &str) -> Vec<Value> {
    expected(part).as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

#[track_caller]
fn close(ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance, "{ours} instead of {theirs}");
}

/// The ends; null is an end that cannot be excluded.
#[track_caller]
fn same_interval(ours: Interval, theirs: &Value, tolerance: f64) {
    match theirs[0].as_f64() {
        Some(low) => close(ours.low, low, tolerance),
        None => assert_eq!(ours.low, f64::NEG_INFINITY),
    }
    match theirs[1].as_f64() {
        Some(high) => close(ours.high, high, tolerance),
        None => assert_eq!(ours.high, f64::INFINITY),
    }
}

#[test]
fn sign_flips() {
    for case in cases("paired") {
        let differences = numbers(&case["differences"]);
        let flips = SignFlips::new(&differences, Resampling::default());
        assert!(flips.is_exact());
        close(flips.p_value(0.0), number(&case["p"]), 1e-12);
        same_interval(flips.interval(ALPHA), &case["interval"], 1e-6);
        close(location(&differences), number(&case["hodges_lehmann"]), 1e-9);
    }
}

#[test]
fn relabellings() {
    for case in cases("unpaired") {
        let (baseline, candidate) = (numbers(&case["baseline"]), numbers(&case["candidate"]));
        let labels = Relabellings::new(&baseline, &candidate, Resampling::default());
        assert!(labels.is_exact());
        close(labels.p_value(0.0), number(&case["p"]), 1e-12);
        same_interval(labels.interval(ALPHA), &case["interval"], 1e-4);
        close(shift(&baseline, &candidate), number(&case["hodges_lehmann"]), 1e-9);
    }
}

/// Random arrangements come close to all of them: within four standard errors.
#[test]
fn random_arrangements() {
    let random = Resampling { exact_up_to: 0, draws: 99_999, seed: 7 };
    for case in cases("paired").iter().skip(2) {
        let flips = SignFlips::new(&numbers(&case["differences"]), random);
        assert!(!flips.is_exact());
        let p = number(&case["p"]);
        close(flips.p_value(0.0), p, 4.0 * (2.0 * p / 1e5).sqrt());
    }
    for case in cases("unpaired") {
        let (baseline, candidate) = (numbers(&case["baseline"]), numbers(&case["candidate"]));
        let labels = Relabellings::new(&baseline, &candidate, random);
        let p = number(&case["p"]);
        close(labels.p_value(0.0), p, 4.0 * (2.0 * p / 1e5).sqrt());
    }
}

/// Both sides draw at random, each its own: 400,000 samples leave an end uncertain by about half a
/// per cent of the width.
#[test]
fn bootstrap() {
    let resampling = Resampling { draws: 399_999, ..Resampling::default() };
    for case in cases("bca") {
        let (baseline, candidate) = (numbers(&case["baseline"]), numbers(&case["candidate"]));
        let ours = if candidate.is_empty() {
            bca_of_mean(&baseline, ALPHA, Quantiles::Normal, resampling)
        } else {
            bca_of_mean_difference(&baseline, &candidate, ALPHA, Quantiles::Normal, resampling)
        };
        same_interval(ours, &case["interval"], 0.01 * (ours.high - ours.low));
    }
}

#[test]
fn mann_kendall() {
    for case in cases("trend") {
        let series: Vec<Vec<(f64, f64)>> = case["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|values| {
                numbers(values).into_iter().enumerate().map(|(at, v)| (at as f64, v)).collect()
            })
            .collect();
        let ours = trend(&series);
        close(ours.p_value, number(&case["p"]), 1e-9);
        close(ours.tau, number(&case["tau"]), 1e-9);
    }
}

#[test]
fn holm_by_statsmodels() {
    let case = expected("holm");
    let theirs = numbers(&case["adjusted"]);
    for (ours, theirs) in holm(&numbers(&case["p"])).into_iter().zip(theirs) {
        close(ours, theirs, 1e-12);
    }
}

#[test]
fn hartigans_dip() {
    for case in cases("dip") {
        close(dip(&numbers(&case["values"])), number(&case["dip"]), 1e-9);
    }
}

/// Quantiles of the central t for those of the non-central one: within two per cent.
#[test]
fn detectable_differences() {
    for case in cases("power") {
        let runs = case["runs"].as_u64().unwrap() as usize;
        let design = match case["design"].as_str() {
            Some("paired") => Design::Paired(runs),
            _ => Design::Unpaired(runs, runs),
        };
        let theirs = number(&case["detectable"]);
        let ours = detectable(design, 1.0, number(&case["alpha"]), 0.8).unwrap();
        close(ours, theirs, 0.02 * theirs);
    }
    let case = expected("upper_deviation");
    let ours = upper_deviation(1.0, number(&case["freedom"]), number(&case["confidence"]));
    close(ours, number(&case["factor"]), 1e-6);
}
