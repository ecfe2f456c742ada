// SPDX-License-Identifier: GPL-2.0-or-later
//! Machine descriptions out of platforms.
use std::fmt::{self, Write};

use idlelab_states::{Availability, IdleState, LocalTimer, Nanoseconds, StateIndex};
use toml::Value;

use crate::model::{Frequency, FrequencyDomain, ObservedLatency, Platform, StateTable, TimerWakes};
use crate::power::{
    CpuPower, Figure, PowerCurve, PowerModel, PowerPoint, PowerScope, SharedPower, SharedScope,
};
use crate::{CpuList, Topology};

impl Platform {
    /// Writes the machine description that [`Platform::from_toml`] reads back as this platform.
    ///
    /// Figures that were derived or assumed when the platform was read are written out under that
    /// name, so that they are there to be overwritten.
    ///
    /// ```
    /// use idlelab_platform::{Platform, embedded};
    ///
    /// let board = embedded::get("rk3399").expect("it is embedded");
    /// let (again, _) = Platform::from_toml("rk3399.toml", &board.to_toml())?;
    /// assert_eq!(again, board);
    /// # Ok::<(), idlelab_platform::PlatformError>(())
    /// ```
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        // Writing into a text cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "name = {}", quote(&self.name))?;
        if !self.description.is_empty() {
            writeln!(out, "description = {}", quote(&self.description))?;
        }
        writeln!(out, "source = {}", quote(&self.source))?;
        if let Some(rate) = self.tick_rate {
            writeln!(out, "tick_hz = {}", rate.hertz())?;
        }
        if let Some(threads) = self.threads_per_core {
            writeln!(out, "threads_per_core = {threads}")?;
        }
        if let Some(wakes) = self.timer_wakes {
            let word = match wakes {
                TimerWakes::PreArmed => "pre-armed",
                TimerWakes::Late => "late",
            };
            writeln!(out, "timer_wakes = {}", quote(word))?;
        }
        for table in self.tables() {
            write_table(out, table)?;
        }
        if let Some(topology) = &self.topology {
            write_topology(out, topology)?;
        }
        if let Some(frequency) = &self.frequency {
            write_frequency(out, frequency)?;
        }
        if let Some(power) = self.power() {
            write_power(out, self.tables(), power)?;
        }
        Ok(())
    }
}

