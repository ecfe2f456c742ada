// SPDX-License-Identifier: GPL-2.0-or-later
//! What a recording says of the time that the kernel itself takes.

use idlelab_platform::Platform;
use idlelab_recording::{CpuRecording, Decision, Period, WakeCauses, WhatFollowed};
use idlelab_states::{CpuId, IdleStates, Nanoseconds, PerState};

/// Fewer samples than this say nothing of an exit latency.
const ENOUGH_SAMPLES: usize = 8;

/// Which exit latency a replay gives to idle states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitLatency {
    /// On the recorded machine, estimated for each state from the recorded periods that a timer
    /// ended; a state without enough of them gets that of the next shallower one that has. On
    /// another machine, what its description says was seen, else the worst case of its table.
    #[default]
    Observed,
    /// The worst case of the idle-state table.
    Table,
    /// None at all.
    None,
}

/// In which kind of round of the idle loop a state is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Whether a task ran just before.
    pub first: bool,
    /// Whether the governor asked for the sleep length.
    pub asked: bool,
    /// Whether the tick was stopped.
    pub stopped_tick: bool,
}

impl Round {
    const KINDS: usize = 8;

    const fn kind(self) -> usize {
        (self.first as usize) << 2 | (self.asked as usize) << 1 | self.stopped_tick as usize
    }
}

/// Times that the kernel takes on one CPU, each the median of what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// From the loop's start (or the end of the interrupt before) to the state's entry.
    entry: [Nanoseconds; Round::KINDS],
    /// From a state's exit to the end of the tick's interrupt.
    pub(crate) tick_handler: Nanoseconds,
    /// From a state's exit after a tick until the loop turns interrupts off to select again. An
    /// event that comes before is handled as part of the same wakeup.
    pub(crate) turnaround: Nanoseconds,
    /// From an event to the state's exit.
    pub(crate) recorded_latency: PerState<Nanoseconds>,
}

impl Overheads {
    /// Takes the medians of a CPU's recording; `states` are those of the recorded machine.
    #[must_use]
    pub fn measure(cpu: &CpuRecording, states: &IdleStates) -> Self {
        let mut entries: [Vec<Nanoseconds>; Round::KINDS] = Default::default();
        let mut all_entries = Vec::new();
        let mut handlers = Vec::new();
        let mut turnarounds = Vec::new();
        let mut latencies: PerState<Vec<Nanoseconds>> = PerState::default();
        let mut before: Option<Period> = None;
        for (period, decision) in with_decisions(cpu) {
            let again = before.filter(|before| before.followed_by == WhatFollowed::Idle);
            if let Some(taken) = entry_time(&period) {
                all_entries.push(taken);
                if let Some(decision) = decision {
                    let round = round_of(&period, decision, again.is_none());
                    entries[round.kind()].push(taken);
                }
            }
            if let (Some(before), Some(start)) = (again, period.idle_start)
                && before.causes == WakeCauses::TICK
            {
                handlers.push(start - before.exit);
                turnarounds.extend(decision.map(|decision| decision.time - before.exit));
            }
            if let Some(late) = lateness(&period) {
                latencies[period.state].push(late);
            }
            before = Some(period);
        }
        let any = median(&mut all_entries).unwrap_or_default();
        let recorded_latency = observed(states, latencies);
        let tick_handler = median(&mut handlers).unwrap_or_default();
        Self {
            entry: entries.map(|mut samples| median(&mut samples).unwrap_or(any)),
            tick_handler,
            turnaround: median(&mut turnarounds).unwrap_or(tick_handler),
            recorded_latency,
        }
    }

    /// The median time from the loop's start to the state's entry in such a round.
    #[must_use]
    #[inline]
    pub fn entry(&self, round: Round) -> Nanoseconds {
        self.entry[round.kind()]
    }

    /// When the event came that ended a recorded period.
    pub(crate) fn event_before(&self, period: &Period) -> Nanoseconds {
        match period.expired_timer.filter(|_| period.causes.contains(WakeCauses::HRTIMER)) {
            Some(due) if due > period.enter => due.min(period.exit),
            _ => (period.exit - self.recorded_latency[period.state]).max(period.enter),
        }
    }
}

/// A CPU's periods, each with the decision that led to it if that was recorded.
pub(crate) fn with_decisions(
    cpu: &CpuRecording,
) -> impl Iterator<Item = (Period, Option<&Decision>)> {
    let mut decisions = cpu.decisions.iter().peekable();
    cpu.periods.iter().map(move |period| {
        let mut last = None;
        while let Some(decision) = decisions.next_if(|decision| decision.time <= period.enter) {
            last = Some(decision);
        }
        (period, last)
    })
}

/// In which kind of round a recorded decision was made.
pub(crate) fn round_of(period: &Period, decision: &Decision, first: bool) -> Round {
    Round {
        first,
        asked: decision.sleep_length.is_some(),
        stopped_tick: decision.stop_tick && period.tick_stoppable == Some(true),
    }
}

/// From the loop's start to the state's entry. The kernel's own measurement begins after the
/// entry is traced, so where it is known the entry is put where it says.
pub(crate) fn entry_time(period: &Period) -> Option<Nanoseconds> {
    let start = period.idle_start?;
    let entry = period.residency.map_or(period.enter, |residency| period.exit - residency);
    Some((entry - start).max(Nanoseconds::ZERO))
}

/// How late a timer, and nothing else, found the CPU awake.
fn lateness(period: &Period) -> Option<Nanoseconds> {
    let due = period.expired_timer.filter(|_| period.causes == WakeCauses::HRTIMER)?;
    // A timer that was due before the entry says nothing of the exit.
    (due > period.enter).then(|| (period.exit - due).max(Nanoseconds::ZERO))
}

fn observed(states: &IdleStates, mut samples: PerState<Vec<Nanoseconds>>) -> PerState<Nanoseconds> {
    let mut latencies = PerState::default();
    let mut shallower = Nanoseconds::ZERO;
    for state in states.indices() {
        if samples[state].len() >= ENOUGH_SAMPLES {
            shallower = median(&mut samples[state]).unwrap_or(shallower);
        }
        latencies[state] = shallower;
    }
    latencies
}

/// The worst cases that a table states.
pub(crate) fn of_table(states: &IdleStates) -> PerState<Nanoseconds> {
    let mut latencies = PerState::default();
    for state in states.indices() {
        latencies[state] = states[state].exit_latency;
    }
    latencies
}

/// What a machine's description says was seen, else the worst cases of its table.
pub(crate) fn of_description(
    platform: &Platform,
    cpu: CpuId,
    states: &IdleStates,
) -> PerState<Nanoseconds> {
    let mut latencies = of_table(states);
    let table = platform.table_of(cpu).and_then(|table| platform.tables().get(table));
    for state in states.indices() {
        let observed = table.and_then(|table| table.observed[state].as_ref());
        if let Some(typical) = observed.and_then(|observed| observed.typical.as_ref()) {
            latencies[state] = typical.value;
        }
    }
    latencies
}

/// The lower median.
fn median(samples: &mut [Nanoseconds]) -> Option<Nanoseconds> {
    let middle = samples.len().checked_sub(1)? / 2;
    Some(*samples.select_nth_unstable(middle).1)
}
