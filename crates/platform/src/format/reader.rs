// SPDX-License-Identifier: GPL-2.0-or-later
//! TOML values that know their path and place, so that every complaint can name both.
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{PlatformError, Problem};
use crate::location::{Location, SourceText};
use crate::nearest::nearest;

/// A table whose keys have been checked.
pub(crate) struct Section<'d> {
    source: &'d SourceText<'d>,
    path: String,
    offset: usize,
    table: &'d DeTable<'d>,
}

/// A value.
pub(crate) struct Node<'d> {
    source: &'d SourceText<'d>,
    path: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Section<'d> {
    /// Refuses keys other than `known`.
    pub(crate) fn new(
        source: &'d SourceText<'d>,
        path: String,
        offset: usize,
        table: &'d DeTable<'d>,
        known: &[&str],
    ) -> Result<Self, PlatformError> {
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                return Err(PlatformError {
                    location: source.at(key.span().start),
                    key: join(&path, name),
                    problem: Box::new(Problem::UnknownKey {
                        nearest: nearest(name, known.iter().copied()).map(str::to_owned),
                        known: known.join(", "),
                    }),
                });
            }
        }
        Ok(Self { source, path, offset, table })
    }

    pub(crate) fn get(&self, key: &str) -> Option<Node<'d>> {
        let value = self.table.get(key)?;
        Some(Node { source: self.source, path: join(&self.path, key), value })
    }

    pub(crate) fn require(
        &self,
        key: &str,
        expected: &'static str,
    ) -> Result<Node<'d>, PlatformError> {
        self.get(key).ok_or_else(|| self.error(key, Problem::Missing { expected }))
    }

    /// The place and path of a key of this section; it need not be there.
    pub(crate) fn place(&self, key: &str) -> (Location, String) {
        let offset = self.table.get(key).map_or(self.offset, |value| value.span().start);
        (self.source.at(offset), join(&self.path, key))
    }

    pub(crate) fn error(&self, key: &str, problem: Problem) -> PlatformError {
        let (location, key) = self.place(key);
        PlatformError { location, key, problem: problem.into() }
    }

    /// The sections of an array of tables; none if the key is absent.
    pub(crate) fn sections(
        &self,
        key: &str,
        known: &[&str],
    ) -> Result<Vec<Section<'d>>, PlatformError> {
        self.get(key).map_or_else(|| Ok(Vec::new()), |node| node.sections(known))
    }
}

impl<'d> Node<'d> {
    pub(crate) fn place(&self) -> (Location, String) {
        (self.source.at(self.value.span().start), self.path.clone())
    }

    pub(crate) fn error(&self, problem: Problem) -> PlatformError {
        let (location, key) = self.place();
        PlatformError { location, key, problem: problem.into() }
    }

    pub(crate) fn unexpected(&self, expected: &'static str) -> PlatformError {
        self.error(Problem::Unexpected { expected, found: describe(self.value.get_ref()) })
    }

    /// What the value is, for a message.
    pub(crate) fn found(&self) -> String {
        describe(self.value.get_ref())
    }

    /// A text that is not blank.
    pub(crate) fn text(&self, expected: &'static str) -> Result<&'d str, PlatformError> {
        self.value
            .get_ref()
            .as_str()
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| self.unexpected(expected))
    }

    /// A whole number within a range.
    pub(crate) fn integer(
        &self,
        range: std::ops::RangeInclusive<i64>,
        expected: &'static str,
    ) -> Result<i64, PlatformError> {
        self.any_integer()
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.unexpected(expected))
    }

    /// A whole number, if it is one and fits.
    pub(crate) fn any_integer(&self) -> Option<i64> {
        let integer = self.value.get_ref().as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    /// A number that is finite and not negative, with or without a decimal point.
    pub(crate) fn number(&self, expected: &'static str) -> Result<f64, PlatformError> {
        let value = self.value.get_ref();
        let number = match value.as_float() {
            Some(float) => float.as_str().parse().ok(),
            None => self.any_integer().map(|integer| integer as f64),
        };
        number
            .filter(|number: &f64| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.unexpected(expected))
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        self.value.get_ref().as_bool()
    }

    /// One of several words.
    pub(crate) fn word<T: Clone>(
        &self,
        words: &[(&str, T)],
        expected: &'static str,
    ) -> Result<T, PlatformError> {
        let text = self.value.get_ref().as_str();
        words
            .iter()
            .find(|(word, _)| Some(*word) == text)
            .map(|(_, value)| value.clone())
            .ok_or_else(|| self.unexpected(expected))
    }

    /// The elements of an array, each with its number in its path unless it is the only one.
    pub(crate) fn elements(&self, expected: &'static str) -> Result<Vec<Node<'d>>, PlatformError> {
        let array = self.value.get_ref().as_array().ok_or_else(|| self.unexpected(expected))?;
        let single = array.len() == 1;
        let node = |(index, value)| {
            let path = if single { self.path.clone() } else { format!("{}[{index}]", self.path) };
            Node { source: self.source, path, value }
        };
        Ok(array.iter().enumerate().map(node).collect())
    }

    /// The elements of an array, or this value itself if it is none.
    pub(crate) fn one_or_more(self) -> Result<Vec<Node<'d>>, PlatformError> {
        if self.value.get_ref().is_array() { self.elements("an array") } else { Ok(vec![self]) }
    }

    pub(crate) fn section(&self, known: &[&str]) -> Result<Section<'d>, PlatformError> {
        let table =
            self.value.get_ref().as_table().ok_or_else(|| self.unexpected("a table of keys"))?;
        Section::new(self.source, self.path.clone(), self.value.span().start, table, known)
    }

    fn sections(&self, known: &[&str]) -> Result<Vec<Section<'d>>, PlatformError> {
        let elements = self.elements("an array of tables, written [[…]] or [{ … }, …]")?;
        elements.iter().map(|node| node.section(known)).collect()
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Long values are cut, since a message is read by people.
fn describe(value: &DeValue<'_>) -> String {
    const LONGEST: usize = 60;
    match value {
        DeValue::String(text) if text.chars().count() > LONGEST => {
            format!("\"{}…\"", text.chars().take(LONGEST).collect::<String>())
        }
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(integer) => integer.to_string().chars().take(LONGEST).collect(),
        DeValue::Float(float) => float.to_string().chars().take(LONGEST).collect(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(datetime) => format!("the date {datetime}"),
        DeValue::Array(array) => format!("an array of {}", array.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
