// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab governors`: the catalogue.

use std::io::Write;

use anyhow::Result;
use idlelab_governors::catalog::CATALOGUE;
use serde::Serialize;

use crate::cli::{Format, Governors};
use crate::{Trust, output};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    kernels: &'static str,
    standing: String,
    description: &'static str,
}

pub(crate) fn run(arguments: &Governors) -> Result<Trust> {
    let rows: Vec<Row> = CATALOGUE
        .iter()
        .map(|entry| Row {
            name: entry.name,
            kernels: entry.kernels,
            standing: entry.standing.to_string(),
            description: entry.description,
        })
        .collect();
    match arguments.output.format {
        Format::Json => output::json(&rows)?,
        Format::Csv => output::csv(rows)?,
        Format::Text => {
            let mut out = output::stdout();
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            for row in rows {
                writeln!(out, "{:<width$}  {}", row.name, row.description)?;
                writeln!(out, "{:<width$}  kernels {}; {}", "", row.kernels, row.standing)?;
            }
            out.flush()?;
        }
    }
    Ok(Trust::Sound)
}
