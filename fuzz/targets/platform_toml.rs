// SPDX-License-Identifier: GPL-2.0-or-later
#![no_main]

use idlelab_platform::Platform;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Platform::from_toml("input", text);
});
