// SPDX-License-Identifier: GPL-2.0-or-later
//! The recordings of this repository, in memory and as files.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::path::PathBuf;

use idlelab_platform::embedded;
use idlelab_recording::{Recording, parquet};

fn recordings() -> [Recording; 2] {
    ["teo-7.3-4cpu.txt.gz", "menu-7.3-4cpu.txt.gz"].map(|name| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(name);
        idlelab_import::open(&path).unwrap()
    })
}

#[test]
fn a_recording_of_a_real_kernel_comes_back_from_its_file() {
    for mut recording in recordings() {
        recording.machine = embedded::get("testbed-arm64-4cpu");
        let mut file = Vec::new();
        parquet::write(&recording, &mut file).unwrap();
        let again = parquet::read(file).unwrap();
        assert_eq!(again.periods(), recording.periods());
        assert!(again == recording);
    }
}

/// What a vector sets aside beyond its rows counts too.
#[test]
fn a_period_costs_at_most_48_bytes_of_memory() {
    for recording in recordings() {
        let bytes: usize = recording.cpus.iter().map(|cpu| cpu.periods.allocated_bytes()).sum();
        let each = bytes as f64 / recording.periods() as f64;
        assert!(each <= 48.0, "{each} bytes");
    }
}
