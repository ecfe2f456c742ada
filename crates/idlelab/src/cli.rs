// SPDX-License-Identifier: GPL-2.0-or-later
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use idlelab_evidence::style::Style;
use idlelab_replay::{ExitLatency, LatencyLimit};
use idlelab_states::{Nanoseconds, TickRate};

use crate::governor::{self, Given};

const EXIT_CODES: &str = "\
Exit status:
  0  done (also when the reader of the output closed it early)
  1  an input could not be used, or an output not be written; also if a governor's C file failed
     in the run, and what is printed is of the others
  2  the command line is wrong
  3  done, but a self-check did not hold: do not trust the figures";

/// A laboratory for Linux CPU idle governors
///
/// Replays recordings of real CPUs through any governor and says what it would have done with the
/// very same wakeups; counts what a machine's idle states did between two snapshots. Results go to standard output, everything else to standard error.
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
    /// Say why a governor chose what it chose
    Explain(Explain),
    /// Say what idle states did between two snapshots of their counters
    Count(Count),
    /// Say whether a governor is better than another, by how much, and how sure that is
    Compare(Compare),
    /// Say how many runs it takes to see a difference
    Plan(Plan),
    Report(Report),
    /// Say what a recording holds and how much it knows
    Info(Info),
    /// Keep a recording as a Parquet file, with the machine that it is from
    Import(Import),
    /// Record what the CPUs of this machine do
    Record(Record),
    /// Undo what a `record` that was killed had changed on this machine
    Restore(Restore),
    /// List the machines whose idle states are built in, or show one
    Platforms(Platforms),
    /// List the governors
    Governors(Governors),
    /// Drive one governor step by step
    Decide(Decide),
    /// Say what happens when a governor's choices feed back into a workload
    Simulate(Simulate),
    /// List the scenarios that are built in, or print one
    Scenarios(Scenarios),
    /// Run published experiments again and say whether they come out the same
    Headlines(Headlines),
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
  idlelab replay --disable 3 --latency-limit 100@0-1 --hz 1000
                                              what if it were set up otherwise
  idlelab replay --governors teo,menu,state:1 --format json
  idlelab replay --style runs                 a table as kernel developers post it
  idlelab replay --format parquet -o outcomes.parquet
  idlelab replay --governors teo,teo@6.6 --differences
                                              by which rules they part
  idlelab replay -g teo,drivers/cpuidle/governors/teo.c
                                              your patched file beside the kernel's

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
    /// Governors to replay, as `idlelab governors` lists them, or C files of a kernel such as
    /// path/to/teo.c
    #[arg(
        long, short, value_name = "NAME,…", value_delimiter = ',', value_parser = governor::parse,
        default_value = "teo,teo@6.14,teo@over-eager,menu,ladder,clairvoyant"
    )]
    pub(crate) governors: Vec<Given>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// The governor that was in force, where the recording does not say, or another revision of it
    #[arg(long, value_name = "NAME", value_parser = governor::parse)]
    pub(crate) recorded_governor: Option<Given>,
    /// Also say by which rules the two governors choose differently, how often, and how to explain
    /// the first of each kind
    #[arg(long)]
    pub(crate) differences: bool,
    #[command(flatten)]
    pub(crate) printed: Printed,
    /// Threads to use [default: one per CPU]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  idlelab explain --cpu 1 --at 0.764380 -g teo,menu     in the recording that is built in
  idlelab explain --first-difference teo,menu           where they first choose differently";

