// SPDX-License-Identifier: GPL-2.0-or-later
//! From a record's bytes to an event.

use std::collections::HashMap;

use idlelab_recording::Miss;

use super::format::{Field, Format};
use super::symbols::Symbols;
use crate::bytes::ByteOrder;
use crate::event::{Caller, Event, TimerId};
use crate::names;

/// Bits of `common_flags` that say that the record is from a hard or soft interrupt, or an NMI.
const INTERRUPT_FLAGS: u64 = 0x08 | 0x10 | 0x40;

/// Bit of `struct cpuidle_device`'s first word: see the same of ftrace text.
const POLL_TIME_LIMIT_BIT: u64 = 4;

/// What addresses in records stand for.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) symbols: Symbols,
    /// The kernel's strings that records point to, from `printk_formats`.
    pub(crate) strings: HashMap<u64, Box<[u8]>>,
}

/// The kinds of records that a file can hold.
pub(crate) struct Records {
    order: ByteOrder,
    common_type: Field,
    common_flags: Option<Field>,
    by_id: Vec<Option<Layout>>,
    names: Names,
    ticks: Vec<u64>,
}

/// What every record says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The number of its kind.
    pub(crate) id: u16,
    /// Whether it was traced in a hard or soft interrupt.
    pub(crate) in_interrupt: bool,
}

/// The fields of the records that are read, by kind.
enum Layout {
    CpuIdle {
        state: Field,
        cpu: Field,
    },
    PowerStart {
        kind: Field,
        state: Field,
    },
    Miss {
        cpu: Field,
        below: Field,
    },
    Switch {
        prev: Field,
        next: Field,
    },
    Interrupt {
        name: Field,
    },
    HrtimerStart {
        timer: Field,
        function: Field,
        expires: Field,
    },
    HrtimerCancel {
        timer: Field,
    },
    HrtimerExpire {
        timer: Field,
        function: Field,
        now: Option<Field>,
    },
    TimerStart {
        timer: Field,
        expires: Field,
        bucket: Option<Field>,
        now: Option<Field>,
        flags: Option<Flags>,
    },
    TimerCancel {
        timer: Field,
    },
    TimerExpire {
        timer: Field,
    },
    TickStop {
        success: Field,
    },
    LatencyTarget {
        current: Field,
    },
    Hotplug {
        cpu: Field,
        target: Field,
    },
    Suspend {
        action: Field,
        start: Field,
    },
    Select {
        function: Field,
    },
    LatencyLimit {
        caller: Field,
        value: Field,
    },
    TickState {
        caller: Field,
        value: Field,
    },
    SleepLength {
        caller: Field,
        sleep: Field,
        delta_tick: Field,
    },
    Selected {
        state: Field,
        stop_tick: Field,
    },
    Reflect {
        state: Field,
        residency: Field,
        bits: Field,
    },
    GotTick {
        caller: Field,
        value: Field,
    },
    /// An event without fields of interest.
    Plain(Event<'static>),
    /// An event that is read, but whose description lacks a field.
    Incomplete,
}

/// A wheel timer's flags: the CPU it is on, and whether an idle CPU wakes for it.
struct Flags {
    field: Field,
    cpu_mask: Option<u64>,
    deferrable: u64,
}

impl Records {
    /// Learns the kinds of records from their descriptions; none if there is not one of them.
    pub(crate) fn new(formats: &[Format], order: ByteOrder, names: Names) -> Option<Self> {
        let common_type = formats.iter().find_map(|format| format.field("common_type"))?;
        let common_flags = formats.iter().find_map(|format| format.field("common_flags"));
        let mut by_id = Vec::new();
        for format in formats {
            let (Some(id), Some(layout)) = (format.id, layout(format)) else { continue };
            let id = usize::from(id);
            if by_id.len() <= id {
                by_id.resize_with(id + 1, || None);
            }
            if let Some(slot) = by_id.get_mut(id) {
                *slot = Some(layout);
            }
        }
        let ticks = names.symbols.addresses(names::is_tick);
        Some(Self { order, common_type, common_flags, by_id, names, ticks })
    }

