// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;

/// What a file looks like from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Nothing in it.
    Empty,
    /// Text as the kernel's tracefs prints it.
    FtraceText,
    /// A gzip stream.
    Gzip,
    /// A zstd stream.
    Zstd,
    /// An xz stream.
    Xz,
    /// A zip archive.
    Zip,
    /// trace-cmd's file.
    TraceDat,
    /// perf's file.
    PerfData,
    /// A Parquet file.
    Parquet,
    /// A Perfetto protobuf trace.
    Perfetto,
    /// A stream or metadata of the Common Trace Format.
    Ctf,
    /// A systrace page.
    Html,
    /// JSON.
    Json,
    /// A tar archive.
    Tar,
    /// What atrace writes with the option `-z`.
    Atrace,
    /// A program.
    Elf,
    /// Bytes that are no text.
    Binary,
}

impl Format {
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::Gzip | Self::Zstd | Self::Xz | Self::Zip | Self::Tar => "unpack it first",
            _ => {
                "ftrace text (as `cat /sys/kernel/tracing/trace`, `trace-cmd report -t` or \
                 `perf script --ns` print it), trace.dat, perf.data and the Parquet files of \
                 `idlelab import` are read, plain or gzipped"
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "an empty file",
            Self::FtraceText => "ftrace text",
            Self::Gzip => "a gzip file within a gzip file",
            Self::Zstd => "a zstd file",
            Self::Xz => "an xz file",
            Self::Zip => "a zip archive",
            Self::TraceDat => "trace-cmd's trace.dat",
            Self::PerfData => "perf.data",
            Self::Parquet => "a Parquet file",
            Self::Perfetto => "a Perfetto trace",
            Self::Ctf => "a CTF trace (LTTng)",
            Self::Html => "an HTML page (systrace?)",
            Self::Json => "JSON",
            Self::Tar => "a tar archive",
            Self::Atrace => "compressed atrace output",
            Self::Elf => "a program (ELF)",
            Self::Binary => "binary data of no known format",
        })
    }
}

const MAGICS: [(&[u8], Format); 15] = [
    (b"\x1f\x8b", Format::Gzip),
    (b"\x28\xb5\x2f\xfd", Format::Zstd),
    (b"\xfd7zXZ\0", Format::Xz),
    (b"PK\x03\x04", Format::Zip),
    (b"\x17\x08\x44tracing", Format::TraceDat),
    (b"PERFILE2", Format::PerfData),
    (b"2ELIFREP", Format::PerfData),
    (b"PERFFILE", Format::PerfData),
    (b"PAR1", Format::Parquet),
    (b"\xc1\x1f\xfc\xc1", Format::Ctf),
    (b"\x75\xd1\x1d\x57", Format::Ctf),
    (b"\x57\x1d\xd1\x75", Format::Ctf),
    (b"/* CTF", Format::Ctf),
    (b"\x7fELF", Format::Elf),
    (b"\x0a", Format::Perfetto),
];

/// Recognises a file by its first bytes.
pub(crate) fn recognise(start: &[u8]) -> Format {
    if start.is_empty() {
        return Format::Empty;
    }
    let looks_like_text = !start.iter().take(4096).any(|&byte| byte == 0 || byte == 0x7f);
    for (magic, format) in MAGICS {
        // A Perfetto trace begins with the tag of its first packet, which is a line feed too.
        let is_text = format == Format::Perfetto && looks_like_text;
        if start.starts_with(magic) && !is_text {
            return format;
        }
    }
    // A tar archive's mark stands in its first member's header.
    if start.get(257..).is_some_and(|from| from.starts_with(b"ustar")) {
        return Format::Tar;
    }
    let text = start.trim_ascii_start();
    // A zlib stream behind the word.
    if memchr::memmem::find(start.get(..256).unwrap_or(start), b"TRACE:\n\x78").is_some() {
        return Format::Atrace;
    }
    if text.starts_with(b"<!DOCTYPE") || text.starts_with(b"<html") {
        Format::Html
    } else if text.starts_with(b"{") {
        Format::Json
    } else if looks_like_text {
        Format::FtraceText
    } else {
        Format::Binary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (start, format) in [
            (&b"# tracer: nop\n#\n"[..], Format::FtraceText),
            (b"\n  <idle>-0 [000] d..1. 1.0: cpu_idle", Format::FtraceText),
            (b"\x17\x08\x44tracing7\0", Format::TraceDat),
            (b"PERFILE2h\0\0\0", Format::PerfData),
            (b"\x0a\x2b\x08\x00\x12", Format::Perfetto),
            (b"<!DOCTYPE html>\n", Format::Html),
            (b"\x01\x02\x00", Format::Binary),
            (b"", Format::Empty),
        ] {
            assert_eq!(recognise(start), format);
        }
    }
}
