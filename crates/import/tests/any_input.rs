// SPDX-License-Identifier: GPL-2.0-or-later
//! Any input gives a recording or a sentence, never a panic, and what it gives is sane.

use idlelab_import::read;
use proptest::collection::vec;
use proptest::prelude::*;

fn check(bytes: &[u8]) {
    if let Ok(recording) = read(bytes, "input") {
        assert!(recording.periods() > 0);
        for cpu in &recording.cpus {
            assert!(cpu.periods.iter().all(|period| period.enter <= period.exit));
        }
    }
}

/// A line that is nearly an event, of nearly any kind.
fn line() -> impl Strategy<Value = String> {
    let event = prop_oneof![
        Just("cpu_idle: state=1 cpu_id=0".to_owned()),
        Just("cpu_idle: state=4294967295 cpu_id=0".to_owned()),
        any::<i64>().prop_map(|n| format!("cpu_idle: state={n} cpu_id={n}")),
        any::<i64>().prop_map(|n| format!(
            "hrtimer_start: hrtimer=1 function=tick_nohz_handler expires={n} softexpires={n}"
        )),
        any::<i64>().prop_map(|n| format!(
            "timer_start: timer=2 function=f expires={n} [timeout={n}] bucket_expiry={n} cpu=0 flags="
        )),
        any::<i64>().prop_map(|n| format!("sl: (teo_select+0x0/0x1 <- f) ret={n} tick={n}")),
        any::<i64>().prop_map(|n| format!("refl: (teo_reflect+0x0/0x1) state={n} res={n} bits={n}")),
        any::<u8>().prop_map(|n| format!("selr: (cpuidle_select+0x0/0x1 <- teo_select) ret={n} stop=1")),
        Just("sel: (teo_select+0x0/0x5e4)".to_owned()),
        Just("sched_switch: prev_comm=a prev_pid=0 prev_prio=1 ==> next_comm=b next_pid=7".to_owned()),
        Just("sched_switch: prev_comm=a prev_pid=7 prev_prio=1 ==> next_comm=b next_pid=0".to_owned()),
        Just("hrtimer_expire_entry: hrtimer=1 function=tick_nohz_handler now=1".to_owned()),
        ".{0,40}",
    ];
    let lost = (0_u8..3, any::<u64>()).prop_map(|(cpu, n)| format!("CPU:{cpu} [LOST {n} EVENTS]"));
    let traced = (0_u8..3, 0_u64..=u64::MAX, 0_u32..1_000_000, event).prop_map(
        |(cpu, seconds, micros, event)| {
            let seconds = if seconds % 2 == 0 { seconds % 10 } else { seconds };
            format!("          <idle>-0       [00{cpu}] d..1. {seconds:>5}.{micros:06}: {event}")
        },
    );
    prop_oneof![20 => traced, 1 => lost, 1 => ".{0,60}"]
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..2_000)) {
        check(&bytes);
    }

    #[test]
    fn nearly_events(lines in vec(line(), 0..60), cut in 0_usize..200) {
        let text = lines.join("\n");
        let cut = text.len().saturating_sub(cut);
        check(&text.as_bytes()[..cut]);
    }
}
