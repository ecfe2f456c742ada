// SPDX-License-Identifier: GPL-2.0-or-later
use super::resampling::Draw;

/// Hartigan's dip: how far the distribution of the values is from the nearest one with a single
/// mode, as a difference of cumulative shares. At least `1 / 2n`, at most 1/4; 0 of nothing.
///
/// ```text
///  upper corners ┌──  the least concave majorant of the upper corners and the greatest convex
///            ┌───┘    minorant of the lower corners close in on the modal interval; what they
///        ┌───┘        miss to its left and right is what a single mode cannot explain
///  lower corners
/// ```
#[must_use]
pub fn dip(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let steps = steps(&sorted);
    if steps.is_empty() {
        return 0.0;
    }
    // In ranks, both ways: the dip itself is half of it, over the count.
    let mut distance = 1.0_f64;
    let mut modal = &steps[..];
    loop {
        let convex = Hull::new(modal, |step| step.lower, 1.0);
        let concave = Hull::new(modal, |step| step.upper, -1.0);
        let apart = |at: usize| {
            modal.get(at).map_or(0.0, |step| concave.at(step.value) - convex.at(step.value))
        };
        let farthest = |hull: &Hull| {
            let vertices = hull.vertices.iter().map(|&at| (apart(at), at));
            vertices.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((0.0, 0))
        };
        let ((below, minorant), (above, majorant)) = (farthest(&convex), farthest(&concave));
        let (gap, first, last) = if below >= above {
            (below, minorant, concave.first_from(minorant))
        } else {
            (above, convex.last_to(majorant), majorant)
        };
        if gap <= distance {
            break;
        }
        let left = modal.iter().take(first + 1).map(|step| step.upper - convex.at(step.value));
        let right = modal.iter().skip(last).map(|step| concave.at(step.value) - step.lower);
        distance = left.chain(right).fold(distance, f64::max);
        if first == 0 && last + 1 == modal.len() {
            break;
        }
        modal = modal.get(first..=last).unwrap_or_default();
    }
    distance / (2 * values.len()) as f64
}

/// A value and the ranks between which the cumulative share steps there.
struct Step {
    value: f64,
    lower: f64,
    upper: f64,
}

/// Equal values are taken to have been rounded, and spread over the smallest gap between others:
/// else each would look like a mode.
fn steps(sorted: &[f64]) -> Vec<Step> {
    let gaps = sorted.windows(2).map(|pair| match pair {
        [one, other] if other > one => other - one,
        _ => f64::INFINITY,
    });
    let gap = gaps.fold(f64::INFINITY, f64::min);
    let gap = if gap.is_finite() { gap } else { 0.0 };
    let spread = sorted.chunk_by(|one, other| one == other).flat_map(|tied| {
        let place = move |at: usize| (at as f64 + 0.5) / tied.len() as f64 - 0.5;
        tied.iter().enumerate().map(move |(at, value)| value + gap * place(at))
    });
    let step = |(rank, value)| Step { value, lower: rank as f64, upper: rank as f64 + 1.0 };
    spread.enumerate().map(step).collect()
}

/// The convex hull of corners from below, or from above.
struct Hull {
    vertices: Vec<usize>,
    corners: Vec<(f64, f64)>,
}

impl Hull {
    /// From below for `side` 1, from above for -1.
    fn new(steps: &[Step], corner: impl Fn(&Step) -> f64, side: f64) -> Self {
        let mut vertices: Vec<usize> = Vec::new();
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let new = (step.value, corner(step));
            while let [.., before, last] = corners[..] {
                let turn = (last.0 - before.0) * (new.1 - before.1)
                    - (last.1 - before.1) * (new.0 - before.0);
                if turn * side > 0.0 {
                    break;
                }
                corners.pop();
                vertices.pop();
            }
            corners.push(new);
            vertices.push(at);
        }
        Self { vertices, corners }
    }

    /// Its height above a value.
    fn at(&self, value: f64) -> f64 {
        let next = self.corners.partition_point(|corner| corner.0 < value);
        let corner = |at: usize| self.corners.get(at).copied();
        match (next.checked_sub(1).and_then(corner), corner(next)) {
            (Some(left), Some(right)) if right.0 > value => {
                left.1 + (right.1 - left.1) * (value - left.0) / (right.0 - left.0)
            }
            (_, Some(exact)) => exact.1,
            (Some(last), None) => last.1,
            (None, None) => 0.0,
        }
    }

    fn first_from(&self, at: usize) -> usize {
        self.vertices.iter().copied().find(|&vertex| vertex >= at).unwrap_or(at)
    }

    fn last_to(&self, at: usize) -> usize {
        self.vertices.iter().copied().rev().find(|&vertex| vertex <= at).unwrap_or(at)
    }
}

/// Dips of samples that have no second mode.
///
/// They are of the uniform distribution, which of all with one mode dips most: for noise with a
/// peak, the test says *two modes* much more rarely than its level.
#[derive(Clone, Debug)]
pub struct DipNull(Vec<f64>);

impl DipNull {
    /// Draws samples of `count` values.
    #[must_use]
    pub fn new(count: usize, draws: usize, seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let mut sample = vec![0.0; count];
        let mut one = || {
            sample.fill_with(|| draw.unit());
            dip(&sample)
        };
        let mut dips: Vec<f64> = (0..draws).map(|_| one()).collect();
        dips.sort_unstable_by(f64::total_cmp);
        Self(dips)
    }

    /// The share of such samples whose dip is at least as deep, this one included.
    #[must_use]
    pub fn p_value(&self, dip: f64) -> f64 {
        let shallower = self.0.partition_point(|other| *other < dip - 1e-12);
        (self.0.len() - shallower + 1) as f64 / (self.0.len() + 1) as f64
    }
}
