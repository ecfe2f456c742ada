// SPDX-License-Identifier: GPL-2.0-or-later
//! Native governors and kernelc against the same revision's C, called by C at -O2:
//! `IDLELAB_KERNEL_SOURCES=FOLDER cargo bench -p idlelab-kernelc`.
//!
//! The folder has one subfolder for each kernel, named by its version (`7.3`, `6.12.117`), with the
//! governors' files in it or in its `drivers/cpuidle/governors`. All three are given the same steps
//! on one thread, in turn; the quietest round counts. The aim: native at most 1, kernelc at most
//! 1.5 times the time of the C.

#![expect(clippy::expect_used, reason = "a bench that cannot set up has nothing to measure")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use idlelab_governors::catalog::{self, AnyGovernor, Basis, GovernorName};
use idlelab_governors::steps::{Entry, StepInputs};
use idlelab_governors::{
    Device, Governor, Kernel, NO_LATENCY_LIMIT, SleepLength, Tick, TickRequest,
};
use idlelab_kernelc::Source;
use idlelab_platform::embedded;
use idlelab_states::{CpuId, IdleState, IdleStates, Nanoseconds, TickRate};
use libloading::os::unix::Library;

const ROUNDS: usize = 40;

fn main() {
    let Some(folder) = env::var_os("IDLELAB_KERNEL_SOURCES").map(PathBuf::from) else {
        println!("skipped: IDLELAB_KERNEL_SOURCES names no folder with kernels' governor files");
        return;
    };
    let mut kernels: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("one").path())
        .collect();
    kernels.sort();
    println!(
        "{:<16} {:<17} {:>7} {:>9} {:>9} {:>7} {:>7}",
        "governor", "steps", "C ns", "native ns", "kernelc ns", "native", "kernelc"
    );
    for kernel in kernels {
        let version = kernel.file_name().expect("a name").to_string_lossy().into_owned();
        for governor in ["teo", "menu", "ladder", "haltpoll"] {
            let inner = kernel.join("drivers/cpuidle/governors").join(governor).with_extension("c");
            let outer = kernel.join(governor).with_extension("c");
            let Some(path) = [inner, outer].into_iter().find(|path| path.is_file()) else {
                continue;
            };
            let name = format!("{governor}@{version}");
            match catalog::resolve(&name) {
                Ok(found) if found.basis == Basis::Exact => measure(&name, found.name, &path),
                _ => println!("{name:<16} skipped: no governor of that very revision"),
            }
        }
    }
}

/// Steps and the machine that they are of.
struct Work {
    title: &'static str,
    states: IdleStates,
    cpus: Vec<Vec<StepInputs>>,
}

fn measure(title: &str, native: GovernorName, path: &Path) {
    let rate = TickRate::from_hertz(250).expect("a rate that kernels are built with");
    let direct = Direct::new(path, rate);
    let program = Source::open(path).and_then(|source| source.compile(rate)).expect("it compiles");
    for work in [random(), recorded("teo-7.3-4cpu.txt.gz"), recorded("menu-7.3-4cpu.txt.gz")] {
        if title.starts_with("haltpoll") && work.title != "random" {
            continue;
        }
        let steps: Vec<Vec<DirectStep>> =
            work.cpus.iter().map(|steps| steps.iter().map(DirectStep::new).collect()).collect();
        let count: usize = steps.iter().map(Vec::len).sum();
        let mut best = [Duration::MAX; 3];
        let mut digests = [0_u64; 3];
        let mut time = |which: usize, run: &mut dyn FnMut() -> u64| {
            let start = Instant::now();
            digests[which] = black_box(run());
            best[which] = best[which].min(start.elapsed());
        };
        for _ in 0..ROUNDS {
            time(0, &mut || {
                steps.iter().fold(0, |sum, steps| sum ^ direct.run(&work.states, steps))
            });
            time(1, &mut || match native.build(rate) {
                AnyGovernor::Teo(teo) => drive(|_| teo.clone(), &work.states, &steps),
                AnyGovernor::Menu(menu) => drive(|_| menu.clone(), &work.states, &steps),
                AnyGovernor::Teo6_6(teo) => drive(|_| teo.clone(), &work.states, &steps),
                AnyGovernor::Teo5_14(teo) => drive(|_| teo.clone(), &work.states, &steps),
                AnyGovernor::Menu5_10(menu) => drive(|_| menu.clone(), &work.states, &steps),
                AnyGovernor::Ladder(ladder) => drive(|_| ladder.clone(), &work.states, &steps),
                AnyGovernor::Haltpoll(haltpoll) => drive(|_| haltpoll, &work.states, &steps),
                other => drive(|_| other.clone(), &work.states, &steps),
            });
            // Loading is no part of a step; the replay does it once for each CPU.
            let mut guests: Vec<_> =
                (0..work.cpus.len()).rev().map(|_| program.instance(CpuId(0))).collect();
            time(2, &mut || {
                drive(|_| guests.pop().expect("one for each CPU"), &work.states, &steps)
            });
        }
        let [c, native, kernelc] = best.map(|best| best.as_secs_f64() * 1e9 / count as f64);
        println!(
            "{title:<16} {:<17} {c:>7.1} {native:>9.1} {kernelc:>9.1} {:>7.2} {:>7.2}{}",
            work.title,
            native / c,
            kernelc / c,
            if digests[0] == digests[1] && digests[0] == digests[2] {
                ""
            } else {
                "  DECISIONS DIFFER"
            }
        );
        assert_eq!(program.failure(), None);
    }
}

