// SPDX-License-Identifier: GPL-2.0-or-later
//! The line of ftrace text: who, where, when, what.
//!
//! ```text
//!           <idle>-0       [001] d..1.     0.765224: cpu_idle: state=1 cpu_id=1
//! └─────16──────┘-└pid┘   └cpu┘ └flags┘   └─time─┘  └─name─┘  └──arguments───┘
//!
//!   <idle>-0         1d..1. 19752us+: cpu_idle: state=1 cpu_id=1         (latency-format)
//!   <idle>-0       1d..1.  4048.741672: cpu_idle:   state=1 cpu_id=1     (trace-cmd report -l)
//!   <idle>-0       1-0x1  4048.741672: cpu_idle:    state=1 cpu_id=1     (trace-cmd report -l -R)
//!           <idle>       0   1 1 00000002 000000a3 [414609386] 18.671ms (+0.643ms): cpu_idle: …
//! └─────16──────┘    └pid┘ cpu flags depth  number └──time, hexadecimal µs             (verbose)
//! ```
//!
//! A task may be called anything, brackets, blanks and dashes included; but its name is padded, to
//! sixteen bytes or, beside glued columns, to eight, so the dash before the PID is at a known
//! place. Only where the padding is gone, or a buffer's name stands in front, it is searched for.

use idlelab_states::Nanoseconds;
use memchr::memmem;

/// Where the dash between task name and PID stands (`%16s-%-7d`).
const DASH: usize = 16;

/// The same in the latency format (`%8.8s-%-7d`).
const LATENCY_DASH: usize = 8;

/// The kernel's flags of hard and soft interrupts and of NMIs.
const INTERRUPT_BITS: u64 = 0x08 | 0x10 | 0x40;

/// One line, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// An event.
    Event(Event<'a>),
    /// The tracer says that it lost events of a CPU.
    Lost { cpu: u32, events: u64 },
    /// The header says how many events newer ones have overwritten.
    Overwritten { events: u64 },
    /// An event whose time stamp has no decimal point.
    NoTime,
    /// An event of which the kernel was told to print but its number.
    Raw,
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
    for dash in [DASH, LATENCY_DASH] {
        if line.get(dash) == Some(&b'-')
            && !line.starts_with(b"#")
            && let Some(event) = line.get(dash + 1..).and_then(after_task)
        {
            return event;
        }
    }
    if line.is_empty() || line.starts_with(b"#") {
        return overwritten(line).map_or(Line::Comment, |events| Line::Overwritten { events });
    }
    if let Some(lost) = lost(line) {
        return lost;
    }
    if let Some(event) = line.get(DASH..).and_then(verbose) {
        return event;
    }
    memchr::memchr_iter(b'-', line)
        .find_map(|dash| after_task(line.get(dash + 1..)?))
        .or_else(|| perf_script(line))
        .unwrap_or_else(|| if is_raw(line) { Line::Raw } else { other(line) })
}

/// Parses what `perf script` prints: `swapper     0 [001]  2.765224: power:cpu_idle: state=1 …`,
/// perhaps with a period before the event, or that events were lost. A task may be called anything,
/// but before the CPU stands its number.
fn perf_script(line: &[u8]) -> Option<Line<'_>> {
    memmem::find_iter(line, b" [").find_map(|at| {
        let (task, bracketed) = line.split_at_checked(at)?;
        if !task.last()?.is_ascii_digit() {
            return None;
        }
        let (cpu, text) = number(bracketed.get(2..)?)?;
        let (time, text) = time(text.strip_prefix(b"]")?.trim_ascii_start())?;
        let text = text.trim_ascii_start();
        if let Some(lost) = text.strip_prefix(b"PERF_RECORD_LOST lost ") {
            let (events, _) = number(lost)?;
            return Some(Line::Lost { cpu: u32::try_from(cpu).ok()?, events });
        }
        let text = match number(text) {
            Some((_period, text)) => text.trim_ascii_start(),
            None => text,
        };
        let system = memchr::memchr(b':', text)?;
        let name = text.get(system + 1..)?;
        // Others' events have blanks behind their only colon.
        if system == 0 || name.first().is_none_or(u8::is_ascii_whitespace) {
            return None;
        }
        event(cpu, false, time, name)
    })
}

