// SPDX-License-Identifier: GPL-2.0-or-later
//! What importing ftrace text costs: `cargo bench -p idlelab-import`.
//!
//! The peer is the least that any reader of text must do, finding the ends of lines, by the same
//! library and in the same run. The promise is 400 MB/s on one core, in memory, unpacked.

#![expect(clippy::expect_used, reason = "a bench that cannot set up has nothing to measure")]

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

const ROUNDS: usize = 20;

fn main() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings/teo-7.3-4cpu.txt.gz");
    let mut text = Vec::new();
    let file = File::open(path).expect("a recording of this repository");
    GzDecoder::new(file).read_to_end(&mut text).expect("a whole gzip file");
    let (mut import, mut lines) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(idlelab_import::read(&text[..], "recording").expect("ftrace text"));
        import = import.min(start.elapsed());
        let start = Instant::now();
        black_box(memchr::memchr_iter(b'\n', black_box(&text)).count());
        lines = lines.min(start.elapsed());
    }
    let megabytes = text.len() as f64 * 1e-6;
    let (import, lines) = (import.as_secs_f64(), lines.as_secs_f64());
    println!(
        "import {:.0} MB/s, finding line ends {:.0} MB/s, ratio {:.1}",
        megabytes / import,
        megabytes / lines,
        import / lines
    );
}
