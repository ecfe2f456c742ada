// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's own governor C file, standing where a governor stands.
//!
//! ```text
//!  teo.c ──▶ Source ──compile(tick rate)──▶ Program ──instance(cpu)──▶ Guest: Governor
//!            read      the system's cc,      a shared     the object loaded once more,
//!                      against our shim,     object       so that all its data is one CPU's
//!                      cached by content
//! ```
//!
//! The file is compiled as it is. Its `#include <linux/…>` find empty headers: all that governors
//! use of the kernel is in the shim (folder `shim/`), which is included before its first line.
//! What the shim lacks is an error that names function and line.
//!
//! What the governor asks of the kernel goes to the [`Kernel`](idlelab_governors::Kernel) of the
//! call, when the C asks it and as often. The tick rate is compiled in, as it is in a kernel.
//!
//! A call that crashes, does not end or runs into `BUG()` is left; from then on that [`Guest`]
//! keeps the tick and chooses state 0, and [`Program::failure`] tells what happened.
//!
//! ```no_run
//! use idlelab_governors::steps::{StepDriver, StepInputs};
//! use idlelab_kernelc::Source;
//! use idlelab_states::{CpuId, IdleState, IdleStates, Nanoseconds, TickRate};
//!
//! let rate = TickRate::from_hertz(250).ok_or("no such tick rate")?;
//! let program = Source::open("drivers/cpuidle/governors/teo.c")?.compile(rate)?;
//! let mut governor = program.instance(CpuId(0));
//!
//! let states = IdleStates::new(&[IdleState::polling("POLL"), IdleState::default()])?;
//! let mut driver = StepDriver::new();
//! driver.enable(&mut governor, &states);
//! let step = StepInputs::of_residency(Nanoseconds::from_micros(80));
//! println!("{:?}", driver.step(&mut governor, &states, &step));
//! if let Some(failure) = program.failure() {
//!     return Err(failure.to_string().into());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod abi;
mod cache;
mod compiler;
mod diagnostics;
mod era;
mod error;
mod failure;
mod guest;
mod loaded;
mod program;
mod shim;
mod source;
mod trap;

pub use error::{Error, MissingFunction};
pub use failure::{Cause, Failure, Place};
pub use guest::Guest;
pub use program::Program;
pub use source::Source;
