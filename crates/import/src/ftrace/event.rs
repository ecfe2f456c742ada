// SPDX-License-Identifier: GPL-2.0-or-later
//! The events that idlelab reads, and their fields.

use idlelab_recording::Miss;
use memchr::memmem;

use super::line::number;

/// An event that tells something about idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// `cpu_idle` with a state: entry.
    Enter { cpu: u32, state: u64 },
    /// `cpu_idle` with all ones: exit.
    Exit { cpu: u32 },
    /// `cpu_idle_miss`.
    Miss { cpu: u32, miss: Miss },
    /// `sched_switch`: whether the task that leaves, and the one that comes, is the idle task.
    Switch { from_idle: bool, to_idle: bool },
    /// An interrupt of a device, or one whose purpose other events tell.
    Interrupt { purpose: Purpose },
    /// `ipi_entry`.
    Ipi,
    /// `hrtimer_start`.
    HrtimerStart { timer: &'a [u8], is_tick: bool, expires: i64 },
    /// `hrtimer_cancel`.
    HrtimerCancel { timer: &'a [u8] },
    /// `hrtimer_expire_entry`.
    HrtimerExpire { timer: &'a [u8], is_tick: bool },
    /// `timer_start`; times in jiffies.
    TimerStart { timer: &'a [u8], cpu: Option<u32>, due: i64, now: Option<i64> },
    /// `timer_cancel`.
    TimerCancel { timer: &'a [u8] },
    /// `timer_expire_entry`.
    TimerExpire { timer: &'a [u8] },
    /// `tick_stop` that succeeded.
    TickStopped,
    /// Probe `sel`: a governor is asked.
    Select { governor: &'a [u8] },
    /// Probe `lat`, from within a governor's select.
    LatencyLimit { nanoseconds: i64 },
    /// Probe `stopped`, from within a governor's select.
    TickState { stopped: bool },
    /// Probe `sl`, from within a governor's select.
    SleepLength { sleep: i64, delta_tick: i64 },
    /// Probe `selr`: a governor has chosen.
    Selected { state: u64, stop_tick: bool },
    /// Probe `refl`: a governor is told of the outcome.
    Reflect { state: u64, residency: i64, poll_time_limit: bool },
    /// Probe `got`, from within a governor's reflect.
    GotTick { fired: bool },
    /// Softirqs and other work in interrupt context, and idle loop probes: they only show that
    /// time goes on.
    InterruptGoesOn,
    /// Nothing that idlelab reads.
    Other,
}

/// What an `irq_handler_entry` is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The CPU's own timer, as timer events tell.
    Timer,
    /// An IPI, as IPI events tell.
    Ipi,
    /// A device.
    Device,
}

/// Bit of `struct cpuidle_device`'s first word that says that polling ended at its time limit:
/// `registered`, `enabled`, `poll_time_limit` are bits 0, 1 and 2 (Linux 6.12 to 7.3).
const POLL_TIME_LIMIT_BIT: i64 = 4;

/// Reads an event's fields. `None` if it is of a kind that is read but lacks a field.
pub(super) fn parse<'a>(name: &[u8], arguments: &'a [u8]) -> Option<Kind<'a>> {
    Some(match name {
        b"cpu_idle" => cpu_idle(arguments)?,
        b"cpu_idle_miss" => Kind::Miss {
            cpu: u32::try_from(integer(arguments, b"cpu_id=")?).ok()?,
            miss: match text(arguments, b"type=")? {
                b"above" => Miss::Above,
                b"below" => Miss::Below,
                _ => return None,
            },
        },
        b"sched_switch" => sched_switch(arguments)?,
        b"irq_handler_entry" => Kind::Interrupt { purpose: purpose(text(arguments, b"name=")?) },
        b"ipi_entry" => Kind::Ipi,
        b"ipi_exit"
        | b"irq_handler_exit"
        | b"softirq_entry"
        | b"softirq_exit"
        | b"hrtimer_expire_exit"
        | b"timer_expire_exit" => Kind::InterruptGoesOn,
        b"hrtimer_start" => Kind::HrtimerStart {
            timer: text(arguments, b"hrtimer=")?,
            is_tick: is_tick(text(arguments, b"function=")?),
            expires: integer(arguments, b" expires=")?,
        },
        b"hrtimer_cancel" => Kind::HrtimerCancel { timer: text(arguments, b"hrtimer=")? },
        b"hrtimer_expire_entry" => Kind::HrtimerExpire {
            timer: text(arguments, b"hrtimer=")?,
            is_tick: is_tick(text(arguments, b"function=")?),
        },
        b"timer_start" => timer_start(arguments)?,
        b"timer_cancel" => Kind::TimerCancel { timer: text(arguments, b"timer=")? },
        b"timer_expire_entry" => Kind::TimerExpire { timer: text(arguments, b"timer=")? },
        b"tick_stop" if integer(arguments, b"success=")? == 1 => Kind::TickStopped,
        b"sel" => match caller(arguments)?.strip_suffix(b"_select") {
            Some(governor) => Kind::Select { governor },
            // ladder's function has a longer name.
            None => Kind::Select { governor: caller(arguments)?.strip_suffix(b"_select_state")? },
        },
        b"lat" if is_select(caller(arguments)?) => {
            Kind::LatencyLimit { nanoseconds: integer(arguments, b" ret=")? }
        }
        b"stopped" if is_select(caller(arguments)?) => {
            Kind::TickState { stopped: integer(arguments, b" ret=")? != 0 }
        }
        b"sl" if is_select(caller(arguments)?) => Kind::SleepLength {
            sleep: integer(arguments, b" ret=")?,
            delta_tick: integer(arguments, b" tick=")?,
        },
        b"selr" => Kind::Selected {
            state: u64::try_from(integer(arguments, b" ret=")?).ok()?,
            stop_tick: integer(arguments, b" stop=")? != 0,
        },
        b"refl" => Kind::Reflect {
            state: u64::try_from(integer(arguments, b" state=")?).ok()?,
            residency: integer(arguments, b" res=")?,
            poll_time_limit: integer(arguments, b" bits=")? & POLL_TIME_LIMIT_BIT != 0,
        },
        b"got" if caller(arguments)?.ends_with(b"_reflect") => {
            Kind::GotTick { fired: integer(arguments, b" ret=")? != 0 }
        }
        _ => Kind::Other,
    })
}

fn cpu_idle(arguments: &[u8]) -> Option<Kind<'_>> {
    let cpu = u32::try_from(integer(arguments, b"cpu_id=")?).ok()?;
    let state = integer(arguments, b"state=")?;
    Some(match u64::try_from(state) {
        // PWR_EVENT_EXIT is all ones; some exporters widen it, some print it signed.
        Ok(state) if state != u64::from(u32::MAX) => Kind::Enter { cpu, state },
        _ => Kind::Exit { cpu },
    })
}

/// Both task names may hold anything, but each PID comes after its name: the last one counts.
fn sched_switch(arguments: &[u8]) -> Option<Kind<'_>> {
    let next = memmem::rfind(arguments, b" next_comm=")?;
    let (before, after) = arguments.split_at_checked(next)?;
    let pid = |part: &[u8], key: &[u8]| {
        let at = memmem::rfind(part, key)? + key.len();
        number(part.get(at..)?).map(|(pid, _)| pid)
    };
    Some(Kind::Switch {
        from_idle: pid(before, b" prev_pid=")? == 0,
        to_idle: pid(after, b" next_pid=")? == 0,
    })
}

fn timer_start(arguments: &[u8]) -> Option<Kind<'_>> {
    // An idle CPU does not wake for a deferrable timer.
    if text(arguments, b" flags=").is_some_and(|flags| flags.contains(&b'D')) {
        return Some(Kind::Other);
    }
    let expires = integer(arguments, b" expires=")?;
    Some(Kind::TimerStart {
        timer: text(arguments, b"timer=")?,
        cpu: integer(arguments, b" cpu=").and_then(|cpu| u32::try_from(cpu).ok()),
        // The wheel is coarse: a timer fires with its bucket, later than asked.
        due: integer(arguments, b" bucket_expiry=").unwrap_or(expires),
        now: integer(arguments, b"[timeout=").and_then(|timeout| expires.checked_sub(timeout)),
    })
}

