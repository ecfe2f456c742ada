// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors as earlier kernels had them, and as mailing-list patches would have had them.
//!
//! One file for each idea; in it, what its revisions share is said once and what sets them apart
//! is a question to the revision. What several files share is in the private modules.
//!
//! ```text
//!  teo   2018    drafts v5, v6  ┐
//!        2019    5.1 5.3 5.10   ┘ teo_5_1    hits, misses and early hits
//!        2021    5.14 6.3         teo_5_14   bins, the timers asked first
//!        2023    6.6 6.11 6.12.117 teo_6_6   the timers asked last
//!        2025    6.14 over-eager  teo_6_14   or not at all, if short idle periods are the rule
//!                6.19 7.0         teo_6_19   wakeups by the tick told apart
//!        2026    7.1 …            crate::teo
//!
//!  menu  2016    4.5 4.6          menu_4_5   when is polling better?
//!        2020 …  5.10 … 6.19      menu       what predicts, when to ask, when to leave polling
//!        2026    7.1 …            crate::menu
//!
//!  ladder 2022   not merged       ladder_fixed
//! ```

mod lookup;
mod outliers;
mod recent;
mod span;

pub mod ladder_fixed;
pub mod menu;
pub mod menu_4_5;
pub mod teo_5_1;
pub mod teo_5_14;
pub mod teo_6_14;
pub mod teo_6_19;
pub mod teo_6_6;
