// SPDX-License-Identifier: GPL-2.0-or-later
//! Two governors on one CPU, told the same, compared call by call.

use idlelab_governors::{
    Device, Foresight, Governor, Kernel, Metric, Selection, SleepLength, TickRequest,
};
use idlelab_states::{IdleStates, Nanoseconds, StateIndex, Tick};

/// What a governor is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Its data starts from zero.
    Enable,
    /// It chooses.
    Select,
    /// It takes note of what was entered.
    Reflect,
    /// It tells its metrics.
    Explain,
}

/// Questions to the kernel that have an effect there, in the order in which they were asked: of the
/// sleep length, which the kernel computes and keeps for the tick, and whether the tick has fired,
/// which is cleared.
///
/// Others (the latency limit, whether the tick is stopped, the clock, ...) are answered by a look
/// at a variable, so when and how often they are asked makes no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Questions(u32);

impl Questions {
    const SLEEP_LENGTH: u32 = 1;
    const GOT_TICK: u32 = 2;

    /// Takes note of a question; the sixteenth last is forgotten.
    const fn note(&mut self, question: u32) {
        self.0 = self.0 << 2 | question;
    }

    /// How often the sleep length was asked for.
    #[must_use]
    pub fn of_sleep_length(self) -> usize {
        self.count(Self::SLEEP_LENGTH)
    }

    /// How often it was asked whether the tick has fired.
    #[must_use]
    pub fn of_tick(self) -> usize {
        self.count(Self::GOT_TICK)
    }

    fn count(self, question: u32) -> usize {
        (0..16).filter(|place| self.0 >> (2 * place) & 3 == question).count()
    }
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The decision.
    pub selection: Option<Selection>,
    /// What the kernel was asked.
    pub questions: Questions,
    /// What the cpuidle core keeps for the CPU, as the governor left it.
    pub device: Device,
    /// A metric that has the same name in both.
    pub metric: Option<Metric>,
}

/// The first call that came out differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What was called.
    pub call: Call,
    /// What the first governor made of it.
    pub first: Answer,
    /// What the second did.
    pub second: Answer,
}

/// Two governors that stand where one does. The first has the say; the second is told the same and
/// must do the same. After a difference it is not asked any more.
#[derive(Clone, Debug)]
pub struct Duel<A, B> {
    first: A,
    second: B,
    difference: Option<Difference>,
}

impl<A: Governor, B: Governor> Duel<A, B> {
    /// Both must be as new.
    pub const fn new(first: A, second: B) -> Self {
        Self { first, second, difference: None }
    }

    /// The first difference, if there was one.
    pub const fn difference(&self) -> Option<&Difference> {
        self.difference.as_ref()
    }

    /// The second governor.
    pub const fn second(&self) -> &B {
        &self.second
    }

    /// Compares those internal metrics that both tell.
    pub fn compare_metrics(&mut self, device: &Device) {
        let mut difference = None;
        self.second.explain(&mut |second| {
            self.first.explain(&mut |first| {
                if (first.name, first.index) == (second.name, second.index)
                    && first.value != second.value
                {
                    difference = difference.or(Some((first, second)));
                }
            });
        });
        if let Some((first, second)) = difference {
            let answer = |metric| Answer {
                selection: None,
                questions: Questions::default(),
                device: *device,
                metric: Some(metric),
            };
            self.compare(Call::Explain, answer(first), answer(second));
        }
    }

    fn compare(&mut self, call: Call, first: Answer, second: Answer) {
        if first != second && self.difference.is_none() {
            self.difference = Some(Difference { call, first, second });
        }
    }

    /// Has both do the same; the result is the first's.
    fn both(
        &mut self,
        call: Call,
        kernel: &mut dyn Kernel,
        act_first: impl FnOnce(&mut A, &mut dyn Kernel) -> Option<Selection>,
        act_second: impl FnOnce(&mut B, &mut dyn Kernel) -> Option<Selection>,
    ) -> Option<Selection> {
        let before = *kernel.device();
        let mut told = Told::default();
        let mut asked = Asked { kernel, told: &mut told, questions: Questions::default() };
        let selection = act_first(&mut self.first, &mut asked);
        let questions = asked.questions;
        if self.difference.is_none() {
            let device = *kernel.device();
            let first = Answer { selection, questions, device, metric: None };
            let mut retold =
                Retold { kernel, told, device: before, questions: Questions::default() };
            let selection = act_second(&mut self.second, &mut retold);
            let Retold { questions, device, .. } = retold;
            self.compare(call, first, Answer { selection, questions, device, metric: None });
        }
        selection
    }
}

