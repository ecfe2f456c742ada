// SPDX-License-Identifier: GPL-2.0-or-later
//! One CPU's gaps through one governor.

use idlelab_cpuidle::{Boxed, Entry, Environment, IdleLoop, Left};
use idlelab_governors::catalog::{AnyGovernor, GovernorName};
use idlelab_governors::clairvoyant::Clairvoyant;
use idlelab_governors::reason::Reason;
use idlelab_governors::{Device, Governor, Kernel, Metric, Selection};
use idlelab_outcome::{Assumption, CpuOutcome, OffBy, Regret, StateOutcome, WakeupLatency};
use idlelab_states::{IdleStates, MAX_STATES, Nanoseconds, PerState, StateIndex, TickRate};

use crate::PreparedCpu;
use crate::candidate::Candidate;
use crate::energy::Stay;
use crate::gap::{Gap, GapEnd, Step};
use crate::overhead::Round;

/// The number of the deepest state that a table can have.
const DEEPEST: usize = MAX_STATES - 1;

/// Replays a governor on one CPU. The stays are kept only where energy is to be computed of them.
pub(crate) fn run(
    cpu: &PreparedCpu,
    candidate: Candidate<'_>,
    rate: TickRate,
    assumption: Option<Assumption>,
) -> (CpuOutcome, Vec<Stay>) {
    // Each of the usual governors gets a loop of its own, without a branch per call.
    match candidate {
        Candidate::Named(name) => match build(cpu, name, rate) {
            AnyGovernor::Teo(teo) => replay(cpu, teo, rate, assumption, &mut Nobody),
            AnyGovernor::Menu(menu) => replay(cpu, menu, rate, assumption, &mut Nobody),
            other => replay(cpu, other, rate, assumption, &mut Nobody),
        },
        Candidate::Foreign(foreign) => {
            replay(cpu, Boxed(foreign.build(cpu.cpu)), rate, assumption, &mut Nobody)
        }
    }
}

/// The same, with somebody looking on who does not care for reasons.
pub(crate) fn follow(
    cpu: &PreparedCpu,
    candidate: Candidate<'_>,
    rate: TickRate,
    assumption: Option<Assumption>,
    watcher: &mut impl Watcher<Boxed>,
) {
    replay(cpu, boxed(cpu, candidate, rate), rate, assumption, watcher);
}

/// The same, and hearing the governor's reasons.
pub(crate) fn watch(
    cpu: &PreparedCpu,
    candidate: Candidate<'_>,
    rate: TickRate,
    assumption: Option<Assumption>,
    watcher: &mut impl Watcher<Aloud>,
) {
    let aloud = Aloud { governor: boxed(cpu, candidate, rate), reasons: Vec::new() };
    replay(cpu, aloud, rate, assumption, watcher);
}

fn boxed(cpu: &PreparedCpu, candidate: Candidate<'_>, rate: TickRate) -> Boxed {
    Boxed(match candidate {
        Candidate::Named(name) => Box::new(build(cpu, name, rate)),
        Candidate::Foreign(foreign) => foreign.build(cpu.cpu),
    })
}

fn build(cpu: &PreparedCpu, name: GovernorName, rate: TickRate) -> AnyGovernor {
    match name {
        GovernorName::Clairvoyant => AnyGovernor::Clairvoyant(bound(cpu)),
        _ => name.build(rate),
    }
}

/// The clairvoyant governor of a CPU.
fn bound(cpu: &PreparedCpu) -> Clairvoyant {
    match &cpu.power {
        Some(power) => Clairvoyant::with_costs(power.costs),
        None => Clairvoyant::new(),
    }
}

/// A governor that keeps the reasons of its last selection.
pub(crate) struct Aloud {
    governor: Boxed,
    pub(crate) reasons: Vec<Reason>,
}

impl Governor for Aloud {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        self.governor.enable(states, device);
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        self.reasons.clear();
        let reasons = &mut self.reasons;
        self.governor.0.select_with_reasons(states, kernel, &mut |reason| reasons.push(reason))
    }

    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        self.governor.reflect(entered, kernel);
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        self.governor.explain(metrics);
    }
}

/// Looks on while a replay decides.
pub(crate) trait Watcher<G> {
    /// The governor has chosen.
    #[inline]
    fn decided(&mut self, _moment: &Moment<'_, G>) {}

    /// The CPU has left a state.
    #[inline]
    fn stayed(&mut self, _stay: Stay) {}
}

/// A moment at which a governor has chosen and the state is not entered yet.
pub(crate) struct Moment<'a, G> {
    /// Which of the CPU's gaps it is in.
    pub(crate) gap: usize,
    pub(crate) time: Nanoseconds,
    pub(crate) idle: &'a IdleLoop<G>,
    pub(crate) entry: &'a Entry,
    pub(crate) latency_limit: Nanoseconds,
}

struct Nobody;

impl<G> Watcher<G> for Nobody {}

