// SPDX-License-Identifier: GPL-2.0-or-later
//! Which events make a recording of which fidelity.

use std::path::Path;

use idlelab_recording::Fidelity;

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tracepoint {
    pub(crate) system: &'static str,
    pub(crate) event: &'static str,
}

const fn of(system: &'static str, event: &'static str) -> Tracepoint {
    Tracepoint { system, event }
}

/// All that is recorded where the kernel has it. The ends of handlers show when interrupts are
/// over, and so when the idle loop goes on.
pub(crate) const TRACEPOINTS: [Tracepoint; 34] = [
    of("power", "cpu_idle"),
    of("power", "cpu_idle_miss"),
    of("power", "suspend_resume"),
    of("power", "pm_qos_add_request"),
    of("power", "pm_qos_update_request"),
    of("power", "pm_qos_remove_request"),
    of("power", "pm_qos_update_target"),
    of("cpuhp", "cpuhp_enter"),
    of("sched", "sched_switch"),
    of("irq", "irq_handler_entry"),
    of("irq", "irq_handler_exit"),
    of("irq", "softirq_entry"),
    of("irq", "softirq_exit"),
    of("ipi", "ipi_entry"),
    of("ipi", "ipi_exit"),
    of("irq_vectors", "local_timer_entry"),
    of("irq_vectors", "local_timer_exit"),
    of("irq_vectors", "reschedule_entry"),
    of("irq_vectors", "reschedule_exit"),
    of("irq_vectors", "call_function_entry"),
    of("irq_vectors", "call_function_exit"),
    of("irq_vectors", "call_function_single_entry"),
    of("irq_vectors", "call_function_single_exit"),
    of("irq_vectors", "irq_work_entry"),
    of("irq_vectors", "irq_work_exit"),
    of("timer", "hrtimer_start"),
    of("timer", "hrtimer_cancel"),
    of("timer", "hrtimer_expire_entry"),
    of("timer", "hrtimer_expire_exit"),
    of("timer", "timer_start"),
    of("timer", "timer_cancel"),
    of("timer", "timer_expire_entry"),
    of("timer", "timer_expire_exit"),
    of("timer", "tick_stop"),
];

/// Without these of a fidelity's events a recording does not reach it.
const NEEDED: [(Fidelity, &str, &str); 5] = [
    (Fidelity::Idle, "power", "cpu_idle"),
    (Fidelity::Causes, "sched", "sched_switch"),
    (Fidelity::Causes, "irq", "irq_handler_entry"),
    (Fidelity::Timers, "timer", "hrtimer_start"),
    (Fidelity::Timers, "timer", "timer_start"),
];

/// The events of the list that tracefs has.
pub(crate) fn present(events: &Path) -> Vec<Tracepoint> {
    let there = |point: &Tracepoint| events.join(point.system).join(point.event).is_dir();
    TRACEPOINTS.into_iter().filter(there).collect()
}

/// The fidelity that these events reach, and the first event that it takes to reach the next;
/// none if not even `cpu_idle` is there.
pub(crate) fn fidelity(present: &[Tracepoint]) -> (Option<Fidelity>, Option<String>) {
    let mut reached = None;
    for level in [Fidelity::Idle, Fidelity::Causes, Fidelity::Timers] {
        let lacks = NEEDED.iter().find(|&&(needed, system, event)| {
            needed == level && !present.iter().any(|p| p.system == system && p.event == event)
        });
        if let Some((_, system, event)) = lacks {
            return (reached, Some(format!("{system}:{event}")));
        }
        reached = Some(level);
    }
    (reached, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fidelity_is_reached_with_the_events_that_it_needs() {
        assert_eq!(fidelity(&TRACEPOINTS), (Some(Fidelity::Timers), None));
        let without = |event: &str| {
            let kept: Vec<_> = TRACEPOINTS.into_iter().filter(|p| p.event != event).collect();
            fidelity(&kept)
        };
        assert_eq!(
            without("hrtimer_start"),
            (Some(Fidelity::Causes), Some("timer:hrtimer_start".to_owned()))
        );
        assert_eq!(
            without("sched_switch"),
            (Some(Fidelity::Idle), Some("sched:sched_switch".to_owned()))
        );
        assert_eq!(without("cpu_idle"), (None, Some("power:cpu_idle".to_owned())));
    }
}
