// SPDX-License-Identifier: GPL-2.0-or-later
//! The arguments of an event, as ftrace prints them.

use idlelab_recording::Miss;
use memchr::memmem;

use super::line::{hexadecimal, number};
use crate::event::{Caller, Event, TimerId};
use crate::names;

/// Bit of `struct cpuidle_device`'s first word that says that polling ended at its time limit:
/// `registered`, `enabled`, `poll_time_limit` are bits 0, 1 and 2 (Linux 6.12 to 7.3).
const POLL_TIME_LIMIT_BIT: i64 = 4;

/// Reads an event's fields. `None` if it is of a kind that is read but lacks a field.
pub(super) fn parse<'a>(name: &[u8], arguments: &'a [u8]) -> Option<Event<'a>> {
    Some(match name {
        b"cpu_idle" => cpu_idle(arguments)?,
        b"power_start" if integer(arguments, b"type=")? == names::POWER_CSTATE => {
            Event::PowerStart { state: unsigned(value(arguments, b" state=")?)? }
        }
        b"power_end" => Event::PowerEnd,
        b"cpu_idle_miss" => Event::Miss {
            cpu: u32::try_from(integer(arguments, b"cpu_id=")?).ok()?,
            miss: match text(arguments, b"type=").or_else(|| text(arguments, b"below="))? {
                b"above" | b"0" => Miss::Above,
                b"below" | b"1" => Miss::Below,
                _ => return None,
            },
        },
        b"sched_switch" => sched_switch(arguments)?,
        b"irq_handler_entry" => {
            Event::Interrupt { purpose: names::purpose(text(arguments, b"name=")?) }
        }
        b"ipi_entry" => Event::Ipi,
        b"hrtimer_start" => Event::HrtimerStart {
            timer: timer(arguments, b"hrtimer=")?,
            is_tick: is_tick(text(arguments, b"function=")?),
            expires: integer(arguments, b" expires=")?,
        },
        b"hrtimer_cancel" => Event::HrtimerCancel { timer: timer(arguments, b"hrtimer=")? },
        b"hrtimer_expire_entry" => Event::HrtimerExpire {
            timer: timer(arguments, b"hrtimer=")?,
            is_tick: is_tick(text(arguments, b"function=")?),
            now: integer(arguments, b" now="),
        },
        b"timer_start" => timer_start(arguments)?,
        b"timer_cancel" => Event::TimerCancel { timer: timer(arguments, b"timer=")? },
        b"timer_expire_entry" => Event::TimerExpire { timer: timer(arguments, b"timer=")? },
        b"tick_stop" if integer(arguments, b"success=")? == 1 => Event::TickStopped,
        b"pm_qos_add_request" | b"pm_qos_update_request" | b"pm_qos_remove_request" => {
            Event::LatencyRequest
        }
        b"pm_qos_update_target" => {
            Event::LatencyTarget { microseconds: integer(arguments, b"curr_value=")? }
        }
        b"cpuhp_enter" if integer(arguments, b"target: ")? == 0 => {
            Event::Offline { cpu: u32::try_from(integer(arguments, b"cpu: ")?).ok()? }
        }
        b"suspend_resume" if arguments.starts_with(b"machine_suspend[") => {
            Event::Suspend { begins: arguments.trim_ascii_end().ends_with(b" begin") }
        }
        b"sel" => match caller(arguments)? {
            Some(function) => Event::Select { governor: Some(names::selector(function)?) },
            None => Event::Select { governor: None },
        },
        b"lat" => match called_by(arguments, |name| names::selector(name).is_some())? {
            Some(caller) => {
                Event::LatencyLimit { nanoseconds: integer(arguments, b" ret=")?, caller }
            }
            None => Event::Other,
        },
        b"stopped" => match called_by(arguments, |name| names::selector(name).is_some())? {
            Some(caller) => {
                Event::TickState { stopped: integer(arguments, b" ret=")? != 0, caller }
            }
            None => Event::Other,
        },
        b"sl" => match called_by(arguments, |name| names::selector(name).is_some())? {
            Some(caller) => Event::SleepLength {
                sleep: integer(arguments, b" ret=")?,
                delta_tick: integer(arguments, b" tick=")?,
                caller,
            },
            None => Event::Other,
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
        b"got" => match called_by(arguments, names::is_reflect)? {
            Some(caller) => Event::GotTick { fired: integer(arguments, b" ret=")? != 0, caller },
            None => Event::Other,
        },
        name if names::goes_on(name) => Event::InterruptGoesOn,
        name => names::vector(name).unwrap_or(Event::Other),
    })
}

