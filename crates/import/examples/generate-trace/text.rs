// SPDX-License-Identifier: GPL-2.0-or-later
//! The trace as `cat trace` prints it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Result, Write};

use crate::kinds::{FUNCTIONS, Shown};
use crate::workload::{Cpu, Event, Value};

/// Writes the events of all CPUs in the order of their times.
pub(crate) fn write(mut cpus: Vec<Cpu>, out: &mut impl Write) -> Result<()> {
    out.write_all(b"# tracer: nop\n#\n")?;
    let mut heads: Vec<Option<Event>> = cpus.iter_mut().map(Iterator::next).collect();
    let time = |number: usize, head: &Option<Event>| {
        head.as_ref().map(|event| Reverse((event.time, number)))
    };
    let mut next: BinaryHeap<_> =
        heads.iter().enumerate().filter_map(|(number, head)| time(number, head)).collect();
    let mut line = Vec::new();
    while let Some(Reverse((_, number))) = next.pop() {
        let (Some(cpu), Some(head)) = (cpus.get_mut(number), heads.get_mut(number)) else {
            continue;
        };
        if let Some(event) = head.take() {
            line.clear();
            print(cpu.number, &event, &mut line)?;
            out.write_all(&line)?;
        }
        *head = cpu.next();
        next.extend(time(number, head));
    }
    Ok(())
}

fn print(cpu: u32, event: &Event, line: &mut Vec<u8>) -> Result<()> {
    let name = if event.task.pid == 0 { "<idle>" } else { event.task.name };
    let irqs = if event.flags & 1 == 0 { '.' } else { 'd' };
    let context = match event.flags & 0x18 {
        0x08 => 'h',
        0x10 => 's',
        _ => '.',
    };
    let (seconds, microseconds) = (event.time / 1_000_000_000, event.time / 1_000 % 1_000_000);
    let pid = event.task.pid;
    write!(
        line,
        "{name:>16}-{pid:<7} [{cpu:03}] {irqs}.{context}1. {seconds:>5}.{microseconds:06}: {}: ",
        event.kind.name
    )?;
    let number = |field: usize| match event.values.get(field) {
        Some(&Value::Number(number)) => number,
        _ => 0,
    };
    let mut shown = event.kind.shown.iter();
    let mut template = event.kind.print;
    while let Some((plain, conversion)) = template.split_once('%') {
        line.write_all(plain.as_bytes())?;
        let value = match shown.next() {
            Some(&Shown::Difference(a, b)) => Value::Number(number(a).wrapping_sub(number(b))),
            Some(&Shown::Field(field)) => {
                event.values.get(field).copied().unwrap_or(Value::Number(0))
            }
            None => Value::Number(0),
        };
        let kind = if conversion.starts_with("ps") { "ps" } else { &conversion[..1] };
        match (kind, value) {
            (_, Value::Text(text)) => write!(line, "{text}")?,
            ("p", Value::Number(address)) => write!(line, "{address:016x}")?,
            ("ps", Value::Number(address)) => {
                let function = FUNCTIONS.iter().find(|function| function.0 == address);
                write!(line, "{}", function.map_or("?", |function| function.1))?;
            }
            ("d", Value::Number(number)) => write!(line, "{}", number.cast_signed())?,
            (_, Value::Number(number)) => write!(line, "{number}")?,
        }
        template = &conversion[kind.len()..];
    }
    line.write_all(template.as_bytes())?;
    line.push(b'\n');
    Ok(())
}
