// SPDX-License-Identifier: GPL-2.0-or-later
//! What the file's options say of its times.

use crate::bytes::Bytes;

/// How a machine's time stamp counter becomes nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TscToNanoseconds {
    multiplier: u32,
    shift: u32,
}

impl TscToNanoseconds {
    /// Reads the option TSC2NSEC. Its offset is left out: it only moves the origin.
    pub(super) fn parse(mut option: Bytes<'_>) -> Option<Self> {
        let (multiplier, shift) = (option.u32()?, option.u32()?);
        (multiplier > 0 && shift < 64).then_some(Self { multiplier, shift })
    }
}

/// How the file's time stamps become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    Nanoseconds,
    Tsc(TscToNanoseconds),
}

impl Clock {
    /// The clock of this name; an unnamed one is the kernel's default, `local`. If its stamps are
    /// no times, its name comes back.
    pub(super) fn new(name: &str, tsc: Option<TscToNanoseconds>) -> Result<Self, String> {
        match (name, tsc) {
            ("x86-tsc", Some(tsc)) => Ok(Self::Tsc(tsc)),
            // Ticks of an unknown length, events counted, and jiffies.
            ("x86-tsc" | "ppc-tb" | "counter" | "uptime", _) => Err(name.to_owned()),
            _ => Ok(Self::Nanoseconds),
        }
    }

    /// The time of a stamp; none beyond the 292 years that fit.
    #[inline]
    pub(super) fn nanoseconds(self, stamp: u64) -> Option<i64> {
        match self {
            Self::Nanoseconds => i64::try_from(stamp).ok(),
            Self::Tsc(tsc) => {
                i64::try_from((u128::from(stamp) * u128::from(tsc.multiplier)) >> tsc.shift).ok()
            }
        }
    }
}

/// The clock's name in the option TRACECLOCK: the kernel's list, with the chosen one in brackets.
pub(crate) fn clock_name(option: &[u8]) -> Option<String> {
    let list = str::from_utf8(option).ok()?.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    match list.split_once('[') {
        Some((_, rest)) => Some(rest.split_once(']')?.0.to_owned()),
        // A single word, as the buffer's own description has it.
        None => (!list.is_empty() && !list.contains(' ')).then(|| list.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::ByteOrder;

    #[test]
    fn the_clock_in_brackets_is_the_one() {
        let list = b"local global counter uptime perf [mono] mono_raw\n\0";
        assert_eq!(clock_name(list).as_deref(), Some("mono"));
        assert_eq!(clock_name(b"boot\0").as_deref(), Some("boot"));
        assert_eq!(clock_name(b""), None);
    }

    #[test]
    fn stamps_that_are_no_times_need_a_rate() {
        assert_eq!(Clock::new("counter", None), Err("counter".to_owned()));
        assert_eq!(Clock::new("x86-tsc", None), Err("x86-tsc".to_owned()));
        // 2.5 GHz: 0.4 ns a count, as 0.4 × 2^32 over 2^32.
        let mut option = Vec::new();
        option.extend(1_717_986_918_u32.to_le_bytes());
        option.extend(32_u32.to_le_bytes());
        let tsc = TscToNanoseconds::parse(Bytes::new(&option, ByteOrder::Little));
        let clock = Clock::new("x86-tsc", tsc).unwrap();
        assert_eq!(clock.nanoseconds(10_000_000_000), Some(3_999_999_999));
        assert_eq!(Clock::Nanoseconds.nanoseconds(u64::MAX), None);
    }
}
