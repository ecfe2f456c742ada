// SPDX-License-Identifier: GPL-2.0-or-later
//! The trace as trace-cmd records it: a `trace.dat` of version 7, little-endian and uncompressed.
//! `trace-cmd convert` makes the other kinds of it.

use std::fmt::Write as _;
use std::io::{Result, Seek, SeekFrom, Write};

use crate::kinds::{ALL, FUNCTIONS, Kind, Shown};
use crate::workload::{Cpu, Event, Value};

/// The size of a ring-buffer page, and of what stands before its events.
const PAGE: usize = 4096;
const PAGE_HEADER: usize = 16;

/// Kinds of records for time that passes, and the longest time that fits in any other record.
const TIME_EXTEND: u64 = 30;
const LONGEST_DELTA: u64 = (1 << 27) - 1;

/// The numbers of options and sections.
const DONE: u16 = 0;
const BUFFER: u16 = 3;
const CLOCK: u16 = 4;
const CPU_COUNT: u16 = 8;
const HEADER_INFO: u16 = 16;
const FTRACE_FORMATS: u16 = 17;
const EVENT_FORMATS: u16 = 18;
const KALLSYMS: u16 = 19;
const STRINGS: u16 = 20;
const TASK_NAMES: u16 = 21;

pub(crate) fn write(cpus: Vec<Cpu>, out: &mut (impl Write + Seek)) -> Result<()> {
    out.write_all(b"\x17\x08\x44tracing7\0\x00\x08")?;
    out.write_all(&(PAGE as u32).to_le_bytes())?;
    out.write_all(b"none\0\0")?;
    let options_at = out.stream_position()?;
    out.write_all(&[0; 8])?;
    let mut names = "0 <idle>\n".to_owned();
    for task in cpus.iter().flat_map(Cpu::tasks) {
        let _ = writeln!(names, "{} {}", task.pid, task.name);
    }
    let mut symbols = String::new();
    for function in FUNCTIONS {
        let _ = writeln!(symbols, "{:016x} T {}", function.0, function.1);
    }
    let sections = [
        (HEADER_INFO, header_info()),
        (FTRACE_FORMATS, 0_u32.to_le_bytes().to_vec()),
        (EVENT_FORMATS, formats()),
        (KALLSYMS, block(&symbols)),
        (STRINGS, block("")),
        (TASK_NAMES, sized(&names)),
    ];
    let mut options = Vec::new();
    for (id, content) in sections {
        let at = section(id, &content, out)?;
        options.extend(option(id, &at.to_le_bytes()));
    }
    options.extend(option(CLOCK, b"local [mono] boot\n\0"));
    options.extend(option(CPU_COUNT, &(cpus.len() as u32).to_le_bytes()));
    options.extend(buffer(cpus, out)?);
    options.extend(option(DONE, &[0; 8]));
    let at = section(DONE, &options, out)?;
    out.seek(SeekFrom::Start(options_at))?;
    out.write_all(&at.to_le_bytes())
}

/// Appends a section and says where it is.
fn section(id: u16, content: &[u8], out: &mut (impl Write + Seek)) -> Result<u64> {
    let at = out.stream_position()?;
    out.write_all(&section_header(id, content.len() as u64))?;
    out.write_all(content)?;
    Ok(at)
}

/// Its number, no flags, no name, its size.
fn section_header(id: u16, size: u64) -> Vec<u8> {
    [&id.to_le_bytes()[..], &[0; 6], &size.to_le_bytes()].concat()
}

fn option(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), data].concat()
}

