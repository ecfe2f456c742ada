// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences in words.

use std::fmt;

use idlelab_governors::TickRequest;
use idlelab_governors::catalog::GovernorName;
use idlelab_states::StateIndex;

use crate::case::{Case, Divergence};
use crate::duel::{Answer, Call, Difference};

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
        let Difference { call, first, second } = &divergence.difference;
        let call = match call {
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
        writeln!(f, "  C     {}", Told { answer: second, other: first })?;
        writeln!(f, "  here  {}", Told { answer: first, other: second })?;
        writeln!(f, "At {} Hz, with the states", case.rate.hertz())?;
        write_indented(f, &case.states_csv())?;
        writeln!(f, "and the steps")?;
        write_indented(f, &case.steps_csv())
    }
}

fn write_indented(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "  {line}"))
}

/// What came of a call, in words: the decision, and what else is not as in the other.
struct Told<'a> {
    answer: &'a Answer,
    other: &'a Answer,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Answer { selection, questions, device, metric }, other) = (self.answer, self.other);
        let mut parts = Vec::new();
        if let Some(selection) = selection {
            let tick = match selection.tick {
                TickRequest::Stop => "stopped",
                TickRequest::Keep => "kept",
            };
            parts.push(format!("state {}, tick {tick}", selection.state));
        }
        if *questions != other.questions {
            parts.push(format!(
                "asked for the sleep length {} and whether the tick has fired {}",
                Times(questions.of_sleep_length()),
                Times(questions.of_tick())
            ));
        }
        let mut leaves = |name: &str, value: i64, others: i64| {
            if value != others {
                parts.push(format!("leaves {name} {value}"));
            }
        };
        let numbered = |state: StateIndex| state.get() as i64;
        leaves("last state", numbered(device.last_state), numbered(other.device.last_state));
        let times = (device.last_residency.get(), other.device.last_residency.get());
        leaves("last residency", times.0, times.1);
        leaves("poll limit", device.poll_limit.get(), other.device.poll_limit.get());
        let timeouts = (device.poll_time_limit.into(), other.device.poll_time_limit.into());
        leaves("poll timeout", timeouts.0, timeouts.1);
        if let Some(metric) = metric {
            let index = metric.index.map(|index| format!("[{index}]")).unwrap_or_default();
            parts.push(format!("{}{index} is {}", metric.name, metric.value));
        }
        write!(f, "{}", parts.join(", "))
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
