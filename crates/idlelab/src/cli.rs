// SPDX-License-Identifier: GPL-2.0-or-later
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use idlelab_governors::catalog::{self, GovernorName};
use idlelab_replay::ExitLatency;
use idlelab_states::TickRate;

const EXIT_CODES: &str = "\
Exit status:
  0  done (also when the reader of the output closed it early)
  1  an input could not be used, or an output not be written
  2  the command line is wrong
  3  done, but a self-check did not hold: do not trust the figures";

/// A laboratory for Linux CPU idle governors
///
/// Replays recordings of real CPUs through any governor and says what it would have done with the
/// very same wakeups. Results go to standard output, everything else to standard error.
#[derive(Parser)]
#[command(name = "idlelab", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Say what governors would have done with the wakeups of a recording
    Replay(Replay),
    /// Say what a recording holds and how much it knows
    Info(Info),
    /// Keep a recording as a Parquet file, with the machine that it is from
    Import(Import),
    /// List the machines whose idle states are built in, or show one
    Platforms(Platforms),
    /// List the governors
    Governors(Governors),
    /// Drive one governor step by step
    Decide(Decide),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man {
        /// Of this subcommand, such as `replay`
        command: Option<String>,
    },
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  idlelab replay                              the recording that is built in
  idlelab replay trace.txt --states rk3399    a recording, on a built-in platform
  idlelab replay trace.txt --states before.txt --hz 250
                                              with the states of a pasted counter dump:
                                              grep -r . /sys/devices/system/cpu/cpu*/cpuidle
  idlelab replay trace.txt --states /         with the states of this machine
  idlelab replay --states i7-2600k            what if the machine had those states
  idlelab replay --governors teo,menu,state:1 --format json

What is printed:
  self-check  whether the recorded governor, told what it was told then, decides as it did then
              (decisions), whether our accounting counts what the kernel counted (accounting), and
              how close it comes when it runs on its own (free run)
  shallow%    idle time in states shallower than the clairvoyant choice
  deep%       idle time in states deeper than the clairvoyant choice";

/// Say what governors would have done with the wakeups of a recording
///
/// The recorded governor's ticks and poll timeouts are taken out and each governor makes its own;
/// events from outside stay where they were. What a choice would have done to the workload is
/// beyond a replay.
#[derive(Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct Replay {
    /// The recording: ftrace text, plain or gzipped, or the file of `idlelab import`; `-` is standard
    /// input [default: one of a real kernel that is built in]
    pub(crate) recording: Option<PathBuf>,
    /// Governors to replay, as `idlelab governors` lists them
    #[arg(
        long, short, value_name = "NAME,…", value_delimiter = ',', value_parser = governor,
        default_value = "teo,teo@6.14,teo@over-eager,menu,ladder,clairvoyant"
    )]
    pub(crate) governors: Vec<GovernorName>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// The governor that was in force, where the recording does not say, or another revision of it
    #[arg(long, value_name = "NAME", value_parser = governor)]
    pub(crate) recorded_governor: Option<GovernorName>,
    /// Exit latency of the idle states
    #[arg(long, value_enum, default_value_t = Latency::Observed)]
    pub(crate) latency: Latency,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Threads to use [default: one per CPU]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// Say what a recording holds and how much it knows
#[derive(Args)]
pub(crate) struct Info {
    /// The recording: ftrace text, plain or gzipped, or the file of `idlelab import`; `-` is standard
    /// input
    pub(crate) recording: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  idlelab import trace.txt --states / -o trace.parquet
                                              on the machine that was recorded
  idlelab import trace.txt.gz --states before.txt -o trace.parquet
                                              with the states of a pasted counter dump
  idlelab replay trace.parquet                needs nothing else
  duckdb -c \"select state, count(*) from 'trace.parquet' group by state\"";

/// Keep a recording as a Parquet file, with the machine that it is from
///
/// The file holds all that a replay needs and loses nothing. Its columns are described in
/// docs/recording-parquet.md, and pandas, polars and DuckDB read them.
#[derive(Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct Import {
    /// The recording: ftrace text, plain or gzipped, or the file of `idlelab import`; `-` is standard
    /// input
    pub(crate) recording: PathBuf,
    /// The recorded machine: a built-in platform (see `idlelab platforms`), a TOML file, a pasted
    /// counter dump, or the root of a /sys tree
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) states: Option<String>,
    /// The file to write
    #[arg(long, short, value_name = "FILE.parquet")]
    pub(crate) output: PathBuf,
}

/// List the machines whose idle states are built in, or show one
#[derive(Args)]
pub(crate) struct Platforms {
    /// A built-in platform, a TOML file, a counter dump, or the root of a /sys tree
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// List the governors
#[derive(Args)]
pub(crate) struct Governors {
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Drive one governor step by step
///
/// STATES has the header `exit_latency_ns,target_residency_ns,polling,disabled`. STEPS has a header
/// that names any of `sleep_ns,tick_ns,latency_ns,tick_stopped,residency_ns,got_tick,poll_limit,
/// iowaiters,span_ns,util,load,rejected`; missing ones are 0, but `latency_ns` 2000000000000 and
/// `span_ns` as `residency_ns`. Each step prints `state,stop_tick,asked`.
#[derive(Args)]
pub(crate) struct Decide {
    /// The governor
    #[arg(long, short, value_name = "NAME", value_parser = governor)]
    pub(crate) governor: GovernorName,
    /// The kernel's tick rate (CONFIG_HZ)
    #[arg(long, value_name = "N", value_parser = tick_rate)]
    pub(crate) hz: TickRate,
    /// The idle states, as CSV
    #[arg(long, value_name = "STATES.csv")]
    pub(crate) states: PathBuf,
    /// The steps, as CSV
    #[arg(long, value_name = "STEPS.csv")]
    pub(crate) steps: PathBuf,
}

/// The machine that is replayed on.
#[derive(Args)]
pub(crate) struct Machine {
    /// The machine to replay on: a built-in platform (see `idlelab platforms`), a TOML file, a
    /// pasted counter dump, or the root of a /sys tree [default: the recorded machine]
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) states: Option<String>,
    /// The recorded machine, where the recording does not hold it and --states is another
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) recorded_states: Option<String>,
    /// The kernel's tick rate (CONFIG_HZ), where neither recording nor platform tells
    #[arg(long, value_name = "N", value_parser = tick_rate)]
    pub(crate) hz: Option<TickRate>,
}

#[derive(Args)]
pub(crate) struct Output {
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables of at most 100 columns, to paste into a mail
    Text,
    /// One JSON document
    Json,
    /// Comma-separated values with a header
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Latency {
    /// As estimated from the recording's timers
    Observed,
    /// The worst case of the idle-state table
    Table,
    /// None
    None,
}

impl From<Latency> for ExitLatency {
    fn from(latency: Latency) -> Self {
        match latency {
            Latency::Observed => Self::Observed,
            Latency::Table => Self::Table,
            Latency::None => Self::None,
        }
    }
}

fn governor(name: &str) -> Result<GovernorName, String> {
    catalog::find(name).map_err(|error| error.to_string())
}

fn tick_rate(text: &str) -> Result<TickRate, String> {
    text.parse()
        .ok()
        .and_then(TickRate::from_hertz)
        .ok_or_else(|| "a tick rate is 24 to 1200 Hz, most often 100, 250, 300 or 1000".to_owned())
}
