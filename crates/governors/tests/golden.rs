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

#[test]
fn haltpoll_up_to_6_8() {
    let states = table(&[POLL, sleeping(1_000, 1_000)]);
    assert_eq!(choices("haltpoll@6.8", 250, states), 0xc1e6332df6cd29e5);
}

#[test]
fn teo_of_5_10() {
    assert_choices(
        "teo@5.10",
        [
            0x5c4c05c0423f91b1,
            0xeda1e2d17833e6dd,
            0x7322e58dae0b26e7,
            0xd12d1b39178eb3d1,
            0xc6c98a61fbb208ab,
            0x3c95fa7ab3366336,
            0xfaed53ac41300ded,
        ],
    );
}

#[test]
fn teo_of_5_14_to_6_2_and_6_1_192() {
    assert_choices(
        "teo@5.14",
        [
            0xae1a42fc122f472a,
            0x48840febe424d374,
            0xa8f35af1dfa1f436,
            0xd8aca20033f49ba0,
            0xdcc4479f7d44bed6,
            0xcbe40a4fe8daf59b,
            0x84023f4190bf4154,
        ],
    );
}

#[test]
fn teo_of_6_3_to_6_5() {
    assert_choices(
        "teo@6.3",
        [
            0xbd0de20356f063a3,
            0x176e2c9c3bf82d29,
            0x3a442b56f552da00,
            0x0bcd6b2e2659c094,
            0x6e96b7a43e656ce5,
            0xfe731146a8b0012b,
            0xa4e557cefa1f5f61,
        ],
    );
}

#[test]
fn teo_of_6_6_to_6_10() {
    assert_choices(
        "teo@6.6",
        [
            0xda2a9cd8590e5032,
            0x63a68c4d905f98f5,
            0xf376db3a9b52b7c4,
            0x0c81792c8e9b557d,
            0x2a6d4b694982bb82,
            0x42d444e694fb4adb,
            0xd47d36a36c87a478,
        ],
    );
}

#[test]
fn teo_of_6_11_to_6_13() {
    assert_choices(
        "teo@6.11",
        [
            0xc710b6a6532be423,
            0xee5596d31cd0dedb,
            0x1070f04ffc1b6ede,
            0xba3848ae573883cb,
            0x623aa8eeeee2fc57,
            0x8663c2132131e2ab,
            0x233135f6adb4e5d8,
        ],
    );
}

#[test]
fn teo_of_6_12_117() {
    assert_first_choices(
        "teo@6.12.117",
        "2,0,1 5,1,1 0,0,0 2,0,1 1,0,1 2,0,1 2,0,1 2,0,1 2,1,1 1,0,1 1,0,0 2,1,1 2,0,1 5,1,1 \
         1,0,0 2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 1,0,1 1,0,1 2,1,1 1,0,0",
    );
    assert_choices(
        "teo@6.12.117",
        [
            0xaa623810f2c9a4a7,
            0xfc80d829f2ceff18,
            0x77d8bd31c90132d2,
            0x2bd30d51d49aef01,
            0xa655377f96a088db,
            0xe07eb09d759f27ea,
            0xb6a68eacb5a5add9,
        ],
    );
}

#[test]
fn teo_of_6_19() {
    assert_choices(
        "teo@6.19",
        [
            0xb96394a73d6b1176,
            0x9b7f5e36ddd86ad6,
            0x1406f7bd6146909f,
            0x7b97255faae0b195,
            0xb4d4a4770164d4ba,
            0x02ac520034c4282a,
            0x2022263111ded438,
        ],
    );
}

#[test]
fn teo_of_7_0() {
    assert_choices(
        "teo@7.0",
        [
            0xe6f2750b39bf21fe,
            0x89a029fa8b045f99,
            0x8b1749b442d5cf0c,
            0xad367f333d50ca9b,
            0xe839d28badd78f16,
            0x1c0f13f960cc0830,
            0x8c8f6550ffad2dad,
        ],
    );
}

#[test]
fn menu_of_5_10() {
    assert_choices(
        "menu@5.10",
        [
            0x55e9181967c82a50,
            0x5c959e98f36225b3,
            0x7c63aefea4cab28d,
            0x6274b679770c1a51,
            0x75e6e9fbf361e82f,
            0x625b0c53fb5ce937,
            0xb42773c421265554,
        ],
    );
}

#[test]
fn menu_of_6_1_192() {
    assert_choices(
        "menu@6.1.192",
        [
            0xc4c4d4facbe37ef3,
            0xd1df6d27e76e3acf,
            0x275961ccf737a797,
            0x00f71882c07701d8,
            0x56153279d42d4093,
            0xc3176e7c2881d778,
            0x418942e3a2fa9984,
        ],
    );
}

#[test]
fn menu_of_6_6_to_6_11() {
    assert_choices(
        "menu@6.6",
        [
            0x8b7f7d267aaddf5c,
            0xf24752c227a9160d,
            0x9de76aea61c2f8ea,
            0x6bb697899b777844,
            0xa9125352191a3f31,
            0xdc8afacbd1f1dcca,
            0xe95ba1227fa7fa10,
        ],
    );
}

#[test]
fn menu_of_6_12_to_6_14() {
    assert_choices(
        "menu@6.12",
        [
            0xd527141ca25b5f7e,
            0x5363c6b133b03747,
            0xeebfa07b4ad168a6,
            0x800386bb023e7aea,
            0x6d2452fd15845859,
            0xbf71bdef8c2b24b4,
            0x7e7a579d90ae43c0,
        ],
    );
}

#[test]
fn menu_of_6_15() {
    assert_choices(
        "menu@6.15",
        [
            0x334367c78d59f622,
            0x9aa924962359cab7,
            0x55eca5aa665bc73c,
            0x8a812639561862f0,
            0xab0559868c475f6d,
            0xe8c81057728ee172,
            0x4dd953c595b1d690,
        ],
    );
}

#[test]
fn menu_of_6_12_117() {
    assert_first_choices(
        "menu@6.12.117",
        "2,0,1 1,0,0 0,0,0 1,0,0 1,0,0 2,0,1 2,0,1 2,0,1 2,1,1 1,0,1 1,0,1 2,0,1 2,0,1 2,0,1 \
         2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 2,0,1 1,0,1 1,0,1 2,0,1 1,0,1",
    );
    assert_choices(
        "menu@6.12.117",
        [
            0x4bca3658a9ee94ec,
            0x3de1c13eb3e3b305,
            0x2d9500af051014ea,
            0x012942a327c4af2f,
            0x1e62be871f11323a,
            0x9954cbc67ca6dd42,
            0x8583f549aef889c1,
        ],
    );
}

#[test]
fn menu_of_6_19() {
    assert_choices(
        "menu@6.19",
        [
            0x2ff5c1ea327c7a13,
            0x0b20ea174ea0d33a,
            0x71cb2fc2c668bc38,
            0xeb0b0c8021f47efb,
            0x4a778b950f543fc3,
            0xc3bb5b6c65e5e161,
            0x671fde55f07abcf9,
        ],
    );
}
