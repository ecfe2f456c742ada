// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes as people read them.
//!
//! [`plain_text`] prints the rows that kernel developers post: at most [`WIDTH`] columns of plain
//! characters, so that they paste into a mail.
//!
//! ```
//! use idlelab_outcome::{Bench, CpuOutcome, Outcome, StateOutcome};
//!
//! let states = vec![StateOutcome { name: "C1".into(), usage: 8, above: 2, ..Default::default() }];
//! let cpu = CpuOutcome { states, ..Default::default() };
//! let outcome = Outcome::of_cpus(Bench::Replay, "teo", "my-machine", vec![cpu]);
//! assert!(idlelab_evidence::plain_text(&[outcome]).contains("25.00"), "2 misses of 8");
//! ```

mod table;

pub use table::{WIDTH, plain_text};