fn purpose(handler: &[u8]) -> Purpose {
    match handler {
        b"arch_timer" | b"timer" => Purpose::Timer,
        b"IPI" => Purpose::Ipi,
        _ => Purpose::Device,
    }
}

/// The tick's handler: `tick_sched_timer` up to 6.7, `tick_nohz_handler` since 6.8.
fn is_tick(function: &[u8]) -> bool {
    matches!(function, b"tick_nohz_handler" | b"tick_sched_timer")
}

fn is_select(function: &[u8]) -> bool {
    function.ends_with(b"_select") || function.ends_with(b"_select_state")
}

/// The function that a probe names first: `(teo_select+0x4c/0x5e4 <- …)`. In a return probe it is
/// the caller, in an entry probe the function itself.
fn caller(arguments: &[u8]) -> Option<&[u8]> {
    let name = arguments.strip_prefix(b"(")?;
    name.get(..memchr::memchr(b'+', name)?)
}

/// The word after `key`, up to a blank.
fn text<'a>(arguments: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let value = arguments.get(memmem::find(arguments, key)? + key.len()..)?;
    value.get(..memchr::memchr(b' ', value).unwrap_or(value.len()))
}

/// The integer after `key`, perhaps negative.
fn integer(arguments: &[u8], key: &[u8]) -> Option<i64> {
    let value = arguments.get(memmem::find(arguments, key)? + key.len()..)?;
    match value.strip_prefix(b"-") {
        Some(digits) => Some(-i64::try_from(number(digits)?.0).ok()?),
        None => i64::try_from(number(value)?.0).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_all_ones_or_minus_one() {
        for state in ["4294967295", "-1"] {
            let arguments = format!("state={state} cpu_id=6");
            assert_eq!(parse(b"cpu_idle", arguments.as_bytes()), Some(Kind::Exit { cpu: 6 }));
        }
    }

    #[test]
    fn task_names_cannot_forge_a_switch() {
        let arguments =
            b"prev_comm=a prev_pid=0 b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm= next_pid=5 next_pid=0 next_prio=120";
        let switch = Kind::Switch { from_idle: false, to_idle: true };
        assert_eq!(parse(b"sched_switch", arguments), Some(switch));
    }

    #[test]
    fn probes_outside_a_governor_are_not_its_inputs() {
        let idle_loop = b"(do_idle+0xb8/0x1ac <- tick_nohz_idle_got_tick) ret=0";
        assert_eq!(parse(b"got", idle_loop), Some(Kind::Other));
        let governor = b"(teo_reflect+0x38/0x50 <- tick_nohz_idle_got_tick) ret=1";
        assert_eq!(parse(b"got", governor), Some(Kind::GotTick { fired: true }));
    }

    #[test]
    fn a_sleep_length_may_be_negative() {
        let arguments = b"(teo_select+0x404/0x5e4 <- tick_nohz_get_sleep_length) ret=-42 tick=-42";
        let kind = Kind::SleepLength { sleep: -42, delta_tick: -42 };
        assert_eq!(parse(b"sl", arguments), Some(kind));
    }

    #[test]
    fn an_event_without_its_field_is_none() {
        assert_eq!(parse(b"cpu_idle", b"state=1"), None);
    }
}
