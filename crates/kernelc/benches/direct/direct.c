/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A governor's C called by C, with answers laid down in advance: what speed.rs measures against. */
#include "idlelab.h"

struct step {
	s64 sleep, delta_tick, latency, residency, span;
	u32 io_waiters, utilisation;
	u8 tick_stopped, got_tick, poll_limit, rejected;
};

struct state { s64 exit_latency, target_residency; u32 flags; };

static struct cpuidle_driver driver;
static struct cpuidle_device device;
static struct cpuidle_governor *governor;
static const struct step *now;
static bool got_tick;
static u64 clock;
unsigned int idlelab_cpu;

int cpuidle_register_governor(struct cpuidle_governor *registered)
{
	governor = registered;
	return 0;
}
/* As in a kernel, functions of another file; no pointer, no check in between. */
s64 direct_latency_limit(void) { return now->latency; }
s64 direct_sleep_length(s64 *delta) { *delta = now->delta_tick; return now->sleep; }
bool direct_tick_stopped(void) { return now->tick_stopped; }
bool direct_take_got_tick(void) { bool got = got_tick; got_tick = false; return got; }
u64 direct_clock(void) { return clock; }
u32 direct_io_waiters(void) { return now->io_waiters; }
u32 direct_utilisation(void) { return now->utilisation; }
u32 direct_load(void) { return 0; }
void idlelab_say(const char *format, ...) { (void)format; }
_Noreturn void idlelab_bug(const char *file, int line, const char *what) { __builtin_trap(); }
_Noreturn void idlelab_other_cpu(const char *file, int line, long cpu) { __builtin_trap(); }

extern const idlelab_initcall __start_idlelab_initcalls[] __attribute__((visibility("hidden")));
extern const idlelab_initcall __stop_idlelab_initcalls[] __attribute__((visibility("hidden")));

/* Runs all steps; gives a digest of the choices. */
__attribute__((visibility("default")))
u64 direct(const struct state *states, u32 count, const struct step *steps, u64 length)
{
	u64 digest = 0;

	memset(&device, 0, sizeof device);
	got_tick = false;
	clock = 0;
	if (!governor)
		for (const idlelab_initcall *call = __start_idlelab_initcalls;
		     call < __stop_idlelab_initcalls; call++)
			(*call)();
	driver.state_count = (int)count;
	for (u32 i = 0; i < count; i++) {
		driver.states[i].exit_latency_ns = states[i].exit_latency;
		driver.states[i].target_residency_ns = states[i].target_residency;
		driver.states[i].flags = states[i].flags;
	}
	if (governor->enable)
		governor->enable(&driver, &device);
	for (u64 i = 0; i < length; i++) {
		bool stop_tick = true;
		int state;

		now = &steps[i];
		state = governor->select(&driver, &device, &stop_tick);
		digest = digest * 31 + (u64)state * 2 + stop_tick;
		clock += (u64)now->span;
		if (now->rejected) {
			device.last_residency_ns = 0;
			continue;
		}
		device.last_residency_ns = (u64)now->residency;
		got_tick = now->got_tick;
		if (driver.states[state].flags & CPUIDLE_FLAG_POLLING)
			device.poll_time_limit = now->poll_limit;
		if (governor->reflect)
			governor->reflect(&device, state);
	}
	return digest;
}
