// SPDX-License-Identifier: GPL-2.0-or-later
//! What is left of a recording when the recorded governor's ticks and poll timeouts are out.

use idlelab_governors::NO_LATENCY_LIMIT;
use idlelab_recording::{CpuRecording, Period, WakeCauses, WhatFollowed};
use idlelab_states::Nanoseconds;

use crate::overhead::{Overheads, Round, entry_time, round_of, with_decisions};

/// What ends a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapEnd {
    /// A task runs next, and the tick is restarted.
    Task,
    /// The idle loop goes round again, with the tick as it is.
    Idle,
}

/// A stretch of idleness that ends with an event from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When the idle loop began.
    pub start: Nanoseconds,
    /// When the event came.
    pub end: Nanoseconds,
    /// What follows.
    pub ends_with: GapEnd,
    /// Whether a wheel timer is among the causes; with the tick stopped, its handler brings it.
    pub wheel_timer: bool,
    /// Whether the loop was entered from a task, or after lost events.
    pub begins: bool,
    /// The first and the last but one of its [`Gaps::steps`].
    pub steps: (u32, u32),
}

/// What the recording knows from a moment in a gap onward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From when on.
    pub from: Nanoseconds,
    /// The next high-resolution timer, or the nearest timer of unknown kind.
    pub next_hrtimer: Nanoseconds,
    /// The next wheel timer.
    pub next_wheel_timer: Nanoseconds,
    /// The latency limit.
    pub latency_limit: Nanoseconds,
    /// Whether the tick could be stopped.
    pub stoppable: bool,
    /// The kind of round in which the recorded governor decided, and the time it took.
    pub entry: Option<(Round, Nanoseconds)>,
}

/// The gaps of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// In order of time.
    pub gaps: Vec<Gap>,
    /// The steps of all gaps, in order.
    pub steps: Vec<Step>,
}

/// What the recording knows of a step before unknown facts are filled in.
struct Known {
    step: Step,
    stoppable: Option<bool>,
}

impl Gaps {
    /// The gaps of a CPU's periods. Where the governor's inputs are recorded, they begin with its
    /// first decision: what came before belongs to another governor.
    #[must_use]
    pub fn new(cpu: &CpuRecording, overheads: &Overheads) -> Self {
        let mut gaps = Self::default();
        let mut pending: Vec<Known> = Vec::new();
        let mut began = true;
        for (period, decision) in governed(cpu) {
            if period.events_lost_before {
                pending.clear();
                began = true;
            }
            let first = pending.is_empty() && began;
            let entry = decision
                .zip(entry_time(&period))
                .map(|(decision, taken)| (round_of(&period, decision, first), taken));
            pending.push(Known {
                step: Step {
                    from: period.idle_start.unwrap_or(period.enter),
                    next_hrtimer: period.next_timer.unwrap_or(Nanoseconds::MAX),
                    next_wheel_timer: period.next_wheel_timer.unwrap_or(Nanoseconds::MAX),
                    latency_limit: period.latency_limit.unwrap_or(NO_LATENCY_LIMIT),
                    stoppable: true,
                    entry,
                },
                stoppable: period.tick_stoppable,
            });
            if ended_by_own_making(&period) {
                continue;
            }
            let ends_with = match period.followed_by {
                WhatFollowed::Idle => GapEnd::Idle,
                WhatFollowed::Task | WhatFollowed::Unknown => GapEnd::Task,
            };
            gaps.push(&mut pending, began, overheads.event_before(&period), ends_with, &period);
            began = ends_with == GapEnd::Task;
        }
        gaps
    }

    fn push(
        &mut self,
        pending: &mut Vec<Known>,
        begins: bool,
        end: Nanoseconds,
        ends_with: GapEnd,
        last: &Period,
    ) {
        let Some(start) = pending.first().map(|known| known.step.from) else { return };
        let first = self.steps.len() as u32;
        // A fact that a step does not know is the last one known before it, else the next one
        // known after it.
        let mut stoppable = pending.iter().find_map(|known| known.stoppable).unwrap_or(true);
        for known in pending.drain(..) {
            stoppable = known.stoppable.unwrap_or(stoppable);
            self.steps.push(Step { stoppable, ..known.step });
        }
        self.gaps.push(Gap {
            start,
            end: end.max(start),
            ends_with,
            wheel_timer: last.causes.contains(WakeCauses::WHEEL_TIMER),
            begins,
            steps: (first, self.steps.len() as u32),
        });
    }
}

/// A CPU's periods from the first whose governor's inputs are recorded, or all of them.
pub(crate) fn governed(
    cpu: &CpuRecording,
) -> impl Iterator<Item = (Period, Option<&idlelab_recording::Decision>)> {
    let from = cpu.decisions.first().map(|decision| decision.time);
    with_decisions(cpu).filter(move |(period, _)| from.is_none_or(|from| period.enter >= from))
}

/// Whether only the tick or the poll limit ended a period, so that another governor need not have
/// woken there.
fn ended_by_own_making(period: &Period) -> bool {
    let own = WakeCauses::TICK | WakeCauses::POLL_LIMIT;
    period.followed_by == WhatFollowed::Idle
        && !period.causes.is_empty()
        && own.contains(period.causes)
}
