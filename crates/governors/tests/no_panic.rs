// SPDX-License-Identifier: GPL-2.0-or-later
//! Proof by the linker that the optimised governors cannot panic, on no input, not even by
//! overflow with overflow checks on: a library of them whose panic handler does not exist links.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn compile(folder: &Path, source: PathBuf, arguments: &[&str]) -> Output {
    Command::new("rustc")
        .args(["--edition=2024", "-Copt-level=3", "-Cpanic=abort"])
        .args(arguments)
        .arg("-L")
        .arg(folder)
        .arg("--out-dir")
        .arg(folder)
        .arg(source)
        .output()
        .unwrap()
}

fn compile_library(folder: &Path, source: &str, arguments: &[&str]) {
    let output =
        compile(folder, crates().join(source), &[&["--crate-type=rlib"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn link_probe(folder: &Path, configuration: &str) -> Output {
    let probe = crates().join("governors/tests/no_panic/probe.rs");
    compile(
        folder,
        probe,
        &[
            "--crate-type=cdylib",
            "--extern=idlelab_states",
            "--extern=idlelab_governors",
            "-Clto=fat",
            "-Ccodegen-units=1",
            "-Clink-arg=-lc",
            // A shared library may lack symbols otherwise.
            "-Clink-arg=-Wl,-z,defs",
            "--check-cfg=cfg(control)",
            "--cfg",
            configuration,
        ],
    )
}

#[test]
fn optimised_governors_cannot_panic() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_panic");
    std::fs::create_dir_all(&folder).unwrap();
    compile_library(&folder, "states/src/lib.rs", &["--crate-name=idlelab_states"]);
    compile_library(
        &folder,
        "governors/src/lib.rs",
        &["--crate-name=idlelab_governors", "--extern=idlelab_states", "-Coverflow-checks=on"],
    );

    let control = link_probe(&folder, "control");
    let message = String::from_utf8_lossy(&control.stderr);
    assert!(
        !control.status.success() && message.contains("a_panic_is_possible"),
        "a library that can panic must not link:\n{message}"
    );
    let probe = link_probe(&folder, "probe");
    assert!(probe.status.success(), "{}", String::from_utf8_lossy(&probe.stderr));
}
