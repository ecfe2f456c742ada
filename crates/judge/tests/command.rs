// SPDX-License-Identifier: GPL-2.0-or-later
//! The command's mistakes and exit status. What it says of kernels is in `kernels.rs` and
//! `mutants.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

fn judge(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_judge")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_folder_without_c_files_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let (status, says) = judge(&["--source", &path]);
    assert_eq!(status, Some(2));
    assert!(says.contains("scripts/kernel-sources.sh"), "{says}");

    fs::create_dir(folder.path().join("6.12.117")).unwrap();
    fs::write(folder.path().join("6.12.117/teo.c"), "not C").unwrap();
    let (status, says) = judge(&["--source", &path, "--kernel", "6.1.192"]);
    assert_eq!(status, Some(2));
    assert!(says.contains("of kernel 6.1.192"), "{says}");

    let (status, says) = judge(&["--source", "/no/such/folder"]);
    assert_eq!(status, Some(2));
    assert!(says.contains("/no/such/folder"), "{says}");
}

#[test]
fn numbers_that_are_none_are_refused() {
    for (option, value, says) in [
        ("--decisions", "10T", "such as 500k, 10M or 1G"),
        ("--decisions", "0", "such as 500k, 10M or 1G"),
        ("--decisions", "99999999999G", "such as 500k, 10M or 1G"),
        ("--hz", "10", "24 to 1200 hertz"),
    ] {
        let (status, text) = judge(&["--source", ".", option, value]);
        assert_eq!(status, Some(2));
        assert!(text.contains(says), "{text}");
    }
}
