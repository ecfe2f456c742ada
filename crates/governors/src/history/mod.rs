// SPDX-License-Identifier: GPL-2.0-or-later
//! Governors as earlier kernels had them, and as mailing-list patches would have had them.

pub mod teo_6_14;
