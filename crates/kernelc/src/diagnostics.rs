// SPDX-License-Identifier: GPL-2.0-or-later
//! What compiler and linker print, gcc's and clang's.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::{Error, MissingFunction, Source};

/// The lines of a compiler's output that an error shows at most.
const LINES: usize = 20;

/// The names after the colon of a make rule.
pub(crate) fn prerequisites(rule: &[u8]) -> Vec<PathBuf> {
    let Some(colon) = rule.windows(2).position(|pair| pair == b": ") else { return Vec::new() };
    let mut names: Vec<Vec<u8>> = vec![Vec::new()];
    let mut bytes = rule.iter().copied().skip(colon + 2).peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'\n')) => {}
            (b'\\', Some(&escaped @ (b' ' | b'#'))) | (b'$', Some(&escaped @ b'$')) => {
                bytes.next();
                names.last_mut().into_iter().for_each(|name| name.push(escaped));
            }
            (b' ' | b'\n', _) => names.push(Vec::new()),
            _ => names.last_mut().into_iter().for_each(|name| name.push(byte)),
        }
    }
    names.retain(|name| !name.is_empty());
    names.iter().map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

/// The error that a compiler's output stands for.
pub(crate) fn of_compiler(source: &Source, printed: &str) -> Error {
    missing_or_rejected(source, printed, |line| {
        let (place, message) = line.split_once(": error: ")?;
        let function = [
            "implicit declaration of function",
            "incompatible implicit declaration of built-in function",
            "call to undeclared function",
            "call to undeclared library function",
        ]
        .into_iter()
        .find_map(|opening| message.strip_prefix(opening))
        .and_then(quoted)?;
        // The column is of no use.
        let (place, _column) = place.rsplit_once(':')?;
        let (path, line) = place.rsplit_once(':')?;
        Some(MissingFunction {
            path: as_given(source, path),
            line: line.parse().ok(),
            function: function.to_owned(),
        })
    })
}

/// The error that a linker's output stands for.
pub(crate) fn of_linker(source: &Source, printed: &str) -> Error {
    missing_or_rejected(source, printed, |line| {
        let (place, function) = line.split_once(": undefined reference to ").or_else(|| {
            let (_, symbol) = line.split_once(": hidden symbol ")?;
            symbol.contains("isn't defined").then_some(("", symbol))
        })?;
        let place = place.rsplit_once(':').and_then(|(path, line)| {
            let path = path.rsplit_once(": ").map_or(path, |(_, path)| path);
            Some((path, line.parse().ok()?))
        });
        Some(MissingFunction {
            path: place.map_or(source.path().to_owned(), |(path, _)| as_given(source, path)),
            line: place.map(|(_, line)| line),
            function: quoted(function)?.to_owned(),
        })
    })
}

fn missing_or_rejected(
    source: &Source,
    printed: &str,
    missing: impl Fn(&str) -> Option<MissingFunction>,
) -> Error {
    let mut functions: Vec<MissingFunction> = Vec::new();
    for function in printed.lines().filter_map(missing) {
        if !functions.iter().any(|known| known.function == function.function) {
            functions.push(function);
        }
    }
    // Without other errors, that is all that is wrong; and with them, it is what to begin with.
    if !functions.is_empty() {
        functions.sort();
        return Error::MissingFunctions(functions);
    }
    let absolute = source.absolute().to_string_lossy();
    let shown = source.path().to_string_lossy();
    let mut lines: Vec<String> =
        printed.lines().take(LINES).map(|line| line.replace(&*absolute, &shown)).collect();
    let more = printed.lines().count() - lines.len();
    if more > 0 {
        lines.push(format!("(and {more} lines more)"));
    }
    Error::Rejected { path: source.path().to_owned(), diagnostics: lines.join("\n") }
}

/// The governor's own file, as the user named it.
fn as_given(source: &Source, path: &str) -> PathBuf {
    let path = Path::new(path);
    if path == source.absolute() { source.path().to_owned() } else { path.to_owned() }
}

/// What stands between quotation marks, ` or ' before and ' after.
fn quoted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(['`', '\''])?;
    let (name, _) = rest.split_once('\'')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_make_reads_them() {
        let rule = b"teo.o: /a\\ b/teo.c \\\n linux/tick.h ../x\\#.h cost$$.h\n";
        let names = ["/a b/teo.c", "linux/tick.h", "../x#.h", "cost$.h"];
        assert_eq!(prerequisites(rule), names.map(PathBuf::from));
    }

    #[test]
    fn functions_are_found_in_the_words_of_both_compilers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("teo.c");
        std::fs::write(&path, "").unwrap();
        let source = Source::open(&path).unwrap();
        let shown = path.display();
        for message in [
            "implicit declaration of function 'foo' [-Werror=implicit-function-declaration]",
            "implicit declaration of function 'foo'; did you mean 'fop'? [-Werror=implicit]",
            "call to undeclared function 'foo'; ISO C99 and later do not support implicit",
        ] {
            let error = of_compiler(&source, &format!("{shown}:12:7: error: {message}\n"));
            assert!(error.to_string().starts_with(&format!("{shown}:12: foo() is called")));
        }
        for line in [
            format!("/usr/bin/ld: {shown}:12: undefined reference to `foo'"),
            format!("{shown}:12: undefined reference to `foo'"),
        ] {
            let error = of_linker(&source, &line);
            assert!(error.to_string().starts_with(&format!("{shown}:12: foo() is called")));
        }
        let error = of_linker(&source, "ld: governor.so: hidden symbol `foo' isn't defined\n");
        assert!(error.to_string().starts_with(&format!("{shown}: foo() is called")));
    }
}
