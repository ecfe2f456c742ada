// SPDX-License-Identifier: GPL-2.0-or-later
//! What menu remembers: how early the CPU wakes before a timer, and the last intervals.

use core::mem;

use idlelab_states::{IdleStates, Nanoseconds, StateIndex};

use crate::reason::Reason;
use crate::{Device, Kernel, Metric};

/// Correction factors are in units of `1 / (RESOLUTION * DECAY)`.
pub(crate) const RESOLUTION: u32 = 1024;

/// An update is worth an eighth of a correction factor.
const DECAY: u32 = 8;

pub(crate) const UNITY: u32 = RESOLUTION * DECAY;

/// Timers further away than this say nothing about how early the CPU wakes: 50 ms.
pub(crate) const MAX_INTERESTING: u64 = 50_000_000;

pub(crate) const NANOSECONDS_PER_MICROSECOND: u64 = 1_000;

/// Beyond every bound, or an entry that the driver rejected.
pub(crate) const NO_IDEA: u32 = u32::MAX;

/// Correction factors, one for each order of magnitude of the time to the next timer.
pub(crate) const MAGNITUDES: usize = 6;

/// Where each order of magnitude but the last ends, in nanoseconds.
const MAGNITUDE_ENDS: [u64; MAGNITUDES - 1] = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// How many intervals are remembered.
pub(crate) const INTERVALS: usize = 8;

/// The intervals and factors of one CPU, and what the last selection knew.
#[derive(Clone, Debug)]
pub(crate) struct Memory<const BUCKETS: usize> {
    tick_length: Nanoseconds,
    correction_factors: [u32; BUCKETS],
    /// In microseconds.
    pub(crate) intervals: [u32; INTERVALS],
    next_interval: usize,
    /// Time to the next timer in nanoseconds, unsigned as the kernel keeps it; 2^63 - 1 if it was
    /// not asked.
    next_timer: u64,
    /// The correction factor that belongs to `next_timer`.
    bucket: usize,
    needs_update: bool,
    tick_wakeup: bool,
}

impl<const BUCKETS: usize> Memory<BUCKETS> {
    pub(crate) const fn none(tick_length: Nanoseconds) -> Self {
        Self {
            tick_length,
            correction_factors: [UNITY; BUCKETS],
            intervals: [0; INTERVALS],
            next_interval: 0,
            next_timer: 0,
            bucket: 0,
            needs_update: false,
            tick_wakeup: false,
        }
    }

    pub(crate) const fn tick_length(&self) -> Nanoseconds {
        self.tick_length
    }

    pub(crate) fn remember(&mut self, interval: u32) {
        if let Some(slot) = self.intervals.get_mut(self.next_interval) {
            *slot = interval;
        }
        self.next_interval = self.next_interval.wrapping_add(1) % INTERVALS;
    }

    /// Whether an idle period has ended that has not been learnt from. Asked once.
    pub(crate) fn take_needs_update(&mut self) -> bool {
        mem::take(&mut self.needs_update)
    }

    /// Learns from the idle period that has ended.
    pub(crate) fn update(&mut self, states: &IdleStates, device: &Device) {
        let row = &states[device.last_state];
        let measured =
            if self.tick_wakeup && self.next_timer > self.tick_length.get().cast_unsigned() {
                // The tick was kept for fear of a short sleep, and the sleep was not short.
                // Being just within the interesting range lets the factor grow, but not jump to
                // unity.
                MAX_INTERESTING / 10 * 9
            } else if row.is_polling() && device.poll_time_limit {
                // Nothing woke the CPU: it would have gone on idling until the timer.
                self.next_timer
            } else {
                without_latency(device, row.exit_latency)
            };
        let measured = measured.min(self.next_timer);
        self.correct(measured, self.next_timer, MAX_INTERESTING);
        self.remember((measured / NANOSECONDS_PER_MICROSECOND) as u32);
    }