fn cpu_idle(arguments: &[u8]) -> Option<Event<'_>> {
    let cpu = u32::try_from(integer(arguments, b"cpu_id=")?).ok()?;
    // PWR_EVENT_EXIT is all ones; some exporters widen it, some print it signed.
    let state = value(arguments, b"state=")?;
    if state.starts_with(b"-") {
        return Some(Event::Exit { cpu });
    }
    Some(match unsigned(state)? {
        state if state == u64::from(u32::MAX) || state == u64::MAX => Event::Exit { cpu },
        state => Event::Enter { cpu, state },
    })
}

/// Both task names may hold anything, but each PID comes after its name: the last one counts.
fn sched_switch(arguments: &[u8]) -> Option<Event<'_>> {
    let Some((before, after)) = around_last(arguments, b" next_comm=") else {
        return short_switch(arguments);
    };
    let pid = |part, key| number(around_last(part, key)?.1).map(|(pid, _)| pid);
    Some(Event::Switch {
        from_idle: pid(before, b" prev_pid=")? == 0,
        to_idle: pid(after, b" next_pid=")? == 0,
    })
}

/// As trace-cmd's own plugin prints it: `swapper/0:0 [120] R ==> rec2.sh:15517 [120]`.
fn short_switch(arguments: &[u8]) -> Option<Event<'_>> {
    let arrow = memmem::rfind(arguments, b" ==> ")?;
    let is_idle = |task: &[u8]| {
        let task = task.get(..memmem::rfind(task, b" [")?)?;
        let pid = task.get(memchr::memrchr(b':', task)? + 1..)?;
        number(pid).map(|(pid, _)| pid == 0)
    };
    Some(Event::Switch {
        from_idle: is_idle(arguments.get(..arrow)?)?,
        to_idle: is_idle(arguments.get(arrow..)?)?,
    })
}

/// Of a wheel timer's flags as a number, which `trace-cmd report -R` prints: the CPU it is on, and
/// that an idle CPU does not wake for it (Linux 4.8 to 7.3).
const TIMER_CPU_MASK: u64 = 0x0003_ffff;
const TIMER_DEFERRABLE: u64 = 0x0008_0000;

fn timer_start(arguments: &[u8]) -> Option<Event<'_>> {
    // trace-cmd (seen of 3.1.6), known by its way of printing addresses, prints `D|P|I` whatever
    // the flags are.
    let printed_by_trace_cmd = text(arguments, b"timer=")?.starts_with(b"0x");
    let flags = text(arguments, b" flags=").unwrap_or_default();
    let bits = unsigned(flags);
    let flags = if printed_by_trace_cmd { b"" } else { flags };
    // An idle CPU does not wake for a deferrable timer.
    if bits.map_or(flags.contains(&b'D'), |bits| bits & TIMER_DEFERRABLE != 0) {
        return Some(Event::Other);
    }
    let expires = integer(arguments, b" expires=")?;
    let timeout = || integer(arguments, b"[timeout=").and_then(|out| expires.checked_sub(out));
    Some(Event::TimerStart {
        timer: timer(arguments, b"timer=")?,
        cpu: integer(arguments, b" cpu=")
            .and_then(|cpu| u32::try_from(cpu).ok())
            .or_else(|| u32::try_from(bits? & TIMER_CPU_MASK).ok()),
        // The wheel is coarse: a timer fires with its bucket, later than asked.
        due: integer(arguments, b" bucket_expiry=").unwrap_or(expires),
        now: timeout().or_else(|| integer(arguments, b" now=")),
    })
}

