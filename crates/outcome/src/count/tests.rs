// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_platform::dump;
use proptest::prelude::*;

use super::*;

/// A snapshot from lines such as `0 1 usage 5`: CPU, state, attribute, value.
fn snapshot(lines: &str) -> Snapshot {
    let text: String = lines
        .lines()
        .map(|line| {
            let [cpu, state, attribute, value] =
                line.splitn(4, ' ').collect::<Vec<_>>().try_into().unwrap();
            format!("cpu{cpu}/cpuidle/state{state}/{attribute}:{value}\n")
        })
        .collect();
    let dump = dump::parse("snapshot", &text).unwrap();
    Snapshot { governor: dump.governor, cpus: dump.cpus }
}

/// One state of one CPU with all counters.
fn state(cpu: u32, state: u32, name: &str, counters: [u64; 5]) -> String {
    let names = ["usage", "time", "above", "below", "rejected"];
    let counters: String = names
        .iter()
        .zip(counters)
        .map(|(counter, value)| format!("\n{cpu} {state} {counter} {value}"))
        .collect();
    format!("{cpu} {state} name {name}{counters}\n")
}

fn texts(count: &Count) -> Vec<String> {
    count.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn differences_add_up_over_cpus_by_ascending_number() {
    let before = state(10, 0, "C1", [7, 70, 1, 2, 0]) + &state(2, 0, "C1", [100, 5, 0, 0, 0]);
    let after = state(2, 0, "C1", [104, 1_005, 1, 3, 0]) + &state(10, 0, "C1", [9, 90, 1, 2, 0]);
    let count = between(&snapshot(&before), &snapshot(&after), None).unwrap();
    assert_eq!(count.findings, []);
    assert_eq!(count.outcome.per_cpu.iter().map(|cpu| cpu.cpu).collect::<Vec<_>>(), [2, 10]);
    assert_eq!(
        count.outcome.states,
        [StateOutcome {
            name: "C1".to_owned(),
            usage: 6,           // 4 and 2
            time_ns: 1_020_000, // 1000 us and 20 us
            above: Some(1),
            below: Some(3),
            rejected: Some(0),
        }]
    );
    assert_eq!((count.outcome.idles, count.outcome.misses), (Some(6), Some(4)));
    assert_eq!(count.outcome.bench, Bench::Count);
    assert_eq!((count.outcome.ticks, count.outcome.sleep_length_queries), (None, None));
}

#[test]
fn an_old_kernel_does_not_count_misses() {
    let count =
        between(&snapshot("0 0 usage 1\n0 0 time 10"), &snapshot("0 0 usage 3\n0 0 time 50"), None);
    let outcome = count.unwrap().outcome;
    assert_eq!((outcome.idles, outcome.misses, outcome.above), (Some(2), None, None));
    assert_eq!(outcome.states[0].name, "state0", "there is no name file");
}

#[test]
fn a_cpu_whose_counter_fell_is_left_out_whole() {
    let cpu = |cpu, shallow: u64, deep: u64| {
        state(cpu, 0, "WFI", [shallow, shallow, 0, 0, 0])
            + &state(cpu, 1, "off", [deep, deep, 0, 0, 0])
    };
    let before = cpu(0, 10, 10) + &cpu(1, 10, 93) + &cpu(2, 10, 40);
    // State 0 of cpu1 rose past its old value after the restart: only state 1 gives it away.
    let after = cpu(0, 11, 12) + &cpu(1, 99, 4) + &cpu(2, 3, 41);
    let count = between(&snapshot(&before), &snapshot(&after), None).unwrap();
    assert_eq!(count.outcome.states.iter().map(|s| s.usage).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(
        texts(&count),
        ["cpu1-2: left out: counters fell (usage of state 1 from 93 to 4 on cpu1), as when the \
          CPU was offline or the machine restarted in between"]
    );
}

#[test]
fn if_every_cpu_fell_the_order_may_be_wrong() {
    let (low, high) = (state(0, 0, "C1", [1, 1, 0, 0, 0]), state(0, 0, "C1", [2, 1, 0, 0, 0]));
    let error = between(&snapshot(&high), &snapshot(&low), None).unwrap_err();
    assert_eq!(error, CountError::EveryCpuFell);
    assert!(error.to_string().contains("wrong order"));
}

#[test]
fn cpus_and_states_in_one_snapshot_only_are_left_out_by_name() {
    let c1 = |cpu| state(cpu, 0, "C1", [1, 1, 0, 0, 0]);
    let c6 = |cpu| state(cpu, 1, "C6", [1, 1, 0, 0, 0]);
    let before = c1(0) + &c1(1) + &c1(2) + &c1(4) + &c6(4);
    let after = c1(0) + &c1(3) + &c1(2).replace("C1", "C1E") + &c1(4);
    let count = between(&snapshot(&before), &snapshot(&after), None).unwrap();
    assert_eq!(count.outcome.per_cpu.len(), 1);
    assert_eq!(
        texts(&count)[1..],
        [
            "cpu1: left out: only in the snapshot before; offline in the other, or that one is \
             incomplete",
            "cpu2: left out: state 0 is C1 before and C1E after; counters of different states \
             have no difference",
            "cpu3: left out: only in the snapshot after; offline in the other, or that one is \
             incomplete",
            "cpu4: left out: state 1 is only in the snapshot before; the driver changed, or the \
             other is incomplete",
        ]
    );
    let nothing = between(&snapshot(&c1(0)), &snapshot(&c1(1)), None).unwrap_err();
    assert!(nothing.to_string().starts_with("no CPU can be counted:\n  cpu0: left out: only in"));
}

#[test]
fn what_differs_between_cpus_is_not_said_in_one_sentence() {
    let (c1, c6) = (|cpu| state(cpu, 0, "C1", [1; 5]), |cpu| state(cpu, 1, "C6", [1; 5]));
    let before = c1(0) + &c1(1) + &c6(1) + &c1(2) + &c1(3);
    let after = c1(0) + &c1(1) + &c1(2) + &c6(2) + &c1(3) + &c6(3);
    let count = between(&snapshot(&before), &snapshot(&after), None).unwrap();
    let found: Vec<_> =
        count.findings[1..].iter().map(|f| (f.cpus.to_string(), f.kind.clone())).collect();
    let state = StateIndex::new(1).unwrap();
    let only = |side| FindingKind::StateInOneSnapshotOnly { state, side };
    assert_eq!(
        found,
        [("1".to_owned(), only(Side::Before)), ("2-3".to_owned(), only(Side::After))]
    );
}

#[test]
fn without_usage_or_time_there_is_nothing_to_say() {
    let error =
        between(&snapshot("3 0 usage 1"), &snapshot("3 0 usage 2"), None).unwrap_err().to_string();
    assert_eq!(
        error,
        "no CPU can be counted:\n  cpu3: left out: the snapshot before has no time of state 0; \
         take all files of the folder"
    );
}

#[test]
fn no_state_may_be_missing_among_the_others() {
    let deep = state(0, 2, "C6", [1; 5]);
    let gap = snapshot(&(state(0, 0, "C1", [1; 5]) + &deep));
    let error = between(&gap, &gap, None).unwrap_err().to_string();
    assert!(error.contains("has no usage of state 1; take all files"), "{error}");
    assert!(since_start(&snapshot(&deep)).is_err());
}

/// A driver refused a state more than 40 million times in minutes, and the governor was blamed.
#[test]
fn b30_a_state_that_the_driver_refuses_is_no_fault_of_the_governor() {
    let cpu = |cpu, rejected| {
        state(cpu, 0, "WFI", [rejected, rejected, 0, 0, 0])
            + &state(cpu, 1, "cpu-off", [0, 0, 0, 0, rejected])
    };
    let before = snapshot(&(cpu(0, 0) + &cpu(1, 17)));
    let after = snapshot(&(cpu(0, 600_117) + &cpu(1, 854_522)));
    let count = between(&before, &after, None).unwrap();
    assert_eq!(
        texts(&count),
        ["cpu0-1: cpu-off was refused by the driver 1454622 times and never entered: a fault of \
          driver, firmware or state description, not of the governor"]
    );
    assert!(count.is_sound());
    // Refused at times and entered at others is normal.
    let entered = cpu(0, 600_117).replace("0 1 usage 0", "0 1 usage 1");
    let count = between(&snapshot(&cpu(0, 0)), &snapshot(&entered), None).unwrap();
    assert_eq!(count.findings, []);
}

#[test]
fn more_idle_time_than_time_is_a_sleep_that_began_before() {
    let at = |time| snapshot(&state(1, 0, "C1", [time, time * 1_000_000, 0, 0, 0]));
    // 30.237 s of idle in 30 s: 100.79 %.
    let after = snapshot(&state(1, 0, "C1", [31, 31_237_000, 0, 0, 0]));
    let count = between(&at(1), &after, Some(Nanoseconds::new(30_000_000_000))).unwrap();
    assert_eq!(
        texts(&count),
        ["cpu1: idle for 100.79 % of the time: a sleep is counted whole when it ends, even if it \
          began before. Wake every CPU before each snapshot (or were they further apart?)"]
    );
    assert!(count.is_sound());
    let exact = between(&at(1), &at(31), Some(Nanoseconds::new(30_000_000_000))).unwrap();
    assert_eq!(exact.findings, []);
}

#[test]
fn a_cpu_that_slept_through_is_told_and_not_observed() {
    let asleep = state(1, 0, "C1", [5, 5, 0, 0, 0]);
    let before = snapshot(&(state(0, 0, "C1", [0, 0, 0, 0, 0]) + &asleep));
    let after = snapshot(&(state(0, 0, "C1", [1, 9, 0, 0, 0]) + &asleep));
    let count = between(&before, &after, Some(Nanoseconds::new(1_000_000))).unwrap();
    assert_eq!(count.findings.len(), 1);
    assert!(texts(&count)[0].starts_with("cpu1: no counter moved"));
    assert_eq!(count.observed_ns(&count.outcome), Some(1_000_000), "cpu0's window alone");
}

#[test]
fn more_misses_than_entries_are_impossible() {
    let before = snapshot(&state(0, 0, "C1", [5, 5, 0, 0, 0]));
    let after = snapshot(&state(0, 0, "C1", [7, 5, 2, 1, 0]));
    let count = between(&before, &after, None).unwrap();
    assert!(!count.is_sound());
    assert!(texts(&count)[0].contains("C1 has more misses than entries (3 and 2)"));
    let as_many = snapshot(&state(0, 0, "C1", [8, 5, 2, 1, 0]));
    assert!(between(&before, &as_many, None).unwrap().is_sound());
}

#[test]
fn changes_of_what_is_counted_are_told() {
    let with = |latency: u32, disable: u32, usage| {
        let extra = format!("0 0 latency {latency}\n0 0 residency 20\n0 0 disable {disable}");
        snapshot(&(state(0, 0, "C1", [usage, usage, 0, 0, 0]) + &extra))
    };
    let mut before = with(10, 0, 1);
    let mut after = with(12, 1, 2);
    before.governor = Some("menu".to_owned());
    after.governor = Some("teo".to_owned());
    let count = between(&before, &after, None).unwrap();
    assert_eq!(
        texts(&count),
        [
            "the governor was menu before and is teo after; the figures are of both",
            "cpu0: C1 changed from 10/20 to 12/20 us (exit latency/target residency), so above \
             and below do not mean the same throughout",
            "cpu0: C1 was disabled in between; the figures are of both settings",
        ]
    );
    assert_eq!(count.outcome.governor, None);
    before.governor = None;
    assert_eq!(between(&before, &after, None).unwrap().outcome.governor.as_deref(), Some("teo"));
}

#[test]
fn one_snapshot_is_counted_from_when_the_cpus_came_up() {
    let now = snapshot(&state(0, 0, "C1", [7, 5, 2, 1, 3]));
    let outcome = since_start(&now).unwrap().outcome;
    assert_eq!((outcome.idles, outcome.idle_ns(), outcome.misses), (Some(7), 5_000, Some(3)));
    assert_eq!(outcome.states[0].rejected, Some(3));
}

#[test]
fn tables_are_kept_by_kind_of_cpu() {
    let cpu = |cpu, name, residency: u64| {
        let extra = format!("{cpu} 0 latency 1\n{cpu} 0 residency {residency}\n");
        state(cpu, 0, name, [1, 1, 0, 0, 0]) + &extra
    };
    // The residency of a suspend state is the largest that the kernel has.
    let all = cpu(0, "off-l", 6_710) + &cpu(7, "s2idle", 4_294_967_295) + &cpu(1, "off-l", 6_710);
    let count = since_start(&snapshot(&all)).unwrap();
    let cpus: Vec<String> = count.tables.iter().map(|table| table.cpus.to_string()).collect();
    assert_eq!(cpus, ["0-1", "7"]);
    let longest = count.tables[1].states[0].target_residency;
    assert_eq!(longest, Some(Nanoseconds::new(4_294_967_295_000)));
    assert_eq!(count.outcome.states[0].name, "off-l/s2idle");
    let part = count.part(&count.tables[0].cpus);
    assert_eq!((part.states[0].name.as_str(), part.idles), ("off-l", Some(2)));
}

proptest! {
    /// Whatever the files say, the parts add up to the whole, and no CPU is lost without a word.
    #[test]
    fn no_counters_panic(
        counters in proptest::collection::vec(
            (0u32..4, 0u32..3, any::<[u64; 5]>(), any::<[u64; 5]>(), 0u8..4), 1..12,
        )
    ) {
        let mut seen = BTreeSet::new();
        let (mut before, mut after) = (String::new(), String::new());
        for (cpu, index, one, other, sides) in counters {
            // Of a kernel's own snapshots, counters rise.
            let other = if sides == 3 { std::array::from_fn(|i| one[i].max(other[i])) } else { other };
            if seen.insert((cpu, index)) {
                if sides != 1 {
                    before.push_str(&state(cpu, index, "C", one));
                }
                if sides != 2 {
                    after.push_str(&state(cpu, index, "C", other));
                }
            }
        }
        prop_assume!(!before.is_empty() && !after.is_empty());
        let (before, after) = (snapshot(&before), snapshot(&after));
        if let Ok(count) = between(&before, &after, Some(Nanoseconds::new(1))) {
            let counted: CpuList = count.outcome.per_cpu.iter().map(|cpu| CpuId(cpu.cpu)).collect();
            let said = count.findings.iter().fold(counted, |all, f| all.union(&f.cpus));
            for cpu in before.cpus.iter().chain(&after.cpus) {
                prop_assert!(said.contains(cpu.cpu));
            }
            let sum = count.outcome.per_cpu.iter().flat_map(|cpu| &cpu.states);
            prop_assert_eq!(
                sum.fold(0u64, |sum, state| sum.saturating_add(state.usage)),
                count.outcome.idles.unwrap_or_default()
            );
        }
    }
}
