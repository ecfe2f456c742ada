// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{Availability, Nanoseconds};
use proptest::prelude::*;

use super::*;
use crate::Status;

/// A piece of a dump of the testbed.
const TESTBED: &str = "\
/sys/devices/system/cpu/cpu0/cpuidle/state0/name:WFI
/sys/devices/system/cpu/cpu0/cpuidle/state0/latency:1
/sys/devices/system/cpu/cpu0/cpuidle/state0/residency:1
/sys/devices/system/cpu/cpu0/cpuidle/state0/usage:8
/sys/devices/system/cpu/cpu0/cpuidle/state0/time:4123
/sys/devices/system/cpu/cpu0/cpuidle/state0/above:0
/sys/devices/system/cpu/cpu0/cpuidle/state0/below:3
/sys/devices/system/cpu/cpu0/cpuidle/state0/rejected:0
/sys/devices/system/cpu/cpu0/cpuidle/state0/disable:0
/sys/devices/system/cpu/cpu0/cpuidle/state1/name:cpu-retention-0
/sys/devices/system/cpu/cpu0/cpuidle/state1/latency:60
/sys/devices/system/cpu/cpu0/cpuidle/state1/residency:150
/sys/devices/system/cpu/cpu0/cpuidle/state1/usage:31
/sys/devices/system/cpu/cpu0/cpuidle/state1/time:12994
/sys/devices/system/cpu/cpu0/cpuidle/state1/above:19
/sys/devices/system/cpu/cpu0/cpuidle/state1/below:1
/sys/devices/system/cpu/cpu0/cpuidle/state1/rejected:0
/sys/devices/system/cpu/cpu0/cpuidle/state1/disable:0
";

/// Two states of two CPUs, every attribute, by name.
fn rows(states: &[(&str, u64, u64)]) -> Vec<Vec<(&'static str, String)>> {
    states
        .iter()
        .enumerate()
        .map(|(index, &(name, latency, residency))| {
            let count = |base: usize| (base * 100 + index).to_string();
            vec![
                ("above", count(1)),
                ("below", count(2)),
                ("default_status", "enabled".to_owned()),
                ("desc", format!("about {name}")),
                ("disable", "0".to_owned()),
                ("latency", latency.to_string()),
                ("name", name.to_owned()),
                ("power", "4294967295".to_owned()),
                ("rejected", count(3)),
                ("residency", residency.to_string()),
                ("time", count(4)),
                ("usage", count(5)),
            ]
        })
        .collect()
}

const HALTPOLL: [(&str, u64, u64); 2] = [("POLL", 0, 0), ("haltpoll idle", 1, 1)];

fn dump_text(cpus: &[&str], line: impl Fn(&str, usize, &str, &str) -> String) -> String {
    let mut text = String::new();
    for cpu in cpus {
        for (state, row) in rows(&HALTPOLL).iter().enumerate() {
            for (attribute, value) in row {
                text.push_str(&line(cpu, state, attribute, value));
                text.push('\n');
            }
        }
    }
    text
}

fn bare(cpus: &[&str], without: &[&str]) -> String {
    let mut text = String::new();
    for _ in cpus {
        for row in rows(&HALTPOLL) {
            for (attribute, value) in row {
                if !without.contains(&attribute) {
                    text.push_str(&value);
                    text.push('\n');
                }
            }
        }
    }
    text
}

fn error(text: &str) -> String {
    parse("paste.txt", text).unwrap_err().to_string()
}

#[test]
fn a_dump_of_the_testbed_is_read() {
    let dump = parse("teo.before", TESTBED).unwrap();
    assert_eq!(dump.spelling, Spelling::PathColon);
    let [wfi, retention] = dump.cpu(CpuId(0)).unwrap().states.as_slice() else { panic!() };
    assert_eq!(wfi.name.as_deref(), Some("WFI"));
    assert_eq!((wfi.usage, wfi.time_us, wfi.below), (Some(8), Some(4123), Some(3)));
    assert_eq!((wfi.desc.as_deref(), wfi.power, wfi.default_status), (None, None, None));
    assert_eq!(wfi.disable, Some(Status::Enabled));
    assert_eq!(retention.residency, Some(Nanoseconds::from_micros(150)));
    assert_eq!(retention.above, Some(19));

    let platform = dump.platform("testbed").unwrap();
    let states = platform.states_of(CpuId(0)).unwrap();
    assert_eq!(states.as_slice()[1].name.as_str(), "cpu-retention-0");
    assert!(!states.as_slice()[0].is_polling());
    assert_eq!(platform.source, "idle counters in teo.before");
}

