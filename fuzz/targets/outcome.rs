// SPDX-License-Identifier: GPL-2.0-or-later
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(found) = idlelab_outcome::file::read(&mut &bytes[..], "input") {
        for outcome in &found.outcomes {
            for cpu in &outcome.per_cpu {
                let _ = cpu.states.iter().map(|state| state.misses()).count();
            }
        }
    }
});
