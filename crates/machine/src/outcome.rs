// SPDX-License-Identifier: GPL-2.0-or-later
//! From a finished simulation to the outcome that every bench ends in.

use idlelab_cpuidle::Statistics;
use idlelab_outcome::{
    Bench, Better, CpuOutcome, Energy, Figure, Outcome, StateOutcome, WakeupLatency,
};
use idlelab_platform::CpuPower;
use idlelab_states::IdleStates;

use crate::Run;
use crate::energy::EnergyParts;
use crate::histogram::Histogram;
use crate::model::Model;
use crate::simulation::Finished;

pub(crate) fn run_of<G: idlelab_governors::Governor>(
    model: &Model,
    governor: &str,
    seed: u64,
    finished: Finished<G>,
) -> Run {
    let end = model.duration.get();
    let energy = finished.meter.map(|meter| meter.parts(end));
    let per_cpu = model
        .cpus
        .iter()
        .zip(finished.loops.iter().zip(&finished.wakeups))
        .map(|(&cpu, (idle, wakeups))| {
            let statistics = idle.statistics();
            let power = model.platform.power_of(cpu);
            CpuOutcome {
                cpu: cpu.0,
                ticks: Some(statistics.ticks),
                sleep_length_queries: Some(statistics.sleep_length_queries),
                modelled_joules: power.map(|power| alone(model, power, idle.states(), statistics)),
                wakeup_latency: Some(WakeupLatency::new(wakeups.counts())),
                regret: None,
                off_by: None,
                states: StateOutcome::counted(idle.states(), statistics),
            }
        })
        .collect();
    let platform = Some(model.platform.name.as_str());
    let mut outcome = Outcome::of_cpus(Bench::Simulate, Some(governor), platform, per_cpu);
    outcome.workload = Some(model.name.clone());
    outcome.duration_ns = Some(end.max(0).cast_unsigned());
    outcome.energy =
        Energy { measured_joules: None, modelled_joules: energy.as_ref().map(EnergyParts::total) };
    let running: i64 = finished.times.iter().map(|time| time.running).sum();
    outcome.figures = figures(
        &finished.iterations,
        &finished.delays,
        end,
        outcome.energy.modelled_joules,
        running as f64 / (end.max(1) as f64 * finished.times.len().max(1) as f64),
    );
    Run {
        outcome,
        energy,
        times: finished.times,
        balance: finished.balance,
        events: finished.events,
        recording: finished.recorder.map(|recorder| recorder.finish(model, governor, seed)),
    }
}

/// The workload's own results.
fn figures(
    iterations: &Histogram,
    delays: &Histogram,
    end: i64,
    joules: Option<f64>,
    busy: f64,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut figure = |name: &str, value: f64, unit: &str, better: Option<Better>| {
        figures.push(Figure { name: name.to_owned(), value, unit: unit.to_owned(), better });
    };
    let done = iterations.total();
    if let Some(mean) = iterations.mean() {
        let rate = done as f64 / (end as f64 * 1e-9);
        figure("iterations", rate, "/s", Some(Better::Higher));
        figure("iteration", mean * 1e-3, "us", Some(Better::Lower));
        let tail = WakeupLatency::new(iterations.counts());
        figure("iteration p99", tail.p99_ns as f64 * 1e-3, "us", Some(Better::Lower));
        if let Some(joules) = joules.filter(|&joules| joules > 0.0) {
            figure("work per joule", done as f64 / joules, "/J", Some(Better::Higher));
        }
    }
    if let Some(mean) = delays.mean() {
        figure("task delay", mean * 1e-3, "us", Some(Better::Lower));
        let tail = WakeupLatency::new(delays.counts());
        figure("task delay p99", tail.p99_ns as f64 * 1e-3, "us", Some(Better::Lower));
    }
    if let Some(joules) = joules {
        figure("power", joules / (end as f64 * 1e-9), "W", Some(Better::Lower));
    }
    figure("busy", 100.0 * busy, "%", None);
    figures
}

/// The energy of a CPU's stays, as if its core were its own.
fn alone(model: &Model, power: &CpuPower, states: &IdleStates, statistics: &Statistics) -> f64 {
    states
        .indices()
        .filter_map(|state| {
            let of_state = power.states[state].as_ref()?;
            let counters = &statistics.states[state];
            let time = counters.time.get() as f64 * 1e-9;
            let transitions = of_state.transition.value.0 * counters.usage as f64;
            Some(of_state.watts.at(model.mhz) * time + transitions)
        })
        .sum()
}
