// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a governor chooses what it chooses: the steps of a selection, in words.

use core::fmt;

use idlelab_states::{IdleState, Nanoseconds, StateIndex, Tick};

use crate::TickRequest;
use crate::memory::NO_IDEA;

/// One step of a selection, as [`Governor::select_with_reasons`](crate::Governor::select_with_reasons)
/// hands them out, in order. Weights are teo's, 1024 an event; its [`Display`](fmt::Display) is a
/// sentence for a person who knows the governor's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The table has one state.
    OneState,
    /// No state is enabled.
    NoneEnabled,
    /// Only one state is enabled.
    OnlyEnabled(StateIndex),
    /// teo since 6.6: the search starts from the deepest enabled state.
    DeepestEnabled(StateIndex),
    /// teo up to 6.5: the search starts from the deepest state that the timer leaves time for.
    DeepestBeforeTimer {
        /// That state.
        state: StateIndex,
        /// Time to the timer.
        sleep: Nanoseconds,
    },
    /// teo since 5.14: whether the intercepts below the candidate ask to leave it.
    Intercepts {
        /// Intercepts in the bins below the candidate.
        intercepts: u32,
        /// All events.
        total: u32,
        /// Hits in the bins below the candidate.
        hits: u32,
        /// Whether `2 * intercepts > total - hits`.
        prevail: bool,
    },
    /// The over-eager teo: whether all events below the candidate ask to leave it.
    EventsBelow {
        /// Intercepts in the bins below the candidate.
        intercepts: u32,
        /// Hits in the bins below the candidate.
        hits: u32,
        /// All events.
        total: u32,
        /// Whether `2 * (intercepts + hits) > total`.
        prevail: bool,
    },
    /// teo of 5.14 to 6.10: how many of the last nine wakeups were intercepts below the candidate.
    RecentIntercepts {
        /// So many.
        count: u32,
        /// Whether there are more than four.
        prevail: bool,
    },
    /// teo since 5.14: the walk from the candidate downwards has covered enough intercepts.
    Covered {
        /// Where it ends.
        state: StateIndex,
        /// Intercepts in the bins that it went through.
        sum: u32,
        /// Intercepts in all bins below the candidate.
        intercepts: u32,
        /// The state with the most intercepts, down to which teo of 7.0 and later goes at least.
        most: Option<StateIndex>,
    },
    /// teo of 7.0: the shallowest state to consider has the most intercepts already, or all from
    /// it to the candidate is of one target residency.
    NoWalk(StateIndex),
    /// A state is too slow for the latency limit.
    LatencyLimit {
        /// The state.
        from: StateIndex,
        /// The one that is within the limit.
        to: StateIndex,
        /// The limit.
        limit: Nanoseconds,
    },
    /// teo of 6.3 to 6.10: the CPU is busy.
    Busy {
        /// The candidate.
        from: StateIndex,
        /// A state that is left sooner.
        to: StateIndex,
    },
    /// teo since 6.6: the timers do not matter to a shallow candidate.
    TimersUnasked {
        /// The candidate.
        state: StateIndex,
        /// Short idle periods.
        short_idles: u32,
        /// All events.
        total: u32,
        /// The latency limit.
        limit: Nanoseconds,
    },
    /// teo of 6.6 to 6.13: beside a polling state, the timers do not matter to a shallow candidate.
    TimersUnaskedBesidePolling(StateIndex),
    /// No timer is nearer than the shallowest state.
    Shallowest,
    /// The timer comes before a state's target residency.
    TimerTooNear {
        /// The state.
        from: StateIndex,
        /// One that fits, or the shallowest.
        to: StateIndex,
        /// Time to the timer.
        sleep: Nanoseconds,
    },
    /// teo since 7.1: with the tick stopped and the timer far, nothing would end a stay in a
    /// shallow state.
    NothingWouldEndIt {
        /// The candidate.
        from: StateIndex,
        /// The deepest state that the timer and the latency limit leave.
        to: StateIndex,
        /// Time to the timer.
        sleep: Nanoseconds,
    },
    /// teo since 6.8: whether intercepts within a tick are so frequent that the tick is likelier
    /// to be needed than the timer to be reached.
    TickIntercepts {
        /// Intercepts within a tick; up to 6.13 all intercepts.
        intercepts: u32,
        /// All events.
        total: u32,
    },
    /// teo up to 5.12: whether the candidate is hit more often than missed.
    Weights {
        /// The candidate.
        state: StateIndex,
        /// How often it matched the timer and the idle duration.
        hits: u32,
        /// How often it matched the timer only.
        misses: u32,
    },
    /// teo up to 5.12: a shallower state has more early hits.
    EarlyHits {
        /// The candidate.
        from: StateIndex,
        /// The state with the most early hits.
        to: StateIndex,
    },
    /// teo up to 5.12: most of the last idle durations are shorter than what is expected.
    Pattern {
        /// The candidate.
        from: StateIndex,
        /// What their mean leaves.
        to: StateIndex,
    },
    /// menu: the interval that comes again and again.
    TypicalInterval {
        /// In microseconds; `None` if the last eight do not agree.
        microseconds: Option<u32>,
    },
    /// menu since 6.6: the typical interval is so short that the timers are not asked.
    TypicalIsShort,
    /// menu: how far the CPU usually gets towards a timer that is so far away.
    CorrectedTimer {
        /// Time to the timer, in nanoseconds.
        next_timer: u64,
        /// Which correction factor: the timer's order of magnitude.
        bucket: usize,
        /// The factor, of 8192.
        factor: u32,
        /// Their product, in microseconds.
        microseconds: u32,
    },
    /// menu: what is predicted of that, in nanoseconds.
    Predicted(u64),
    /// menu: with the tick stopped, a short prediction gives way to the timer, in nanoseconds.
    PredictedTimer(u64),
    /// menu: the timer or the latency limit admits the shallowest state only.
    OnlyShallowest {
        /// Time to the timer, in nanoseconds.
        next_timer: u64,
        /// The latency limit.
        limit: Nanoseconds,
    },
    /// menu up to 6.16: the latency limit is lowered to the prediction, divided for tasks that
    /// wait for IO.
    LoweredLimit {
        /// The limit that results.
        limit: Nanoseconds,
        /// Tasks that wait for IO.
        io_waiters: u32,
    },
    /// menu: the prediction and the latency limit admit a state; a deeper one may follow.
    Fits(StateIndex),
    /// menu: the next deeper state is too slow for the latency limit.
    NextIsTooSlow {
        /// What stays chosen.
        state: StateIndex,
        /// The state that is too slow.
        next: StateIndex,
        /// The limit.
        limit: Nanoseconds,
    },
    /// menu: the next deeper state is too deep for the prediction.
    NextIsTooDeep {
        /// What stays chosen.
        state: StateIndex,
        /// The state that is too deep.
        next: StateIndex,
        /// The prediction in nanoseconds.
        predicted: u64,
    },
    /// menu: a state that is too deep for the prediction is still better than polling.
    BeatsPolling(StateIndex),
    /// menu: with the tick stopped, a state that the next event leaves time for is better than one
    /// in which the CPU could stay for very long.
    ReachesEvent {
        /// The state that the prediction admits.
        from: StateIndex,
        /// The chosen one.
        to: StateIndex,
    },
    /// ladder: a rung is kept.
    StaysOnRung {
        /// The rung.
        state: StateIndex,
        /// The last idle period, less the exit latency, in nanoseconds as ladder compares it.
        idle: i64,
    },
    /// ladder: enough long idle periods in a row.
    Promoted {
        /// The rung that is left.
        from: StateIndex,
        /// The deeper one.
        to: StateIndex,
        /// The last idle period, less the exit latency, in nanoseconds as ladder compares it.
        idle: i64,
    },
    /// ladder: enough short idle periods in a row.
    Demoted {
        /// The rung that is left.
        from: StateIndex,
        /// The shallower one.
        to: StateIndex,
        /// The last idle period, less the exit latency, in nanoseconds as ladder compares it.
        idle: i64,
    },
    /// ladder: the rung is disabled or too slow for the latency limit.
    RungForbidden {
        /// The rung.
        from: StateIndex,
        /// Where it goes.
        to: StateIndex,
    },
    /// A latency limit of zero allows the shallowest state only.
    NoLatencyAllowed(StateIndex),
    /// haltpoll: polls for up to the poll limit.
    PollsFirst {
        /// The poll limit.
        limit: Nanoseconds,
    },
    /// haltpoll: the poll limit is zero, so it halts, in this state.
    PollingIsOff(StateIndex),
    /// haltpoll: has just polled in vain, so it halts, in this state.
    PolledInVain(StateIndex),
    /// fixed: always this state.
    AlwaysThisState(StateIndex),
    /// The deepest state within the latency limit.
    DeepestWithinLimit(StateIndex),
    /// clairvoyant: the best for what is coming.
    Foreseen {
        /// That state.
        state: StateIndex,
        /// How long the CPU is going to idle.
        idle: Nanoseconds,
    },
    /// The tick is not kept because it is stopped already.
    TickIsStopped,
    /// The tick is stopped, since the CPU should idle for a tick or longer.
    StopsTick {
        /// How long it is expected to idle.
        expected: Nanoseconds,
        /// The length of a tick.
        tick_length: Nanoseconds,
    },
    /// The tick is kept, since the CPU should be back before it fires.
    KeepsTick {
        /// How long it is expected to idle.
        expected: Nanoseconds,
        /// The length of a tick.
        tick_length: Nanoseconds,
    },
    /// The tick is kept because the CPU polls.
    KeepsTickPolling,
    /// The tick that is kept comes before a state's target residency.
    TickTooNear {
        /// The state.
        from: StateIndex,
        /// One that fits, or the shallowest.
        to: StateIndex,
        /// Time to the next event, the tick included.
        delta_tick: Nanoseconds,
    },
}