/// Say why a governor chose what it chose
///
/// Replays the recording up to one decision and shows what the governor was told, its metrics at
/// that moment, by the names the kernel gives them, and its choice.
#[derive(Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct Explain {
    /// The recording, as of `replay`
    pub(crate) recording: Option<PathBuf>,
    /// The CPU
    #[arg(long, value_name = "N", requires = "at")]
    pub(crate) cpu: Option<u32>,
    /// The time in seconds of the recording's clock: the last decision not after it is explained
    #[arg(long, value_name = "SECONDS", requires = "cpu", value_parser = seconds)]
    pub(crate) at: Option<Nanoseconds>,
    /// Explain the first decision, on any CPU, in which two governors differ
    #[arg(
        long, value_name = "A,B", value_delimiter = ',', value_parser = governor::parse,
        conflicts_with_all = ["cpu", "at", "governors"]
    )]
    pub(crate) first_difference: Vec<Given>,
    /// The governors whose decision is explained, by name or C file
    #[arg(
        long, short, value_name = "NAME,…", value_delimiter = ',', value_parser = governor::parse,
        default_value = "teo"
    )]
    pub(crate) governors: Vec<Given>,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

const COUNT_EXAMPLES: &str = "\
Examples:
  grep -r . /sys/devices/system/cpu/cpu*/cpuidle /sys/devices/system/cpu/cpuidle > before.txt
  (the workload)
  grep -r . /sys/devices/system/cpu/cpu*/cpuidle /sys/devices/system/cpu/cpuidle > after.txt
  idlelab count before.txt after.txt
  idlelab count before.txt /                  from the file to this machine now
  idlelab count before.txt after.txt --seconds 30 --per-cpu
  idlelab count teo.before teo.after menu.before menu.after
                                              two runs side by side, with the change
  idlelab count before/ after/                of two copies of /sys/devices/system/cpu
  idlelab count /                             this machine, since its CPUs came up

What is printed of each idle state:
  share%   its share of the idle time; window% of the time between the snapshots
  mean us  its time for each entry
  above    entries that turned out too deep: the CPU woke before the target residency
  below    entries that turned out too shallow: a deeper state would have paid off
  misses   above and below together

Counters move only when a sleep ends: wake every CPU before each snapshot, such as by
  for cpu in /sys/devices/system/cpu/cpu[0-9]*; do taskset -c ${cpu##*cpu} true; done";

/// Say what idle states did between two snapshots of their counters
///
/// A snapshot is what people paste: the output of `grep -r . …/cpuidle`, of `cat …/state*/*`
/// without names, or of pepc; or a folder with a copy of /sys; or `/` for this machine now. CPUs
/// that cannot be counted (their counters fell, their states changed) are left out and named.
#[derive(Args)]
#[command(
    after_help = COUNT_EXAMPLES,
    override_usage = "idlelab count [OPTIONS] BEFORE AFTER [BEFORE AFTER]…\n       \
                      idlelab count [OPTIONS] SNAPSHOT"
)]
pub(crate) struct Count {
    /// Snapshots before and after, pair by pair; `-` is standard input. One alone is counted from
    /// when the CPUs came up
    #[arg(required = true, value_name = "SNAPSHOT")]
    snapshots: Vec<String>,
    /// Seconds between before and after, for shares of that time; one number for each pair, or one
    /// for all
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = window)]
    seconds: Vec<Nanoseconds>,
    /// Show each CPU, too
    #[arg(long)]
    pub(crate) per_cpu: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Two snapshots to count between.
pub(crate) struct Pair<'a> {
    /// None if everything since the CPUs came up is meant.
    pub(crate) before: Option<&'a str>,
    pub(crate) after: &'a str,
    pub(crate) window: Option<Nanoseconds>,
}