/// Parses what follows the dash after the task's name.
fn after_task(text: &[u8]) -> Option<Line<'_>> {
    let (_pid, text) = number(text)?;
    let mut text = text.trim_ascii_start();
    if let Some(group) = text.strip_prefix(b"(") {
        let end = memchr::memchr(b')', group)?;
        text = group.get(end + 1..)?.trim_ascii_start();
    }
    let Some(bracketed) = text.strip_prefix(b"[") else { return glued(text) };
    let (cpu, text) = number(bracketed)?;
    let text = text.strip_prefix(b"]")?.trim_ascii_start();
    // The column of flags is absent with the option noirq-info, and in trace-cmd's report.
    let ((time, text), flags) = match time(text) {
        Some(found) => (found, &[][..]),
        None => {
            let (flags, rest) = text.split_at_checked(memchr::memchr(b' ', text)?)?;
            (time(rest.trim_ascii_start())?, flags)
        }
    };
    event(cpu, interrupts(flags), time, text)
}

/// Parses what follows the task in the latency format with the option `verbose`: the trace's own
/// time in microseconds, the time since the buffer's start, and the time to the next event.
fn verbose(text: &[u8]) -> Option<Line<'_>> {
    let column = |text| number(<[u8]>::trim_ascii_start(text));
    let (_pid, text) = column(text.strip_prefix(b" ")?)?;
    let (cpu, text) = column(text)?;
    let (flags, text) = column(text)?;
    // How deep preemption is disabled, and the event's number.
    let bracket = memchr::memchr(b'[', text)?;
    let mut words = text.get(..bracket)?.split(u8::is_ascii_whitespace);
    if !words.all(|word| word.is_empty() || hexadecimal(word).is_some()) {
        return None;
    }
    let text = text.get(bracket + 1..)?;
    let (time, text) = text.split_at_checked(memchr::memchr(b']', text)?)?;
    let time = i64::try_from(hexadecimal(time)?).ok()?;
    let end = memmem::find(text, b"): ")?;
    // Other clocks than those that count nanoseconds print bare numbers.
    let told = text.get(..end)?.ends_with(b"ms").then(|| Nanoseconds::from_micros(time));
    event(cpu, flags & INTERRUPT_BITS != 0, told, text.get(end + 3..)?)
}

/// Parses the columns that the latency format glues together: CPU and flags.
fn glued(text: &[u8]) -> Option<Line<'_>> {
    let (cpu, text) = number(text)?;
    let (flags, rest) = text.split_at_checked(memchr::memchr(b' ', text)?)?;
    let in_interrupt = match flags.strip_prefix(b"-0x") {
        Some(bits) => hexadecimal(bits)? & INTERRUPT_BITS != 0,
        // Without flags there would be two numbers in a row: that is some other line.
        None if flags.len() < 3 => return None,
        None => interrupts(flags),
    };
    let (time, text) = time(rest.trim_ascii_start())?;
    event(cpu, in_interrupt, time, text)
}

/// Soft and hard interrupts, and NMIs; `.` is task context. The column is the third, or the fourth
/// in kernels that have one more for lazy rescheduling; what follows it are digits.
fn interrupts(flags: &[u8]) -> bool {
    flags.get(2..).unwrap_or_default().iter().take(2).any(|flag| b"shHzZ".contains(flag))
}

fn event(cpu: u64, in_interrupt: bool, time: Option<Nanoseconds>, text: &[u8]) -> Option<Line<'_>> {
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b':', text)?;
    let (name, rest) = text.split_at_checked(end)?;
    let Some(time) = time else { return Some(Line::NoTime) };
    let arguments = rest.get(1..)?.trim_ascii_start();
    let cpu = u32::try_from(cpu).ok()?;
    Some(Line::Event(Event { cpu, in_interrupt, time, name, arguments }))
}

