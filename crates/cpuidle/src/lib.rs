// SPDX-License-Identifier: GPL-2.0-or-later
//! Mechanism: the idle loop of one CPU round a governor.
//!
//! [`IdleLoop`] does what the kernel's idle task and cpuidle core do for a CPU: it asks the
//! governor, stops, keeps and restarts the tick, limits polling, and accounts for every stay the
//! way the kernel's counters do. It does not know where wakeups come from: whoever drives it (a
//! replay, a simulator) tells it, and answers through [`Environment`] what only the world knows.
//!
//! ```text
//!  begin ──▶ select ──▶ Entry { state, tick due, poll until } ──▶ (driver finds what comes first)
//!    ▲          ▲                                                          │
//!    │          └──────────── idle loop goes round ◀── left / rejected ◀───┘
//!    └──────────────────────── a task ran ◀────────────────┘
//! ```
//!
//! The rules are those of the kernel's `kernel/sched/idle.c`, `kernel/time/tick-sched.c` and
//! `drivers/cpuidle/{cpuidle,poll_state}.c` of version 7.3.
//!
//! ```
//! use idlelab_cpuidle::{Environment, IdleLoop, Left};
//! use idlelab_governors::catalog;
//! use idlelab_states::{IdleState, IdleStates, Nanoseconds, TickRate};
//!
//! /// Nothing is pending, nothing is forbidden.
//! struct Quiet;
//! impl Environment for Quiet {
//!     fn next_hrtimer(&mut self) -> Nanoseconds { Nanoseconds::MAX }
//!     fn next_wheel_timer(&mut self) -> Nanoseconds { Nanoseconds::MAX }
//! }
//!
//! let states = IdleStates::new(&[
//!     IdleState::new("WFI", Nanoseconds::from_micros(1), Nanoseconds::from_micros(1)),
//!     IdleState::new("off", Nanoseconds::from_micros(60), Nanoseconds::from_micros(150)),
//! ])?;
//! let rate = TickRate::from_hertz(250).expect("a rate that kernels are built with");
//! let governor = catalog::find("deepest").expect("in the catalogue").build(rate);
//! let mut cpu = IdleLoop::new(governor, states, rate, Nanoseconds::ZERO);
//!
//! cpu.begin(Nanoseconds::ZERO);
//! let entry = cpu.select(&mut Quiet);
//! let stay = Nanoseconds::from_micros(90);
//! cpu.left(&entry, entry.state, stay, Left::default());
//! assert_eq!(cpu.statistics().states[entry.state].above, 1, "90 us is short of 150 us");
//! # Ok::<(), idlelab_states::TableSizeError>(())
//! ```

mod accounting;
mod boxed;
mod idle_loop;
mod poll;
mod tick;

pub use accounting::{StateStatistics, Statistics, Verdict, verdict};
pub use boxed::Boxed;
pub use idle_loop::{Entry, Environment, IdleLoop, Left};
pub use poll::poll_limit;
