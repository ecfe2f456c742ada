// SPDX-License-Identifier: GPL-2.0-or-later
//! Finding governors by name.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use idlelab_governors::catalog::{
    AnyGovernor, Basis, CATALOGUE, GovernorName, Standing, UnknownGovernor, find, resolve,
};
use idlelab_states::StateIndex;

#[test]
fn every_name_of_the_catalogue_is_found_and_displays_as_itself() {
    for entry in &CATALOGUE {
        let name = entry.name.replace('N', "7");
        let found = find(&name).unwrap();
        assert_eq!(found.to_string(), name);
        assert_eq!(found.entry(), *entry);
    }
    assert_eq!(find("state:9"), Ok(GovernorName::State(StateIndex::new(9).unwrap())));
    assert_eq!(find("state:03").unwrap().to_string(), "state:3");
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_and_with_all() {
    let error = find("teo@over-eeger").unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with(
            "no governor is called \"teo@over-eeger\", did you mean teo@over-eager? There are teo, \
             teo@7.0, teo@6.19, "
        ),
        "{message}"
    );
    assert!(
        message.ends_with(
            ", state:N, deepest, clairvoyant; and NAME@VERSION for kernels of 4.5 to 7.3"
        ),
        "{message}"
    );
    assert!(CATALOGUE.iter().all(|entry| message.contains(entry.name)));
    for (name, nearest) in [
        ("mneu", "menu"),
        ("TEO", "teo"),
        ("haltpol", "haltpoll"),
        ("deepst", "deepest"),
        ("menu@4.6-revert", "menu@4.6-reverted"),
    ] {
        assert_eq!(find(name).unwrap_err().nearest(), nearest);
    }
    let long = "clairvoyance".repeat(10_000);
    assert!(find(&long).is_err_and(|error| error.to_string().contains("did you mean")));
}

fn resolved(name: &str) -> (String, Basis) {
    let resolution = resolve(name).unwrap();
    (resolution.name.to_string(), resolution.basis)
}

/// The kernels of the golden hashes, each with the name of its row.
#[test]
fn a_kernel_version_names_the_revision_that_was_in_force() {
    for (revision, versions) in [
        ("teo@5.1", &["5.1", "5.2"][..]),
        ("teo@5.10", &["5.10", "5.10.0"]),
        ("teo@5.14", &["5.14", "5.15", "5.19", "6.0", "6.1", "6.2"]),
        ("teo@6.3", &["6.3", "6.4", "6.5"]),
        ("teo@6.6", &["6.6", "6.7", "6.8", "6.9", "6.10"]),
        ("teo@6.11", &["6.11", "6.12", "6.13"]),
        ("teo@6.14", &["6.14"]),
        ("teo@6.19", &["6.19"]),
        ("teo@7.0", &["7.0"]),
        ("teo", &["7.1", "7.2", "7.3"]),
        ("menu@4.5", &["4.5"]),
        ("menu@4.6", &["4.6"]),
        ("menu@5.10", &["5.10"]),
        ("menu@5.14", &["5.14", "5.19", "6.1", "6.5"]),
        ("menu@6.6", &["6.6", "6.8", "6.11"]),
        ("menu@6.12", &["6.12", "6.13", "6.14"]),
        ("menu@6.15", &["6.15"]),
        ("menu@6.17", &["6.17"]),
        ("menu@6.18", &["6.18"]),
        ("menu@6.19", &["6.19"]),
        ("menu", &["7.1", "7.2", "7.3"]),
        ("ladder", &["6.1", "6.12", "7.3"]),
        ("haltpoll@6.8", &["6.1", "6.8"]),
        ("haltpoll", &["6.12", "7.3"]),
    ] {
        let governor = revision.split('@').next().unwrap();
        for version in versions {
            let name = format!("{governor}@{version}");
            assert_eq!(resolved(&name), (revision.to_owned(), Basis::Exact), "{name}");
        }
    }
}

#[test]
fn a_kernel_between_two_that_are_described_is_said_to_be_presumed() {
    for (name, revision) in [
        ("teo@5.4", "teo@5.3"),
        ("teo@5.9", "teo@5.10"),
        ("teo@5.13", "teo@5.10"),
        ("teo@6.16", "teo@6.14"),
        ("teo@6.18.3", "teo@6.14"),
        ("menu@4.16", "menu@4.6"),
        ("menu@4.17", "menu@5.10"),
        ("menu@5.13", "menu@5.14"),
        ("menu@6.16", "menu@6.15"),
        ("menu@7.0", "menu@6.19"),
        ("haltpoll@6.9", "haltpoll"),
    ] {
        assert_eq!(resolved(name), (revision.to_owned(), Basis::Presumed), "{name}");
    }
}