/// A time stamp up to its colon: seconds and a fraction, or microseconds since the trace's start
/// and a mark of how long it took. The time is none if it is a bare number.
fn time(text: &[u8]) -> Option<(Option<Nanoseconds>, &[u8])> {
    let (seconds, rest) = number(text)?;
    if let Some(rest) = rest.strip_prefix(b":") {
        return Some((None, rest));
    }
    if let Some(rest) = rest.strip_prefix(b"us") {
        let rest = rest.get(1..)?.strip_prefix(b":").or_else(|| rest.strip_prefix(b":"))?;
        let total = i64::try_from(seconds.checked_mul(1_000)?).ok()?;
        return Some((Some(Nanoseconds::new(total)), rest));
    }
    let rest = rest.strip_prefix(b".")?;
    let (fraction, after) = number(rest)?;
    let digits = u32::try_from(rest.len() - after.len()).ok().filter(|&digits| digits <= 9)?;
    let nanoseconds = fraction * 10_u64.pow(9 - digits);
    let total = seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)?;
    Some((Some(Nanoseconds::new(i64::try_from(total).ok()?)), after.strip_prefix(b":")?))
}

/// `CPU:3 [LOST 120 EVENTS]`, from tracefs; `trace-cmd report` says `[120 EVENTS DROPPED]` or
/// no number at all. A buffer's name may stand in front.
fn lost(line: &[u8]) -> Option<Line<'_>> {
    if !line.ends_with(b"]") {
        return None;
    }
    let at = memmem::find(line, b"CPU:")?;
    let (cpu, text) = number(line.get(at + 4..)?)?;
    let text = text.trim_ascii_start().strip_prefix(b"[")?;
    let text = text.strip_prefix(b"LOST ").unwrap_or(text);
    let (events, text) = number(text).unwrap_or((1, text));
    text.trim_ascii_start()
        .starts_with(b"EVENTS")
        .then_some(Line::Lost { cpu: u32::try_from(cpu).ok()?, events })
}

/// `# entries-in-buffer/entries-written: 1021/23879   #P:2`: how many more were written.
fn overwritten(line: &[u8]) -> Option<u64> {
    let text = line.strip_prefix(b"# entries-in-buffer/entries-written: ")?;
    let (kept, text) = number(text)?;
    let (written, _) = number(text.strip_prefix(b"/")?)?;
    written.checked_sub(kept).filter(|&events| events > 0)
}

/// `14857 0 4099214055777 type: 372`, with the options raw or hex.
fn is_raw(line: &[u8]) -> bool {
    memmem::rfind(line, b" type: ")
        .and_then(|at| line.get(at + 7..))
        .and_then(number)
        .is_some_and(|(_, rest)| rest.is_empty())
}

/// What trace-cmd and atrace print in front of the events.
fn other(line: &[u8]) -> Line<'_> {
    let is_header = line.starts_with(b"cpus=")
        || line.starts_with(b"version = ")
        || line == b"TRACE:"
        || line.starts_with(b"CPU ") && line.ends_with(b" is empty");
    if is_header { Line::Comment } else { Line::Unknown }
}

