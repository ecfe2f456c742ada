// SPDX-License-Identifier: GPL-2.0-or-later
//! A scenario written down: a machine and a list of steps, in memory and as the files that
//! `idlelab decide` reads.

use std::fmt::Write;

use idlelab_governors::steps::{Entry, StepDriver};
use idlelab_governors::{Governor, NO_LATENCY_LIMIT};
use idlelab_states::{
    Availability, IdleStates, MAX_STATES, Nanoseconds, StateIndex, StateKind, Tick, TickRate,
};

use crate::duel::{Difference, Duel};
use crate::scenario::{Scenario, Step};

/// A machine and what happens on one of its CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The machine's tick rate.
    pub rate: TickRate,
    /// Its idle states, as they are when the governor is enabled.
    pub states: IdleStates,
    /// What happens.
    pub steps: Vec<Step>,
}

/// Where two governors came to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step, counted from 0; `None` for the call that enabled them.
    pub step: Option<usize>,
    /// What differed.
    pub difference: Difference,
}

impl Case {
    /// The steps of a scenario up to and with one of them.
    #[must_use]
    pub fn of(mut scenario: Scenario, last: usize) -> Self {
        let (rate, states) = (scenario.rate, scenario.states);
        Self { rate, states, steps: (0..=last).map(|_| scenario.step()).collect() }
    }

    /// Plays the steps to two governors that are as new.
    pub fn play<A: Governor, B: Governor>(&self, first: A, second: B) -> Option<Divergence> {
        play(self.states, self.steps.iter().copied(), &mut Duel::new(first, second))
    }

    /// The idle states as CSV.
    #[must_use]
    pub fn states_csv(&self) -> String {
        let mut csv = StateColumn::ALL.map(StateColumn::name).join(",");
        csv.push('\n');
        for row in 0..self.states.len() {
            let values = StateColumn::ALL.map(|column| column.of(&self.states, row).to_string());
            let _ = writeln!(csv, "{}", values.join(","));
        }
        csv
    }

    /// The steps as CSV. Columns that are left out hold what is taken for them then.
    #[must_use]
    pub fn steps_csv(&self) -> String {
        let says_something = |column: &StepColumn| {
            self.steps.iter().any(|step| column.of(step) != self.default(*column, step))
        };
        let mut columns: Vec<_> = StepColumn::ALL.into_iter().filter(says_something).collect();
        if columns.is_empty() {
            columns.push(StepColumn::Sleep);
        }
        let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
        let mut csv = names.join(",");
        csv.push('\n');
        for step in &self.steps {
            let values: Vec<_> = columns.iter().map(|column| column.of(step).to_string()).collect();
            let _ = writeln!(csv, "{}", values.join(","));
        }
        csv
    }

    /// What a step holds in a column that a file does not have.
    pub(crate) fn default(&self, column: StepColumn, step: &Step) -> i64 {
        match column {
            StepColumn::LatencyLimit => NO_LATENCY_LIMIT.get(),
            StepColumn::Span => step.inputs.residency.get(),
            StepColumn::Entered => AS_CHOSEN,
            StepColumn::Disabled => disabled(&self.states).into(),
            _ => 0,
        }
    }
}

/// Plays steps to a duel that has not begun.
pub(crate) fn play<A: Governor, B: Governor>(
    mut states: IdleStates,
    steps: impl Iterator<Item = Step>,
    duel: &mut Duel<A, B>,
) -> Option<Divergence> {
    let own = states;
    let mut switched = disabled(&states);
    let mut driver = StepDriver::new();
    driver.enable(duel, &states);
    if let Some(&difference) = duel.difference() {
        return Some(Divergence { step: None, difference });
    }
    let mut last = None;
    for (number, step) in steps.enumerate() {
        if step.disabled != switched {
            switched = step.disabled;
            switch(&mut states, &own, switched);
        }
        driver.step(duel, &states, &step.inputs);
        if let Some(&difference) = duel.difference() {
            return Some(Divergence { step: Some(number), difference });
        }
        last = Some(number);
    }
    duel.compare_metrics(driver.device());
    duel.difference().map(|&difference| Divergence { step: last, difference })
}

/// The disabled states of a table, a bit each.
pub(crate) fn disabled(states: &IdleStates) -> u16 {
    let bits = states.as_slice().iter().zip(0..MAX_STATES);
    bits.map(|(state, bit)| u16::from(!state.is_enabled()) << bit).sum()
}

fn switch(states: &mut IdleStates, own: &IdleStates, disabled: u16) {
    for state in own.indices() {
        let availability = match (disabled >> state.get() & 1, own[state].availability) {
            (0, _) => Availability::Enabled,
            (_, Availability::Enabled) => Availability::DisabledByUser,
            (_, off) => off,
        };
        states.set_availability(state, availability);
    }
}

/// The entered state is the chosen one.
pub(crate) const AS_CHOSEN: i64 = -1;

/// A column of a file of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepColumn {
    Sleep,
    DeltaTick,
    LatencyLimit,
    TickStopped,
    Residency,
    GotTick,
    PollTimeLimit,
    IoWaiters,
    Span,
    Utilisation,
    Load,
    Rejected,
    Entered,
    Disabled,
}

