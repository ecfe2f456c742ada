// SPDX-License-Identifier: GPL-2.0-or-later
//! From what is written to a model.

use std::collections::BTreeMap;

use idlelab_governors::NO_LATENCY_LIMIT;
use idlelab_platform::{CpuList, Platform, embedded};
use idlelab_states::{Availability, CpuId, Nanoseconds, TickRate};

use super::Changes;
use super::error::{Place, ScenarioError};
use super::text::{self, Kernel, Scenario, Value};
use crate::model::{Costs, Device, ExitLatencies, Model, Operation, RemoteWake, Source, Task};
use crate::random::Duration;

/// Kernel costs and exit latencies by machine.
const MACHINES: &str = include_str!("../../machines.toml");

/// Beyond this a scenario is a slip of the finger: a day.
const LONGEST_RUN_SECONDS: f64 = 86_400.0;
/// So is a duration beyond an hour.
const LONGEST_US: f64 = 3.6e9;
const MOST_CPUS: usize = 1_024;
const MOST_TASKS: usize = 10_000;

/// Reads a scenario's parts, with what messages need.
struct Builder<'a> {
    file: &'a str,
    parameters: BTreeMap<String, f64>,
    channels: Vec<String>,
}

pub(super) fn model(
    file: &str,
    scenario: Scenario,
    changes: &Changes,
) -> Result<Model, ScenarioError> {
    let mut builder =
        Builder { file, parameters: scenario.parameters.clone(), channels: Vec::new() };
    for (name, value) in &changes.parameters {
        match builder.parameters.get_mut(name) {
            Some(parameter) => *parameter = *value,
            None => {
                let known: Vec<&str> = scenario.parameters.keys().map(String::as_str).collect();
                let problem = if known.is_empty() {
                    format!("there is no parameter `{name}`; this scenario has none")
                } else {
                    format!("there is no parameter `{name}`; there are {}", known.join(", "))
                };
                return Err(builder.error("parameters", problem));
            }
        }
    }
    let mut platform = match &changes.platform {
        Some(platform) => platform.clone(),
        None => builder.platform(&scenario.platform)?,
    };
    builder.disable(&mut platform, &scenario.disable)?;
    let rate = match (changes.rate, scenario.tick_hz) {
        (Some(rate), _) => rate,
        (None, Some(hertz)) => TickRate::from_hertz(hertz).ok_or_else(|| {
            builder.error("tick_hz", format!("{hertz} is no tick rate; expected 24 to 1200"))
        })?,
        (None, None) => platform.tick_rate.ok_or_else(|| {
            let name = &platform.name;
            builder.error("tick_hz", format!("missing, and platform {name} does not tell it"))
        })?,
    };
    let cpus = builder.cpus(scenario.cpus.as_deref(), &platform)?;
    let kernel = builder.kernel(&platform.name, scenario.kernel.clone())?;
    let (costs, exit_latencies) = builder.costs(&kernel, rate)?;
    let duration = match changes.duration {
        Some(duration) => duration,
        None => builder.run_length(scenario.seconds)?,
    };
    if !(0.0..=1.0).contains(&scenario.rcu_needs_tick) {
        return Err(builder.error("rcu_needs_tick", "expected a probability from 0 to 1".into()));
    }
    let devices = scenario
        .device
        .iter()
        .enumerate()
        .map(|(at, device)| {
            let key = format!("device[{at}]");
            let interrupts = device
                .interrupts
                .map(|cpu| builder.cpu(&format!("{key}.interrupts"), cpu, &cpus))
                .transpose()?;
            let latency = builder.duration(&format!("{key}.latency"), &device.latency)?;
            Ok(Device { interrupts, latency })
        })
        .collect::<Result<Vec<_>, ScenarioError>>()?;
    let mut sources = Vec::new();
    for (at, source) in scenario.source.iter().enumerate() {
        sources.push(Source {
            cpu: builder.cpu(&format!("source[{at}].cpu"), source.cpu, &cpus)?,
            channel: source.channel.as_ref().map(|channel| builder.channel(channel)),
            every: builder.duration(&format!("source[{at}].every"), &source.every)?,
        });
    }
    let tasks = builder.tasks(&scenario, &cpus)?;
    builder.check_channels(&tasks, &sources)?;
    builder.check_barriers(&scenario, &tasks)?;
    let busy_cores = tasks.iter().map(|task| task.cpu).max().unwrap_or(0) + 1;
    let mhz = scenario.mhz.unwrap_or_else(|| {
        platform.frequency.as_ref().map_or(u32::MAX, |frequency| frequency.max_with(busy_cores))
    });
    Ok(Model {
        name: scenario.name,
        description: scenario.description,
        rate,
        duration,
        mhz,
        cpus,
        costs,
        exit_latencies,
        latency_limit: scenario
            .latency_limit_us
            .map_or(NO_LATENCY_LIMIT, |us| Nanoseconds::from_micros(i64::from(us))),
        rcu_needs_tick: scenario.rcu_needs_tick,
        channels: builder.channels.len(),
        barriers: scenario.barrier.iter().map(|barrier| barrier.tasks).collect(),
        devices,
        sources,
        tasks,
        platform,
    })
}

