// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_governors::{Device, Governor, Kernel, Metric, Selection};
use idlelab_states::{IdleStates, StateIndex};

/// A governor whose type is not known: one of the catalogue beside a kernel's C file.
pub struct Boxed(pub Box<dyn Governor>);

impl Governor for Boxed {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        self.0.enable(states, device);
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        self.0.select(states, kernel)
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.0.reflect(entered, kernel);
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.0.explain(metrics);
    }
}
