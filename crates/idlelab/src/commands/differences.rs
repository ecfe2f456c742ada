// SPDX-License-Identifier: GPL-2.0-or-later
//! `idlelab replay --differences`: by which rules two governors part.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use idlelab_replay::{Choice, Difference, Differences, Prepared};
use serde::Serialize;

use crate::cli::{Machine, Replay};
use crate::governor::Ready;

/// How many kinds of difference the text shows; json and csv have all.
const SHOWN: usize = 12;

/// Two governors and where they part.
#[derive(Serialize)]
pub(crate) struct Parting {
    governors: [String; 2],
    gaps: u64,
    kinds: Vec<Kind>,
}

/// One kind of difference: a row of the csv.
#[derive(Serialize)]
pub(crate) struct Kind {
    gaps: u64,
    idle_ns: i64,
    state_a: usize,
    stop_tick_a: bool,
    rules_a: String,
    state_b: usize,
    stop_tick_b: bool,
    rules_b: String,
    first_cpu: u32,
    first_time_ns: i64,
    explain: String,
}

impl Parting {
    /// Finds the differences if they are asked for.
    pub(crate) fn new(
        arguments: &Replay,
        governors: &[Ready],
        prepared: &Prepared,
    ) -> Result<Option<Self>> {
        if !arguments.differences {
            return Ok(None);
        }
        let [a, b] = governors else {
            bail!(
                "--differences holds two governors against each other, not {}; name them with \
                 --governors A,B",
                governors.len()
            );
        };
        let Differences { gaps, kinds } = prepared.differences(a.candidate(), b.candidate());
        let kinds = kinds.iter().map(|kind| Kind::new(arguments, kind)).collect();
        Ok(Some(Self { governors: [a.to_string(), b.to_string()], gaps, kinds }))
    }

    pub(crate) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    pub(crate) fn text(&self, out: &mut impl Write) -> Result<()> {
        let [a, b] = &self.governors;
        let differing: u64 = self.kinds.iter().map(|kind| kind.gaps).sum();
        writeln!(
            out,
            "\ndifferences: {a} and {b} begin {differing} of {} gaps differently",
            self.gaps
        )?;
        let width = a.len().max(b.len());
        for kind in self.kinds.iter().take(SHOWN) {
            let seconds = kind.idle_ns as f64 * 1e-9;
            let gaps = if kind.gaps == 1 { "gap" } else { "gaps" };
            writeln!(out, "\n  {} {gaps}, {seconds:.3} s idle", kind.gaps)?;
            for (governor, state, stop_tick, rules) in [
                (a, kind.state_a, kind.stop_tick_a, &kind.rules_a),
                (b, kind.state_b, kind.stop_tick_b, &kind.rules_b),
            ] {
                let tick = if stop_tick { "stop" } else { "keep" };
                writeln!(out, "    {governor:<width$}  state {state}, {tick} the tick: {rules}")?;
            }
            writeln!(out, "    {}", kind.explain)?;
        }
        if self.kinds.len() > SHOWN {
            writeln!(
                out,
                "\n  and {} rarer kinds: see --format csv or json",
                self.kinds.len() - SHOWN
            )?;
        }
        Ok(())
    }
}

impl Kind {
    fn new(arguments: &Replay, kind: &Difference) -> Self {
        Self {
            gaps: kind.count,
            idle_ns: kind.idle.get(),
            state_a: kind.a.state.get(),
            stop_tick_a: kind.a.stop_tick,
            rules_a: rules(&kind.a),
            state_b: kind.b.state.get(),
            stop_tick_b: kind.b.stop_tick,
            rules_b: rules(&kind.b),
            first_cpu: kind.cpu.0,
            first_time_ns: kind.time.get(),
            explain: explain(
                arguments.recording.as_deref(),
                &arguments.machine,
                &arguments.governors.iter().map(ToString::to_string).collect::<Vec<_>>(),
                kind,
            ),
        }
    }
}

fn rules(choice: &Choice) -> String {
    if choice.rules.is_empty() { "it does not say why".to_owned() } else { choice.rules.join("; ") }
}

/// The command that explains the first difference of a kind.
pub(crate) fn explain(
    recording: Option<&Path>,
    machine: &Machine,
    governors: &[String],
    kind: &Difference,
) -> String {
    const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;
    let mut command = "idlelab explain".to_owned();
    if let Some(recording) = recording {
        command.push_str(&format!(" {}", recording.display()));
    }
    command.push_str(&machine.as_typed());
    let time = kind.time.get();
    let (seconds, rest) = (time / NANOSECONDS_PER_SECOND, time % NANOSECONDS_PER_SECOND);
    let governors = governors.join(",");
    command.push_str(&format!(" --cpu {} --at {seconds}.{rest:09} -g {governors}", kind.cpu.0));
    command
}
