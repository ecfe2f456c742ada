// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's C file as a maker of governors.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use idlelab_kernelc::{Failure, Guest, Program, Source};
use idlelab_states::{CpuId, TickRate};

use crate::contest::Maker;

/// A governor's C file, compiled for each tick rate that is asked for.
#[derive(Debug)]
pub struct KernelFile {
    source: Source,
    programs: Mutex<HashMap<TickRate, Program>>,
}

impl KernelFile {
    /// Takes a file for a governor's.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self { source, programs: Mutex::default() }
    }

    /// What went wrong in the C so far, if anything did: a crash, a call that does not end, a state
    /// that is not in the table.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        programs.values().find_map(Program::failure)
    }
}

impl Maker for KernelFile {
    type Governor = Guest;

    fn make(&self, rate: TickRate) -> Result<Guest> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&rate) {
            let program = program.clone();
            drop(programs);
            return Ok(program.instance(CpuId(0)));
        }
        let program = self.source.compile(rate)?;
        let guest = program.instance(CpuId(0));
        programs.insert(rate, program);
        Ok(guest)
    }
}
