// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: parses, calls one bench, prints.

mod cli;
mod commands;
mod governor;
mod input;
mod output;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Everything asked for was done.
const DONE: u8 = 0;
/// An input could not be used, or an output not be written.
const FAILED: u8 = 1;
/// Done, but a self-check did not hold.
const SELF_CHECK_FAILED: u8 = 3;

/// Whether what was done can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Sound,
    SelfCheckFailed,
    /// A governor file crashed or the like; what is printed is of the others.
    GovernorFailed,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Replay(arguments) => commands::replay::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Count(arguments) => commands::count::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Plan(arguments) => commands::plan::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Import(arguments) => commands::import::run(&arguments),
        Command::Record(arguments) => commands::record::run(&arguments),
        Command::Restore(arguments) => commands::record::restore(&arguments),
        Command::Platforms(arguments) => commands::platforms::run(&arguments),
        Command::Governors(arguments) => commands::governors::run(&arguments),
        Command::Decide(arguments) => commands::decide::run(&arguments),
        Command::Simulate(arguments) => commands::simulate::run(&arguments),
        Command::Scenarios(arguments) => commands::scenarios::run(&arguments),
        Command::Headlines(arguments) => commands::headlines::run(&arguments),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man { command } => commands::generate::man(command.as_deref()),
    };
    ExitCode::from(match result {
        Ok(Trust::Sound) => DONE,
        Ok(Trust::SelfCheckFailed) => SELF_CHECK_FAILED,
        Ok(Trust::GovernorFailed) => FAILED,
        // Whoever reads our output has read enough.
        Err(error) if is_broken_pipe(&error) => DONE,
        Err(error) => {
            eprintln!("idlelab: {error:#}");
            FAILED
        }
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause
            .downcast_ref::<io::Error>()
            .map(io::Error::kind)
            .or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind());
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}
