// SPDX-License-Identifier: GPL-2.0-or-later
//! A scenario as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::{Place, ScenarioError};
use crate::model::RemoteWake;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) platform: String,
    pub(super) tick_hz: Option<u32>,
    pub(super) seconds: f64,
    pub(super) mhz: Option<u32>,
    pub(super) cpus: Option<String>,
    #[serde(default)]
    pub(super) disable: Vec<String>,
    pub(super) latency_limit_us: Option<u32>,
    #[serde(default)]
    pub(super) rcu_needs_tick: f64,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, f64>,
    #[serde(default)]
    pub(super) kernel: Kernel,
    #[serde(default)]
    pub(super) barrier: Vec<Barrier>,
    #[serde(default)]
    pub(super) device: Vec<Device>,
    #[serde(default)]
    pub(super) source: Vec<Source>,
    #[serde(default)]
    pub(super) task: Vec<Task>,
}

/// What a kernel takes on a machine; what is not said is as elsewhere.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kernel {
    pub(super) idle_entry_ns: Option<u32>,
    pub(super) idle_again_ns: Option<u32>,
    pub(super) idle_exit_ns: Option<u32>,
    pub(super) context_switch_ns: Option<u32>,
    pub(super) tick_ns: Option<u32>,
    pub(super) timer_ns: Option<u32>,
    pub(super) device_ns: Option<u32>,
    pub(super) ipi_ns: Option<u32>,
    pub(super) ipi_send_ns: Option<u32>,
    pub(super) ipi_flight_ns: Option<u32>,
    pub(super) notice_ns: Option<u32>,
    pub(super) system_call_ns: Option<u32>,
    pub(super) slice_ns: Option<u32>,
    pub(super) remote_wake: Option<RemoteWake>,
    pub(super) exit_typical_share: Option<f64>,
    pub(super) exit_spread: Option<f64>,
    pub(super) exit_tail_probability: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Barrier {
    pub(super) name: String,
    pub(super) tasks: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) interrupts: Option<u32>,
    pub(super) latency: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    pub(super) cpu: u32,
    pub(super) channel: Option<String>,
    pub(super) every: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) name: String,
    pub(super) cpus: String,
    #[serde(default = "one")]
    pub(super) copies: usize,
    pub(super) program: Vec<Operation>,
}

fn one() -> usize {
    1
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Operation {
    Compute(Duration),
    Sleep(Duration),
    SleepCoarsely(Duration),
    Post(String),
    Wait(String),
    Read(String),
    Barrier(String),
    Mark,
}

/// One of the ways to say how long something takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Duration {
    pub(super) us: Option<Value>,
    pub(super) uniform_us: Option<[Value; 2]>,
    pub(super) exponential_us: Option<Value>,
    pub(super) median_us: Option<Value>,
    pub(super) sigma: Option<Value>,
    pub(super) slack_us: Option<Value>,
}

/// A number, or the name of a parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Number(f64),
    Parameter(String),
}

pub(super) fn parse<T: for<'de> Deserialize<'de>>(
    file: &str,
    text: &str,
) -> Result<T, ScenarioError> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
        ScenarioError {
            file: file.to_owned(),
            place: Place::Line(1 + before.matches('\n').count()),
            problem: error.message().replace('\n', "; "),
        }
    })
}
