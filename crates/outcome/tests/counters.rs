// SPDX-License-Identifier: GPL-2.0-or-later
//! Counter snapshots of real kernels (see `recordings/counters/README.md`).
//!
//! What is expected was counted by awk, which subtracts line by line and adds up:
//!
//! ```sh
//! awk -F: 'NR == FNR { before[$1] = $2; next }
//!          /usage|time|above|below|rejected/ { print $1, $2 - before[$1] }' X.before X.after |
//! awk '{ sub(/.*cpuidle./, "", $1); sum[$1] += $2 } END { for (i in sum) print i, sum[i] }'
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::fs;
use std::path::PathBuf;

use idlelab_outcome::StateOutcome;
use idlelab_outcome::count::{Count, Snapshot, between};
use idlelab_platform::dump;

fn snapshot(name: &str) -> Snapshot {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings/counters");
    let dump = dump::parse(name, &fs::read_to_string(folder.join(name)).unwrap()).unwrap();
    Snapshot { governor: dump.governor, cpus: dump.cpus }
}

fn count(name: &str) -> Count {
    let side = |side| snapshot(&format!("{name}.{side}"));
    let count = between(&side("before"), &side("after"), None).unwrap();
    assert_eq!(count.findings, [], "{name}");
    count
}

/// Usage, microseconds, above, below.
fn figures(states: &[StateOutcome]) -> Vec<[u64; 4]> {
    states
        .iter()
        .map(|state| {
            assert_eq!(state.rejected, Some(0));
            [state.usage, state.time_ns / 1_000, state.above.unwrap(), state.below.unwrap()]
        })
        .collect()
}

#[test]
fn testbed_under_teo() {
    let outcome = count("teo-7.3-4cpu").outcome;
    assert_eq!(
        figures(&outcome.states),
        [
            [15_358, 1_991_840, 0, 4_944],
            [8_139, 5_422_437, 738, 779],
            [904, 2_262_406, 41, 5],
            [379, 18_034_062, 62, 0],
        ]
    );
    assert_eq!((outcome.idles, outcome.misses), (Some(24_780), Some(6_569)));
    assert_eq!(
        figures(&outcome.per_cpu[2].states),
        [
            [9_225, 1_089_997, 0, 3_946],
            [2_924, 671_880, 369, 53],
            [25, 64_767, 4, 0],
            [16, 4_945_813, 2, 0],
        ]
    );
}

#[test]
fn testbed_under_menu() {
    let outcome = count("menu-7.3-4cpu").outcome;
    assert_eq!(
        figures(&outcome.states),
        [
            [17_370, 1_858_543, 0, 6_434],
            [5_899, 3_963_888, 340, 530],
            [734, 1_839_838, 53, 0],
            [565, 20_177_565, 99, 0],
        ]
    );
    assert_eq!((outcome.idles, outcome.misses), (Some(24_568), Some(7_456)));
}

#[test]
fn guest_that_may_not_sleep() {
    let outcome = count("menu-qos0").outcome;
    // The same kernel's trace of that time has 3,847 `cpu_idle_miss` events, all of CPU 0 (the
    // rings of this machine hold nothing of CPU 1).
    assert_eq!(
        figures(&outcome.per_cpu[0].states),
        [[3_847, 981_981, 0, 3_847], [199, 1_095_836, 0, 0]]
    );
    assert_eq!(figures(&outcome.states), [[7_761, 1_975_677, 0, 7_761], [564, 2_296_391, 0, 0]]);
}

#[test]
fn guest_that_never_polls() {
    let outcome = count("haltpoll0-sweep").outcome;
    assert_eq!(figures(&outcome.states), [[0, 0, 0, 0], [27_064, 7_623_612, 0, 0]]);
    assert_eq!(outcome.states[1].name, "haltpoll idle");
}

#[test]
fn guest_as_bpf_programs_saw_it() {
    // bpftrace counted 19,489 entries of state 1 and 3 of state 0 on CPU 0 in the same time.
    let outcome = count("bpf-menu-bothcpus").outcome;
    assert_eq!(figures(&outcome.per_cpu[0].states), [[3, 152, 0, 3], [19_489, 336_903, 0, 0]]);
    assert_eq!(outcome.per_cpu[1].states[1].usage, 9_880);
}
