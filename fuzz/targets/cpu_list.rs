// SPDX-License-Identifier: GPL-2.0-or-later
#![no_main]

use idlelab_platform::CpuList;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(cpus) = text.parse::<CpuList>() {
        assert_eq!(cpus.iter().count(), cpus.len());
        assert_eq!(cpus.to_string().parse(), Ok(cpus));
    }
});
