// SPDX-License-Identifier: GPL-2.0-or-later
//! The vocabulary of CPU idle.
//!
//! Every other crate speaks in these words: a time is [`Nanoseconds`], an energy is [`Joules`], a
//! CPU is a [`CpuId`], an idle state is a [`StateIndex`] into an [`IdleStates`] table, and the
//! scheduler tick is a [`TickRate`]. Microseconds exist only in files and on screens.
//!
//! ```
//! use idlelab_states::{IdleState, IdleStates, Nanoseconds};
//!
//! let states = IdleStates::new(&[
//!     IdleState::polling("POLL"),
//!     IdleState::new("C1", Nanoseconds::from_micros(2), Nanoseconds::from_micros(2)),
//!     IdleState::new("C6", Nanoseconds::from_micros(133), Nanoseconds::from_micros(600)),
//! ])?;
//! assert_eq!(states.len(), 3);
//! assert_eq!(states.deepest().map(|state| states[state].name.as_str()), Some("C6"));
//! # Ok::<(), idlelab_states::TableSizeError>(())
//! ```
#![no_std]

mod cpu;
mod energy;
mod table;
mod time;

pub use cpu::CpuId;
pub use energy::Joules;
pub use table::{
    Availability, IdleState, IdleStates, LocalTimer, MAX_STATES, PerState, StateIndex, StateKind,
    StateName, TableSizeError,
};
pub use time::{Nanoseconds, Tick, TickRate};
