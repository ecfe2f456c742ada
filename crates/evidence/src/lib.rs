// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes as people read them.
//!
//! [`plain_text`] prints the rows that kernel developers post, [`count_text`] the table of idle
//! states before and after that maintainers ask for: at most [`WIDTH`] columns of plain characters,
//! so that they paste into a mail.
//!
//! ```
//! use idlelab_outcome::{Bench, CpuOutcome, Outcome, StateOutcome};
//!
//! let states = vec![StateOutcome {
//!     name: "C1".into(),
//!     usage: 8,
//!     above: Some(2),
//!     below: Some(0),
//!     ..Default::default()
//! }];
//! let cpu = CpuOutcome { states, ..Default::default() };
//! let outcome = Outcome::of_cpus(Bench::Replay, Some("teo"), None, vec![cpu]);
//! assert!(idlelab_evidence::plain_text(&[outcome]).contains("25.00"), "2 misses of 8");
//! ```

mod compare;
mod count;
mod layout;
pub mod statistics;
pub mod style;
mod table;

pub use compare::{Drift, Estimate, Order, Refusal, Run, estimate};
pub use count::{CountRow, Counted, Cpus, count_rows, count_text};
pub use layout::WIDTH;
pub use table::plain_text;
