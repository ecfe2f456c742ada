// SPDX-License-Identifier: GPL-2.0-or-later
//! What reading a trace costs: `cargo run --release -p idlelab-import --example peak-memory FILE`.
//! Linux counts the peak; the recording that is kept is no part of reading.

#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use idlelab_recording::Decision;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: peak-memory FILE")?;
    let start = Instant::now();
    let recording = idlelab_import::open(Path::new(&path))?;
    let seconds = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&path)?.len();
    let of_decisions = |count: usize| count * size_of::<Decision>();
    let kept: usize = recording
        .cpus
        .iter()
        .map(|cpu| cpu.periods.allocated_bytes() + of_decisions(cpu.decisions.capacity()))
        .sum();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: usize = peak
        .and_then(|line| line.split_whitespace().next())
        .ok_or("no VmHWM in /proc/self/status")?
        .parse()?;
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "{} MB read at {:.0} MB/s; {} idle periods, {:.1} bytes each",
        bytes / 1_000_000,
        bytes as f64 * 1e-6 / seconds,
        recording.periods(),
        kept as f64 / recording.periods() as f64
    );
    println!(
        "peak {:.1} MiB, of which the recording {:.1} MiB: reading took {:.1} MiB",
        mib(peak * 1024),
        mib(kept),
        mib((peak * 1024).saturating_sub(kept))
    );
    Ok(())
}
