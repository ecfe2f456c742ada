// SPDX-License-Identifier: GPL-2.0-or-later
//! Outcomes as people read them, and what they prove.
//!
//! [`compare()`] says whether a governor is better than another, by how much and how sure that is,
//! [`plan()`] how many runs that takes.
//!
//! [`report`] puts all of that, and pictures, on one page of HTML.
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
mod plan;
pub mod report;
pub mod statistics;
pub mod style;
mod table;

pub use compare::{
    By, CompareError, Comparison, Drift, Estimate, Metrics, Order, Question, Refusal,
    ReplayedMetric, Run, SampledMetric, Sourced, Verdict, compare, comparisons_text, estimate,
    for_table, mark,
};
pub use count::{CountRow, Counted, Cpus, count_rows, count_text};
pub use layout::WIDTH;
pub use plan::{Plan, PlanError, PlanQuestion, PlannedMetric, plan, plans_text};
pub use table::plain_text;