impl Count {
    /// What belongs together on the command line.
    pub(crate) fn pairs(&self) -> Result<Vec<Pair<'_>>, clap::Error> {
        let wrong = |message: &str| {
            let mut cli = Cli::command();
            cli.build();
            let command = cli.find_subcommand_mut("count");
            let error = clap::Error::raw(ErrorKind::WrongNumberOfValues, message);
            Err(match command {
                Some(command) => error.format(command),
                None => error,
            })
        };
        if self.snapshots.iter().filter(|snapshot| *snapshot == "-").count() > 1 {
            return wrong("standard input can be only one of the snapshots");
        }
        if let [after] = &self.snapshots[..] {
            if !self.seconds.is_empty() {
                return wrong("--seconds is the time between two snapshots, and there is one");
            }
            return Ok(vec![Pair { before: None, after, window: None }]);
        }
        let (pairs, rest) = self.snapshots.as_chunks::<2>();
        if let [alone] = rest {
            return wrong(&format!(
                "snapshots come in pairs, before and after; `{alone}` is without an after"
            ));
        }
        if self.seconds.len() > 1 && self.seconds.len() != pairs.len() {
            return wrong("--seconds needs one number for each pair, or one for all");
        }
        if pairs.iter().any(|[before, after]| before == "/" && after == "/") {
            return wrong(
                "`/` is this machine at this moment, which is one snapshot; save the other to a \
                 file before the workload",
            );
        }
        Ok(pairs
            .iter()
            .enumerate()
            .map(|(at, [before, after])| Pair {
                before: Some(before),
                after,
                window: self.seconds.get(at).or(self.seconds.first()).copied(),
            })
            .collect())
    }
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  idlelab compare runs.jsonl                  every governor in it with the first
  idlelab compare table.txt --baseline menu   of a table as pasted into a mail
  idlelab compare before.jsonl after.jsonl --by file
                                              one governor on two kernels, the first file's first
  idlelab compare runs.jsonl --metric joules,throughput
                                              what matters, chosen before looking at the results
  idlelab replay --format json | idlelab compare -
  idlelab compare runs.jsonl --style mmtests

What is printed:
  verdicts    better, worse, higher or lower; `no detectable difference`, with the smallest that
              would probably have been seen; `undecided`, with the reason
  change%     the candidate's mean less the baseline's, in per cent of the baseline's
  95% interval  the changes that the test does not reject; it is for each metric alone
  HL%         the Hodges-Lehmann estimate of the change: a shift that outliers hardly move
  p           of a permutation test; p Holm: corrected for how many metrics are tested
  replays%    of replays, which have no sampling error: the least and the greatest change of any
              recording and bound; CPUs -/=/+ counts those with less, the same and more

Run the governors in turn and often enough (see `idlelab plan`): if one ran before the other, a
drift of the machine looks like a difference, and there is no verdict.";

/// Say whether a governor is better than another, by how much, and how sure that is
///
/// Takes outcomes: what `idlelab replay` and `count` print as json, JSON Lines or csv, or a table as
/// people paste them into mails. The governor that comes first is the baseline. Outcomes of
/// different workloads or platforms are compared apart.
#[derive(Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct Compare {
    /// Files of outcomes; `-` is standard input
    #[arg(required = true, value_name = "OUTCOMES")]
    pub(crate) outcomes: Vec<String>,
    /// What the others are compared with: a governor, or a file with --by file [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// By what runs belong together [default: governor; file if all are of one governor]
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    /// Only these metrics, by their names without unit
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Where the random numbers start, if there are more arrangements than can be looked at
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the outcomes in a style of the mailing lists instead; `mmtests` marks what is
    /// significant
    #[arg(long, value_enum, conflicts_with = "format")]
    pub(crate) style: Option<TableStyle>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Their governor
    Governor,
    /// The file that they are from
    File,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  idlelab report -o report.html               the recording that is built in, teo against menu
  idlelab report trace.dat --states / -g teo,path/to/teo.c,clairvoyant -o report.html
                                              your patch on a recording
  idlelab report runs.jsonl -o report.html    runs of a workload under several governors
  idlelab report runs.jsonl trace.dat --states / -o report.html
                                              the same, and what a recording of it shows

Of the governors that are replayed the first is the baseline, and the first two are drawn beside each
other in the timeline.";

