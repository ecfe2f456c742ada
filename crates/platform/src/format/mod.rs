// SPDX-License-Identifier: GPL-2.0-or-later
#![doc = include_str!("../../FORMAT.md")]
// The file is walked by hand instead of through serde, so that a complaint can name the key's
// whole path, its line and column, and the key that was probably meant.

mod power;
mod reader;
mod write;

use idlelab_states::{
    Availability, IdleState, IdleStates, LocalTimer, MAX_STATES, Nanoseconds, PerState, StateKind,
    StateName, TickRate,
};
use reader::{Node, Section};
use toml::de::DeTable;

use crate::check::check_table;
use crate::error::{MAX_MICROSECONDS, PlatformError, Problem, Warning, WarningKind};
use crate::location::{Location, SourceText};
use crate::model::{
    Frequency, FrequencyDomain, ObservedLatency, Platform, StateTable, TablesError, TimerWakes,
};
use crate::power::{Figure, FigureKind};
use crate::{CpuList, Topology};

const MACHINE_KEYS: [&str; 10] = [
    "name",
    "description",
    "source",
    "tick_hz",
    "threads_per_core",
    "timer_wakes",
    "frequency",
    "topology",
    "table",
    "power",
];
const FREQUENCY_KEYS: [&str; 4] = ["min_mhz", "max_mhz", "domain", "source"];
const TOPOLOGY_KEYS: [&str; 4] = ["packages", "clusters", "cores", "source"];
const TABLE_KEYS: [&str; 4] = ["name", "cpus", "source", "state"];
const STATE_KEYS: [&str; 6] =
    ["name", "exit_latency_us", "target_residency_us", "flags", "disabled", "observed"];
const OBSERVED_KEYS: [&str; 4] = ["typical_ns", "tail_ns", "kind", "source"];

const NAME: &str = "a name between quotes";
const SOURCE: &str = "where the numbers are from, in words between quotes";
const CPUS: &str = "a list of CPUs between quotes, such as \"0-3,8\"";
const MEGAHERTZ: &str = "whole megahertz from 1 to 100000";
const KIND: &str = "\"measured\", \"table\", \"derived\" or \"assumed\"";

impl Platform {
    /// Reads a machine description. `file_name` is what messages call it.
    ///
    /// Warnings are about tables that governors do not expect and real machines have.
    ///
    /// # Errors
    ///
    /// What the text cannot mean: see [`Problem`].
    pub fn from_toml(file_name: &str, text: &str) -> Result<(Self, Vec<Warning>), PlatformError> {
        let source = SourceText::new(file_name, text);
        let document = DeTable::parse(text).map_err(|error| PlatformError {
            location: error
                .span()
                .map_or_else(|| Location::file(file_name), |span| source.at(span.start)),
            key: String::new(),
            problem: Box::new(Problem::Syntax(error.message().to_owned())),
        })?;
        let machine = Section::new(&source, String::new(), 0, document.get_ref(), &MACHINE_KEYS)?;
        read_machine(&machine)
    }
}

fn read_machine(machine: &Section<'_>) -> Result<(Platform, Vec<Warning>), PlatformError> {
    let name = machine.require("name", NAME)?.text(NAME)?;
    let description = machine.get("description").map(|node| node.text("a sentence or two"));
    let source = machine.require("source", SOURCE)?.text(SOURCE)?;
    let sections = machine.require("table", "at least one [[table]] of idle states");
    let sections = sections.and_then(|_| machine.sections("table", &TABLE_KEYS))?;

    let mut warnings = Vec::new();
    let mut tables: Vec<StateTable> = Vec::with_capacity(sections.len());
    for section in &sections {
        let table = read_table(section, tables.len(), sections.len(), &mut warnings)?;
        if let Some(first) = tables.iter().position(|other| other.name == table.name) {
            return Err(section.error("name", Problem::DuplicateTable { first }));
        }
        tables.push(table);
    }

    let mut platform = Platform::new(name, source, tables.clone())
        .map_err(|error| tables_error(machine, &sections, &tables, error))?;
    platform.description = description.transpose()?.unwrap_or_default().to_owned();
    platform.tick_rate = machine.get("tick_hz").map(|node| tick_rate(&node)).transpose()?;
    platform.threads_per_core = machine
        .get("threads_per_core")
        .map(|node| node.integer(1..=64, "whole hardware threads from 1 to 64"))
        .transpose()?
        .map(|threads| threads as u32);
    platform.timer_wakes = machine
        .get("timer_wakes")
        .map(|node| {
            let words = [("pre-armed", TimerWakes::PreArmed), ("late", TimerWakes::Late)];
            node.word(&words, "\"pre-armed\" or \"late\"")
        })
        .transpose()?;
    platform.frequency = machine.get("frequency").map(|node| frequency(&node)).transpose()?;
    platform.topology = machine.get("topology").map(|node| topology(&node)).transpose()?;
    if let Some(topology) = &platform.topology {
        for (table, section) in tables.iter().zip(&sections) {
            let stray = table.cpus.as_ref().and_then(|cpus| cpus.first_not_in(topology.cpus()));
            if let Some(cpu) = stray {
                return Err(section.error("cpus", Problem::NotInTopology(cpu)));
            }
        }
    }
    if let Some(node) = machine.get("power") {
        let model = power::read(&node, &tables, &mut warnings)?;
        platform.set_power(model);
    }
    Ok((platform, warnings))
}

