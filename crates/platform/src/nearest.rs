// SPDX-License-Identifier: GPL-2.0-or-later

use strsim::levenshtein;

/// The longest word worth looking for, in bytes.
const LONGEST: usize = 64;

/// The candidate that most likely was meant by a mistyped word, if any is close enough to be worth
/// naming.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A long word is no near miss of anything, so the cost of finding out is not paid.
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| distance <= 2 + candidate.chars().count() / 4)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_miss_is_named() {
        let keys = ["exit_latency_us", "target_residency_us", "name"];
        assert_eq!(nearest("exit_latency", keys), Some("exit_latency_us"));
        assert_eq!(nearest("nmae", keys), Some("name"));
        assert_eq!(nearest("voltage", keys), None);
        assert_eq!(nearest(&"x".repeat(100_000), keys), None);
    }
}
