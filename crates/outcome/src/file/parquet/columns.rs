// SPDX-License-Identifier: GPL-2.0-or-later
//! The columns: their names, their types, and where in a [`Row`] their values are.

use std::sync::Arc;

use ::parquet::basic::{LogicalType, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::{Type, TypePtr};
use idlelab_container::column_type;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Bench;
use crate::file::Row;

/// A column of the file.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// How a column's values come out of a row and go into it.
pub(super) enum Values {
    /// 64 bits, unsigned.
    Count { get: fn(&Row) -> Option<u64>, set: fn(&mut Row, u64) },
    /// 32 bits, unsigned.
    Number { get: fn(&Row) -> Option<u32>, set: fn(&mut Row, u32) },
    /// Floating point.
    Real { get: fn(&Row) -> Option<f64>, set: fn(&mut Row, f64) },
    /// Text. What goes in may be refused by `false`.
    Text {
        get: fn(&Row) -> Option<String>,
        set: fn(&mut Row, &str) -> bool,
        expected: &'static str,
    },
}

macro_rules! count {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            values: Values::Count {
                get: |row| row.$field,
                set: |row, value| row.$field = Some(value),
            },
        }
    };
}

macro_rules! number {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            values: Values::Number {
                get: |row| row.$field,
                set: |row, value| row.$field = Some(value),
            },
        }
    };
    ($field:ident, required) => {
        Column {
            name: stringify!($field),
            values: Values::Number {
                get: |row| Some(row.$field),
                set: |row, value| row.$field = value,
            },
        }
    };
}

macro_rules! real {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            values: Values::Real {
                get: |row| row.$field,
                set: |row, value| row.$field = Some(value),
            },
        }
    };
}

macro_rules! text {
    ($field:ident) => {
        Column {
            name: stringify!($field),
            values: Values::Text {
                get: |row| row.$field.clone(),
                set: |row, text| {
                    row.$field = Some(text.to_owned());
                    true
                },
                expected: "a text",
            },
        }
    };
    ($field:ident, json, $expected:literal) => {
        Column {
            name: stringify!($field),
            values: Values::Text {
                get: |row| row.$field.as_ref().and_then(to_json),
                set: |row, text| {
                    row.$field = from_json(text);
                    row.$field.is_some()
                },
                expected: $expected,
            },
        }
    };
    ($field:ident, word, $expected:literal) => {
        Column {
            name: stringify!($field),
            values: Values::Text {
                get: |row| row.$field.as_ref().and_then(to_word),
                set: |row, text| {
                    row.$field = from_word(text);
                    row.$field.is_some()
                },
                expected: $expected,
            },
        }
    };
}

/// All columns, in the order of the file.
pub(super) static COLUMNS: [Column; 35] = [
    number!(outcome, required),
    Column {
        name: "bench",
        values: Values::Text {
            get: |row| to_word(&row.bench),
            set: |row, text| {
                let bench: Option<Bench> = from_word(text);
                bench.inspect(|&bench| row.bench = bench).is_some()
            },
            expected: "`replay`, `count` or `published`",
        },
    },
    text!(governor),
    text!(standing),
    text!(platform),
    text!(workload),
    number!(iteration, required),
    number!(order),
    count!(duration_ns),
    text!(assumption, word, "`all-timers` or `all-interrupts`"),
    number!(cpu),
    number!(state),
    text!(name),
    count!(usage),
    count!(time_ns),
    count!(above),
    count!(below),
    count!(rejected),
    count!(idles),
    count!(misses),
    count!(all_above),
    count!(all_below),
    count!(ticks),
    count!(sleep_length_queries),
    real!(measured_joules),
    real!(modelled_joules),
    count!(wakeup_latency_p50_ns),
    count!(wakeup_latency_p99_ns),
    count!(wakeup_latency_max_ns),
    count!(too_shallow_ns),
    count!(too_deep_ns),
    real!(regret_joules),
    text!(wakeup_latency_counts, json, "a JSON list of pairs of latency and count"),
    text!(off_by, json, "a JSON list of `states` and `stays`"),
    text!(figures, json, "a JSON list of figures"),
];

fn to_json<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_string(value).ok()
}

fn from_json<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// A word as JSON has it, without its quotes.
fn to_word<T: Serialize>(value: &T) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Some(word),
        _ => None,
    }
}

fn from_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

impl Column {
    pub(super) const fn physical(&self) -> Physical {
        match self.values {
            Values::Count { .. } => Physical::INT64,
            Values::Number { .. } => Physical::INT32,
            Values::Real { .. } => Physical::DOUBLE,
            Values::Text { .. } => Physical::BYTE_ARRAY,
        }
    }

    /// Whether every file has it, and a value in every row.
    pub(super) fn is_required(&self) -> bool {
        ["outcome", "bench", "iteration"].contains(&self.name)
    }

    fn schema(&self) -> Result<TypePtr, ParquetError> {
        let logical = match self.values {
            Values::Count { .. } => Some(LogicalType::integer(64, false)),
            Values::Number { .. } => Some(LogicalType::integer(32, false)),
            Values::Real { .. } => None,
            Values::Text { .. } => Some(LogicalType::String),
        };
        column_type(self.name, self.physical(), logical, self.is_required())
    }
}

/// The schema of the file.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let fields = COLUMNS.iter().map(Column::schema).collect::<Result<_, _>>()?;
    Type::group_type_builder("outcomes").with_fields(fields).build().map(Arc::new)
}
