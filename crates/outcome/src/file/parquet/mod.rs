// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes as a Parquet file, to be read by other tools and by this one: a [`Row`] a row.

mod columns;
mod read;
mod write;

pub(super) use read::{is_parquet, read};
pub use write::write;

/// The metadata entry that tells that a file holds outcomes, and in which format.
const FORMAT: &str = "idlelab.outcomes";

/// The format that is written, and the only one that is read.
const VERSION: &str = "1";
