// SPDX-License-Identifier: GPL-2.0-or-later
//! Out of calls that crash or do not end.
//!
//! A signal handler leaves the governor's code by a jump within C, to where the object's own side
//! called it. No frame of Rust is jumped over: the handler looks whose code was interrupted, and
//! where that is not the object's (a question of the governor is being answered) it only takes a
//! note, for the jump to be made when the answer is given.
//!
//! For endless calls each thread that calls has a timer of its own processor time. A call in
//! progress at two of its signals has lasted a second at least.

use std::cell::Cell;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Once;

use crate::abi::{self, Entry};
use crate::loaded::Loaded;

/// Processor time between two looks at a thread: what an endless call costs is once to twice that.
const LOOK_SECONDS: i64 = 1;

/// What a crash is told by, and the timer.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, LOOK];

/// The timer of processor time has a signal of its own, which nobody else uses.
const LOOK: libc::c_int = libc::SIGVTALRM;

/// Room for the handler, where a thread has none.
const HANDLER_STACK: usize = 64 << 10;

thread_local! {
    /// What this thread runs. Without initialiser or destructor, so that a signal
    /// handler may read it.
    static CURRENT: Cell<*const Target> = const { Cell::new(ptr::null()) };
    /// The call that was in progress when the timer last looked.
    static SEEN: Cell<u64> = const { Cell::new(0) };
    /// Where the last call was left.
    static ADDRESS: Cell<usize> = const { Cell::new(0) };
    static IS_READY: Cell<bool> = const { Cell::new(false) };
    static THREAD: Thread = Thread::new();
}

/// What is called: a copy's functions, and where its code is.
pub(crate) struct Target {
    pub(crate) entry: NonNull<Entry>,
    pub(crate) code: Range<usize>,
}

/// A call was left before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The address of the instruction, if a signal came in between.
    pub(crate) address: usize,
}

/// Calls a function of a copy. What it gives is an error if it was left.
#[inline]
pub(crate) fn call(loaded: &Loaded, function: impl FnOnce() -> i32) -> Result<i32, Left> {
    if !IS_READY.get() {
        make_ready();
    }
    let before = CURRENT.replace(&raw const loaded.target);
    let given = function();
    CURRENT.set(before);
    if given == abi::LEFT {
        return Err(Left { address: ADDRESS.replace(0) });
    }
    Ok(given)
}

#[cold]
fn make_ready() {
    install();
    THREAD.with(|_| ());
    IS_READY.set(true);
}

/// The handlers that there were before ours. Written once, before any handler of ours can run.
static mut BEFORE: [libc::sigaction; SIGNALS.len()] =
    // SAFETY: all zero is the default action.
    unsafe { std::mem::zeroed() };

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (number, signal) in SIGNALS.into_iter().enumerate() {
            // SAFETY: all zero is a valid value.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = handle as *const () as usize;
            // The handler does not return from a crash, so its own signal must not stay blocked.
            action.sa_flags =
                libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
            // SAFETY: both point to values that live, and `Once` has nobody else write.
            unsafe {
                libc::sigaction(signal, ptr::null(), (&raw mut BEFORE[number]).cast());
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
    });
}

