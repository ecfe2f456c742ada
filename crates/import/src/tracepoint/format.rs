// SPDX-License-Identifier: GPL-2.0-or-later
//! The kernel's description of a tracepoint's record, as `events/<system>/<event>/format` has it.
//!
//! ```text
//! name: cpu_idle
//! ID: 568
//! format:
//!         field:unsigned short common_type;  offset:0;  size:2;  signed:0;
//!         field:u32 state;  offset:8;  size:4;  signed:0;
//!
//! print fmt: "state=%lu cpu_id=%lu", …
//! ```
//!
//! Kernels differ in the common fields and in the sizes of types, so nothing of a record is read
//! but by such a description.

use crate::bytes::ByteOrder;

/// Where a field is within a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// In bytes, as its size. No record that is read reaches beyond 64 KiB.
    offset: u16,
    size: u16,
    signed: bool,
    text: Option<TextLocation>,
}

/// How a field of type `char[]` says where its text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextLocation {
    /// `__data_loc`: from the start of the record.
    Record,
    /// `__rel_loc`: from the end of the field.
    Field,
}

impl Field {
    /// Its value, as wide as the kernel's.
    #[inline]
    pub(crate) fn get(self, record: &[u8], order: ByteOrder) -> Option<u64> {
        let bytes = record.get(self.offset()..)?;
        let bits = match self.size {
            1 => u64::from(*bytes.first()?),
            2 => u64::from(order.u16(bytes)?),
            4 => u64::from(order.u32(bytes)?),
            8 => order.u64(bytes)?,
            _ => return None,
        };
        Some(bits)
    }

    /// Its value, with the sign of the field's own width.
    #[inline]
    pub(crate) fn signed(self, record: &[u8], order: ByteOrder) -> Option<i64> {
        let bits = self.get(record, order)?;
        Some(match (self.signed, self.size) {
            (true, 1) => i64::from((bits as u8).cast_signed()),
            (true, 2) => i64::from((bits as u16).cast_signed()),
            (true, 4) => i64::from((bits as u32).cast_signed()),
            _ => bits.cast_signed(),
        })
    }

    /// The value that has all bits of the field's width set.
    #[inline]
    pub(crate) const fn all_ones(self) -> u64 {
        if self.size >= 8 { u64::MAX } else { (1 << (8 * self.size)) - 1 }
    }

    /// How many bytes it has.
    #[inline]
    pub(crate) const fn size(self) -> usize {
        self.size as usize
    }

    /// Where it begins.
    #[inline]
    pub(crate) const fn offset(self) -> usize {
        self.offset as usize
    }

    /// The text that it holds or points to, up to its NUL.
    pub(crate) fn text(self, record: &[u8], order: ByteOrder) -> Option<&[u8]> {
        let text = match self.text {
            None => record.get(self.offset()..self.offset() + self.size())?,
            Some(from) => {
                let location = order.u32(record.get(self.offset()..)?)?;
                let base = match from {
                    TextLocation::Record => 0,
                    TextLocation::Field => self.offset() + self.size(),
                };
                let start = base + (location & 0xffff) as usize;
                record.get(start..start + (location >> 16) as usize)?
            }
        };
        text.split(|&byte| byte == 0).next()
    }
}

/// The description of one kind of record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) id: Option<u16>,
    pub(crate) print: String,
    fields: Vec<(String, Field)>,
}

impl Format {
    /// Reads a description; what it does not understand it leaves out.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut format = Self::default();
        for line in text.lines() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix("name:") {
                name.trim().clone_into(&mut format.name);
            } else if let Some(id) = line.strip_prefix("ID:") {
                format.id = id.trim().parse().ok();
            } else if let Some(print) = line.strip_prefix("print fmt:") {
                print.trim().clone_into(&mut format.print);
            } else if let Some(field) = line.strip_prefix("field:") {
                format.fields.extend(self::field(field));
            }
        }
        format
    }

    /// The field of this name.
    pub(crate) fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|&(_, field)| field)
    }
}

/// `u32 state; offset:8; size:4; signed:0;`
fn field(text: &str) -> Option<(String, Field)> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", number)) => offset = number.trim().parse().ok(),
            Some(("size", number)) => size = number.trim().parse().ok(),
            Some(("signed", number)) => signed = number.trim() == "1",
            _ => {}
        }
    }
    let text = if declaration.starts_with("__data_loc") {
        Some(TextLocation::Record)
    } else if declaration.starts_with("__rel_loc") {
        Some(TextLocation::Field)
    } else {
        None
    };
    let name = declaration.split_whitespace().next_back()?;
    let name = name.split('[').next()?.trim_start_matches('*').to_owned();
    let size: u32 = size?;
    // A page's data is longer than any field of a record; only where it begins is of use.
    let size = u16::try_from(size).unwrap_or(u16::MAX);
    Some((name, Field { offset: offset?, size, signed, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The RT kernels' common fields push the payload from offset 8 to 12.
    const RT: &[u8] = b"name: cpu_idle\nID: 300\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned char common_migrate_disable;\toffset:8;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_lazy_count;\toffset:9;\tsize:1;\tsigned:0;\n\n\
        \tfield:u32 state;\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:u32 cpu_id;\toffset:16;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"state=%lu\"\n";

    #[test]
    fn fields_are_where_the_description_says() {
        let format = Format::parse(RT);
        assert_eq!((format.name.as_str(), format.id), ("cpu_idle", Some(300)));
        let mut record = [0; 20];
        record[12] = 3;
        record[16] = 7;
        let get = |name| format.field(name).unwrap().get(&record, ByteOrder::Little);
        assert_eq!((get("state"), get("cpu_id")), (Some(3), Some(7)));
        assert_eq!(format.field("state").unwrap().get(&record[..14], ByteOrder::Little), None);
        assert_eq!(format.field("absent"), None);
    }

    #[test]
    fn a_sign_is_that_of_the_fields_width() {
        let (_, field) = field("s32 value;\toffset:0;\tsize:4;\tsigned:1;").unwrap();
        assert_eq!(field.signed(&[0xfe, 0xff, 0xff, 0xff], ByteOrder::Little), Some(-2));
        assert_eq!(field.signed(&[0xff, 0xff, 0xff, 0xfe], ByteOrder::Big), Some(-2));
    }

    #[test]
    fn text_is_found_by_either_kind_of_location() {
        let record = [0, 0, 6, 0, 3, 0, b'a', b'b', 0];
        let at = |declaration: &str| {
            let (_, field) = field(&format!("{declaration}; offset:2; size:4; signed:0;")).unwrap();
            field.text(&record, ByteOrder::Little).map(<[u8]>::to_vec)
        };
        assert_eq!(at("__data_loc char[] name"), Some(b"ab".to_vec()));
        // Three bytes at offset 6 from the field's end are beyond the record.
        assert_eq!(at("__rel_loc char[] name"), None);
    }
}