#[test]
fn all_spellings_give_the_same() {
    let path = |cpu: &str, state: usize, attribute: &str| {
        format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/{attribute}")
    };
    let cpus = ["0", "1"];
    let colon = dump_text(&cpus, |c, s, a, v| format!("{}:{v}", path(c, s, a)));
    let blank = dump_text(&cpus, |c, s, a, v| format!("> {}: {v}\r", path(c, s, a)));
    let piped = dump_text(&cpus, |c, s, a, v| format!("rw|{}|{v}", path(c, s, a)));
    let colon = parse("a", &colon).unwrap();
    assert_eq!(colon.cpus[1].states[1].usage, Some(501));
    assert_eq!(parse("a", &blank).unwrap(), colon);
    let piped = parse("a", &piped).unwrap();
    assert_eq!((piped.spelling, &piped.cpus), (Spelling::ModePath, &colon.cpus));
    let bare = parse("a", &bare(&cpus, &[])).unwrap();
    assert_eq!((bare.spelling, &bare.cpus), (Spelling::Bare { attributes: 12 }, &colon.cpus));
}

#[test]
fn states_in_directory_order_are_sorted_and_cpus_are_not() {
    let text = "\
cpu10/cpuidle/state3/usage:3
cpu10/cpuidle/state0/usage:0
cpu2/cpuidle/state0/usage:20
cpu10/cpuidle/state1/usage:1
";
    let dump = parse("a", text).unwrap();
    assert_eq!(dump.cpus.iter().map(|cpu| cpu.cpu.0).collect::<Vec<_>>(), [10, 2]);
    let states: Vec<_> = dump.cpus[0].states.iter().map(|state| state.state.get()).collect();
    assert_eq!(states, [0, 1, 3]);
    let error = dump.platform("x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a: cpu10 state 0 has no `name`; without it there is no idle-state table"
    );
}

