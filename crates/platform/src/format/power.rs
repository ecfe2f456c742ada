// SPDX-License-Identifier: GPL-2.0-or-later
//! The `[power]` section.
use idlelab_states::{Joules, PerState, StateIndex, StateName};

use super::reader::{Node, Section};
use super::{CPUS, NAME, cpu_list, kind_and_source, megahertz};
use crate::error::{PlatformError, Problem, Warning, WarningKind};
use crate::model::StateTable;
use crate::nearest::nearest;
use crate::power::{
    CpuPower, Figure, PowerCurve, PowerModel, PowerPoint, PowerScope, SharedLevel, SharedPower,
    SharedScope, complete,
};

const POWER_KEYS: [&str; 5] = ["per", "active", "state", "transition", "shared"];
const ACTIVE_KEYS: [&str; 6] = ["table", "mhz", "capacity", "watts", "kind", "source"];
const STATE_KEYS: [&str; 6] = ["table", "name", "mhz", "watts", "kind", "source"];
const TRANSITION_KEYS: [&str; 5] = ["table", "name", "joules", "kind", "source"];
const SHARED_KEYS: [&str; 5] = ["name", "per", "cpus", "on", "level"];
const ON_KEYS: [&str; 4] = ["mhz", "watts", "kind", "source"];
const LEVEL_KEYS: [&str; 4] = ["from", "watts", "kind", "source"];

const WATTS: &str = "watts, finite and not negative";
const JOULES: &str = "joules, finite and not negative";
const PER: &str = "\"cpu\" or \"core\"";
const SHARED_PER: &str = "\"machine\", \"package\" or \"cluster\" (or `cpus`)";

/// The figures of one table as the file gives them.
#[derive(Default)]
struct Given {
    active: Vec<PowerPoint>,
    states: PerState<Vec<PowerPoint>>,
    transitions: PerState<Option<Figure<Joules>>>,
}

impl Given {
    fn is_empty(&self) -> bool {
        self.active.is_empty() && self.states.0.iter().all(Vec::is_empty)
    }
}

pub(super) fn read(
    node: &Node<'_>,
    tables: &[StateTable],
    warnings: &mut Vec<Warning>,
) -> Result<PowerModel, PlatformError> {
    let power = node.section(&POWER_KEYS)?;
    let scopes = [("cpu", PowerScope::Cpu), ("core", PowerScope::Core)];
    let scope = power.require("per", PER)?.word(&scopes, PER)?;
    let mut given: Vec<Given> = tables.iter().map(|_| Given::default()).collect();

    for row in power.sections("active", &ACTIVE_KEYS)? {
        let point = read_point(&row)?;
        for index in of_tables(&row, tables)? {
            if let Some(table) = given.get_mut(index) {
                add_point(&row, &mut table.active, point.clone(), "this table's active power")?;
            }
        }
    }
    for row in power.sections("state", &STATE_KEYS)? {
        let point = read_point(&row)?;
        for (index, state) in of_states(&row, tables)? {
            if let Some(table) = given.get_mut(index) {
                add_point(&row, &mut table.states[state], point.clone(), "this state")?;
            }
        }
    }
    for row in power.sections("transition", &TRANSITION_KEYS)? {
        let joules = Joules(row.require("joules", JOULES)?.number(JOULES)?);
        let (kind, source) = kind_and_source(&row)?;
        for (index, state) in of_states(&row, tables)? {
            let Some(table) = given.get_mut(index) else { continue };
            let figure = Figure::new(joules, kind, source);
            if table.transitions[state].replace(figure).is_some() {
                return Err(row.error("name", Problem::DuplicateFigure("this state".to_owned())));
            }
        }
    }

    let mut powers = Vec::with_capacity(tables.len());
    for (table, given) in tables.iter().zip(given) {
        powers.push(finish(node, table, given, scope, warnings)?);
    }
    let shared = power.sections("shared", &SHARED_KEYS)?;
    let shared = shared.iter().map(|row| read_shared(row, tables)).collect::<Result<_, _>>()?;
    Ok(PowerModel { tables: powers, shared })
}

