// SPDX-License-Identifier: GPL-2.0-or-later
//! Expectations are typed by hand, with figures worked out by hand, in the layouts that the lists
//! use.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use idlelab_outcome::{Bench, CpuOutcome, Figure, OffBy, WakeupLatency, file};

use super::*;

const TEXTS: [Style; 10] = [
    Style::Runs,
    Style::States,
    Style::Times,
    Style::Box,
    Style::Predictions,
    Style::Shares,
    Style::Lkp,
    Style::OverUnder,
    Style::Mmtests,
    Style::Markdown,
];

fn print(style: Style, outcomes: &[Outcome]) -> String {
    style.print(outcomes, &|_, _| Mark::Untested)
}

fn state(name: &str, usage: u64, time_ms: u64, above: u64, below: u64) -> StateOutcome {
    StateOutcome {
        name: name.into(),
        usage,
        time_ns: time_ms * 1_000_000,
        above: Some(above),
        below: Some(below),
        rejected: None,
    }
}

/// A run on one CPU.
fn run(governor: &str, joules: f64, states: Vec<StateOutcome>) -> Outcome {
    let cpu = CpuOutcome { states, ..Default::default() };
    let mut outcome = Outcome::of_cpus(Bench::Published, Some(governor), None, vec![cpu]);
    outcome.energy.measured_joules = Some(joules);
    outcome
}

fn two() -> [Outcome; 2] {
    let mut teo =
        run("teo", 12.5, vec![state("POLL", 100, 50, 0, 50), state("C1", 2_000, 4_950, 350, 0)]);
    teo.wakeup_latency = Some(WakeupLatency::new([(1_000, 3), (5_000, 1)]));
    let menu =
        run("menu", 10.0, vec![state("POLL", 300, 200, 0, 150), state("C1", 1_200, 4_800, 60, 0)]);
    [teo, menu]
}

/// Two runs of each of two governors, without states.
fn repeated() -> Vec<Outcome> {
    let one = |governor: &str, iteration, rate, joules, counts: [u64; 4]| {
        let mut outcome = run(governor, joules, Vec::new());
        let [idles, misses, above, below] = counts.map(Some);
        (outcome.idles, outcome.misses) = (idles, misses);
        (outcome.above, outcome.below) = (above, below);
        outcome.iteration = iteration;
        outcome.workload = Some("pipe".into());
        outcome.platform = Some("my-machine".into());
        outcome.per_cpu.clear();
        outcome.figures = vec![Figure {
            name: "throughput".into(),
            value: rate,
            unit: "MB/s".into(),
            better: Some(idlelab_outcome::Better::Higher),
        }];
        outcome
    };
    vec![
        one("teo", 0, 100.0, 10.0, [1_000, 100, 40, 60]),
        one("teo", 1, 104.0, 10.0, [1_000, 100, 40, 60]),
        one("menu", 0, 90.0, 9.0, [2_000, 400, 100, 300]),
        one("menu", 1, 94.8, 10.0, [2_200, 440, 110, 330]),
    ]
}

#[test]
fn runs() {
    assert_eq!(
        print(Style::Runs, &two()),
        "\
gov   iter  Joules  idles  idle_misses  idle_miss_ratio  belows  aboves  POLL  C1
teo   0     12.50   2100   400          0.190            50      350     100   2000
menu  0     10.00   1500   210          0.140            150     60      300   1200
"
    );
    assert_eq!(
        print(Style::Runs, &repeated()[1..3]),
        "\
device  gov   iter  throughput(MB/s)  Joules  idles  idle_misses  idle_miss_ratio  belows  aboves
pipe    teo   1     104               10.00   1000   100          0.100            60      40
pipe    menu  0     90                9.00    2000   400          0.200            300     100
"
    );
}

#[test]
fn states() {
    assert_eq!(
        print(Style::States, &two()),
        "\
teo
State  Usage  Above  Below  Above%  Below%
POLL     100      0     50    0.00   50.00
C1      2000    350      0   17.50    0.00
total   2100    350     50   16.67    2.38  <<< Misses 19.05 %

menu
State  Usage  Above  Below  Above%  Below%
POLL     300      0    150    0.00   50.00
C1      1200     60      0    5.00    0.00
total   1500     60    150    4.00   10.00  <<< Misses 14.00 %
"
    );
}