/// Digits to the base of sixteen, and nothing else.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
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
            "          <idle>-0       [003] d..1.1..     2.765224: cpu_idle: state=1 cpu_id=3",
            "          <idle>-0     [003]     2.765224: cpu_idle:             state=1 cpu_id=3",
            "  <idle>-0       3d..1.     2.765224: cpu_idle:             state=1 cpu_id=3",
            "  <idle>-0       3-0x1     2.765224: cpu_idle:              state=1 cpu_id=3",
            "  <idle>-0         3d..1. 2765224us+: cpu_idle: state=1 cpu_id=3",
            "  <idle>-0         3d..1. 2765224us : cpu_idle: state=1 cpu_id=3",
            "  a-buffer:           <idle>-0     [003]     2.765224: cpu_idle: state=1 cpu_id=3",
            "\t  <idle>-0     [003]     2.765224: cpu_idle:             state=1 cpu_id=3",
        ] {
            assert_eq!(event(line), expected, "{line}");
        }
    }

    #[test]
    fn flags_tell_interrupts_from_tasks() {
        for (flags, expected) in [
            ("d.h1.", true),
            ("dNs2.", true),
            ("d..1.", false),
            ("d..h1...", true),
            ("dNZff", true),
            ("d..ff", false),
        ] {
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
    fn perf_script_puts_the_system_before_the_event() {
        let expected = (3, 2_765_224_000, "cpu_idle".to_owned(), "state=1 cpu_id=3".to_owned());
        for line in [
            "         swapper     0 [003]     2.765224:       power:cpu_idle: state=1 cpu_id=3",
            "         swapper     0 [003]     2.765224:          1 power:cpu_idle: state=1 cpu_id=3",
            "swapper 0/0 [003] 2.765224000: power:cpu_idle: state=1 cpu_id=3",
            "  k-1 2 [1] 1.5     77 [003]     2.765224:       power:cpu_idle: state=1 cpu_id=3",
        ] {
            assert_eq!(event(line), expected, "{line}");
        }
        let lost = "       perf-exec 15480 [001]  4090.909124: PERF_RECORD_LOST lost 13";
        assert_eq!(parse(lost.as_bytes()), Line::Lost { cpu: 1, events: 13 });
        let cycles = "     perf 15312 [000]  1.5:     250000 cycles:  ffffffff810 native_write_msr";
        assert_eq!(parse(cycles.as_bytes()), Line::Unknown);
    }

    #[test]
    fn lost_events_are_told_in_several_spellings() {
        for (line, events) in [
            ("CPU:1 [LOST 56958 EVENTS]", 56958),
            ("CPU:1 [120 EVENTS DROPPED]", 120),
            ("CPU:1 [EVENTS DROPPED]", 1),
            ("\t CPU:1 [7 EVENTS DROPPED]", 7),
            ("  top: CPU:1 [7 EVENTS DROPPED]", 7),
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
    fn the_latency_format_without_brackets_tells_interrupts_too() {
        for (columns, expected) in
            [("0dNh2. 19887us ", true), ("0d..2. 19891us+", false), ("1-0x2d  4.5", true)]
        {
            let line = format!("  <idle>-0         {columns}: x: y");
            let Line::Event(event) = parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(event.in_interrupt, expected, "{columns}");
        }
    }

    /// Lines of a kernel 6.18, whose clock `mono` then was at 17521.7 s.
    #[test]
    fn the_verbose_latency_format_tells_the_time_in_hexadecimal() {
        let line = " memfd:sealed-91    5723   1 1 00000002 00000005 [414609653] 19.388ms \
            (+0.569ms): sched_switch: prev_comm=x";
        // 0x414609653 = 17,521,743,443.
        let expected = (1, 17_521_743_443_000, "sched_switch".to_owned(), "prev_comm=x".to_owned());
        assert_eq!(event(line), expected);
        for (flags, expected) in [(1, false), (9, true), (45, true), (17, true)] {
            let line = format!(
                "       a-1 [0] x   30285   1 {flags} 00000000 00000001 [414609609] 19.314ms \
                 (+0.001ms): local_timer_entry: vector=236"
            );
            let Line::Event(event) = parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(event.in_interrupt, expected, "{flags}");
        }
        let counter = "          <idle>       0   1 1 00000002 00000005 [00000000000113d0] 70608 \
            (+3): cpu_idle: state=1 cpu_id=1";
        assert_eq!(parse(counter.as_bytes()), Line::NoTime);
    }

    #[test]
    fn headers_are_no_events() {
        let header = "# entries-in-buffer/entries-written: 1021/23879   #P:2";
        assert_eq!(parse(header.as_bytes()), Line::Overwritten { events: 22858 });
        for line in
            ["cpus=8", "version = 6", "CPU 3 is empty", "TRACE:", "# a-1 [000] 1.0: x: y", ""]
        {
            assert_eq!(parse(line.as_bytes()), Line::Comment, "{line}");
        }
        for line in
            ["14857 0 4099214055777 type: 372", "00000000 00000000 000003ba8b246b8d type: 568"]
        {
            assert_eq!(parse(line.as_bytes()), Line::Raw, "{line}");
        }
    }

    #[test]
    fn other_text_is_unknown() {
        for line in ["hello", "a-b", "12-", "x-1 [", "<idle>-0 [003] d..1. 2.765224"] {
            assert_eq!(parse(line.as_bytes()), Line::Unknown, "{line}");
        }
    }
}