impl<A: Governor, B: Governor> Governor for Duel<A, B> {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        let mut seconds = *device;
        self.first.enable(states, device);
        self.second.enable(states, &mut seconds);
        let answer = |device| Answer {
            selection: None,
            questions: Questions::default(),
            device,
            metric: None,
        };
        self.compare(Call::Enable, answer(*device), answer(seconds));
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        let selection = self.both(
            Call::Select,
            kernel,
            |first, kernel| Some(first.select(states, kernel)),
            |second, kernel| Some(second.select(states, kernel)),
        );
        selection.unwrap_or(Selection { state: StateIndex::ZERO, tick: TickRequest::Keep })
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.both(
            Call::Reflect,
            kernel,
            |first, kernel| {
                first.reflect(entered, kernel);
                None
            },
            |second, kernel| {
                second.reflect(entered, kernel);
                None
            },
        );
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.first.explain(metrics);
    }
}

/// Answers that asking changes or that are costly, kept for the second governor.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    sleep_length: Option<SleepLength>,
    got_tick: Option<bool>,
}

/// The kernel, as the first governor asks it.
struct Asked<'a> {
    kernel: &'a mut dyn Kernel,
    told: &'a mut Told,
    questions: Questions,
}

impl Kernel for Asked<'_> {
    fn sleep_length(&mut self) -> SleepLength {
        self.questions.note(Questions::SLEEP_LENGTH);
        let answer = self.kernel.sleep_length();
        self.told.sleep_length = Some(answer);
        answer
    }

    fn latency_limit(&mut self) -> Nanoseconds {
        self.kernel.latency_limit()
    }

    fn tick(&mut self) -> Tick {
        self.kernel.tick()
    }

    fn take_got_tick(&mut self) -> bool {
        self.questions.note(Questions::GOT_TICK);
        let answer = self.kernel.take_got_tick();
        self.told.got_tick = Some(self.told.got_tick.unwrap_or(false) || answer);
        answer
    }

    fn clock(&mut self) -> Nanoseconds {
        self.kernel.clock()
    }

    fn io_waiters(&mut self) -> u32 {
        self.kernel.io_waiters()
    }

    fn utilisation(&mut self) -> u32 {
        self.kernel.utilisation()
    }

    fn load(&mut self) -> u32 {
        self.kernel.load()
    }

    fn device(&mut self) -> &mut Device {
        self.kernel.device()
    }

    fn foresight(&mut self) -> Option<Foresight> {
        self.kernel.foresight()
    }
}

/// The kernel, as the second governor asks it: it answers the same.
struct Retold<'a> {
    kernel: &'a mut dyn Kernel,
    told: Told,
    device: Device,
    questions: Questions,
}

impl Kernel for Retold<'_> {
    fn sleep_length(&mut self) -> SleepLength {
        self.questions.note(Questions::SLEEP_LENGTH);
        match self.told.sleep_length {
            Some(answer) => answer,
            None => self.kernel.sleep_length(),
        }
    }

    fn latency_limit(&mut self) -> Nanoseconds {
        self.kernel.latency_limit()
    }

    fn tick(&mut self) -> Tick {
        self.kernel.tick()
    }

    fn take_got_tick(&mut self) -> bool {
        self.questions.note(Questions::GOT_TICK);
        match &mut self.told.got_tick {
            Some(answer) => std::mem::take(answer),
            None => self.kernel.take_got_tick(),
        }
    }

    fn clock(&mut self) -> Nanoseconds {
        self.kernel.clock()
    }

    fn io_waiters(&mut self) -> u32 {
        self.kernel.io_waiters()
    }

    fn utilisation(&mut self) -> u32 {
        self.kernel.utilisation()
    }

    fn load(&mut self) -> u32 {
        self.kernel.load()
    }

    fn device(&mut self) -> &mut Device {
        &mut self.device
    }

    fn foresight(&mut self) -> Option<Foresight> {
        self.kernel.foresight()
    }
}
