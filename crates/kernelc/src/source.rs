// SPDX-License-Identifier: GPL-2.0-or-later
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use idlelab_states::TickRate;

use crate::era::StateTimes;
use crate::{Error, Program, compiler};

/// The longest file that is read, in bytes. The kernel's longest governor has 25 000.
const LIMIT: u64 = 4 << 20;

/// A governor's C file.
#[derive(Clone, Debug)]
pub struct Source {
    /// As the user named it.
    given: PathBuf,
    absolute: PathBuf,
    state_times: StateTimes,
}

impl Source {
    /// Takes a file for a governor's. It is not compiled yet.
    ///
    /// # Errors
    ///
    /// It cannot be read, or has more than four mebibytes.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let given = path.as_ref();
        let unreadable = |reason| Error::Unreadable { path: given.to_owned(), reason };
        let file = File::open(given).map_err(unreadable)?;
        let mut text = Vec::new();
        file.take(LIMIT + 1).read_to_end(&mut text).map_err(unreadable)?;
        if text.len() as u64 > LIMIT {
            return Err(Error::TooLong { path: given.to_owned(), limit: LIMIT });
        }
        let absolute = std::path::absolute(given).map_err(unreadable)?;
        let state_times = StateTimes::of(&absolute, &String::from_utf8_lossy(&text));
        Ok(Self { given: given.to_owned(), absolute, state_times })
    }

    /// The path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.given
    }

    pub(crate) fn absolute(&self) -> &Path {
        &self.absolute
    }

    pub(crate) fn state_times(&self) -> StateTimes {
        self.state_times
    }

    /// Compiles it for a kernel of this tick rate, or finds it compiled in the cache.
    ///
    /// # Errors
    ///
    /// There is no C compiler, it does not take the file, the file calls what the shim lacks, the
    /// object cannot be loaded, or it registers no governor or several.
    pub fn compile(&self, rate: TickRate) -> Result<Program, Error> {
        Program::load(compiler::compile(self, rate)?, self)
    }
}
