// SPDX-License-Identifier: GPL-2.0-or-later
//! Finding governors by name.

use idlelab_governors::catalog::{CATALOGUE, GovernorName, Standing, find};
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
    assert_eq!(
        find("teo@6.15").unwrap_err().to_string(),
        "no governor is called \"teo@6.15\", did you mean teo@6.14? There are teo, teo@6.14, \
         teo@over-eager, menu, ladder, haltpoll, state:N, deepest, clairvoyant"
    );
    for (name, nearest) in
        [("mneu", "menu"), ("TEO", "teo"), ("haltpol", "haltpoll"), ("deepst", "deepest")]
    {
        assert_eq!(find(name).unwrap_err().nearest(), nearest);
    }
    let long = "clairvoyance".repeat(10_000);
    assert!(find(&long).is_err_and(|error| error.to_string().contains("did you mean")));
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
