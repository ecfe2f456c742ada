// SPDX-License-Identifier: GPL-2.0-or-later
//! The experiments: what is run, what is looked at, and what was published.

use idlelab_outcome::Outcome;

use crate::lab::{
    HeadlineError, Lab, Setup, entry_share, figure, measure, paired, per_cent, time_share,
};
use crate::{Conclusion, Headline, Measure};

pub(crate) type Experiment = fn(&Lab) -> Result<Headline, HeadlineError>;

/// In the order of their numbers.
pub(crate) static ALL: [Experiment; 10] = [h3, h5, h6, h10, h11, h12, h13, h14, h15, h20];

fn concluded(
    id: &'static str,
    experiment: &'static str,
    platform: &'static str,
    measures: Vec<Measure>,
    remark: &'static str,
) -> Headline {
    let same = measures.iter().all(Measure::holds);
    let conclusion = if same { Conclusion::Same } else { Conclusion::Missed };
    Headline { id, experiment, platform, measures, conclusion, remark }
}

fn not_run(
    id: &'static str,
    experiment: &'static str,
    platform: &'static str,
    remark: &'static str,
) -> Headline {
    let (measures, conclusion) = (Vec::new(), Conclusion::NotRun);
    Headline { id, experiment, platform, measures, conclusion, remark }
}

/// The change from the first to the second, in per cent.
fn change(first: f64, second: f64) -> f64 {
    100.0 * (second / first - 1.0)
}

fn each(outcomes: &[Outcome], value: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    outcomes.iter().map(value).collect()
}

/// The share of a run's idle periods that were in too deep a state, on one CPU, in per cent.
fn above_share(outcome: &Outcome, cpu: usize) -> f64 {
    let Some(cpu) = outcome.per_cpu.get(cpu) else { return f64::NAN };
    let above = cpu.states.iter().filter_map(|state| state.above).sum();
    per_cent(above, cpu.states.iter().map(|state| state.usage).sum())
}

fn h3(lab: &Lab) -> Result<Headline, HeadlineError> {
    let setup = Setup::of("pipe-cross-core");
    let stock = lab.runs(setup, "menu@4.6")?;
    let reverted = lab.runs(setup, "menu@4.6-reverted")?;
    // Of the two CPUs that the tasks run on.
    let busy = |outcome: &Outcome, state: usize| {
        let cpus = outcome.per_cpu.iter().take(2);
        let (entries, all) = cpus.fold((0, 0), |(entries, all), cpu| {
            let usage: u64 = cpu.states.iter().map(|state| state.usage).sum();
            (entries + cpu.states.get(state).map_or(0, |state| state.usage), all + usage)
        });
        per_cent(entries, all)
    };
    let measures = vec![
        measure(
            "us/loop, reverted, change %",
            "-13 (powersave), -16 (performance)",
            (-25.0, -8.0),
            &paired(&stock, &reverted, |a, b| {
                change(figure(a, "iteration"), figure(b, "iteration"))
            }),
        ),
        measure(
            "energy of the run, reverted, change %",
            "+13, +9",
            (5.0, 20.0),
            &paired(&stock, &reverted, |a, b| change(figure(a, "power"), figure(b, "power"))),
        ),
        measure(
            "stock: entries of C1, %",
            "of idle time but C6: 98",
            (90.0, 100.0),
            &each(&stock, |outcome| busy(outcome, 1)),
        ),
        measure(
            "reverted: entries of POLL, %",
            "of idle time but C6: 94",
            (90.0, 100.0),
            &each(&reverted, |outcome| busy(outcome, 0)),
        ),
    ];
    Ok(concluded(
        "H3",
        "pipe between two cores; menu of 4.6-rc2 and the same with commit 0c313cb20732 reverted",
        "i7-2600k",
        measures,
        "2 s a run instead of 100 s; the two tasks are taken to be on cores of their own",
    ))
}

fn h20(lab: &Lab) -> Result<Headline, HeadlineError> {
    let setup = Setup::of("pipe-cross-core");
    let stock = lab.runs(setup, "menu@4.6")?;
    let reverted = lab.runs(setup, "menu@4.6-reverted")?;
    let work =
        paired(&stock, &reverted, |a, b| figure(b, "work per joule") / figure(a, "work per joule"));
    let measures = vec![measure("work per joule, reverted over stock", "1.14", (1.0, 1.5), &work)];
    Ok(concluded(
        "H20",
        "pipe, performance governor, work per watt; the pair of H3",
        "i7-2600k",
        measures,
        "published of another desktop, which is not named",
    ))
}

