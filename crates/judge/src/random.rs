// SPDX-License-Identifier: GPL-2.0-or-later
//! Random numbers that are the same on every machine and in every version.

/// The generator splitmix64: small, fast, and any seed will do.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The numbers of one part of what a seed stands for, independent of those of other parts.
    #[must_use]
    pub const fn of_part(seed: u64, part: u64) -> Self {
        let mut mixed = Self(seed);
        let key = mixed.number();
        let mut random = Self(key ^ part.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.number();
        random
    }

    /// The next number, of all 64-bit numbers.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0 if that is 0. Up to 2^32 each is as likely as any other but for
    /// less than one in four thousand million.
    pub const fn below(&mut self, end: u64) -> u64 {
        ((self.number() as u128 * end as u128) >> 64) as u64
    }

    /// A number from `first` to `last`.
    pub const fn between(&mut self, first: i64, last: i64) -> i64 {
        let span = last.wrapping_sub(first).cast_unsigned().saturating_add(1);
        first.wrapping_add(self.below(span).cast_signed())
    }

    /// True so many times in a hundred.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        const { assert!(N > 0, "there must be something to pick from") };
        from[self.below(N as u64) as usize]
    }

    /// A number of `fewest` to `most` bits, each size as likely as any other.
    pub const fn of_any_size(&mut self, fewest: u32, most: u32) -> i64 {
        let bits = self.between(fewest as i64, most as i64) as u32;
        let leading = 1_u64 << (bits - 1);
        (leading | self.below(leading)).cast_signed()
    }
}
