// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls into the Parquet library, which is meant to return an error on damaged input but has
//! assertions on its way there.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use ::parquet::errors::ParquetError;

thread_local! {
    /// Whether this thread is within such a call.
    static SHELTERED: Cell<bool> = const { Cell::new(false) };
}

/// The hook that reports panics can only be replaced for the whole process, so it is replaced once
/// and for good, by one that passes on every panic but those of sheltered calls.
static HOOK: Once = Once::new();

/// The result of a call, or what went wrong in it in words. A panic within becomes an error, and
/// is reported nowhere else.
///
/// # Errors
///
/// What the library says, or that it panicked.
pub fn sheltered<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    HOOK.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !SHELTERED.get() {
                report(panic);
            }
        }));
    });
    SHELTERED.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    SHELTERED.set(false);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the Parquet library cannot make sense of it".to_owned()),
    }
}
