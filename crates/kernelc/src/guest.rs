// SPDX-License-Identifier: GPL-2.0-or-later
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use idlelab_governors::{Device, Governor, Kernel, Metric, Selection, Tick, TickRequest};
use idlelab_states::{
    Availability, CpuId, IdleState, IdleStates, LocalTimer, MAX_STATES, Nanoseconds, StateIndex,
};

use crate::abi::{self, Calls};
use crate::failure::{Cause, Failure};
use crate::loaded::Loaded;
use crate::program::{CopyError, Shared};
use crate::trap::{self, Left};

/// The governor of one CPU, in C.
///
/// Once something has gone wrong it keeps the tick and chooses state 0; see
/// [`Program::failure`](crate::Program::failure).
pub struct Guest {
    program: Arc<Shared>,
    cpu: CpuId,
    /// None once something has gone wrong.
    loaded: Option<Loaded>,
    /// The device's last state when the C last saw it. The C may have put -1 there (teo does, for
    /// one that is evaluated), which a [`Device`] does not hold and which must last.
    last_state: Option<StateIndex>,
}

impl Guest {
    pub(crate) fn new(program: &Arc<Shared>, cpu: CpuId) -> Self {
        if program.has_failed_up_to(cpu) {
            return Self { program: Arc::clone(program), cpu, loaded: None, last_state: None };
        }
        let loaded = match program.copy(cpu) {
            Ok((loaded, _)) => Some(loaded),
            Err(CopyError::Load(reason)) => {
                let file = program.file.clone();
                program.failed(Failure { file, cpu, cause: Cause::Load(reason), place: None });
                None
            }
            Err(CopyError::Failed(failure)) => {
                program.failed(failure);
                None
            }
        };
        Self { program: Arc::clone(program), cpu, loaded, last_state: None }
    }

    #[cold]
    fn left(&mut self, left: Left) {
        if let Some(loaded) = self.loaded.take() {
            self.program.failed(Failure::of(&self.program, &loaded, self.cpu, left));
        }
    }

    #[cold]
    fn failed(&mut self, cause: Cause) {
        self.loaded = None;
        let file = self.program.file.clone();
        self.program.failed(Failure { file, cpu: self.cpu, cause, place: None });
    }
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest")
            .field("file", &self.program.file)
            .field("cpu", &self.cpu)
            .finish_non_exhaustive()
    }
}

impl Governor for Guest {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        let Some(loaded) = &self.loaded else { return };
        let mut table = [abi::State::default(); MAX_STATES];
        for (row, state) in table.iter_mut().zip(states.as_slice()) {
            *row = row_of(state);
        }
        let entry = loaded.entry();
        give(loaded, device, self.last_state);
        // SAFETY: the table has at least as many rows as are said, and is read in the call only.
        let enabled =
            trap::call(loaded, || unsafe { (entry.enable)(table.as_ptr(), states.len() as u32) });
        match enabled {
            Ok(0) => take(loaded, device, &mut self.last_state),
            Ok(error) => self.failed(Cause::Enable(error)),
            Err(left) => self.left(left),
        }
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        let fallback = Selection { state: StateIndex::ZERO, tick: TickRequest::Keep };
        let Some(loaded) = &self.loaded else { return fallback };
        give(loaded, kernel.device(), self.last_state);
        let guest = loaded.guest();
        // SAFETY: the copy's data, in which nothing runs.
        let usage = unsafe { &mut (*guest).device.states_usage };
        for (usage, state) in usage.iter_mut().zip(states.as_slice()) {
            usage.disable = disable(state).into();
        }
        let selected = ask(loaded, kernel, |entry| {
            // SAFETY: the copy is enabled, and its kernel is set.
            unsafe { (entry.select)() }
        });
        let chosen = match selected {
            Ok(chosen) => chosen,
            Err(left) => {
                self.left(left);
                return fallback;
            }
        };
        take(loaded, kernel.device(), &mut self.last_state);
        // SAFETY: the copy's data, in which nothing runs any more.
        let stop = unsafe { (*guest).stop_tick } != 0;
        let tick = if stop { TickRequest::Stop } else { TickRequest::Keep };
        match usize::try_from(chosen).ok().and_then(|chosen| states.index(chosen)) {
            Some(state) => Selection { state, tick },
            None => {
                self.failed(Cause::NoSuchState { chosen, states: states.len() });
                fallback
            }
        }
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        let Some(loaded) = &self.loaded else { return };
        give(loaded, kernel.device(), self.last_state);
        let reflected = ask(loaded, kernel, |entry| {
            // SAFETY: the copy is enabled, and its kernel is set.
            unsafe { (entry.reflect)(entered.get() as i32) }
        });
        match reflected {
            Ok(_) => take(loaded, kernel.device(), &mut self.last_state),
            Err(left) => self.left(left),
        }
    }

    /// There are none: what a C file keeps is its own.
    fn explain(&self, _metrics: &mut dyn FnMut(Metric)) {}
}

