// SPDX-License-Identifier: GPL-2.0-or-later
//! Asks a governor step by step, with every answer of the kernel laid down in advance.
//!
//! A step is one idle period: the governor selects, the CPU idles for as long as the step says,
//! and the governor reflects.
//!
//! ```
//! use idlelab_governors::steps::{StepDriver, StepInputs};
//! use idlelab_governors::{SleepLength, TickRequest, teo::Teo};
//! use idlelab_states::{IdleState, IdleStates, Nanoseconds, TickRate};
//!
//! let states = IdleStates::new(&[
//!     IdleState::polling("POLL"),
//!     IdleState::new("C1", Nanoseconds::from_micros(2), Nanoseconds::from_micros(2)),
//!     IdleState::new("C6", Nanoseconds::from_micros(133), Nanoseconds::from_micros(600)),
//! ])?;
//! let mut teo = Teo::new(TickRate::from_hertz(250).ok_or("no such tick rate")?);
//! let mut driver = StepDriver::new();
//! driver.enable(&mut teo, &states);
//!
//! let ten_milliseconds = Nanoseconds::from_micros(10_000);
//! let step = StepInputs {
//!     sleep_length: SleepLength { sleep: ten_milliseconds, delta_tick: ten_milliseconds },
//!     ..StepInputs::of_residency(ten_milliseconds)
//! };
//! let selections: Vec<_> =
//!     (0..8).map(|_| driver.step(&mut teo, &states, &step).selection).collect();
//! assert_eq!(selections[7].state.get(), 2);
//! assert_eq!(selections[7].tick, TickRequest::Stop);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use idlelab_states::{IdleStates, Nanoseconds, StateIndex};

use crate::{Device, Foresight, Governor, Kernel, NO_LATENCY_LIMIT, Selection, SleepLength, Tick};

/// What became of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entry {
    /// The state was entered.
    #[default]
    Entered,
    /// Another state was entered in its place: by the driver, or by the core where no other CPU can
    /// stand in for a local timer that stops.
    Instead(StateIndex),
    /// The driver rejected it: there was no idle period, and no reflection.
    Rejected,
}

/// All that the kernel answers in one step, and what the step was like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepInputs {
    /// Time to the next timer.
    pub sleep_length: SleepLength,
    /// The exit latency that PM QoS allows.
    pub latency_limit: Nanoseconds,
    /// Whether the tick runs.
    pub tick: Tick,
    /// Tasks that wait for IO.
    pub io_waiters: u32,
    /// The CPU's utilisation, of a capacity of 1024.
    pub utilisation: u32,
    /// The CPU's load average in units of 1/2048.
    pub load: u32,
    /// What is going to end the idle period.
    pub foresight: Option<Foresight>,
    /// What becomes of the selection.
    pub entry: Entry,
    /// The residency that the core then measures.
    pub residency: Nanoseconds,
    /// How far the CPU's clock gets in this step, even if the entry was rejected.
    pub span: Nanoseconds,
    /// Whether the tick fires during the idle period.
    pub got_tick: bool,
    /// Whether the idle period ends at the poll time limit, if the state polls.
    pub poll_time_limit: bool,
}

impl StepInputs {
    /// A step of this measured length and nothing remarkable: no latency limit, the tick running
    /// and not heard of, and a timer that is due now.
    #[must_use]
    pub const fn of_residency(residency: Nanoseconds) -> Self {
        Self {
            sleep_length: SleepLength { sleep: Nanoseconds::ZERO, delta_tick: Nanoseconds::ZERO },
            latency_limit: NO_LATENCY_LIMIT,
            tick: Tick::Running,
            io_waiters: 0,
            utilisation: 0,
            load: 0,
            foresight: None,
            entry: Entry::Entered,
            residency,
            span: residency,
            got_tick: false,
            poll_time_limit: false,
        }
    }
}

/// What a governor did in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOutcome {
    /// Its decision.
    pub selection: Selection,
    /// How often it asked for the sleep length.
    pub sleep_length_queries: u32,
}

/// One CPU as a governor sees it, between the steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepDriver {
    device: Device,
    clock: Nanoseconds,
    got_tick: bool,
}

impl StepDriver {
    /// A CPU that has never idled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the cpuidle core keeps for the CPU.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// Gives the CPU's states to a governor, the first one or another.
    pub fn enable<G: Governor + ?Sized>(&mut self, governor: &mut G, states: &IdleStates) {
        governor.enable(states, &mut self.device);
    }

    /// Has the governor select, lets the CPU idle, and has it reflect.
    pub fn step<G: Governor + ?Sized>(
        &mut self,
        governor: &mut G,
        states: &IdleStates,
        inputs: &StepInputs,
    ) -> StepOutcome {
        let mut kernel = StepKernel { driver: self, inputs, sleep_length_queries: 0 };
        let selection = governor.select(states, &mut kernel);
        let sleep_length_queries = kernel.sleep_length_queries;
        let driver = kernel.driver;

        // The kernel's clock wraps; a governor sees differences only.
        driver.clock = Nanoseconds::new(driver.clock.get().wrapping_add(inputs.span.get()));
        let entered = match inputs.entry {
            Entry::Entered => Some(selection.state),
            Entry::Instead(state) => Some(state),
            Entry::Rejected => None,
        };
        if let Some(entered) = entered {
            driver.device.last_residency = inputs.residency;
            driver.got_tick = inputs.got_tick;
            if states[entered].is_polling() {
                driver.device.poll_time_limit = inputs.poll_time_limit;
            }
            let mut kernel = StepKernel { driver, inputs, sleep_length_queries: 0 };
            governor.reflect(entered, &mut kernel);
        } else {
            driver.device.last_residency = Nanoseconds::ZERO;
        }
        StepOutcome { selection, sleep_length_queries }
    }
}

/// The kernel during one step.
struct StepKernel<'a> {
    driver: &'a mut StepDriver,
    inputs: &'a StepInputs,
    sleep_length_queries: u32,
}

impl Kernel for StepKernel<'_> {
    fn sleep_length(&mut self) -> SleepLength {
        self.sleep_length_queries = self.sleep_length_queries.saturating_add(1);
        self.inputs.sleep_length
    }

    fn latency_limit(&mut self) -> Nanoseconds {
        self.inputs.latency_limit
    }

    fn tick(&mut self) -> Tick {
        self.inputs.tick
    }

    fn take_got_tick(&mut self) -> bool {
        core::mem::take(&mut self.driver.got_tick)
    }

    fn clock(&mut self) -> Nanoseconds {
        self.driver.clock
    }

    fn io_waiters(&mut self) -> u32 {
        self.inputs.io_waiters
    }

    fn utilisation(&mut self) -> u32 {
        self.inputs.utilisation
    }

    fn load(&mut self) -> u32 {
        self.inputs.load
    }

    fn device(&mut self) -> &mut Device {
        &mut self.driver.device
    }

    fn foresight(&mut self) -> Option<Foresight> {
        self.inputs.foresight
    }
}
