// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;

/// A place in a file, printed as compilers print it: `file:line:column`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file's name as the caller gave it.
    pub file: String,
    /// The line, counted from 1; `None` if the whole file is meant.
    pub line: Option<usize>,
    /// The column in characters, counted from 1.
    pub column: Option<usize>,
}

impl Location {
    /// The whole of a file.
    pub(crate) fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, column: None }
    }

    /// A line of a file, counted from 1.
    pub(crate) fn line(file: &str, line: usize) -> Self {
        Self { file: file.to_owned(), line: Some(line), column: None }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// A text under its file's name: turns byte offsets into places.
pub(crate) struct SourceText<'a> {
    file: &'a str,
    text: &'a str,
    /// The offset at which each line starts.
    starts: Vec<usize>,
}

impl<'a> SourceText<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at + 1))
            .collect();
        Self { file, text, starts }
    }

    pub(crate) fn at(&self, offset: usize) -> Location {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied();
        let before = self.text.get(start.unwrap_or_default()..offset).unwrap_or_default();
        Location {
            file: self.file.to_owned(),
            line: Some(line),
            column: Some(before.chars().count() + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = SourceText::new("my.toml", "a = 1\nä = 'é'\n");
        assert_eq!(source.at(0).to_string(), "my.toml:1:1");
        let equals = "a = 1\nä ".len();
        assert_eq!(source.at(equals).to_string(), "my.toml:2:3");
        assert_eq!(source.at(9_999).to_string(), "my.toml:3:1");
    }
}
