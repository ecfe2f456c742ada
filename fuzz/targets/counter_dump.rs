// SPDX-License-Identifier: GPL-2.0-or-later
#![no_main]

use idlelab_platform::dump;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(counters) = dump::parse("input", text) {
        let _ = counters.platform("input");
    }
});
