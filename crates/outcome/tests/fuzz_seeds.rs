// SPDX-License-Identifier: GPL-2.0-or-later
//! The seeds of the fuzz target, among them what fuzzing found once, give outcomes or a sentence.

use std::fs::{self, File};
use std::path::PathBuf;

use idlelab_outcome::file::read;

#[test]
fn seeds_give_outcomes_or_a_sentence() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/outcome");
    let mut outcomes = 0;
    for seed in fs::read_dir(folder).unwrap() {
        let path = seed.unwrap().path();
        match read(&mut File::open(&path).unwrap(), "seed") {
            Ok(found) => outcomes += found.outcomes.len(),
            Err(error) => assert!(error.to_string().starts_with("seed"), "{path:?}: {error}"),
        }
    }
    assert!(outcomes >= 8, "{outcomes}");
}
