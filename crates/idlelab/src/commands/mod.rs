// SPDX-License-Identifier: GPL-2.0-or-later
//! One module a subcommand.

pub(crate) mod compare;
pub(crate) mod count;
pub(crate) mod decide;
pub(crate) mod differences;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod governors;
pub(crate) mod headlines;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod plan;
pub(crate) mod platforms;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod scenarios;
pub(crate) mod simulate;
