// SPDX-License-Identifier: GPL-2.0-or-later
use std::ffi::{CStr, c_char};
use std::fmt;

use idlelab_states::CpuId;

use crate::abi;
use crate::loaded::Loaded;
use crate::program::Shared;
use crate::trap::Left;

/// How a run of a governor file came to its end before the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file, as the user named it.
    pub file: String,
    /// The CPU whose governor it was.
    pub cpu: CpuId,
    /// What happened.
    pub cause: Cause,
    /// Where, if that is known.
    pub place: Option<Place>,
}

/// What ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A signal such as SIGSEGV (11), by its number.
    Signal(i32),
    /// The call used more than a second of processor time.
    Endless,
    /// `BUG()`, `BUG_ON()` or `panic()`, in its words.
    Bug(String),
    /// It asked for data of another CPU.
    OtherCpu(i64),
    /// It asked, in an initcall or in enable, what only an idle CPU can be told; the question.
    NoKernel(String),
    /// It chose a state that the table does not have.
    NoSuchState {
        /// What it chose.
        chosen: i32,
        /// How many states there are.
        states: usize,
    },
    /// Its enable callback returned this error.
    Enable(i32),
    /// The object could not be loaded once more, for this CPU.
    Load(String),
}

/// A place in the governor's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The function, where it is known.
    pub function: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

impl Failure {
    /// Of a call that was left.
    pub(crate) fn of(program: &Shared, loaded: &Loaded, cpu: CpuId, left: Left) -> Self {
        // SAFETY: the copy's data, in which nothing runs any more.
        let guest = unsafe { &*loaded.guest() };
        let cause = match guest.left {
            abi::left::ENDLESS => Cause::Endless,
            abi::left::BUG => Cause::Bug(text(guest.what)),
            abi::left::OTHER_CPU => Cause::OtherCpu(guest.detail),
            abi::left::NO_KERNEL => Cause::NoKernel(text(guest.what)),
            _ => Cause::Signal(i32::try_from(guest.detail).unwrap_or_default()),
        };
        let place = match guest.left {
            abi::left::BUG | abi::left::OTHER_CPU => {
                u32::try_from(guest.line).ok().map(|line| Place { function: None, line })
            }
            _ => loaded.offset(left.address).and_then(|offset| program.place(offset)),
        };
        Self { file: program.file.clone(), cpu, cause, place }
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: what the object's own side leaves there is a string of the object.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if let Some(Place { function, line }) = &self.place {
            write!(f, "{line}:")?;
            if let Some(function) = function {
                write!(f, " in {function}():")?;
            }
        }
        write!(f, " {} (on {})", self.cause, self.cpu)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(number) => write!(f, "the governor crashed: {}", signal(*number)),
            Self::Endless => f.write_str("the governor does not come to an end (endless loop?)"),
            Self::Bug(what) => write!(f, "the governor stopped itself: {what}"),
            Self::OtherCpu(cpu) => {
                write!(f, "the governor asked for data of CPU {cpu}; here each CPU is on its own")
            }
            Self::NoKernel(question) => write!(
                f,
                "the governor asked for {question}, which is known only in select and reflect"
            ),
            Self::NoSuchState { chosen, states } => write!(
                f,
                "the governor chose state {chosen}, and there are states 0 to {}",
                states.saturating_sub(1)
            ),
            Self::Enable(error) => write!(f, "the governor's enable callback returned {error}"),
            Self::Load(reason) => write!(f, "the governor cannot be loaded: {reason}"),
        }
    }
}

fn signal(number: i32) -> String {
    let name = match number {
        libc::SIGSEGV => "invalid memory access (SIGSEGV)",
        libc::SIGBUS => "invalid memory access (SIGBUS)",
        libc::SIGFPE => "division by zero (SIGFPE)",
        libc::SIGILL => "illegal instruction (SIGILL)",
        libc::SIGTRAP => "trap (SIGTRAP)",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}
