// SPDX-License-Identifier: GPL-2.0-or-later
//! What the kernel's names say, whatever format they are written in.

use crate::event::{Event, Purpose};

/// The `type` of a `power_start` event that tells of an idle state; others are of frequencies.
pub(crate) const POWER_CSTATE: i64 = 1;

/// What an interrupt handler of this name is for.
pub(crate) fn purpose(handler: &[u8]) -> Purpose {
    match handler {
        b"arch_timer" | b"timer" => Purpose::Timer,
        b"IPI" => Purpose::Ipi,
        _ => Purpose::Device,
    }
}

/// The event behind an x86 interrupt vector's tracepoint, which stands where other architectures
/// have `irq_handler_entry` and `ipi_entry`.
pub(crate) fn vector(name: &[u8]) -> Option<Event<'static>> {
    Some(match name {
        b"local_timer_entry" => Event::Interrupt { purpose: Purpose::Timer },
        b"reschedule_entry"
        | b"call_function_entry"
        | b"call_function_single_entry"
        | b"irq_work_entry"
        | b"x86_platform_ipi_entry" => Event::Ipi,
        b"thermal_apic_entry"
        | b"threshold_apic_entry"
        | b"deferred_error_apic_entry"
        | b"error_apic_entry"
        | b"spurious_apic_entry" => Event::Interrupt { purpose: Purpose::Device },
        b"local_timer_exit"
        | b"reschedule_exit"
        | b"call_function_exit"
        | b"call_function_single_exit"
        | b"irq_work_exit"
        | b"x86_platform_ipi_exit"
        | b"thermal_apic_exit"
        | b"threshold_apic_exit"
        | b"deferred_error_apic_exit"
        | b"error_apic_exit"
        | b"spurious_apic_exit" => Event::InterruptGoesOn,
        _ => return None,
    })
}

/// The end of an interrupt's or timer's handler, or a softirq.
pub(crate) fn goes_on(name: &[u8]) -> bool {
    matches!(
        name,
        b"ipi_exit"
            | b"irq_handler_exit"
            | b"softirq_entry"
            | b"softirq_exit"
            | b"hrtimer_expire_exit"
            | b"timer_expire_exit"
    )
}

/// Whether a timer's function is the tick's: `tick_sched_timer` up to 6.7, `tick_nohz_handler`
/// since 6.8.
pub(crate) fn is_tick(function: &[u8]) -> bool {
    matches!(function, b"tick_nohz_handler" | b"tick_sched_timer")
}

/// The governor whose select function this is. ladder's has a longer name.
pub(crate) fn selector(function: &[u8]) -> Option<&[u8]> {
    function.strip_suffix(b"_select").or_else(|| function.strip_suffix(b"_select_state"))
}

/// Whether this is a governor's reflect function.
pub(crate) fn is_reflect(function: &[u8]) -> bool {
    function.ends_with(b"_reflect")
}
