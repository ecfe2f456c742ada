// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels' governor files in a folder, and which governor here each is to be held against.

use std::path::{Path, PathBuf};
use std::{fs, io};

use idlelab_governors::catalog::{self, AnyGovernor, GovernorName, Resolution};
use idlelab_states::TickRate;

use crate::scenario::Machines;

/// The governors that kernels have.
pub const GOVERNORS: [&str; 4] = ["teo", "menu", "ladder", "haltpoll"];

/// A governor's C file of a kernel, and the governor here that is to decide as it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The kernel's version, such as `6.12.117`.
    pub kernel: String,
    /// The governor's name, such as `teo`.
    pub governor: &'static str,
    /// The file.
    pub file: PathBuf,
    /// What the catalogue has for that version.
    pub ours: Resolution,
}

/// What a folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The pairs to compare, oldest kernel first.
    pub pairs: Vec<Pair>,
    /// Files that no governor here is known to be like, in words.
    pub unknown: Vec<String>,
}

/// Looks for `VERSION/GOVERNOR.c` in a folder, as `scripts/kernel-sources.sh` leaves them.
///
/// # Errors
///
/// The folder cannot be read.
pub fn find(folder: &Path) -> io::Result<Sources> {
    let mut kernels = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(version) = name.to_str().filter(|name| number(name).is_some()) {
            kernels.push((version.to_owned(), entry.path()));
        }
    }
    kernels.sort_unstable_by_key(|(version, _)| number(version));
    let mut sources = Sources::default();
    for (kernel, path) in kernels {
        for governor in GOVERNORS {
            let file = path.join(governor).with_extension("c");
            if !file.is_file() {
                continue;
            }
            match catalog::resolve(&format!("{governor}@{kernel}")) {
                Ok(ours) => {
                    sources.pairs.push(Pair { kernel: kernel.clone(), governor, file, ours });
                }
                Err(error) => sources.unknown.push(format!("{}: {error}", file.display())),
            }
        }
    }
    Ok(sources)
}

/// A version's numbers, or `None` of what is no version.
fn number(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

impl Pair {
    /// The machines on which a kernel asks the governor.
    ///
    /// With a single state ladder leaves its table, haltpoll chooses a state that is not there, and
    /// menu since 7.1 takes a second state for granted; the idle loop of these kernels asks nobody
    /// then.
    #[must_use]
    pub fn machines(&self) -> Machines {
        match self.governor {
            "haltpoll" => Machines::Guests,
            "ladder" => Machines::WithStates(2),
            _ if self.ours.name == GovernorName::Menu => Machines::WithStates(2),
            _ => Machines::WithStates(1),
        }
    }

    /// Makes the governor here.
    pub fn ours(&self) -> impl Fn(TickRate) -> AnyGovernor + Sync + use<> {
        let name = self.ours.name;
        move |rate| name.build(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_in_the_order_of_their_numbers() {
        assert!(number("6.1.192") < number("6.12.3"));
        assert!(number("6.12.3") < number("6.12.117"));
        assert_eq!(number(".apt"), None);
        assert_eq!(number("6.1-rc1"), None);
    }
}
