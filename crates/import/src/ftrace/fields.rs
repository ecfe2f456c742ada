// SPDX-License-Identifier: GPL-2.0-or-later
//! The arguments of an event, as ftrace prints them.

use idlelab_recording::Miss;
use memchr::memmem;

use super::line::number;
use crate::event::{Event, Purpose, TimerId};

/// Bit of `struct cpuidle_device`'s first word that says that polling ended at its time limit:
/// `registered`, `enabled`, `poll_time_limit` are bits 0, 1 and 2 (Linux 6.12 to 7.3).
const POLL_TIME_LIMIT_BIT: i64 = 4;

/// Reads an event's fields. `None` if it is of a kind that is read but lacks a field.
pub(super) fn parse<'a>(name: &[u8], arguments: &'a [u8]) -> Option<Event<'a>> {
    Some(match name {
        b"cpu_idle" => cpu_idle(arguments)?,
        b"cpu_idle_miss" => Event::Miss {
            cpu: u32::try_from(integer(arguments, b"cpu_id=")?).ok()?,
            miss: match text(arguments, b"type=")? {
                b"above" => Miss::Above,
                b"below" => Miss::Below,
                _ => return None,
            },
        },
        b"sched_switch" => sched_switch(arguments)?,
        b"irq_handler_entry" => Event::Interrupt { purpose: purpose(text(arguments, b"name=")?) },
        b"ipi_entry" => Event::Ipi,
        b"ipi_exit"
        | b"irq_handler_exit"
        | b"softirq_entry"
        | b"softirq_exit"
        | b"hrtimer_expire_exit"
        | b"timer_expire_exit" => Event::InterruptGoesOn,
        b"hrtimer_start" => Event::HrtimerStart {
            timer: timer(arguments, b"hrtimer=")?,
            is_tick: is_tick(text(arguments, b"function=")?),
            expires: integer(arguments, b" expires=")?,
        },
        b"hrtimer_cancel" => Event::HrtimerCancel { timer: timer(arguments, b"hrtimer=")? },
        b"hrtimer_expire_entry" => Event::HrtimerExpire {
            timer: timer(arguments, b"hrtimer=")?,
            is_tick: is_tick(text(arguments, b"function=")?),
        },
        b"timer_start" => timer_start(arguments)?,
        b"timer_cancel" => Event::TimerCancel { timer: timer(arguments, b"timer=")? },
        b"timer_expire_entry" => Event::TimerExpire { timer: timer(arguments, b"timer=")? },
        b"tick_stop" if integer(arguments, b"success=")? == 1 => Event::TickStopped,
        b"sel" => match caller(arguments)?.strip_suffix(b"_select") {
            Some(governor) => Event::Select { governor },
            // ladder's function has a longer name.
            None => Event::Select { governor: caller(arguments)?.strip_suffix(b"_select_state")? },
        },
        b"lat" if is_select(caller(arguments)?) => {
            Event::LatencyLimit { nanoseconds: integer(arguments, b" ret=")? }
        }
        b"stopped" if is_select(caller(arguments)?) => {
            Event::TickState { stopped: integer(arguments, b" ret=")? != 0 }
        }
        b"sl" if is_select(caller(arguments)?) => Event::SleepLength {
            sleep: integer(arguments, b" ret=")?,
            delta_tick: integer(arguments, b" tick=")?,
        },
        b"selr" => Event::Selected {
            state: u64::try_from(integer(arguments, b" ret=")?).ok()?,
            stop_tick: integer(arguments, b" stop=")? != 0,
        },
        b"refl" => Event::Reflect {
            state: u64::try_from(integer(arguments, b" state=")?).ok()?,
            residency: integer(arguments, b" res=")?,
            poll_time_limit: integer(arguments, b" bits=")? & POLL_TIME_LIMIT_BIT != 0,
        },
        b"got" if caller(arguments)?.ends_with(b"_reflect") => {
            Event::GotTick { fired: integer(arguments, b" ret=")? != 0 }
        }
        _ => Event::Other,
    })
}

fn cpu_idle(arguments: &[u8]) -> Option<Event<'_>> {
    let cpu = u32::try_from(integer(arguments, b"cpu_id=")?).ok()?;
    let state = integer(arguments, b"state=")?;
    Some(match u64::try_from(state) {
        // PWR_EVENT_EXIT is all ones; some exporters widen it, some print it signed.
        Ok(state) if state != u64::from(u32::MAX) => Event::Enter { cpu, state },
        _ => Event::Exit { cpu },
    })
}

/// Both task names may hold anything, but each PID comes after its name: the last one counts.
fn sched_switch(arguments: &[u8]) -> Option<Event<'_>> {
    let next = memmem::rfind(arguments, b" next_comm=")?;
    let (before, after) = arguments.split_at_checked(next)?;
    let pid = |part: &[u8], key: &[u8]| {
        let at = memmem::rfind(part, key)? + key.len();
        number(part.get(at..)?).map(|(pid, _)| pid)
    };
    Some(Event::Switch {
        from_idle: pid(before, b" prev_pid=")? == 0,
        to_idle: pid(after, b" next_pid=")? == 0,
    })
}

fn timer_start(arguments: &[u8]) -> Option<Event<'_>> {
    // An idle CPU does not wake for a deferrable timer.
    if text(arguments, b" flags=").is_some_and(|flags| flags.contains(&b'D')) {
        return Some(Event::Other);
    }
    let expires = integer(arguments, b" expires=")?;
    Some(Event::TimerStart {
        timer: timer(arguments, b"timer=")?,
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

/// A timer's address. What is no number stands for itself by its hash (FNV-1a).
fn timer(arguments: &[u8], key: &[u8]) -> Option<TimerId> {
    let address = text(arguments, key)?;
    let digits = address.strip_prefix(b"0x").unwrap_or(address);
    let number = str::from_utf8(digits).ok().and_then(|hex| u64::from_str_radix(hex, 16).ok());
    Some(TimerId(number.unwrap_or_else(|| {
        digits.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    })))
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
            assert_eq!(parse(b"cpu_idle", arguments.as_bytes()), Some(Event::Exit { cpu: 6 }));
        }
    }

    #[test]
    fn task_names_cannot_forge_a_switch() {
        let arguments =
            b"prev_comm=a prev_pid=0 b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm= next_pid=5 next_pid=0 next_prio=120";
        let switch = Event::Switch { from_idle: false, to_idle: true };
        assert_eq!(parse(b"sched_switch", arguments), Some(switch));
    }

    #[test]
    fn probes_outside_a_governor_are_not_its_inputs() {
        let idle_loop = b"(do_idle+0xb8/0x1ac <- tick_nohz_idle_got_tick) ret=0";
        assert_eq!(parse(b"got", idle_loop), Some(Event::Other));
        let governor = b"(teo_reflect+0x38/0x50 <- tick_nohz_idle_got_tick) ret=1";
        assert_eq!(parse(b"got", governor), Some(Event::GotTick { fired: true }));
    }

    #[test]
    fn a_sleep_length_may_be_negative() {
        let arguments = b"(teo_select+0x404/0x5e4 <- tick_nohz_get_sleep_length) ret=-42 tick=-42";
        let kind = Event::SleepLength { sleep: -42, delta_tick: -42 };
        assert_eq!(parse(b"sl", arguments), Some(kind));
    }

    #[test]
    fn an_event_without_its_field_is_none() {
        assert_eq!(parse(b"cpu_idle", b"state=1"), None);
    }
}