/// Put verdict, tables, pictures and a timeline on one page of HTML
///
/// The page needs no network and no other file. Where outcomes are given, they are compared;
/// otherwise it is what the governors would have done with the recording.
#[derive(Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct Report {
    /// Files of outcomes, and at most one recording; what a file is shows in its content [default:
    /// the recording that is built in]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// The page that is written
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Governors to replay on the recording
    #[arg(
        long, short, value_name = "NAME,…", value_delimiter = ',', value_parser = governor::parse,
        default_value = "teo,menu,ladder,clairvoyant"
    )]
    pub(crate) governors: Vec<Given>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// What the outcomes are compared with: a governor [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Only these metrics, by their names without unit
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// What the report is called [default: who is compared with whom]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  idlelab plan --pilot five-runs.jsonl --metric joules --difference 2%
                                              how many runs to see 2 %
  idlelab plan --pilot five-runs.jsonl --runs 20
                                              what 20 runs of each governor can see

A pilot is a few runs of one governor, or of two in turn. Of few runs the noise itself is not well
known: `at most` is what it may well come to.";

/// Say how many runs it takes to see a difference
///
/// Takes the noise from a pilot. The more metrics are looked at, the more runs it takes: name those
/// that matter, and give the same to `compare`.
#[derive(Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub(crate) struct Plan {
    /// Files of outcomes, as of `compare`
    #[arg(long, required = true, num_args = 1.., value_name = "OUTCOMES")]
    pub(crate) pilot: Vec<String>,
    /// Only these metrics, by their names without unit
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// The difference to see, in per cent of the mean
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "5%")]
    pub(crate) difference: f64,
    /// Say what so many runs of each governor can see, too
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=10_000))]
    pub(crate) runs: Option<u16>,
    /// With which probability, in per cent, the difference is to be seen
    #[arg(long, value_name = "PERCENT", value_parser = power, default_value = "80%")]
    pub(crate) power: f64,
    #[command(flatten)]
    pub(crate) output: Output,
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

const RECORD_EXAMPLES: &str = "\
Examples:
  idlelab record --for 10                     ten seconds, to recording.parquet
  idlelab record -o build.parquet -- make -j2 as long as a command runs
  idlelab record --from-enable menu --for 30  with menu switched in anew, and out again
  idlelab record --print-setup > record.sh    for a machine without idlelab:
                                              sh record.sh FOLDER SECONDS there, then here
                                              idlelab import FOLDER -o FILE.parquet

Undone at every end, also by Ctrl-C, SIGTERM or an error. After SIGKILL or a crash the next record
refuses until `idlelab restore` has put things back; what was recorded until then is in the folder
idlelab-record-* beside the output, which `idlelab import` reads.";

/// Record what the CPUs of this machine do
///
/// Traces in a tracefs instance of its own, at the highest fidelity that the kernel allows, and
/// says which that is and why. It takes root. All that a replay needs goes into the file: idle
/// states, topology, tick rate, governor, counters before and after.
#[derive(Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub(crate) struct Record {
    /// The file to write
    #[arg(long, short, value_name = "FILE.parquet", default_value = "recording.parquet")]
    pub(crate) output: PathBuf,
    /// How long to record, in seconds [default: until Ctrl-C]
    #[arg(long = "for", value_name = "SECONDS", value_parser = window, conflicts_with = "command")]
    pub(crate) time: Option<Nanoseconds>,
    /// Switch to another governor and, once the recording runs, to this one, so that its data
    /// starts from zero; in the end the one that was there is put back
    #[arg(long, value_name = "GOVERNOR")]
    pub(crate) from_enable: Option<String>,
    /// The size of each CPU's ring buffer, in KiB
    #[arg(
        long, value_name = "KIB", default_value_t = 8192,
        value_parser = clap::value_parser!(u32).range(64..=4_194_304)
    )]
    pub(crate) buffer_kib: u32,
    /// Print the shell script that makes such a recording without idlelab, and change nothing
    #[arg(long, conflicts_with_all = ["time", "command", "from_enable"])]
    pub(crate) print_setup: bool,
    /// The command to run and record until it ends
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Undo what a `record` that was killed had changed on this machine
#[derive(Args)]
pub(crate) struct Restore {}