fn replay<G: Governor>(
    cpu: &PreparedCpu,
    governor: G,
    rate: TickRate,
    assumption: Option<Assumption>,
    watcher: &mut impl Watcher<G>,
) -> (CpuOutcome, Vec<Stay>) {
    let bound = &bound(cpu);
    // On the heap: on the stack, where it comes to lie differs from run to run, and in some places
    // it makes the loop slower by half.
    let mut replay = Box::new(Replay {
        cpu,
        idle: IdleLoop::new(governor, cpu.states, rate, cpu.phase),
        assumption,
        bound,
        now: Nanoseconds::ZERO,
        wakeups: PerState::default(),
        too_shallow: Nanoseconds::ZERO,
        too_deep: Nanoseconds::ZERO,
        off_by: [0; 2 * DEEPEST + 1],
        stays: Vec::new(),
    });
    let mut next = 0;
    while let Some(gap) = cpu.gaps.gaps.get(next) {
        next = replay.gap(gap, next, watcher);
    }
    (replay.outcome(), std::mem::take(&mut replay.stays))
}

struct Replay<'a, G> {
    cpu: &'a PreparedCpu,
    idle: IdleLoop<G>,
    assumption: Option<Assumption>,
    bound: &'a Clairvoyant,
    /// When the CPU is free to go on.
    now: Nanoseconds,
    /// Wakeups from outside, by the state that they found the CPU in.
    wakeups: PerState<u64>,
    too_shallow: Nanoseconds,
    too_deep: Nanoseconds,
    /// Stays by how many states they were deeper than the clairvoyant choice, and `DEEPEST` more.
    off_by: [u64; 2 * DEEPEST + 1],
    stays: Vec<Stay>,
}

