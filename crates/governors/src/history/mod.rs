// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors as earlier kernels had them, and as mailing-list patches would have had them.

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
