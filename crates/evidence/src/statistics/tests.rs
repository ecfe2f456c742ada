// SPDX-License-Identifier: GPL-2.0-or-later
use super::resampling::Draw;
use super::*;

/// Approximately normal, by summing twelve uniform numbers.
fn normal(draw: &mut Draw) -> f64 {
    (0..12).map(|_| draw.unit()).sum::<f64>() - 6.0
}

fn sample(draw: &mut Draw, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal(draw)).collect()
}

#[test]
fn five_pairs_exclude_nothing_and_six_barely() {
    let five = SignFlips::new(&[5.0, 6.0, 7.0, 8.0, 9.0], Resampling::default());
    // 2 of 32 arrangements.
    assert_eq!(five.p_value(0.0), 0.0625);
    assert_eq!(five.interval(0.05), Interval { low: f64::NEG_INFINITY, high: f64::INFINITY });
    // 2 of 64; one mean in 64 may lie outside on either side: the ends are the extremes.
    let six = SignFlips::new(&[5.0, 6.0, 7.0, 8.0, 9.0, 10.0], Resampling::default());
    assert_eq!(six.p_value(0.0), 0.03125);
    assert_eq!(six.interval(0.05), Interval { low: 5.0, high: 10.0 });
}

#[test]
fn three_against_three_exclude_nothing() {
    let labels = Relabellings::new(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], Resampling::default());
    // 2 of 20 arrangements.
    assert_eq!(labels.p_value(0.0), 0.1);
    assert_eq!(labels.interval(0.05), Interval { low: f64::NEG_INFINITY, high: f64::INFINITY });
}

#[test]
fn equal_values_differ_by_nothing() {
    let labels = Relabellings::new(&[2.0; 5], &[2.0; 5], Resampling::default());
    assert_eq!((labels.p_value(0.0), labels.interval(0.05).contains(0.0)), (1.0, true));
    assert_eq!(SignFlips::new(&[0.0; 8], Resampling::default()).p_value(0.0), 1.0);
}

#[test]
fn a_difference_without_noise_is_certain() {
    let labels = Relabellings::new(&[2.0; 5], &[3.0; 5], Resampling::default());
    // 2 of 252 arrangements.
    assert_eq!(labels.p_value(0.0), 2.0 / 252.0);
    assert_eq!(labels.interval(0.05), Interval { low: 1.0, high: 1.0 });
}

#[test]
fn the_interval_agrees_with_the_test() {
    let mut draw = Draw::new(3);
    for _ in 0..300 {
        let (baseline, candidate) = (sample(&mut draw, 5), sample(&mut draw, 6));
        let labels = Relabellings::new(&baseline, &candidate, Resampling::default());
        assert_eq!(labels.interval(0.05).contains(0.0), labels.p_value(0.0) > 0.05);
        let flips = SignFlips::new(&sample(&mut draw, 9), Resampling::default());
        assert_eq!(flips.interval(0.05).contains(0.0), flips.p_value(0.0) > 0.05);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let mut draw = Draw::new(5);
    let (baseline, candidate) = (sample(&mut draw, 40), sample(&mut draw, 40));
    let interval = |seed| {
        let resampling = Resampling { exact_up_to: 0, draws: 999, seed };
        bca_of_mean_difference(&baseline, &candidate, 0.05, Quantiles::Student, resampling)
    };
    assert_eq!(interval(1), interval(1));
    assert_ne!(interval(1), interval(2));
}

#[test]
fn one_value_far_off_is_an_outlier_and_noise_hardly_ever_has_one() {
    assert_eq!(outliers(&[10.0, 11.0, 9.0, 10.5, 9.5, 10.2, 9.8, 60.0]), [7]);
    assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0, 9.0]), Vec::<usize>::new(), "no spread to judge by");
    let mut draw = Draw::new(9);
    for count in [5, 7, 9, 12, 20, 40] {
        let alarms = (0..4000).filter(|_| !outliers(&sample(&mut draw, count)).is_empty()).count();
        // 1 % is 40; four standard errors are 25.
        assert!(alarms <= 65, "{alarms} of 4000 at {count}");
    }
}

