// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares each governor with the kernel's own C file, decision by decision.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;
use idlelab_judge::sources::{self, GOVERNORS, Pair};
use idlelab_judge::{Case, Contest, KernelFile, Maker, Report, cases};
use idlelab_kernelc::Source;
use idlelab_recording::Recording;
use idlelab_states::TickRate;
use indicatif::{ProgressBar, ProgressStyle};

const AFTER_HELP: &str = "\
Examples:
  scripts/kernel-sources.sh target/kernel-sources
  judge --source target/kernel-sources
  judge --source target/kernel-sources --decisions 1G --seed 2
  judge --source target/kernel-sources --governor teo --kernel 7.3.4
  judge --source target/kernel-sources --recording recordings/*.gz

A difference is shrunk to a short case, which is printed and written as two files that
`idlelab decide` reads.

Exit status:
  0  all that was compared decides alike
  1  something does not
  2  nothing could be compared, or not all that was asked for; or a mistake in the arguments";

/// Compare each governor with the kernel's own C file, decision by decision
///
/// Machines and what happens on their CPUs are made up from a seed. The same seed compares the same
/// on every machine.
#[derive(Parser)]
#[command(name = "judge", version, after_help = AFTER_HELP)]
struct Arguments {
    /// The folder with the C files, as VERSION/teo.c and so on
    #[arg(long, value_name = "DIR")]
    source: PathBuf,
    /// How many decisions of each governor and kernel to compare; k, M and G stand for thousands,
    /// millions and thousands of millions
    #[arg(long, value_name = "N", default_value = "10M", value_parser = decisions)]
    decisions: u64,
    /// What the made-up machines are made up from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// These governors only
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = GOVERNORS)]
    governor: Vec<String>,
    /// These kernels only
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',')]
    kernel: Vec<String>,
    /// Compare on what these recordings went through, on each machine that is built in, instead of
    /// on made-up machines
    #[arg(long, value_name = "FILE", num_args = 1..)]
    recording: Vec<PathBuf>,
    /// These tick rates only [default: all that kernels are built with]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = tick_rate)]
    hz: Vec<TickRate>,
    /// How many threads work [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Where cases of a difference are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
}

fn decisions(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'M', 'G']) {
        Some(digits) if text.ends_with('k') => (digits, 1_000),
        Some(digits) if text.ends_with('M') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (text, 1),
    };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .filter(|&number| number > 0)
        .ok_or_else(|| "a number of decisions was expected, such as 500k, 10M or 1G".to_owned())
}

fn tick_rate(text: &str) -> Result<TickRate, String> {
    text.parse()
        .ok()
        .and_then(TickRate::from_hertz)
        .ok_or_else(|| "a tick rate from 24 to 1200 hertz was expected".to_owned())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("judge: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether all decide alike.
fn run(arguments: &Arguments) -> Result<bool> {
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let pairs = pairs(arguments)?;
    let recordings = arguments
        .recording
        .iter()
        .map(|file| idlelab_import::open(file))
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = io::stdout();
    if recordings.is_empty() {
        writeln!(out, "seed {}, {} decisions each", arguments.seed, arguments.decisions)?;
    }
    writeln!(
        out,
        "{:<10} {:<9} {:<15} {:>14} {:>11} {:>8}  result",
        "kernel", "governor", "here", "decisions", "scenarios", "seconds"
    )?;
    let mut alike = true;
    for pair in &pairs {
        alike &= judge(arguments, pair, &recordings, &mut out)?;
    }
    Ok(alike)
}

fn pairs(arguments: &Arguments) -> Result<Vec<Pair>> {
    let folder = arguments.source.display();
    let mut sources = sources::find(&arguments.source).with_context(|| folder.to_string())?;
    for unknown in &sources.unknown {
        eprintln!("judge: {unknown}");
    }
    let asked = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
    sources.pairs.retain(|pair| {
        asked(&arguments.governor, pair.governor) && asked(&arguments.kernel, &pair.kernel)
    });
    let pairs = sources.pairs;
    for kernel in &arguments.kernel {
        if !pairs.iter().any(|pair| pair.kernel == *kernel) {
            bail!("{folder}: there is no file of a governor to compare of kernel {kernel}");
        }
    }
    if pairs.is_empty() {
        bail!(
            "{folder}: there is no VERSION/GOVERNOR.c to compare; scripts/kernel-sources.sh \
             fetches some"
        );
    }
    Ok(pairs)
}

/// Compares one governor with one kernel's file.
fn judge(
    arguments: &Arguments,
    pair: &Pair,
    recordings: &[Recording],
    out: &mut impl Write,
) -> Result<bool> {
    let source = Source::open(&pair.file)?;
    let contest = Contest {
        first: pair.ours(),
        second: KernelFile::new(source),
        machines: pair.machines(),
        rates: arguments.hz.clone(),
    };
    let name = pair.ours.name.to_string();
    let label = format!("{:<10} {:<9} {name:<15}", pair.kernel, pair.governor);
    // Not drawn where there is no terminal.
    let bar = ProgressBar::new(arguments.decisions).with_style(
        ProgressStyle::with_template("{prefix} {wide_bar} {human_pos} of {human_len}, {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_prefix(label.clone());
    let start = Instant::now();
    let outcome = if recordings.is_empty() {
        contest.run(arguments.seed, arguments.decisions, &|decisions| bar.inc(decisions))?
    } else {
        contest.run_cases(recordings.iter().flat_map(cases))?
    };
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    if let Some(failure) = contest.second.failure() {
        bail!("{failure}");
    }
    let result = match (&outcome.difference, pair.ours.basis.caveat()) {
        (None, _) => "alike".to_owned(),
        (Some(_), None) => "DIFFERENT".to_owned(),
        (Some(_), Some(caveat)) => format!("DIFFERENT ({caveat})"),
    };
    writeln!(
        out,
        "{label} {:>14} {:>11} {seconds:>8.1}  {result}",
        outcome.decisions, outcome.scenarios
    )?;
    let Some(case) = outcome.difference else { return Ok(true) };
    let shrunk = contest.shrink(case.clone());
    let shortest = if contest.play(&shrunk)?.is_some() { shrunk } else { case };
    tell(arguments, pair, &contest, &shortest, out)?;
    Ok(false)
}

fn tell<A: Maker, B: Maker>(
    arguments: &Arguments,
    pair: &Pair,
    contest: &Contest<A, B>,
    case: &Case,
    out: &mut impl Write,
) -> Result<()> {
    let ours = pair.ours.name;
    let Some(divergence) = contest.play(case)? else {
        bail!(
            "{ours} and {} differ only after they were enabled more than once on the same CPU",
            pair.file.display()
        );
    };
    writeln!(out, "\n{}", Report { ours, kernel: &pair.kernel, case, divergence: &divergence })?;
    let stem = format!("{}-{}", pair.governor, pair.kernel);
    let states = arguments.output.join(format!("{stem}.states.csv"));
    let steps = arguments.output.join(format!("{stem}.steps.csv"));
    write(&states, &case.states_csv())?;
    write(&steps, &case.steps_csv())?;
    let hertz = case.rate.hertz();
    let (states, steps) = (states.display(), steps.display());
    for governor in [ours.to_string(), pair.file.display().to_string()] {
        writeln!(
            out,
            "  idlelab decide --governor {governor} --hz {hertz} --states {states} --steps {steps}"
        )?;
    }
    writeln!(out)?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}
