// SPDX-License-Identifier: GPL-2.0-or-later
use proptest::prelude::*;

use super::*;
use crate::embedded;

const HEAD: &str = "name = 'm'\nsource = 's'\n";

fn one_table(states: &str) -> String {
    format!("{HEAD}[[table]]\nstate = [\n{states}\n]\n")
}

fn read(text: &str) -> Result<(Platform, Vec<Warning>), PlatformError> {
    Platform::from_toml("my.toml", text)
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn warnings(text: &str) -> Vec<String> {
    read(text).unwrap().1.iter().map(ToString::to_string).collect()
}

fn with_power(power: &str) -> String {
    let states = "{ name = 'POLL', flags = ['polling'] },\n\
                  { name = 'C1', exit_latency_us = 2, target_residency_us = 2 },\n\
                  { name = 'C6', exit_latency_us = 133, target_residency_us = 600 },";
    format!("{}[power]\nper = 'cpu'\n{power}", one_table(states))
}

fn figure(section: &str, keys: &str) -> String {
    format!("[[power.{section}]]\n{keys}\nkind = 'table'\nsource = 'x'\n")
}

#[test]
fn b29_the_longest_times_are_exact() {
    let text =
        one_table("{ name = 'a', exit_latency_us = 2147484, target_residency_us = 4294967295 },");
    let (platform, found) = read(&text).unwrap();
    let state = platform.tables()[0].states.as_slice()[0];
    assert_eq!(state.exit_latency, Nanoseconds::new(2_147_484_000));
    assert_eq!(state.target_residency, Nanoseconds::new(4_294_967_295_000));
    assert_eq!(found, []);
}

#[test]
fn times_that_no_kernel_holds_are_errors() {
    let expected = "expected whole microseconds from 0 to 4294967295 (the kernel keeps them in 32 \
                    bits), found";
    for (value, found) in [
        ("4294967296", "4294967296"),
        ("99999999999999999999999", "99999999999999999999999"),
        ("9223372036854775807", "9223372036854775807"),
        ("-1", "-1"),
        ("1.5", "1.5"),
        ("'9'", "\"9\""),
    ] {
        let text = one_table(&format!(
            "{{ name = 'a', exit_latency_us = {value}, target_residency_us = 1 }},"
        ));
        assert_eq!(
            error(&text),
            format!("my.toml:5:33: table.state.exit_latency_us: {expected} {found}")
        );
    }
}

#[test]
fn errors_name_file_line_and_path() {
    let state = "{ name = 'a', exit_latency_us = 1, target_residency_us = 1 },\n";
    let wrong = "{ name = 'b', exit_latency_us = 'x', target_residency_us = 1 },\n";
    let text = one_table(&format!("{state}{state}{wrong}"));
    assert!(error(&text).starts_with("my.toml:7:33: table.state[2].exit_latency_us: expected"));
    let missing = one_table("{ name = 'a', exit_latency_us = 1 },");
    assert_eq!(
        error(&missing),
        "my.toml:5:1: table.state.target_residency_us: missing; expected whole microseconds"
    );
    assert_eq!(
        error("name = 'm'"),
        "my.toml:1:1: source: missing; expected where the numbers are from, in words between quotes"
    );
    assert!(error("name = ").starts_with("my.toml:1:8: not valid TOML: "));
}

#[test]
fn unknown_keys_are_errors_that_name_the_nearest() {
    let text = one_table("{ name = 'a', exit_latency = 1, target_residency_us = 1 },");
    assert_eq!(
        error(&text),
        "my.toml:5:15: table.state.exit_latency: unknown key; did you mean `exit_latency_us`? \
         Known here: name, exit_latency_us, target_residency_us, flags, disabled, observed"
    );
    let text = with_power(&figure("state", "name = 'C1'\nwatt = 1"));
    assert!(error(&text).contains("power.state.watt: unknown key; did you mean `watts`?"));
}

#[test]
fn a_table_has_one_to_ten_states() {
    assert_eq!(
        error(&one_table("")),
        "my.toml:4:9: table.state: expected 1 to 10 idle states, found 0; split or shorten the \
         table"
    );
    let state = "{ name = 'a', exit_latency_us = 1, target_residency_us = 1 },\n";
    assert!(read(&one_table(&state.repeat(10))).is_ok());
    assert!(error(&one_table(&state.repeat(11))).contains("found 11"));
}

#[test]
fn b29_odd_tables_are_warned_of_at_their_line() {
    let text = one_table(
        "{ name = 'C1', exit_latency_us = 1, target_residency_us = 1 },\n\
         { name = 'C6N', exit_latency_us = 300, target_residency_us = 275 },",
    );
    assert_eq!(
        warnings(&text),
        ["my.toml:6:35: table.state[1].exit_latency_us: the exit latency of 300 us is above the \
             target residency of 275 us; governors assume the opposite"]
    );
    let text = one_table(
        "{ name = 'a', exit_latency_us = 9, target_residency_us = 90 },\n\
         { name = 'b', exit_latency_us = 8, target_residency_us = 80, flags = ['polling'] },",
    );
    let keys: Vec<_> = read(&text).unwrap().1.into_iter().map(|warning| warning.key).collect();
    assert_eq!(
        keys,
        [
            "table.state[1].exit_latency_us",
            "table.state[1].target_residency_us",
            "table.state[1].flags"
        ]
    );
}

#[test]
fn flags_and_switches_are_read() {
    let text = one_table(
        "{ name = 'POLL', flags = ['polling'] },\n\
         { name = 'a', exit_latency_us = 1, target_residency_us = 1, flags = ['timer-stop'] },\n\
         { name = 'b', exit_latency_us = 1, target_residency_us = 1, disabled = 'driver' },\n\
         { name = 'c', exit_latency_us = 1, target_residency_us = 1, disabled = true },\n\
         { name = 'd', exit_latency_us = 1, target_residency_us = 1, disabled = false },",
    );
    let (platform, _) = read(&text).unwrap();
    let states = platform.tables()[0].states.as_slice();
    assert!(states[0].is_polling());
    assert_eq!(states[1].local_timer, LocalTimer::Stops);
    let availability: Vec<_> = states.iter().map(|state| state.availability).collect();
    assert_eq!(
        availability[1..],
        [
            Availability::Enabled,
            Availability::DisabledByDriver,
            Availability::DisabledByUser,
            Availability::Enabled
        ]
    );
    let text =
        one_table("{ name = 'a', exit_latency_us = 1, target_residency_us = 1, disabled = 'me' },");
    assert!(
        error(&text).ends_with("expected true (by the user), \"driver\" or false, found \"me\"")
    );
}

#[test]
fn a_cpu_has_one_table() {
    let table = |name: &str, cpus: &str| {
        format!(
            "[[table]]\nname = '{name}'\n{cpus}\nstate = [{{ name = 'WFI', exit_latency_us = 1, \
             target_residency_us = 1 }}]\n"
        )
    };
    let both = |a: &str, b: &str| format!("{HEAD}{}{}", table("little", a), table("big", b));
    assert_eq!(
        error(&both("cpus = '0-4'", "cpus = '4-7'")),
        "my.toml:9:8: table[1].cpus: cpu4 already has the table `little`; a CPU has one table of \
         idle states"
    );
    assert_eq!(
        error(&both("cpus = '0-4'", "")),
        "my.toml:7:1: table[1].cpus: missing; with 2 tables each must say which CPUs it is for, \
         such as cpus = \"0-3\""
    );
    assert!(error(&both("cpus = '0-x'", "")).contains("table[0].cpus: expected CPU numbers"));
    let twins = format!("{HEAD}{}{}", table("a", "cpus = '0'"), table("a", "cpus = '1'"));
    assert!(error(&twins).contains("table[1].name: table[0] is already called that"));
}

#[test]
fn ticks_that_no_kernel_has_are_errors() {
    for tick in ["0", "-1", "1201", "4294967296", "'250'"] {
        let text = format!("tick_hz = {tick}\n{}", one_table(""));
        let text = text.replace("[\n\n]", "[{ name = 'POLL', flags = ['polling'] }]");
        assert!(error(&text).starts_with("my.toml:1:11: tick_hz: expected a whole tick rate"));
    }
}

#[test]
fn the_topology_must_hold_together() {
    let text = format!(
        "{}[topology]\npackages = ['0-3']\ncores = ['0-1', '1-2']\nsource = 'x'\n",
        one_table("{ name = 'POLL', flags = ['polling'] },")
    );
    assert_eq!(
        error(&text),
        "my.toml:7:1: topology: cpu1 is in two cores, cores[0] and cores[1]; leave it in one"
    );
    let text = text.replace("cores = ['0-1', '1-2']", "");
    let text = text.replace("[[table]]", "[[table]]\ncpus = '0-4'");
    assert!(error(&text).contains("table.cpus: cpu4 has idle states but is in none"));
}

#[test]
fn power_is_checked_against_the_tables() {
    let poll = figure("state", "name = 'POLL'\nwatts = 4.0");
    let text = with_power(&figure("state", "name = 'C7'\nwatts = 1"));
    assert_eq!(
        error(&text),
        "my.toml:12:8: power.state.name: no idle state is called `C7`; did you mean `C1`? Known \
         here: POLL, C1, C6"
    );
    let text = with_power(&figure("state", "name = 'C6'\nwatts = 1"));
    assert!(error(&text).contains("power: state `POLL` has no power"));
    let text = with_power(&format!("{poll}{poll}"));
    assert!(error(&text).contains("power.state[1].watts: already given for this state"));
    let text =
        with_power(&format!("{poll}{}", figure("state", "name = 'POLL'\nmhz = 5\nwatts = 1")));
    assert!(error(&text).contains("each point needs its `mhz`"));
    let text = with_power(&figure("state", "name = 'POLL'\ntable = 'al'\nwatts = 1"));
    assert!(error(&text).contains("no table is called `al`; did you mean `all`?"));
    for watts in ["-1", "nan", "inf", "'4'"] {
        let text = with_power(&figure("state", &format!("name = 'POLL'\nwatts = {watts}")));
        assert!(
            error(&text).contains("power.state.watts: expected watts, finite and not negative")
        );
    }
    let text = with_power("[[power.state]]\nname = 'POLL'\nwatts = 4\nkind = 'table'\n");
    assert!(error(&text).contains("power.state.source: missing"));
}

#[test]
fn transition_energy_is_given_or_derived() {
    let states = figure("state", "name = 'POLL'\nwatts = 4.0")
        + &figure("state", "name = 'C1'\nwatts = 1.44")
        + &figure("state", "name = 'C6'\nwatts = 0.1");
    let (platform, _) = read(&with_power(&states)).unwrap();
    let c6 = |platform: &Platform| {
        let power = platform.power_of(idlelab_states::CpuId(0)).unwrap();
        power.states.0[2].as_ref().unwrap().transition.clone()
    };
    // (4 - 1.44) W x 2 us + (1.44 - 0.1) W x 600 us
    assert!((c6(&platform).value.0 - 809.12e-6).abs() < 1e-12);
    assert_eq!(c6(&platform).kind, FigureKind::Derived);

    let given = states + &figure("transition", "name = 'C6'\njoules = 0.0005");
    let (platform, _) = read(&with_power(&given)).unwrap();
    assert_eq!(c6(&platform).value.0, 0.0005);
    assert_eq!(c6(&platform).kind, FigureKind::Table);
}

#[test]
fn power_that_rises_with_depth_is_warned_of() {
    let states = figure("state", "name = 'POLL'\nwatts = 1.0")
        + &figure("state", "name = 'C6'\nwatts = 2.0");
    assert_eq!(
        warnings(&with_power(&states)),
        ["my.toml:9:1: power: `C6` draws 2 W, more than the 1 W of `C1`, the state before it; it \
          can never save energy"]
    );
}

#[test]
fn shared_levels_go_deeper() {
    let on = "on = [{ watts = 3.0, kind = 'table', source = 'x' }]";
    let level =
        |from: &str| format!("{{ from = {from}, watts = 1.0, kind = 'table', source = 'x' }}");
    let shared = |rest: &str| with_power(&format!("[[power.shared]]\nname = 'package'\n{rest}\n"));
    let ok = shared(&format!("per = 'machine'\n{on}\nlevel = [{}]", level("'C6'")));
    let (platform, _) = read(&ok).unwrap();
    assert!(platform.power_of(idlelab_states::CpuId(0)).is_none());
    let package = &platform.power().unwrap().shared[0];
    assert_eq!((package.watts(0, 1), package.watts(1, 1)), (3.0, 1.0));

    let falling =
        shared(&format!("per = 'machine'\n{on}\nlevel = [{}, {}]", level("'C6'"), level("'C1'")));
    assert!(error(&falling).contains("level `C1` is not deeper than the one before it"));
    assert!(error(&shared(on)).contains("power.shared.per: missing"));
    assert!(error(&shared("per = 'machine'")).contains("power.shared.on: missing"));
    let both = shared(&format!("per = 'machine'\ncpus = '0'\n{on}"));
    assert!(error(&both).contains("either `per` or `cpus`, not both"));
}

#[test]
fn frequencies_are_read() {
    let text = format!(
        "{}[frequency]\nmin_mhz = 1600\nmax_mhz = [3800, 3700]\ndomain = 'package'\nsource = 'x'\n",
        one_table("{ name = 'POLL', flags = ['polling'] },")
    );
    let frequency = read(&text).unwrap().0.frequency.unwrap();
    assert_eq!((frequency.max_with(1), frequency.max_with(2)), (3800, 3700));
    assert!(error(&text.replace("[3800, 3700]", "[]")).contains("frequency.max_mhz: expected"));
}

#[test]
fn a_machine_is_never_without_a_table() {
    assert!(error(HEAD).contains("table: missing; expected at least one [[table]]"));
    assert!(error(&format!("{HEAD}table = []")).contains("table: missing"));
    assert!(error(&format!("{HEAD}table = 3")).contains("table: expected an array of tables"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).*") {
        let _ = read(&text);
    }

    #[test]
    fn no_description_with_a_piece_replaced_panics(
        which in 0usize..1_000,
        at in any::<prop::sample::Index>(),
        piece in "[\\[\\]{}=\"',.0-9a-z\n-]{0,12}",
        cut in 0usize..20,
    ) {
        let names: Vec<_> = embedded::names().collect();
        let text = embedded::text(names[which % names.len()]).unwrap();
        let start = at.index(text.len() + 1);
        let end = (start + cut).min(text.len());
        if let (Some(before), Some(after)) = (text.get(..start), text.get(end..)) {
            let _ = read(&format!("{before}{piece}{after}"));
        }
    }
}

#[test]
fn the_examples_of_the_reference_are_sound() {
    let reference = include_str!("../../FORMAT.md");
    let examples: Vec<&str> =
        reference.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        assert_eq!(Platform::from_toml("FORMAT.md", example).unwrap().1, []);
    }
}

#[test]
fn every_key_is_in_the_reference() {
    let reference = include_str!("../../FORMAT.md");
    let keys = MACHINE_KEYS
        .iter()
        .chain(&FREQUENCY_KEYS)
        .chain(&TOPOLOGY_KEYS)
        .chain(&TABLE_KEYS)
        .chain(&STATE_KEYS)
        .chain(&OBSERVED_KEYS);
    for key in keys {
        assert!(reference.contains(key), "{key}");
    }
}
