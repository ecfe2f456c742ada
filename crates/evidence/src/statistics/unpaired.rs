// SPDX-License-Identifier: GPL-2.0-or-later
use super::moments::{mean, variance};
use super::resampling::{Draw, Resampling, combinations};
use super::{Interval, two_sided};

/// The permutation test of two samples by Welch's statistic, and its interval.
///
/// Without a difference, which runs bear which governor's name is chance. The statistic is the
/// difference of the means in its own standard errors, so that the level nearly holds, too, where
/// the two differ in spread. A shift is tested by taking it off the candidate's values; what an
/// arrangement exchanges is kept as sums, so that another shift costs a few operations each.
#[derive(Clone, Debug)]
pub struct Relabellings {
    baseline: Sums,
    candidate: Sums,
    swaps: Vec<Swap>,
    exact: bool,
}

/// Count, sum and sum of squares.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

/// What an arrangement moves to the other side: equally many from both.
#[derive(Clone, Copy, Debug, Default)]
struct Swap {
    from_baseline: Sums,
    from_candidate: Sums,
}

impl Relabellings {
    /// All arrangements of the values, or as many random ones as asked.
    #[must_use]
    pub fn new(baseline: &[f64], candidate: &[f64], resampling: Resampling) -> Self {
        // Sums of squares keep their digits if the values lie about 0.
        let centre = mean(baseline);
        let values: Vec<f64> =
            baseline.iter().chain(candidate).map(|value| value - centre).collect();
        let (first, second) = values.split_at(baseline.len());
        let all = combinations(values.len(), candidate.len());
        let exact = all <= resampling.exact_up_to;
        let swaps = if exact {
            every(&values, baseline.len())
        } else {
            random(&values, baseline.len(), resampling)
        };
        Self { baseline: sums(first), candidate: sums(second), swaps, exact }
    }

    /// Whether all arrangements were looked at.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The two-sided p-value of a shift: twice the smaller one-sided one.
    #[must_use]
    pub fn p_value(&self, shift: f64) -> f64 {
        let (above, below) = self.tails(shift);
        two_sided(above, below, self.swaps.len())
    }

