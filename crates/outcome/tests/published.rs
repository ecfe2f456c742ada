// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables that people published, against sums by awk. The folder is no part of this repository:
//! `IDLELAB_TRACES` names it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::PathBuf;

use idlelab_outcome::Outcome;
use idlelab_outcome::file::{FromFile, read};

fn table(name: &str) -> Option<FromFile> {
    let Some(folder) = std::env::var_os("IDLELAB_TRACES").map(PathBuf::from) else {
        eprintln!("skipped: IDLELAB_TRACES does not name a folder of recordings");
        return None;
    };
    let path = folder.join("tables").join(name);
    Some(read(&mut File::open(path).unwrap(), name).unwrap())
}

/// Runs of a governor, and sums of idles, misses, above and below.
fn sums(outcomes: &[Outcome], governor: &str) -> (usize, u64, u64, u64, u64) {
    let runs: Vec<&Outcome> =
        outcomes.iter().filter(|run| run.governor.as_deref() == Some(governor)).collect();
    let sum = |count: fn(&Outcome) -> Option<u64>| runs.iter().map(|run| count(run).unwrap()).sum();
    (
        runs.len(),
        sum(|run| run.idles),
        sum(|run| run.misses),
        sum(|run| run.above),
        sum(|run| run.below),
    )
}

#[test]
fn idle_desktop() {
    let Some(table) = table("idle-5min.txt") else { return };
    assert_eq!(sums(&table.outcomes, "teo"), (10, 88_699, 4_995, 2_126, 2_869));
    assert_eq!(sums(&table.outcomes, "teo-tweak"), (5, 44_439, 3_541, 2_177, 1_364));
    assert_eq!(table.outcomes.len(), 15);
    assert_eq!(table.outcomes[14].iteration, 9);
    // The column that was taken out, the duration, and the second run of teo.
    assert_eq!(table.notes.len(), 3, "{:?}", table.notes);
}

#[test]
fn video() {
    let Some(table) = table("video-2min.txt") else { return };
    assert_eq!(sums(&table.outcomes, "teo"), (5, 323_246, 55_073, 45_637, 9_436));
    assert_eq!(sums(&table.outcomes, "menu"), (5, 436_040, 127_936, 1_497, 126_439));
    assert_eq!(table.outcomes.len(), 15);
    assert_eq!(table.outcomes[0].duration_ns, Some(120_000_000_000));
}

#[test]
fn times_in_states() {
    let Some(table) = table("idle-stats.txt") else { return };
    let times = |at: usize| -> Vec<f64> {
        table.outcomes[at].figures.iter().map(|figure| figure.value).collect()
    };
    assert_eq!(table.outcomes.len(), 2);
    assert_eq!(times(0), [0.01, 38.68, 0.46, 0.01, 464.23]);
    assert_eq!(times(1), [4.09, 0.0, 0.27, 0.0, 380.23]);
}
