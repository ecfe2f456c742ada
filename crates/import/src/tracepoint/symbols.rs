// SPDX-License-Identifier: GPL-2.0-or-later
//! The names behind the kernel's addresses.

/// The kernel's functions by address, from `/proc/kallsyms`.
#[derive(Default)]
pub(crate) struct Symbols {
    /// Start address and name, ascending.
    functions: Vec<(u64, Box<[u8]>)>,
}

impl Symbols {
    /// Reads `/proc/kallsyms`. Where the kernel hid its addresses, all are nil and none is known.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut functions: Vec<(u64, Box<[u8]>)> =
            text.split(|&byte| byte == b'\n').filter_map(function).collect();
        // Of several names for one address the first is the one that the kernel prints.
        functions.sort_by_key(|&(address, _)| address);
        functions.dedup_by_key(|&mut (address, _)| address);
        Self { functions }
    }

    /// Whether no name is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function in which an address is.
    pub(crate) fn function(&self, address: u64) -> Option<&[u8]> {
        let after = self.functions.partition_point(|&(start, _)| start <= address);
        self.functions.get(after.checked_sub(1)?).map(|(_, name)| &**name)
    }

    /// Where the functions begin whose name is one of those.
    pub(crate) fn addresses(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<u64> {
        let found = self.functions.iter().filter(|(_, name)| wanted(name));
        found.map(|&(address, _)| address).collect()
    }
}

/// `ffffffff814332e0 t tick_nohz_handler`, perhaps with a module in brackets behind.
fn function(line: &[u8]) -> Option<(u64, Box<[u8]>)> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let address = u64::from_str_radix(str::from_utf8(words.next()?).ok()?, 16).ok()?;
    let kind = words.next()?;
    let name = words.next()?;
    // Code, weak or not; `$x` and the like only mark instruction sets.
    let is_function = matches!(kind, b"t" | b"T" | b"w" | b"W") && !name.starts_with(b"$");
    (is_function && address != 0).then(|| (address, name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_that_begins_before_it() {
        let text = b"ffff20 T menu_select\nffff10 t teo_select\t[teo]\nffff10 t alias\nffff1c d x\n0 t no\nffff30 t $x";
        let symbols = Symbols::parse(text);
        assert_eq!(symbols.function(0xffff0f), None);
        assert_eq!(symbols.function(0xffff1f), Some(&b"teo_select"[..]));
        assert_eq!(symbols.function(0xffff3c), Some(&b"menu_select"[..]));
        assert_eq!(symbols.addresses(|name| name == b"menu_select"), [0xffff20]);
        assert!(Symbols::parse(b"0000000000000000 T hidden\n").is_empty());
    }
}
