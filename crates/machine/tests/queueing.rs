// SPDX-License-Identifier: GPL-2.0-or-later
//! Against queueing theory: with a kernel that takes no time, CPUs are the servers of M/M/1 and
//! M/M/c, whose idle times have closed forms.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use idlelab_governors::catalog;
use idlelab_machine::{
    Costs, Duration, Keep, Model, Operation, Policy, RemoteWake, Run, Source, Task, scenario,
    simulate,
};
use idlelab_recording::WhatFollowed;
use idlelab_states::Nanoseconds;

const MEAN_BETWEEN_ARRIVALS: f64 = 100_000.0;
const ARRIVALS: f64 = 60_000.0;

/// Arrivals of one source, served by so many CPUs that each take `service` on average.
fn queue(servers: usize, service: f64) -> Model {
    let mut model = scenario::embedded("pipe-cross-core").unwrap().unwrap();
    model.duration = Nanoseconds::new((MEAN_BETWEEN_ARRIVALS * ARRIVALS) as i64);
    // One nanosecond is as little as there is; a tick takes none.
    model.costs = Costs {
        idle_entry: 1,
        idle_again: 1,
        idle_exit: 1,
        context_switch: 1,
        tick: 0,
        timer: 1,
        device: 1,
        ipi: 1,
        ipi_send: 0,
        ipi_flight: 1,
        notice: 1,
        system_call: 1,
        slice: i64::MAX / 4,
        remote_wake: RemoteWake::Monitor,
    };
    model.exit_latencies.typical_share = 0.0;
    model.exit_latencies.spread = 0.0;
    model.exit_latencies.tail_probability = 0.0;
    model.channels = 1;
    let every = Duration::Exponential(MEAN_BETWEEN_ARRIVALS);
    model.sources = vec![Source { cpu: 0, channel: Some(0), every }];
    let program = vec![
        Operation::Wait(0),
        Operation::Compute(Duration::Exponential(service)),
        Operation::Mark,
    ];
    model.tasks = (0..servers)
        .map(|cpu| Task { name: "server".into(), cpu, program: program.clone() })
        .collect();
    model
}

fn run(model: &Model) -> Run {
    let policy = Policy::Named(catalog::find("state:1").unwrap());
    simulate(model, policy, 11, Keep::Recording).unwrap()
}

/// When a CPU had nothing to do: from the first round of the idle loop to the task that follows.
fn idle_times(run: &Run, cpu: usize) -> Vec<(i64, i64)> {
    let mut times = Vec::new();
    let mut since = None;
    for period in run.recording.as_ref().unwrap().cpus[cpu].periods.iter() {
        let from = *since.get_or_insert(period.idle_start.unwrap().get());
        if period.followed_by == WhatFollowed::Task {
            times.push((from, period.exit.get()));
            since = None;
        }
    }
    times
}

fn assert_near(found: f64, expected: f64, standard_error: f64, what: &str) {
    let errors = (found - expected).abs() / standard_error;
    assert!(errors < 4.0, "{what}: {found} is {errors:.1} standard errors from {expected}");
}

/// An idle time of M/M/1 ends with the next arrival, so it is exponential whatever came before.
#[test]
fn idle_times_of_one_server_are_those_between_arrivals() {
    let run = run(&queue(1, 60_000.0));
    let idle: Vec<f64> = idle_times(&run, 0).iter().map(|(from, to)| (to - from) as f64).collect();
    let count = idle.len() as f64;
    // A share 1 - rho of the arrivals finds the server idle.
    assert_near(count / ARRIVALS, 0.4, 0.01, "idle times an arrival");
    let mean = idle.iter().sum::<f64>() / count;
    assert_near(mean, MEAN_BETWEEN_ARRIVALS, MEAN_BETWEEN_ARRIVALS / count.sqrt(), "mean");
    for (after, left) in
        [(0.5_f64, 0.0), (1.0, 0.0), (2.0, 0.0), (4.0, 0.0)].map(|(t, _)| (t, (-t).exp()))
    {
        let longer = idle.iter().filter(|&&time| time > after * MEAN_BETWEEN_ARRIVALS).count();
        let error = (left * (1.0 - left) / count).sqrt();
        assert_near(longer as f64 / count, left, error, "share that is longer");
    }
}

/// The share of time in which none of c servers has anything to do is
/// p0 = 1 / (sum of a^k / k! for k < c, and a^c / c! / (1 - rho)), with a = arrivals × service.
#[test]
fn all_of_c_servers_are_idle_as_often_as_erlang_says() {
    for (servers, service) in [(1_usize, 60_000.0), (2, 120_000.0), (4, 250_000.0)] {
        let run = run(&queue(servers, service));
        let end = MEAN_BETWEEN_ARRIVALS * ARRIVALS;
        // +1 when a CPU goes idle, -1 when it ends.
        let mut changes: Vec<(i64, i32)> = (0..servers)
            .flat_map(|cpu| idle_times(&run, cpu))
            .flat_map(|(from, to)| [(from, 1), (to, -1)])
            .collect();
        changes.sort_unstable();
        const BATCHES: usize = 30;
        let mut idle = [0.0; BATCHES];
        let mut all_idle = Vec::new();
        let (mut count, mut since) = (0, 0);
        for (time, change) in changes {
            if count == servers as i32 {
                all_idle.push((time - since) as f64);
                let batch = (time as f64 / end * BATCHES as f64) as usize;
                idle[batch.min(BATCHES - 1)] += (time - since) as f64;
            }
            count += change;
            since = time;
        }
        let shares: Vec<f64> = idle.iter().map(|time| time / (end / BATCHES as f64)).collect();
        let mean = shares.iter().sum::<f64>() / BATCHES as f64;
        let variance =
            shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
        let load = service / MEAN_BETWEEN_ARRIVALS;
        let factorial = |k: usize| (1..=k).map(|n| n as f64).product::<f64>();
        let below: f64 = (0..servers).map(|k| load.powi(k as i32) / factorial(k)).sum();
        let above = load.powi(servers as i32) / factorial(servers) / (1.0 - load / servers as f64);
        let error = (variance / BATCHES as f64).sqrt();
        assert_near(mean, 1.0 / (below + above), error, &format!("p0 of {servers}"));
        // Such a time ends with an arrival too.
        let mean = all_idle.iter().sum::<f64>() / all_idle.len() as f64;
        let error = MEAN_BETWEEN_ARRIVALS / (all_idle.len() as f64).sqrt();
        assert_near(mean, MEAN_BETWEEN_ARRIVALS, error, &format!("all of {servers} idle"));
    }
}