/// List the machines whose idle states are built in, or show one
#[derive(Args)]
pub(crate) struct Platforms {
    /// A built-in platform, a TOML file, a counter dump, or the root of a /sys tree
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// List the governors
///
/// A C file of a kernel, such as path/to/teo.c, may stand wherever one of these names may. Beside
/// them, NAME@VERSION finds the revision that was in force in a kernel: teo@6.8, menu@5.15,
/// menu@debian-6.12.117. A point release that is not listed is taken for the nearest before it that
/// is, with a warning, since backports may have changed it.
#[derive(Args)]
pub(crate) struct Governors {
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Drive one governor step by step
///
/// STATES has the header `exit_latency_ns,target_residency_ns,polling,disabled`. STEPS has a header
/// that names any of `sleep_ns,tick_ns,latency_ns,tick_stopped,residency_ns,got_tick,poll_limit,
/// iowaiters,span_ns,util,load,rejected,entered,disabled`; missing ones are 0, but `latency_ns`
/// 2000000000000, `span_ns` as `residency_ns`, `entered` -1, which is the chosen state, and
/// `disabled`, which has a bit for each disabled state (5 for 0 and 2), as in STATES. Each step
/// prints `state,stop_tick,asked`.
#[derive(Args)]
pub(crate) struct Decide {
    /// The governor, by name or C file
    #[arg(long, short, value_name = "NAME", value_parser = governor::parse)]
    pub(crate) governor: Given,
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
    /// The kernel's tick rate (CONFIG_HZ), where neither recording nor platform tells, or another
    #[arg(long, value_name = "N", value_parser = tick_rate)]
    pub(crate) hz: Option<TickRate>,
    /// Exit latency of the idle states
    #[arg(long, value_enum, default_value_t = Latency::Observed)]
    pub(crate) exit_latency: Latency,
    /// What if these states, by name or number, were disabled
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    pub(crate) disable: Vec<String>,
    /// What if PM QoS allowed this exit latency, on all CPUs or on some: `20` or `20@0-3`; may be
    /// given more than once
    #[arg(long, value_name = "US[@CPUS]", value_parser = latency_limit)]
    pub(crate) latency_limit: Vec<LatencyLimit>,
}

impl Machine {
    /// The options as one types them, each with a blank before it.
    pub(crate) fn as_typed(&self) -> String {
        let mut typed = String::new();
        let mut option = |name: &str, value: String| typed.push_str(&format!(" --{name} {value}"));
        if let Some(states) = &self.states {
            option("states", states.clone());
        }
        if let Some(states) = &self.recorded_states {
            option("recorded-states", states.clone());
        }
        if let Some(hz) = self.hz {
            option("hz", hz.hertz().to_string());
        }
        if self.exit_latency != Latency::Observed
            && let Some(value) = self.exit_latency.to_possible_value()
        {
            option("exit-latency", value.get_name().to_owned());
        }
        if !self.disable.is_empty() {
            option("disable", self.disable.join(","));
        }
        for limit in &self.latency_limit {
            option("latency-limit", limit.to_string());
        }
        typed
    }
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

/// How outcomes are printed.
#[derive(Args)]
pub(crate) struct Printed {
    /// How to print the result
    #[arg(long, value_enum, default_value_t = OutcomeFormat::Text)]
    pub(crate) format: OutcomeFormat,
    /// Print the text's tables in a style of the mailing lists
    #[arg(long, value_enum)]
    pub(crate) style: Option<TableStyle>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeFormat {
    /// Tables of at most 100 columns, to paste into a mail
    Text,
    /// One JSON document
    Json,
    /// Comma-separated values with a header, a line for each idle state
    Csv,
    /// A Parquet file with a row for each idle state
    Parquet,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableStyle {
    /// A line for each run: joules, idles, idle_misses, belows, aboves, entries of each state
    Runs,
    /// A line for each state: usage, above, below; then the share of misses
    States,
    /// Seconds in each state, with the change against the first governor
    Times,
    /// A box of metrics with a column for each state
    Box,
    /// A line for each state: ratio, mean time, count, over- and under-predictions
    Predictions,
    /// Markdown: states down, governors across, shares of the idle time
    Shares,
    /// Means with %stddev and %change, as LKP reports
    Lkp,
    /// Shares of stays that were k states too shallow (US k) or too deep (OS k)
    OverUnder,
    /// Means and changes as mmtests compares: brackets within the noise, stars beyond
    Mmtests,
    /// One line for each run and CPU, as of turbostat; wider than 100 columns
    Wide,
    /// Markdown: a line for each run
    Markdown,
}

impl From<TableStyle> for Style {
    fn from(style: TableStyle) -> Self {
        match style {
            TableStyle::Runs => Self::Runs,
            TableStyle::States => Self::States,
            TableStyle::Times => Self::Times,
            TableStyle::Box => Self::Box,
            TableStyle::Predictions => Self::Predictions,
            TableStyle::Shares => Self::Shares,
            TableStyle::Lkp => Self::Lkp,
            TableStyle::OverUnder => Self::OverUnder,
            TableStyle::Mmtests => Self::Mmtests,
            TableStyle::Wide => Self::Wide,
            TableStyle::Markdown => Self::Markdown,
        }
    }
}

const STYLE_IS_TEXT: &str = "--style is for text; leave out --format";

/// Arguments of a subcommand that do not go together.
fn conflict(subcommand: &str, message: &str) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    let error = clap::Error::raw(ErrorKind::ArgumentConflict, message);
    match cli.find_subcommand_mut(subcommand) {
        Some(command) => error.format(command),
        None => error,
    }
}

impl Printed {
    /// What belongs together on the command line.
    pub(crate) fn check(&self) -> Result<(), clap::Error> {
        if self.style.is_some() && self.format != OutcomeFormat::Text {
            return Err(conflict("replay", STYLE_IS_TEXT));
        }
        let to_terminal = self.output.is_none() && std::io::stdout().is_terminal();
        if self.format == OutcomeFormat::Parquet && to_terminal {
            let message = "a Parquet file is nothing for a terminal; name one with --output";
            return Err(conflict("replay", message));
        }
        Ok(())
    }
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

const SIMULATE_EXAMPLES: &str = "\
Examples:
  idlelab simulate pipe-cross-core -g teo,menu
  idlelab simulate periodic --set interval_us=21 -g teo,menu --runs 5
  idlelab simulate pipe-cross-core --platform i5-10600k -g menu@4.6,menu@4.6-reverted
  idlelab simulate my-scenario.toml -g path/to/teo.c
  idlelab simulate phone-idle -g teo@6.12 --recording run.parquet
                                              then: idlelab replay run.parquet

Every figure is of a model: docs/realism.md says how it differs from machines.";

/// Say what happens when a governor's choices feed back into a workload
///
/// Runs a scenario, tasks on a model of a machine, under each governor. All governors see the same
/// draws; run N has the seed plus N. The same seed gives the same output whatever the number of
/// threads.
#[derive(Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub(crate) struct Simulate {
    /// A scenario that is built in (see `idlelab scenarios`), or a TOML file
    pub(crate) scenario: String,
    /// Governors, as `idlelab governors` lists them, or C files of a kernel
    #[arg(
        long, short, value_name = "NAME,…", value_delimiter = ',', value_parser = governor::parse,
        default_value = "teo,menu"
    )]
    pub(crate) governors: Vec<Given>,
    /// Runs of each governor, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// How much time is simulated, in seconds [default: as the scenario says]
    #[arg(long, value_name = "SECONDS", value_parser = window)]
    pub(crate) seconds: Option<Nanoseconds>,
    /// The seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Another machine: a built-in platform, a TOML file, a counter dump, or the root of a /sys tree
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) platform: Option<String>,
    /// Another tick rate
    #[arg(long, value_name = "N", value_parser = tick_rate)]
    pub(crate) hz: Option<TickRate>,
    /// Another value of a parameter of the scenario; may be given more than once
    #[arg(long, value_name = "NAME=NUMBER", value_parser = parameter)]
    pub(crate) set: Vec<(String, f64)>,
    /// Keep what the first governor's first run did as a recording
    #[arg(long, value_name = "FILE.parquet")]
    pub(crate) recording: Option<PathBuf>,
    /// Keep the same as ftrace text, which `idlelab import` reads
    #[arg(long, value_name = "FILE.txt")]
    pub(crate) trace: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = OutcomeFormat::Text)]
    pub(crate) format: OutcomeFormat,
    /// Threads to use [default: one per CPU]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// List the scenarios that are built in, or print one
