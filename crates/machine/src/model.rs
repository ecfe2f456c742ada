// SPDX-License-Identifier: GPL-2.0-or-later
//! What is simulated: a machine, its kernel's costs, and a workload.

use idlelab_platform::Platform;
use idlelab_states::{CpuId, Nanoseconds, TickRate};

use crate::random::Duration;

/// A machine with a workload, ready to be run under any governor.
///
/// CPUs, channels, barriers, devices and tasks go by their places in these lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What the scenario is called.
    pub name: String,
    /// What it is, in a line.
    pub description: String,
    /// The machine.
    pub platform: Platform,
    /// The scheduler tick.
    pub rate: TickRate,
    /// How much time is simulated.
    pub duration: Nanoseconds,
    /// At which frequency CPUs execute, in megahertz: it decides what they draw, and nothing else.
    pub mhz: u32,
    /// The CPUs that there are.
    pub cpus: Vec<CpuId>,
    /// What the kernel takes for what it does.
    pub costs: Costs,
    /// How long leaving idle states takes.
    pub exit_latencies: ExitLatencies,
    /// The exit latency that PM QoS allows.
    pub latency_limit: Nanoseconds,
    /// How probable it is, each time a CPU goes idle, that RCU needs its tick once more.
    pub rcu_needs_tick: f64,
    /// How many channels there are.
    pub channels: usize,
    /// How many tasks each barrier waits for.
    pub barriers: Vec<usize>,
    /// Devices that tasks read from.
    pub devices: Vec<Device>,
    /// What comes from outside.
    pub sources: Vec<Source>,
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// What the kernel takes for what it does, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// From a task that waits to the idle state's entry: the switch to the idle task, the
    /// governor, and stopping the tick.
    pub idle_entry: i64,
    /// From the end of an interrupt in idle to the next entry.
    pub idle_again: i64,
    /// From leaving the idle loop to the next task, the switch included.
    pub idle_exit: i64,
    /// From one task to another.
    pub context_switch: i64,
    /// A tick's interrupt.
    pub tick: i64,
    /// A timer's interrupt, for each timer.
    pub timer: i64,
    /// A device's interrupt.
    pub device: i64,
    /// An inter-processor interrupt, on the CPU that gets it.
    pub ipi: i64,
    /// The same on the CPU that sends it.
    pub ipi_send: i64,
    /// From sending an inter-processor interrupt until it arrives.
    pub ipi_flight: i64,
    /// From another CPU's wakeup until a polling CPU, or one that monitors, sees it.
    pub notice: i64,
    /// A system call.
    pub system_call: i64,
    /// How long a task runs before another on its CPU does.
    pub slice: i64,
    /// How an idle CPU that does not poll is woken by another.
    pub remote_wake: RemoteWake,
}

/// How an idle CPU that does not poll is woken by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemoteWake {
    /// By an inter-processor interrupt.
    Ipi,
    /// By a write to the memory that it monitors (MWAIT on x86): no interrupt is handled.
    Monitor,
}

/// How long leaving an idle state takes, where the platform's description does not say what was
/// seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExitLatencies {
    /// The typical time as a share of the table's exit latency.
    pub typical_share: f64,
    /// How much longer than typical it may be without being out of the ordinary, as a share.
    pub spread: f64,
    /// How probable a time between typical and the table's worst case is.
    pub tail_probability: f64,
}

/// Something that tasks read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Which CPU gets its interrupts; none for the one that asked.
    pub interrupts: Option<usize>,
    /// From a request to its interrupt.
    pub latency: Duration,
}

/// What posts to a channel from outside, through a device's interrupt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// The CPU that is interrupted.
    pub cpu: usize,
    /// The channel that is posted to; none if nobody waits for it.
    pub channel: Option<usize>,
    /// From one arrival to the next.
    pub every: Duration,
}

/// A task: a program without end, on one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What it is called.
    pub name: String,
    /// Where it runs.
    pub cpu: usize,
    /// What it does, over and over.
    pub program: Vec<Operation>,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Executes.
    Compute(Duration),
    /// Sleeps on a high-resolution timer that may fire up to `slack` nanoseconds late.
    Sleep {
        /// How long.
        duration: Duration,
        /// How late, in nanoseconds.
        slack: i64,
    },
    /// Sleeps on a timer of the timer wheel, in whole ticks.
    SleepCoarsely(Duration),
    /// Adds one to a channel, or wakes the first task that waits for it.
    Post(usize),
    /// Takes one from a channel, or waits for it.
    Wait(usize),
    /// Reads from a device.
    Read(usize),
    /// Waits until as many tasks have come as the barrier is for.
    Barrier(usize),
    /// An iteration is done.
    Mark,
}