#[test]
fn debians_point_releases_are_known_exactly_and_others_by_their_series() {
    for (version, teo, menu) in [
        ("6.12.117", "teo@6.12.117", "menu@6.12.117"),
        ("6.1.192", "teo@5.14", "menu@6.1.192"),
        ("7.3.4", "teo", "menu"),
    ] {
        for version in [version.to_owned(), format!("debian-{version}")] {
            assert_eq!(resolved(&format!("teo@{version}")), (teo.to_owned(), Basis::Exact));
            assert_eq!(resolved(&format!("menu@{version}")), (menu.to_owned(), Basis::Exact));
        }
    }
    for (name, revision) in [
        ("menu@6.12.30", "menu@6.12"),
        ("menu@debian-6.12.30", "menu@6.12"),
        ("menu@debian-6.12", "menu@6.12"),
        ("menu@6.12.116", "menu@6.12"),
        // What was found in a point release is in those after it.
        ("menu@6.12.118", "menu@6.12.117"),
        ("teo@debian-6.12.200", "teo@6.12.117"),
        ("menu@6.1.193", "menu@6.1.192"),
        ("teo@6.6.103", "teo@6.6"),
        ("ladder@6.6.1", "ladder"),
    ] {
        assert_eq!(resolved(name), (revision.to_owned(), Basis::BackportsMayDiffer), "{name}");
    }
    // What the catalogue itself lists is what it says.
    for entry in CATALOGUE.iter().filter(|entry| entry.name != "state:N") {
        assert_eq!(resolved(entry.name), (entry.name.to_owned(), Basis::Exact));
    }
}

/// teo was merged in 5.1; there is no 6.20, and no kernel after 7.3 is described.
#[test]
fn a_kernel_without_the_governor_is_answered_with_those_that_have_it() {
    assert_eq!(
        resolve("teo@4.20").unwrap_err().to_string(),
        "\"teo@4.20\" is not described: teo is, of kernels 5.1 to 7.3"
    );
    for name in ["menu@4.4", "teo@6.20", "teo@7.4", "teo@8.0", "teo@6.20.1", "ladder@6.0"] {
        let error = resolve(name).unwrap_err();
        assert!(matches!(error, UnknownGovernor::Kernel { .. }), "{name}: {error}");
    }
    for name in ["teo@", "teo@6", "teo@6.", "teo@6.12.", "teo@6.12.1.1", "teo@+6.12", "teo@ 6.12"] {
        assert_eq!(resolve(name), Err(UnknownGovernor::Name(name)));
    }
    for name in ["deepest@6.12", "@6.12", "teo@99999.1", "teo@debian-", "teo@rfc-v7"] {
        assert_eq!(resolve(name), Err(UnknownGovernor::Name(name)));
    }
}

#[test]
fn what_was_never_compared_with_c_is_said_to_be_reconstructed() {
    let reconstructed: Vec<_> = CATALOGUE
        .iter()
        .filter(|entry| entry.standing == Standing::Reconstructed)
        .map(|entry| entry.name)
        .collect();
    assert_eq!(
        reconstructed,
        ["teo@5.1", "teo@rfc-v6", "menu@6.18", "menu@6.17", "menu@4.6-reverted"]
    );
}

/// A replay keeps one for each CPU. ladder's counts and thresholds of ten states are the largest.
#[test]
fn any_governor_takes_at_most_six_cache_lines() {
    assert!(size_of::<AnyGovernor>() <= 6 * 64, "{} bytes", size_of::<AnyGovernor>());
}

#[test]
fn a_state_number_out_of_range_is_answered_with_the_range() {
    for name in
        ["state:10", "state:", "state:x", "state:-1", "state:+1", "state:99999999999999999999"]
    {
        assert_eq!(
            find(name).unwrap_err().to_string(),
            format!("\"{name}\" names no idle state: state:N takes 0 to 9")
        );
    }
}

#[test]
fn the_name_that_stands_for_ten_is_no_name_itself() {
    assert!(find("state:N").is_err());
}

#[test]
fn what_no_kernel_has_is_said_to_be_idlelabs_own() {
    for entry in &CATALOGUE {
        assert_eq!(entry.standing == Standing::Own, entry.kernels == "none", "{}", entry.name);
    }
}
