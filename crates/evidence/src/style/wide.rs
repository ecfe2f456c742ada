// SPDX-License-Identifier: GPL-2.0-or-later
//! One long line for each run, and below it one for each of its CPUs, with turbostat's names: `C1`
//! entries, `C1+` of them too shallow, `C1-` too deep, `C1%` of the idle time.
//!
//! ```text
//! gov  iter  CPU     J  idles  miss%  POLL  POLL+  POLL-  POLL%    C1  C1+  C1-    C1%
//! teo     0    -  1.50   2100  19.05   100     50      0   0.10  2000    0  350  99.90
//! teo     0    0     -   2100  19.05   100     50      0   0.10  2000    0  350  99.90
//! ```

use idlelab_outcome::{Outcome, StateOutcome};

use super::{LONGEST_LABEL, StateKey, cut, label, or_dash, per_cent, real, table};

pub(super) fn print(outcomes: &[Outcome]) -> String {
    let all: Vec<&Outcome> = outcomes.iter().collect();
    let keys = StateKey::of(&all);
    let workload = outcomes.iter().any(|outcome| outcome.workload.is_some());
    let measured = outcomes.iter().any(|outcome| outcome.energy.measured_joules.is_some());
    let modelled = outcomes.iter().any(|outcome| outcome.energy.modelled_joules.is_some());
    let mut header = vec!["gov".to_owned()];
    header.extend(workload.then(|| "workload".to_owned()));
    header.extend(["iter".to_owned(), "CPU".to_owned()]);
    header.extend(measured.then(|| "J".to_owned()));
    header.extend(modelled.then(|| "model_J".to_owned()));
    header.extend(["idles".to_owned(), "miss%".to_owned()]);
    for key in &keys {
        let name = key.heading().replace(' ', "_");
        header.extend([name.clone(), format!("{name}+"), format!("{name}-"), format!("{name}%")]);
    }
    let mut rows = vec![header];
    for outcome in outcomes {
        let mut row = |cpu: String, joules: [Option<f64>; 2], counts: [Option<u64>; 2], states| {
            let mut row = vec![cut(&label(outcome), LONGEST_LABEL)];
            row.extend(workload.then(|| or_dash(outcome.workload.as_deref())));
            row.extend([outcome.iteration.to_string(), cpu]);
            row.extend(measured.then(|| real(joules[0], 2)));
            row.extend(modelled.then(|| real(joules[1], 2)));
            let [idles, misses] = counts;
            let share = misses.zip(idles).and_then(|(misses, idles)| per_cent(misses, idles));
            row.extend([or_dash(idles), real(share, 2)]);
            row.extend(of_states(outcome, states, &keys));
            rows.push(row);
        };
        let energy = outcome.energy;
        let joules = [energy.measured_joules, energy.modelled_joules];
        row("-".to_owned(), joules, [outcome.idles, outcome.misses], &outcome.states);
        for cpu in &outcome.per_cpu {
            let idles = cpu.states.iter().fold(0u64, |sum, state| sum.saturating_add(state.usage));
            let mut misses = cpu.states.iter().map(StateOutcome::misses);
            let misses = misses.try_fold(0u64, |sum, misses| Some(sum.saturating_add(misses?)));
            // Of a CPU alone the model says something else than of the machine.
            row(cpu.cpu.to_string(), [None, None], [Some(idles), misses], &cpu.states);
        }
    }
    table(&rows)
}

/// Of a CPU, `outcome` tells which number a state has: where CPUs differ, its name is a joined one.
fn of_states(outcome: &Outcome, states: &[StateOutcome], keys: &[StateKey]) -> Vec<String> {
    let idle = states.iter().fold(0u64, |sum, state| sum.saturating_add(state.time_ns));
    let mut cells = Vec::new();
    for key in keys {
        let state = key.number(outcome).and_then(|number| states.get(number));
        cells.extend([
            or_dash(state.map(|state| state.usage)),
            or_dash(state.and_then(|state| state.below)),
            or_dash(state.and_then(|state| state.above)),
            real(state.and_then(|state| per_cent(state.time_ns, idle)), 2),
        ]);
    }
    cells
}
