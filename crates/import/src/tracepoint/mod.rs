// SPDX-License-Identifier: GPL-2.0-or-later
//! Records of tracepoints in the kernel's own binary layout, read by the kernel's descriptions.

mod format;
mod record;
pub(crate) mod saved;
mod symbols;

pub(crate) use format::Format;
pub(crate) use record::{Head, Names, Records};
pub(crate) use symbols::Symbols;
