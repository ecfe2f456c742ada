// SPDX-License-Identifier: GPL-2.0-or-later
use std::collections::BTreeMap;

/// Numbers below this have their place in a list; a damaged file may give any number.
const LISTED: u32 = 1 << 10;

/// What is kept of each CPU. It is asked for at every event.
pub(super) struct ByCpu<T> {
    listed: Vec<Option<T>>,
    others: BTreeMap<u32, T>,
}

impl<T> Default for ByCpu<T> {
    fn default() -> Self {
        Self { listed: Vec::new(), others: BTreeMap::new() }
    }
}

impl<T: Default> ByCpu<T> {
    /// What is kept of this CPU, from now on if it is new.
    #[inline]
    pub(super) fn of(&mut self, cpu: u32) -> &mut T {
        let place = cpu as usize;
        if place >= self.listed.len() && cpu < LISTED {
            self.listed.resize_with(place + 1, || None);
        }
        match self.listed.get_mut(place) {
            Some(listed) => listed.get_or_insert_default(),
            None => self.others.entry(cpu).or_default(),
        }
    }

    /// What is kept of this CPU, if anything is.
    #[inline]
    pub(super) fn get(&self, cpu: u32) -> Option<&T> {
        match self.listed.get(cpu as usize) {
            Some(listed) => listed.as_ref(),
            None => self.others.get(&cpu),
        }
    }

    /// What is kept, in no particular order.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.listed.iter_mut().flatten().chain(self.others.values_mut())
    }

    /// All CPUs that anything is kept of, in ascending order.
    pub(super) fn into_ascending(self) -> impl Iterator<Item = (u32, T)> {
        let listed = (0..).zip(self.listed).filter_map(|(cpu, kept)| Some((cpu, kept?)));
        listed.chain(self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_a_cpus() {
        let mut kept = ByCpu::default();
        for cpu in [u32::MAX, 3, LISTED, 0] {
            *kept.of(cpu) += u64::from(cpu);
        }
        *kept.of(3) += 1;
        assert_eq!((kept.get(3), kept.get(2), kept.get(LISTED + 1)), (Some(&4), None, None));
        kept.values_mut().for_each(|value| *value += 1);
        let all: Vec<_> = kept.into_ascending().collect();
        assert_eq!(all, [(0, 1), (3, 5), (1024, 1025), (u32::MAX, 1 << 32)]);
    }
}