#[test]
fn two_modes_are_found_and_one_is_hardly_ever_two() {
    let null = DipNull::new(20, 999, 1);
    let mut draw = Draw::new(11);
    let mut alarms = |far: f64| {
        let mut modes = || {
            let mut values = sample(&mut draw, 20);
            values.iter_mut().step_by(2).for_each(|value| *value += far);
            null.p_value(dip(&values)) <= 0.05
        };
        (0..1000).filter(|_| modes()).count()
    };
    assert!(alarms(8.0) > 990);
    assert!(alarms(0.0) < 20);
}

#[test]
fn rounding_is_no_mode() {
    let mut draw = Draw::new(13);
    let rounded: Vec<f64> = sample(&mut draw, 200).iter().map(|v| (4.0 * v).round()).collect();
    assert!(DipNull::new(200, 199, 1).p_value(dip(&rounded)) > 0.5);
    assert_eq!(dip(&[3.0; 10]), 0.05, "1 / 2n");
}

#[test]
fn a_trend_within_series_is_none_between_them() {
    let rising: Vec<(f64, f64)> = (0..8).map(|at| (f64::from(at), f64::from(at * at))).collect();
    let found = trend(std::slice::from_ref(&rising));
    // Score 28 of 28 pairs; variance 8 * 7 * 21 / 18.
    assert_eq!(found.tau, 1.0);
    assert!((found.p_value - 0.000_840).abs() < 1e-5, "{found:?}");
    let flat = |value: f64, from: u32| (from..from + 5).map(|at| (f64::from(at), value)).collect();
    assert_eq!(trend(&[flat(1.0, 0), flat(9.0, 5)]).p_value, 1.0);
    assert_eq!(slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), 2.0);
}

/// That a difference of the size said to be detectable is detected as often as said.
#[test]
fn what_can_be_seen_is_seen() {
    let mut draw = Draw::new(17);
    for (runs, alpha) in [(8, 0.05), (10, 0.05), (10, 0.01), (14, 0.05)] {
        let least = detectable(Design::Paired(runs), 1.0, alpha, 0.8).unwrap();
        let mut seen = || {
            let shifted: Vec<f64> = sample(&mut draw, runs).iter().map(|v| v + least).collect();
            SignFlips::new(&shifted, Resampling::default()).p_value(0.0) <= alpha
        };
        let share = (0..2000).filter(|_| seen()).count() as f64 / 2000.0;
        assert!((0.72..0.88).contains(&share), "{share} for {runs} pairs at {alpha}");
    }
    for (runs, alpha) in [(5, 0.05), (6, 0.01), (8, 0.05)] {
        let least = detectable(Design::Unpaired(runs, runs), 1.0, alpha, 0.8).unwrap();
        let mut seen = || {
            let shifted: Vec<f64> = sample(&mut draw, runs).iter().map(|v| v + least).collect();
            let baseline = sample(&mut draw, runs);
            Relabellings::new(&baseline, &shifted, Resampling::default()).p_value(0.0) <= alpha
        };
        let share = (0..500).filter(|_| seen()).count() as f64 / 500.0;
        assert!((0.72..0.88).contains(&share), "{share} for {runs} runs at {alpha}");
    }
}

#[test]
fn the_fewest_runs() {
    // 2 / 2^6 and 2 / C(8, 4) = 2 / 70 are the first below 5 %.
    assert_eq!(fewest_runs(Design::Paired(0), 0.05), 6);
    assert_eq!(fewest_runs(Design::Unpaired(0, 0), 0.05), 4);
    assert_eq!(attainable(Design::Paired(5)), 0.0625);
    assert_eq!(detectable(Design::Paired(5), 1.0, 0.05, 0.8), None);
}
