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
const DECISIONS: &str = "3M";

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
        let mutants = mutants(&text);
        let all = mutants.len();
        let verdicts: Vec<_> = mutants
            .into_par_iter()
            .filter_map(|mutant| {
                let folder = tempfile::tempdir().unwrap();
                let kernel = folder.path().join(&newest);
                fs::create_dir(&kernel).unwrap();
                if let Ok(header) = fs::read(pair.file.with_file_name("gov.h")) {
                    fs::write(kernel.join("gov.h"), header).unwrap();
                }
                fs::write(kernel.join(governor).with_extension("c"), &mutant.text).unwrap();
                let verdict = judged(folder.path(), &newest, governor);
                Some((mutant, verdict))
            })
            .collect();
        let survivors: Vec<_> =
            verdicts.iter().filter(|(_, verdict)| *verdict == Ok(None)).collect();
        for (mutant, _) in &survivors {
            println!("{governor} of {newest}:{}: {} goes unnoticed", mutant.line, mutant.change);
        }
        let mut lengths: Vec<_> = verdicts
            .iter()
            .filter_map(|(_, verdict)| verdict.as_ref().ok().copied().flatten())
            .collect();
        lengths.sort_unstable();
        for (mutant, verdict) in &verdicts {
            println!("{governor} {} {} {:?}", mutant.line, mutant.change, verdict);
        }
        println!("{governor} of {newest}: {} of {all} noticed, {lengths:?}", all - survivors.len());
    }
}
