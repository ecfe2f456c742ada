// SPDX-License-Identifier: GPL-2.0-or-later
//! From a C file to a shared object.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

use idlelab_states::TickRate;
use tempfile::TempDir;

use crate::cache::{Key, Workshop};
use crate::diagnostics;
use crate::shim;
use crate::{Error, Source};

/// What of the kernel's own flags decides what the code does, and what makes its slips errors.
const FLAGS: [&str; 18] = [
    "-std=gnu11",
    "-O2",
    "-g",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-strict-overflow",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-funsigned-char",
    "-fno-common",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=int-conversion",
    "-Werror=incompatible-pointer-types",
    "-Werror=return-type",
    "-fdiagnostics-color=never",
];

/// The compiled governor.
pub(crate) struct Object {
    /// The file, for `addr2line`.
    pub(crate) path: PathBuf,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Holds the file, where there is no cache to hold it.
    pub(crate) folder: Option<TempDir>,
}

/// Compiles a file, or finds it compiled.
pub(crate) fn compile(source: &Source, rate: TickRate) -> Result<Object, Error> {
    let workshop = Workshop::open()?;
    let folder = workshop.folder.path();
    let unwritable = |reason| Error::Unwritable { path: folder.to_owned(), reason };
    shim::write(folder).map_err(unwritable)?;
    let compiler = Compiler::new(folder, source, rate)?;
    let included = compiler.included(source)?;
    let mut parts: Vec<Vec<u8>> = vec![
        compiler.version.clone(),
        FLAGS.join(" ").into_bytes(),
        rate.hertz().to_string().into_bytes(),
        source.state_times().definition().as_bytes().to_vec(),
        source.absolute().as_os_str().as_encoded_bytes().to_vec(),
    ];
    parts.extend(shim::FILES.iter().map(|(_, text)| text.as_bytes().to_vec()));
    for path in &included {
        parts.push(path.as_os_str().as_encoded_bytes().to_vec());
        parts.push(fs::read(path).unwrap_or_default());
    }
    let key = Key::new(parts.iter().map(Vec::as_slice));
    if let Some(path) = workshop.kept(&key)
        && let Ok(bytes) = fs::read(&path)
    {
        return Ok(Object { path, bytes, folder: None });
    }
    let object = compiler.object(source)?;
    let read = |path: &Path| {
        fs::read(path).map_err(|reason| Error::Unwritable { path: path.to_owned(), reason })
    };
    let bytes = read(&object)?;
    match workshop.keep(&object, &key) {
        Some(path) => Ok(Object { path, bytes, folder: None }),
        None => Ok(Object { path: object, bytes, folder: Some(workshop.folder) }),
    }
}

/// The system's C compiler, at work in a folder that has the shim.
struct Compiler<'a> {
    program: OsString,
    /// What goes before all other arguments.
    first: Vec<OsString>,
    folder: &'a Path,
    version: Vec<u8>,
}

impl<'a> Compiler<'a> {
    fn new(folder: &'a Path, source: &Source, rate: TickRate) -> Result<Self, Error> {
        // As in make, CC may carry arguments.
        let given = env::var("CC").unwrap_or_default();
        let mut words = given.split_whitespace().map(OsString::from);
        let program = words.next().unwrap_or_else(|| "cc".into());
        let mut compiler = Self { program, first: words.collect(), folder, version: Vec::new() };
        compiler.version = compiler.run(&["--version".into()])?.stdout;
        compiler.first.extend(FLAGS.map(OsString::from));
        compiler.first.extend([
            format!("-DIDLELAB_HZ={}", rate.hertz()).into(),
            source.state_times().definition().into(),
            "-I".into(),
            folder.into(),
        ]);
        Ok(compiler)
    }

    fn run(&self, arguments: &[OsString]) -> Result<Output, Error> {
        Command::new(&self.program)
            .args(&self.first)
            .args(arguments)
            .current_dir(self.folder)
            // Its messages are read by a program, in English.
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|reason| Error::NoCompiler {
                command: self.program.to_string_lossy().into_owned(),
                reason,
            })
    }

    /// Of the governor's own file: the kernel's headers are those of the shim, or else empty.
    fn run_on_governor(&self, source: &Source, arguments: &[&str]) -> Result<Output, Error> {
        let prelude = self.folder.join(shim::PRELUDE);
        let mut all: Vec<OsString> = vec![
            "-nostdinc".into(),
            "-I".into(),
            self.empty_headers().into(),
            "-include".into(),
            prelude.into(),
        ];
        all.extend(arguments.iter().map(OsString::from));
        all.push(source.absolute().into());
        let output = self.run(&all)?;
        if output.status.success() {
            return Ok(output);
        }
        Err(diagnostics::of_compiler(source, &String::from_utf8_lossy(&output.stderr)))
    }

    /// The files that the governor is made of, itself among them. Headers that are nowhere are made,
    /// empty, so that one which is not needed does no harm.
    fn included(&self, source: &Source) -> Result<Vec<PathBuf>, Error> {
        let output = self.run_on_governor(source, &["-M", "-MG"])?;
        let empty = self.empty_headers();
        let unwritable = |reason| Error::Unwritable { path: empty.clone(), reason };
        fs::create_dir_all(&empty).map_err(unwritable)?;
        let mut included = Vec::new();
        for name in diagnostics::prerequisites(&output.stdout) {
            if self.folder.join(&name).exists() {
                if !name.starts_with(self.folder) {
                    included.push(name);
                }
            } else if let Some(header) = below(&empty, &name) {
                let parent = header.parent().unwrap_or(&empty);
                fs::create_dir_all(parent).map_err(unwritable)?;
                fs::write(&header, "").map_err(unwritable)?;
            }
        }
        Ok(included)
    }

    /// As deep as `#include "../../../kernel/sched/sched.h"` goes up.
    fn empty_headers(&self) -> PathBuf {
        self.folder.join("empty/6/5/4/3/2/1")
    }

    fn object(&self, source: &Source) -> Result<PathBuf, Error> {
        self.run_on_governor(source, &["-c", "-o", "governor.o"])?;
        let arguments: Vec<OsString> =
            [shim::GUEST, "governor.o", "-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic"]
                .into_iter()
                .chain(["-o", "governor.so"])
                .map(OsString::from)
                .collect();
        let output = self.run(&arguments)?;
        if output.status.success() {
            return Ok(self.folder.join("governor.so"));
        }
        Err(diagnostics::of_linker(source, &String::from_utf8_lossy(&output.stderr)))
    }
}

/// Where a header of this name is looked for, unless that is outside of the folders made for it.
fn below(empty: &Path, name: &Path) -> Option<PathBuf> {
    let mut path = empty.to_owned();
    for component in name.components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let top = empty.ancestors().nth(6)?;
    (path.starts_with(top) && path != top).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_made_within_the_folder_only() {
        let empty = Path::new("/w/empty/6/5/4/3/2/1");
        let below = |name: &str| below(empty, Path::new(name));
        assert_eq!(below("linux/a.h"), Some("/w/empty/6/5/4/3/2/1/linux/a.h".into()));
        assert_eq!(below("../x.h"), Some("/w/empty/6/5/4/3/2/x.h".into()));
        assert_eq!(below("../../../../../../x.h"), Some("/w/empty/x.h".into()));
        assert_eq!(below("../../../../../../../x.h"), None);
        assert_eq!(below("/etc/x.h"), None);
    }
}
