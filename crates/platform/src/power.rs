// SPDX-License-Identifier: GPL-2.0-or-later
//! What a machine draws: per state, while active, and in the parts that CPUs share.
use std::fmt;

use idlelab_states::{IdleStates, Joules, PerState, StateIndex};

use crate::CpuList;

/// How a figure was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FigureKind {
    /// Measured on the machine.
    Measured,
    /// Read from a vendor's or a kernel's table.
    Table,
    /// Computed from other figures.
    Derived,
    /// Set without evidence, to have a number at all.
    Assumed,
}

impl FigureKind {
    /// The word that the machine description uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Table => "table",
            Self::Derived => "derived",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for FigureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A number with where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure<T> {
    /// The number.
    pub value: T,
    /// How it was come by.
    pub kind: FigureKind,
    /// Where it is from, in words.
    pub source: String,
}

impl<T> Figure<T> {
    /// A number with where it is from.
    pub fn new(value: T, kind: FigureKind, source: impl Into<String>) -> Self {
        Self { value, kind, source: source.into() }
    }
}

/// Power at one frequency, or at any if the source does not say which.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerPoint {
    /// The frequency in megahertz.
    pub mhz: Option<u32>,
    /// The work done at that frequency; 1024 is the machine's fastest CPU at its fastest.
    pub capacity: Option<u32>,
    /// The power in watts.
    pub watts: Figure<f64>,
}

/// Power by frequency: one point at no stated frequency, or several at ascending ones.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerCurve {
    points: Vec<PowerPoint>,
}

impl PowerCurve {
    /// Makes a curve.
    ///
    /// Returns `None` without points, with two at one frequency, or with several of which one has
    /// no frequency.
    #[must_use]
    pub fn new(mut points: Vec<PowerPoint>) -> Option<Self> {
        points.sort_by_key(|point| point.mhz);
        let ascending = points.is_sorted_by(|a, b| a.mhz < b.mhz);
        let complete = points.len() == 1 || points.iter().all(|point| point.mhz.is_some());
        (!points.is_empty() && ascending && complete).then_some(Self { points })
    }

    /// The same power at every frequency.
    #[must_use]
    pub fn constant(watts: Figure<f64>) -> Self {
        Self { points: vec![PowerPoint { mhz: None, capacity: None, watts }] }
    }

    /// The points, by ascending frequency.
    #[must_use]
    pub fn points(&self) -> &[PowerPoint] {
        &self.points
    }

    /// The power in watts at a frequency: interpolated between points, beyond them as at the
    /// nearest.
    ///
    /// ```
    /// let i7 = idlelab_platform::embedded::get("i7-2600k").unwrap();
    /// let power = i7.power_of(idlelab_states::CpuId(0)).unwrap();
    /// let c1 = &power.states[idlelab_states::StateIndex::new(1).unwrap()].as_ref().unwrap().watts;
    /// assert_eq!(c1.at(1_600), 1.255);
    /// assert_eq!(c1.at(800), 1.255);
    /// assert!(c1.at(3_000) > c1.at(2_000));
    /// ```
    #[must_use]
    pub fn at(&self, mhz: u32) -> f64 {
        let above = self.points.partition_point(|point| point.mhz.is_none_or(|at| at < mhz));
        let below = above.checked_sub(1).and_then(|index| self.points.get(index));
        match (below, self.points.get(above)) {
            (Some(low), Some(high)) => {
                let (from, to) = (low.mhz.unwrap_or_default(), high.mhz.unwrap_or_default());
                let share = f64::from(mhz - from) / f64::from(to - from);
                low.watts.value + (high.watts.value - low.watts.value) * share
            }
            (Some(only), None) | (None, Some(only)) => only.watts.value,
            (None, None) => 0.0,
        }
    }

    /// The power in watts at the lowest frequency, or at the only point.
    #[must_use]
    pub fn lowest(&self) -> f64 {
        self.points.first().map_or(0.0, |point| point.watts.value)
    }

