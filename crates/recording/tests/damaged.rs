// SPDX-License-Identifier: GPL-2.0-or-later
//! Whatever the bytes, there is a recording or a sentence.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

use std::sync::Arc;

use idlelab_container::Damage;
use idlelab_platform::embedded;
use idlelab_recording::parquet::{ReadError, read, write};
use idlelab_recording::{CpuRecording, Decision, Period, Recording, WakeCauses};
use idlelab_states::{CpuId, Nanoseconds, StateIndex};
use parquet::data_type::{BoolType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

fn recording() -> Recording {
    let mut cpu = CpuRecording::new(CpuId(2));
    for round in 0..40 {
        let enter = Nanoseconds::from_micros(round * 1_000);
        cpu.periods.push(&Period {
            enter,
            exit: enter + Nanoseconds::from_micros(900),
            causes: WakeCauses::HRTIMER,
            next_timer: Some(enter + Nanoseconds::from_micros(890)),
            ..Period::default()
        });
        cpu.decisions.push(Decision {
            time: enter,
            latency_limit: None,
            tick: None,
            sleep_length: None,
            state: StateIndex::ZERO,
            stop_tick: true,
            reflection: None,
        });
    }
    Recording {
        source: "a test".to_owned(),
        cpus: vec![cpu],
        machine: embedded::get("testbed-arm64-4cpu"),
        governor: Some("teo".to_owned()),
        ..Recording::default()
    }
}

fn file() -> Vec<u8> {
    let mut file = Vec::new();
    write(&recording(), &mut file).unwrap();
    file
}

/// The same file as if another program had written it, so that no checksum is held against it.
fn file_of_another_program() -> Vec<u8> {
    let mut file = file();
    let at = file.windows(8).rposition(|bytes| bytes == b"idlelab ").unwrap();
    file[at..at + 8].copy_from_slice(b"another ");
    assert_eq!(read(file.clone()).unwrap(), recording());
    file
}

#[test]
fn a_cut_file_is_refused() {
    let file = file();
    for length in (0..file.len()).step_by(100).chain(file.len() - 12..file.len()) {
        let error = read(file[..length].to_vec()).unwrap_err();
        assert!(matches!(error, ReadError::File(Damage::NotWhole)), "{length}: {error}");
    }
}

/// It can be of no consequence in the writer's name, by which the checksum is known to be ours.
#[test]
fn a_flipped_bit_is_refused_or_changes_nothing() {
    let (file, recording) = (file(), recording());
    for at in 0..file.len() {
        for bit in [0, 3, 7] {
            let mut file = file.clone();
            file[at] ^= 1 << bit;
            if let Ok(found) = read(file) {
                assert!(found == recording, "byte {at}, bit {bit}");
            }
        }
    }
}

/// The parquet library has assertions of its own, so panics are caught; what is tested is that
/// none comes out.
#[test]
fn a_damaged_file_of_another_program_gives_a_recording_or_an_error() {
    let file = file_of_another_program();
    for at in 0..file.len() {
        for byte in [0x00, 0x7f, 0x80, 0xff] {
            let mut file = file.clone();
            file[at] = byte;
            let _ = read(file);
        }
    }
}

#[test]
fn other_bytes_are_refused() {
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"PAR1\0\0\0\0PAR1", b"PAR1\xff\xff\xff\xffPAR1"]
    {
        assert!(read(bytes).is_err());
    }
}

/// A Parquet file of one row, with the metadata of a recording or without.
fn foreign(schema: &str, metadata: &[(&str, &str)]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let entries = metadata
        .iter()
        .map(|&(key, value)| KeyValue { key: key.to_owned(), value: Some(value.to_owned()) });
    let properties =
        WriterProperties::builder().set_key_value_metadata(Some(entries.collect())).build();
    let mut file = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut file, schema.clone(), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for field in schema.get_fields() {
        let mut column = group.next_column().unwrap().unwrap();
        match field.get_physical_type() {
            parquet::basic::Type::INT64 => {
                column.typed::<Int64Type>().write_batch(&[1], None, None).unwrap();
            }
            parquet::basic::Type::BOOLEAN => {
                column.typed::<BoolType>().write_batch(&[true], None, None).unwrap();
            }
            _ => {
                column.typed::<Int32Type>().write_batch(&[1], None, None).unwrap();
            }
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

const METADATA: [(&str, &str); 6] = [
    ("idlelab.recording", "1"),
    ("idlelab.source", "elsewhere"),
    ("idlelab.fidelity", "1"),
    ("idlelab.misses_recorded", "false"),
    ("idlelab.cpus", "cpu,tick_phase_ns\n1,"),
    ("idlelab.notes", "kind,cpu,count"),
];

#[test]
fn what_is_missing_or_wrong_is_named() {
    let schema = "message m { required int32 cpu; required int64 idle_start_ns; }";
    let with = |key: &str, value: &'static str| {
        let metadata = METADATA.map(|(name, old)| (name, if name == key { value } else { old }));
        foreign(schema, &metadata)
    };
    let typed = |kind: &str| {
        let schema = format!("message m {{ required {kind} cpu; required int64 idle_start_ns; }}");
        foreign(&schema, &METADATA)
    };
    for (file, says) in [
        (foreign(schema, &[]), "no recording of idlelab"),
        (foreign(schema, &METADATA), "the column `enter_ns` is missing"),
        (typed("int64"), "the column `cpu` is INT64; INT32 was expected"),
        (typed("boolean"), "the column `cpu` is BOOLEAN; INT32 was expected"),
        (foreign(schema, &METADATA[..4]), "have no `idlelab.cpus`"),
        (with("idlelab.recording", "2"), "in format 2; this idlelab reads format 1"),
        (with("idlelab.fidelity", "5"), "say \"5\" where 1, 2, 3 or 4 was expected"),
        (with("idlelab.cpus", "cpu,tick_phase_ns\nx,"), "say \"x,\" where a CPU"),
        (with("idlelab.notes", "kind,cpu,count\nodd,,1"), "say \"odd,,1\" where a kind of note"),
    ] {
        let message = read(file).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}
