// SPDX-License-Identifier: GPL-2.0-or-later
//! Probe events on all that a governor asks the kernel, by which its inputs are recorded.

use crate::btf::Btf;

/// The group of all probe events of idlelab.
pub(crate) const GROUP: &str = "idlelab";

/// The bit of the word in `struct cpuidle_device` that importers read as the poll time limit.
const POLL_TIME_LIMIT_BIT: u32 = 2;

/// How many calls of a return probe may be under way at once. One a CPU is in the idle loop.
const MOST_ACTIVE: u32 = 64;

/// A probe event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Its name within the group.
    pub(crate) name: &'static str,
    /// How it is defined, as a line of `kprobe_events`.
    pub(crate) definition: String,
}

/// Where the kernel keeps what a governor is told of the last idle period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceLayout {
    /// Of `last_residency_ns`, in bytes.
    residency: u32,
    /// Of the word with the bit `poll_time_limit`, in bytes.
    bits: u32,
}

impl DeviceLayout {
    /// Finds it in the kernel's type information.
    pub(crate) fn of(btf: &[u8]) -> Option<Self> {
        let btf = Btf::parse(btf)?;
        let residency = btf.bit_offset("cpuidle_device", "last_residency_ns")?;
        let limit = btf.bit_offset("cpuidle_device", "poll_time_limit")?;
        let fits = residency.is_multiple_of(8) && limit % 32 == POLL_TIME_LIMIT_BIT;
        fits.then_some(Self { residency: residency / 8, bits: limit / 32 * 4 })
    }
}

/// The probes for a governor. Arguments in return probes need a kernel of 6.9 or newer; an older
/// one refuses the definition.
pub(crate) fn probes(governor: &str, layout: DeviceLayout) -> Vec<Probe> {
    // ladder alone has another name.
    let select = match governor {
        "ladder" => "ladder_select_state".to_owned(),
        other => format!("{other}_select"),
    };
    let DeviceLayout { residency, bits } = layout;
    let returns = |name: &'static str, rest: &str| Probe {
        name,
        definition: format!("r{MOST_ACTIVE}:{GROUP}/{name} {rest}"),
    };
    let enters = |name: &'static str, rest: &str| Probe {
        name,
        definition: format!("p:{GROUP}/{name} {rest}"),
    };
    vec![
        returns("sl", "tick_nohz_get_sleep_length ret=$retval:s64 tick=+0($arg1):s64"),
        returns("lat", "cpuidle_governor_latency_req ret=$retval:s64"),
        returns("stopped", "tick_nohz_tick_stopped ret=$retval:u8"),
        returns("got", "tick_nohz_idle_got_tick ret=$retval:u8"),
        enters("sel", &select),
        returns("selr", &format!("{select} ret=$retval:s32 stop=+0($arg3):u8")),
        enters(
            "refl",
            &format!(
                "{governor}_reflect state=$arg2:s32 res=+{residency}($arg1):u64 bits=+{bits}($arg1):u32"
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probes_of_teo_are_those_that_were_tried_by_hand() {
        let layout = DeviceLayout { residency: 24, bits: 0 };
        let definitions: Vec<_> =
            probes("teo", layout).into_iter().map(|probe| probe.definition).collect();
        assert_eq!(
            definitions,
            [
                "r64:idlelab/sl tick_nohz_get_sleep_length ret=$retval:s64 tick=+0($arg1):s64",
                "r64:idlelab/lat cpuidle_governor_latency_req ret=$retval:s64",
                "r64:idlelab/stopped tick_nohz_tick_stopped ret=$retval:u8",
                "r64:idlelab/got tick_nohz_idle_got_tick ret=$retval:u8",
                "p:idlelab/sel teo_select",
                "r64:idlelab/selr teo_select ret=$retval:s32 stop=+0($arg3):u8",
                "p:idlelab/refl teo_reflect state=$arg2:s32 res=+24($arg1):u64 \
                 bits=+0($arg1):u32",
            ]
        );
        let ladder = probes("ladder", layout);
        assert_eq!(ladder[4].definition, "p:idlelab/sel ladder_select_state");
        assert!(ladder[6].definition.starts_with("p:idlelab/refl ladder_reflect "));
    }

    /// Kernels 6.12 to 7.3 have the residency at byte 24 and the bits at byte 0 on 64-bit machines.
    #[test]
    fn this_kernels_own_type_information_is_understood() {
        let Ok(btf) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            println!("SKIPPED: this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
            return;
        };
        let layout = DeviceLayout::of(&btf);
        assert_eq!(layout, Some(DeviceLayout { residency: 24, bits: 0 }));
    }
}