    /// The power in watts at the highest frequency, or at the only point.
    #[must_use]
    pub fn highest(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.watts.value)
    }
}

/// What the figures of a [`CpuPower`] are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PowerScope {
    /// Each CPU (hardware thread) draws them.
    Cpu,
    /// Each core draws them once, in the shallowest state of its threads.
    Core,
}

/// What a CPU or core draws in one idle state.
#[derive(Clone, Debug, PartialEq)]
pub struct StatePower {
    /// The power while in the state.
    pub watts: PowerCurve,
    /// The energy to enter and leave the state once, beyond what its power accounts for.
    pub transition: Figure<Joules>,
}

/// What one CPU or core draws.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuPower {
    /// Whether the figures are for a CPU or for a core.
    pub scope: PowerScope,
    /// The power while it executes; `None` if no source tells.
    pub active: Option<PowerCurve>,
    /// The power in each idle state: `Some` for each state of the table. A state without a figure
    /// of its own has that of the next shallower state, marked [`FigureKind::Assumed`].
    pub states: PerState<Option<StatePower>>,
}

/// Which CPUs share a [`SharedPower`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedScope {
    /// All CPUs of the machine, once.
    Machine,
    /// The CPUs of each package: once a package.
    EachPackage,
    /// The CPUs of each cluster: once a cluster.
    EachCluster,
    /// These CPUs, once.
    Cpus(CpuList),
}

/// The power of a shared part once all CPUs under it are deep enough.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedLevel {
    /// For each table of the platform, the shallowest state that counts; `None` for a table whose
    /// CPUs are not under this part.
    pub from: Vec<Option<StateIndex>>,
    /// The power in watts.
    pub watts: Figure<f64>,
}

/// The power of a part that several CPUs share: a cluster's cache, a package's uncore.
///
/// It draws [`SharedPower::on`] while any CPU under it is shallower than the first level, and a
/// level's watts once every CPU under it is at least in that level's state.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedPower {
    /// What it is called.
    pub name: String,
    /// Which CPUs share it.
    pub scope: SharedScope,
    /// The power while it is on.
    pub on: PowerCurve,
    /// The lower powers, shallowest first; none if it is never switched off.
    pub levels: Vec<SharedLevel>,
}

impl SharedPower {
    /// How many levels one CPU permits: one of the platform's table `table`, executing (`None`) or
    /// in a state. The part is at the least of what its CPUs permit.
    ///
    /// ```
    /// let rome = idlelab_platform::embedded::get("epyc-rome").unwrap();
    /// let io_die = &rome.power().unwrap().shared[0];
    /// let c2 = idlelab_states::StateIndex::new(2);
    /// assert_eq!(io_die.permits(0, c2), 1);
    /// assert_eq!(io_die.permits(0, None), 0);
    /// assert_eq!(io_die.watts(1, 2_500), 99.05);
    /// ```
    #[must_use]
    pub fn permits(&self, table: usize, state: Option<StateIndex>) -> usize {
        let Some(state) = state else { return 0 };
        let deep_enough = |level: &&SharedLevel| {
            level.from.get(table).is_none_or(|from| from.is_some_and(|from| from <= state))
        };
        self.levels.iter().take_while(deep_enough).count()
    }

    /// The power in watts at a level (0 is on) and a frequency of the CPUs under it.
    #[must_use]
    pub fn watts(&self, level: usize, mhz: u32) -> f64 {
        let lowered = level.checked_sub(1).and_then(|index| self.levels.get(index));
        lowered.map_or_else(|| self.on.at(mhz), |level| level.watts.value)
    }
}

/// What a machine draws.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerModel {
    /// For each table of the platform, what its CPUs draw; `None` if no source tells.
    pub tables: Vec<Option<CpuPower>>,
    /// What CPUs share.
    pub shared: Vec<SharedPower>,
}

/// A state that draws more than the usable state before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rise {
    pub(crate) state: StateIndex,
    pub(crate) shallower: StateIndex,
}

