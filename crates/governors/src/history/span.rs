// SPDX-License-Identifier: GPL-2.0-or-later
//! The time from a selection to the reflection, by the governor's own clock: teo up to 6.13 tells
//! wakeups by a timer from others by it.

use core::mem;

use idlelab_states::Nanoseconds;

use crate::{Kernel, Metric};

/// The span of one idle period, the governor's own work included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    selected_at: Nanoseconds,
    length: Nanoseconds,
}

impl Span {
    #[inline]
    pub(super) fn begin(&mut self, kernel: &mut dyn Kernel) {
        self.selected_at = kernel.clock();
    }

    /// Ends the span. If only a safety net ended the idle period, it would have lasted until the
    /// timer.
    #[inline]
    pub(super) fn end(&mut self, kernel: &mut dyn Kernel, safety_net: bool, sleep: Nanoseconds) {
        self.length = if safety_net {
            sleep
        } else {
            let length = kernel.clock().get().wrapping_sub(self.selected_at.get());
            Nanoseconds::new(length)
        };
    }

    pub(super) const fn length(&self) -> Nanoseconds {
        self.length
    }

    pub(super) fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        metrics(Metric { name: "time_span_ns", index: None, value: self.length.get() });
    }
}

/// Whether the idle period ended at the poll time limit, or by a tick that was kept though the
/// timer was beyond it. After a poll timeout the tick is not asked after, so what it says stays
/// for next time.
#[inline]
pub(super) fn ended_by_safety_net(kernel: &mut dyn Kernel, timer_is_beyond_tick: bool) -> bool {
    mem::take(&mut kernel.device().poll_time_limit)
        || (kernel.take_got_tick() && timer_is_beyond_tick)
}
