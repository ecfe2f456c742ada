// SPDX-License-Identifier: GPL-2.0-or-later
//! 20 000 generated steps on several tables, hashed, against hashes of what the kernel's own C
//! files of the named versions chose.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Cpu, POLL, line, ns, sleeping, table, without};
use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_governors::{SleepLength, Tick};
use idlelab_states::{IdleStates, Nanoseconds};

const STEPS: usize = 20_000;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

fn generate(tick_length: Nanoseconds) -> impl Iterator<Item = StepInputs> {
    let tick_length = tick_length.get().cast_unsigned();
    let mut random = Random(1);
    let mut base = 0;
    let time = |value: u64| ns(value.cast_signed());
    (0..STEPS).map(move |number| {
        if number % 64 == 0 {
            base = 1000_u64 << (random.next() % 15);
        }
        let (a, b, c, d) = (random.next(), random.next(), random.next(), random.next());
        let sleep = match a % 8 {
            0 => 1_000_000_000,
            1 => base / 2,
            _ => base + b % (4 * base),
        };
        let residency = if (a >> 16).is_multiple_of(4) {
            sleep.min(2_000_000_000) + 1500
        } else {
            base / 2 + (b >> 32) % base
        };
        StepInputs {
            sleep_length: SleepLength {
                sleep: time(sleep),
                delta_tick: time(sleep.min(c % tick_length)),
            },
            latency_limit: match d % 16 {
                0 => ns(0),
                1 => ns(5_000),
                2 => ns(50_000),
                3 => ns(150_000),
                _ => idlelab_governors::NO_LATENCY_LIMIT,
            },
            tick: if (a >> 8).is_multiple_of(8) { Tick::Stopped } else { Tick::Running },
            got_tick: (c >> 32).is_multiple_of(5),
            poll_time_limit: (d >> 8).is_multiple_of(10),
            io_waiters: u32::from((d >> 40).is_multiple_of(8)),
            span: time(residency + (d >> 16) % 3000),
            utilisation: ((d >> 48) % 32) as u32,
            entry: if (c >> 40).is_multiple_of(40) { Entry::Rejected } else { Entry::Entered },
            ..StepInputs::of_residency(time(residency))
        }
    })
}

/// FNV-1a of 64 bits.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn choices(name: &str, rate: u32, states: IdleStates) -> u64 {
    let mut cpu = Cpu::new(name, rate, states);
    hash(generate(common::hertz(rate).tick()).flat_map(|inputs| {
        let outcome = cpu.step(&inputs);
        (line(&outcome) + "\n").into_bytes()
    }))
}

fn table_a() -> IdleStates {
    table(&[
        POLL,
        sleeping(2_000, 2_000),
        sleeping(10_000, 20_000),
        sleeping(80_000, 211_000),
        sleeping(104_000, 345_000),
        sleeping(109_000, 345_000),
    ])
}

fn assert_choices(name: &str, hashes: [u64; 7]) {
    let b = table(&[
        POLL,
        sleeping(1_000, 1_000),
        sleeping(120_000, 360_000),
        sleeping(1_034_000, 3_102_000),
    ]);
    let c = table(&[
        sleeping(1_000, 1_000),
        sleeping(349_000, 6_710_000),
        sleeping(434_000, 6_710_000),
        sleeping(20_000_000, 4_294_967_295_000),
    ]);
    let d = table(&[POLL, sleeping(10_000, 100_000)]);
    let runs = [
        ("A", 250, table_a()),
        ("A at 1000 Hz", 1000, table_a()),
        ("A without 0", 250, without(table_a(), &[0])),
        ("A without 2 and 5", 250, without(table_a(), &[2, 5])),
        ("B", 250, b),
        ("C", 250, c),
        ("D", 250, d),
    ];
    for ((table, rate, states), expected) in runs.into_iter().zip(hashes) {
        let found = choices(name, rate, states);
        assert_eq!(found, expected, "{name} on table {table}: {found:016x}");
    }
}

fn assert_first_choices(name: &str, expected: &str) {
    let mut cpu = Cpu::new(name, 250, table_a());
    let found: Vec<_> = generate(common::hertz(250).tick())
        .take(24)
        .map(|inputs| line(&cpu.step(&inputs)))
        .collect();
    assert_eq!(found.join(" "), expected);
}