#[test]
fn times() {
    assert_eq!(
        print(Style::Times, &two()),
        "\
State  teo (sec)  menu (sec)       %
POLL        0.05        0.20  300.00
C1          4.95        4.80   -3.03
total       5.00        5.00    0.00
"
    );
}

#[test]
fn boxes() {
    assert_eq!(
        print(Style::Box, &two()[..1]),
        "\
teo
+------------------------+-------+---------+---------+
| Metric                 |  POLL |      C1 |   total |
+------------------------+-------+---------+---------+
| Usage                  |   100 |    2000 |    2100 |
| Above                  |     0 |     350 |     350 |
| Below                  |    50 |       0 |      50 |
| Time (us)              | 50000 | 4950000 | 5000000 |
| Time (%)               |  1.00 |   99.00 |  100.00 |
| Mean sleep (us)        | 500.0 |  2475.0 |  2381.0 |
| Mean wake latency (us) |     - |       - |     2.0 |
+------------------------+-------+---------+---------+
"
    );
}

#[test]
fn predictions() {
    assert_eq!(
        print(Style::Predictions, &two()[..1]),
        "\
teo
State  Ratio  Avg(ms)  Count  Over-pred  Under-pred
POLL    1.00    0.500    100          0          50
C1     99.00    2.475   2000        350           0
"
    );
}

#[test]
fn shares() {
    assert_eq!(
        print(Style::Shares, &two()),
        "\
| % of idle time |   teo |  menu |
|----------------|------:|------:|
| POLL           |  1.00 |  4.00 |
| C1             | 99.00 | 96.00 |
"
    );
}

#[test]
fn markdown() {
    assert_eq!(
        print(Style::Markdown, &two()),
        "\
| governor | iter | joules | idles | misses | miss% | above | below |
|----------|-----:|-------:|------:|-------:|------:|------:|------:|
| teo      |    0 |  12.50 |  2100 |    400 | 19.05 |   350 |    50 |
| menu     |    0 |  10.00 |  1500 |    210 | 14.00 |    60 |   150 |
"
    );
}

#[test]
fn lkp() {
    // Sample deviations: 2.83 of 102, 3.39 of 92.4, 0.707 of 9.5, 141.4 of 2100.
    assert_eq!(
        print(Style::Lkp, &repeated()),
        "\
=========================================================================================
bench/platform/workload:
  published/my-machine/pipe

governor:
  teo
  menu

             teo                        menu
---------------- ---------------------------
         %stddev     %change         %stddev
             \\          |                \\
    102.00 ±  3%      -9.4%      92.40 ±  4%  throughput(MB/s)
     10.00            -5.0%       9.50 ±  7%  joules
      1000          +110.0%       2100 ±  7%  idles
     10.00           +10.0       20.00        misses%
      4.00            +1.0        5.00        above%
      6.00            +9.0       15.00        below%
"
    );
}

#[test]
fn mmtests() {
    // Harmonic means: 20800/204 and 17064/184.8.
    let mark = |metric: &Metric, governor: &str| match (metric.name.as_str(), governor) {
        ("throughput", "menu") => Mark::Significant,
        ("joules", "menu") => Mark::WithinNoise,
        _ => Mark::Untested,
    };
    assert_eq!(
        Style::Mmtests.print(&repeated(), &mark),
        "\
pipe
                                        teo                   menu
Hmean     throughput      101.96 (   0.00%)       92.34 *  -9.44%*
Amean     joules           10.00 (   0.00%)        9.50 (   5.00%)
Amean     idles          1000.00 (   0.00%)     2100.00   110.00%
Amean     misses%          10.00 (   0.00%)       20.00  -100.00%
Amean     above%            4.00 (   0.00%)        5.00   -25.00%
Amean     below%            6.00 (   0.00%)       15.00  -150.00%
"
    );
}