#[test]
fn bare_cpus_come_in_the_shells_order() {
    let text = bare(&["x"; 12], &[]);
    let dump = parse("a", &text).unwrap();
    let cpus: Vec<_> = dump.cpus.iter().map(|cpu| cpu.cpu.0).collect();
    assert_eq!(cpus, [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(dump.platform("x").unwrap().tables()[0].cpus.as_ref().unwrap().len(), 12);
}

#[test]
fn older_kernels_show_fewer_attributes() {
    for (without, attributes) in [
        (&["rejected"][..], 11),
        (&["rejected", "default_status"], 10),
        (&["rejected", "default_status", "above", "below"], 8),
        (&["rejected", "default_status", "above", "below", "residency"], 7),
    ] {
        let text = bare(&["0", "1"], without);
        let dump = parse("a", &text).unwrap();
        assert_eq!(dump.spelling, Spelling::Bare { attributes });
        let state = &dump.cpus[1].states[1];
        assert_eq!((state.usage, state.time_us), (Some(501), Some(401)));
        assert_eq!(state.rejected, None);
        assert_eq!(state.name.as_deref(), Some("haltpoll idle"));
        // One state alone may be one of a newer kernel with its last line cut off.
        let one: Vec<_> = text.lines().take(attributes).collect();
        let one = parse("a", &one.join("\n")).map(|dump| dump.spelling);
        let safe = [10, 8].contains(&attributes);
        assert_eq!(one.ok(), safe.then_some(Spelling::Bare { attributes }));
    }
}

#[test]
fn complaints_prose_and_other_paths_are_passed_over() {
    let text = "\
Here are my counters, before:
/sys/devices/system/cpu/cpuidle/current_governor:teo
cat: /sys/devices/system/cpu/cpu0/cpuidle/state2/s2idle: Is a directory
/sys/devices/system/cpu/cpu0/cpuidle/state2/s2idle/usage:7
/sys/devices/system/cpu/cpu0/cpuidle/state2/usage:5
/sys/devices/system/cpu/cpu0/cpuidle/state2/desc:
";
    let dump = parse("a", text).unwrap();
    assert_eq!(dump.governor.as_deref(), Some("teo"));
    assert_eq!(dump.cpus.len(), 1);
    assert_eq!(dump.cpus[0].states[0].usage, Some(5));
    assert_eq!(
        dump.skipped,
        [Skipped { line: 1, text: "Here are my counters, before:".to_owned() }]
    );
    let complaint = "cat: /sys/devices/system/cpu/cpu0/cpuidle/state1/s2idle: Is a directory\n";
    let with_complaint = bare(&["0"], &[]) + complaint;
    assert!(parse("a", &with_complaint).is_ok());
}

#[test]
fn the_driver_may_have_disabled_a_state() {
    let text = "\
cpu0/cpuidle/state0/name:C3
cpu0/cpuidle/state0/latency:40
cpu0/cpuidle/state0/residency:100
cpu0/cpuidle/state0/disable:1
cpu0/cpuidle/state0/default_status:disabled
";
    let platform = parse("a", text).unwrap().platform("x").unwrap();
    let state = platform.states_of(CpuId(0)).unwrap().as_slice()[0];
    assert_eq!(state.availability, Availability::DisabledByDriver);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    assert_eq!(
        error("cpu0/cpuidle/state0/usage:1\n\ncpu0/cpuidle/state1/usage:lots\n"),
        "paste.txt:3: `usage`: expected a whole number, found `lots`"
    );
    assert_eq!(
        error("cpu0/cpuidle/state0/usage:1\ncpu0/cpuidle/state0/usage:9\n"),
        "paste.txt:2: `usage` of cpu0 state 0 was already given in line 1; a dump holds one \
         moment, keep before and after in two files"
    );
    assert_eq!(
        error("./state0/name:POLL\n"),
        "paste.txt:1: the path `./state0/name` does not say which CPU it is of; expected \
         …/cpuN/cpuidle/stateN/…, so run grep from /sys/devices/system/cpu"
    );
    assert!(error("cpu0/cpuidle/state10/usage:1\n").contains("is no number of a CPU"));
    assert!(error("hello\n").contains("no idle counters found"));
    assert!(error("").contains("no idle counters found"));
}

#[test]
fn bare_values_that_break_off_or_go_astray_are_told() {
    let whole = bare(&["0"], &[]);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(
        error(&lines[..15].join("\n")),
        "paste.txt:15: expected a text (`desc`, value 4 of the 12 of each state), found the end \
         of the file"
    );
    let mut astray = lines.clone();
    astray[16] = "C1";
    assert_eq!(
        error(&astray.join("\n")),
        "paste.txt:17: expected 0 or 1 (`disable`, value 5 of the 12 of each state), found `C1`"
    );
    let mut text = String::new();
    for state in 0..11 {
        text.push_str(&format!("0\n0\nenabled\nD\n0\n1\nC{state}\n0\n0\n1\n0\n0\n"));
    }
    assert_eq!(
        error(&text),
        "paste.txt:121: an eleventh state follows without `C0` having come again, with which each \
         CPU begins; are lines missing?"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        let _ = parse("a", &text);
    }

    #[test]
    fn no_lines_like_a_dumps_panic(
        lines in proptest::collection::vec(
            prop_oneof![
                "(> )?(/sys/|rw\\|)?cpu[0-9]{0,6}/cpuidle/state[0-9]{0,3}/[a-z_]{0,9}[:| ]?[a-z0-9]{0,21}",
                "[0-9]{0,21}",
                "enabled|disabled|POLL|C1|0|1",
                "(rw|ro)\\|cpu[01]/cpuidle/state[01]/(name|usage|latency|disable)\\|[0-9a-z]{0,4}",
            ],
            0..40,
        )
    ) {
        if let Ok(dump) = parse("a", &lines.join("\n")) {
            let _ = dump.platform("x");
        }
    }

    #[test]
    fn no_bare_dump_with_a_line_changed_or_missing_panics(
        line in 0usize..48,
        value in "[0-9]{0,3}|enabled|C6",
        cut in any::<bool>(),
    ) {
        let text = bare(&["0", "1"], &[]);
        let mut lines: Vec<&str> = text.lines().collect();
        if cut { lines.remove(line); } else { lines[line] = &value; }
        if let Ok(dump) = parse("a", &lines.join("\n")) {
            let _ = dump.platform("x");
        }
    }
}
