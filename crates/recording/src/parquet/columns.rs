// SPDX-License-Identifier: GPL-2.0-or-later
//! The columns: their names, their types, and where in a [`Row`] their values are.

use std::sync::Arc;

use ::parquet::basic::{LogicalType, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::{Type, TypePtr};
use idlelab_container::column_type;
use idlelab_states::{Nanoseconds, StateIndex, Tick};

use super::row::Row;
use crate::{Miss, WakeCauses, WhatFollowed};

/// A column of the file.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// How a column's values come out of a row and go into it. What goes in may be refused by `false`.
pub(super) enum Values {
    /// 64 bits, signed: nanoseconds.
    Time { get: fn(&Row) -> Option<Nanoseconds>, set: fn(&mut Row, Nanoseconds) },
    /// 32 bits, unsigned: the CPU's number. Never null.
    Cpu { get: fn(&Row) -> u32, set: fn(&mut Row, u32) },
    /// 8 bits, unsigned: a state's number.
    State { get: fn(&Row) -> Option<StateIndex>, set: fn(&mut Row, StateIndex) },
    /// True or false.
    Flag { get: fn(&Row) -> Option<bool>, set: fn(&mut Row, bool) },
    /// One of a few words.
    Word {
        get: fn(&Row) -> Option<&'static str>,
        set: fn(&mut Row, &[u8]) -> bool,
        expected: &'static str,
    },
}

macro_rules! time {
    ($name:literal, $field:ident) => {
        Column {
            name: $name,
            values: Values::Time {
                get: |row| row.$field,
                set: |row, time| row.$field = Some(time),
            },
        }
    };
}

macro_rules! state {
    ($name:literal, $field:ident) => {
        Column {
            name: $name,
            values: Values::State {
                get: |row| row.$field,
                set: |row, state| row.$field = Some(state),
            },
        }
    };
}

macro_rules! flag {
    ($name:literal, $field:ident) => {
        Column {
            name: $name,
            values: Values::Flag {
                get: |row| row.$field,
                set: |row, flag| row.$field = Some(flag),
            },
        }
    };
}

macro_rules! cause {
    ($name:literal, $cause:ident) => {
        Column {
            name: $name,
            values: Values::Flag {
                get: |row| row.causes.map(|causes| causes.contains(WakeCauses::$cause)),
                set: |row, among| {
                    if among {
                        *row.causes.get_or_insert_default() |= WakeCauses::$cause;
                    }
                },
            },
        }
    };
}

macro_rules! word {
    ($name:literal, $field:ident, $kind:ty) => {
        Column {
            name: $name,
            values: Values::Word {
                get: |row| row.$field.and_then(Word::to_word),
                set: |row, word| {
                    row.$field = <$kind>::from_word(word);
                    row.$field.is_some()
                },
                expected: <$kind>::EXPECTED,
            },
        }
    };
}

/// All columns, in the order of the file.
pub(super) static COLUMNS: [Column; 33] = [
    Column {
        name: "cpu",
        values: Values::Cpu { get: |row| row.cpu, set: |row, cpu| row.cpu = cpu },
    },
    time!("idle_start_ns", idle_start),
    time!("enter_ns", enter),
    time!("exit_ns", exit),
    state!("state", state),
    time!("residency_ns", residency),
    cause!("woken_by_tick", TICK),
    cause!("woken_by_wheel_timer", WHEEL_TIMER),
    cause!("woken_by_hrtimer", HRTIMER),
    cause!("woken_by_interrupt", INTERRUPT),
    cause!("woken_by_ipi", IPI),
    cause!("woken_by_poll_limit", POLL_LIMIT),
    word!("followed_by", followed_by, WhatFollowed),
    time!("next_timer_ns", next_timer),
    time!("next_wheel_timer_ns", next_wheel_timer),
    time!("expired_timer_ns", expired_timer),
    word!("tick", tick, Tick),
    flag!("tick_stoppable", tick_stoppable),
    time!("latency_limit_ns", latency_limit),
    word!("miss", miss, Miss),
    flag!("events_lost_before", events_lost_before),
    flag!("bypassed_cpuidle", bypassed_cpuidle),
    time!("decided_ns", decided),
    time!("told_latency_limit_ns", told_latency_limit),
    word!("told_tick", told_tick, Tick),
    time!("told_sleep_length_ns", told_sleep_length),
    time!("told_delta_tick_ns", told_delta_tick),
    state!("selected_state", selected_state),
    flag!("stop_tick", stop_tick),
    state!("reflected_state", reflected_state),
    time!("reflected_residency_ns", reflected_residency),
    flag!("reflected_poll_time_limit", reflected_poll_time_limit),
    flag!("reflected_got_tick", reflected_got_tick),
];

impl Column {
    /// The type as a sentence names it.
    pub(super) const fn expected(&self) -> &'static str {
        match self.values {
            Values::Time { .. } => "INT64",
            Values::Cpu { .. } | Values::State { .. } => "INT32",
            Values::Flag { .. } => "BOOLEAN",
            Values::Word { .. } => "BYTE_ARRAY",
        }
    }

    pub(super) const fn physical(&self) -> Physical {
        match self.values {
            Values::Time { .. } => Physical::INT64,
            Values::Cpu { .. } | Values::State { .. } => Physical::INT32,
            Values::Flag { .. } => Physical::BOOLEAN,
            Values::Word { .. } => Physical::BYTE_ARRAY,
        }
    }

    /// Whether every row must have a value.
    pub(super) const fn is_required(&self) -> bool {
        matches!(self.values, Values::Cpu { .. })
    }

    fn schema(&self) -> Result<TypePtr, ParquetError> {
        let logical = match self.values {
            Values::Time { .. } | Values::Flag { .. } => None,
            Values::Cpu { .. } => Some(LogicalType::integer(32, false)),
            Values::State { .. } => Some(LogicalType::integer(8, false)),
            Values::Word { .. } => Some(LogicalType::String),
        };
        column_type(self.name, self.physical(), logical, self.is_required())
    }
}

