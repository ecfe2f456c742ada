// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes small trace.dat files by the format's public description, `trace-cmd.dat(5)`.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::Write;

use flate2::Compression as Level;
use flate2::write::ZlibEncoder;
use idlelab_recording::{CpuRecording, NoteKind, Recording};
use idlelab_states::CpuId;

/// What the file is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) version: u8,
    pub(crate) big_endian: bool,
    /// The kernel's `long`, in bytes.
    pub(crate) long: usize,
    /// Only version 7 can be compressed.
    pub(crate) compression: &'static str,
    /// Whether the kernel has the common fields of PREEMPT_RT.
    pub(crate) rt: bool,
}

pub(crate) const PLAIN: Shape =
    Shape { version: 7, big_endian: false, long: 8, compression: "none", rt: false };

/// The size of a ring-buffer page.
pub(crate) const PAGE: usize = 4096;

pub(crate) const CPU_IDLE: u16 = 568;
pub(crate) const SEL: u16 = 1001;
pub(crate) const SELR: u16 = 1002;
pub(crate) const SL: u16 = 1003;
pub(crate) const LAT: u16 = 1004;
pub(crate) const REFL: u16 = 1005;
pub(crate) const HRTIMER_START: u16 = 460;
pub(crate) const IRQ: u16 = 225;

impl Shape {
    pub(crate) fn n16(self, n: u16) -> Vec<u8> {
        if self.big_endian { n.to_be_bytes().to_vec() } else { n.to_le_bytes().to_vec() }
    }

    pub(crate) fn n32(self, n: u32) -> Vec<u8> {
        if self.big_endian { n.to_be_bytes().to_vec() } else { n.to_le_bytes().to_vec() }
    }

    pub(crate) fn n64(self, n: u64) -> Vec<u8> {
        if self.big_endian { n.to_be_bytes().to_vec() } else { n.to_le_bytes().to_vec() }
    }

    fn long_word(self, n: u64) -> Vec<u8> {
        if self.long == 4 { self.n32(n as u32) } else { self.n64(n) }
    }

    fn sized(self, text: &str) -> Vec<u8> {
        [self.n64(text.len() as u64), text.as_bytes().to_vec()].concat()
    }

    fn header_page(self) -> String {
        let (long, data) = (self.long, 8 + self.long);
        format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{};\tsigned:1;\n",
            PAGE - data
        )
    }

    fn format(self, name: &str, id: u16, fields: &[(&str, usize)]) -> String {
        let mut text = format!(
            "name: {name}\nID: {id}\nformat:\n\
             \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
             \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
             \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
             \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        );
        if self.rt {
            text +=
                "\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n";
        }
        text += "\n";
        let mut offset = self.payload();
        for &(declaration, size) in fields {
            let signed = u8::from(declaration.starts_with('s'));
            text += &format!(
                "\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"
            );
            offset += size;
        }
        text + "\nprint fmt: \"x\"\n"
    }

    const fn payload(self) -> usize {
        if self.rt { 12 } else { 8 }
    }

    fn formats(self) -> Vec<u8> {
        let long = self.long;
        let function = ("unsigned long __probe_func", long);
        let caller = ("unsigned long __probe_ret_ip", long);
        let systems: [(&str, Vec<String>); 4] = [
            (
                "power",
                vec![self.format("cpu_idle", CPU_IDLE, &[("u32 state", 4), ("u32 cpu_id", 4)])],
            ),
            (
                "irq",
                vec![self.format(
                    "irq_handler_entry",
                    IRQ,
                    &[("int irq", 4), ("__data_loc char[] name", 4)],
                )],
            ),
            (
                "timer",
                vec![self.format(
                    "hrtimer_start",
                    HRTIMER_START,
                    &[("void * hrtimer", long), ("void * function", long), ("s64 expires", 8)],
                )],
            ),
            (
                "kprobes",
                vec![
                    self.format("sel", SEL, &[("unsigned long __probe_ip", long)]),
                    self.format("selr", SELR, &[function, caller, ("s32 ret", 4), ("u8 stop", 1)]),
                    self.format("sl", SL, &[function, caller, ("s64 ret", 8), ("s64 tick", 8)]),
                    self.format("lat", LAT, &[function, caller, ("s64 ret", 8)]),
                    self.format(
                        "refl",
                        REFL,
                        &[
                            ("unsigned long __probe_ip", long),
                            ("s32 state", 4),
                            ("u64 res", 8),
                            ("u32 bits", 4),
                        ],
                    ),
                ],
            ),
        ];
        let mut bytes = self.n32(systems.len() as u32);
        for (system, formats) in systems {
            bytes.extend(system.as_bytes());
            bytes.push(0);
            bytes.extend(self.n32(formats.len() as u32));
            formats.iter().for_each(|format| bytes.extend(self.sized(format)));
        }
        bytes
    }

    /// A record: its common fields and the payload.
    pub(crate) fn record(self, id: u16, flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut record = self.n16(id);
        record.extend([flags, 1, 0, 0, 0, 0]);
        record.resize(self.payload(), 0);
        record.extend(payload);
        record
    }

    pub(crate) fn cpu_idle(self, cpu: u32, state: u32) -> Vec<u8> {
        self.record(CPU_IDLE, 1, &[self.n32(state), self.n32(cpu)].concat())
    }

    /// A pointer or `unsigned long`.
    pub(crate) fn address(self, address: u64) -> Vec<u8> {
        self.long_word(address)
    }
}