fn finish(
    node: &Node<'_>,
    table: &StateTable,
    given: Given,
    scope: PowerScope,
    warnings: &mut Vec<Warning>,
) -> Result<Option<CpuPower>, PlatformError> {
    if given.is_empty() {
        return Ok(None);
    }
    let mut curves = PerState::default();
    for (index, points) in table.states.indices().zip(given.states.0) {
        curves[index] = PowerCurve::new(points);
    }
    let name = |state: StateIndex| table.states[state].name.to_string();
    let (states, rises) = complete(&table.states, curves, given.transitions)
        .map_err(|state| node.error(Problem::NoPower(name(state))))?;
    for rise in rises {
        let watts = |state: StateIndex| states[state].as_ref().map_or(0.0, |p| p.watts.lowest());
        let (location, key) = node.place();
        warnings.push(Warning {
            location,
            key,
            kind: WarningKind::PowerRises {
                state: name(rise.state),
                watts: watts(rise.state),
                shallower: name(rise.shallower),
                shallower_watts: watts(rise.shallower),
            },
        });
    }
    Ok(Some(CpuPower { scope, active: PowerCurve::new(given.active), states }))
}

fn read_watts(row: &Section<'_>) -> Result<Figure<f64>, PlatformError> {
    let watts = row.require("watts", WATTS)?.number(WATTS)?;
    let (kind, source) = kind_and_source(row)?;
    Ok(Figure::new(watts, kind, source))
}

fn read_point(row: &Section<'_>) -> Result<PowerPoint, PlatformError> {
    let capacity = row.get("capacity").map(|node| node.integer(1..=65_536, "1 to 65536"));
    Ok(PowerPoint {
        mhz: row.get("mhz").map(|node| megahertz(&node)).transpose()?,
        capacity: capacity.transpose()?.map(|capacity| capacity as u32),
        watts: read_watts(row)?,
    })
}

fn add_point(
    row: &Section<'_>,
    points: &mut Vec<PowerPoint>,
    point: PowerPoint,
    of: &str,
) -> Result<(), PlatformError> {
    if points.iter().any(|other| other.mhz == point.mhz) {
        let at = point.mhz.map_or_else(|| of.to_owned(), |mhz| format!("{of} at {mhz} MHz"));
        return Err(row.error("watts", Problem::DuplicateFigure(at)));
    }
    if points.iter().any(|other| other.mhz.is_none() || point.mhz.is_none()) {
        return Err(row.error("mhz", Problem::PointWithoutFrequency(of.to_owned())));
    }
    points.push(point);
    Ok(())
}

/// The tables that a row is about: the one it names, or all.
fn of_tables(
    row: &Section<'_>,
    tables: &[StateTable],
) -> Result<std::ops::Range<usize>, PlatformError> {
    let Some(node) = row.get("table") else { return Ok(0..tables.len()) };
    let name = node.text(NAME)?;
    let names = || tables.iter().map(|table| table.name.as_str());
    match tables.iter().position(|table| table.name == name) {
        Some(index) => Ok(index..index + 1),
        None => Err(node.error(Problem::UnknownTable {
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            known: names().collect::<Vec<_>>().join(", "),
        })),
    }
}

/// The states that a row names, table by table.
fn of_states(
    row: &Section<'_>,
    tables: &[StateTable],
) -> Result<Vec<(usize, StateIndex)>, PlatformError> {
    let node = row.require("name", NAME)?;
    let name = node.text(NAME)?;
    let within = of_tables(row, tables)?;
    let found = find_states(name, tables, within.clone());
    if found.is_empty() {
        return Err(unknown_state(&node, name, tables, within));
    }
    Ok(found)
}

