// SPDX-License-Identifier: GPL-2.0-or-later
mod estimate;
mod metric;
pub use estimate::*;
