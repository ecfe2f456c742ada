// SPDX-License-Identifier: GPL-2.0-or-later
//! What a recording takes down of the machine round it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::error::RecordError;

/// Where the kernel shows itself: `/`, or a tree made for a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    root: PathBuf,
}

impl Default for Machine {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

impl Machine {
    /// The machine whose file systems are under `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A path below the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn cpuidle(&self) -> PathBuf {
        self.path("/sys/devices/system/cpu/cpuidle")
    }

    /// The file by which the governor is switched.
    pub(crate) fn governor_file(&self) -> PathBuf {
        self.cpuidle().join("current_governor")
    }

    /// The governors that the kernel has.
    pub(crate) fn governors(&self) -> Vec<String> {
        let text = fs::read_to_string(self.cpuidle().join("available_governors"));
        text.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    /// The governor in force.
    pub(crate) fn governor(&self) -> Option<String> {
        idlelab_platform::sysfs::current_governor(&self.root)
    }

    /// Copies what sysfs says of idle states and topology to `to`, at the same paths.
    pub(crate) fn copy_cpus(&self, to: &Path) -> Result<(), RecordError> {
        let cpus = Path::new("sys/devices/system/cpu");
        let (from, to) = (self.root.join(cpus), to.join(cpus));
        for folder in ["cpuidle", "topology"] {
            for cpu in numbered(&from, "cpu") {
                copy_tree(&from.join(&cpu).join(folder), &to.join(&cpu).join(folder))?;
            }
        }
        copy_tree(&from.join("cpuidle"), &to.join("cpuidle"))
    }

    /// The kernel's tick rate as its configuration tells it, and where that is.
    pub(crate) fn configured_tick_rate(&self) -> Option<(u32, String)> {
        let release = fs::read_to_string(self.path("/proc/sys/kernel/osrelease")).ok()?;
        let beside = format!("/boot/config-{}", release.trim());
        for path in ["/proc/config.gz", &beside] {
            let mut text = String::new();
            let Ok(file) = File::open(self.path(path)) else { continue };
            let read = if path.ends_with(".gz") {
                GzDecoder::new(file).read_to_string(&mut text)
            } else {
                (&file).read_to_string(&mut text)
            };
            let hertz = text.lines().find_map(|line| line.strip_prefix("CONFIG_HZ="));
            if let (Ok(_), Some(hertz)) = (read, hertz.and_then(|hertz| hertz.parse().ok())) {
                return Some((hertz, path.to_owned()));
            }
        }
        None
    }

    /// Who limits wakeup latency, in words: holders of `/dev/cpu_dma_latency`, and limits of single
    /// CPUs. Of other users' processes only root learns.
    pub(crate) fn latency_holders(&self) -> Vec<String> {
        let mut holders = Vec::new();
        for process in numbered(&self.path("/proc"), "") {
            let folder = self.path("/proc").join(&process);
            let files = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
            let device = Path::new("/dev/cpu_dma_latency");
            let holds = |file: &fs::DirEntry| fs::read_link(file.path()).is_ok_and(|p| p == device);
            if files.into_iter().any(|file| holds(&file)) {
                let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
                let name = name.trim_end();
                holders.push(format!("/dev/cpu_dma_latency held by process {process} ({name})"));
            }
        }
        let cpus = self.path("/sys/devices/system/cpu");
        for cpu in numbered(&cpus, "cpu") {
            let path = cpus.join(&cpu).join("power/pm_qos_resume_latency_us");
            let limit = fs::read_to_string(path).unwrap_or_default();
            let limit = limit.trim();
            // 0 is no limit, n/a none at all.
            if !matches!(limit, "" | "0") {
                holders.push(format!("{cpu}: pm_qos_resume_latency_us {limit}"));
            }
        }
        holders
    }

    /// Where tracefs is mounted, if it is.
    pub(crate) fn tracefs(&self) -> Option<PathBuf> {
        let mounts = fs::read_to_string(self.path("/proc/self/mounts")).ok()?;
        mounts.lines().find_map(|line| {
            let mut words = line.split(' ');
            let (_, place, kind) = (words.next()?, words.next()?, words.next()?);
            (kind == "tracefs").then(|| self.path(&place.replace("\\040", " ")))
        })
    }
}

/// Entries of a folder whose names are a prefix and a number, by that number.
fn numbered(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(u32, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((name.strip_prefix(prefix)?.parse().ok()?, name))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

/// Copies files and folders; what cannot be read is left out, as sysfs has files to be written only.
fn copy_tree(from: &Path, to: &Path) -> Result<(), RecordError> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    fs::create_dir_all(to).map_err(|source| RecordError::file(to, source))?;
    for entry in entries.flatten() {
        let to = to.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_tree(&entry.path(), &to)?,
            Ok(kind) if kind.is_file() => copy_file(&entry.path(), &to)?,
            // Links lead out of the folder.
            _ => {}
        }
    }
    Ok(())
}

/// Copies a file of the kernel's, whose length it does not tell in advance; one that cannot be read
/// is left out.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<(), RecordError> {
    let Ok(bytes) = read(from) else { return Ok(()) };
    write(to, &bytes)
}

/// Reads a file of the kernel's. Some, such as `header_page`, come at the first read or not at all,
/// so that has room enough.
pub(crate) fn read(from: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1 << 16);
    File::open(from)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file, and makes the folders above it.
pub(crate) fn write(to: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let written = || -> io::Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(to, bytes)
    };
    written().map_err(|source| RecordError::file(to, source))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(&folder.path().join(path), text.as_bytes()).unwrap();
        }
        let machine = Machine::new(folder.path());
        (folder, machine)
    }

    #[test]
    fn the_tick_rate_is_in_the_kernels_configuration() {
        let (folder, machine) = tree(&[
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            ("boot/config-6.1.0", "# CONFIG_HZ_100 is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n"),
        ]);
        let found = machine.configured_tick_rate();
        assert_eq!(found, Some((250, "/boot/config-6.1.0".to_owned())));
        let packed = File::create(folder.path().join("proc/config.gz")).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
        packed.write_all(b"CONFIG_HZ=1000\n").unwrap();
        packed.finish().unwrap();
        let found = machine.configured_tick_rate();
        assert_eq!(found, Some((1000, "/proc/config.gz".to_owned())));
    }

    #[test]
    fn holders_of_latency_limits_are_named() {
        let (folder, machine) = tree(&[
            ("proc/41/comm", "pipewire\n"),
            ("proc/7/comm", "sh\n"),
            ("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "0\n"),
            ("sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "20\n"),
        ]);
        fs::create_dir(folder.path().join("proc/41/fd")).unwrap();
        let link = folder.path().join("proc/41/fd/3");
        std::os::unix::fs::symlink("/dev/cpu_dma_latency", link).unwrap();
        assert_eq!(
            machine.latency_holders(),
            [
                "/dev/cpu_dma_latency held by process 41 (pipewire)",
                "cpu1: pm_qos_resume_latency_us 20"
            ]
        );
    }

    #[test]
    fn tracefs_is_found_by_its_kind() {
        let mounts = "tmpfs /run tmpfs rw 0 0\nnone /mnt/my\\040trace tracefs rw 0 0\n";
        let (folder, machine) = tree(&[("proc/self/mounts", mounts)]);
        assert_eq!(machine.tracefs(), Some(folder.path().join("mnt/my trace")));
    }
}
