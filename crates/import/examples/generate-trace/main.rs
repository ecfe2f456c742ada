// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes a large trace of a made-up machine, on which readers are measured:
//!
//! ```text
//! cargo run --release -p idlelab-import --example generate-trace -- \
//!     --format trace-dat|text --seconds 60 --cpus 4 [--seed 1] FILE
//! ```
//!
//! Each CPU is woken by its tasks' timers, by its tick, by a device and by other CPUs, and traces
//! what a real one would with the events of idle, the scheduler, timers and interrupts: some 5,000
//! events a second and CPU. The same arguments always give the same file.

#![expect(clippy::print_stderr, reason = "it says what is wrong with its arguments")]

mod kinds;
mod text;
mod trace_dat;
mod workload;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use workload::Cpu;

const USAGE: &str =
    "usage: generate-trace --format trace-dat|text --seconds N --cpus N [--seed N] FILE";

/// What a write is gathered to, in bytes.
const BUFFER: usize = 1 << 20;

struct Arguments {
    text: bool,
    seconds: u64,
    cpus: u32,
    seed: u64,
    file: PathBuf,
}

fn arguments() -> Option<Arguments> {
    let mut arguments = std::env::args().skip(1);
    let (mut text, mut seconds, mut cpus, mut seed, mut file) = (None, None, None, 1, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--format" => match arguments.next()?.as_str() {
                "text" => text = Some(true),
                "trace-dat" => text = Some(false),
                _ => return None,
            },
            "--seconds" => seconds = Some(arguments.next()?.parse().ok()?),
            "--cpus" => cpus = Some(arguments.next()?.parse().ok()?),
            "--seed" => seed = arguments.next()?.parse().ok()?,
            name if !name.starts_with('-') => file = Some(PathBuf::from(name)),
            _ => return None,
        }
    }
    let cpus = cpus.filter(|cpus| (1..=512).contains(cpus))?;
    let seconds = seconds.filter(|seconds| (1..=86_400).contains(seconds))?;
    Some(Arguments { text: text?, seconds, cpus, seed, file: file? })
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    let cpus: Vec<Cpu> = (0..arguments.cpus)
        .map(|cpu| Cpu::new(cpu, arguments.cpus, arguments.seconds, arguments.seed))
        .collect();
    let mut file = BufWriter::with_capacity(BUFFER, File::create(&arguments.file)?);
    if arguments.text {
        text::write(cpus, &mut file)?;
    } else {
        trace_dat::write(cpus, &mut file)?;
    }
    file.flush()?;
    Ok(ExitCode::SUCCESS)
}
