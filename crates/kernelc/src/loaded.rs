// SPDX-License-Identifier: GPL-2.0-or-later
//! One copy of a compiled governor in memory.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use idlelab_states::CpuId;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::abi::{self, Entry};
use crate::guest::CALLS;
use crate::trap::{self, Left, Target};

/// The high bits of a copy's call numbers, so that no two copies share one.
static COPIES: AtomicU64 = AtomicU64::new(1);

/// A copy of its own: the loader takes a file in memory for one that it has not seen, and so gives
/// the copy data of its own.
pub(crate) struct Loaded {
    pub(crate) target: Target,
    guest: *mut abi::Guest,
    pub(crate) asking: *mut abi::Asking,
    _library: Library,
    /// Open, since its number is the name by which the loader knows the copy.
    _file: File,
}

// SAFETY: the copy's data belongs to whoever has this value, and the code does not care which
// thread runs it: it has no thread-local data.
unsafe impl Send for Loaded {}

impl Loaded {
    /// Loads the bytes of an object. Nothing of the governor runs yet.
    pub(crate) fn new(object: &[u8]) -> Result<Self, String> {
        let said = |error: std::io::Error| format!("there is no room in memory: {error}");
        let mut file = memory_file().map_err(said)?;
        file.write_all(object).map_err(said)?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the object is what our compiler made: it has no constructors, since initcalls
        // are gathered in a section and run later, under guard.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| error.to_string())?;
        // SAFETY: the object's own side defines the symbol with this type.
        let entry = unsafe { library.get::<*mut Entry>(abi::ENTRY) }
            .map_err(|error| error.to_string())?
            .into_raw();
        let entry = NonNull::new(entry.cast::<Entry>()).ok_or("it has no entry")?;
        let code = code(entry.as_ptr().cast()).ok_or("its code is not to be found")?;
        // SAFETY: the entry is in the copy, which is loaded.
        let (guest, asking) = unsafe { (entry.as_ref().guest, entry.as_ref().asking) };
        let target = Target { entry, code };
        let loaded = Self { target, guest, asking, _library: library, _file: file };
        if loaded.entry().layout != size_of::<abi::Guest>() as u64 {
            return Err("its data is laid out for another idlelab".to_owned());
        }
        let guest = loaded.guest();
        // SAFETY: `guest` is the copy's own, and nothing runs in it.
        unsafe {
            (*guest).calls = &raw const CALLS;
            (*guest).call = COPIES.fetch_add(1, Ordering::Relaxed) << 40;
        }
        Ok(loaded)
    }

    /// Runs the initcalls for a CPU; gives the names of the governors that they register.
    pub(crate) fn initialise(&mut self, cpu: CpuId) -> Result<Vec<String>, Left> {
        let entry = self.entry();
        // SAFETY: `entry` is the object's own table.
        let registered = trap::call(self, || unsafe { (entry.initialise)(cpu.0) })?;
        let name = |number| {
            // SAFETY: the object's own side gives a string that lasts as long as the copy.
            let name = unsafe { CStr::from_ptr((entry.name)(number)) };
            name.to_string_lossy().into_owned()
        };
        Ok((0..registered.max(0).cast_unsigned()).map(name).collect())
    }

    /// The functions of the copy.
    #[inline]
    pub(crate) fn entry(&self) -> &Entry {
        // SAFETY: it points into the copy, which is loaded as long as `self` is.
        unsafe { self.target.entry.as_ref() }
    }

    /// The data that both sides share.
    #[inline]
    pub(crate) fn guest(&self) -> *mut abi::Guest {
        self.guest
    }

    /// How far into the object an address is, if it is in the object.
    pub(crate) fn offset(&self, address: usize) -> Option<usize> {
        let base = base(self.target.entry.as_ptr().cast())?;
        self.target.code.contains(&address).then(|| address - base)
    }
}

/// The code of the object that an address belongs to.
fn code(address: *const c_void) -> Option<Range<usize>> {
    let base = base(address)?;
    let header = ptr::with_exposed_provenance::<libc::Elf64_Ehdr>(base);
    // SAFETY: a loaded object begins with its header, which tells where its segments are listed.
    let segments = unsafe {
        let list = header.byte_add(usize::try_from((*header).e_phoff).ok()?);
        slice::from_raw_parts(list.cast::<libc::Elf64_Phdr>(), (*header).e_phnum.into())
    };
    let code = segments
        .iter()
        .find(|segment| segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_X != 0)?;
    let start = base + usize::try_from(code.p_vaddr).ok()?;
    Some(start..start + usize::try_from(code.p_memsz).ok()?)
}

/// Where the object that an address belongs to is loaded.
fn base(address: *const c_void) -> Option<usize> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: `info` is written to, and any address may be asked for.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    (found != 0).then(|| info.dli_fbase.expose_provenance())
}

fn memory_file() -> std::io::Result<File> {
    let name = CString::default();
    // SAFETY: the name is a string, and the flag is a known one.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}
