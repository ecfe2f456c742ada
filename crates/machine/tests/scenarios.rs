// SPDX-License-Identifier: GPL-2.0-or-later
//! What a scenario's author is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use idlelab_machine::Operation;
use idlelab_machine::scenario::{Changes, read};

const PIPE: &str = r#"name = "mine"
description = "two tasks"
platform = "i7-2600k"
tick_hz = 250
seconds = 1

[parameters]
work_us = 2

[[task]]
name = "ping"
cpus = "0"
program = [{ compute = { us = "work_us" } }, { post = "there" }, { wait = "back" }, "mark"]

[[task]]
name = "pong"
cpus = "1"
program = [{ wait = "there" }, { post = "back" }]
"#;

/// The message for a scenario in which something was replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(PIPE.contains(from));
    read("my.toml", &PIPE.replacen(from, to, 1), &Changes::default()).unwrap_err().to_string()
}

#[test]
fn parameters_stand_for_numbers_and_can_be_set() {
    let changes = Changes { parameters: vec![("work_us".into(), 7.5)], ..Changes::default() };
    let compute =
        |changes: &Changes| match read("my.toml", PIPE, changes).unwrap().tasks[0].program[0] {
            Operation::Compute(duration) => duration,
            other => panic!("{other:?}"),
        };
    assert_eq!(compute(&Changes::default()), idlelab_machine::Duration::Fixed(2_000));
    assert_eq!(compute(&changes), idlelab_machine::Duration::Fixed(7_500));
    let changes = Changes { parameters: vec![("wok_us".into(), 1.0)], ..Changes::default() };
    let error = read("my.toml", PIPE, &changes).unwrap_err().to_string();
    assert_eq!(error, "my.toml: parameters: there is no parameter `wok_us`; there are work_us");
}

#[test]
fn messages_name_the_file_and_the_place() {
    for (from, to, message) in [
        ("seconds = 1", "second = 1", "my.toml:5: unknown field `second`"),
        (
            "\"i7-2600k\"",
            "\"i7-2600\"",
            "my.toml: platform: no built-in platform is called \"i7-2600\"; did you mean i7-2600k?",
        ),
        ("seconds = 1", "seconds = 0", "my.toml: seconds: expected above 0, up to 86400"),
        ("seconds = 1", "seconds = nan", "my.toml: seconds: expected above 0, up to 86400"),
        (
            "\"work_us\" } }",
            "\"works\" } }",
            "my.toml: task[0].program[0]: \"works\" is no parameter; it stands under [parameters]",
        ),
        (
            "work_us = 2",
            "work_us = -2",
            "my.toml: task[0].program[0]: expected 0 to 3600000000 microseconds, found -2",
        ),
        (
            "{ us = \"work_us\" }",
            "{ us = 1, sigma = 2 }",
            "my.toml: task[0].program[0]: expected one of",
        ),
        (
            "cpus = \"1\"",
            "cpus = \"9\"",
            "my.toml: task[1].cpus: there is no cpu9 in this scenario",
        ),
        (
            "cpus = \"1\"",
            "cpus = \"1\"\ncopies = 100000000000",
            "my.toml: task[1].cpus: more than 10000 tasks in all",
        ),
        (
            "{ wait = \"there\" }",
            "{ wait = \"their\" }",
            "my.toml: task: nothing waits for channel \"there\"",
        ),
        (
            "{ wait = \"there\" }",
            "{ read = \"disk\" }",
            "my.toml: task[1].program[0]: no [[device]] is called \"disk\"",
        ),
        (
            "tick_hz = 250",
            "tick_hz = 5",
            "my.toml: tick_hz: 5 is no tick rate; expected 24 to 1200",
        ),
        (
            "seconds = 1",
            "seconds = 1\nkernel = { tick_ns = 3000000 }",
            "my.toml: kernel.tick_ns: a tick takes more than half of itself",
        ),
        (
            "seconds = 1",
            "seconds = 1\nkernel = { idle_entry_ns = 0 }",
            "my.toml: kernel.idle_entry_ns: expected at least 1",
        ),
        (
            "seconds = 1",
            "seconds = 1\ndisable = [\"C9\"]",
            "my.toml: disable[0]: platform i7-2600k has no state \"C9\"",
        ),
        (
            "[{ wait = \"there\" }, { post = \"back\" }]",
            "[\"mark\"]",
            "my.toml: task[1].program: expected something that takes time",
        ),
    ] {
        let found = refusal(from, to);
        assert!(found.starts_with(message), "{found:?} is not {message:?}");
    }
}