fn tables_error(
    machine: &Section<'_>,
    sections: &[Section<'_>],
    tables: &[StateTable],
    error: TablesError,
) -> PlatformError {
    let named = |name: &str| {
        let position = tables.iter().position(|table| table.name == name);
        position.and_then(|position| sections.get(position)).unwrap_or(machine)
    };
    match error {
        TablesError::None => machine.error("table", Problem::Missing { expected: "a [[table]]" }),
        TablesError::DuplicateCpu { cpu, first, second } => {
            named(&second).error("cpus", Problem::DuplicateCpu { cpu, first })
        }
        TablesError::EveryCpu(name) => {
            named(&name).error("cpus", Problem::TableWithoutCpus { tables: tables.len() })
        }
    }
}

fn read_table(
    section: &Section<'_>,
    position: usize,
    tables: usize,
    warnings: &mut Vec<Warning>,
) -> Result<StateTable, PlatformError> {
    let name = match section.get("name") {
        Some(node) => node.text(NAME)?.to_owned(),
        None if tables == 1 => "all".to_owned(),
        None => format!("table{position}"),
    };
    let cpus = section.get("cpus").map(|node| cpu_list(&node)).transpose()?;
    let source = section.get("source").map(|node| node.text(SOURCE)).transpose()?;

    let list = section.require("state", "the idle states, shallowest first")?;
    let rows = section.sections("state", &STATE_KEYS)?;
    if rows.is_empty() || rows.len() > MAX_STATES {
        return Err(list.error(Problem::StateCount(rows.len())));
    }
    let mut states = Vec::with_capacity(rows.len());
    let mut observed = PerState::default();
    for (row, seen) in rows.iter().zip(&mut observed.0) {
        states.push(read_state(row)?);
        *seen = row.get("observed").map(|node| read_observed(&node)).transpose()?;
    }
    let states =
        IdleStates::new(&states).map_err(|error| list.error(Problem::StateCount(error.0)))?;
    for (state, warning) in check_table(&states) {
        if let Some(row) = rows.get(state.get()) {
            let (location, key) = row.place(warning.key());
            warnings.push(Warning { location, key, kind: WarningKind::Table(warning) });
        }
    }
    Ok(StateTable { name, cpus, states, observed, source: source.map(str::to_owned) })
}

fn read_state(row: &Section<'_>) -> Result<IdleState, PlatformError> {
    let mut kind = StateKind::Sleeping;
    let mut local_timer = LocalTimer::Runs;
    if let Some(flags) = row.get("flags") {
        const FLAGS: &str = "an array of \"polling\" and \"timer-stop\"";
        for flag in flags.elements(FLAGS)? {
            match flag.word(&[("polling", true), ("timer-stop", false)], FLAGS)? {
                true => kind = StateKind::Polling,
                false => local_timer = LocalTimer::Stops,
            }
        }
    }
    let time = |key| match (row.get(key), kind) {
        (Some(node), _) => microseconds(&node),
        (None, StateKind::Polling) => Ok(Nanoseconds::ZERO),
        (None, StateKind::Sleeping) => {
            Err(row.error(key, Problem::Missing { expected: "whole microseconds" }))
        }
    };
    let (exit_latency, target_residency) = (time("exit_latency_us")?, time("target_residency_us")?);
    let name = row.require("name", NAME)?.text(NAME)?;
    let availability = row.get("disabled").map(|node| availability(&node)).transpose()?;
    Ok(IdleState {
        name: StateName::new(name),
        exit_latency,
        target_residency,
        kind,
        local_timer,
        availability: availability.unwrap_or_default(),
    })
}

fn availability(node: &Node<'_>) -> Result<Availability, PlatformError> {
    match node.boolean() {
        Some(true) => Ok(Availability::DisabledByUser),
        Some(false) => Ok(Availability::Enabled),
        None => node.word(
            &[("driver", Availability::DisabledByDriver)],
            "true (by the user), \"driver\" or false",
        ),
    }
}

fn read_observed(node: &Node<'_>) -> Result<ObservedLatency, PlatformError> {
    let section = node.section(&OBSERVED_KEYS)?;
    let (kind, source) = kind_and_source(&section)?;
    let time = |key| {
        let node = section.get(key);
        let nanoseconds = node.map(|node| {
            node.integer(0..=MAX_MICROSECONDS * 1_000, "whole nanoseconds, not negative")
        });
        nanoseconds
            .transpose()
            .map(|value| value.map(|ns| Figure::new(Nanoseconds::new(ns), kind, source)))
    };
    Ok(ObservedLatency { typical: time("typical_ns")?, tail: time("tail_ns")? })
}

fn kind_and_source<'d>(section: &Section<'d>) -> Result<(FigureKind, &'d str), PlatformError> {
    let kinds = [
        ("measured", FigureKind::Measured),
        ("table", FigureKind::Table),
        ("derived", FigureKind::Derived),
        ("assumed", FigureKind::Assumed),
    ];
    let kind = section.require("kind", KIND)?.word(&kinds, KIND)?;
    Ok((kind, section.require("source", SOURCE)?.text(SOURCE)?))
}

