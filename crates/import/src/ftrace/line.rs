// SPDX-License-Identifier: GPL-2.0-or-later
//! The line of ftrace text: who, where, when, what.
//!
//! ```text
//!           <idle>-0       [001] d..1.     0.765224: cpu_idle: state=1 cpu_id=1
//! └─────16──────┘-└pid┘   └cpu┘ └flags┘   └─time─┘  └─name─┘  └──arguments───┘
//! ```
//!
//! A task may be called anything, brackets, blanks and dashes included; but the kernel pads its
//! name to sixteen bytes, so the dash before the PID is at a known place.

use idlelab_states::Nanoseconds;

/// Where the dash between task name and PID stands (`%16s-%-7d`).
const DASH: usize = 16;

/// One line, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// An event.
    Event(Event<'a>),
    /// The tracer says that it lost events of a CPU.
    Lost { cpu: u32, events: u64 },
    /// An event whose time stamp has no decimal point.
    NoTime,
    /// A header, a comment or an empty line.
    Comment,
    /// Anything else.
    Unknown,
}

/// The parts of an event's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// The CPU that traced it.
    pub(super) cpu: u32,
    /// Whether it was traced in a hard or soft interrupt, as far as the flags tell.
    pub(super) in_interrupt: bool,
    pub(super) time: Nanoseconds,
    pub(super) name: &'a [u8],
    pub(super) arguments: &'a [u8],
}

/// Takes a line apart.
pub(super) fn parse(line: &[u8]) -> Line<'_> {
    let line = line.trim_ascii_end();
    if line.is_empty() || line.starts_with(b"#") {
        return Line::Comment;
    }
    if line.get(DASH) == Some(&b'-')
        && let Some(event) = line.get(DASH + 1..).and_then(after_task)
    {
        return event;
    }
    if let Some(lost) = lost(line) {
        return lost;
    }
    // The padding may be gone where the text went through a mail or an editor.
    memchr::memchr_iter(b'-', line)
        .find_map(|dash| after_task(line.get(dash + 1..)?))
        .unwrap_or(Line::Unknown)
}

/// Parses what follows the dash after the task's name.
fn after_task(text: &[u8]) -> Option<Line<'_>> {
    let (_pid, text) = number(text)?;
    let mut text = text.trim_ascii_start();
    if let Some(group) = text.strip_prefix(b"(") {
        let end = memchr::memchr(b')', group)?;
        text = group.get(end + 1..)?.trim_ascii_start();
    }
    let (cpu, text) = number(text.strip_prefix(b"[")?)?;
    let text = text.strip_prefix(b"]")?.trim_ascii_start();
    // The column of flags is absent with the option noirq-info.
    let ((time, text), flags) = match time(text) {
        Some(found) => (found, &[][..]),
        None => {
            let (flags, rest) = text.split_at_checked(memchr::memchr(b' ', text)?)?;
            (time(rest.trim_ascii_start())?, flags)
        }
    };
    // Soft and hard interrupts, and NMIs; `.` is task context.
    let in_interrupt = flags.get(2).is_some_and(|flag| b"shHzZ".contains(flag));
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b':', text)?;
    let (name, rest) = text.split_at_checked(end)?;
    let Some(time) = time else { return Some(Line::NoTime) };
    let arguments = rest.get(1..)?.trim_ascii_start();
    let cpu = u32::try_from(cpu).ok()?;
    Some(Line::Event(Event { cpu, in_interrupt, time, name, arguments }))
}

/// A time stamp up to its colon: seconds and a fraction. The time is none if it has no fraction.
fn time(text: &[u8]) -> Option<(Option<Nanoseconds>, &[u8])> {
    let (seconds, rest) = number(text)?;
    if let Some(rest) = rest.strip_prefix(b":") {
        return Some((None, rest));
    }
    let rest = rest.strip_prefix(b".")?;
    let (fraction, after) = number(rest)?;
    let digits = u32::try_from(rest.len() - after.len()).ok().filter(|&digits| digits <= 9)?;
    let nanoseconds = fraction * 10_u64.pow(9 - digits);
    let total = seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)?;
    Some((Some(Nanoseconds::new(i64::try_from(total).ok()?)), after.strip_prefix(b":")?))
}

