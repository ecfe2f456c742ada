// SPDX-License-Identifier: GPL-2.0-or-later
//! What idlelab and the loaded object share: the layouts of `shim/guest.h` and of the device in
//! `shim/cpuidle.h`.

use std::ffi::{c_char, c_void};

use idlelab_states::MAX_STATES;

/// The symbol of [`Entry`].
pub(crate) const ENTRY: &[u8] = b"idlelab_entry";

/// What a call gives that was left before its end.
pub(crate) const LEFT: i32 = i32::MIN;

/// Why a call was left: `enum idlelab_left`.
pub(crate) mod left {
    pub(crate) const SIGNAL: i32 = 1;
    pub(crate) const ENDLESS: i32 = 2;
    pub(crate) const BUG: i32 = 3;
    pub(crate) const OTHER_CPU: i32 = 4;
    pub(crate) const NO_KERNEL: i32 = 5;
}

/// `CPUIDLE_FLAG_POLLING`.
pub(crate) const FLAG_POLLING: u32 = 1;
/// `CPUIDLE_FLAG_TIMER_STOP`.
pub(crate) const FLAG_TIMER_STOP: u32 = 1 << 2;
/// `CPUIDLE_STATE_DISABLED_BY_USER`.
pub(crate) const DISABLED_BY_USER: u8 = 1;
/// `CPUIDLE_STATE_DISABLED_BY_DRIVER`.
pub(crate) const DISABLED_BY_DRIVER: u8 = 1 << 1;

/// `struct idlelab_calls`.
#[repr(C)]
pub(crate) struct Calls {
    pub(crate) sleep_length: extern "C" fn(*mut c_void, *mut i64) -> i64,
    pub(crate) latency_limit: extern "C" fn(*mut c_void) -> i64,
    pub(crate) tick_stopped: extern "C" fn(*mut c_void) -> bool,
    pub(crate) take_got_tick: extern "C" fn(*mut c_void) -> bool,
    pub(crate) clock: extern "C" fn(*mut c_void) -> u64,
    pub(crate) io_waiters: extern "C" fn(*mut c_void) -> u32,
    pub(crate) utilisation: extern "C" fn(*mut c_void) -> u32,
    pub(crate) load: extern "C" fn(*mut c_void) -> u32,
    pub(crate) say: extern "C" fn(*mut c_void, *const c_char),
}

/// `struct idlelab_state`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct State {
    pub(crate) exit_latency_ns: i64,
    pub(crate) target_residency_ns: i64,
    pub(crate) flags: u32,
    pub(crate) disable: u32,
    pub(crate) name: [u8; 16],
}

/// `struct cpuidle_state_usage`.
#[repr(C)]
pub(crate) struct StateUsage {
    pub(crate) disable: u64,
    usage: u64,
    time_ns: u64,
    above: u64,
    below: u64,
    rejected: u64,
}

/// `struct cpuidle_device`.
#[repr(C)]
pub(crate) struct Device {
    pub(crate) last_residency_ns: u64,
    pub(crate) last_state_idx: i32,
    cpu: u32,
    pub(crate) poll_limit_ns: u64,
    /// Whatever the C has written there, so not a `bool`.
    pub(crate) poll_time_limit: u8,
    registered: u8,
    enabled: u8,
    forced_idle_latency_limit_ns: u64,
    next_hrtimer: i64,
    pub(crate) states_usage: [StateUsage; MAX_STATES],
}

/// `struct idlelab_asking`.
#[repr(C)]
pub(crate) struct Asking {
    calls: *const Calls,
    pub(crate) kernel: *mut c_void,
    pub(crate) expired: u8,
}

/// `struct idlelab_guest`.
#[repr(C)]
pub(crate) struct Guest {
    pub(crate) calls: *const Calls,
    pub(crate) program: *const c_void,
    pub(crate) device: Device,
    pub(crate) call: u64,
    pub(crate) formatting: u8,
    pub(crate) stop_tick: u8,
    pub(crate) left: i32,
    pub(crate) detail: i64,
    pub(crate) file: *const c_char,
    pub(crate) line: i32,
    pub(crate) what: *const c_char,
}

/// `struct idlelab_entry`.
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) layout: u64,
    pub(crate) guest: *mut Guest,
    pub(crate) asking: *mut Asking,
    pub(crate) leave: unsafe extern "C" fn(i32, i64) -> !,
    pub(crate) initialise: unsafe extern "C" fn(u32) -> i32,
    pub(crate) name: unsafe extern "C" fn(u32) -> *const c_char,
    pub(crate) enable: unsafe extern "C" fn(*const State, u32) -> i32,
    pub(crate) select: unsafe extern "C" fn() -> i32,
    pub(crate) reflect: unsafe extern "C" fn(i32) -> i32,
}
