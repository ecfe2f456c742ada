// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording as ftrace text, as a kernel with the probes of idlelab's recorder prints it, but with
//! nanoseconds.

use std::io::{self, Write};

use idlelab_recording::{
    CpuRecording, Decision, Miss, Period, Recording, WakeCauses, WhatFollowed,
};
use idlelab_states::{Nanoseconds, Tick};

/// Fractions of a second have nine digits.
const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;

/// Writes what the CPUs did as ftrace text.
///
/// The text holds what a trace holds: timers that were pending but never next are not in it.
///
/// # Errors
///
/// The sink's.
pub fn write_ftrace(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# tracer: nop\n#")?;
    writeln!(out, "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION")?;
    writeln!(out, "#              | |         |   |||||     |         |")?;
    let name = recording.governor.as_deref().unwrap_or("governor");
    let governor = name.split_once('@').map_or(name, |(name, _)| name);
    let tick = recording.tick_rate.map_or(NANOSECONDS_PER_SECOND, |rate| rate.tick().get());
    let mut lines = Vec::new();
    for cpu in &recording.cpus {
        let mut writer = Lines { cpu: cpu.cpu.0, governor, tick, lines: &mut lines };
        writer.cpu(cpu);
    }
    // Lines of one CPU and time stay as they are.
    lines.sort_by_key(|line| line.0);
    lines.iter().try_for_each(|(_, line)| out.write_all(line.as_bytes()))
}

/// The lines of one CPU.
struct Lines<'a> {
    cpu: u32,
    governor: &'a str,
    tick: i64,
    lines: &'a mut Vec<(i64, String)>,
}

/// What was last said to be pending.
#[derive(Default)]
struct Pending {
    hrtimer: Option<Nanoseconds>,
    wheel_timer: Option<Nanoseconds>,
}