fn sized(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn block(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn header_info() -> Vec<u8> {
    let page = format!(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
         \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
         \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
         \tfield: char data;\toffset:{PAGE_HEADER};\tsize:{};\tsigned:1;\n",
        PAGE - PAGE_HEADER
    );
    let event = "# compressed entry header\n";
    [b"header_page\0".to_vec(), sized(&page), b"header_event\0".to_vec(), sized(event)].concat()
}

/// The descriptions of all events, by system.
fn formats() -> Vec<u8> {
    let systems: Vec<&[&Kind]> = ALL.chunk_by(|a, b| a.system == b.system).collect();
    let mut bytes = (systems.len() as u32).to_le_bytes().to_vec();
    for kinds in systems {
        let system = kinds.first().map_or("", |kind| kind.system);
        bytes.extend([system.as_bytes(), b"\0"].concat());
        bytes.extend((kinds.len() as u32).to_le_bytes());
        bytes.extend(kinds.iter().flat_map(|kind| sized(&format(kind))));
    }
    bytes
}

fn format(kind: &Kind) -> String {
    let mut text = format!("name: {}\nID: {}\nformat:\n", kind.name, kind.id);
    let field = |declaration: &str, offset: usize, size: usize| {
        let mut signed = ["int ", "s64 ", "long ", "pid_t "].iter();
        let signed = u8::from(signed.any(|kind| declaration.starts_with(kind)));
        format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n")
    };
    text += &field("unsigned short common_type", 0, 2);
    text += &field("unsigned char common_flags", 2, 1);
    text += &field("unsigned char common_preempt_count", 3, 1);
    text += &field("int common_pid", 4, 4);
    // An empty line sets the fields apart that all events have.
    text.push('\n');
    let mut offset = 8_usize;
    for of_kind in kind.fields {
        offset = offset.next_multiple_of(of_kind.size.min(8));
        text += &field(of_kind.declaration, offset, of_kind.size);
        offset += of_kind.size;
    }
    let name = |field: usize| {
        let declaration = kind.fields.get(field).map_or("", |field| field.declaration);
        let text = declaration.starts_with("__data_loc");
        let name = declaration.rsplit(' ').next().unwrap_or_default();
        let name = name.split('[').next().unwrap_or_default();
        if text { format!("__get_str({name})") } else { format!("REC->{name}") }
    };
    let _ = write!(text, "\nprint fmt: \"{}\"", kind.print);
    for shown in kind.shown {
        let _ = match *shown {
            Shown::Field(field) => write!(text, ", {}", name(field)),
            Shown::Difference(a, b) => write!(text, ", {} - {}", name(a), name(b)),
        };
    }
    text.push('\n');
    text
}

/// Appends all CPUs' pages, and returns the option that tells of them.
fn buffer(cpus: Vec<Cpu>, out: &mut (impl Write + Seek)) -> Result<Vec<u8>> {
    let section = out.stream_position()?;
    out.write_all(&section_header(BUFFER, 0))?;
    let mut about = section.to_le_bytes().to_vec();
    about.extend(b"\0mono\0");
    about.extend((PAGE as u32).to_le_bytes());
    about.extend((cpus.len() as u32).to_le_bytes());
    for cpu in cpus {
        let at = out.stream_position()?;
        let start = at.next_multiple_of(PAGE as u64);
        out.write_all(&vec![0; (start - at) as usize])?;
        about.extend(cpu.number.to_le_bytes());
        pages(cpu, out)?;
        let size = out.stream_position()? - start;
        about.extend(start.to_le_bytes());
        about.extend(size.to_le_bytes());
    }
    let end = out.stream_position()?;
    out.seek(SeekFrom::Start(section))?;
    out.write_all(&section_header(BUFFER, end - section - 16))?;
    out.seek(SeekFrom::Start(end))?;
    Ok(option(BUFFER, &about))
}

fn pages(cpu: Cpu, out: &mut impl Write) -> Result<()> {
    let (mut start, mut last) = (0, 0);
    let mut page = Vec::with_capacity(PAGE);
    for event in cpu {
        let record = record(&event);
        if page.len() + record.len() + 12 > PAGE - PAGE_HEADER {
            finish(start, &mut page, out)?;
        }
        if page.is_empty() {
            (start, last) = (event.time, event.time);
        }
        let mut delta = event.time - last;
        if delta > LONGEST_DELTA {
            page.extend(word(TIME_EXTEND, delta & LONGEST_DELTA));
            page.extend(((delta >> 27) as u32).to_le_bytes());
            delta = 0;
        }
        last = event.time;
        page.extend(word(record.len() as u64 / 4, delta));
        page.extend(record);
    }
    finish(start, &mut page, out)
}

/// What stands before a record: its kind or length, and the time that has passed.
fn word(kind: u64, delta: u64) -> [u8; 4] {
    ((delta << 5 | kind) as u32).to_le_bytes()
}

fn finish(time: u64, page: &mut Vec<u8>, out: &mut impl Write) -> Result<()> {
    out.write_all(&time.to_le_bytes())?;
    out.write_all(&(page.len() as u64).to_le_bytes())?;
    page.resize(PAGE - PAGE_HEADER, 0);
    out.write_all(page)?;
    page.clear();
    Ok(())
}

fn record(event: &Event) -> Vec<u8> {
    let mut record = event.kind.id.to_le_bytes().to_vec();
    record.extend([event.flags, 1]);
    record.extend(event.task.pid.to_le_bytes());
    let mut texts = Vec::new();
    let length = event
        .kind
        .fields
        .iter()
        .fold(8_usize, |offset, field| offset.next_multiple_of(field.size.min(8)) + field.size);
    for (field, value) in event.kind.fields.iter().zip(&event.values) {
        record.resize(record.len().next_multiple_of(field.size.min(8)), 0);
        let end = record.len() + field.size;
        match *value {
            Value::Number(number) => {
                record.extend(number.to_le_bytes().iter().take(field.size));
            }
            Value::Text(text) if field.declaration.starts_with("__data_loc") => {
                let location = (text.len() as u32 + 1) << 16 | length as u32;
                record.extend(location.to_le_bytes());
                texts.extend([text.as_bytes(), b"\0"].concat());
            }
            Value::Text(text) => record.extend(text.bytes().take(field.size - 1)),
        }
        record.resize(end, 0);
    }
    record.extend(texts);
    record.resize(record.len().next_multiple_of(4), 0);
    record
}
