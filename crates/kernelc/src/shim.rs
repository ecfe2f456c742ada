// SPDX-License-Identifier: GPL-2.0-or-later
//! The headers that the governor is compiled against, and idlelab's side of the loaded object.

use std::path::Path;
use std::{fs, io};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../shim/", $name)))),+]
    };
}

/// What is included before the first line of the governor's file.
pub(crate) const PRELUDE: &str = "idlelab.h";
/// idlelab's side of the object.
pub(crate) const GUEST: &str = "guest.c";

/// The files by name, with their text.
pub(crate) const FILES: [(&str, &str); 15] = files![
    "idlelab.h",
    "types.h",
    "compiler.h",
    "report.h",
    "arithmetic.h",
    "memory.h",
    "ask.h",
    "percpu.h",
    "time.h",
    "sched.h",
    "cpuidle.h",
    "module.h",
    "gov.h",
    "guest.h",
    "guest.c",
];

/// Writes them into a folder.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    FILES.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
}
