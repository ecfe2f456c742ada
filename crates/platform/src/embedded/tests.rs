// SPDX-License-Identifier: GPL-2.0-or-later
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use idlelab_states::{Availability, CpuId, Nanoseconds, StateIndex};

use super::*;
use crate::{FigureKind, TableWarning, WarningKind};

/// Latency and residency in microseconds of each state of the first table.
fn rows(name: &str) -> Vec<(String, i64, i64)> {
    let platform = get(name).unwrap_or_else(|| panic!("{name} is not embedded"));
    let row = |state: &idlelab_states::IdleState| {
        let (latency, residency) = (state.exit_latency, state.target_residency);
        (state.name.to_string(), latency.as_micros(), residency.as_micros())
    };
    platform.tables()[0].states.as_slice().iter().map(row).collect()
}

fn expect(name: &str, expected: &[(&str, i64, i64)]) {
    let expected: Vec<_> = expected.iter().map(|&(n, l, r)| (n.to_owned(), l, r)).collect();
    assert_eq!(rows(name), expected, "{name}");
}

#[test]
fn every_file_of_the_folder_is_in_the_list_and_is_named_so() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("platforms");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = names().map(|name| format!("{name}.toml")).collect();
    assert_eq!(files, listed);
    assert!(names().is_sorted());
    for name in names() {
        assert_eq!(get(name).unwrap().name, name);
    }
}

#[test]
fn all_are_sound_and_only_tables_that_are_known_to_be_odd_are_odd() {
    let mut odd = Vec::new();
    for name in names() {
        let (_, warnings) = load(name).unwrap().unwrap();
        for warning in warnings {
            let WarningKind::Table(TableWarning::LatencyOverResidency { .. }) = warning.kind else {
                panic!("{warning}")
            };
            odd.push((name, warning.key));
        }
    }
    assert_eq!(
        odd,
        [
            ("bay-trail", "table.state[2].exit_latency_us".to_owned()),
            ("hikey960-a73", "table.state[2].exit_latency_us".to_owned()),
        ]
    );
}

#[test]
fn all_survive_being_written_and_read() {
    for name in names() {
        let platform = get(name).unwrap();
        let text = platform.to_toml();
        let (again, _) = Platform::from_toml(name, &text).unwrap();
        assert_eq!(again, platform, "{text}");
    }
}

#[test]
fn the_machines_of_the_published_results_have_their_tables() {
    expect(
        "raptor-lake-i5-1340p",
        &[("POLL", 0, 0), ("C1_ACPI", 1, 1), ("C2_ACPI", 127, 381), ("C3_ACPI", 1048, 3144)],
    );
    expect(
        "i7-2600k",
        &[("POLL", 0, 0), ("C1", 2, 2), ("C1E", 10, 20), ("C3", 80, 211), ("C6", 104, 345)],
    );
    expect(
        "granite-rapids",
        &[("POLL", 0, 0), ("C1", 1, 1), ("C1E", 4, 4), ("C6", 170, 650), ("C6P", 210, 1000)],
    );
    expect(
        "i5-10600k",
        &[("POLL", 0, 0), ("C1_ACPI", 1, 1), ("C2_ACPI", 120, 360), ("C3_ACPI", 1034, 3102)],
    );
    expect("power10-pseries", &[("snooze", 0, 0), ("CEDE", 10, 100)]);
    expect("rk3399", &[("WFI", 1, 1), ("cpu-sleep", 370, 900), ("cluster-sleep", 900, 2000)]);
    expect("rk3588", &[("WFI", 1, 1), ("cpu-sleep", 220, 1000)]);
    expect(
        "jasper-lake",
        &[("POLL", 0, 0), ("C1_ACPI", 1, 1), ("C2_ACPI", 253, 759), ("C3_ACPI", 1048, 3144)],
    );
    expect("skylake-sp", &[("POLL", 0, 0), ("C1", 2, 2), ("C1E", 10, 20), ("C6", 133, 600)]);
    expect(
        "cascade-lake-sp-pc6-off",
        &[("POLL", 0, 0), ("C1", 2, 2), ("C1E", 10, 20), ("C6", 92, 276)],
    );
    expect("sapphire-rapids", &[("POLL", 0, 0), ("C1", 1, 1), ("C1E", 2, 4), ("C6", 290, 800)]);
    expect("kvm-guest", &[("POLL", 0, 0), ("haltpoll idle", 1, 1)]);
    expect("apple-m1", &[("WFI", 1, 1), ("CPU PD", 10, 10_000)]);
    // The kernel cuts the last name at 15 bytes.
    expect(
        "testbed-arm64-4cpu",
        &[
            ("WFI", 1, 1),
            ("cpu-retention-0", 60, 150),
            ("cpu-retention-1", 350, 1500),
            ("cluster-retenti", 1000, 6000),
        ],
    );
    let testbed = get("testbed-arm64-4cpu").unwrap();
    assert_eq!(testbed.cpus().unwrap().len(), 4);
    assert!(testbed.power().is_none());
}