fn microseconds(node: &Node<'_>) -> Result<Nanoseconds, PlatformError> {
    node.any_integer()
        .filter(|us| (0..=MAX_MICROSECONDS).contains(us))
        .map(Nanoseconds::from_micros)
        .ok_or_else(|| node.error(Problem::Microseconds { found: node.found() }))
}

fn cpu_list(node: &Node<'_>) -> Result<CpuList, PlatformError> {
    node.text(CPUS)?.parse().map_err(|error| node.error(Problem::Cpus(error)))
}

fn cpu_lists(section: &Section<'_>, key: &str) -> Result<Vec<CpuList>, PlatformError> {
    let Some(node) = section.get(key) else { return Ok(Vec::new()) };
    let lists = node.elements("an array of CPU lists, such as [\"0-3\", \"4-7\"]")?;
    lists.iter().map(cpu_list).collect()
}

fn tick_rate(node: &Node<'_>) -> Result<TickRate, PlatformError> {
    const EXPECTED: &str = "a whole tick rate from 24 to 1200 hertz, such as 250 or 1000";
    let hertz = node.integer(0..=i64::from(u32::MAX), EXPECTED)?;
    TickRate::from_hertz(hertz as u32).ok_or_else(|| node.unexpected(EXPECTED))
}

fn megahertz(node: &Node<'_>) -> Result<u32, PlatformError> {
    node.integer(1..=100_000, MEGAHERTZ).map(|mhz| mhz as u32)
}

fn frequency(node: &Node<'_>) -> Result<Frequency, PlatformError> {
    const BY_CORES: &str = "megahertz with one core active, with two, …, such as [3800, 3700]";
    let section = node.section(&FREQUENCY_KEYS)?;
    let max = section.require("max_mhz", BY_CORES)?;
    let max_mhz: Vec<u32> =
        max.elements(BY_CORES)?.iter().map(megahertz).collect::<Result<_, _>>()?;
    if max_mhz.is_empty() {
        return Err(max.unexpected(BY_CORES));
    }
    let domains = [
        ("core", FrequencyDomain::Core),
        ("cluster", FrequencyDomain::Cluster),
        ("package", FrequencyDomain::Package),
    ];
    let domain = section
        .get("domain")
        .map(|node| node.word(&domains, "\"core\", \"cluster\" or \"package\""));
    Ok(Frequency {
        min_mhz: megahertz(&section.require("min_mhz", MEGAHERTZ)?)?,
        max_mhz,
        domain: domain.transpose()?,
        source: section.require("source", SOURCE)?.text(SOURCE)?.to_owned(),
    })
}

fn topology(node: &Node<'_>) -> Result<Topology, PlatformError> {
    let section = node.section(&TOPOLOGY_KEYS)?;
    let source = section.require("source", SOURCE)?.text(SOURCE)?;
    Topology::new(
        cpu_lists(&section, "packages")?,
        cpu_lists(&section, "clusters")?,
        cpu_lists(&section, "cores")?,
        source,
    )
    .map_err(|error| node.error(Problem::Topology(error)))
}

#[cfg(test)]
mod tests;
