// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether the judge would notice: each comparison and constant of the kernel's C files is changed,
//! one at a time, and the judge must tell the changed file from the governor here.
//!
//! Needs the files: the environment variable IDLELAB_KERNEL_SOURCES names the folder that
//! `scripts/kernel-sources.sh` has filled.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use idlelab_judge::sources::{self, GOVERNORS};
use rayon::prelude::*;

/// Decisions after which a mutant is given up.
const DECISIONS: &str = "20M";

/// The kernel whose mutants were gone through.
const LISTED: &str = "7.3.4";

/// Mutants that decide as the unchanged file does.
struct Alike {
    governor: &'static str,
    lines: &'static [usize],
    /// Of all changes in those lines, those that begin so.
    change: &'static str,
    /// Why.
    #[expect(dead_code, reason = "for readers")]
    because: &'static str,
}

impl Alike {
    fn is(&self, governor: &str, mutant: &Mutant) -> bool {
        self.governor == governor
            && self.lines.contains(&mutant.line)
            && mutant.change.starts_with(self.change)
    }
}

const DECIDES_ALIKE: [Alike; 26] = [
    alike("teo", &[313], "", "half a tick stands for the tick only where one state is enabled"),
    alike("teo", &[314, 316, 317], "0", "overwritten before it is read"),
    alike("teo", &[319, 321, 327], "1", "any number below 0 will do"),
    alike("teo", &[433, 480], ">", "at equality a state is replaced by itself"),
    alike("teo", &[509], "", "all that matters is that it is less than a tick"),
    alike("teo", &[526], ">", "there is no enabled state below the first one"),
    alike("menu", &[118], "1", "samples are not negative"),
    alike("menu", &[144], ">", "at equality a sample is replaced by itself"),
    alike("menu", &[147], "<", "at equality a sample is replaced by itself"),
    alike(
        "menu",
        &[177],
        "",
        "no eight samples have a variance of 2^64/36 or just below by chance",
    ),
    alike("menu", &[242], "RESIDENCY_THRESHOLD_NS -> (RESIDENCY_THRESHOLD_NS + 1)", WHOLE),
    alike("menu", &[272, 337], "TICK_NSEC -> (TICK_NSEC - 1)", WHOLE),
    alike("menu", &[247], "", "zero is set to zero, and 1 ns admits no other state than 0"),
    alike("menu", &[249], "0", "the tick is not looked at where the timer has expired"),
    alike("menu", &[283], "", "what is predicted is at most 15 us then, far below half a tick"),
    alike("menu", &[375], ">", "there is no state below 0"),
    alike("menu", &[409], "1", "a flag: any number but 0 will do"),
    alike("menu", &[467, 474], ">", "both ways give the same at equality"),
    alike("menu", &[497, 498], "", "code that never runs"),
    alike("menu", &[522], "<", "writes where nobody reads"),
    alike("ladder", &[57, 93, 149], "0", "one demotion is enough, and counted before it is read"),
    alike("ladder", &[117], "0", "the demotion that follows sets it to zero"),
    alike("ladder", &[114, 156], ">", "the first rung is not left downwards"),
    alike("ladder", &[144, 154], "<", "the last rung is not left upwards"),
    alike("haltpoll", &[87, 89], "", "at equality a limit is replaced by itself"),
    alike("haltpoll", &[99, 100], "0", "the parameter is not 0"),
];

const WHOLE: &str = "a prediction is a whole number of microseconds";

const fn alike(
    governor: &'static str,
    lines: &'static [usize],
    change: &'static str,
    because: &'static str,
) -> Alike {
    Alike { governor, lines, change, because }
}

/// A changed copy of a file.
struct Mutant {
    line: usize,
    change: String,
    text: String,
}