/// The file without the trace's data.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) shape: Shape,
    pub(crate) kallsyms: String,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) options: Vec<(u16, Vec<u8>)>,
}

/// One instance: its clock, and the pages of each CPU.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) name: &'static str,
    pub(crate) clock: &'static str,
    pub(crate) cpus: Vec<(u32, Vec<u8>)>,
}

/// A page of the ring buffer in the making.
pub(crate) struct Page {
    shape: Shape,
    time: u64,
    data: Vec<u8>,
}

impl Page {
    pub(crate) fn new(shape: Shape, time: u64) -> Self {
        Self { shape, time, data: Vec::new() }
    }

    fn word(&mut self, kind: u32, delta: u32) {
        let word = if self.shape.big_endian { kind << 27 | delta } else { delta << 5 | kind };
        self.data.extend(self.shape.n32(word));
    }

    /// A record of up to 112 bytes.
    pub(crate) fn record(mut self, delta: u32, record: &[u8]) -> Self {
        let length = record.len().next_multiple_of(4);
        self.word(length as u32 / 4, delta);
        self.data.extend(record);
        self.data.resize(self.data.len() + length - record.len(), 0);
        self
    }

    /// A record whose length stands before it.
    pub(crate) fn long_record(mut self, delta: u32, record: &[u8]) -> Self {
        let length = record.len().next_multiple_of(4);
        self.word(0, delta);
        self.data.extend(self.shape.n32(length as u32 + 4));
        self.data.extend(record);
        self.data.resize(self.data.len() + length - record.len(), 0);
        self
    }

    /// A record that was discarded: its length counts the word that tells it.
    pub(crate) fn discarded(mut self, delta: u32, length: u32) -> Self {
        self.word(29, delta);
        self.data.extend(self.shape.n32(length + 4));
        self.data.resize(self.data.len() + length as usize, 0xee);
        self
    }

    pub(crate) fn extend(mut self, delta: u64) -> Self {
        self.word(30, (delta & 0x07ff_ffff) as u32);
        self.data.extend(self.shape.n32((delta >> 27) as u32));
        self
    }

    pub(crate) fn absolute(mut self, time: u64) -> Self {
        self.word(31, (time & 0x07ff_ffff) as u32);
        self.data.extend(self.shape.n32((time >> 27) as u32));
        self
    }

    pub(crate) fn end(self) -> Vec<u8> {
        self.finish(0, None)
    }

    pub(crate) fn end_lost(self, lost: Option<u64>) -> Vec<u8> {
        let stored = if lost.is_some() { 1 << 30 } else { 0 };
        self.finish(1 << 31 | stored, lost)
    }

