// SPDX-License-Identifier: GPL-2.0-or-later
//! The input is a tree of files in the spelling of `grep -r .`: a path, a colon, what is in it.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};

use idlelab_platform::sysfs;
use libfuzzer_sys::fuzz_target;

/// A tree has a dozen files or so for each idle state.
const MOST_FILES: usize = 200;

/// The path within the tree, unless it leads out of it.
fn within<'a>(root: &Path, path: &'a str) -> Option<PathBuf> {
    let plain = |part: &'a str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    path.split('/').all(plain).then(|| root.join(path))
}

fuzz_target!(|text: &str| {
    let root = std::env::temp_dir().join(format!("idlelab-fuzz-sysfs-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    for line in text.lines().take(MOST_FILES) {
        let Some((path, content)) = line.split_once(':') else { continue };
        let Some(file) = within(&root, path) else { continue };
        let folder = file.parent().unwrap_or(&root);
        let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&file, content));
    }
    let _ = sysfs::read(&root);
    let _ = sysfs::counters(&root);
    let _ = sysfs::current_governor(&root);
    let _ = fs::remove_dir_all(&root);
});