fn row_of(state: &IdleState) -> abi::State {
    let mut row = abi::State {
        exit_latency_ns: state.exit_latency.get(),
        target_residency_ns: state.target_residency.get(),
        flags: 0,
        disable: disable(state).into(),
        name: [0; 16],
    };
    if state.is_polling() {
        row.flags |= abi::FLAG_POLLING;
    }
    if state.local_timer == LocalTimer::Stops {
        row.flags |= abi::FLAG_TIMER_STOP;
    }
    for (to, from) in row.name.iter_mut().zip(state.name.as_str().bytes()) {
        *to = from;
    }
    row
}

fn disable(state: &IdleState) -> u8 {
    match state.availability {
        Availability::Enabled => 0,
        Availability::DisabledByDriver => abi::DISABLED_BY_DRIVER,
        Availability::DisabledByUser => abi::DISABLED_BY_USER,
    }
}

/// Shows the C what the core keeps for the CPU.
#[inline]
fn give(loaded: &Loaded, device: &Device, seen: Option<StateIndex>) {
    let guest = loaded.guest();
    // SAFETY: the copy's data, in which nothing runs.
    let shown = unsafe { &mut (*guest).device };
    shown.last_residency_ns = device.last_residency.get().cast_unsigned();
    shown.poll_limit_ns = device.poll_limit.get().cast_unsigned();
    if seen != Some(device.last_state) {
        shown.last_state_idx = device.last_state.get() as i32;
    }
    shown.poll_time_limit = device.poll_time_limit.into();
}

/// Takes over what the C has made of it.
#[inline]
fn take(loaded: &Loaded, device: &mut Device, seen: &mut Option<StateIndex>) {
    let guest = loaded.guest();
    // SAFETY: the copy's data, in which nothing runs.
    let shown = unsafe { &(*guest).device };
    device.last_residency = Nanoseconds::new(shown.last_residency_ns.cast_signed());
    device.poll_limit = Nanoseconds::new(shown.poll_limit_ns.cast_signed());
    if let Some(state) = usize::try_from(shown.last_state_idx).ok().and_then(StateIndex::new) {
        device.last_state = state;
    }
    *seen = Some(device.last_state);
    device.poll_time_limit = shown.poll_time_limit != 0;
}

/// Calls the C with a kernel to ask.
#[inline]
fn ask(
    loaded: &Loaded,
    kernel: &mut dyn Kernel,
    call: impl FnOnce(&abi::Entry) -> i32,
) -> Result<i32, Left> {
    let mut asked = Asked(kernel);
    // SAFETY: the copy's data, in which nothing runs yet; it asks in this call only, since before
    // any other it is given another kernel, or none.
    unsafe { (*loaded.asking).kernel = (&raw mut asked).cast() };
    trap::call(loaded, || call(loaded.entry()))
}

/// The kernel of a call, behind a pointer that C can hold.
struct Asked<'a>(&'a mut dyn Kernel);

/// What the C may ask.
pub(crate) static CALLS: Calls = Calls {
    sleep_length,
    latency_limit,
    tick_stopped,
    take_got_tick,
    clock,
    io_waiters,
    utilisation,
    load,
    say,
};

/// The kernel that a pointer of C stands for.
///
/// # Safety
///
/// The pointer is what [`ask`] gave the C, and its call has not ended.
unsafe fn kernel<'a>(asked: *mut c_void) -> &'a mut dyn Kernel {
    // SAFETY: as the caller promises. Only one question is answered at a time.
    let asked: &'a mut Asked<'a> = unsafe { &mut *asked.cast::<Asked<'a>>() };
    asked.0
}

extern "C" fn sleep_length(asked: *mut c_void, delta_tick: *mut i64) -> i64 {
    // SAFETY: the object's own side hands on what it was given.
    let told = unsafe { kernel(asked) }.sleep_length();
    if !delta_tick.is_null() {
        // SAFETY: the governor's variable. A wrong pointer is as wrong here as in a kernel.
        unsafe { delta_tick.write(told.delta_tick.get()) };
    }
    told.sleep.get()
}

extern "C" fn latency_limit(asked: *mut c_void) -> i64 {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.latency_limit().get()
}

extern "C" fn tick_stopped(asked: *mut c_void) -> bool {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.tick() == Tick::Stopped
}

extern "C" fn take_got_tick(asked: *mut c_void) -> bool {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.take_got_tick()
}

extern "C" fn clock(asked: *mut c_void) -> u64 {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.clock().get().cast_unsigned()
}

extern "C" fn io_waiters(asked: *mut c_void) -> u32 {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.io_waiters()
}

extern "C" fn utilisation(asked: *mut c_void) -> u32 {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.utilisation()
}

extern "C" fn load(asked: *mut c_void) -> u32 {
    // SAFETY: the object's own side hands on what it was given.
    unsafe { kernel(asked) }.load()
}

extern "C" fn say(program: *mut c_void, text: *const c_char) {
    // SAFETY: the object's own side hands on the program that made it, and a string of its own.
    let (program, text) = unsafe { (&*program.cast::<Shared>(), CStr::from_ptr(text)) };
    program.said(&text.to_string_lossy());
}