fn quote(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn quote_cpus(cpus: &CpuList) -> String {
    quote(&cpus.to_string())
}

fn write_table(out: &mut String, table: &StateTable) -> fmt::Result {
    writeln!(out, "\n[[table]]\nname = {}", quote(&table.name))?;
    if let Some(cpus) = &table.cpus {
        writeln!(out, "cpus = {}", quote_cpus(cpus))?;
    }
    if let Some(source) = &table.source {
        writeln!(out, "source = {}", quote(source))?;
    }
    writeln!(out, "state = [")?;
    for (state, observed) in table.states.as_slice().iter().zip(&table.observed.0) {
        write_state(out, state, observed.as_ref())?;
    }
    writeln!(out, "]")
}

fn write_state(
    out: &mut String,
    state: &IdleState,
    observed: Option<&ObservedLatency>,
) -> fmt::Result {
    write!(
        out,
        "    {{ name = {}, exit_latency_us = {}, target_residency_us = {}",
        quote(state.name.as_str()),
        state.exit_latency.as_micros(),
        state.target_residency.as_micros()
    )?;
    let mut flags = Vec::new();
    if state.is_polling() {
        flags.push("\"polling\"");
    }
    if state.local_timer == LocalTimer::Stops {
        flags.push("\"timer-stop\"");
    }
    if !flags.is_empty() {
        write!(out, ", flags = [{}]", flags.join(", "))?;
    }
    match state.availability {
        Availability::Enabled => {}
        Availability::DisabledByDriver => write!(out, ", disabled = \"driver\"")?,
        Availability::DisabledByUser => write!(out, ", disabled = true")?,
    }
    if let Some(observed) = observed {
        write_observed(out, observed)?;
    }
    writeln!(out, " }},")
}

fn write_observed(out: &mut String, observed: &ObservedLatency) -> fmt::Result {
    let figures = [("typical_ns", &observed.typical), ("tail_ns", &observed.tail)];
    let Some(first) = figures.iter().find_map(|(_, figure)| figure.as_ref()) else {
        return Ok(());
    };
    write!(out, ", observed = {{ ")?;
    for (key, figure) in figures {
        if let Some(Figure::<Nanoseconds> { value, .. }) = figure {
            write!(out, "{key} = {}, ", value.get())?;
        }
    }
    write!(out, "{} }}", provenance(first, ", "))
}

fn write_topology(out: &mut String, topology: &Topology) -> fmt::Result {
    writeln!(out, "\n[topology]")?;
    for (key, lists) in [
        ("packages", topology.packages()),
        ("clusters", topology.clusters()),
        ("cores", topology.cores()),
    ] {
        if !lists.is_empty() {
            let lists: Vec<_> = lists.iter().map(quote_cpus).collect();
            writeln!(out, "{key} = [{}]", lists.join(", "))?;
        }
    }
    writeln!(out, "source = {}", quote(&topology.source))
}

fn write_frequency(out: &mut String, frequency: &Frequency) -> fmt::Result {
    writeln!(out, "\n[frequency]\nmin_mhz = {}", frequency.min_mhz)?;
    writeln!(out, "max_mhz = {:?}", frequency.max_mhz)?;
    if let Some(domain) = frequency.domain {
        let word = match domain {
            FrequencyDomain::Core => "core",
            FrequencyDomain::Cluster => "cluster",
            FrequencyDomain::Package => "package",
        };
        writeln!(out, "domain = {}", quote(word))?;
    }
    writeln!(out, "source = {}", quote(&frequency.source))
}

fn write_power(out: &mut String, tables: &[StateTable], model: &PowerModel) -> fmt::Result {
    let scope = model.tables.iter().flatten().map(|power| power.scope).next();
    let per = if scope == Some(PowerScope::Core) { "core" } else { "cpu" };
    writeln!(out, "\n[power]\nper = {}", quote(per))?;
    for (table, power) in tables.iter().zip(&model.tables) {
        if let Some(power) = power {
            let named = if tables.len() == 1 { None } else { Some(table.name.as_str()) };
            write_cpu_power(out, table, named, power)?;
        }
    }
    for shared in &model.shared {
        write_shared(out, tables, shared)?;
    }
    Ok(())
}

fn write_cpu_power(
    out: &mut String,
    table: &StateTable,
    named: Option<&str>,
    power: &CpuPower,
) -> fmt::Result {
    let of_table = named.map_or_else(String::new, |name| format!("table = {}\n", quote(name)));
    for point in power.active.iter().flat_map(PowerCurve::points) {
        writeln!(out, "\n[[power.active]]\n{of_table}{}", point_keys(point, "\n"))?;
    }
    for (state, power) in table.states.as_slice().iter().zip(&power.states.0) {
        let Some(power) = power else { continue };
        let of_state = format!("{of_table}name = {}\n", quote(state.name.as_str()));
        for point in power.watts.points() {
            writeln!(out, "\n[[power.state]]\n{of_state}{}", point_keys(point, "\n"))?;
        }
        writeln!(
            out,
            "\n[[power.transition]]\n{of_state}joules = {:?}\n{}",
            power.transition.value.0,
            provenance(&power.transition, "\n")
        )?;
    }
    Ok(())
}

fn write_shared(out: &mut String, tables: &[StateTable], shared: &SharedPower) -> fmt::Result {
    writeln!(out, "\n[[power.shared]]\nname = {}", quote(&shared.name))?;
    match &shared.scope {
        SharedScope::Machine => writeln!(out, "per = \"machine\"")?,
        SharedScope::EachPackage => writeln!(out, "per = \"package\"")?,
        SharedScope::EachCluster => writeln!(out, "per = \"cluster\"")?,
        SharedScope::Cpus(cpus) => writeln!(out, "cpus = {}", quote_cpus(cpus))?,
    }
    writeln!(out, "on = [")?;
    for point in shared.on.points() {
        writeln!(out, "    {{ {} }},", point_keys(point, ", "))?;
    }
    writeln!(out, "]")?;
    if shared.levels.is_empty() {
        return Ok(());
    }
    writeln!(out, "level = [")?;
    for level in &shared.levels {
        let mut names: Vec<String> = Vec::new();
        for (table, from) in tables.iter().zip(&level.from) {
            let name = |state: StateIndex| quote(table.states[state].name.as_str());
            if let Some(name) = from.map(name).filter(|name| !names.contains(name)) {
                names.push(name);
            }
        }
        let watts = level.watts.value;
        let from = names.join(", ");
        writeln!(
            out,
            "    {{ from = [{from}], watts = {watts:?}, {} }},",
            provenance(&level.watts, ", ")
        )?;
    }
    writeln!(out, "]")
}

fn point_keys(point: &PowerPoint, between: &str) -> String {
    let mut keys = Vec::new();
    keys.extend(point.mhz.map(|mhz| format!("mhz = {mhz}")));
    keys.extend(point.capacity.map(|capacity| format!("capacity = {capacity}")));
    keys.push(format!("watts = {:?}", point.watts.value));
    keys.push(provenance(&point.watts, between));
    keys.join(between)
}

fn provenance<T>(figure: &Figure<T>, between: &str) -> String {
    format!("kind = \"{}\"{between}source = {}", figure.kind, quote(&figure.source))
}
