// SPDX-License-Identifier: GPL-2.0-or-later
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if !bytes.starts_with(b"PAR1") {
        return;
    }
    let _ = idlelab_import::read(bytes, "input");
});
