// SPDX-License-Identifier: GPL-2.0-or-later
//! Signals that ask for an end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// What is set as soon as SIGINT, SIGTERM or SIGHUP arrives, instead of the process's end.
///
/// # Errors
///
/// The system does not let signals be handled.
pub fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
