// SPDX-License-Identifier: GPL-2.0-or-later
//! clairvoyant: knows how long the CPU will idle. The bound that no governor can beat.
//!
//! idlelab's own. It bounds the energy of one CPU for wakeups that stay where they are: power that
//! CPUs share, and wakeups that move because the CPU slept, are outside it.
//!
//! ```text
//!  energy │            ╱ state 0: no transition, much power
//!         │          ╱      ___--- state 1
//!         │     ___╱---             _________ state 2: dear transition, little power
//!         │ ___--╱_________---------
//!         │    ╱
//!         └──────┴──────────┴────────────────▶ foreseen idle time
//!          state 0  state 1    state 2            (least energy; ties to the shallower)
//! ```
//!
//! Without costs, the target residencies say where the lines cross.

use idlelab_states::{IdleStates, Nanoseconds, PerState, StateIndex};

use crate::fixed::Fixed;
use crate::reason::{Listener, Reason, selects_by_deciding};
use crate::{Device, Foresight, Governor, Kernel, Metric, Selection, TickRequest};

/// What one idle state costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCost {
    /// Power while in it, in microwatts.
    pub power_microwatts: u64,
    /// Energy to enter and leave it once, in nanojoules.
    pub transition_nanojoules: u64,
}

impl StateCost {
    /// The energy of one stay, in femtojoules: a microwatt is a femtojoule a nanosecond.
    fn of_stay(self, idle: Nanoseconds) -> u128 {
        const FEMTOJOULES_PER_NANOJOULE: u128 = 1_000_000;
        let nanoseconds = u128::from(idle.get().max(0).cast_unsigned());
        let transition =
            u128::from(self.transition_nanojoules).saturating_mul(FEMTOJOULES_PER_NANOJOULE);
        u128::from(self.power_microwatts).saturating_mul(nanoseconds).saturating_add(transition)
    }
}

/// What each idle state costs.
pub type StateCosts = PerState<StateCost>;

/// The governor of one CPU. It must be told the future by [`Kernel::foresight`]; where it is not,
/// it chooses the deepest state that the latency limit allows.
#[derive(Clone, Debug, Default)]
pub struct Clairvoyant {
    state_count: usize,
    costs: Option<StateCosts>,
}

impl Clairvoyant {
    /// Chooses the deepest state whose target residency fits. If none fits within the latency
    /// limit, the shallowest enabled one.
    #[must_use]
    pub const fn new() -> Self {
        Self { state_count: 0, costs: None }
    }

    /// Chooses the state of least energy within the latency limit, and of equals the shallower. If
    /// none is within the limit, the shallowest enabled one.
    #[must_use]
    pub const fn with_costs(costs: StateCosts) -> Self {
        Self { state_count: 0, costs: Some(costs) }
    }

    /// The choice for an idle period of known length: see [`Clairvoyant::new`] and
    /// [`Clairvoyant::with_costs`]. State 0 if none is enabled.
    #[must_use]
    pub fn choose(&self, states: &IdleStates, idle: Nanoseconds, limit: Nanoseconds) -> StateIndex {
        let mut allowed = states.enabled().filter(|&state| states[state].exit_latency <= limit);
        let best = match &self.costs {
            Some(costs) => allowed.min_by_key(|&state| costs[state].of_stay(idle)),
            None => allowed.rfind(|&state| states[state].target_residency <= idle),
        };
        best.or_else(|| states.enabled().next()).unwrap_or(StateIndex::ZERO)
    }

    #[inline(always)]
    fn decide(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        listener: &mut impl Listener,
    ) -> Selection {
        let Some(Foresight { idle, tick, stoppable }) = kernel.foresight() else {
            return Fixed::deepest().decide(states, kernel, listener);
        };
        // One long stay never costs more than its parts: the parts pay for the same time, and for
        // each transition once more. So a tick that would cut the stay is always worth stopping.
        // One that fires just as it ends cuts nothing, and stopping it would take time.
        let (idle, tick) = match tick {
            Some(tick) if tick < idle && stoppable => (idle, TickRequest::Stop),
            Some(tick) => (idle.min(tick), TickRequest::Keep),
            None => (idle, TickRequest::Keep),
        };
        let limit = kernel.latency_limit();
        let state = self.choose(states, idle, limit);
        listener.because(|| Reason::Foreseen { state, idle });
        Selection { state, tick }
    }
}

impl Governor for Clairvoyant {
    fn enable(&mut self, states: &IdleStates, _device: &mut Device) {
        self.state_count = states.len();
    }

    selects_by_deciding!();

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        kernel.device().last_state = entered;
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        let Some(costs) = &self.costs else { return };
        for (index, cost) in (0..self.state_count).zip(&costs.0) {
            let mut of_state = |name, value: u64| {
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                metrics(Metric { name, index: Some(index), value });
            };
            of_state("power_microwatts", cost.power_microwatts);
            of_state("transition_nanojoules", cost.transition_nanojoules);
        }
    }
}
