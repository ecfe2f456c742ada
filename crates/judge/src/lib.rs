// SPDX-License-Identifier: GPL-2.0-or-later
//! Holds governors against the kernel's own C files, decision by decision.
//!
//! [`Scenario`] makes up machines and what happens on them, a [`Duel`] of two governors stands
//! where one does and compares each of their calls, a [`Contest`] plays scenarios to duels by the
//! thousand million, and a difference is shrunk to a short [`Case`] that `idlelab decide` reads.

mod case;
mod contest;
mod duel;
mod kernel_file;
mod random;
mod recorded;
mod report;
mod scenario;
mod shrink;
pub mod sources;

pub use case::{Case, Divergence};
pub use contest::{Contest, Maker, Outcome};
pub use duel::{Answer, Call, Difference, Duel, Questions};
pub use kernel_file::KernelFile;
pub use random::Random;
pub use recorded::cases;
pub use report::Report;
pub use scenario::{Machines, Scenario, Step, TICK_RATES};
