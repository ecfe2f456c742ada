// SPDX-License-Identifier: GPL-2.0-or-later
//! JSON, in one piece or a piece a line.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use super::{FromFile, Note, ReadError};
use crate::Outcome;

/// Whether content begins as JSON does; `[PATCH]` in a mail does not.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let mut visible = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!(
        (visible.next(), visible.next()),
        (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'{' | b']'))
    )
}

pub(super) fn read(bytes: &[u8], name: &str) -> Result<FromFile, ReadError> {
    let mut read = FromFile::default();
    let mut lines = bytes
        .split(|&byte| byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .peekable();
    let Some((_, first)) = lines.peek() else { return Ok(read) };
    if serde_json::from_slice::<IgnoredAny>(first).is_err() {
        // One document over several lines, or a single line that is wrong or cut.
        read.piece(bytes).map_err(|error| wrong(name, 0, &error))?;
        return Ok(read);
    }
    while let Some((at, line)) = lines.next() {
        match read.piece(line) {
            Ok(()) => {}
            Err(error) if error.classify() == Category::Eof && lines.peek().is_none() => {
                let text = "is cut off: left out, what stands before it is whole".to_owned();
                read.notes.push(Note { line: Some(at + 1), text });
            }
            Err(error) => return Err(wrong(name, at, &error)),
        }
    }
    Ok(read)
}

/// `before` is how many lines the piece has before it.
fn wrong(name: &str, before: usize, error: &serde_json::Error) -> ReadError {
    let advice = match error.classify() {
        Category::Eof => "; the file is cut off",
        Category::Data => "; docs/outcomes.md has every member of an outcome",
        _ => "",
    };
    // The library appends its own line, which may be that of a piece.
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = text.strip_suffix(&place).unwrap_or(&text);
    let reason = format!("column {}: {reason}{advice}", error.column());
    ReadError::value(name, before + error.line().max(1), reason)
}

/// Which of the documents that have outcomes it is.
#[derive(Deserialize)]
struct Shape {
    outcomes: Option<IgnoredAny>,
    counts: Option<IgnoredAny>,
}

/// What `idlelab replay` prints, as far as it is of use here.
#[derive(Deserialize)]
struct Replayed {
    #[serde(default)]
    self_check: SelfCheck,
    #[serde(default)]
    notes: Vec<String>,
    outcomes: Vec<Outcome>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SelfCheck {
    decisions: Option<u64>,
    reproduced: Option<u64>,
    accounting: Option<Accounting>,
}

#[derive(Deserialize)]
struct Accounting {
    disagreements: u64,
}

/// What `idlelab count` prints.
#[derive(Deserialize)]
struct Counted {
    counts: Vec<CountOf>,
}

#[derive(Deserialize)]
struct CountOf {
    label: Option<String>,
    window_ns: Option<u64>,
    #[serde(default)]
    findings: Vec<Finding>,
    outcome: Outcome,
}

#[derive(Deserialize)]
struct Finding {
    text: String,
}

impl FromFile {
    /// Takes in one JSON value.
    fn piece(&mut self, bytes: &[u8]) -> serde_json::Result<()> {
        if bytes.trim_ascii_start().starts_with(b"[") {
            self.outcomes.extend(whole::<Vec<Outcome>>(bytes)?);
            return Ok(());
        }
        let shape: Shape = whole(bytes)?;
        if shape.outcomes.is_some() {
            self.replayed(whole(bytes)?);
        } else if shape.counts.is_some() {
            whole::<Counted>(bytes)?.counts.into_iter().for_each(|count| self.counted(count));
        } else {
            self.outcomes.push(whole(bytes)?);
        }
        Ok(())
    }

    fn replayed(&mut self, document: Replayed) {
        let check = document.self_check;
        if check.reproduced != check.decisions
            || check.accounting.is_some_and(|accounting| accounting.disagreements > 0)
        {
            self.say("a self-check of this replay did not hold: do not trust its figures".into());
        }
        document.notes.into_iter().for_each(|note| self.say(note));
        self.outcomes.extend(document.outcomes);
    }

    fn counted(&mut self, count: CountOf) {
        let mut outcome = count.outcome;
        let label = count.label.unwrap_or_default();
        for finding in count.findings {
            self.say(format!("{label}: {}", finding.text));
        }
        if outcome.governor.is_none() && !label.is_empty() {
            self.say(format!(
                "{label}: the snapshots do not name the governor: called as the pair"
            ));
            outcome.governor = Some(label);
        }
        outcome.duration_ns = outcome.duration_ns.or(count.window_ns);
        self.outcomes.push(outcome);
    }

    fn say(&mut self, text: String) {
        self.notes.push(Note { line: None, text });
    }
}

fn whole<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes)
}
