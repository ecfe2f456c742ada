// SPDX-License-Identifier: GPL-2.0-or-later
//! The kinds of events, as a kernel describes them in `events/*/*/format`.

/// A field of a record.
pub(crate) struct Field {
    pub(crate) declaration: &'static str,
    /// In bytes; that of an array of text, or of where the text is.
    pub(crate) size: usize,
}

/// One value that is printed.
#[derive(Clone, Copy)]
pub(crate) enum Shown {
    Field(usize),
    /// The first field less the second.
    Difference(usize, usize),
}

/// One kind of event.
pub(crate) struct Kind {
    pub(crate) system: &'static str,
    pub(crate) name: &'static str,
    pub(crate) id: u16,
    pub(crate) fields: &'static [Field],
    /// How it is printed, by the conversions `%u %d %s %p %ps` alone.
    pub(crate) print: &'static str,
    pub(crate) shown: &'static [Shown],
}

const fn field(declaration: &'static str, size: usize) -> Field {
    Field { declaration, size }
}

const fn f(number: usize) -> Shown {
    Shown::Field(number)
}

macro_rules! kinds {
    ($($constant:ident = $id:literal $system:literal $name:literal
        [$($declaration:literal $size:literal),*] $print:literal [$($shown:expr),*];)*) => {
        $(pub(crate) const $constant: &Kind = &Kind {
            system: $system,
            name: $name,
            id: $id,
            fields: &[$(field($declaration, $size)),*],
            print: $print,
            shown: &[$($shown),*],
        };)*

        /// All kinds, those of one system in a row.
        pub(crate) const ALL: &[&Kind] = &[$($constant),*];
    };
}

kinds! {
    LOCAL_TIMER_ENTRY = 91 "irq_vectors" "local_timer_entry" ["int vector" 4] "vector=%d" [f(0)];
    LOCAL_TIMER_EXIT = 90 "irq_vectors" "local_timer_exit" ["int vector" 4] "vector=%d" [f(0)];
    RESCHEDULE_ENTRY = 81 "irq_vectors" "reschedule_entry" ["int vector" 4] "vector=%d" [f(0)];
    RESCHEDULE_EXIT = 80 "irq_vectors" "reschedule_exit" ["int vector" 4] "vector=%d" [f(0)];
    IRQ_ENTRY = 145 "irq" "irq_handler_entry" ["int irq" 4, "__data_loc char[] name" 4]
        "irq=%d name=%s" [f(0), f(1)];
    IRQ_EXIT = 144 "irq" "irq_handler_exit" ["int irq" 4, "int ret" 4]
        "irq=%d ret=%d" [f(0), f(1)];
    SOFTIRQ_RAISE = 141 "irq" "softirq_raise" ["unsigned int vec" 4] "vec=%u" [f(0)];
    SOFTIRQ_ENTRY = 143 "irq" "softirq_entry" ["unsigned int vec" 4] "vec=%u" [f(0)];
    SOFTIRQ_EXIT = 142 "irq" "softirq_exit" ["unsigned int vec" 4] "vec=%u" [f(0)];
    SWITCH = 319 "sched" "sched_switch"
        ["char prev_comm[16]" 16, "pid_t prev_pid" 4, "int prev_prio" 4, "long prev_state" 8,
         "char next_comm[16]" 16, "pid_t next_pid" 4, "int next_prio" 4]
        "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%d ==> next_comm=%s next_pid=%d next_prio=%d"
        [f(0), f(1), f(2), f(3), f(4), f(5), f(6)];
    WAKING = 322 "sched" "sched_waking"
        ["char comm[16]" 16, "pid_t pid" 4, "int prio" 4, "int target_cpu" 4]
        "comm=%s pid=%d prio=%d target_cpu=%d" [f(0), f(1), f(2), f(3)];
    WAKEUP = 321 "sched" "sched_wakeup"
        ["char comm[16]" 16, "pid_t pid" 4, "int prio" 4, "int target_cpu" 4]
        "comm=%s pid=%d prio=%d target_cpu=%d" [f(0), f(1), f(2), f(3)];
    TIMER_START = 431 "timer" "timer_start"
        ["void * timer" 8, "void * function" 8, "unsigned long expires" 8,
         "unsigned long now" 8, "unsigned int flags" 4]
        "timer=%p function=%ps expires=%u [timeout=%d] flags=%u"
        [f(0), f(1), f(2), Shown::Difference(2, 3), f(4)];
    TIMER_EXPIRE_ENTRY = 430 "timer" "timer_expire_entry"
        ["void * timer" 8, "void * function" 8, "unsigned long now" 8]
        "timer=%p function=%ps now=%u" [f(0), f(1), f(2)];
    TIMER_EXPIRE_EXIT = 429 "timer" "timer_expire_exit" ["void * timer" 8] "timer=%p" [f(0)];
    TIMER_CANCEL = 428 "timer" "timer_cancel" ["void * timer" 8] "timer=%p" [f(0)];
    HRTIMER_START = 425 "timer" "hrtimer_start"
        ["void * hrtimer" 8, "void * function" 8, "s64 expires" 8, "s64 softexpires" 8]
        "hrtimer=%p function=%ps expires=%u softexpires=%u" [f(0), f(1), f(2), f(3)];
    HRTIMER_EXPIRE_ENTRY = 424 "timer" "hrtimer_expire_entry"
        ["void * hrtimer" 8, "s64 now" 8, "void * function" 8]
        "hrtimer=%p now=%u function=%ps" [f(0), f(1), f(2)];
    HRTIMER_EXPIRE_EXIT = 423 "timer" "hrtimer_expire_exit" ["void * hrtimer" 8] "hrtimer=%p" [f(0)];
    HRTIMER_CANCEL = 422 "timer" "hrtimer_cancel" ["void * hrtimer" 8] "hrtimer=%p" [f(0)];
    TICK_STOP = 419 "timer" "tick_stop" ["int success" 4, "int dependency" 4]
        "success=%d dependency=%d" [f(0), f(1)];
    CPU_IDLE = 395 "power" "cpu_idle" ["u32 state" 4, "u32 cpu_id" 4]
        "state=%u cpu_id=%u" [f(0), f(1)];
}

/// Where a function is in the made-up kernel, and its name.
#[derive(Clone, Copy)]
pub(crate) struct Function(pub(crate) u64, pub(crate) &'static str);

pub(crate) const TICK: Function = Function(0xffff_ffff_8110_0000, "tick_nohz_handler");
pub(crate) const SLEEPER: Function = Function(0xffff_ffff_8110_4000, "hrtimer_wakeup");
pub(crate) const TIMEOUT: Function = Function(0xffff_ffff_8110_8000, "process_timeout");

pub(crate) const FUNCTIONS: [Function; 3] = [TICK, SLEEPER, TIMEOUT];
