// SPDX-License-Identifier: GPL-2.0-or-later
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if !bytes.starts_with(b"PERFILE2") && !bytes.starts_with(b"2ELIFREP") {
        return;
    }
    if let Ok(recording) = idlelab_import::read(bytes, "input") {
        for cpu in &recording.cpus {
            assert!(cpu.periods.iter().all(|period| period.enter <= period.exit));
        }
    }
});
