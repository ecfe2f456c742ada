// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences in words.

use std::fmt;

use idlelab_governors::TickRequest;
use idlelab_governors::catalog::GovernorName;

use crate::case::{Case, Divergence};
use crate::duel::{Answer, Call};

/// A case in which a kernel's C file and a governor here differ.
pub struct Report<'a> {
    /// The governor here.
    pub ours: GovernorName,
    /// The kernel's version.
    pub kernel: &'a str,
    /// The case.
    pub case: &'a Case,
    /// Where they differ.
    pub divergence: &'a Divergence,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ours, kernel, case, divergence } = self;
        let difference = &divergence.difference;
        let call = match difference.call {
            Call::Enable => "being enabled",
            Call::Select => "selecting",
            Call::Reflect => "reflecting",
            Call::Explain => "telling its metrics",
        };
        let steps = case.steps.len();
        write!(f, "{ours} and the C of {kernel} differ in ")?;
        match divergence.step {
            Some(step) => writeln!(f, "{call} at step {} of {steps}:", step + 1)?,
            None => writeln!(f, "{call}:")?,
        }
        writeln!(f, "  C     {}", Told(&difference.second))?;
        writeln!(f, "  here  {}", Told(&difference.first))?;
        writeln!(f, "At {} Hz, with the states", case.rate.hertz())?;
        write_indented(f, &case.states_csv())?;
        writeln!(f, "and the steps")?;
        write_indented(f, &case.steps_csv())
    }
}

fn write_indented(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "  {line}"))
}

/// What came of a call, in words.
struct Told<'a>(&'a Answer);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { selection, questions, device, metric } = self.0;
        if let Some(selection) = selection {
            let tick = match selection.tick {
                TickRequest::Stop => "stopped",
                TickRequest::Keep => "kept",
            };
            write!(f, "state {}, tick {tick}, ", selection.state)?;
        }
        if let Some(metric) = metric {
            let index = metric.index.map(|index| format!("[{index}]")).unwrap_or_default();
            write!(f, "{}{index} {}, ", metric.name, metric.value)?;
        }
        write!(
            f,
            "asked for the sleep length {}, for the tick {}; leaves state {}, residency {}, poll \
             limit {}, poll timeout {}",
            Times(questions.of_sleep_length()),
            Times(questions.of_tick()),
            device.last_state,
            device.last_residency,
            device.poll_limit,
            u8::from(device.poll_time_limit),
        )
    }
}

struct Times(usize);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "never"),
            1 => write!(f, "once"),
            times => write!(f, "{times} times"),
        }
    }
}