/// `CPU:3 [LOST 120 EVENTS]`, from tracefs; `trace-cmd report` says `[120 EVENTS DROPPED]` or
/// no number at all.
fn lost(line: &[u8]) -> Option<Line<'_>> {
    let (cpu, text) = number(line.trim_ascii_start().strip_prefix(b"CPU:")?)?;
    let text = text.trim_ascii_start().strip_prefix(b"[")?;
    let text = text.strip_prefix(b"LOST ").unwrap_or(text);
    let (events, text) = number(text).unwrap_or((1, text));
    text.trim_ascii_start()
        .starts_with(b"EVENTS")
        .then_some(Line::Lost { cpu: u32::try_from(cpu).ok()?, events })
}

/// Digits at the start of `text`, and what follows them.
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut digits = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        digits += 1;
    }
    if digits == 0 { None } else { Some((value, text.get(digits..)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> (u32, i64, String, String) {
        match parse(line.as_bytes()) {
            Line::Event(event) => (
                event.cpu,
                event.time.get(),
                String::from_utf8_lossy(event.name).into_owned(),
                String::from_utf8_lossy(event.arguments).into_owned(),
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_columns_that_the_kernel_prints() {
        let expected = (3, 2_765_224_000, "cpu_idle".to_owned(), "state=1 cpu_id=3".to_owned());
        for line in [
            "          <idle>-0       [003] d..1.     2.765224: cpu_idle: state=1 cpu_id=3",
            "          <idle>-0       [003] d..1     2.765224: cpu_idle: state=1 cpu_id=3\r\n",
            "          <idle>-0       [003]     2.765224: cpu_idle: state=1 cpu_id=3",
            "          <idle>-0       (-------) [003] d..1.     2.765224: cpu_idle: state=1 cpu_id=3",
            "<idle>-0 [003] d..1. 2.765224: cpu_idle: state=1 cpu_id=3",
        ] {
            assert_eq!(event(line), expected, "{line}");
        }
    }

    #[test]
    fn flags_tell_interrupts_from_tasks() {
        for (flags, expected) in [("d.h1.", true), ("dNs2.", true), ("d..1.", false)] {
            let line = format!("          <idle>-0       [003] {flags}     2.0001: x: y");
            let Line::Event(event) = parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(event.in_interrupt, expected, "{flags}");
        }
    }

    #[test]
    fn nanoseconds_are_kept_where_they_are_printed() {
        let line =
            "          <idle>-0       [003] d..1.     2.765224017: cpu_idle: state=1 cpu_id=3";
        assert_eq!(event(line).1, 2_765_224_017);
    }

    #[test]
    fn a_task_may_be_called_anything() {
        for task in ["         a b-12", "        [004] x", "      k-1-2 [1]", "    -7 [001] 1.1: y"]
        {
            let line = format!("{task:>16}-77      [002] d..2.     1.000001: sched_switch: x=1");
            if task.len() <= 16 {
                assert_eq!(event(&line).0, 2, "{line}");
            }
        }
    }

    #[test]
    fn lost_events_are_told_in_three_spellings() {
        for (line, events) in [
            ("CPU:1 [LOST 56958 EVENTS]", 56958),
            ("CPU:1 [120 EVENTS DROPPED]", 120),
            ("CPU:1 [EVENTS DROPPED]", 1),
        ] {
            assert_eq!(parse(line.as_bytes()), Line::Lost { cpu: 1, events });
        }
    }

    #[test]
    fn a_time_without_a_point_is_no_time() {
        let line = "          <idle>-0       [000] d..1.        70608: cpu_idle: state=1 cpu_id=0";
        assert_eq!(parse(line.as_bytes()), Line::NoTime);
    }

    #[test]
    fn other_text_is_unknown() {
        for line in ["hello", "a-b", "12-", "x-1 [", "<idle>-0 [003] d..1. 2.765224"] {
            assert_eq!(parse(line.as_bytes()), Line::Unknown, "{line}");
        }
    }
}
