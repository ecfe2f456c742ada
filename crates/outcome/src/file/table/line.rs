// SPDX-License-Identifier: GPL-2.0-or-later
//! Lines of a mail, and what stands in their columns.

/// A line without the marks that mail programs put before what they quote.
pub(super) fn unquoted(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

/// Whether a line only rules off a table.
pub(super) fn is_rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| "-=+|:_ \t".contains(c))
}

/// What parts the columns of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// Bars, as in Markdown and in boxes.
    Bars,
    /// Commas.
    Commas,
    /// Tabs, or two blanks and more: names may then have a blank in them.
    Wide,
    /// Any blanks.
    Narrow,
}

/// The ways a line may be split, the most telling first.
pub(super) fn splits(line: &str) -> &'static [Split] {
    if line.contains('|') {
        &[Split::Bars]
    } else if line.contains(',') {
        &[Split::Wide, Split::Narrow, Split::Commas]
    } else {
        &[Split::Wide, Split::Narrow]
    }
}

/// The cells of a line. Empty ones are dropped where blanks part them, since how many tabs people
/// put between columns means nothing.
pub(super) fn cells(line: &str, split: Split) -> Vec<&str> {
    match split {
        Split::Bars => line.trim().trim_matches('|').split('|').map(str::trim).collect(),
        Split::Commas => line.split(',').map(|cell| cell.trim().trim_matches('"')).collect(),
        Split::Wide => line
            .split('\t')
            .flat_map(|part| part.split("  "))
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect(),
        Split::Narrow => line.split_whitespace().collect(),
    }
}

/// A cell that should be a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// It is one. A per cent sign is passed over, so are commas between thousands.
    Known {
        value: f64,
        /// How many decimals it is written with.
        decimals: i32,
    },
    /// It says that there is none.
    Unknown,
}

impl Number {
    pub(super) fn of(cell: &str) -> Option<Self> {
        let cell = cell.strip_suffix('%').unwrap_or(cell).trim();
        if ["", "-", "--", "?", "n/a", "N/A", "NA", "***"].contains(&cell) {
            return Some(Self::Unknown);
        }
        let digits = without_thousands(cell)?;
        // Words such as `inf` and `nan` are numbers to the standard library.
        if !digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            return None;
        }
        let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
        let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Some(Self::Known { value, decimals: i32::try_from(decimals).ok()? })
    }

    pub(super) fn value(self) -> Option<f64> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Unknown => None,
        }
    }
}

/// Takes the commas out of `1,234,567`; a comma elsewhere makes it no number.
fn without_thousands(cell: &str) -> Option<String> {
    let whole = cell.split_once('.').map_or(cell, |(whole, _)| whole);
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let mut thousands = false;
    for group in groups {
        thousands = true;
        if group.len() != 3 || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    if thousands && (first.is_empty() || first.len() > 4) {
        return None;
    }
    Some(cell.replace(',', ""))
}

/// A count, exactly.
pub(super) fn count(value: f64) -> Option<u64> {
    // Up to here every whole number is one of the floating-point numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (value.fract() == 0.0 && (0.0..=EXACT).contains(&value)).then_some(value as u64)
}

/// Whether a line has more numbers than words.
pub(super) fn is_mostly_numbers(line: &str) -> bool {
    let cells: Vec<&str> = line.split(|c: char| c.is_whitespace() || c == '|').collect();
    let cells: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    let numbers = cells.iter().filter(|cell| is_number(cell)).count();
    numbers >= 2 && numbers * 2 >= cells.len()
}

pub(super) fn is_number(cell: &str) -> bool {
    matches!(Number::of(cell), Some(Number::Known { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(cell: &str) -> Option<Option<f64>> {
        Number::of(cell).map(Number::value)
    }

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(value("64,649"), Some(Some(64_649.0)));
        assert_eq!(value("33.76%"), Some(Some(33.76)));
        assert_eq!(value("218.1"), Some(Some(218.1)));
        assert_eq!(value("-"), Some(None));
        for wrong in ["teo", "nan", "inf", "1,2", "1,23,456", "6.12.3", ",123", "12345,678"] {
            assert_eq!(value(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(count(12.0), Some(12));
        assert_eq!(count(12.5), None);
        assert_eq!(count(-1.0), None);
        assert_eq!(count(1e300), None);
    }

    #[test]
    fn quoting_and_rules_are_seen_through() {
        assert_eq!(unquoted("> > teo\t0  "), "teo\t0");
        assert!(is_rule("| --- | ---: |") && is_rule("====") && !is_rule("") && !is_rule("- a"));
    }
}