/// The same loop as in direct.c, around a governor of Rust's.
fn drive<G: Governor>(
    mut governor: impl FnMut(usize) -> G,
    states: &IdleStates,
    cpus: &[Vec<DirectStep>],
) -> u64 {
    let mut sum = 0;
    for (cpu, steps) in cpus.iter().enumerate() {
        let mut governor = governor(cpu);
        let Some(first) = steps.first() else { continue };
        let mut kernel =
            Answers { now: first, device: Device::default(), got_tick: false, clock: 0 };
        governor.enable(states, &mut kernel.device);
        let mut digest = 0_u64;
        for step in steps {
            kernel.now = step;
            let selection = governor.select(states, &mut kernel);
            let choice =
                selection.state.get() * 2 + usize::from(selection.tick == TickRequest::Stop);
            digest = digest.wrapping_mul(31).wrapping_add(choice as u64);
            kernel.clock = kernel.clock.wrapping_add(step.span);
            if step.rejected != 0 {
                kernel.device.last_residency = Nanoseconds::ZERO;
                continue;
            }
            kernel.device.last_residency = Nanoseconds::new(step.residency);
            kernel.got_tick = step.got_tick != 0;
            if states[selection.state].is_polling() {
                kernel.device.poll_time_limit = step.poll_limit != 0;
            }
            governor.reflect(selection.state, &mut kernel);
        }
        sum ^= digest;
    }
    sum
}

/// A kernel whose answers are laid down in advance.
struct Answers<'a> {
    now: &'a DirectStep,
    device: Device,
    got_tick: bool,
    clock: i64,
}

impl Kernel for Answers<'_> {
    fn sleep_length(&mut self) -> SleepLength {
        SleepLength {
            sleep: Nanoseconds::new(self.now.sleep),
            delta_tick: Nanoseconds::new(self.now.delta_tick),
        }
    }

    fn latency_limit(&mut self) -> Nanoseconds {
        Nanoseconds::new(self.now.latency)
    }

    fn tick(&mut self) -> Tick {
        if self.now.tick_stopped != 0 { Tick::Stopped } else { Tick::Running }
    }

    fn take_got_tick(&mut self) -> bool {
        std::mem::take(&mut self.got_tick)
    }

    fn clock(&mut self) -> Nanoseconds {
        Nanoseconds::new(self.clock)
    }

    fn io_waiters(&mut self) -> u32 {
        self.now.io_waiters
    }

    fn utilisation(&mut self) -> u32 {
        self.now.utilisation
    }

    fn load(&mut self) -> u32 {
        0
    }

    fn device(&mut self) -> &mut Device {
        &mut self.device
    }
}

fn micros(micros: i64) -> Nanoseconds {
    Nanoseconds::from_micros(micros)
}

/// Steps that have little to do with each other, on the states of a desktop of 2018.
fn random() -> Work {
    let state = |name, latency, residency| IdleState::new(name, micros(latency), micros(residency));
    let states = IdleStates::new(&[
        IdleState::polling("POLL"),
        state("C1", 2, 2),
        state("C1E", 10, 20),
        state("C3", 70, 100),
        state("C6", 85, 200),
        state("C7s", 124, 800),
    ])
    .expect("a table");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: i64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 33).cast_signed() % limit
    };
    let mut steps = Vec::new();
    for _ in 0..20_000 {
        let magnitude = 1_i64 << below(14);
        let sleep = 1_000 + below(magnitude * 1_000 + 1);
        let timer = below(2) == 0;
        let residency = if timer { sleep + below(3_000) } else { below(sleep) };
        let stopped = below(4) == 0;
        let delta_tick = if stopped { sleep } else { sleep.min(below(4_000_000)) };
        steps.push(StepInputs {
            sleep_length: SleepLength {
                sleep: Nanoseconds::new(sleep),
                delta_tick: Nanoseconds::new(delta_tick),
            },
            latency_limit: if below(16) == 0 { micros(below(150)) } else { NO_LATENCY_LIMIT },
            tick: if stopped { Tick::Stopped } else { Tick::Running },
            io_waiters: u32::from(below(8) == 0),
            utilisation: below(64) as u32,
            entry: if below(64) == 0 { Entry::Rejected } else { Entry::Entered },
            got_tick: below(8) == 0,
            poll_time_limit: below(4) == 0,
            ..StepInputs::of_residency(Nanoseconds::new(residency))
        });
    }
    Work { title: "random", states, cpus: vec![steps] }
}

