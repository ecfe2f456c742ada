// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_outcome::count::{Snapshot, between};
use idlelab_platform::dump;

use super::*;

/// A state's name, usage, microseconds, above and below.
type State<'a> = (&'a str, [u64; 4]);
/// CPUs and their states by number.
type Counters<'a> = &'a [(u32, &'a [State<'a>])];

fn snapshot(cpus: Counters<'_>, misses: bool) -> Snapshot {
    let mut text = String::new();
    for (cpu, states) in cpus {
        for (index, (name, [usage, time, above, below])) in states.iter().enumerate() {
            let path = format!("cpu{cpu}/cpuidle/state{index}");
            text += &format!(
                "{path}/name:{name}\n{path}/usage:{usage}\n{path}/time:{time}\n\
                 {path}/latency:{index}\n{path}/residency:{index}\n"
            );
            if misses {
                text += &format!("{path}/above:{above}\n{path}/below:{below}\n");
            }
        }
    }
    Snapshot { governor: None, cpus: dump::parse("test", &text).unwrap().cpus }
}

fn zero<'a>(states: &[State<'a>]) -> Vec<State<'a>> {
    states.iter().map(|&(name, _)| (name, [0; 4])).collect()
}

fn counted(cpus: Counters<'_>, misses: bool, window: Option<Nanoseconds>) -> Count {
    let start: Vec<(u32, Vec<State<'_>>)> =
        cpus.iter().map(|&(cpu, states)| (cpu, zero(states))).collect();
    let start: Vec<(u32, &[State<'_>])> =
        start.iter().map(|(cpu, states)| (*cpu, states.as_slice())).collect();
    between(&snapshot(&start, misses), &snapshot(cpus, misses), window).unwrap()
}

fn named<'a>(label: &'a str, count: &'a Count) -> Counted<'a> {
    Counted { label, before: Some("a.before"), after: "a.after", count }
}

#[test]
fn a_pair_is_a_table_of_states() {
    // 8 us of 20 us idle are 40 %, 2 us a time; 1 of 4 is 25 %; 20 us in 100 us are 20 %.
    let states = [("C1", [4, 8, 0, 1]), ("C6", [2, 12, 1, 0])];
    let count = counted(&[(0, &states)], true, Some(Nanoseconds::new(100_000)));
    let expected = "\
before      a.before
after       a.after
window      0.0001 s
states      cpu0: C1 0/0, C6 1/1 us (exit latency/target residency)

All CPUs

state  usage  time s  share%  window%  mean us  above  below  misses  above%  below%
C1         4   0.000   40.00     8.00      2.0      0      1       1    0.00   25.00
C6         2   0.000   60.00    12.00      6.0      1      0       1   50.00    0.00
total      6   0.000  100.00    20.00      3.3      1      1       2   16.67   16.67

Misses: 2 of 6 idle periods, 33.33 % (1 above, 1 below)
";
    assert_eq!(count_text(&[named("a", &count)], Cpus::Sum), expected);
}

#[test]
fn several_pairs_stand_side_by_side_with_the_change() {
    // The second machine's driver has another second state, and no entry of the first is a miss.
    let one = counted(&[(0, &[("C1", [4, 8, 0, 1]), ("C6", [2, 12, 1, 0])])], true, None);
    let two = counted(&[(0, &[("C1", [5, 8, 0, 0]), ("C8", [1, 2, 0, 0])])], true, None);
    let text = count_text(&[named("menu", &one), named("teo", &two)], Cpus::Sum);
    let table = text.split_once("points)\n\n").unwrap().1;
    let line = |number: usize| table.lines().nth(number).unwrap().split_whitespace();
    assert!(line(0).eq(["state", "menu", "teo", "change"]));
    assert!(line(1).eq(["C1"]));
    assert!(line(2).eq(["usage", "4", "5", "+25.00%"]));
    assert!(line(4).eq(["share%", "40.00", "80.00", "+40.00", "pp"]));
    assert!(line(7).eq(["below", "1", "0", "-100.00%"]));
    assert!(line(6).eq(["above", "0", "0", "+0.00%"]));
    assert!(table.contains("\nC6\n") && table.contains("\nC8\n"));
    let total = table.find("\ntotal\n").unwrap();
    assert!(total > table.find("\nC8\n").unwrap(), "the total is last:\n{table}");
    assert!(!text.contains("compare shares"), "{text}");
}

#[test]
fn growth_from_nothing_has_no_per_cent() {
    assert_eq!(Value::Count(Some(3)).change_from(Value::Count(Some(0))), "-");
    assert_eq!(Value::Count(Some(0)).change_from(Value::Count(Some(0))), "+0.00%");
    assert_eq!(Value::Count(None).change_from(Value::Count(Some(2))), "-");
    assert_eq!(Value::PerCent(Some(0.5)).change_from(Value::PerCent(Some(0.0))), "+0.50 pp");
}

#[test]
fn pairs_of_other_cpus_or_windows_are_told() {
    let states = [("C1", [4, 8, 0, 1])];
    let one = counted(&[(0, &states), (1, &states)], true, None);
    let two = counted(&[(0, &states)], true, Some(Nanoseconds::new(100_000)));
    let text = count_text(&[named("a", &one), named("b", &two)], Cpus::Sum);
    assert_eq!(text.matches("compare shares, not sums").count(), 2, "{text}");
}

#[test]
fn what_the_kernel_does_not_count_is_a_dash() {
    let count = counted(&[(0, &[("C1", [4, 8, 0, 1])])], false, None);
    let text = count_text(&[named("a", &count)], Cpus::Sum);
    assert!(
        text.contains(
            "C1         4   0.000  100.00      2.0      -      -       -       -       -"
        )
    );
    assert!(text.contains("Misses: not known"), "{text}");
    let row = &count_rows(&[named("a", &count)], Cpus::Sum)[0];
    assert_eq!((row.misses, row.above_percent, row.rejected), (None, None, None));
}

#[test]
fn each_cpu_is_shown_where_asked_for() {
    let count = counted(&[(10, &[("C1", [4, 8, 0, 1])]), (2, &[("C1", [1, 2, 0, 0])])], true, None);
    let text = count_text(&[named("a", &count)], Cpus::Each);
    assert!(text.find("\ncpu2\n").unwrap() < text.find("\ncpu10\n").unwrap());
    let rows = count_rows(&[named("a", &count)], Cpus::Each);
    let of = |cpu: &str| rows.iter().filter(|row| row.cpu == cpu).map(|row| row.usage).max();
    assert_eq!((of("all"), of("2"), of("10")), (Some(5), Some(1), Some(4)));
    assert_eq!(count_rows(&[named("a", &count)], Cpus::Sum).len(), 2);
}

#[test]
fn kinds_of_cpus_are_shown_apart() {
    let (little, big) = ([("off-l", [4, 8, 0, 1])], [("off-b", [1, 2, 0, 0])]);
    let count = counted(&[(0, &little), (1, &little), (2, &big)], true, None);
    let text = count_text(&[named("a", &count)], Cpus::Sum);
    let after = |title: &str| text.split_once(title).unwrap().1.lines().nth(2).unwrap();
    assert!(after("All CPUs\n").starts_with("off-l/off-b      9"), "{text}");
    assert!(after("\ncpu0-1\n").starts_with("off-l      8"), "{text}");
    assert!(after("\ncpu2\n").starts_with("off-b      1"), "{text}");
}

#[test]
fn everything_stays_within_the_width_of_a_mail() {
    let names: Vec<String> = (0..10).map(|index| format!("state-number-{index:02}")).collect();
    let huge: Vec<State<'_>> = names
        .iter()
        .map(|name| (name.as_str(), [u64::MAX / 11, u64::MAX / 11_000, 1 << 59, 1 << 59]))
        .collect();
    let other: Vec<State<'_>> = names.iter().map(|name| (&name[1..], [1, 1, 0, 0])).collect();
    let cpus: Vec<(u32, &[State<'_>])> =
        (0..40).map(|cpu| (cpu * 2, if cpu == 7 { &other[..] } else { &huge[..] })).collect();
    let count = counted(&cpus, true, Some(Nanoseconds::new(1)));
    let long = "x".repeat(150);
    let one = Counted { label: &long, before: Some(&long), after: &long, count: &count };
    for counted in [&[one][..], &[one; 7]] {
        let text = count_text(counted, Cpus::Each);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(text.contains("state-number-09"));
    }
}
