// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab decide`: one governor, step by step, for comparison with a kernel's own.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use csv::{ReaderBuilder, StringRecord};
use idlelab_governors::steps::{Entry, StepDriver, StepInputs};
use idlelab_governors::{NO_LATENCY_LIMIT, SleepLength, TickRequest};
use idlelab_states::{Availability, CpuId, IdleState, IdleStates, Nanoseconds, StateKind, Tick};

use crate::cli::Decide;
use crate::{Trust, output};

const STATE_COLUMNS: [&str; 4] = ["exit_latency_ns", "target_residency_ns", "polling", "disabled"];

const STEP_COLUMNS: [&str; 14] = [
    "sleep_ns",
    "tick_ns",
    "latency_ns",
    "tick_stopped",
    "residency_ns",
    "got_tick",
    "poll_limit",
    "iowaiters",
    "span_ns",
    "util",
    "load",
    "rejected",
    "entered",
    "disabled",
];

pub(crate) fn run(arguments: &Decide) -> Result<Trust> {
    let states = read_states(&arguments.states)?;
    let ready = arguments.governor.ready(arguments.hz)?;
    let mut governor = ready.build(CpuId(0), arguments.hz);
    let mut driver = StepDriver::new();
    driver.enable(&mut *governor, &states);
    let mut steps = Table::open(&arguments.steps, &STEP_COLUMNS)?;
    let mut out = output::stdout();
    while let Some(row) = steps.next()? {
        let switched = with_disabled(&states, &row)?;
        let outcome = driver.step(&mut *governor, &switched, &inputs(&row, &states)?);
        if let Some(failure) = ready.failure() {
            out.flush()?;
            bail!(failure);
        }
        let stop_tick = outcome.selection.tick == TickRequest::Stop;
        let asked = outcome.sleep_length_queries > 0;
        let state = outcome.selection.state;
        writeln!(out, "{state},{},{}", u8::from(stop_tick), u8::from(asked))?;
    }
    out.flush()?;
    Ok(Trust::Sound)
}

fn read_states(path: &Path) -> Result<IdleStates> {
    let mut table = Table::open(path, &STATE_COLUMNS)?;
    let mut states = Vec::new();
    while let Some(row) = table.next()? {
        let name = format!("state{}", states.len());
        let latency = Nanoseconds::new(row.get("exit_latency_ns")?.unwrap_or(0));
        let residency = Nanoseconds::new(row.get("target_residency_ns")?.unwrap_or(0));
        states.push(IdleState {
            kind: if row.flag("polling")? { StateKind::Polling } else { StateKind::Sleeping },
            availability: if row.flag("disabled")? {
                Availability::DisabledByUser
            } else {
                Availability::Enabled
            },
            ..IdleState::new(&name, latency, residency)
        });
    }
    IdleStates::new(&states).with_context(|| path.display().to_string())
}

/// The states as they are in a step: `disabled` has a bit for each, and the file of states the say
/// where there is no such column.
fn with_disabled(own: &IdleStates, row: &Row<'_>) -> Result<IdleStates> {
    let mut states = *own;
    let Some(disabled) = row.get("disabled")? else { return Ok(states) };
    let all = (1 << own.len()) - 1;
    if !(0..=all).contains(&disabled) {
        return Err(row.wrong("disabled", &format!("0 to {all}, a bit for each state"), disabled));
    }
    for state in own.indices() {
        let availability = match (disabled >> state.get() & 1, own[state].availability) {
            (0, _) => Availability::Enabled,
            (_, Availability::Enabled) => Availability::DisabledByUser,
            (_, off) => off,
        };
        states.set_availability(state, availability);
    }
    Ok(states)
}

/// `entered` is the state that was entered in place of the chosen one, or -1.
fn entry(row: &Row<'_>, states: &IdleStates) -> Result<Entry> {
    if row.flag("rejected")? {
        return Ok(Entry::Rejected);
    }
    match row.get("entered")? {
        None | Some(-1) => Ok(Entry::Entered),
        Some(number) => match usize::try_from(number).ok().and_then(|state| states.index(state)) {
            Some(state) => Ok(Entry::Instead(state)),
            None => Err(row.wrong("entered", &format!("-1 to {}", states.last()), number)),
        },
    }
}

fn inputs(row: &Row<'_>, states: &IdleStates) -> Result<StepInputs> {
    let time = |column| Ok::<_, anyhow::Error>(row.get(column)?.map(Nanoseconds::new));
    let number = |column: &str| -> Result<u32> {
        let value = row.get(column)?.unwrap_or(0);
        u32::try_from(value).map_err(|_| row.wrong(column, "0 to 4294967295", value))
    };
    let residency = time("residency_ns")?.unwrap_or_default();
    Ok(StepInputs {
        sleep_length: SleepLength {
            sleep: time("sleep_ns")?.unwrap_or_default(),
            delta_tick: time("tick_ns")?.unwrap_or_default(),
        },
        latency_limit: time("latency_ns")?.unwrap_or(NO_LATENCY_LIMIT),
        tick: if row.flag("tick_stopped")? { Tick::Stopped } else { Tick::Running },
        io_waiters: number("iowaiters")?,
        utilisation: number("util")?,
        load: number("load")?,
        foresight: None,
        entry: entry(row, states)?,
        residency,
        span: time("span_ns")?.unwrap_or(residency),
        got_tick: row.flag("got_tick")?,
        poll_time_limit: row.flag("poll_limit")?,
    })
}

/// A CSV file of integers with a header.
struct Table {
    name: String,
    reader: csv::Reader<File>,
    columns: Vec<&'static str>,
    record: StringRecord,
}

impl Table {
    fn open(path: &Path, known: &[&'static str]) -> Result<Self> {
        let name = path.display().to_string();
        let mut reader = ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_path(path)
            .with_context(|| name.clone())?;
        let mut columns = Vec::new();
        for header in reader.headers().with_context(|| name.clone())? {
            let Some(column) = known.iter().find(|column| **column == header) else {
                bail!("{name}:1: no column is called {header:?}; there are {}", known.join(", "));
            };
            columns.push(*column);
        }
        Ok(Self { name, reader, columns, record: StringRecord::new() })
    }

    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let read = self.reader.read_record(&mut self.record);
        let more = read.with_context(|| self.name.clone())?;
        Ok(more.then_some(Row { table: self }))
    }
}

struct Row<'a> {
    table: &'a Table,
}

impl Row<'_> {
    fn get(&self, column: &str) -> Result<Option<i64>> {
        let Some(at) = self.table.columns.iter().position(|known| *known == column) else {
            return Ok(None);
        };
        let text = self.table.record.get(at).unwrap_or_default();
        text.parse().map(Some).map_err(|_| self.wrong(column, "an integer", text))
    }

    fn flag(&self, column: &str) -> Result<bool> {
        match self.get(column)? {
            None | Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => Err(self.wrong(column, "0 or 1", other)),
        }
    }

    fn wrong(&self, column: &str, expected: &str, found: impl std::fmt::Display) -> anyhow::Error {
        let line = self.table.record.position().map_or(0, csv::Position::line);
        anyhow!(
            "{}:{line}: {column}: {expected} was expected, found {found:?}",
            self.table.name,
            found = found.to_string()
        )
    }
}