/// What a recorded governor was told, CPU by CPU.
fn recorded(file: &'static str) -> Work {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../recordings").join(file);
    let recording = idlelab_import::open(&path).expect("a recording of this repository");
    let platform = embedded::get("testbed-arm64-4cpu").expect("a built-in platform");
    let states = platform.states_of(CpuId(0)).expect("its states");
    let of_cpu = |cpu: &idlelab_recording::CpuRecording| {
        let steps = cpu.decisions.iter().filter_map(|decision| {
            let reflection = decision.reflection?;
            let (sleep, delta_tick) = decision.sleep_length.unwrap_or_default();
            Some(StepInputs {
                sleep_length: SleepLength { sleep, delta_tick },
                latency_limit: decision.latency_limit?,
                tick: decision.tick.unwrap_or_default(),
                got_tick: reflection.got_tick.unwrap_or_default(),
                ..StepInputs::of_residency(reflection.residency)
            })
        });
        steps.collect()
    };
    let title = if file.starts_with("teo") { "recorded (teo)" } else { "recorded (menu)" };
    Work { title, states: *states, cpus: recording.cpus.iter().map(of_cpu).collect() }
}

/// `struct step` of direct.c.
#[repr(C)]
struct DirectStep {
    sleep: i64,
    delta_tick: i64,
    latency: i64,
    residency: i64,
    span: i64,
    io_waiters: u32,
    utilisation: u32,
    tick_stopped: u8,
    got_tick: u8,
    poll_limit: u8,
    rejected: u8,
}

impl DirectStep {
    fn new(step: &StepInputs) -> Self {
        Self {
            sleep: step.sleep_length.sleep.get(),
            delta_tick: step.sleep_length.delta_tick.get(),
            latency: step.latency_limit.get(),
            residency: step.residency.get(),
            span: step.span.get(),
            io_waiters: step.io_waiters,
            utilisation: step.utilisation,
            tick_stopped: (step.tick == Tick::Stopped).into(),
            got_tick: step.got_tick.into(),
            poll_limit: step.poll_time_limit.into(),
            rejected: (step.entry == Entry::Rejected).into(),
        }
    }
}

/// `struct state` of direct.c.
#[repr(C)]
struct DirectState {
    times: [i64; 2],
    flags: u32,
}

type Run = unsafe extern "C" fn(*const DirectState, u32, *const DirectStep, u64) -> u64;

/// A governor's C with a loop in C around it.
struct Direct {
    run: Run,
    _library: Library,
}

impl Direct {
    fn new(path: &Path, rate: TickRate) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = fs::read_to_string(path).expect("the governor");
        for line in text.lines() {
            let Some(rest) = line.trim().strip_prefix("#include <") else { continue };
            let header = folder.path().join("empty").join(rest.split('>').next().expect("a name"));
            fs::create_dir_all(header.parent().expect("a folder")).expect("made");
            fs::write(header, "").expect("written");
        }
        // The shim, in which a question goes straight to a function in C.
        let shim = folder.path().join("shim");
        fs::create_dir(&shim).expect("made");
        for from in ["shim", "benches/direct"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
            for file in fs::read_dir(from).expect("a folder").map(|file| file.expect("one")) {
                fs::copy(file.path(), shim.join(file.file_name())).expect("copied");
            }
        }
        let compile = |arguments: &[&str]| {
            let status = Command::new("cc")
                .args(["-std=gnu11", "-O2", "-w", "-fPIC", "-fvisibility=hidden", "-nostdinc"])
                .args(["-fno-strict-overflow", "-fno-strict-aliasing", "-funsigned-char"])
                .arg(format!("-DIDLELAB_HZ={}", rate.hertz()))
                .arg("-DIDLELAB_STATE_TIME=s64")
                .args(["-I", "shim", "-I", "empty"])
                .args(arguments)
                .current_dir(folder.path())
                .status();
            assert!(status.expect("a C compiler").success(), "it compiles");
        };
        let path = std::path::absolute(path).expect("a path");
        let path = path.to_str().expect("a plain path");
        compile(&["-include", "idlelab.h", "-c", path, "-o", "governor.o"]);
        compile(&["-shared", "shim/direct.c", "governor.o", "-o", "direct.so"]);
        // SAFETY: it has no constructors.
        let library =
            unsafe { Library::new(folder.path().join("direct.so")) }.expect("a shared object");
        // SAFETY: direct.c defines the function so.
        let run = *unsafe { library.get::<Run>(b"direct") }.expect("the loop");
        Self { run, _library: library }
    }

    fn run(&self, states: &IdleStates, steps: &[DirectStep]) -> u64 {
        let states: Vec<DirectState> = states
            .as_slice()
            .iter()
            .map(|state| DirectState {
                times: [state.exit_latency.get(), state.target_residency.get()],
                flags: u32::from(state.is_polling()),
            })
            .collect();
        // SAFETY: both are as long as is said, and the library is loaded.
        unsafe {
            (self.run)(states.as_ptr(), states.len() as u32, steps.as_ptr(), steps.len() as u64)
        }
    }
}
