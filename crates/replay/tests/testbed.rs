// SPDX-License-Identifier: GPL-2.0-or-later
//! Replay against two recordings of a real kernel (see `recordings/README.md`). What is expected
//! was counted in the recordings by other means: `grep -c` of the text, and the kernel's own
//! `cpu_idle_miss` events.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::path::PathBuf;
use std::sync::LazyLock;

use idlelab_governors::catalog::{self, GovernorName};
use idlelab_platform::{Platform, embedded};
use idlelab_recording::{Fidelity, Recording};
use idlelab_replay::{FreeRun, Prepared, WhatIf, check_accounting, check_decisions};
use idlelab_states::{CpuId, Nanoseconds, TickRate};

static TEO: LazyLock<Recording> = LazyLock::new(|| recording("teo-7.3-4cpu.txt.gz"));
static MENU: LazyLock<Recording> = LazyLock::new(|| recording("menu-7.3-4cpu.txt.gz"));

fn recording(name: &str) -> Recording {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(name);
    idlelab_import::open(&path).unwrap()
}

fn platform() -> Platform {
    embedded::get("testbed-arm64-4cpu").unwrap()
}

fn governor(name: &str) -> GovernorName {
    catalog::find(name).unwrap()
}

fn prepared(recording: &Recording) -> Prepared {
    Prepared::new(recording, &platform(), &WhatIf::default()).unwrap()
}

#[test]
fn every_recorded_decision_is_reproduced() {
    let rate = TickRate::from_hertz(250).unwrap();
    for (recording, name, decisions) in [(&*TEO, "teo", 24_078), (&*MENU, "menu", 23_826)] {
        let check = check_decisions(recording, &platform(), rate, governor(name)).unwrap();
        assert_eq!((check.decisions, check.reproduced), (decisions, decisions), "{name}");
        assert!(check.constant_guess < decisions * 3 / 4, "{name}: a constant is no triumph");
    }
}

/// A check that cannot fail proves nothing: another revision must not pass it.
#[test]
fn another_revision_does_not_reproduce_the_decisions() {
    let rate = TickRate::from_hertz(250).unwrap();
    let check = check_decisions(&TEO, &platform(), rate, governor("teo@6.14")).unwrap();
    assert!(check.reproduced < check.decisions * 9 / 10);
    assert!(check.first_divergence.is_some());
}

#[test]
fn the_kernels_own_verdicts_are_counted() {
    for (recording, entries, misses) in [
        // The `cpu_idle` entries by state, and the `cpu_idle_miss` events, by grep.
        (&*TEO, [15_252, 8_080, 952, 410], 6_467),
        (&*MENU, [17_473, 5_719, 698, 563], 7_392),
    ] {
        let check = check_accounting(recording, &platform()).unwrap().unwrap();
        assert_eq!(check.disagreements, 0);
        assert!(check.too_close_to_call <= 2);
        let counted: Vec<u64> = check.states.iter().map(|state| state.entries).collect();
        assert_eq!(counted, entries);
        let total = check.total();
        assert_eq!(total.computed_above + total.computed_below, misses);
        assert_eq!(
            (total.computed_above, total.computed_below),
            (total.recorded_above, total.recorded_below)
        );
    }
}

/// The recorded governor, replayed on its own, lands where it really was; and a recording of the
/// other governor predicts it.
#[test]
fn free_runs_and_predictions_come_close_to_what_happened() {
    let prepared = [prepared(&TEO), prepared(&MENU)];
    for (of, name) in ["teo", "menu"].into_iter().enumerate() {
        for (from, replayed) in prepared.iter().enumerate() {
            let outcomes = replayed.run(governor(name));
            let truth = prepared[of].recorded_states();
            let error = FreeRun::new(&truth, &outcomes[0]).worst_share_error;
            let limit = if of == from { 3.0 } else { 6.0 };
            assert!(error <= limit, "{name}: {error} points off");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let governors = ["teo", "menu", "ladder", "haltpoll", "clairvoyant"].map(governor);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| prepared(&MENU).compare(&governors))
    };
    assert_eq!(run(1), run(7));
}

#[test]
fn nobody_beats_the_clairvoyant() {
    let other = embedded::get("i7-2600k").unwrap();
    let recorded = platform();
    let what_if = WhatIf { platform: Some(&other), ..WhatIf::default() };
    let prepared = Prepared::new(&TEO, &recorded, &what_if).unwrap();
    let names = ["teo", "teo@6.14", "menu", "ladder", "haltpoll", "deepest", "state:1"];
    for outcome in prepared.compare(&names.map(governor)) {
        let regret = outcome.regret.unwrap().joules.unwrap();
        assert!(regret > 0.0, "{:?}: {regret} J", outcome.governor);
    }
}

#[test]
fn idle_time_is_conserved() {
    // Every governor idles in the same gaps: its ticks and overheads alone make the difference.
    let prepared = prepared(&TEO);
    let longest = prepared.run(governor("deepest"))[0].idle_ns();
    for name in ["teo", "menu", "ladder", "state:0"] {
        let idle = prepared.run(governor(name))[0].idle_ns();
        assert!(idle <= longest && idle > longest / 100 * 98, "{name}: {idle} of {longest}");
    }
}

#[test]
fn a_recording_without_causes_gives_two_bounds() {
    let mut blind = TEO.clone();
    blind.fidelity = Fidelity::Idle;
    let outcomes = prepared(&blind).run(governor("teo"));
    assert_eq!(outcomes.len(), 2);
    assert_ne!(outcomes[0].assumption, outcomes[1].assumption);
}

#[test]
fn the_first_difference_is_a_difference_after_equal_choices() {
    let prepared = prepared(&TEO);
    assert_eq!(prepared.first_difference(governor("teo"), governor("teo")), None);
    let (teo, menu) = prepared.first_difference(governor("teo"), governor("menu")).unwrap();
    assert_eq!((teo.cpu, teo.time), (menu.cpu, menu.time));
    assert_ne!((teo.state, teo.stop_tick), (menu.state, menu.stop_tick));
    // What comes before was alike, so both are told the same.
    assert_eq!(teo.tick, menu.tick);
    assert_eq!(teo.last_residency, menu.last_residency);
}

#[test]
fn a_decision_is_found_by_its_time() {
    let prepared = prepared(&TEO);
    // The round that began at 764.375008 ms on cpu1: 745.840 us to a timer, read in the text.
    let at = Nanoseconds::from_micros(764_380);
    let found = prepared.explain(governor("teo"), CpuId(1), at).unwrap();
    assert_eq!(found.time, Nanoseconds::new(764_375_008));
    assert_eq!(found.sleep_length.unwrap().sleep, Nanoseconds::new(745_840));
    assert_eq!(found.latency_limit, Nanoseconds::new(2_000_000_000_000));
    assert!(found.metrics.iter().any(|metric| metric.name == "hits"));
    assert_eq!(prepared.explain(governor("teo"), CpuId(9), at), None);
}