#[test]
fn the_xeons_c3_is_off() {
    for name in ["xeon-x6-2", "haswell-xeon-e5-2697-v3", "broadwell-xeon-e5-2699a-v4"] {
        let states = *get(name).unwrap().states_of(CpuId(0)).unwrap();
        assert_eq!(states.as_slice()[3].name.as_str(), "C3");
        assert_eq!(states.as_slice()[3].availability, Availability::DisabledByDriver);
        assert_eq!(states.enabled().count(), 4);
    }
}

#[test]
fn b31_the_phone_soc_has_three_tables_and_equal_residencies() {
    let soc = get("mt8196").unwrap();
    assert_eq!(soc.tick_rate.unwrap().hertz(), 1000);
    let cpuoff = |cpu| {
        let state = soc.states_of(CpuId(cpu)).unwrap().as_slice()[1];
        (state.exit_latency.as_micros(), state.target_residency.as_micros())
    };
    assert_eq!((cpuoff(0), cpuoff(4), cpuoff(7)), ((349, 6710), (196, 2120), (147, 2580)));
    assert!(soc.states_of(CpuId(8)).is_none());
    let little = soc.states_of(CpuId(0)).unwrap().as_slice();
    assert_eq!(little[1].target_residency, little[2].target_residency);
    // 4294967295 us, exactly.
    assert_eq!(little[3].target_residency, Nanoseconds::new(4_294_967_295_000));
}

#[test]
fn the_boards_observed_latencies_are_far_below_its_table() {
    let board = get("rk3399").unwrap();
    assert_eq!(board.tick_rate.unwrap().hertz(), 100);
    let typical = |state| {
        let observed = board.tables()[0].observed[StateIndex::new(state).unwrap()].clone();
        observed.unwrap().typical.unwrap().value.as_micros()
    };
    assert_eq!((typical(1), typical(2)), (50, 100));
}

#[test]
fn the_i7s_power_is_that_of_the_mails() {
    let i7 = get("i7-2600k").unwrap();
    let power = i7.power_of(CpuId(7)).unwrap();
    let watts = |state: usize| power.states.0[state].as_ref().unwrap().watts.clone();
    assert_eq!(watts(1).lowest(), 1.255);
    assert_eq!(watts(1).at(3_500), 4.33);
    assert_eq!(watts(4).lowest(), 0.0);
    assert_eq!(watts(3).points()[0].watts.kind, FigureKind::Assumed);
    assert_eq!(i7.topology.as_ref().unwrap().cores().len(), 4);
    // C1 against polling 14.755 W x 2 us, C1E nothing, C3 0.755 W x 211 us, C6 0.5 W x 345 us.
    let c6 = &power.states.0[4].as_ref().unwrap().transition;
    let by_hand = 14.755 * 2e-6 + 0.755 * 211e-6 + 0.5 * 345e-6;
    assert!((c6.value.0 - by_hand).abs() < 1e-9, "{c6:?}");
    assert_eq!(c6.kind, FigureKind::Derived);
    let package = &i7.power().unwrap().shared[0];
    assert_eq!(package.watts(0, 1_600), 3.68);
}

#[test]
fn juno_clusters_draw_less_level_by_level() {
    let juno = get("juno-a57").unwrap();
    let cluster = &juno.power().unwrap().shared[0];
    let state = StateIndex::new;
    let permits = [None, state(0), state(1), state(2)].map(|state| cluster.permits(0, state));
    assert_eq!(permits, [0, 1, 1, 2]);
    assert_eq!(cluster.watts(0, 1_100), 0.064);
    assert_eq!(cluster.watts(1, 1_100), 0.065);
    assert_eq!(cluster.watts(2, 1_100), 0.024);
    let power = juno.power_of(CpuId(0)).unwrap();
    // 15 mW x 2 ms = 30 uJ.
    let sleep = power.states.0[1].as_ref().unwrap();
    assert!((sleep.transition.value.0 - 30e-6).abs() < 1e-12);
}

#[test]
fn what_is_not_embedded_is_none() {
    assert_eq!(get("i7-2600"), None);
    assert_eq!(nearest("i7-2600"), Some("i7-2600k"));
    assert!(load("nothing-like-it").is_none());
}
