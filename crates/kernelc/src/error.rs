// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a file cannot stand as a governor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read.
    #[error("{}: the governor's C file cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// It is far longer than any governor.
    #[error("{}: is longer than {limit} bytes, so it is no governor's C file", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The longest that is read.
        limit: u64,
    },
    /// There is no C compiler, or it cannot be started.
    #[error(
        "{command}: the C compiler that governor files need cannot be started: {reason}; install \
         one (Debian: apt install gcc libc6-dev), or name it in the environment variable CC"
    )]
    NoCompiler {
        /// The command that was tried.
        command: String,
        /// What the system says.
        reason: io::Error,
    },
    /// No folder could be written to, neither the cache nor a temporary one.
    #[error("{}: the compiled governor cannot be written: {reason}", path.display())]
    Unwritable {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// It calls functions of the kernel that the shim does not have.
    #[error("{}", missing(.0))]
    MissingFunctions(Vec<MissingFunction>),
    /// The compiler does not take it.
    #[error("{}: does not compile:\n{diagnostics}", path.display())]
    Rejected {
        /// The file.
        path: PathBuf,
        /// The compiler's words, the first of them if they are many.
        diagnostics: String,
    },
    /// It compiles, but the object cannot be loaded.
    #[error("{}: is compiled, but cannot be loaded: {reason}", path.display())]
    Unloadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Its initcalls register no governor.
    #[error(
        "{}: registers no governor; an initcall such as postcore_initcall(init) is to call \
         cpuidle_register_governor() with one that has a select callback",
        path.display()
    )]
    NoGovernor {
        /// The file.
        path: PathBuf,
    },
    /// It registers several.
    #[error(
        "{}: registers {} governors ({}); one for each file is expected",
        path.display(), names.len(), names.join(", ")
    )]
    SeveralGovernors {
        /// The file.
        path: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// Its initcalls fail.
    #[error("{failure}, in an initcall")]
    Initialisation {
        /// How.
        failure: crate::Failure,
    },
}

/// A function that a file calls and the shim does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingFunction {
    /// The file that calls it.
    pub path: PathBuf,
    /// The line of the first call, from 1; none if the compiler does not tell.
    pub line: Option<u32>,
    /// The function.
    pub function: String,
}

impl fmt::Display for MissingFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}() is called, which idlelab's stand-in for the kernel lacks", self.function)
    }
}

fn missing(functions: &[MissingFunction]) -> String {
    let lines: Vec<String> = functions.iter().map(ToString::to_string).collect();
    format!(
        "{}; take the call out, or define the function in the file (#ifdef IDLELAB_HZ is true here \
         and in no kernel)",
        lines.join("\n")
    )
}