/// The schema of the file.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let fields = COLUMNS.iter().map(Column::schema).collect::<Result<_, _>>()?;
    Type::group_type_builder("recording").with_fields(fields).build().map(Arc::new)
}

/// What is a word in the file.
trait Word: Copy + Sized {
    /// The words, for a sentence.
    const EXPECTED: &'static str;
    /// Its word; none for what the file calls null.
    fn to_word(self) -> Option<&'static str>;
    /// What the word says.
    fn from_word(word: &[u8]) -> Option<Self>;
}

impl Word for Tick {
    const EXPECTED: &'static str = "`running` or `stopped`";

    fn to_word(self) -> Option<&'static str> {
        Some(match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
        })
    }

    fn from_word(word: &[u8]) -> Option<Self> {
        match word {
            b"running" => Some(Self::Running),
            b"stopped" => Some(Self::Stopped),
            _ => None,
        }
    }
}

impl Word for WhatFollowed {
    const EXPECTED: &'static str = "`task` or `idle`";

    fn to_word(self) -> Option<&'static str> {
        match self {
            Self::Unknown => None,
            Self::Task => Some("task"),
            Self::Idle => Some("idle"),
        }
    }

    fn from_word(word: &[u8]) -> Option<Self> {
        match word {
            b"task" => Some(Self::Task),
            b"idle" => Some(Self::Idle),
            _ => None,
        }
    }
}

impl Word for Miss {
    const EXPECTED: &'static str = "`above` or `below`";

    fn to_word(self) -> Option<&'static str> {
        Some(match self {
            Self::Above => "above",
            Self::Below => "below",
        })
    }

    fn from_word(word: &[u8]) -> Option<Self> {
        match word {
            b"above" => Some(Self::Above),
            b"below" => Some(Self::Below),
            _ => None,
        }
    }
}