    /// Whether timers' functions have names, by which ticks are told from other timers.
    pub(crate) fn name_functions(&self) -> bool {
        !self.names.symbols.is_empty()
    }

    /// What a record says of itself; none if it is too short for that.
    #[inline]
    pub(crate) fn head(&self, record: &[u8]) -> Option<Head> {
        let id = u16::try_from(self.common_type.get(record, self.order)?).ok()?;
        let flags = self.common_flags.and_then(|field| field.get(record, self.order));
        Some(Head { id, in_interrupt: flags.unwrap_or(0) & INTERRUPT_FLAGS != 0 })
    }

    /// Whether records of a kind are read.
    #[inline]
    pub(crate) fn reads(&self, id: u16) -> bool {
        self.by_id.get(usize::from(id)).is_some_and(Option::is_some)
    }

    /// The event that a record of a kind tells; none if it lacks a field.
    #[inline]
    pub(crate) fn event(&self, id: u16, record: &[u8]) -> Option<Event<'_>> {
        let Some(Some(layout)) = self.by_id.get(usize::from(id)) else {
            return Some(Event::Other);
        };
        let get = |field: Field| field.get(record, self.order);
        let signed = |field: Field| field.signed(record, self.order);
        let cpu = |field: Field| u32::try_from(get(field)?).ok();
        let timer = |field: Field| get(field).map(TimerId);
        let is_tick = |field: Field| get(field).map(|function| self.ticks.contains(&function));
        Some(match *layout {
            Layout::CpuIdle { state: field, cpu: number } => {
                let (state, cpu) = (get(field)?, cpu(number)?);
                if state == field.all_ones() {
                    Event::Exit { cpu }
                } else {
                    Event::Enter { cpu, state }
                }
            }
            Layout::PowerStart { kind, state } if signed(kind)? == names::POWER_CSTATE => {
                Event::PowerStart { state: get(state)? }
            }
            Layout::PowerStart { .. } => Event::Other,
            Layout::Miss { cpu: number, below } => Event::Miss {
                cpu: cpu(number)?,
                miss: if get(below)? == 0 { Miss::Above } else { Miss::Below },
            },
            Layout::Switch { prev, next } => {
                Event::Switch { from_idle: get(prev)? == 0, to_idle: get(next)? == 0 }
            }
            Layout::Interrupt { name } => {
                Event::Interrupt { purpose: names::purpose(name.text(record, self.order)?) }
            }
            Layout::HrtimerStart { timer: id, function, expires } => Event::HrtimerStart {
                timer: timer(id)?,
                is_tick: is_tick(function)?,
                expires: signed(expires)?,
            },
            Layout::HrtimerCancel { timer: id } => Event::HrtimerCancel { timer: timer(id)? },
            Layout::HrtimerExpire { timer: id, function, now } => Event::HrtimerExpire {
                timer: timer(id)?,
                is_tick: is_tick(function)?,
                now: now.and_then(signed),
            },
            Layout::TimerStart { timer: id, expires, bucket, now, ref flags } => {
                let (mut cpu, mut deferrable) = (None, false);
                if let Some(flags) = flags {
                    let bits = get(flags.field)?;
                    cpu = flags.cpu_mask.and_then(|mask| u32::try_from(bits & mask).ok());
                    deferrable = bits & flags.deferrable != 0;
                }
                // An idle CPU does not wake for a deferrable timer.
                if deferrable {
                    return Some(Event::Other);
                }
                Event::TimerStart {
                    timer: timer(id)?,
                    cpu,
                    // The wheel is coarse: a timer fires with its bucket, later than asked.
                    due: self.jiffies(bucket.unwrap_or(expires), record)?,
                    now: now.and_then(|now| self.jiffies(now, record)),
                }
            }
            Layout::TimerCancel { timer: id } => Event::TimerCancel { timer: timer(id)? },
            Layout::TimerExpire { timer: id } => Event::TimerExpire { timer: timer(id)? },
            Layout::TickStop { success } if get(success)? == 1 => Event::TickStopped,
            Layout::TickStop { .. } => Event::Other,
            Layout::LatencyTarget { current } => {
                Event::LatencyTarget { microseconds: signed(current)? }
            }
            Layout::Hotplug { cpu: number, target } if signed(target)? == 0 => {
                Event::Offline { cpu: cpu(number)? }
            }
            Layout::Hotplug { .. } => Event::Other,
            Layout::Suspend { action, start } => match self.names.strings.get(&get(action)?) {
                Some(name) if **name == *b"machine_suspend" => {
                    Event::Suspend { begins: get(start)? != 0 }
                }
                _ => Event::Other,
            },
            Layout::Select { function } => {
                let governor = match self.names.symbols.function(get(function)?) {
                    Some(name) => Some(names::selector(name)?),
                    None => None,
                };
                Event::Select { governor }
            }
            Layout::LatencyLimit { caller, value } => {
                match self.caller(get(caller)?, |name| names::selector(name).is_some()) {
                    Some(caller) => Event::LatencyLimit { nanoseconds: signed(value)?, caller },
                    None => Event::Other,
                }
            }
            Layout::TickState { caller, value } => {
                match self.caller(get(caller)?, |name| names::selector(name).is_some()) {
                    Some(caller) => Event::TickState { stopped: get(value)? != 0, caller },
                    None => Event::Other,
                }
            }
            Layout::SleepLength { caller, sleep, delta_tick } => {
                match self.caller(get(caller)?, |name| names::selector(name).is_some()) {
                    Some(caller) => Event::SleepLength {
                        sleep: signed(sleep)?,
                        delta_tick: signed(delta_tick)?,
                        caller,
                    },
                    None => Event::Other,
                }
            }
            Layout::Selected { state, stop_tick } => {
                let state = u64::try_from(signed(state)?).ok()?;
                Event::Selected { state, stop_tick: get(stop_tick)? != 0 }
            }
            Layout::Reflect { state, residency, bits } => Event::Reflect {
                state: u64::try_from(signed(state)?).ok()?,
                residency: signed(residency)?,
                poll_time_limit: get(bits)? & POLL_TIME_LIMIT_BIT != 0,
            },
            Layout::GotTick { caller, value } => {
                match self.caller(get(caller)?, names::is_reflect) {
                    Some(caller) => Event::GotTick { fired: get(value)? != 0, caller },
                    None => Event::Other,
                }
            }
            Layout::Plain(event) => event,
            Layout::Incomplete => return None,
        })
    }