    /// Learns how far on the way to a timer the CPU got, in any unit.
    pub(crate) fn correct(&mut self, measured: u64, next_timer: u64, interesting: u64) {
        let gain = if next_timer > 0 && measured < interesting {
            (u64::from(RESOLUTION).wrapping_mul(measured) / next_timer) as u32
        } else {
            RESOLUTION
        };
        if let Some(factor) = self.correction_factors.get_mut(self.bucket) {
            *factor = factor.wrapping_sub(*factor / DECAY).wrapping_add(gain);
        }
    }

    /// How far the CPU usually gets towards a timer that is so many nanoseconds away, in
    /// microseconds.
    #[inline(always)]
    pub(crate) fn corrected_timer(&mut self, next_timer: u64) -> u32 {
        self.set_timer(next_timer, 0);
        self.corrected(next_timer, NANOSECONDS_PER_MICROSECOND)
    }

    /// The next timer that was last taken note of, in whole microseconds.
    pub(crate) const fn next_timer_microseconds(&self) -> u64 {
        self.next_timer / NANOSECONDS_PER_MICROSECOND
    }

    /// The timers were not asked.
    pub(crate) fn no_timer(&mut self) {
        self.set_timer(Nanoseconds::MAX.get().cast_unsigned(), 0);
    }

    /// Takes note of the next timer, in nanoseconds. `offset` chooses among sets of correction
    /// factors.
    pub(crate) fn set_timer(&mut self, next_timer: u64, offset: usize) {
        self.next_timer = next_timer;
        let magnitude = MAGNITUDE_ENDS.iter().take_while(|&&end| next_timer >= end).count();
        self.bucket = magnitude.wrapping_add(offset);
    }

    /// `next_timer`, in any unit, as far as the CPU usually gets towards it, in units of `unit`.
    #[inline(always)]
    pub(crate) fn corrected(&self, next_timer: u64, unit: u64) -> u32 {
        let factor = self.correction_factors.get(self.bucket).copied().unwrap_or(UNITY);
        // With no timer pending the product wraps and the prediction is as good as random, in the
        // kernel too.
        let product = next_timer.wrapping_mul(factor.into());
        let divisor = u64::from(UNITY).wrapping_mul(unit);
        product.wrapping_add(divisor / 2).checked_div(divisor).unwrap_or(0) as u32
    }

    /// How the timer was corrected.
    pub(crate) fn correction_reason(&self, microseconds: u32) -> Reason {
        let factor = self.correction_factors.get(self.bucket).copied().unwrap_or(UNITY);
        let (next_timer, bucket) = (self.next_timer, self.bucket);
        Reason::CorrectedTimer { next_timer, bucket, factor, microseconds }
    }

    pub(crate) fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
        self.needs_update = true;
        self.tick_wakeup = kernel.take_got_tick();
    }

    pub(crate) fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        for (index, &factor) in (0..BUCKETS).zip(&self.correction_factors) {
            let index = Some(index);
            metrics(Metric { name: "correction_factor", index, value: factor.into() });
        }
        for (index, &interval) in (0..INTERVALS).zip(&self.intervals) {
            let index = Some(index);
            let nanoseconds = Nanoseconds::from_micros(interval.into()).get();
            metrics(Metric { name: "intervals", index, value: nanoseconds });
        }
        let whole = |name, value| Metric { name, index: None, value };
        metrics(whole("interval_ptr", self.next_interval as i64));
        metrics(whole("next_timer_ns", self.next_timer.cast_signed()));
        metrics(whole("bucket", self.bucket as i64));
        metrics(whole("needs_update", self.needs_update.into()));
        metrics(whole("tick_wakeup", self.tick_wakeup.into()));
    }
}

/// A measured residency less the exit latency that is in it, or half of it if it is little more
/// than that.
fn without_latency(device: &Device, latency: Nanoseconds) -> u64 {
    let residency = device.last_residency.get().cast_unsigned();
    let latency = latency.get().cast_unsigned();
    if residency > latency.wrapping_mul(2) {
        residency.wrapping_sub(latency)
    } else {
        residency / 2
    }
}