#[derive(Args)]
pub(crate) struct Scenarios {
    /// The scenario to print, as TOML: a start for one's own
    pub(crate) name: Option<String>,
}

/// Run published experiments again and say whether they come out the same
///
/// Each is simulated with the one set of parameters that its platform has; a figure outside its band
/// is marked with `!`. docs/headlines.md has the table and what is to be known of it.
#[derive(Args)]
pub(crate) struct Headlines {
    /// Runs of each governor, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub(crate) runs: u32,
    /// The seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// A block for each experiment
    Text,
    /// One JSON document
    Json,
}

/// A parameter and its value.
fn parameter(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("{text:?} is no NAME=NUMBER, such as work_us=0.5");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value: f64 = value.parse().map_err(|_| wrong())?;
    if name.is_empty() || !value.is_finite() {
        return Err(wrong());
    }
    Ok((name.to_owned(), value))
}

/// Seconds with up to nine decimals, without going through floating point.
fn seconds(text: &str) -> Result<Nanoseconds, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let wrong = || format!("{text:?} is no time in seconds, such as 12.345678");
    let digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
    if fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    let whole: i64 = whole.parse().map_err(|_| wrong())?;
    let nanoseconds: i64 = format!("{fraction:0<9}").parse().map_err(|_| wrong())?;
    whole
        .checked_mul(1_000_000_000)
        .and_then(|whole| whole.checked_add(nanoseconds))
        .map(Nanoseconds::new)
        .ok_or_else(wrong)
}