/// Gives each state its power and transition energy, from the figures that there are.
///
/// The target residency is by definition where a state breaks even with the next shallower usable
/// one, so with powers P and transition energies E
///
/// ```text
/// P(i-1) × residency + E(i-1) = P(i) × residency + E(i)
/// ```
///
/// from which E follows state by state; the first state's is nil. Where power depends on
/// frequency, that at the lowest counts.
///
/// Fails with the state that has no power and nothing to inherit it from.
pub(crate) fn complete(
    states: &IdleStates,
    mut watts: PerState<Option<PowerCurve>>,
    mut transitions: PerState<Option<Figure<Joules>>>,
) -> Result<(PerState<Option<StatePower>>, Vec<Rise>), StateIndex> {
    let mut powers: PerState<Option<StatePower>> = PerState::default();
    let mut rises = Vec::new();
    let mut usable: Option<StateIndex> = None;
    for index in states.indices() {
        let shallower = usable.and_then(|state| powers[state].as_ref().map(|p| (state, p)));
        let curve = match (watts[index].take(), shallower) {
            (Some(curve), _) => curve,
            (None, Some((state, power))) => inherited(&power.watts, states[state].name.as_str()),
            (None, None) => return Err(index),
        };
        if let Some((state, power)) = shallower
            && curve.lowest() > power.watts.lowest()
        {
            rises.push(Rise { state: index, shallower: state });
        }
        let transition = transitions[index]
            .take()
            .unwrap_or_else(|| break_even(states, index, &curve, shallower));
        powers[index] = Some(StatePower { watts: curve, transition });
        if states[index].is_enabled() {
            usable = Some(index);
        }
    }
    Ok((powers, rises))
}

fn inherited(curve: &PowerCurve, from: &str) -> PowerCurve {
    let mut points = curve.points.clone();
    for point in &mut points {
        let source = format!("no figure; that of `{from}`, the next shallower state");
        point.watts = Figure::new(point.watts.value, FigureKind::Assumed, source);
    }
    PowerCurve { points }
}

fn break_even(
    states: &IdleStates,
    index: StateIndex,
    curve: &PowerCurve,
    shallower: Option<(StateIndex, &StatePower)>,
) -> Figure<Joules> {
    let Some((before, power)) = shallower else {
        return Figure::new(Joules(0.0), FigureKind::Derived, "nil: there is no shallower state");
    };
    let residency = states[index].target_residency;
    let (high, low) = (power.watts.lowest(), curve.lowest());
    let saved = (high - low).max(0.0) * residency.get() as f64 / 1e9;
    let mut source = format!(
        "break-even with `{}`: ({high} W - {low} W) x {} us",
        states[before].name,
        residency.as_micros()
    );
    if power.transition.value.0 > 0.0 {
        source.push_str(" + its transition energy");
    }
    Figure::new(power.transition.value + Joules(saved), FigureKind::Derived, source)
}

#[cfg(test)]
mod tests {
    use idlelab_states::{Availability, IdleState, Nanoseconds};

    use super::*;

    fn at(mhz: Option<u32>, watts: f64) -> PowerPoint {
        PowerPoint { mhz, capacity: None, watts: Figure::new(watts, FigureKind::Measured, "x") }
    }

    fn skylake(c1e: Availability) -> IdleStates {
        let us = Nanoseconds::from_micros;
        let mut states = IdleStates::new(&[
            IdleState::new("C1", us(2), us(2)),
            IdleState::new("C1E", us(10), us(20)),
            IdleState::new("C6", us(133), us(600)),
        ])
        .unwrap();
        states.set_availability(states.index(1).unwrap(), c1e);
        states
    }

    fn curves(watts: [Option<f64>; 3]) -> PerState<Option<PowerCurve>> {
        let mut curves = PerState::default();
        for (index, watts) in watts.into_iter().enumerate() {
            curves[StateIndex::new(index).unwrap()] =
                watts.map(|w| PowerCurve::constant(Figure::new(w, FigureKind::Table, "x")));
        }
        curves
    }