fn h5(lab: &Lab) -> Result<Headline, HeadlineError> {
    let setup = Setup::of("pipe-same-core");
    let menu = lab.runs(setup, "menu@4.20")?;
    let teo = lab.runs(setup, "teo@rfc-v6")?;
    let measures = vec![
        measure(
            "throughput, teo, change %",
            "+1.4",
            (0.0, 4.0),
            &paired(&menu, &teo, |a, b| change(figure(a, "iterations"), figure(b, "iterations"))),
        ),
        measure(
            "time in state 0, menu over teo",
            "3.8",
            (2.0, 8.0),
            &paired(&menu, &teo, |a, b| time_share(a, 0) / time_share(b, 0)),
        ),
    ];
    Ok(concluded(
        "H5",
        "four pipes, each between the two threads of a core; menu of 4.20-rc3 and teo rfc-v6",
        "i7-2600k",
        measures,
        "",
    ))
}

fn h6(lab: &Lab) -> Result<Headline, HeadlineError> {
    const SLEEPS: [f64; 8] = [1.0, 5.0, 20.0, 50.0, 100.0, 200.0, 350.0, 500.0];
    let mut measures = Vec::new();
    for governor in ["menu@4.20", "teo@rfc-v6"] {
        let mut deepening = vec![0.0; lab.runs as usize];
        let mut deepest: Vec<f64> = vec![0.0; lab.runs as usize];
        let mut before = vec![0; lab.runs as usize];
        for sleep in SLEEPS {
            let parameters = [("sleep_us", sleep)];
            let runs = lab.runs(Setup::of("sleep-sweep").with(&parameters), governor)?;
            for (run, outcome) in runs.iter().enumerate() {
                let usage = outcome.states.iter().map(|state| state.usage);
                let most = usage.enumerate().max_by_key(|&(_, usage)| usage);
                let state = most.map_or(0, |(state, _)| state);
                // A step back towards a shallower state.
                deepening[run] += f64::from(u8::from(state < before[run]));
                before[run] = state;
                deepest[run] = deepest[run].max(entry_share(outcome, 4));
            }
        }
        measures.push(measure(
            format!("{governor}: steps back to a shallower state"),
            "none: POLL/C1, C1E, C3 in turn",
            (0.0, 0.0),
            &deepening,
        ));
        measures.push(measure(
            format!("{governor}: entries of C6 at any step, % at most"),
            "does not dominate",
            (0.0, 50.0),
            &deepest,
        ));
    }
    Ok(concluded(
        "H6",
        "forty threads sleep d us, d from 1 to 500; menu of 4.20-rc3 and teo rfc-v6",
        "i7-2600k",
        measures,
        "2 s a step instead of a minute, 8 steps",
    ))
}

fn h10(lab: &Lab) -> Result<Headline, HeadlineError> {
    const INTERVALS: [f64; 9] = [6.0, 11.0, 16.0, 31.0, 61.0, 91.0, 101.0, 111.0, 121.0];
    let mut measures = Vec::new();
    for (governor, published) in [
        ("menu@6.12", "0, 0.2, 97 to 99 (16 to 91 us), 82, 1.7, 1"),
        ("teo@6.14", "0 up to 101 us, 5.0, 1"),
    ] {
        for interval in INTERVALS {
            let band = match (governor, interval as u32) {
                ("menu@6.12", 16..=95) => (90.0, 100.0),
                // Between the two regimes: anything.
                ("menu@6.12", 96..=110) => (0.0, 100.0),
                ("menu@6.12", _) => (0.0, 5.0),
                (_, 0..=101) => (0.0, 6.0),
                // Nothing was said of what is beyond but that it is little.
                _ => (0.0, 10.0),
            };
            let parameters = [("interval_us", interval)];
            let runs = lab.runs(Setup::of("periodic").with(&parameters), governor)?;
            measures.push(measure(
                format!("{governor}: above, % of idles, every {interval} us"),
                published,
                band,
                &each(&runs, |outcome| above_share(outcome, 1)),
            ));
        }
    }
    Ok(concluded(
        "H10",
        "a task is woken through a pipe every 6 to 121 us; menu and teo of 6.14",
        "power10-pseries",
        measures,
        "5 s a step",
    ))
}

fn h11(lab: &Lab) -> Result<Headline, HeadlineError> {
    let setup = Setup::of("pgbench");
    let before = lab.runs(setup, "menu@6.18")?;
    let after = lab.runs(setup, "menu@6.19")?;
    let above =
        |outcome: &Outcome| per_cent(outcome.above.unwrap_or(0), outcome.idles.unwrap_or(0));
    let measures = vec![
        measure(
            "transactions a second, limited, change %",
            "+8.45",
            (3.0, 15.0),
            &paired(&before, &after, |a, b| {
                change(figure(a, "iterations"), figure(b, "iterations"))
            }),
        ),
        measure(
            "above, % of idles, limited over before",
            "0.13 (89.6 to 11.5 %)",
            (0.0, 0.5),
            &paired(&before, &after, |a, b| above(b) / above(a)),
        ),
    ];
    Ok(concluded(
        "H11",
        "pgbench; menu of 6.18, and of 6.19 with its polling override limited",
        "power-pseries-12us",
        measures,
        "four clients instead of eighty; 5 s a run; a transaction lasts the published 150 us (of 118 us, \
         as first tried, the change was 21 %)",
    ))
}