#[test]
fn over_and_under() {
    let [mut teo, mut menu] = two();
    let off = |pairs: &[(i8, u64)]| {
        Some(pairs.iter().map(|&(states, stays)| OffBy { states, stays }).collect())
    };
    teo.off_by = off(&[(-1, 10), (0, 180), (2, 10)]);
    menu.off_by = off(&[(-2, 1), (0, 98), (1, 1)]);
    assert_eq!(
        print(Style::OverUnder, &[teo, menu]),
        "\
governor  US 2  US 1  Correct  OS 1  OS 2
teo       0.00  5.00    90.00  0.00  5.00
menu      1.00  0.00    98.00  1.00  0.00
"
    );
    assert_eq!(
        print(Style::OverUnder, &two()),
        "\
governor     US  Correct     OS
teo        2.38    80.95  16.67
menu      10.00    86.00   4.00
"
    );
}

#[test]
fn wide() {
    assert_eq!(
        print(Style::Wide, &two()),
        "\
gov   iter  CPU      J  idles  miss%  POLL  POLL+  POLL-  POLL%    C1  C1+  C1-    C1%
teo      0    -  12.50   2100  19.05   100     50      0   1.00  2000    0  350  99.00
teo      0    0      -   2100  19.05   100     50      0   1.00  2000    0  350  99.00
menu     0    -  10.00   1500  14.00   300    150      0   4.00  1200    0   60  96.00
menu     0    0      -   1500  14.00   300    150      0   4.00  1200    0   60  96.00
"
    );
}

/// Ten states with long names, six long governors, figures beyond any column.
fn immense() -> Vec<Outcome> {
    (0..6)
        .map(|number| {
            let states = (0..10).map(|at| {
                state(&format!("a-state-of-a-long-name-{at}"), u64::MAX / 20, 1 << 40, 1 << 50, 7)
            });
            let name = format!("a-governor-of-a-very-long-name-of-its-own-number-{number}");
            let mut outcome = run(&name, 1e12, states.collect());
            outcome.workload = Some("a workload with a title of its own | and bars ".repeat(3));
            outcome.iteration = u32::MAX - number;
            outcome.figures = vec![Figure {
                name: "a figure of a long name that says what it is".into(),
                value: 1e15,
                unit: "per fortnight".into(),
                better: None,
            }];
            outcome
        })
        .collect()
}

#[test]
fn all_but_wide_fit_a_mail() {
    for style in TEXTS {
        let text = print(style, &immense());
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{style:?}: {line}");
            assert_eq!(line, line.trim_end(), "{style:?}");
        }
        assert!(!text.contains('\t'), "{style:?}");
    }
    assert!(print(Style::Wide, &immense()).lines().any(|line| line.len() > WIDTH));
}

#[test]
fn nothing_known_is_no_reason_to_fail() {
    let mut blank = run("teo", 1.0, Vec::new());
    blank.energy.measured_joules = None;
    (blank.idles, blank.misses, blank.above, blank.below) = (None, None, None, None);
    (blank.governor, blank.off_by) = (None, None);
    for style in TEXTS.into_iter().chain([Style::Wide]) {
        assert_eq!(print(style, &[]).lines().filter(|line| line.contains("NaN")).count(), 0);
        let text = print(style, std::slice::from_ref(&blank));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{style:?}: {text}");
    }
}

#[test]
fn what_is_printed_can_be_read_again() {
    let counts = |outcome: &Outcome| {
        (outcome.governor.clone(), outcome.idles, outcome.misses, outcome.above, outcome.below)
    };
    for style in [Style::Runs, Style::States, Style::Predictions, Style::Markdown] {
        for given in [&two()[..], &repeated()[..]] {
            if given[0].states.is_empty() && matches!(style, Style::States | Style::Predictions) {
                continue;
            }
            let text = print(style, given);
            let read = file::read(&mut text.as_bytes(), "printed").unwrap().outcomes;
            let found: Vec<_> = read.iter().map(counts).collect();
            assert_eq!(found, given.iter().map(counts).collect::<Vec<_>>(), "{text}");
        }
    }
}