fn latency_limit(text: &str) -> Result<LatencyLimit, String> {
    let (limit, cpus) = match text.split_once('@') {
        Some((limit, cpus)) => (limit, Some(cpus.parse().map_err(|e| format!("{e}"))?)),
        None => (text, None),
    };
    let limit: u32 = limit
        .parse()
        .map_err(|_| format!("{limit:?} is no number of microseconds, such as 20 or 20@0-3"))?;
    Ok(LatencyLimit { limit: Nanoseconds::from_micros(limit.into()), cpus })
}

/// Per cent, with the sign or without; above 0.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end().strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent.is_finite() => Ok(percent),
        _ => Err(format!("{text:?} is no number of per cent above 0, such as 2%")),
    }
}

/// A probability, given in per cent.
fn power(text: &str) -> Result<f64, String> {
    let percent = percent(text)?;
    if (50.0..100.0).contains(&percent) {
        return Ok(percent / 100.0);
    }
    Err(format!("{text:?} is no power to plan for; expected 50% to below 100%, most often 80%"))
}

/// A time between snapshots.
fn window(text: &str) -> Result<Nanoseconds, String> {
    let window = seconds(text)?;
    if window > Nanoseconds::ZERO {
        return Ok(window);
    }
    Err(format!("{text:?} is no time between two snapshots; expected seconds, above 0"))
}

fn tick_rate(text: &str) -> Result<TickRate, String> {
    text.parse()
        .ok()
        .and_then(TickRate::from_hertz)
        .ok_or_else(|| "a tick rate is 24 to 1200 Hz, most often 100, 250, 300 or 1000".to_owned())
}
