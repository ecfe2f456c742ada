// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes a case in which two governors differ as short and as plain as it can be.
//!
//! Steps go first, in halves, quarters and so on, then idle states, then values: to what a file
//! that lacks their column means, or to rounder ones. All of that again, until nothing goes.

use std::cmp::Ordering;

use idlelab_states::IdleStates;

use crate::case::{AS_CHOSEN, Case, StateColumn, StepColumn};
use crate::scenario::Step;

/// How many steps are played before a case is taken as short enough.
const MOST_STEPS_PLAYED: usize = 50_000_000;

/// Shrinks a case. `differs` plays one and tells the step at which the governors differ; tables
/// keep at least so many states as the governors can do with.
#[must_use]
pub(crate) fn shrink(
    case: Case,
    fewest_states: usize,
    differs: impl FnMut(&Case) -> Option<usize>,
) -> Case {
    let mut shrinking = Shrinking { case, differs, played: 0 };
    if !shrinking.accept(shrinking.case.clone()) {
        return shrinking.case;
    }
    loop {
        let before = shrinking.case.clone();
        shrinking.drop_steps();
        shrinking.drop_states(fewest_states);
        shrinking.simplify_states();
        shrinking.simplify_columns();
        shrinking.simplify_steps();
        if shrinking.case == before || shrinking.played > MOST_STEPS_PLAYED {
            return shrinking.case;
        }
    }
}

struct Shrinking<F> {
    case: Case,
    differs: F,
    played: usize,
}

impl<F: FnMut(&Case) -> Option<usize>> Shrinking<F> {
    /// Takes a case that still differs, and cuts what comes after.
    fn accept(&mut self, mut candidate: Case) -> bool {
        if self.played > MOST_STEPS_PLAYED {
            return false;
        }
        self.played += candidate.steps.len() + 1;
        let Some(step) = (self.differs)(&candidate) else { return false };
        candidate.steps.truncate(step + 1);
        self.case = candidate;
        true
    }

    fn drop_steps(&mut self) {
        let mut size = self.case.steps.len() / 2;
        while size > 0 {
            let mut from = 0;
            while from < self.case.steps.len() {
                let mut candidate = self.case.clone();
                let to = (from + size).min(candidate.steps.len());
                candidate.steps.drain(from..to);
                if !self.accept(candidate) {
                    from += size;
                }
            }
            size /= 2;
        }
    }

    fn drop_states(&mut self, fewest: usize) {
        let mut row = self.case.states.len();
        while row > 0 {
            row -= 1;
            if self.case.states.len() <= fewest.max(1) {
                return;
            }
            let mut rows = self.case.states.as_slice().to_vec();
            if row >= rows.len() {
                continue;
            }
            rows.remove(row);
            let Ok(states) = IdleStates::new(&rows) else { return };
            let without = |mask: u16| {
                let below = (1 << row) - 1;
                mask & below | mask >> 1 & !below
            };
            let steps = self.case.steps.iter().map(|&step| {
                let mut step = Step { disabled: without(step.disabled), ..step };
                let entered = StepColumn::Entered.of(&step);
                match entered.cmp(&(row as i64)) {
                    Ordering::Less => {}
                    Ordering::Equal => StepColumn::Entered.set(&mut step, AS_CHOSEN),
                    Ordering::Greater => StepColumn::Entered.set(&mut step, entered - 1),
                }
                step
            });
            let candidate = Case { rate: self.case.rate, states, steps: steps.collect() };
            self.accept(candidate);
        }
    }

    fn simplify_states(&mut self) {
        for row in 0..self.case.states.len() {
            for column in StateColumn::ALL {
                let value = column.of(&self.case.states, row);
                for plainer in plainer(value, 0) {
                    let Some(states) = column.with(&self.case.states, row, plainer) else { break };
                    let mut candidate = Case { states, ..self.case.clone() };
                    if column == StateColumn::Disabled {
                        let enabled = !(1 << row);
                        candidate.steps.iter_mut().for_each(|step| step.disabled &= enabled);
                    }
                    if self.accept(candidate) {
                        break;
                    }
                }
            }
        }
    }

    /// Tries to do without whole columns.
    fn simplify_columns(&mut self) {
        for column in StepColumn::ALL {
            let mut candidate = self.case.clone();
            for step in &mut candidate.steps {
                let default = self.case.default(column, step);
                column.set(step, default);
            }
            if candidate != self.case {
                self.accept(candidate);
            }
        }
    }

    fn simplify_steps(&mut self) {
        let mut number = 0;
        while number < self.case.steps.len() {
            for column in StepColumn::ALL {
                let Some(step) = self.case.steps.get(number) else { break };
                let value = column.of(step);
                for plainer in plainer(value, self.case.default(column, step)) {
                    let mut candidate = self.case.clone();
                    let Some(step) = candidate.steps.get_mut(number) else { break };
                    let follows = step.inputs.span == step.inputs.residency;
                    column.set(step, plainer);
                    if column == StepColumn::Residency && follows {
                        step.inputs.span = step.inputs.residency;
                    }
                    if self.accept(candidate) {
                        break;
                    }
                }
            }
            number += 1;
        }
    }
}

/// Values that are easier to read than `value`, the easiest first; none if there is nothing to
/// gain.
fn plainer(value: i64, default: i64) -> impl Iterator<Item = i64> {
    let rounded = (0..17).rev().map(move |digits| {
        let unit = 10_i64.pow(digits);
        value / unit * unit
    });
    let mut previous = None;
    std::iter::once(default)
        .chain(rounded)
        .take_while(move |&candidate| candidate != value)
        .filter(move |&candidate| previous.replace(candidate) != Some(candidate))
}
