// SPDX-License-Identifier: GPL-2.0-or-later

/// How busy a CPU was of late: 1024 if it ran all the time, with what is 32 periods of 1.024 ms ago
/// counting half, as the scheduler's average does. Unlike that, it does not go by whole periods.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Utilisation {
    average: f64,
    until: i64,
}

const HALF_LIFE: f64 = 32.0 * 1_024_000.0;
const FULL: f64 = 1_024.0;

impl Utilisation {
    /// From the last time up to `now` the CPU ran tasks, or did not.
    #[inline]
    pub(crate) fn passed(&mut self, now: i64, ran: bool) {
        let halves = (now - self.until) as f64 / HALF_LIFE;
        let kept = if halves < 1e-3 {
            // The first two terms: the error is below 1e-10.
            let x = halves * std::f64::consts::LN_2;
            1.0 - x + x * x * 0.5
        } else {
            (-halves).exp2()
        };
        self.average = self.average * kept + if ran { FULL * (1.0 - kept) } else { 0.0 };
        self.until = now;
    }

    pub(crate) fn get(&self) -> u32 {
        self.average as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_half_life_ago_counts_half() {
        let mut utilisation = Utilisation::default();
        utilisation.passed(32 * 1_024_000, true);
        assert_eq!(utilisation.get(), 512);
        utilisation.passed(2 * 32 * 1_024_000, false);
        assert_eq!(utilisation.get(), 256);
        let mut in_steps = Utilisation::default();
        (1..=32 * 1_024).for_each(|step| in_steps.passed(step * 1_000, true));
        assert!((in_steps.average - 512.0).abs() < 1e-3);
    }
}
