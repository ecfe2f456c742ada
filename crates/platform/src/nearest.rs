// SPDX-License-Identifier: GPL-2.0-or-later

/// The candidate that most likely was meant by a mistyped word, if any is close enough to be worth
/// naming.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| distance <= 2 + candidate.chars().count() / 4)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance. A long word is no near miss of anything, so its cost is not paid.
fn distance(left: &str, right: &str) -> usize {
    const LONGEST: usize = 64;
    let right: Vec<char> = right.chars().take(LONGEST).collect();
    if left.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = i;
        let mut beside = i + 1;
        if let Some(first) = row.first_mut() {
            *first = beside;
        }
        for (r, above) in right.iter().zip(row.iter_mut().skip(1)) {
            let change = diagonal + usize::from(l != *r);
            diagonal = *above;
            *above = change.min(diagonal + 1).min(beside + 1);
            beside = *above;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbook() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn only_a_near_miss_is_named() {
        let keys = ["exit_latency_us", "target_residency_us", "name"];
        assert_eq!(nearest("exit_latency", keys), Some("exit_latency_us"));
        assert_eq!(nearest("nmae", keys), Some("name"));
        assert_eq!(nearest("voltage", keys), None);
        assert_eq!(nearest(&"x".repeat(100_000), keys), None);
    }
}
