// SPDX-License-Identifier: GPL-2.0-or-later
//! Every governor against the C files of the kernels that have it.
//!
//! Needs the files: the environment variable IDLELAB_KERNEL_SOURCES names the folder that
//! `scripts/kernel-sources.sh` has filled. IDLELAB_TRACES names a folder with more recordings than
//! this repository has.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::{env, fs};

use idlelab_judge::sources::{self, Pair};
use idlelab_judge::{Contest, KernelFile, Maker, cases};
use idlelab_kernelc::Source;

fn pairs() -> Vec<Pair> {
    let Some(folder) = env::var_os("IDLELAB_KERNEL_SOURCES") else {
        eprintln!("skipped: IDLELAB_KERNEL_SOURCES does not name a folder of kernel sources");
        return Vec::new();
    };
    let sources = sources::find(Path::new(&folder)).unwrap();
    assert!(!sources.pairs.is_empty(), "no governor's C file in {}", folder.display());
    assert_eq!(sources.unknown, [""; 0]);
    sources.pairs
}

fn contest(pair: &Pair) -> Contest<impl Maker, KernelFile> {
    Contest {
        first: pair.ours(),
        second: KernelFile::new(Source::open(&pair.file).unwrap()),
        machines: pair.machines(),
        rates: Vec::new(),
    }
}

#[test]
fn governors_decide_as_the_c_does_on_made_up_machines() {
    for pair in pairs() {
        let contest = contest(&pair);
        let outcome = contest.run(3, 500_000, &|_| {}).unwrap();
        assert_eq!(outcome.difference, None, "{} of {}", pair.governor, pair.kernel);
        let failure = contest.second.failure().map(|failure| failure.to_string());
        assert_eq!(failure, None, "{} of {}", pair.governor, pair.kernel);
    }
}

#[test]
fn governors_decide_as_the_c_does_on_recordings() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings");
    let mut files = vec![own.join("teo-7.3-4cpu.txt.gz"), own.join("menu-7.3-4cpu.txt.gz")];
    if let Some(traces) = env::var_os("IDLELAB_TRACES").map(PathBuf::from) {
        for folder in ["testbed", "guest"] {
            let entries = fs::read_dir(traces.join(folder)).unwrap();
            files.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    let pairs = pairs();
    if pairs.is_empty() {
        return;
    }
    for (number, file) in files.into_iter().enumerate() {
        let recording = match idlelab_import::open(&file) {
            Ok(recording) => recording,
            // Counters and formats that are not read lie beside the recordings.
            Err(_) if number >= 2 => continue,
            Err(error) => panic!("{error}"),
        };
        assert!(cases(&recording).next().is_some(), "{}", file.display());
        for pair in &pairs {
            let contest = contest(pair);
            for case in cases(&recording) {
                let found = contest.play(&case).unwrap();
                let (governor, kernel) = (pair.governor, &pair.kernel);
                assert_eq!(found, None, "{governor} of {kernel}, {}", file.display());
            }
        }
    }
}
