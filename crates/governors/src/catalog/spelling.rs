// SPDX-License-Identifier: GPL-2.0-or-later
//! How alike two names are spelled.

/// The longest name in the catalogue that the edit distance must have room for, in characters.
const LONGEST_NAME: usize = 17;

/// How many characters must be put in, left out or changed to make one name of the other.
pub(super) fn edit_distance(given: &str, known: &str) -> usize {
    // Row by row of the usual table: each cell is the distance of what was read of `given` to the
    // first so many characters of `known`.
    let mut row = [0_usize; LONGEST_NAME];
    for (length, cell) in (1..).zip(&mut row) {
        *cell = length;
    }
    let mut given_length = 0_usize;
    for character in given.chars() {
        let mut diagonal = given_length;
        given_length = given_length.saturating_add(1);
        let mut left = given_length;
        for (cell, known_character) in row.iter_mut().zip(known.chars()) {
            let changed = diagonal.saturating_add(usize::from(character != known_character));
            diagonal = *cell;
            left = changed.min(left.min(*cell).saturating_add(1));
            *cell = left;
        }
    }
    match known.chars().count().checked_sub(1) {
        Some(last) => row.get(last).copied().unwrap_or(usize::MAX),
        None => given_length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOGUE;

    #[test]
    fn edit_distances_count_characters() {
        assert_eq!(edit_distance("menu", "menu"), 0);
        assert_eq!(edit_distance("meun", "menu"), 2);
        assert_eq!(edit_distance("", "teo"), 3);
        assert_eq!(edit_distance("teo@6.15", "teo@6.14"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("mënu", "menu"), 1);
    }

    #[test]
    fn every_name_of_the_catalogue_fits_the_edit_distance() {
        assert!(CATALOGUE.iter().all(|entry| (1..=LONGEST_NAME).contains(&entry.name.len())));
    }
}