impl Reason {
    /// Why the tick is kept or stopped by a governor that expects to idle for so long.
    pub(crate) fn of_tick(
        tick: Tick,
        row: &IdleState,
        expected: Nanoseconds,
        tick_length: Nanoseconds,
    ) -> Self {
        if tick == Tick::Stopped {
            Self::TickIsStopped
        } else if row.is_polling() {
            Self::KeepsTickPolling
        } else if expected >= tick_length {
            Self::StopsTick { expected, tick_length }
        } else {
            Self::KeepsTick { expected, tick_length }
        }
    }

    /// menu's typical interval in microseconds, which may be [`NO_IDEA`].
    pub(crate) fn typical(interval: u32) -> Self {
        Self::TypicalInterval { microseconds: Some(interval).filter(|&known| known != NO_IDEA) }
    }

    /// The state that is chosen for this reason, unless a later one changes it; `None` for evidence
    /// and for what settles the tick only.
    #[must_use]
    pub const fn state(&self) -> Option<StateIndex> {
        match *self {
            Self::OneState
            | Self::NoneEnabled
            | Self::Shallowest
            | Self::OnlyShallowest { .. }
            | Self::PollsFirst { .. } => Some(StateIndex::ZERO),
            Self::OnlyEnabled(state)
            | Self::DeepestEnabled(state)
            | Self::DeepestBeforeTimer { state, .. }
            | Self::Covered { state, .. }
            | Self::NoWalk(state)
            | Self::TimersUnasked { state, .. }
            | Self::TimersUnaskedBesidePolling(state)
            | Self::Fits(state)
            | Self::NextIsTooSlow { state, .. }
            | Self::NextIsTooDeep { state, .. }
            | Self::BeatsPolling(state)
            | Self::StaysOnRung { state, .. }
            | Self::PollingIsOff(state)
            | Self::PolledInVain(state)
            | Self::AlwaysThisState(state)
            | Self::NoLatencyAllowed(state)
            | Self::DeepestWithinLimit(state)
            | Self::Foreseen { state, .. } => Some(state),
            Self::LatencyLimit { to, .. }
            | Self::Busy { to, .. }
            | Self::TimerTooNear { to, .. }
            | Self::NothingWouldEndIt { to, .. }
            | Self::EarlyHits { to, .. }
            | Self::Pattern { to, .. }
            | Self::ReachesEvent { to, .. }
            | Self::Promoted { to, .. }
            | Self::Demoted { to, .. }
            | Self::RungForbidden { to, .. }
            | Self::TickTooNear { to, .. } => Some(to),
            Self::Intercepts { .. }
            | Self::EventsBelow { .. }
            | Self::RecentIntercepts { .. }
            | Self::TickIntercepts { .. }
            | Self::Weights { .. }
            | Self::TypicalInterval { .. }
            | Self::TypicalIsShort
            | Self::CorrectedTimer { .. }
            | Self::Predicted(_)
            | Self::PredictedTimer(_)
            | Self::LoweredLimit { .. }
            | Self::TickIsStopped
            | Self::StopsTick { .. }
            | Self::KeepsTick { .. }
            | Self::KeepsTickPolling => None,
        }
    }