    /// Whether a probed function was called by a governor; none if it was called from elsewhere.
    fn caller(&self, address: u64, governors: impl Fn(&[u8]) -> bool) -> Option<Caller> {
        match self.names.symbols.function(address) {
            None => Some(Caller::Unknown),
            Some(name) => governors(name).then_some(Caller::Governor),
        }
    }

    /// A time in jiffies. A 32-bit kernel's begin five minutes before they wrap, so they count as
    /// signed.
    fn jiffies(&self, field: Field, record: &[u8]) -> Option<i64> {
        let bits = field.get(record, self.order)?;
        Some(if field.size() == 4 {
            i64::from((bits as u32).cast_signed())
        } else {
            bits.cast_signed()
        })
    }
}

/// The fields of a kind of record, or nothing if idlelab does not read it.
fn layout(format: &Format) -> Option<Layout> {
    let name = format.name.as_bytes();
    if let Some(event) = names::vector(name) {
        return Some(Layout::Plain(event));
    }
    if names::goes_on(name) {
        return Some(Layout::Plain(Event::InterruptGoesOn));
    }
    // A probe of another event's name has none of its fields, and is skipped with it.
    match known(format) {
        Some(layout) => layout,
        None => Some(Layout::Incomplete),
    }
}

/// The outer `None`: a field is missing. The inner one: nothing that is read.
fn known(format: &Format) -> Option<Option<Layout>> {
    let field = |name| format.field(name);
    // The instruction after the call, in the caller; an entry probe has but its own function.
    let caller = || field("__probe_ret_ip").or_else(|| field("__probe_ip"));
    Some(Some(match format.name.as_str() {
        "cpu_idle" => Layout::CpuIdle { state: field("state")?, cpu: field("cpu_id")? },
        "power_start" => Layout::PowerStart { kind: field("type")?, state: field("state")? },
        "power_end" => Layout::Plain(Event::PowerEnd),
        "cpu_idle_miss" => Layout::Miss { cpu: field("cpu_id")?, below: field("below")? },
        "sched_switch" => Layout::Switch { prev: field("prev_pid")?, next: field("next_pid")? },
        "irq_handler_entry" => Layout::Interrupt { name: field("name")? },
        "ipi_entry" => Layout::Plain(Event::Ipi),
        "hrtimer_start" => Layout::HrtimerStart {
            timer: field("hrtimer")?,
            function: field("function")?,
            expires: field("expires")?,
        },
        "hrtimer_cancel" => Layout::HrtimerCancel { timer: field("hrtimer")? },
        "hrtimer_expire_entry" => Layout::HrtimerExpire {
            timer: field("hrtimer")?,
            function: field("function")?,
            now: field("now"),
        },
        "timer_start" => Layout::TimerStart {
            timer: field("timer")?,
            expires: field("expires")?,
            bucket: field("bucket_expiry"),
            now: field("now"),
            flags: field("flags").map(|field| Flags::of(field, &format.print)),
        },
        "timer_cancel" => Layout::TimerCancel { timer: field("timer")? },
        "timer_expire_entry" => Layout::TimerExpire { timer: field("timer")? },
        "tick_stop" => Layout::TickStop { success: field("success")? },
        "pm_qos_add_request" | "pm_qos_update_request" | "pm_qos_remove_request" => {
            Layout::Plain(Event::LatencyRequest)
        }
        "pm_qos_update_target" => Layout::LatencyTarget { current: field("curr_value")? },
        "cpuhp_enter" => Layout::Hotplug { cpu: field("cpu")?, target: field("target")? },
        "suspend_resume" => Layout::Suspend { action: field("action")?, start: field("start")? },
        "sel" => Layout::Select { function: caller()? },
        "lat" => Layout::LatencyLimit { caller: caller()?, value: field("ret")? },
        "stopped" => Layout::TickState { caller: caller()?, value: field("ret")? },
        "sl" => Layout::SleepLength {
            caller: caller()?,
            sleep: field("ret")?,
            delta_tick: field("tick")?,
        },
        "selr" => Layout::Selected { state: field("ret")?, stop_tick: field("stop")? },
        "refl" => Layout::Reflect {
            state: field("state")?,
            residency: field("res")?,
            bits: field("bits")?,
        },
        "got" => Layout::GotTick { caller: caller()?, value: field("ret")? },
        _ => return Some(None),
    }))
}

impl Flags {
    /// The flags' meaning has moved between kernels; the event's own print format tells it:
    /// `… REC->flags & 0x0003FFFF … { 0x00080000, "D" } …`.
    fn of(field: Field, print: &str) -> Self {
        let cpu_mask = print.split_once("REC->flags & 0x").and_then(|(_, text)| hexadecimal(text));
        let before_d = print.split_once(", \"D\"").and_then(|(text, _)| text.rsplit_once("0x"));
        let deferrable = before_d.and_then(|(_, text)| hexadecimal(text));
        Self { field, cpu_mask, deferrable: deferrable.unwrap_or(0) }
    }
}

/// Hexadecimal digits at the start.
fn hexadecimal(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    u64::from_str_radix(text.get(..end)?, 16).ok()
}