/// Everything here may be done in a signal handler.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let current = CURRENT.get();
    // SAFETY: it is of a copy that is loaded, as long as this thread calls it, or null.
    if let Some(target) = unsafe { current.as_ref() } {
        // SAFETY: the copy is loaded.
        let entry = unsafe { target.entry.as_ref() };
        let guest = entry.guest;
        let address = interrupted_at(context);
        // SAFETY: the copy's data; the interrupted code is of this very thread.
        let formatting = unsafe { (&raw const (*guest).formatting).read_volatile() } != 0;
        // SAFETY: with SA_SIGINFO there is one. For these signals it has the address at fault.
        let fetched = signal != LOOK && unsafe { (*info).si_addr() }.addr() == address;
        // Whoever jumps to where no code is was the governor: Rust does not.
        let is_its_own = target.code.contains(&address) || formatting || fetched;
        if signal == LOOK {
            // SAFETY: as above.
            let call = unsafe { (&raw const (*guest).call).read_volatile() };
            if SEEN.replace(call) != call {
                return;
            }
            if !is_its_own {
                // SAFETY: as above.
                unsafe { (&raw mut (*entry.asking).expired).write_volatile(1) };
                return;
            }
        }
        if is_its_own {
            let (reason, detail) = match signal {
                LOOK => (abi::left::ENDLESS, 0),
                crash => (abi::left::SIGNAL, crash.into()),
            };
            ADDRESS.set(address);
            // SAFETY: the governor's code was interrupted, so the frames between here and the way
            // out are its own, in C, and this one's, which has nothing to drop.
            unsafe { (entry.leave)(reason, detail) };
        }
    }
    if signal != LOOK {
        pass_on(signal, info, context);
    }
}

/// A crash of somebody else: what would have been done without us.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(number) = SIGNALS.iter().position(|&known| known == signal) else { return };
    // SAFETY: written once, before this handler was installed.
    let before = unsafe { BEFORE[number] };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // Back in the faulting instruction, the signal comes again and ends the process.
            // SAFETY: the action was the system's.
            unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with that flag it is a function of three arguments.
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without that flag it is a function of one argument.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// The address of the instruction that a signal interrupted, 0 where we do not know how to tell.
fn interrupted_at(context: *mut libc::c_void) -> usize {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: with SA_SIGINFO the third argument of a handler points to one of these.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        return (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        return (*context).uc_mcontext.pc as usize;
        #[cfg(target_arch = "riscv64")]
        return (*context).uc_mcontext.__gregs[libc::REG_PC] as usize;
        #[cfg(not(any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )))]
        return {
            let _ = context;
            0
        };
    }
}

/// What a thread needs that calls governors, until it ends.
struct Thread {
    timer: Option<libc::timer_t>,
    /// Where Rust did not start the thread, it has no stack for handlers.
    stack: Option<Box<[u8]>>,
}

impl Thread {
    fn new() -> Self {
        Self { timer: look_timer(), stack: handler_stack() }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        IS_READY.set(false);
        if let Some(timer) = self.timer {
            // SAFETY: it was created by this thread, and is deleted once.
            unsafe { libc::timer_delete(timer) };
        }
        if self.stack.is_some() {
            let none =
                libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: the thread's handler stack was ours, and is about to go.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
        }
    }
}

/// Without one (the system's timers are used up), endless calls are not ended.
fn look_timer() -> Option<libc::timer_t> {
    // SAFETY: all zero is a valid value of both.
    let (mut event, mut timer): (libc::sigevent, libc::timer_t) = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = LOOK;
    // SAFETY: it has no arguments.
    event.sigev_notify_thread_id = unsafe { libc::gettid() };
    // SAFETY: both are valid, and the second is written to.
    let created = unsafe {
        libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer)
    };
    let period = libc::timespec { tv_sec: LOOK_SECONDS, tv_nsec: 0 };
    let each = libc::itimerspec { it_interval: period, it_value: period };
    // SAFETY: the timer is new, and `each` is valid.
    (created == 0
        && unsafe { libc::timer_settime(timer, 0, &raw const each, ptr::null_mut()) } == 0)
        .then_some(timer)
}

fn handler_stack() -> Option<Box<[u8]>> {
    // SAFETY: all zero is a valid value.
    let mut now: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: it is written to.
    unsafe { libc::sigaltstack(ptr::null(), &raw mut now) };
    if now.ss_flags & libc::SS_DISABLE == 0 {
        return None;
    }
    let mut stack = vec![0; HANDLER_STACK].into_boxed_slice();
    let new = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
    // SAFETY: the memory is given back only after it is no longer the handler stack.
    (unsafe { libc::sigaltstack(&raw const new, ptr::null_mut()) } == 0).then_some(stack)
}