    /// What is done with the tick for this reason; `None` if it is about something else.
    #[must_use]
    pub const fn tick(&self) -> Option<TickRequest> {
        match self {
            Self::TickIsStopped | Self::StopsTick { .. } => Some(TickRequest::Stop),
            Self::KeepsTick { .. } | Self::KeepsTickPolling => Some(TickRequest::Keep),
            _ => None,
        }
    }

    /// The rule's name, without the numbers.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::OneState => "the table has one state",
            Self::NoneEnabled => "no state is enabled",
            Self::OnlyEnabled(_) => "only one state is enabled",
            Self::DeepestEnabled(_) => "deepest enabled state",
            Self::DeepestBeforeTimer { .. } => "deepest state before the timer",
            Self::Intercepts { .. } => "intercepts below the candidate",
            Self::EventsBelow { .. } => "events below the candidate",
            Self::RecentIntercepts { .. } => "recent intercepts",
            Self::Covered { .. } => "intercepts covered",
            Self::NoWalk(_) => "no bin to walk to",
            Self::LatencyLimit { .. } => "latency limit",
            Self::Busy { .. } => "busy CPU",
            Self::TimersUnasked { .. } => "short idles, timers not asked",
            Self::TimersUnaskedBesidePolling(_) => "polling state, timers not asked",
            Self::Shallowest => "shallowest state",
            Self::TimerTooNear { .. } => "timer too near",
            Self::NothingWouldEndIt { .. } => "stopped tick, timer far",
            Self::TickIntercepts { .. } => "intercepts within a tick",
            Self::Weights { .. } => "hits and misses",
            Self::EarlyHits { .. } => "early hits",
            Self::Pattern { .. } => "pattern of recent idle durations",
            Self::TypicalInterval { .. } => "typical interval",
            Self::TypicalIsShort => "typical interval short, timers not asked",
            Self::CorrectedTimer { .. } => "corrected timer",
            Self::Predicted(_) => "prediction",
            Self::PredictedTimer(_) => "stopped tick, timer predicts",
            Self::OnlyShallowest { .. } => "only the shallowest fits",
            Self::LoweredLimit { .. } => "latency limit lowered",
            Self::Fits(_) => "fits the prediction",
            Self::NextIsTooSlow { .. } => "next state too slow",
            Self::NextIsTooDeep { .. } => "next state too deep",
            Self::BeatsPolling(_) => "better than polling",
            Self::ReachesEvent { .. } => "stopped tick, next event",
            Self::StaysOnRung { .. } => "stays on its rung",
            Self::Promoted { .. } => "promotion",
            Self::Demoted { .. } => "demotion",
            Self::RungForbidden { .. } => "rung disabled or too slow",
            Self::NoLatencyAllowed(_) => "latency limit of zero",
            Self::PollsFirst { .. } => "polls first",
            Self::PollingIsOff(_) => "poll limit of zero",
            Self::PolledInVain(_) => "polled in vain",
            Self::AlwaysThisState(_) => "fixed state",
            Self::DeepestWithinLimit(_) => "deepest within the latency limit",
            Self::Foreseen { .. } => "foreseen",
            Self::TickIsStopped => "tick stopped before",
            Self::StopsTick { .. } => "idle for a tick or longer",
            Self::KeepsTick { .. } => "back before the tick",
            Self::KeepsTickPolling => "polling keeps the tick",
            Self::TickTooNear { .. } => "kept tick too near",
        }
    }
}