impl StepColumn {
    pub(crate) const ALL: [Self; 14] = [
        Self::Sleep,
        Self::DeltaTick,
        Self::LatencyLimit,
        Self::TickStopped,
        Self::Residency,
        Self::GotTick,
        Self::PollTimeLimit,
        Self::IoWaiters,
        Self::Span,
        Self::Utilisation,
        Self::Load,
        Self::Rejected,
        Self::Entered,
        Self::Disabled,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sleep => "sleep_ns",
            Self::DeltaTick => "tick_ns",
            Self::LatencyLimit => "latency_ns",
            Self::TickStopped => "tick_stopped",
            Self::Residency => "residency_ns",
            Self::GotTick => "got_tick",
            Self::PollTimeLimit => "poll_limit",
            Self::IoWaiters => "iowaiters",
            Self::Span => "span_ns",
            Self::Utilisation => "util",
            Self::Load => "load",
            Self::Rejected => "rejected",
            Self::Entered => "entered",
            Self::Disabled => "disabled",
        }
    }

    pub(crate) fn of(self, step: &Step) -> i64 {
        let inputs = &step.inputs;
        match self {
            Self::Sleep => inputs.sleep_length.sleep.get(),
            Self::DeltaTick => inputs.sleep_length.delta_tick.get(),
            Self::LatencyLimit => inputs.latency_limit.get(),
            Self::TickStopped => (inputs.tick == Tick::Stopped).into(),
            Self::Residency => inputs.residency.get(),
            Self::GotTick => inputs.got_tick.into(),
            Self::PollTimeLimit => inputs.poll_time_limit.into(),
            Self::IoWaiters => inputs.io_waiters.into(),
            Self::Span => inputs.span.get(),
            Self::Utilisation => inputs.utilisation.into(),
            Self::Load => inputs.load.into(),
            Self::Rejected => (inputs.entry == Entry::Rejected).into(),
            Self::Entered => match inputs.entry {
                Entry::Instead(state) => state.get() as i64,
                Entry::Entered | Entry::Rejected => AS_CHOSEN,
            },
            Self::Disabled => step.disabled.into(),
        }
    }

    /// Writes a value that another step, a default or rounding gives.
    pub(crate) const fn set(self, step: &mut Step, value: i64) {
        let inputs = &mut step.inputs;
        let time = Nanoseconds::new(value);
        match self {
            Self::Sleep => inputs.sleep_length.sleep = time,
            Self::DeltaTick => inputs.sleep_length.delta_tick = time,
            Self::LatencyLimit => inputs.latency_limit = time,
            Self::TickStopped => {
                inputs.tick = if value == 0 { Tick::Running } else { Tick::Stopped };
            }
            Self::Residency => inputs.residency = time,
            Self::GotTick => inputs.got_tick = value != 0,
            Self::PollTimeLimit => inputs.poll_time_limit = value != 0,
            Self::IoWaiters => inputs.io_waiters = value as u32,
            Self::Span => inputs.span = time,
            Self::Utilisation => inputs.utilisation = value as u32,
            Self::Load => inputs.load = value as u32,
            Self::Rejected => match (value, inputs.entry) {
                (0, Entry::Rejected) => inputs.entry = Entry::Entered,
                (0, Entry::Entered | Entry::Instead(_)) => {}
                _ => inputs.entry = Entry::Rejected,
            },
            Self::Entered => match (StateIndex::new(value as usize), inputs.entry) {
                (Some(state), _) => inputs.entry = Entry::Instead(state),
                (None, Entry::Instead(_)) => inputs.entry = Entry::Entered,
                (None, Entry::Entered | Entry::Rejected) => {}
            },
            Self::Disabled => step.disabled = value as u16,
        }
    }
}

/// A column of a file of idle states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateColumn {
    ExitLatency,
    TargetResidency,
    Polling,
    Disabled,
}

impl StateColumn {
    pub(crate) const ALL: [Self; 4] =
        [Self::ExitLatency, Self::TargetResidency, Self::Polling, Self::Disabled];

    const fn name(self) -> &'static str {
        match self {
            Self::ExitLatency => "exit_latency_ns",
            Self::TargetResidency => "target_residency_ns",
            Self::Polling => "polling",
            Self::Disabled => "disabled",
        }
    }

    pub(crate) fn of(self, states: &IdleStates, row: usize) -> i64 {
        let row = states.as_slice().get(row).copied().unwrap_or_default();
        match self {
            Self::ExitLatency => row.exit_latency.get(),
            Self::TargetResidency => row.target_residency.get(),
            Self::Polling => row.is_polling().into(),
            Self::Disabled => (!row.is_enabled()).into(),
        }
    }

    /// The table with another value in one place.
    pub(crate) fn with(self, states: &IdleStates, row: usize, value: i64) -> Option<IdleStates> {
        let mut rows = states.as_slice().to_vec();
        let changed = rows.get_mut(row)?;
        match self {
            Self::ExitLatency => changed.exit_latency = Nanoseconds::new(value),
            Self::TargetResidency => changed.target_residency = Nanoseconds::new(value),
            Self::Polling => {
                changed.kind = if value == 0 { StateKind::Sleeping } else { StateKind::Polling };
            }
            Self::Disabled => {
                changed.availability = match value {
                    0 => Availability::Enabled,
                    _ => Availability::DisabledByUser,
                };
            }
        }
        IdleStates::new(&rows).ok()
    }
}
