// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab completions` and `idlelab man`: made from the command line's own definition.

use std::io::Write;

use anyhow::{Result, anyhow};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::{Trust, output};

pub(crate) fn completions(shell: Shell) -> Result<Trust> {
    // The generator panics when it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "idlelab", &mut script);
    let mut out = output::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Trust::Sound)
}

pub(crate) fn man(subcommand: Option<&str>) -> Result<Trust> {
    let mut command = Cli::command();
    command.build();
    if let Some(name) = subcommand {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            anyhow!("no subcommand is called {name:?}; `idlelab help` lists them")
        })?;
    }
    let mut out = output::stdout();
    clap_mangen::Man::new(command).render(&mut out)?;
    out.flush()?;
    Ok(Trust::Sound)
}