impl<G: Governor> Replay<'_, G> {
    /// Idles through a gap; says which gap comes next.
    #[inline]
    fn gap(&mut self, gap: &Gap, number: usize, watcher: &mut impl Watcher<G>) -> usize {
        self.now = self.now.max(gap.start);
        if gap.begins {
            self.idle.begin(self.now);
        }
        let mut first = gap.begins;
        let steps = self.cpu.gaps.steps.get(gap.steps.0 as usize..gap.steps.1 as usize);
        let mut steps = steps.unwrap_or_default();
        let mut recorded_entry = true;
        loop {
            while let [_, rest @ ..] = steps {
                if rest.first().is_none_or(|step| step.from > self.now) {
                    break;
                }
                steps = rest;
            }
            let Some(step) = steps.first() else { return number + 1 };
            let unasked = Round { first, asked: false, stopped_tick: false };
            let mut world = World {
                step,
                gap,
                assumption: self.assumption,
                usual_entry: self.cpu.overheads.entry(unasked),
            };
            let entry = self.idle.select(&mut world);
            watcher.decided(&Moment {
                gap: number,
                time: self.now,
                idle: &self.idle,
                entry: &entry,
                latency_limit: step.latency_limit,
            });
            let round = Round {
                first,
                asked: entry.sleep_length.is_some(),
                stopped_tick: entry.stopped_tick,
            };
            // Where the recorded governor was in the same kind of round, the time it really took
            // is better than the usual one.
            let taken = match step.entry {
                Some((kind, taken)) if recorded_entry && kind == round => taken,
                _ => self.cpu.overheads.entry(round),
            };
            let entered = self.now + taken;
            first = false;
            recorded_entry = false;
            if let Some(limit) = entry.poll_limit {
                if let Some(next) = self.poll(gap, number, &entry, entered, limit, watcher) {
                    return next;
                }
            } else if self.sleep(gap, step, number, &entry, entered, watcher) {
                return number + 1;
            }
        }
    }

    /// Sleeps until the tick or the gap's end; says whether the gap has ended.
    #[inline]
    fn sleep(
        &mut self,
        gap: &Gap,
        step: &Step,
        number: usize,
        entry: &Entry,
        entered: Nanoseconds,
        watcher: &mut impl Watcher<G>,
    ) -> bool {
        let tick_due = entry.tick_due.unwrap_or(Nanoseconds::MAX);
        let woken = gap.end.min(tick_due).max(entered);
        let exit = woken + self.cpu.latency[entry.state];
        let ended = gap.end <= exit + self.cpu.overheads.turnaround;
        let end =
            if ended { self.after(number, exit) } else { exit + self.cpu.overheads.tick_handler };
        let tick_fired = tick_due <= end || (ended && gap.wheel_timer && entry.tick_due.is_none());
        let residency = exit - entered;
        self.note(gap, step, entry, entered, residency);
        watcher.stayed(Stay { from: entered, to: exit, state: entry.state });
        let left = Left { interrupt_end: Some(end), tick_fired, poll_limit_hit: false };
        self.idle.left(entry, entry.state, residency, left);
        self.now = end;
        if ended {
            self.wakeups[entry.state] += 1;
        }
        ended
    }

    /// Polls until a task is to run or the limit passes. Interrupts in between are handled without
    /// leaving the state, so gaps that end without a task are passed through. Says which gap is
    /// next if this one is over.
    fn poll(
        &mut self,
        gap: &Gap,
        number: usize,
        entry: &Entry,
        entered: Nanoseconds,
        limit: Nanoseconds,
        watcher: &mut impl Watcher<G>,
    ) -> Option<usize> {
        let deadline = entered + limit;
        let mut over = number;
        let mut reached = gap;
        let mut interrupt_end = None;
        // What follows the last gap, or lost events, is unknown: polling does not go on there.
        let resched = loop {
            if reached.end > deadline {
                break false;
            }
            let following = self.cpu.gaps.gaps.get(over + 1).filter(|next| !next.begins);
            let (GapEnd::Idle, Some(following)) = (reached.ends_with, following) else {
                break true;
            };
            interrupt_end = Some(following.start);
            over += 1;
            reached = following;
        };
        let exit = if resched {
            reached.end.max(entered) + self.cpu.latency[entry.state]
        } else {
            interrupt_end.map_or(deadline, |end| end.max(deadline))
        };
        let tick_fired = entry.tick_due.is_some_and(|due| due <= exit);
        if tick_fired {
            interrupt_end = interrupt_end.max(entry.tick_due);
        }
        let residency = exit - entered;
        if let Some(step) = self.cpu.gaps.steps.get(gap.steps.0 as usize) {
            self.note(gap, step, entry, entered, residency);
        }
        watcher.stayed(Stay { from: entered, to: exit, state: entry.state });
        let left = Left { interrupt_end, tick_fired, poll_limit_hit: !resched };
        self.idle.left(entry, entry.state, residency, left);
        self.now = exit;
        self.wakeups[entry.state] += u64::from(resched);
        match (resched, over > number) {
            (true, _) => Some(over + 1),
            (false, true) => Some(over),
            (false, false) => None,
        }
    }

    /// When the loop goes on after a gap: the next gap's start if no task runs before it.
    #[inline]
    fn after(&self, number: usize, exit: Nanoseconds) -> Nanoseconds {
        match self.cpu.gaps.gaps.get(number + 1) {
            Some(next) if !next.begins => exit.max(next.start),
            _ => exit,
        }
    }

    /// Takes note of a stay, and holds it against the clairvoyant choice.
    #[inline]
    fn note(
        &mut self,
        gap: &Gap,
        step: &Step,
        entry: &Entry,
        entered: Nanoseconds,
        residency: Nanoseconds,
    ) {
        let end = match entry.tick_due {
            Some(due) if !step.stoppable => gap.end.min(due),
            _ => gap.end,
        };
        if self.cpu.power.is_some() {
            self.stays.push(Stay { from: entered, to: entered + residency, state: entry.state });
        }
        let best = self.bound.choose(&self.cpu.states, end - entered, step.latency_limit);
        if entry.state < best {
            self.too_shallow += residency;
        } else if entry.state > best {
            self.too_deep += residency;
        }
        if let Some(stays) = self.off_by.get_mut(entry.state.get() + DEEPEST - best.get()) {
            *stays += 1;
        }
    }

    fn outcome(&self) -> CpuOutcome {
        let statistics = self.idle.statistics();
        let counts = self.cpu.states.indices().map(|state| {
            (self.cpu.latency[state].get().max(0).cast_unsigned(), self.wakeups[state])
        });
        CpuOutcome {
            cpu: self.cpu.cpu.0,
            ticks: Some(statistics.ticks),
            sleep_length_queries: Some(statistics.sleep_length_queries),
            modelled_joules: self.cpu.power.as_ref().map(|power| power.alone(statistics)),
            wakeup_latency: Some(WakeupLatency::new(counts)),
            regret: Some(Regret {
                too_shallow_ns: self.too_shallow.get().max(0).cast_unsigned(),
                too_deep_ns: self.too_deep.get().max(0).cast_unsigned(),
                joules: None,
            }),
            off_by: Some(
                (-(DEEPEST as i8)..)
                    .zip(self.off_by)
                    .filter(|&(_, stays)| stays > 0)
                    .map(|(states, stays)| OffBy { states, stays })
                    .collect(),
            ),
            states: StateOutcome::counted(&self.cpu.states, statistics),
        }
    }
}

/// What the recording knows of the world at one moment.
struct World<'a> {
    step: &'a Step,
    gap: &'a Gap,
    assumption: Option<Assumption>,
    /// How long the kernel usually takes to enter a state in this round.
    usual_entry: Nanoseconds,
}

impl Environment for World<'_> {
    #[inline]
    fn next_hrtimer(&mut self) -> Nanoseconds {
        match self.assumption {
            None => self.step.next_hrtimer,
            Some(Assumption::AllTimers) => self.gap.end,
            Some(Assumption::AllInterrupts) => Nanoseconds::MAX,
        }
    }

    #[inline]
    fn next_wheel_timer(&mut self) -> Nanoseconds {
        self.step.next_wheel_timer
    }

    #[inline]
    fn tick_stoppable(&mut self) -> bool {
        self.step.stoppable
    }

    #[inline]
    fn latency_limit(&mut self) -> Nanoseconds {
        self.step.latency_limit
    }

    fn wakeup(&mut self) -> Option<Nanoseconds> {
        // What counts is the time in the state.
        Some(self.gap.end - self.usual_entry)
    }
}
