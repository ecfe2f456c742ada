// SPDX-License-Identifier: GPL-2.0-or-later
//! Which kernels a file is written for, where that changes what its C means.
//!
//! Up to 5.12 the times of an idle state are unsigned, so that a comparison with a negative one, the
//! sleep length of a timer that has expired, comes out the other way. A file compiles with either.

use std::fs;
use std::path::Path;

/// What times in `struct cpuidle_state` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateTimes {
    /// `s64`, since 5.13.
    Signed,
    /// `u64`, up to 5.12.
    Unsigned,
}

impl StateTimes {
    /// By the header of the kernel tree that the file is in, or else by the names in the file that
    /// only the governors of those kernels use.
    pub(crate) fn of(path: &Path, text: &str) -> Self {
        let header = path
            .ancestors()
            .skip(1)
            .find_map(|folder| fs::read_to_string(folder.join("include/linux/cpuidle.h")).ok());
        let is_unsigned = match header {
            Some(header) => header.lines().any(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some("u64") && words.next() == Some("target_residency_ns;")
            }),
            None => ["early_hits", "delta_next"].iter().any(|name| text.contains(name)),
        };
        if is_unsigned { Self::Unsigned } else { Self::Signed }
    }

    /// What the shim is told.
    pub(crate) fn definition(self) -> &'static str {
        match self {
            Self::Signed => "-DIDLELAB_STATE_TIME=s64",
            Self::Unsigned => "-DIDLELAB_STATE_TIME=u64",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_the_tree_goes_before_names_in_the_file() {
        let tree = tempfile::tempdir().unwrap();
        let governors = tree.path().join("drivers/cpuidle/governors");
        let headers = tree.path().join("include/linux");
        fs::create_dir_all(&governors).unwrap();
        fs::create_dir_all(&headers).unwrap();
        let file = governors.join("menu.c");
        assert_eq!(StateTimes::of(&file, "ktime_t delta_next;"), StateTimes::Unsigned);
        assert_eq!(StateTimes::of(&file, "ktime_t delta_tick;"), StateTimes::Signed);
        let header = headers.join("cpuidle.h");
        fs::write(&header, "\ts64\t\ttarget_residency_ns;\n").unwrap();
        assert_eq!(StateTimes::of(&file, "ktime_t delta_next;"), StateTimes::Signed);
        fs::write(&header, "\tu64\t\ttarget_residency_ns;\n").unwrap();
        assert_eq!(StateTimes::of(&file, "ktime_t delta_tick;"), StateTimes::Unsigned);
    }
}
