// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab headlines`: published experiments, simulated.

use std::io::Write;

use anyhow::Result;
use idlelab_headlines::{Lab, headlines, plain_text};

use crate::cli::{Headlines, TextOrJson};
use crate::{Trust, output};

pub(crate) fn run(arguments: &Headlines) -> Result<Trust> {
    let lab = Lab { first_seed: arguments.seed, runs: arguments.runs };
    let headlines = headlines(&lab)?;
    match arguments.format {
        TextOrJson::Json => output::json(&headlines)?,
        TextOrJson::Text => {
            let mut out = output::stdout();
            out.write_all(plain_text(&headlines).as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Trust::Sound)
}
