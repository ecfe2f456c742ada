// SPDX-License-Identifier: GPL-2.0-or-later
//! This machine: recordings of it, and the undoing of all that is changed for them.
//!
//! Whatever is changed is noted in a [`Journal`] before it is, and undone on every way out: at the
//! end, after an error, on a panic and after a signal by this process, after SIGKILL by
//! [`Journal::restore`].
//!
//! Where the kernel shows itself, and where the journal is kept, are parameters ([`Machine`],
//! [`Request`]), so that tests run on trees of their own.

mod btf;
mod error;
mod events;
mod instance;
mod journal;
mod machine;
mod probes;
mod record;
mod setup;
mod signals;

pub use error::RecordError;
pub use journal::{Change, Journal, JournalError, Restored, state_folder};
pub use machine::Machine;
pub use record::{Overhead, Recorded, Request, Until, record};
pub use setup::setup_script;
pub use signals::stop_on_signals;
