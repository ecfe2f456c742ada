// SPDX-License-Identifier: GPL-2.0-or-later
use core::fmt;

/// The number the kernel gives a logical CPU. Numbers may be sparse (offline or absent CPUs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu{}", self.0)
    }
}