/// trace-cmd prints where in the function, which is at its start: `tick_nohz_handler/0x0`.
fn is_tick(function: &[u8]) -> bool {
    names::is_tick(function.split(|&byte| byte == b'/').next().unwrap_or(function))
}

/// The function that a probe names first: `(teo_select+0x4c/0x5e4 <- …)`. In a return probe it is
/// the caller, in an entry probe the function itself. trace-cmd prints the bare address: the inner
/// `None`.
fn caller(arguments: &[u8]) -> Option<Option<&[u8]>> {
    let name = arguments.strip_prefix(b"(")?;
    let end = name.iter().position(|byte| b"+ )".contains(byte))?;
    let (name, rest) = name.split_at_checked(end)?;
    let is_address = name.iter().all(u8::is_ascii_hexdigit) && !rest.starts_with(b"+");
    Some((!is_address).then_some(name))
}

/// Whether a probed function was called by a governor. The inner `None`: it was called from
/// elsewhere.
fn called_by(arguments: &[u8], governors: impl Fn(&[u8]) -> bool) -> Option<Option<Caller>> {
    Some(match caller(arguments)? {
        None => Some(Caller::Unknown),
        Some(name) => governors(name).then_some(Caller::Governor),
    })
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

/// What stands before and behind `key` where it is first found. Keys end with a byte that is rare in
/// arguments, and building a searcher for each takes longer than the search.
fn around<'a>(arguments: &'a [u8], key: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (&last, start) = key.split_last()?;
    memchr::memchr_iter(last, arguments).find_map(|end| split(arguments, start, end))
}

/// The same where it is found last.
fn around_last<'a>(arguments: &'a [u8], key: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (&last, start) = key.split_last()?;
    memchr::memrchr_iter(last, arguments).find_map(|end| split(arguments, start, end))
}

/// The text around a key of which the last byte is at `end`, if `start` stands before that.
fn split<'a>(text: &'a [u8], start: &[u8], end: usize) -> Option<(&'a [u8], &'a [u8])> {
    Some((text.get(..end)?.strip_suffix(start)?, text.get(end + 1..)?))
}

/// What follows `key`, padding skipped.
fn value<'a>(arguments: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    Some(around(arguments, key)?.1.trim_ascii_start())
}

/// The word after `key`, up to a blank.
fn text<'a>(arguments: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let (_, value) = around(arguments, key)?;
    value.get(..memchr::memchr(b' ', value).unwrap_or(value.len()))
}

/// The integer after `key`, perhaps negative.
fn integer(arguments: &[u8], key: &[u8]) -> Option<i64> {
    let value = value(arguments, key)?;
    match value.strip_prefix(b"-") {
        Some(digits) => Some(-i64::try_from(number(digits)?.0).ok()?),
        None => i64::try_from(unsigned(value)?).ok(),
    }
}