fn h12(lab: &Lab) -> Result<Headline, HeadlineError> {
    let setup = Setup::of("phone-idle");
    let mut shares = Vec::new();
    for governor in ["teo@6.6", "teo@6.12", "teo@6.18", "teo"] {
        shares.push(each(&lab.runs(setup, governor)?, |outcome| time_share(outcome, 0)));
    }
    let [old, middle, late, new] = &shares[..] else { return Err(HeadlineError::TooFewRuns) };
    let between: Vec<f64> = late
        .iter()
        .zip(old.iter().zip(middle))
        .map(|(late, (old, middle))| f64::from(u8::from(old < late && late < middle)))
        .collect();
    let measures = vec![
        measure("teo@6.6: time in WFI, %", "6.0", (0.0, 15.0), old),
        measure("teo@6.12: time in WFI, %", "99.9", (90.0, 100.0), middle),
        measure("teo@6.18: time in WFI, %", "56.8", (0.0, 100.0), late),
        measure("teo@6.18 lies between those two, share of runs", "yes", (1.0, 1.0), &between),
        measure("teo (7.x): time in WFI, %", "2", (0.0, 10.0), new),
    ];
    Ok(concluded(
        "H12",
        "an idle phone; teo of 6.6, 6.12, 6.18 and 7.x",
        "mt8196",
        measures,
        "20 s a run",
    ))
}

fn h13(lab: &Lab) -> Result<Headline, HeadlineError> {
    let setup = Setup::of("idle-desktop");
    let mut measures = Vec::new();
    for (governor, published, band) in [
        ("teo@over-eager", "28.7", (10.0, 40.0)),
        ("teo@6.14", "0.03", (0.0, 2.0)),
        ("menu@6.12", "0.03", (0.0, 2.0)),
    ] {
        let runs = lab.runs(setup, governor)?;
        measures.push(measure(
            format!("{governor}: time in C1, %"),
            published,
            band,
            &each(&runs, |outcome| time_share(outcome, 1)),
        ));
    }
    Ok(concluded(
        "H13",
        "an idle desktop; teo over-eager, teo and menu of 6.14",
        "raptor-lake-i5-1340p",
        measures,
        "30 s a run instead of five minutes and more",
    ))
}

fn h14(lab: &Lab) -> Result<Headline, HeadlineError> {
    let mut measures = Vec::new();
    for (device, latency) in [("nvme", 80.0), ("eMMC", 160.0), ("SD card", 470.0)] {
        let parameters = [("device_us", latency)];
        let setup = Setup::of("random-reads").with(&parameters);
        let old = lab.runs(setup, "menu@6.12")?;
        let misses = |outcome: &Outcome| {
            let Some(cpu) = outcome.per_cpu.get(4) else { return f64::NAN };
            let misses = cpu.states.iter().filter_map(|state| Some(state.above? + state.below?));
            per_cent(misses.sum(), cpu.states.iter().map(|state| state.usage).sum())
        };
        let below =
            |outcome: &Outcome| per_cent(outcome.below.unwrap_or(0), outcome.misses.unwrap_or(0));
        measures.push(measure(
            format!("{device}, menu@6.12: misses, % of idles"),
            "17 to 35",
            (15.0, 40.0),
            &each(&old, misses),
        ));
        measures.push(measure(
            format!("{device}, menu@6.12: below, % of misses"),
            "about 80",
            (50.0, 100.0),
            &each(&old, below),
        ));
        for governor in ["menu@6.15", "teo@6.14"] {
            let runs = lab.runs(setup, governor)?;
            measures.push(measure(
                format!("{device}, {governor}: misses, % of idles"),
                "3 to 8",
                (0.0, 10.0),
                &each(&runs, misses),
            ));
            measures.push(measure(
                format!("{device}, {governor}: reads a second over menu@6.12's"),
                "1.5 to 2.1",
                (1.3, 2.5),
                &paired(&old, &runs, |a, b| figure(b, "iterations") / figure(a, "iterations")),
            ));
        }
    }
    Ok(concluded(
        "H14",
        "random reads at depth 1; menu of 6.12 and 6.15, teo",
        "rk3399",
        measures,
        "the devices' own latencies are taken from the fastest governor's published rate; how much \
         slower the others are is not",
    ))
}

#[expect(clippy::unnecessary_wraps, reason = "one of a table of experiments")]
fn h15(_lab: &Lab) -> Result<Headline, HeadlineError> {
    Ok(not_run(
        "H15",
        "twelve threads pass a token, state 0 disabled; teo of 5.14-rc3, 5.13 and menu",
        "i5-10600k",
        "the catalogue has teo of 5.14 as released, where the defect was mended, not that of rc3",
    ))
}