    fn finish(self, flags: u64, lost: Option<u64>) -> Vec<u8> {
        let shape = self.shape;
        let mut page = shape.n64(self.time);
        page.extend(shape.long_word(self.data.len() as u64 | flags));
        page.extend(&self.data);
        page.extend(lost.map(|lost| shape.long_word(lost)).unwrap_or_default());
        assert!(page.len() <= PAGE);
        page.resize(PAGE, 0);
        page
    }
}

impl File {
    pub(crate) fn new(shape: Shape, cpus: Vec<(u32, Vec<u8>)>) -> Self {
        let buffers = vec![Buffer { name: "", clock: "mono", cpus }];
        Self { shape, kallsyms: String::new(), buffers, options: Vec::new() }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let shape = self.shape;
        let mut file = b"\x17\x08\x44tracing".to_vec();
        file.extend([b'0' + shape.version, 0, u8::from(shape.big_endian), 8]);
        file.extend(shape.n32(PAGE as u32));
        if shape.version == 6 { self.version_6(file) } else { self.version_7(file) }
    }

    fn header_info(&self) -> Vec<u8> {
        let mut bytes = b"header_page\0".to_vec();
        bytes.extend(self.shape.sized(&self.shape.header_page()));
        bytes.extend(b"header_event\0");
        bytes.extend(self.shape.sized("# compressed entry header\n"));
        bytes
    }

    fn block(&self, text: &str) -> Vec<u8> {
        [self.shape.n32(text.len() as u32), text.as_bytes().to_vec()].concat()
    }

    fn option(&self, id: u16, data: &[u8]) -> Vec<u8> {
        [self.shape.n16(id), self.shape.n32(data.len() as u32), data.to_vec()].concat()
    }

    /// What perf saves of tracefs: the start of a version 6 file.
    pub(crate) fn tracing_data(&self) -> Vec<u8> {
        let mut data = b"\x17\x08\x44tracing0.6\0".to_vec();
        data.extend([u8::from(self.shape.big_endian), 8]);
        data.extend(self.shape.n32(PAGE as u32));
        self.described(data)
    }

    fn described(&self, mut file: Vec<u8>) -> Vec<u8> {
        let shape = self.shape;
        file.extend(self.header_info());
        file.extend(shape.n32(0));
        file.extend(shape.formats());
        file.extend(self.block(&self.kallsyms));
        file.extend(self.block(""));
        file.extend(shape.sized("0 <idle>\n"));
        file
    }

    fn version_6(&self, file: Vec<u8>) -> Vec<u8> {
        let shape = self.shape;
        let mut file = self.described(file);
        let cpus = &self.buffers[0].cpus;
        file.extend(shape.n32(cpus.len() as u32));
        file.extend(b"options  \0");
        self.options.iter().for_each(|(id, data)| file.extend(self.option(*id, data)));
        file.extend(
            self.option(4, format!("local [{}] boot\n\0", self.buffers[0].clock).as_bytes()),
        );
        file.extend(shape.n16(0));
        file.extend(b"flyrecord\0");
        let mut offset = (file.len() + 16 * cpus.len()).next_multiple_of(PAGE);
        for (_, pages) in cpus {
            file.extend(shape.n64(offset as u64));
            file.extend(shape.n64(pages.len() as u64));
            offset += pages.len();
        }
        file.resize(file.len().next_multiple_of(PAGE), 0);
        cpus.iter().for_each(|(_, pages)| file.extend(pages));
        file
    }

    fn pack(&self, bytes: &[u8]) -> Vec<u8> {
        match self.shape.compression {
            "zlib" => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Level::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            _ => zstd::bulk::compress(bytes, 1).unwrap(),
        }
    }

    /// Appends a section and says where it is.
    fn section(&self, file: &mut Vec<u8>, id: u16, content: &[u8]) -> Vec<u8> {
        let shape = self.shape;
        let offset = file.len() as u64;
        let compressed = shape.compression != "none" && id != 0;
        let content = if compressed {
            let packed = self.pack(content);
            [shape.n32(packed.len() as u32), shape.n32(content.len() as u32), packed].concat()
        } else {
            content.to_vec()
        };
        file.extend(shape.n16(id));
        file.extend(shape.n16(u16::from(compressed)));
        file.extend(shape.n32(0));
        file.extend(shape.n64(content.len() as u64));
        file.extend(content);
        shape.n64(offset)
    }