/// The number at the start, decimal, or hexadecimal after `0x`.
fn unsigned(value: &[u8]) -> Option<u64> {
    match value.strip_prefix(b"0x") {
        Some(digits) => {
            let end = digits.iter().position(|digit| !digit.is_ascii_hexdigit());
            hexadecimal(digits.get(..end.unwrap_or(digits.len()))?)
        }
        None => number(value).map(|(value, _)| value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_all_ones_or_minus_one() {
        for state in ["4294967295", "-1", "0xffffffff", "18446744073709551615"] {
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
    fn trace_cmd_prints_a_switch_in_its_own_way() {
        let switch = |text: &str| {
            parse(b"sched_switch", text.as_bytes()).map(|event| match event {
                Event::Switch { from_idle, to_idle } => (from_idle, to_idle),
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(switch("swapper/0:0 [120] R ==> rec2.sh:15517 [120]"), Some((true, false)));
        assert_eq!(switch("kworker/1:1:32150 [120] S ==> swapper/1:0 [120]"), Some((false, true)));
        assert_eq!(switch("a:0 [1] b:7 [120] S ==> x:0 [7]:9 [120]"), Some((false, false)));
        let raw = "prev_comm=a prev_pid=0 prev_prio=120 prev_state=1 next_comm=b next_pid=7";
        assert_eq!(switch(raw), Some((true, false)));
    }

    #[test]
    fn raw_fields_say_the_same_as_printed_ones() {
        let printed = b"timer=0xffffc9000007fdf8 function=process_timeout expires=4295904392 \
            [timeout=1] bucket_expiry=4295904393 cpu=1 idx=9 flags=P|I";
        let raw = b"timer=0xffffc9000007fdf8 function=process_timeout expires=4295904392 \
            bucket_expiry=4295904393 now=0x1000e4c87 flags=36700161";
        assert_eq!(parse(b"timer_start", printed), parse(b"timer_start", raw));
        assert!(matches!(parse(b"timer_start", raw), Some(Event::TimerStart { .. })));
        // 0x02680000 has the bit of deferrable timers.
        let deferrable = b"timer=0x1 expires=5 bucket_expiry=5 now=0x4 flags=40370176";
        assert_eq!(parse(b"timer_start", deferrable), Some(Event::Other));
        let miss = parse(b"cpu_idle_miss", b"cpu_id=0 state=0 below=1");
        assert_eq!(miss, Some(Event::Miss { cpu: 0, miss: Miss::Below }));
        let unparsed = parse(b"cpu_idle", b"[FAILED TO PARSE] state=0x1 cpu_id=0x0");
        assert_eq!(unparsed, Some(Event::Enter { cpu: 0, state: 1 }));
    }

    #[test]
    fn a_caller_without_a_name_is_unknown() {
        let arguments = b"(ffffffc0080d1234 <- ffffffc0080e5678) ret=5 tick=4";
        let kind = Event::SleepLength { sleep: 5, delta_tick: 4, caller: Caller::Unknown };
        assert_eq!(parse(b"sl", arguments), Some(kind));
        assert_eq!(parse(b"sel", b"(ffffffc0080d1234)"), Some(Event::Select { governor: None }));
    }

    #[test]
    fn a_cpu_goes_offline_and_a_machine_sleeps() {
        let down = b"cpu: 0002 target:   0 step: 237 (sched_cpu_wait_empty)";
        assert_eq!(parse(b"cpuhp_enter", down), Some(Event::Offline { cpu: 2 }));
        let up = b"cpu: 0002 target: 238 step:  12 (x)";
        assert_eq!(parse(b"cpuhp_enter", up), Some(Event::Other));
        let sleep = Some(Event::Suspend { begins: true });
        assert_eq!(parse(b"suspend_resume", b"machine_suspend[1] begin"), sleep);
        assert_eq!(parse(b"suspend_resume", b"dpm_suspend[2] begin"), Some(Event::Other));
    }

    #[test]
    fn probes_outside_a_governor_are_not_its_inputs() {
        let idle_loop = b"(do_idle+0xb8/0x1ac <- tick_nohz_idle_got_tick) ret=0";
        assert_eq!(parse(b"got", idle_loop), Some(Event::Other));
        let governor = b"(teo_reflect+0x38/0x50 <- tick_nohz_idle_got_tick) ret=1";
        assert_eq!(
            parse(b"got", governor),
            Some(Event::GotTick { fired: true, caller: Caller::Governor })
        );
    }

    #[test]
    fn a_sleep_length_may_be_negative() {
        let arguments = b"(teo_select+0x404/0x5e4 <- tick_nohz_get_sleep_length) ret=-42 tick=-42";
        let kind = Event::SleepLength { sleep: -42, delta_tick: -42, caller: Caller::Governor };
        assert_eq!(parse(b"sl", arguments), Some(kind));
    }

    #[test]
    fn an_event_without_its_field_is_none() {
        assert_eq!(parse(b"cpu_idle", b"state=1"), None);
    }
}