    #[test]
    fn skylake_servers_spend_four_fifths_of_a_millijoule_on_c6() {
        let states = skylake(Availability::Enabled);
        let (powers, rises) =
            complete(&states, curves([Some(1.44), None, Some(0.1)]), PerState::default()).unwrap();
        let c1e = powers[states.index(1).unwrap()].as_ref().unwrap();
        assert_eq!(c1e.watts.lowest(), 1.44);
        assert_eq!(c1e.watts.points()[0].watts.kind, FigureKind::Assumed);
        let c6 = powers[states.last()].as_ref().unwrap();
        // (1.44 - 0.1) W x 600 us
        assert!((c6.transition.value.0 - 0.804e-3).abs() < 1e-9);
        assert_eq!(c6.transition.kind, FigureKind::Derived);
        assert_eq!(c6.transition.source, "break-even with `C1E`: (1.44 W - 0.1 W) x 600 us");
        assert!(rises.is_empty());
    }

    #[test]
    fn each_state_breaks_even_with_the_one_before_at_its_residency() {
        let states = skylake(Availability::Enabled);
        let (powers, _) =
            complete(&states, curves([Some(1.44), Some(0.88), Some(0.1)]), PerState::default())
                .unwrap();
        let energy = |state: StateIndex, seconds: f64| {
            let power = powers[state].as_ref().unwrap();
            power.watts.lowest() * seconds + power.transition.value.0
        };
        for state in states.indices().skip(1) {
            let residency = states[state].target_residency.get() as f64 / 1e9;
            let shallower = state.shallower().unwrap();
            assert!((energy(state, residency) - energy(shallower, residency)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_disabled_state_is_nothing_to_break_even_with() {
        let states = skylake(Availability::DisabledByDriver);
        let (powers, _) =
            complete(&states, curves([Some(1.44), Some(0.88), Some(0.1)]), PerState::default())
                .unwrap();
        let c6 = powers[states.last()].as_ref().unwrap();
        assert!((c6.transition.value.0 - 0.804e-3).abs() < 1e-9);
    }

    #[test]
    fn a_deeper_state_that_draws_more_is_told_and_costs_nothing_extra() {
        let states = skylake(Availability::Enabled);
        let (powers, rises) =
            complete(&states, curves([Some(0.5), None, Some(0.6)]), PerState::default()).unwrap();
        assert_eq!(rises.len(), 1);
        assert_eq!(powers[states.last()].as_ref().unwrap().transition.value, Joules(0.0));
    }

    #[test]
    fn the_first_state_must_have_a_figure() {
        let states = skylake(Availability::Enabled);
        let error = complete(&states, curves([None, Some(1.0), None]), PerState::default());
        assert_eq!(error, Err(StateIndex::ZERO));
    }

    #[test]
    fn curves_interpolate_and_clamp() {
        let curve = PowerCurve::new(vec![at(Some(2_000), 3.0), at(Some(1_000), 1.0)]).unwrap();
        assert_eq!(curve.at(500), 1.0);
        assert_eq!(curve.at(1_000), 1.0);
        assert_eq!(curve.at(1_500), 2.0);
        assert_eq!(curve.at(9_000), 3.0);
        assert_eq!((curve.lowest(), curve.highest()), (1.0, 3.0));
        assert_eq!(PowerCurve::new(vec![at(None, 7.0)]).unwrap().at(1), 7.0);
    }

    #[test]
    fn curves_with_gaps_or_doubles_are_refused() {
        assert_eq!(PowerCurve::new(Vec::new()), None);
        assert_eq!(PowerCurve::new(vec![at(None, 1.0), at(Some(1), 1.0)]), None);
        assert_eq!(PowerCurve::new(vec![at(Some(1), 1.0), at(Some(1), 2.0)]), None);
    }
}