    /// The shifts about the difference of the means whose p-value exceeds `alpha`.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Interval {
        let difference = self.candidate.mean() - self.baseline.mean();
        let spread = (self.baseline.error() + self.candidate.error()).sqrt();
        let needed = alpha / 2.0 * self.swaps.len() as f64 * (1.0 + 1e-12);
        let low = self.end(difference, -spread, |(above, _)| above as f64 > needed);
        let high = self.end(difference, spread, |(_, below)| below as f64 > needed);
        Interval { low, high }
    }

    /// The farthest shift from the difference in the direction of `step` that is still kept. No
    /// difference, if the test keeps it, lies within by construction.
    fn end(&self, difference: f64, step: f64, kept: impl Fn((usize, usize)) -> bool) -> f64 {
        if step == 0.0 {
            return difference;
        }
        let kept = |shift: f64| kept(self.tails(shift));
        let mut inside = difference;
        if (0.0 - difference) * step > 0.0 && kept(0.0) {
            inside = 0.0;
        }
        let mut stride = step;
        let mut outside = inside + stride;
        while kept(outside) {
            inside = outside;
            stride *= 2.0;
            outside = inside + stride;
            // With so few arrangements, no shift is ever rejected.
            if (stride / step) > 1e4 {
                return f64::INFINITY.copysign(step);
            }
        }
        while ((outside - inside) / step) > 1e-5 {
            let middle = inside + (outside - inside) / 2.0;
            if kept(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }

    /// Arrangements whose statistic is not below, and not above, that of the given one.
    fn tails(&self, shift: f64) -> (usize, usize) {
        let candidate = self.candidate.shifted(shift);
        let given = welch(self.baseline, candidate);
        let slack = if given.is_finite() { 1e-9 * given.abs().max(1e-3) } else { 0.0 };
        let (mut above, mut below) = (0, 0);
        for swap in &self.swaps {
            let moved = swap.from_candidate.shifted(shift);
            let arranged = welch(
                self.baseline.less(swap.from_baseline).plus(moved),
                candidate.less(moved).plus(swap.from_baseline),
            );
            above += usize::from(arranged >= given - slack);
            below += usize::from(arranged <= given + slack);
        }
        (above, below)
    }
}

impl Sums {
    fn mean(self) -> f64 {
        self.sum / self.count
    }

    /// The square of the mean's standard error.
    fn error(self) -> f64 {
        let squares = (self.squares - self.sum * self.sum / self.count).max(0.0);
        // What is left of values that are all the same is rounding.
        let squares = if squares < 1e-13 * self.squares { 0.0 } else { squares };
        squares / (self.count - 1.0) / self.count
    }

    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    /// The sums of the same values, each less the shift.
    fn shifted(self, shift: f64) -> Self {
        Self {
            count: self.count,
            sum: self.sum - shift * self.count,
            squares: self.squares - 2.0 * shift * self.sum + shift * shift * self.count,
        }
    }
}

/// Welch's statistic: infinite for a difference without spread, 0 for neither.
fn welch(baseline: Sums, candidate: Sums) -> f64 {
    let difference = candidate.mean() - baseline.mean();
    let error = (baseline.error() + candidate.error()).sqrt();
    if difference == 0.0 { 0.0 } else { difference / error }
}

fn sums(values: &[f64]) -> Sums {
    let mut sums = Sums::default();
    values.iter().for_each(|&value| sums.add(value));
    sums
}

/// Every choice of the candidate's places, in lexical order.
fn every(values: &[f64], baseline: usize) -> Vec<Swap> {
    let candidates = values.len() - baseline;
    let mut places: Vec<usize> = (0..candidates).collect();
    let mut swaps = Vec::new();
    loop {
        swaps.push(swap(values, baseline, &places));
        // The last place that can still move on moves, and those behind it follow close.
        let movable = places.iter().enumerate().rev().find(|&(at, &place)| place < baseline + at);
        let Some((turn, &place)) = movable else { return swaps };
        for (next, moved) in (place + 1..).zip(places.iter_mut().skip(turn)) {
            *moved = next;
        }
    }
}

/// The given arrangement and as many random ones as asked.
fn random(values: &[f64], baseline: usize, resampling: Resampling) -> Vec<Swap> {
    let mut draw = Draw::new(resampling.seed);
    let mut order: Vec<usize> = (0..values.len()).collect();
    let candidates = values.len() - baseline;
    let mut swaps = vec![Swap::default()];
    swaps.extend((0..resampling.draws).map(|_| {
        for at in 0..candidates {
            let other = at + draw.below(order.len() - at);
            order.swap(at, other);
        }
        swap(values, baseline, order.get(..candidates).unwrap_or_default())
    }));
    swaps
}

/// What is exchanged if the candidate's values are those at the given places.
fn swap(values: &[f64], baseline: usize, places: &[usize]) -> Swap {
    let mut chosen = vec![false; values.len()];
    for &place in places {
        if let Some(chosen) = chosen.get_mut(place) {
            *chosen = true;
        }
    }
    let mut swap = Swap::default();
    for (place, (&value, chosen)) in values.iter().zip(chosen).enumerate() {
        match (place < baseline, chosen) {
            (true, true) => swap.from_baseline.add(value),
            (false, false) => swap.from_candidate.add(value),
            (true, false) | (false, true) => {}
        }
    }
    swap
}

/// The degrees of freedom of Welch's statistic, and the standard error of the difference.
pub(super) fn welch_freedom(baseline: &[f64], candidate: &[f64]) -> (f64, f64) {
    let part = |values: &[f64]| (variance(values) / values.len() as f64, values.len() as f64 - 1.0);
    let ((first, first_freedom), (second, second_freedom)) = (part(baseline), part(candidate));
    let error = first + second;
    let freedom =
        error * error / (first * first / first_freedom + second * second / second_freedom);
    let freedom = if freedom.is_finite() { freedom } else { first_freedom + second_freedom };
    (freedom, error.sqrt())
}
