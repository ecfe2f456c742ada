// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab scenarios`: what is built in to simulate.

use std::io::Write;

use anyhow::{Result, bail};
use idlelab_machine::scenario;

use crate::cli::Scenarios;
use crate::{Trust, output};

pub(crate) fn run(arguments: &Scenarios) -> Result<Trust> {
    let mut out = output::stdout();
    match &arguments.name {
        Some(name) => match scenario::embedded_text(name) {
            Some(text) => out.write_all(text.as_bytes())?,
            None => bail!(
                "{name}: no built-in scenario is called so; there are {}",
                scenario::names().collect::<Vec<_>>().join(", ")
            ),
        },
        None => {
            for name in scenario::names() {
                let text = scenario::embedded_text(name).unwrap_or_default();
                let description = scenario::description(name, text)?;
                writeln!(out, "{name:<16} {description}")?;
            }
        }
    }
    out.flush()?;
    Ok(Trust::Sound)
}
