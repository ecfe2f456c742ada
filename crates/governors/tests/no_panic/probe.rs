// SPDX-License-Identifier: GPL-2.0-or-later
//! A library of nothing but the governors, on arguments that the optimiser cannot know. Its panic
//! handler calls a function that does not exist, so that it can only be linked if no call to the
//! handler is left. With `--cfg control` one is left on purpose.
#![no_std]

use core::panic::PanicInfo;

use idlelab_governors::catalog::{self, AnyGovernor, GovernorName};
use idlelab_governors::clairvoyant::{Clairvoyant, StateCosts};
use idlelab_governors::haltpoll::{Haltpoll, Parameters};
use idlelab_governors::steps::{StepDriver, StepInputs, StepOutcome};
use idlelab_governors::{Device, Governor, Kernel, Metric, Selection};
use idlelab_states::{IdleStates, StateIndex, TickRate};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn a_panic_is_possible() -> !;
    }
    // SAFETY: it is never linked.
    unsafe { a_panic_is_possible() }
}

#[unsafe(no_mangle)]
pub fn find(name: &str) -> Option<GovernorName> {
    catalog::find(name).ok()
}

#[unsafe(no_mangle)]
pub fn nearest(name: &str) -> Option<&'static str> {
    catalog::find(name).err().map(|error| error.nearest())
}

#[unsafe(no_mangle)]
pub fn build(name: GovernorName, tick_rate: TickRate) -> AnyGovernor {
    name.build(tick_rate)
}

#[unsafe(no_mangle)]
pub fn build_clairvoyant(costs: StateCosts) -> AnyGovernor {
    AnyGovernor::Clairvoyant(Clairvoyant::with_costs(costs))
}

#[unsafe(no_mangle)]
pub fn build_haltpoll(parameters: Parameters) -> AnyGovernor {
    AnyGovernor::Haltpoll(Haltpoll::with_parameters(parameters))
}

#[unsafe(no_mangle)]
pub fn enable(governor: &mut AnyGovernor, states: &IdleStates, device: &mut Device) {
    governor.enable(states, device);
}

#[unsafe(no_mangle)]
pub fn select(
    governor: &mut AnyGovernor,
    states: &IdleStates,
    kernel: &mut dyn Kernel,
) -> Selection {
    governor.select(states, kernel)
}

#[unsafe(no_mangle)]
pub fn reflect(governor: &mut AnyGovernor, entered: StateIndex, kernel: &mut dyn Kernel) {
    governor.reflect(entered, kernel);
}

#[unsafe(no_mangle)]
pub fn explain(governor: &AnyGovernor, metrics: &mut dyn FnMut(Metric)) {
    governor.explain(metrics);
}

#[unsafe(no_mangle)]
pub fn step(
    driver: &mut StepDriver,
    governor: &mut dyn Governor,
    states: &IdleStates,
    inputs: &StepInputs,
) -> StepOutcome {
    driver.step(governor, states, inputs)
}

#[cfg(control)]
#[unsafe(no_mangle)]
pub fn control(values: &[u8], index: usize) -> u8 {
    values[index]
}
