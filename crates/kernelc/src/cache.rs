// SPDX-License-Identifier: GPL-2.0-or-later
//! Where compiled governors are kept.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

use tempfile::TempDir;

use crate::Error;

/// A folder to compile in, and the one that keeps what was compiled.
pub(crate) struct Workshop {
    /// Gone when this is dropped.
    pub(crate) folder: TempDir,
    /// None where there is no home, or none that can be written to.
    kept: Option<PathBuf>,
}

impl Workshop {
    /// Opens one in the user's cache, or else in the temporary folder.
    pub(crate) fn open() -> Result<Self, Error> {
        // On one file system with the cache, so that what is compiled is moved in as a whole.
        let in_cache = home().and_then(|kept| {
            fs::create_dir_all(&kept).ok()?;
            let folder = tempfile::Builder::new().prefix(".compiling-").tempdir_in(&kept).ok()?;
            Some(Self { folder, kept: Some(kept) })
        });
        if let Some(workshop) = in_cache {
            return Ok(workshop);
        }
        let folder = tempfile::Builder::new()
            .prefix("idlelab-kernelc-")
            .tempdir()
            .map_err(|reason| Error::Unwritable { path: env::temp_dir(), reason })?;
        Ok(Self { folder, kept: None })
    }

    /// Where the object of this key is kept, if anything is.
    pub(crate) fn kept(&self, key: &Key) -> Option<PathBuf> {
        Some(self.kept.as_deref()?.join(format!("{}.so", key.0)))
    }

    /// Keeps an object. Of two processes at once, either's is as good.
    pub(crate) fn keep(&self, object: &Path, key: &Key) -> Option<PathBuf> {
        let kept = self.kept(key)?;
        fs::rename(object, &kept).ok()?;
        Some(kept)
    }
}

fn home() -> Option<PathBuf> {
    let absolute = |variable| {
        let path: OsString = env::var_os(variable)?;
        Some(PathBuf::from(path)).filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("idlelab/kernelc"))
}

/// A digest of all that goes into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Key {
    /// Of parts whose bounds count.
    pub(crate) fn new<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        // Two of 64 bits with a different start: by chance alone they never agree.
        let mut digests = [0_u8, 1].map(|start| {
            let mut digest = DefaultHasher::new();
            digest.write_u8(start);
            digest
        });
        for part in parts {
            for digest in &mut digests {
                digest.write_usize(part.len());
                digest.write(part);
            }
        }
        let [a, b] = digests.map(|digest| digest.finish());
        Self(format!("{a:016x}{b:016x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_part_ends_counts() {
        let key = |parts: &[&str]| Key::new(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab"]), key(&["ab", ""]));
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
    }
}