/// A table may have several states of one name; the shallowest is meant.
fn find_states(
    name: &str,
    tables: &[StateTable],
    within: std::ops::Range<usize>,
) -> Vec<(usize, StateIndex)> {
    let name = StateName::new(name);
    let in_table = |index: usize| {
        let states = tables.get(index)?.states;
        let state = states.indices().find(|&state| states[state].name == name)?;
        Some((index, state))
    };
    within.filter_map(in_table).collect()
}

fn unknown_state(
    node: &Node<'_>,
    name: &str,
    tables: &[StateTable],
    within: std::ops::Range<usize>,
) -> PlatformError {
    let mut names: Vec<&str> = Vec::new();
    for table in tables.get(within).unwrap_or_default() {
        for state in table.states.as_slice() {
            if !names.contains(&state.name.as_str()) {
                names.push(state.name.as_str());
            }
        }
    }
    node.error(Problem::UnknownState {
        name: name.to_owned(),
        nearest: nearest(name, names.iter().copied()).map(str::to_owned),
        known: names.join(", "),
    })
}

fn read_shared(row: &Section<'_>, tables: &[StateTable]) -> Result<SharedPower, PlatformError> {
    let name = row.require("name", NAME)?.text(NAME)?.to_owned();
    let scope = match (row.get("per"), row.get("cpus")) {
        (Some(node), None) => {
            let scopes = [
                ("machine", SharedScope::Machine),
                ("package", SharedScope::EachPackage),
                ("cluster", SharedScope::EachCluster),
            ];
            node.word(&scopes, SHARED_PER)?
        }
        (None, Some(node)) => {
            let cpus = cpu_list(&node)?;
            if cpus.is_empty() {
                return Err(node.unexpected(CPUS));
            }
            SharedScope::Cpus(cpus)
        }
        (Some(node), Some(_)) => return Err(node.unexpected("either `per` or `cpus`, not both")),
        (None, None) => {
            return Err(row.error("per", Problem::Missing { expected: SHARED_PER }));
        }
    };
    let mut points = Vec::new();
    for point in row.sections("on", &ON_KEYS)? {
        let read = read_point(&point)?;
        add_point(&point, &mut points, read, "this part")?;
    }
    let on = PowerCurve::new(points).ok_or_else(|| {
        row.error("on", Problem::Missing { expected: "the watts that it draws while it is on" })
    })?;
    let mut levels: Vec<SharedLevel> = Vec::new();
    for level in row.sections("level", &LEVEL_KEYS)? {
        let next = read_level(&level, tables, &scope, levels.last())?;
        levels.push(next);
    }
    Ok(SharedPower { name, scope, on, levels })
}

fn read_level(
    row: &Section<'_>,
    tables: &[StateTable],
    scope: &SharedScope,
    previous: Option<&SharedLevel>,
) -> Result<SharedLevel, PlatformError> {
    const FROM: &str = "the shallowest state that counts, or an array of one for each table";
    let names = row.require("from", FROM)?.one_or_more()?;
    let mut from: Vec<Option<StateIndex>> = vec![None; tables.len()];
    for node in &names {
        let name = node.text(FROM)?;
        let found = find_states(name, tables, 0..tables.len());
        if found.is_empty() {
            return Err(unknown_state(node, name, tables, 0..tables.len()));
        }
        for (index, state) in found {
            if let Some(slot) = from.get_mut(index) {
                *slot = Some(state);
            }
        }
    }
    for (index, (table, state)) in tables.iter().zip(&from).enumerate() {
        let under = match (scope, &table.cpus) {
            (SharedScope::Cpus(shared), Some(cpus)) => cpus.iter().any(|cpu| shared.contains(cpu)),
            _ => true,
        };
        if under && state.is_none() {
            return Err(row.error("from", Problem::LevelMisses(table.name.clone())));
        }
        let before = previous.and_then(|level| level.from.get(index).copied().flatten());
        if before.is_some() && *state <= before {
            let name = state.map_or_else(String::new, |s| table.states[s].name.to_string());
            return Err(row.error("from", Problem::LevelOrder(name)));
        }
    }
    Ok(SharedLevel { from, watts: read_watts(row)? })
}
