// SPDX-License-Identifier: GPL-2.0-or-later
//! The headlines as people read them.

use std::fmt::Write;

use crate::{Conclusion, Headline};

/// A block a headline: what was done, each figure beside what was published, and the conclusion; at
/// most 100 columns.
#[must_use]
pub fn plain_text(headlines: &[Headline]) -> String {
    let mut text = String::new();
    let count = |wanted| headlines.iter().filter(|one| one.conclusion == wanted).count();
    for headline in headlines {
        let conclusion = match headline.conclusion {
            Conclusion::Same => "same conclusion",
            Conclusion::Missed => "MISSED",
            Conclusion::NotRun => "not run",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<4} {}", headline.id, headline.experiment);
        let _ = writeln!(text, "     {}: {conclusion}", headline.platform);
        for measure in &headline.measures {
            let mark = if measure.holds() { ' ' } else { '!' };
            let (low, high) = measure.interval;
            let _ = writeln!(
                text,
                "   {mark} {:<52} {:>9} ({} to {}), band {} to {}",
                measure.what,
                number(measure.simulated),
                number(low),
                number(high),
                number(measure.low),
                number(measure.high)
            );
            let _ = writeln!(text, "       published: {}", measure.published);
        }
        if !headline.remark.is_empty() {
            let _ = writeln!(text, "     {}", headline.remark);
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "{} of {} reach the published conclusion, {} miss it, {} cannot be run",
        count(Conclusion::Same),
        headlines.len(),
        count(Conclusion::Missed),
        count(Conclusion::NotRun)
    );
    text
}

fn number(value: f64) -> String {
    let digits = match value.abs() {
        at_least if at_least >= 100.0 => 0,
        at_least if at_least >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}
