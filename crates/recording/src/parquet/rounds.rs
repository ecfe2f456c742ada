// SPDX-License-Identifier: GPL-2.0-or-later
//! Which decision stands in one row with which period.

use crate::{CpuRecording, Decision, Period};

/// A period and the decision that led to it; either may be missing.
pub(super) type Round<'a> = (Option<Period>, Option<&'a Decision>);

/// A CPU's periods and decisions, each in its own order. A period stands beside the last decision
/// that was made between the entry before it and its own. Other decisions (the state was not
/// entered, or the period is not known) are alone.
pub(super) fn rounds(cpu: &CpuRecording) -> impl Iterator<Item = Round<'_>> {
    let mut periods = cpu.periods.iter().peekable();
    let mut decisions = cpu.decisions.iter().peekable();
    core::iter::from_fn(move || {
        let enter = periods.peek().map(|period| period.enter);
        let of_period = |decision: &Decision| enter.is_none_or(|enter| decision.time <= enter);
        let Some(decision) = decisions.next_if(|decision| of_period(decision)) else {
            return periods.next().map(|period| (Some(period), None));
        };
        let is_last = !decisions.peek().is_some_and(|next| of_period(next));
        let period = if is_last { periods.next() } else { None };
        Some((period, Some(decision)))
    })
}