/// A time in the unit that fits it.
struct Time(i64);

impl Time {
    fn of(nanoseconds: u64) -> Self {
        Self(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FOREVER: i64 = i64::MAX / 2;
        const THOUSAND: u64 = 1_000;
        if self.0 >= FOREVER {
            return f.write_str("for ever");
        }
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanoseconds = self.0.unsigned_abs();
        let (whole, part) = (nanoseconds / THOUSAND, nanoseconds % THOUSAND);
        write!(f, "{sign}{whole}.{part:03} us")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |time: Nanoseconds| Time(time.get());
        match *self {
            Self::OneState => f.write_str("the table has one state: state 0"),
            Self::NoneEnabled => f.write_str("no state is enabled: state 0"),
            Self::OnlyEnabled(state) => write!(f, "state {state} is the only enabled one"),
            Self::DeepestEnabled(state) => {
                write!(f, "state {state} is the deepest enabled one: the candidate")
            }
            Self::DeepestBeforeTimer { state, sleep } => write!(
                f,
                "state {state} is the deepest that the timer in {} leaves time for: the candidate",
                time(sleep)
            ),
            Self::Intercepts { intercepts, total, hits, prevail } => write!(
                f,
                "2*{intercepts} {} {total}-{hits}: intercepts below the candidate {}",
                if prevail { ">" } else { "<=" },
                if prevail { "prevail" } else { "do not prevail" },
            ),
            Self::EventsBelow { intercepts, hits, total, prevail } => write!(
                f,
                "2*({intercepts}+{hits}) {} {total}: events below the candidate {}",
                if prevail { ">" } else { "<=" },
                if prevail { "prevail" } else { "do not prevail" },
            ),
            Self::RecentIntercepts { count, prevail } => write!(
                f,
                "{count} of the last 9 wakeups were intercepts below the candidate: {}",
                if prevail { "more than 4" } else { "4 or less" },
            ),
            Self::Covered { state, sum, intercepts, most } => {
                write!(
                    f,
                    "down to state {state}: 2*{sum} {} {intercepts}",
                    if sum.wrapping_mul(2) > intercepts { ">" } else { "<=" }
                )?;
                match most {
                    Some(most) => write!(f, ", and most intercepts are in the bin of state {most}"),
                    None => f.write_str(", the intercepts from there to the candidate"),
                }
            }
            Self::NoWalk(state) => write!(f, "no shallower bin to go down to: state {state}"),
            Self::LatencyLimit { from, to, limit } => {
                write!(f, "state {from} is too slow for the limit of {}: state {to}", time(limit))
            }
            Self::Busy { from, to } => {
                write!(f, "the CPU is busy, a wakeup likely: not state {from} but state {to}")
            }
            Self::TimersUnasked { state, short_idles, total, limit } => {
                write!(f, "state {state} is shallow, and ")?;
                if short_idles.wrapping_mul(2) >= total {
                    write!(f, "2*{short_idles} >= {total}, idle periods are short")?;
                } else {
                    write!(f, "the latency limit of {} is tight", time(limit))?;
                }
                f.write_str(": the timers are not asked")
            }
            Self::TimersUnaskedBesidePolling(state) => {
                write!(f, "state {state} is shallow and state 0 polls: the timers are not asked")
            }
            Self::Shallowest => f.write_str("state 0 it is, whatever the timers say"),
            Self::TimerTooNear { from, to, sleep } => write!(
                f,
                "the timer in {} comes before the target residency of state {from}: state {to}",
                time(sleep)
            ),
            Self::NothingWouldEndIt { from, to, sleep } => write!(
                f,
                "tick stopped, timer in {}: nothing else would end state {from}, so state {to}",
                time(sleep)
            ),
            Self::TickIntercepts { intercepts, total } => write!(
                f,
                "{intercepts} of {total} events are intercepts within a tick: expects half a tick"
            ),
            Self::Weights { state, hits, misses } => write!(
                f,
                "state {state} has hits {hits}, misses {misses}: the timer is {}",
                if hits > misses { "believed" } else { "doubted" }
            ),
            Self::EarlyHits { from, to } => {
                write!(f, "not state {from} but state {to}, which has the most early hits")
            }
            Self::Pattern { from, to } => write!(
                f,
                "most of the last 8 idle durations are short: not state {from} but state {to}"
            ),
            Self::TypicalInterval { microseconds: Some(microseconds) } => {
                write!(f, "typical interval {microseconds} us")
            }
            Self::TypicalInterval { microseconds: None } => {
                f.write_str("no typical interval: the last 8 do not agree")
            }
            Self::TypicalIsShort => {
                f.write_str("the typical interval is at most 15 us: the timers are not asked")
            }
            Self::CorrectedTimer { next_timer, bucket, factor, microseconds } => write!(
                f,
                "timer in {}: bucket {bucket}, correction factor {factor}/8192, corrected \
                 {microseconds} us",
                Time::of(next_timer)
            ),
            Self::Predicted(predicted) => write!(f, "predicted {}", Time::of(predicted)),
            Self::PredictedTimer(predicted) => write!(
                f,
                "the tick is stopped and the prediction short: predicted {} instead",
                Time::of(predicted)
            ),
            Self::OnlyShallowest { next_timer, limit } => write!(
                f,
                "timer ({}) or latency limit ({}) admit state 0 only",
                Time::of(next_timer),
                time(limit)
            ),
            Self::LoweredLimit { limit, io_waiters } => write!(
                f,
                "latency limit lowered to {}, by the prediction and {io_waiters} tasks waiting \
                 for IO",
                time(limit)
            ),
            Self::Fits(state) => write!(f, "state {state} fits prediction and latency limit"),
            Self::NextIsTooSlow { state, next, limit } => write!(
                f,
                "state {state}: state {next} is too slow for the limit of {}",
                time(limit)
            ),
            Self::NextIsTooDeep { state, next, predicted } if state == next => write!(
                f,
                "state {state}, the shallowest, though too deep for the predicted {}",
                Time::of(predicted)
            ),
            Self::NextIsTooDeep { state, next, predicted } => write!(
                f,
                "state {state}: state {next} is too deep for the predicted {}",
                Time::of(predicted)
            ),
            Self::BeatsPolling(state) => {
                write!(f, "state {state} is too deep for the prediction, but better than polling")
            }
            Self::ReachesEvent { from, to } => write!(
                f,
                "tick stopped: not state {from} but state {to}, for which the next event leaves time"
            ),
            Self::StaysOnRung { state, idle } => {
                write!(f, "idle for {}: stays on state {state}", Time(idle))
            }
            Self::Promoted { from, to, idle } => write!(
                f,
                "idle for {}, long, often enough in a row on state {from}: state {to}",
                Time(idle)
            ),
            Self::Demoted { from, to, idle } => {
                write!(f, "idle for {}, short for state {from}: state {to}", Time(idle))
            }
            Self::RungForbidden { from, to } => {
                write!(f, "state {from} is disabled or too slow for the limit: state {to}")
            }
            Self::NoLatencyAllowed(state) => {
                write!(f, "the latency limit is zero: state {state}")
            }
            Self::PollsFirst { limit } => write!(f, "polls first, for up to {}", time(limit)),
            Self::PollingIsOff(_) => f.write_str("the poll limit is zero: halts"),
            Self::PolledInVain(_) => f.write_str("has polled up to the limit in vain: halts"),
            Self::AlwaysThisState(state) => write!(f, "always state {state}, if enabled"),
            Self::DeepestWithinLimit(state) => {
                write!(f, "state {state} is the deepest within the latency limit")
            }
            Self::Foreseen { state, idle } => {
                write!(f, "the CPU is going to idle for {}: state {state} is best", time(idle))
            }
            Self::TickIsStopped => f.write_str("the tick is stopped already"),
            Self::StopsTick { expected, tick_length } => write!(
                f,
                "expected {} >= tick {}: stop the tick",
                time(expected),
                time(tick_length)
            ),
            Self::KeepsTick { expected, tick_length } => {
                write!(f, "expected {} < tick {}: keep the tick", time(expected), time(tick_length))
            }
            Self::KeepsTickPolling => f.write_str("a polling state keeps the tick"),
            Self::TickTooNear { from, to, delta_tick } => write!(
                f,
                "the kept tick in {} comes before the target residency of state {from}: state {to}",
                time(delta_tick)
            ),
        }
    }
}

/// Who is told the reasons.
pub(crate) trait Listener {
    /// One more step is taken.
    fn because(&mut self, reason: impl FnOnce() -> Reason);
}

/// For a selection that nobody wants explained: costs nothing.
pub(crate) struct NoListener;

impl Listener for NoListener {
    #[inline(always)]
    fn because(&mut self, _reason: impl FnOnce() -> Reason) {}
}

impl Listener for &mut dyn FnMut(Reason) {
    fn because(&mut self, reason: impl FnOnce() -> Reason) {
        self(reason());
    }
}

/// The two ways to select, for a governor that decides before a [`Listener`].
// Inlined, as `reflect` is: whoever knows the kernel that is asked then calls it directly, which
// makes a replay with a small governor faster by a third.
macro_rules! selects_by_deciding {
    () => {
        #[inline(always)]
        fn select(
            &mut self,
            states: &idlelab_states::IdleStates,
            kernel: &mut dyn crate::Kernel,
        ) -> crate::Selection {
            self.decide(states, kernel, &mut crate::reason::NoListener)
        }

        fn select_with_reasons(
            &mut self,
            states: &idlelab_states::IdleStates,
            kernel: &mut dyn crate::Kernel,
            mut reasons: &mut dyn FnMut(crate::reason::Reason),
        ) -> crate::Selection {
            self.decide(states, kernel, &mut reasons)
        }
    };
}
pub(crate) use selects_by_deciding;
