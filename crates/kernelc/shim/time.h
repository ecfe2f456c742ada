/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time, clocks and the tick. */
#ifndef IDLELAB_TIME_H
#define IDLELAB_TIME_H

typedef s64 ktime_t;

#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define USEC_PER_MSEC 1000L
#define USEC_PER_SEC 1000000L
#define MSEC_PER_SEC 1000L
#define KTIME_MAX S64_MAX
#define KTIME_MIN S64_MIN
#define KTIME_SEC_MAX (KTIME_MAX / NSEC_PER_SEC)

#define HZ IDLELAB_HZ
#define TICK_NSEC ((NSEC_PER_SEC + HZ / 2) / HZ)
#define TICK_USEC ((USEC_PER_SEC + HZ / 2) / HZ)
/* The governor may build its own with another tick. */
#define tick_nohz_enabled true
#define tick_nohz_active true

static inline ktime_t tick_nohz_get_sleep_length(ktime_t *delta_next)
{
	return IDLELAB_ASK(sleep_length, delta_next);
}
static inline bool tick_nohz_tick_stopped(void) { return IDLELAB_ASK(tick_stopped); }
static inline bool tick_nohz_idle_got_tick(void) { return IDLELAB_ASK(take_got_tick); }

/* There is one clock, that of the recording or of the simulation. */
static inline u64 local_clock(void) { return IDLELAB_ASK(clock); }
#define sched_clock() local_clock()
#define cpu_clock(cpu) ({ IDLELAB_OWN(cpu); local_clock(); })
#define sched_clock_cpu(cpu) cpu_clock(cpu)
#define ktime_get() ((ktime_t)local_clock())
#define ktime_get_ns() local_clock()
#define ktime_get_mono_fast_ns() local_clock()
#define jiffies ((unsigned long)(local_clock() / (u64)TICK_NSEC))
#define get_jiffies_64() (local_clock() / (u64)TICK_NSEC)
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)

static inline ktime_t ns_to_ktime(u64 ns) { return (ktime_t)ns; }
static inline ktime_t us_to_ktime(u64 us) { return (ktime_t)(us * NSEC_PER_USEC); }
static inline ktime_t ms_to_ktime(u64 ms) { return (ktime_t)(ms * NSEC_PER_MSEC); }
static inline s64 ktime_to_ns(ktime_t time) { return time; }
static inline s64 ktime_to_us(ktime_t time) { return time / NSEC_PER_USEC; }
static inline s64 ktime_to_ms(ktime_t time) { return time / NSEC_PER_MSEC; }
static inline s64 ktime_us_delta(ktime_t later, ktime_t earlier) { return ktime_to_us(later - earlier); }
static inline int ktime_compare(ktime_t a, ktime_t b) { return a < b ? -1 : a > b; }
static inline bool ktime_after(ktime_t a, ktime_t b) { return a > b; }
static inline bool ktime_before(ktime_t a, ktime_t b) { return a < b; }
#define ktime_set(seconds, ns) ((ktime_t)((seconds) * NSEC_PER_SEC + (ns)))
#define ktime_add(a, b) ((a) + (b))
#define ktime_sub(a, b) ((a) - (b))
#define ktime_add_ns(time, ns) ((time) + (ns))
#define ktime_sub_ns(time, ns) ((time) - (ns))
#define ktime_add_us(time, us) ((time) + (us) * NSEC_PER_USEC)

#endif