#[test]
fn the_generator_makes_the_published_steps() {
    let found: Vec<_> = generate(common::hertz(250).tick())
        .take(8)
        .map(|step| {
            [
                step.sleep_length.sleep.get(),
                step.sleep_length.delta_tick.get(),
                step.latency_limit.get(),
                i64::from(step.tick == Tick::Stopped),
                step.residency.get(),
                i64::from(step.got_tick),
                i64::from(step.poll_time_limit),
                i64::from(step.io_waiters),
                step.span.get(),
                i64::from(step.utilisation),
                i64::from(step.entry == Entry::Rejected),
            ]
        })
        .collect();
    #[rustfmt::skip]
    let published = [
        [42590, 42590, 2000000000000, 0, 41070, 0, 0, 0, 41535, 27, 0],
        [1000000000, 60533, 2000000000000, 0, 39916, 0, 0, 1, 40242, 23, 0],
        [112737, 112737, 0, 0, 17399, 1, 0, 0, 19393, 22, 0],
        [155816, 155816, 150000, 0, 25134, 1, 0, 0, 27499, 20, 0],
        [16000, 16000, 2000000000000, 0, 44566, 0, 0, 0, 47047, 2, 0],
        [97485, 97485, 2000000000000, 0, 44174, 0, 0, 0, 44208, 19, 0],
        [134709, 134709, 2000000000000, 0, 45095, 1, 0, 0, 45962, 19, 0],
        [156036, 156036, 2000000000000, 0, 27531, 0, 0, 0, 28426, 12, 0],
    ];
    assert_eq!(found, published);
}

#[test]
fn teo_of_7_1_to_7_3() {
    assert_first_choices(
        "teo",
        "0,0,0 2,0,1 0,0,0 1,0,1 1,0,1 2,0,1 2,0,1 2,0,1 2,1,1 1,0,1 1,0,0 2,0,1 2,0,1 2,1,1 \
         2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 1,0,1 1,0,1 2,1,1 1,0,0",
    );
    assert_choices(
        "teo",
        [
            0xdddf6ea9786c3e7c,
            0xb038a53441d9cef7,
            0x8ebaefc6ffe5a235,
            0x9c4530c73930999a,
            0xd954d37a6aa4e24e,
            0xee932379cbd43fc4,
            0xc5d796eb61b3d670,
        ],
    );
}

#[test]
fn teo_of_6_14_to_6_18() {
    assert_choices(
        "teo@6.14",
        [
            0x39b7f7796b8853c8,
            0xa294fc7f8039f0b5,
            0x957e713534b8b89c,
            0xef3ebc7207b8c35b,
            0xaf4eecfc492e36de,
            0xe63ad7ce8e988a40,
            0xd7735d0ff3a8b879,
        ],
    );
}

#[test]
fn teo_of_6_14_with_the_over_eager_patch() {
    assert_choices(
        "teo@over-eager",
        [
            0x92c88e0628c85230,
            0x2322cef6b42c2183,
            0x73dbd7eabd3cf7ba,
            0x05549a4db981b6ff,
            0xb355772507717993,
            0x4c9497fcbda678d5,
            0xd283627ea6b9ffd5,
        ],
    );
}

#[test]
fn menu_of_7_1_to_7_3() {
    assert_first_choices(
        "menu",
        "2,0,1 1,0,0 0,0,0 1,0,0 1,0,0 2,0,1 2,0,1 2,0,1 2,1,1 1,0,1 1,0,1 2,0,1 2,0,1 2,0,1 \
         2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 1,0,1 1,0,1 2,0,1 1,0,1",
    );
    assert_choices(
        "menu",
        [
            0xc3d4819af17ef53f,
            0x66e67a7f5d93306d,
            0x7386f1a8d8adce29,
            0xc4b2cf8be21216fe,
            0x08368b06d1a63569,
            0x916cb896e3aa8db0,
            0xc9d80e2d71b98c20,
        ],
    );
}

#[test]
fn ladder_of_6_1_to_7_3() {
    assert_first_choices(
        "ladder",
        "1,1,0 1,1,0 0,1,0 1,1,0 1,1,0 1,1,0 1,1,0 2,1,0 2,1,0 2,1,0 1,1,0 1,1,0 1,1,0 1,1,0 \
         2,1,0 2,1,0 2,1,0 2,1,0 2,1,0 3,1,0 3,1,0 3,1,0 2,1,0 1,1,0",
    );
    assert_choices(
        "ladder",
        [
            0xe301a8dfb7866244,
            0xe301a8dfb7866244,
            0xe301a8dfb7866244,
            0x27e67cc03b8ed1c5,
            0xf64157211cc8a5ee,
            0x39fd8aa667251509,
            0x9894acd60a73ce80,
        ],
    );
}

#[test]
fn haltpoll_of_6_12_to_7_3() {
    let states = table(&[POLL, sleeping(1_000, 1_000)]);
    assert_eq!(choices("haltpoll", 250, states), 0x58208c899da8e675);
}
