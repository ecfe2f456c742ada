// SPDX-License-Identifier: GPL-2.0-or-later
//! The seeds of the fuzz targets, among them what fuzzing found once, give a recording or a
//! sentence.

use std::fs;
use std::path::PathBuf;

use idlelab_import::open;

#[test]
fn seeds_give_a_recording_or_a_sentence() {
    for target in ["ftrace_text", "trace_dat", "perf_data", "parquet"] {
        let folder =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
        let mut recordings = 0;
        for seed in fs::read_dir(folder).unwrap() {
            let path = seed.unwrap().path();
            match open(&path) {
                Ok(recording) => {
                    recordings += 1;
                    let mut periods = recording.cpus.iter().flat_map(|cpu| cpu.periods.iter());
                    assert!(periods.all(|period| period.enter <= period.exit), "{path:?}");
                }
                Err(error) => assert!(error.to_string().contains(target), "{error}"),
            }
        }
        assert!(recordings > 0, "{target}");
    }
}