/// Everything but code replaced by blanks of the same length.
fn code_only(text: &str) -> Vec<u8> {
    let mut code = text.as_bytes().to_vec();
    let mut at = 0;
    while at < code.len() {
        let rest = &text.as_bytes()[at..];
        let length = if rest.starts_with(b"/*") {
            text[at..].find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with(b"//") || (rest[0] == b'#' && (at == 0 || code[at - 1] == b'\n'))
        {
            text[at..].find('\n').unwrap_or(rest.len())
        } else if rest[0] == b'"' {
            text[at + 1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            at += 1;
            continue;
        };
        code[at..at + length].iter_mut().filter(|byte| **byte != b'\n').for_each(|b| *b = b' ');
        at += length;
    }
    code
}

/// The mutants of a file: each comparison one off, each comparison with a tick or a threshold too,
/// each small number one more.
fn mutants(text: &str) -> Vec<Mutant> {
    const OPERATORS: [(&str, &str); 6] =
        [("<=", "<"), (">=", ">"), ("==", "!="), ("!=", "=="), ("<", "<="), (">", ">=")];
    const NAMES: [&str; 4] =
        ["TICK_NSEC", "RESIDENCY_THRESHOLD_NS", "LATENCY_THRESHOLD_NS", "SAFE_TIMER_RANGE_NS"];
    let code = code_only(text);
    // What is registered at the end decides nothing.
    let end = text.find("static struct cpuidle_governor").unwrap();
    let mut depth = 0_usize;
    let mut found = Vec::new();
    let mut at = 0;
    while at < end {
        let rest = &code[at..];
        match rest[0] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let begins = at == 0 || !is_word(code[at - 1]);
        let mut replace = |length: usize, by: String| {
            found.push(Mutant {
                line: text[..at].matches('\n').count() + 1,
                change: format!("{} -> {by}", &text[at..at + length]),
                text: format!("{}{by}{}", &text[..at], &text[at + length..]),
            });
        };
        let word = rest.iter().take_while(|&&byte| is_word(byte)).count();
        let shift = rest.starts_with(b"<<") || rest.starts_with(b">>");
        let arrow = at > 0 && code[at - 1] == b'-' && rest[0] == b'>';
        let operator = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator.as_bytes()));
        if depth > 0 && shift {
            at += 2;
            continue;
        } else if depth > 0
            && !arrow
            && let Some((operator, by)) = operator
        {
            replace(operator.len(), (*by).to_owned());
            at += operator.len();
            continue;
        } else if depth > 0 && begins && word > 0 {
            let name = &text[at..at + word];
            if NAMES.contains(&name) {
                replace(word, format!("({name} + 1)"));
                replace(word, format!("({name} - 1)"));
            } else if let Ok(number) = name.parse::<i64>() {
                replace(word, (number + 1).to_string());
            }
        }
        at += word.max(1);
    }
    found
}

/// What the judge says of a governor's file: how many steps and states show that it differs, or
/// `None` if it does not notice.
fn judged(folder: &Path, kernel: &str, governor: &str) -> Result<Option<(usize, usize)>, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_judge"))
        .args(["--decisions", DECISIONS, "--hz", "250", "--threads", "1", "--source"])
        .arg(folder)
        .arg("--output")
        .arg(folder)
        .env("XDG_CACHE_HOME", folder)
        .output()
        .unwrap();
    let count = |kind: &str| {
        let file = folder.join(format!("{governor}-{kernel}.{kind}.csv"));
        fs::read_to_string(file).unwrap().lines().count() - 1
    };
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) => Ok(Some((count("steps"), count("states")))),
        // The C crashed, did not end, or left its table: noticed as well.
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn folder() -> Option<PathBuf> {
    let folder = env::var_os("IDLELAB_KERNEL_SOURCES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: IDLELAB_KERNEL_SOURCES does not name a folder of kernel sources");
    }
    folder
}

#[test]
fn changed_governors_are_told_from_the_kernels() {
    let Some(folder) = folder() else { return };
    let pairs = sources::find(&folder).unwrap().pairs;
    let newest = pairs.last().unwrap().kernel.clone();
    for governor in GOVERNORS {
        let pair =
            pairs.iter().find(|pair| pair.kernel == newest && pair.governor == governor).unwrap();
        let text = fs::read_to_string(&pair.file).unwrap();
        let mut mutants = mutants(&text);
        let made = mutants.len();
        if newest == LISTED {
            mutants.retain(|mutant| !DECIDES_ALIKE.iter().any(|alike| alike.is(governor, mutant)));
        }
        let all = mutants.len();
        let verdicts: Vec<_> = mutants
            .into_par_iter()
            .map(|mutant| {
                let folder = tempfile::tempdir().unwrap();
                let kernel = folder.path().join(&newest);
                fs::create_dir(&kernel).unwrap();
                if let Ok(header) = fs::read(pair.file.with_file_name("gov.h")) {
                    fs::write(kernel.join("gov.h"), header).unwrap();
                }
                fs::write(kernel.join(governor).with_extension("c"), &mutant.text).unwrap();
                let verdict = judged(folder.path(), &newest, governor);
                (mutant, verdict)
            })
            .collect();
        let unnoticed: Vec<_> = verdicts
            .iter()
            .filter(|(_, verdict)| *verdict == Ok(None))
            .map(|(mutant, _)| format!("{governor}.c:{}: {}", mutant.line, mutant.change))
            .collect();
        let mut lengths: Vec<_> = verdicts
            .iter()
            .filter_map(|(_, verdict)| verdict.as_ref().ok().copied().flatten())
            .collect();
        lengths.sort_unstable();
        let noticed = verdicts.iter().filter(|(_, verdict)| *verdict != Ok(None)).count();
        println!(
            "{governor} of {newest}: of {made} mutants {} decide alike, {noticed} of {all} are \
             noticed, in cases of {:?} to {:?} steps and states, the median of {:?}",
            made - all,
            lengths[0],
            lengths[lengths.len() - 1],
            lengths[lengths.len() / 2]
        );
        for unnoticed in &unnoticed {
            println!("{unnoticed} goes unnoticed");
        }
        if newest == LISTED {
            assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
        } else {
            // Which of another kernel's mutants decide alike was not found out.
            assert!(noticed * 10 >= all * 7, "only {noticed} of {all} {governor}s are noticed");
        }
        assert!(lengths[lengths.len() / 2].0 <= 4, "cases are not short: {lengths:?}");
    }
}
