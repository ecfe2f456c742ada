// SPDX-License-Identifier: GPL-2.0-or-later
//! The events that tell something of idle, whatever format they come from.

use idlelab_recording::Miss;

/// What tells one pending timer from another: its address, as far as the trace shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TimerId(pub(crate) u64);

/// An event that tells something about idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// `cpu_idle` with a state: entry.
    Enter { cpu: u32, state: u64 },
    /// `cpu_idle` with all ones: exit.
    Exit { cpu: u32 },
    /// `power_start` of a C-state, by the CPU that enters it: what kernels up to 2.6.37 have instead
    /// of `cpu_idle`, and some later ones beside it.
    PowerStart { state: u64 },
    /// `power_end`, by the CPU that left the state.
    PowerEnd,
    /// `cpu_idle_miss`.
    Miss { cpu: u32, miss: Miss },
    /// `sched_switch`: whether the task that leaves, and the one that comes, is the idle task.
    Switch { from_idle: bool, to_idle: bool },
    /// An interrupt of a device, or one whose purpose other events tell.
    Interrupt { purpose: Purpose },
    /// `ipi_entry`.
    Ipi,
    /// `hrtimer_start`.
    HrtimerStart { timer: TimerId, is_tick: bool, expires: i64 },
    /// `hrtimer_cancel`.
    HrtimerCancel { timer: TimerId },
    /// `hrtimer_expire_entry`; `now` by the clock that `expires` is told in.
    HrtimerExpire { timer: TimerId, is_tick: bool, now: Option<i64> },
    /// `timer_start`; times in jiffies.
    TimerStart { timer: TimerId, cpu: Option<u32>, due: i64, now: Option<i64> },
    /// `timer_cancel`.
    TimerCancel { timer: TimerId },
    /// `timer_expire_entry`.
    TimerExpire { timer: TimerId },
    /// `tick_stop` that succeeded.
    TickStopped,
    /// `pm_qos_…_request`: the limit of all CPUs' wakeup latency is about to be set.
    LatencyRequest,
    /// `pm_qos_update_target`: the least of all requests of one kind is now this.
    LatencyTarget { microseconds: i64 },
    /// `cpuhp_enter` on the way down.
    Offline { cpu: u32 },
    /// `suspend_resume` of the machine itself.
    Suspend { begins: bool },
    /// Probe `sel`: a governor is asked; which one, if the function has a name.
    Select { governor: Option<&'a [u8]> },
    /// Probe `lat`.
    LatencyLimit { nanoseconds: i64, caller: Caller },
    /// Probe `stopped`.
    TickState { stopped: bool, caller: Caller },
    /// Probe `sl`.
    SleepLength { sleep: i64, delta_tick: i64, caller: Caller },
    /// Probe `selr`: a governor has chosen.
    Selected { state: u64, stop_tick: bool },
    /// Probe `refl`: a governor is told of the outcome.
    Reflect { state: u64, residency: i64, poll_time_limit: bool },
    /// Probe `got`.
    GotTick { fired: bool, caller: Caller },
    /// Softirqs and other work in interrupt context, and idle loop probes: they only show that
    /// time goes on.
    InterruptGoesOn,
    /// Nothing that idlelab reads.
    Other,
}

/// Who called a probed function. Calls from elsewhere than a governor are no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A governor's select or reflect, whichever the probe is meant for.
    Governor,
    /// An address without a name.
    Unknown,
}

/// What an `irq_handler_entry` is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The CPU's own timer, as timer events tell.
    Timer,
    /// An IPI, as IPI events tell.
    Ipi,
    /// A device.
    Device,
}