impl Lines<'_> {
    fn line(&mut self, time: Nanoseconds, task: &str, event: &str) {
        let time = time.get();
        let (seconds, fraction) = (time / NANOSECONDS_PER_SECOND, time % NANOSECONDS_PER_SECOND);
        let cpu = self.cpu;
        let line = format!("{task:>16}       [{cpu:03}] d..2. {seconds}.{fraction:09}: {event}\n");
        self.lines.push((time, line));
    }

    fn idle(&mut self, time: Nanoseconds, event: &str) {
        self.line(time, "<idle>-0", event);
    }

    fn cpu(&mut self, recording: &CpuRecording) {
        let mut decisions = recording.decisions.iter().peekable();
        let mut pending = Pending::default();
        let mut before: Option<Period> = None;
        for period in recording.periods.iter() {
            let mut decision = None;
            while let Some(next) = decisions.next_if(|next| next.time <= period.enter) {
                decision = Some(next);
            }
            let follows = before.is_some_and(|before| before.followed_by == WhatFollowed::Idle);
            self.period(&period, decision, follows, &mut pending);
            before = Some(period);
        }
    }

    fn period(
        &mut self,
        period: &Period,
        decision: Option<&Decision>,
        follows: bool,
        pending: &mut Pending,
    ) {
        let (cpu, governor) = (self.cpu, self.governor);
        let start = period.idle_start.unwrap_or(period.enter);
        self.timers(start, period, pending);
        if follows {
            self.idle(start, "softirq_exit: vec=1 [action=TIMER]");
        } else {
            self.line(
                start,
                "task-100",
                &format!(
                    "sched_switch: prev_comm=task prev_pid=100 prev_prio=120 prev_state=S ==> \
                     next_comm=swapper/{cpu} next_pid=0 next_prio=120"
                ),
            );
        }
        if let Some(decision) = decision {
            self.selection(start, decision);
        }
        let was_running = decision.is_some_and(|decision| decision.tick == Some(Tick::Running));
        if was_running && period.tick == Some(Tick::Stopped) {
            self.idle(start, "tick_stop: success=1 dependency=NONE");
        }
        self.idle(period.enter, &format!("cpu_idle: state={} cpu_id={cpu}", period.state));
        self.idle(period.exit, &format!("cpu_idle: state=4294967295 cpu_id={cpu}"));
        let state = period.state;
        match period.miss {
            Some(Miss::Above) => self.idle(
                period.exit,
                &format!("cpu_idle_miss: cpu_id={cpu} state={state} type=above"),
            ),
            Some(Miss::Below) => self.idle(
                period.exit,
                &format!("cpu_idle_miss: cpu_id={cpu} state={state} type=below"),
            ),
            None => {}
        }
        self.causes(period, pending);
        if let Some(reflection) = decision.and_then(|decision| decision.reflection) {
            let (entered, residency) = (reflection.entered, reflection.residency);
            let bits = if reflection.poll_time_limit { 7 } else { 3 };
            self.idle(
                period.exit,
                &format!(
                    "refl: ({governor}_reflect+0x0/0x50) state={entered} res={residency} \
                     bits={bits}"
                ),
            );
            if let Some(got) = reflection.got_tick {
                self.idle(
                    period.exit,
                    &format!(
                        "got: ({governor}_reflect+0x40/0x58 <- tick_nohz_idle_got_tick) ret={}",
                        u8::from(got)
                    ),
                );
            }
        }
        if period.followed_by == WhatFollowed::Task {
            self.idle(
                period.exit,
                &format!(
                    "sched_switch: prev_comm=swapper/{cpu} prev_pid=0 prev_prio=120 prev_state=R \
                     ==> next_comm=task next_pid=100 next_prio=120"
                ),
            );
        }
    }

    /// Starts and cancels timers, so that those are pending that the period knows.
    fn timers(&mut self, start: Nanoseconds, period: &Period, pending: &mut Pending) {
        let cpu = self.cpu;
        let some = |time: Option<Nanoseconds>| time.filter(|&time| time != Nanoseconds::MAX);
        let wheel_timer = some(period.next_wheel_timer);
        let hrtimer = some(period.next_timer).filter(|&next| Some(next) != wheel_timer);
        if hrtimer != pending.hrtimer {
            if pending.hrtimer.is_some() {
                self.line(start, "task-100", &format!("hrtimer_cancel: hrtimer=a{cpu:07x}"));
            }
            if let Some(expires) = hrtimer {
                self.line(
                    start,
                    "task-100",
                    &format!(
                        "hrtimer_start: hrtimer=a{cpu:07x} function=hrtimer_wakeup \
                         expires={expires} softexpires={expires} mode=ABS"
                    ),
                );
            }
            pending.hrtimer = hrtimer;
        }
        if wheel_timer != pending.wheel_timer {
            if pending.wheel_timer.is_some() {
                self.line(start, "task-100", &format!("timer_cancel: timer=b{cpu:07x}"));
            }
            if let Some(due) = wheel_timer {
                let (due, now) = (due.get() / self.tick, start.get() / self.tick);
                let timeout = due - now;
                self.line(
                    start,
                    "task-100",
                    &format!(
                        "timer_start: timer=b{cpu:07x} function=process_timeout expires={due} \
                         [timeout={timeout}] cpu={cpu} idx=0 flags="
                    ),
                );
            }
            pending.wheel_timer = wheel_timer;
        }
    }

    /// What a governor was asked, told, and answered.
    fn selection(&mut self, time: Nanoseconds, decision: &Decision) {
        let governor = self.governor;
        let of = |function: &str| format!("({governor}_select+0x48/0x590 <- {function})");
        self.idle(time, &format!("sel: ({governor}_select+0x0/0x590)"));
        if let Some(limit) = decision.latency_limit {
            self.idle(time, &format!("lat: {} ret={limit}", of("cpuidle_governor_latency_req")));
        }
        if let Some((sleep, delta_tick)) = decision.sleep_length {
            let caller = of("tick_nohz_get_sleep_length");
            self.idle(time, &format!("sl: {caller} ret={sleep} tick={delta_tick}"));
        }
        if let Some(tick) = decision.tick {
            let stopped = u8::from(tick == Tick::Stopped);
            let caller = of("tick_nohz_tick_stopped");
            self.idle(time, &format!("stopped: {caller} ret={stopped}"));
        }
        let (state, stop) = (decision.state, u8::from(decision.stop_tick));
        self.idle(
            time,
            &format!(
                "selr: (cpuidle_select+0x20/0x28 <- {governor}_select) ret={state} stop={stop}"
            ),
        );
    }

    fn causes(&mut self, period: &Period, pending: &mut Pending) {
        let (cpu, exit, causes) = (self.cpu, period.exit, period.causes);
        if causes.contains(WakeCauses::HRTIMER) {
            self.idle(
                exit,
                &format!(
                    "hrtimer_expire_entry: hrtimer=a{cpu:07x} function=hrtimer_wakeup now={exit}"
                ),
            );
            pending.hrtimer = None;
        }
        if causes.contains(WakeCauses::TICK) {
            self.idle(
                exit,
                &format!(
                    "hrtimer_expire_entry: hrtimer=c{cpu:07x} function=tick_nohz_handler now={exit}"
                ),
            );
            let next = (exit.get() / self.tick + 1) * self.tick;
            self.idle(
                exit,
                &format!(
                    "hrtimer_start: hrtimer=c{cpu:07x} function=tick_nohz_handler expires={next} \
                     softexpires={next} mode=ABS|PINNED|HARD"
                ),
            );
        }
        if causes.contains(WakeCauses::WHEEL_TIMER) {
            let jiffy = exit.get() / self.tick;
            self.idle(
                exit,
                &format!(
                    "timer_expire_entry: timer=b{cpu:07x} function=process_timeout now={jiffy} \
                     baseclk={jiffy}"
                ),
            );
            pending.wheel_timer = None;
        }
        if causes.contains(WakeCauses::INTERRUPT) {
            self.idle(exit, "irq_handler_entry: irq=30 name=device");
        }
        if causes.contains(WakeCauses::IPI) {
            self.idle(exit, "ipi_entry: (Rescheduling interrupts)");
        }
    }
}