impl Builder<'_> {
    fn error(&self, key: &str, problem: String) -> ScenarioError {
        ScenarioError { file: self.file.to_owned(), place: Place::Key(key.to_owned()), problem }
    }

    fn platform(&self, name: &str) -> Result<Platform, ScenarioError> {
        embedded::get(name).ok_or_else(|| {
            let meant = embedded::nearest(name)
                .map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
            self.error("platform", format!("no built-in platform is called {name:?}{meant}"))
        })
    }

    fn disable(&self, platform: &mut Platform, names: &[String]) -> Result<(), ScenarioError> {
        for (at, name) in names.iter().enumerate() {
            let mut found = false;
            for table in 0..platform.tables().len() {
                let Some(states) = platform.states_mut(table) else { continue };
                for index in states.indices() {
                    if states[index].name.as_str() == name {
                        states.set_availability(index, Availability::DisabledByUser);
                        found = true;
                    }
                }
            }
            if !found {
                let key = format!("disable[{at}]");
                let of = &platform.name;
                return Err(self.error(&key, format!("platform {of} has no state {name:?}")));
            }
        }
        Ok(())
    }

    fn cpus(&self, list: Option<&str>, platform: &Platform) -> Result<Vec<CpuId>, ScenarioError> {
        let list = match list {
            Some(list) => {
                list.parse::<CpuList>().map_err(|error| self.error("cpus", error.to_string()))?
            }
            None => platform.cpus().ok_or_else(|| {
                let of = &platform.name;
                self.error("cpus", format!("missing, and platform {of} does not name its CPUs"))
            })?,
        };
        if list.is_empty() || list.len() > MOST_CPUS {
            return Err(self.error("cpus", format!("expected 1 to {MOST_CPUS} CPUs")));
        }
        if let Some(cpu) = list.iter().find(|&cpu| platform.states_of(cpu).is_none()) {
            let of = &platform.name;
            return Err(self.error("cpus", format!("platform {of} has no {cpu}")));
        }
        Ok(list.iter().collect())
    }

    fn cpu(&self, key: &str, number: u32, cpus: &[CpuId]) -> Result<usize, ScenarioError> {
        cpus.iter()
            .position(|&cpu| cpu == CpuId(number))
            .ok_or_else(|| self.error(key, format!("there is no cpu{number} in this scenario")))
    }

    fn run_length(&self, seconds: f64) -> Result<Nanoseconds, ScenarioError> {
        if seconds > 0.0 && seconds <= LONGEST_RUN_SECONDS {
            return Ok(Nanoseconds::new((seconds * 1e9).round() as i64));
        }
        Err(self.error("seconds", format!("expected above 0, up to {LONGEST_RUN_SECONDS}")))
    }

    /// What the scenario says, else what is known of the machine, else what holds for any.
    fn kernel(&self, platform: &str, own: Kernel) -> Result<Kernel, ScenarioError> {
        let mut machines: BTreeMap<String, Kernel> = text::parse("machines.toml", MACHINES)?;
        let machine = machines.remove(platform).unwrap_or_default();
        let any = machines.remove("any").unwrap_or_default();
        Ok(own.or(&machine).or(&any))
    }

    fn costs(
        &self,
        kernel: &Kernel,
        rate: TickRate,
    ) -> Result<(Costs, ExitLatencies), ScenarioError> {
        // `any` of machines.toml has every key.
        let cost = |cost: Option<u32>| i64::from(cost.unwrap_or(1));
        let costs = Costs {
            idle_entry: cost(kernel.idle_entry_ns),
            idle_again: cost(kernel.idle_again_ns),
            idle_exit: cost(kernel.idle_exit_ns),
            context_switch: cost(kernel.context_switch_ns),
            tick: cost(kernel.tick_ns),
            timer: cost(kernel.timer_ns),
            device: cost(kernel.device_ns),
            ipi: cost(kernel.ipi_ns),
            ipi_send: cost(kernel.ipi_send_ns),
            ipi_flight: cost(kernel.ipi_flight_ns),
            notice: cost(kernel.notice_ns),
            system_call: cost(kernel.system_call_ns),
            slice: cost(kernel.slice_ns),
            remote_wake: kernel.remote_wake.unwrap_or(RemoteWake::Ipi),
        };
        // A CPU that did nothing but ticks would never come to its work; a loop that takes no time
        // would never end.
        if costs.tick * 2 > rate.tick().get() {
            return Err(
                self.error("kernel.tick_ns", "a tick takes more than half of itself".into())
            );
        }
        for (key, cost) in [
            ("kernel.idle_entry_ns", costs.idle_entry),
            ("kernel.idle_again_ns", costs.idle_again),
            ("kernel.idle_exit_ns", costs.idle_exit),
            ("kernel.context_switch_ns", costs.context_switch),
            ("kernel.slice_ns", costs.slice),
        ] {
            if cost == 0 {
                return Err(
                    self.error(key, "expected at least 1: what takes no time never ends".into())
                );
            }
        }
        let latencies = ExitLatencies {
            typical_share: kernel.exit_typical_share.unwrap_or(1.0),
            spread: kernel.exit_spread.unwrap_or(0.0),
            tail_probability: kernel.exit_tail_probability.unwrap_or(0.0),
        };
        for (key, share) in [
            ("kernel.exit_typical_share", latencies.typical_share),
            ("kernel.exit_spread", latencies.spread),
            ("kernel.exit_tail_probability", latencies.tail_probability),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return Err(self.error(key, format!("expected 0 to 1, found {share}")));
            }
        }
        Ok((costs, latencies))
    }

    fn value(&self, key: &str, value: &Value) -> Result<f64, ScenarioError> {
        match value {
            Value::Number(number) => Ok(*number),
            Value::Parameter(name) => self.parameters.get(name).copied().ok_or_else(|| {
                self.error(key, format!("{name:?} is no parameter; it stands under [parameters]"))
            }),
        }
    }

    /// A time in nanoseconds.
    fn micros(&self, key: &str, value: &Value) -> Result<f64, ScenarioError> {
        let us = self.value(key, value)?;
        if (0.0..=LONGEST_US).contains(&us) {
            return Ok(us * 1e3);
        }
        Err(self.error(key, format!("expected 0 to {LONGEST_US} microseconds, found {us}")))
    }

    fn duration(&self, key: &str, text: &text::Duration) -> Result<Duration, ScenarioError> {
        let one_of =
            "expected one of `us`, `uniform_us`, `exponential_us`, or `median_us` with `sigma`";
        if text.slack_us.is_some() {
            return Err(self.error(key, "`slack_us` is for `sleep`".into()));
        }
        match text {
            text::Duration {
                us: Some(us),
                uniform_us: None,
                exponential_us: None,
                median_us: None,
                sigma: None,
                ..
            } => Ok(Duration::Fixed(self.micros(key, us)?.round() as i64)),
            text::Duration {
                us: None,
                uniform_us: Some([from, to]),
                exponential_us: None,
                median_us: None,
                sigma: None,
                ..
            } => {
                let (from, to) = (self.micros(key, from)?, self.micros(key, to)?);
                if from > to {
                    return Err(self.error(key, "the first of `uniform_us` is the lesser".into()));
                }
                Ok(Duration::Uniform(from.round() as i64, to.round() as i64))
            }
            text::Duration {
                us: None,
                uniform_us: None,
                exponential_us: Some(mean),
                median_us: None,
                sigma: None,
                ..
            } => Ok(Duration::Exponential(self.micros(key, mean)?)),
            text::Duration {
                us: None,
                uniform_us: None,
                exponential_us: None,
                median_us: Some(median),
                sigma: Some(sigma),
                ..
            } => {
                let sigma = self.value(key, sigma)?;
                if !(0.0..=4.0).contains(&sigma) {
                    return Err(self.error(key, format!("`sigma` is 0 to 4, found {sigma}")));
                }
                Ok(Duration::LogNormal { median: self.micros(key, median)?, sigma })
            }
            _ => Err(self.error(key, one_of.into())),
        }
    }

    fn channel(&mut self, name: &str) -> usize {
        self.channels.iter().position(|channel| channel == name).unwrap_or_else(|| {
            self.channels.push(name.to_owned());
            self.channels.len() - 1
        })
    }

    fn tasks(&mut self, scenario: &Scenario, cpus: &[CpuId]) -> Result<Vec<Task>, ScenarioError> {
        let mut tasks = Vec::new();
        for (at, task) in scenario.task.iter().enumerate() {
            let key = format!("task[{at}].cpus");
            let homes: CpuList =
                task.cpus.parse().map_err(|error| self.error(&key, format!("{error}")))?;
            if homes.is_empty() {
                return Err(self.error(&key, "expected at least one CPU".into()));
            }
            if homes.len().saturating_mul(task.copies) > MOST_TASKS - tasks.len() {
                return Err(self.error(&key, format!("more than {MOST_TASKS} tasks in all")));
            }
            let program = self.program(at, task, scenario)?;
            for home in homes.iter() {
                let cpu = self.cpu(&key, home.0, cpus)?;
                for _ in 0..task.copies {
                    tasks.push(Task { name: task.name.clone(), cpu, program: program.clone() });
                }
            }
        }
        if tasks.is_empty() {
            return Err(self.error("task", "expected at least one [[task]]".into()));
        }
        Ok(tasks)
    }

    fn program(
        &mut self,
        at: usize,
        task: &text::Task,
        scenario: &Scenario,
    ) -> Result<Vec<Operation>, ScenarioError> {
        let mut program = Vec::with_capacity(task.program.len());
        for (step, operation) in task.program.iter().enumerate() {
            let key = format!("task[{at}].program[{step}]");
            program.push(match operation {
                text::Operation::Compute(duration) => {
                    Operation::Compute(self.duration(&key, duration)?)
                }
                text::Operation::Sleep(duration) => {
                    let slack = match &duration.slack_us {
                        Some(slack) => self.micros(&key, slack)?.round() as i64,
                        None => 0,
                    };
                    let duration = text::Duration { slack_us: None, ..duration.clone() };
                    Operation::Sleep { duration: self.duration(&key, &duration)?, slack }
                }
                text::Operation::SleepCoarsely(duration) => {
                    Operation::SleepCoarsely(self.duration(&key, duration)?)
                }
                text::Operation::Post(channel) => Operation::Post(self.channel(channel)),
                text::Operation::Wait(channel) => Operation::Wait(self.channel(channel)),
                text::Operation::Read(name) => {
                    let named = scenario.device.iter().position(|device| device.name == *name);
                    Operation::Read(named.ok_or_else(|| {
                        self.error(&key, format!("no [[device]] is called {name:?}"))
                    })?)
                }
                text::Operation::Barrier(name) => {
                    let named = scenario.barrier.iter().position(|barrier| barrier.name == *name);
                    Operation::Barrier(named.ok_or_else(|| {
                        self.error(&key, format!("no [[barrier]] is called {name:?}"))
                    })?)
                }
                text::Operation::Mark => Operation::Mark,
            });
        }
        if program.iter().all(|&operation| operation == Operation::Mark) {
            let key = format!("task[{at}].program");
            return Err(self.error(&key, "expected something that takes time".into()));
        }
        Ok(program)
    }

    /// A channel that only one side knows is a slip of the pen.
    fn check_channels(&self, tasks: &[Task], sources: &[Source]) -> Result<(), ScenarioError> {
        for (number, name) in self.channels.iter().enumerate() {
            let used = |operation| tasks.iter().any(|task| task.program.contains(&operation));
            let posted = used(Operation::Post(number))
                || sources.iter().any(|source| source.channel == Some(number));
            let waited = used(Operation::Wait(number));
            let missing = match (posted, waited) {
                (true, true) => continue,
                (false, _) => "posts to",
                (true, false) => "waits for",
            };
            return Err(self.error("task", format!("nothing {missing} channel {name:?}")));
        }
        Ok(())
    }

    fn check_barriers(&self, scenario: &Scenario, tasks: &[Task]) -> Result<(), ScenarioError> {
        for (at, barrier) in scenario.barrier.iter().enumerate() {
            let coming =
                tasks.iter().filter(|task| task.program.contains(&Operation::Barrier(at))).count();
            if barrier.tasks == 0 || coming < barrier.tasks {
                let key = format!("barrier[{at}].tasks");
                let wanted = barrier.tasks;
                return Err(self.error(&key, format!("{coming} tasks come to it, not {wanted}")));
            }
        }
        Ok(())
    }
}

