// SPDX-License-Identifier: GPL-2.0-or-later
use std::fmt;
use std::str::FromStr;

use idlelab_states::CpuId;

/// Far above any kernel's `NR_CPUS`; it keeps a mistyped list from standing for four thousand
/// million CPUs.
const MAX_CPU: u32 = 65_535;

/// A set of CPUs in the kernel's list spelling: `0-3,8`.
///
/// ```
/// use idlelab_platform::CpuList;
/// use idlelab_states::CpuId;
///
/// let cpus: CpuList = "8,0-2,3".parse()?;
/// assert_eq!(cpus.to_string(), "0-3,8");
/// assert_eq!(cpus.len(), 5);
/// assert!(cpus.contains(CpuId(8)));
/// # Ok::<(), idlelab_platform::CpuListError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuList {
    /// Inclusive ranges, ascending, neither touching nor overlapping.
    ranges: Vec<(u32, u32)>,
}

impl CpuList {
    /// Whether no CPU is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many CPUs are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.iter().map(|&(first, last)| (last - first) as usize + 1).sum()
    }

    /// Whether `cpu` is in it.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        let after = self.ranges.partition_point(|&(first, _)| first <= cpu.0);
        after.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|r| cpu.0 <= r.1)
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.ranges.iter().flat_map(|&(first, last)| (first..=last).map(CpuId))
    }

    /// The lowest CPU.
    #[must_use]
    pub fn first(&self) -> Option<CpuId> {
        self.ranges.first().map(|&(first, _)| CpuId(first))
    }

    /// The CPUs of both lists.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// A CPU of this list that `other` lacks.
    #[must_use]
    pub fn first_not_in(&self, other: &Self) -> Option<CpuId> {
        self.iter().find(|&cpu| !other.contains(cpu))
    }

    fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(previous) if first <= previous.1.saturating_add(1) => {
                    previous.1 = previous.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Self { ranges: merged }
    }
}

impl FromIterator<CpuId> for CpuList {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        Self::from_ranges(cpus.into_iter().map(|cpu| (cpu.0, cpu.0)).collect())
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, &(first, last)) in self.ranges.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// A text that is no list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected CPU numbers and ranges such as 0-3,8, none above {MAX_CPU}; `{part}` is not one")]
pub struct CpuListError {
    part: String,
}

impl FromStr for CpuList {
    type Err = CpuListError;

    /// An empty text is an empty list, as the kernel prints one.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        let ranges = text.split(',').map(|part| {
            parse_range(part.trim()).ok_or_else(|| CpuListError { part: part.trim().to_owned() })
        });
        Ok(Self::from_ranges(ranges.collect::<Result<_, _>>()?))
    }
}

fn parse_range(part: &str) -> Option<(u32, u32)> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (parse_cpu(first)?, parse_cpu(last)?);
    (first <= last).then_some((first, last))
}

/// Digits only: the standard parser would let a plus sign through.
pub(crate) fn parse_cpu(digits: &str) -> Option<u32> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&cpu| cpu <= MAX_CPU)
}

/// Which of several disjoint lists a CPU is in, found by binary search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuIndex {
    /// First CPU, last CPU, position of the list; ascending.
    ranges: Vec<(u32, u32, usize)>,
}

/// One CPU in two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedCpu {
    pub(crate) cpu: CpuId,
    pub(crate) first: usize,
    pub(crate) second: usize,
}

impl CpuIndex {
    pub(crate) fn new<'a>(
        lists: impl IntoIterator<Item = (usize, &'a CpuList)>,
    ) -> Result<Self, SharedCpu> {
        let mut ranges: Vec<_> = lists
            .into_iter()
            .flat_map(|(owner, list)| list.ranges.iter().map(move |&(a, b)| (a, b, owner)))
            .collect();
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            if let [(_, last, one), (first, _, other)] = *pair
                && first <= last
            {
                let (first_owner, second) = (one.min(other), one.max(other));
                return Err(SharedCpu { cpu: CpuId(first), first: first_owner, second });
            }
        }
        Ok(Self { ranges })
    }

    pub(crate) fn get(&self, cpu: CpuId) -> Option<usize> {
        let after = self.ranges.partition_point(|&(first, ..)| first <= cpu.0);
        let &(_, last, owner) = self.ranges.get(after.checked_sub(1)?)?;
        (cpu.0 <= last).then_some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> CpuList {
        text.parse().unwrap()
    }

    #[test]
    fn lists_print_as_the_kernel_prints_them() {
        assert_eq!(list("3,1,2,7-9,8-11").to_string(), "1-3,7-11");
        assert_eq!(list(" 0 , 2 ").to_string(), "0,2");
        assert_eq!(list("").to_string(), "");
    }

    #[test]
    fn what_is_no_list_is_refused_by_its_part() {
        for (text, part) in [("0-3,x", "x"), ("3-1", "3-1"), ("0,", ""), ("0-65536", "0-65536")] {
            assert_eq!(text.parse::<CpuList>(), Err(CpuListError { part: part.to_owned() }));
        }
        assert!("+1".parse::<CpuList>().is_err());
    }

    #[test]
    fn an_index_finds_the_owner_and_refuses_two() {
        let (little, big) = (list("0-3,6"), list("4-5,7"));
        let index = CpuIndex::new([(0, &little), (1, &big)]).unwrap();
        assert_eq!(index.get(CpuId(6)), Some(0));
        assert_eq!(index.get(CpuId(7)), Some(1));
        assert_eq!(index.get(CpuId(8)), None);

        let wide = list("5-9");
        let shared = CpuIndex::new([(0, &wide), (1, &big)]).unwrap_err();
        assert_eq!(shared, SharedCpu { cpu: CpuId(5), first: 0, second: 1 });
    }
}