    fn version_7(&self, mut file: Vec<u8>) -> Vec<u8> {
        let shape = self.shape;
        file.extend(format!("{}\0{}\0", shape.compression, "1").as_bytes());
        let start = file.len();
        file.extend(shape.n64(0));
        let mut options = Vec::new();
        let at = self.section(&mut file, 16, &self.header_info());
        options.extend(self.option(16, &at));
        let at = self.section(&mut file, 17, &shape.n32(0));
        options.extend(self.option(17, &at));
        let at = self.section(&mut file, 18, &shape.formats());
        options.extend(self.option(18, &at));
        if !self.kallsyms.is_empty() {
            let at = self.section(&mut file, 19, &self.block(&self.kallsyms));
            options.extend(self.option(19, &at));
        }
        let at = self.section(&mut file, 20, &self.block(""));
        options.extend(self.option(20, &at));
        let at = self.section(&mut file, 21, &shape.sized("0 <idle>\n"));
        options.extend(self.option(21, &at));
        self.options.iter().for_each(|(id, data)| options.extend(self.option(*id, data)));
        options.extend(self.option(4, b"local [mono] boot\n\0"));
        options.extend(self.option(8, &shape.n32(8)));
        // As trace-cmd does, the buffers are told in a second list.
        let second = self.buffers.iter().fold(Vec::new(), |mut second, buffer| {
            second.extend(self.buffer(&mut file, buffer));
            second
        });
        let second = [second, self.option(0, &shape.n64(0))].concat();
        let at = self.section(&mut file, 0, &second);
        options.extend(self.option(0, &at));
        let at = self.section(&mut file, 0, &options);
        file[start..start + 8].copy_from_slice(&at);
        file
    }

    /// Appends the buffer's pages, and returns the option that tells of them.
    fn buffer(&self, file: &mut Vec<u8>, buffer: &Buffer) -> Vec<u8> {
        let shape = self.shape;
        let compressed = shape.compression != "none";
        let section = file.len();
        file.extend(shape.n16(3));
        file.extend(shape.n16(u16::from(compressed)));
        file.extend(shape.n32(0));
        file.extend(shape.n64(0));
        let mut option = shape.n64(section as u64);
        option.extend(format!("{}\0{}\0", buffer.name, buffer.clock).as_bytes());
        option.extend(shape.n32(PAGE as u32));
        option.extend(shape.n32(buffer.cpus.len() as u32));
        for (cpu, pages) in &buffer.cpus {
            if !compressed {
                file.resize(file.len().next_multiple_of(PAGE), 0);
            }
            let offset = file.len();
            if compressed {
                let chunks: Vec<&[u8]> = pages.chunks(PAGE).collect();
                file.extend(shape.n32(chunks.len() as u32));
                for chunk in chunks {
                    let packed = self.pack(chunk);
                    file.extend(shape.n32(packed.len() as u32));
                    file.extend(shape.n32(chunk.len() as u32));
                    file.extend(packed);
                }
            } else {
                file.extend(pages);
            }
            option.extend(shape.n32(*cpu));
            option.extend(shape.n64(offset as u64));
            option.extend(shape.n64((file.len() - offset) as u64));
        }
        let size = shape.n64((file.len() - section - 16) as u64);
        file[section + 8..section + 16].copy_from_slice(&size);
        self.option(3, &option)
    }
}

/// CPU, state, entry and exit in nanoseconds.
pub(crate) fn periods(recording: &Recording) -> Vec<(u32, usize, i64, i64)> {
    let of = |cpu: &CpuRecording| {
        let number = cpu.cpu.0;
        cpu.periods
            .iter()
            .map(move |p| (number, p.state.get(), p.enter.get(), p.exit.get()))
            .collect::<Vec<_>>()
    };
    recording.cpus.iter().flat_map(of).collect()
}

/// Which CPU the first note of a kind is of, and how often it happened.
pub(crate) fn note(recording: &Recording, kind: NoteKind) -> Option<(Option<CpuId>, u64)> {
    recording.notes.iter().find(|note| note.kind == kind).map(|note| (note.cpu, note.count))
}