impl Kernel {
    /// What this does not say is as the other says.
    fn or(self, other: &Self) -> Self {
        Self {
            idle_entry_ns: self.idle_entry_ns.or(other.idle_entry_ns),
            idle_again_ns: self.idle_again_ns.or(other.idle_again_ns),
            idle_exit_ns: self.idle_exit_ns.or(other.idle_exit_ns),
            context_switch_ns: self.context_switch_ns.or(other.context_switch_ns),
            tick_ns: self.tick_ns.or(other.tick_ns),
            timer_ns: self.timer_ns.or(other.timer_ns),
            device_ns: self.device_ns.or(other.device_ns),
            ipi_ns: self.ipi_ns.or(other.ipi_ns),
            ipi_send_ns: self.ipi_send_ns.or(other.ipi_send_ns),
            ipi_flight_ns: self.ipi_flight_ns.or(other.ipi_flight_ns),
            notice_ns: self.notice_ns.or(other.notice_ns),
            system_call_ns: self.system_call_ns.or(other.system_call_ns),
            slice_ns: self.slice_ns.or(other.slice_ns),
            remote_wake: self.remote_wake.or(other.remote_wake),
            exit_typical_share: self.exit_typical_share.or(other.exit_typical_share),
            exit_spread: self.exit_spread.or(other.exit_spread),
            exit_tail_probability: self.exit_tail_probability.or(other.exit_tail_probability),
        }
    }
}
