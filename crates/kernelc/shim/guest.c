/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side of idlelab in the loaded object: it keeps what the governor registers, calls it, and
 * gets out of a call that crashed or does not end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "idlelab.h"
#include "guest.h"

static struct idlelab_guest guest;
static struct cpuidle_driver driver = { .name = "idlelab", .bctimer = false };
static struct cpuidle_governor *governors[4];
static u32 registered;
static bool enabled;
static jmp_buf way_out;

unsigned int idlelab_cpu;

/*
 * Begins a call of the governor's code. A jump goes past frames of C only: while idlelab's own
 * code runs, `inside` is 0 and nobody jumps.
 */
#define GUARDED \
	guest.call++; \
	if (_setjmp(way_out)) \
		return IDLELAB_LEFT; \
	barrier(); \
	guest.inside = 1; \
	barrier()

#define GUARDED_END \
	do { barrier(); guest.inside = 0; barrier(); } while (0)

static _Noreturn void leave(s32 left, s64 detail)
{
	guest.inside = 0;
	guest.expired = 0;
	guest.left = left;
	guest.detail = detail;
	_longjmp(way_out, 1);
}

_Noreturn void idlelab_bug(const char *file, int line, const char *what)
{
	guest.file = file;
	guest.line = line;
	guest.what = what;
	leave(IDLELAB_BUG, 0);
}

_Noreturn void idlelab_other_cpu(const char *file, int line, long cpu)
{
	guest.file = file;
	guest.line = line;
	leave(IDLELAB_OTHER_CPU, cpu);
}

/* Asks idlelab. Without a kernel, as in initcalls and in enable, there is nobody to answer. */
#define ASK(call, ...) ({ \
	if (unlikely(!guest.kernel)) { \
		guest.what = #call; \
		leave(IDLELAB_NO_KERNEL, 0); \
	} \
	barrier(); \
	guest.inside = 0; \
	barrier(); \
	__auto_type idlelab_answer = guest.calls->call(guest.kernel, ##__VA_ARGS__); \
	barrier(); \
	guest.inside = 1; \
	barrier(); \
	if (unlikely(guest.expired)) \
		leave(IDLELAB_ENDLESS, 0); \
	idlelab_answer; \
})

ktime_t tick_nohz_get_sleep_length(ktime_t *delta_next) { return ASK(sleep_length, delta_next); }
bool tick_nohz_tick_stopped(void) { return ASK(tick_stopped); }
bool tick_nohz_idle_got_tick(void) { return ASK(take_got_tick); }
s64 idlelab_latency_limit(void) { return ASK(latency_limit); }
unsigned int idlelab_io_waiters(void) { return ASK(io_waiters); }
unsigned long idlelab_utilisation(void) { return ASK(utilisation); }
unsigned long idlelab_load(void) { return ASK(load); }

/* Whoever only notes when it was enabled may: time begins there. */
u64 local_clock(void) { return guest.kernel ? ASK(clock) : 0; }

void idlelab_say(const char *format, ...)
{
	char text[512];
	va_list arguments;
	u8 inside = guest.inside;

	guest.inside = 0;
	barrier();
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	guest.calls->say(guest.program, text);
	barrier();
	guest.inside = inside;
	if (unlikely(guest.expired))
		leave(IDLELAB_ENDLESS, 0);
}

int cpuidle_register_governor(struct cpuidle_governor *governor)
{
	if (!governor || !governor->select || registered == ARRAY_SIZE(governors))
		return -EINVAL;
	governors[registered++] = governor;
	return 0;
}

extern const idlelab_initcall __start_idlelab_initcalls[] __attribute__((weak, visibility("hidden")));
extern const idlelab_initcall __stop_idlelab_initcalls[] __attribute__((weak, visibility("hidden")));

static s32 initialise(u32 cpu)
{
	guest.device.cpu = idlelab_cpu = cpu;
	GUARDED;
	for (const idlelab_initcall *call = __start_idlelab_initcalls;
	     call < __stop_idlelab_initcalls; call++)
		(*call)();
	GUARDED_END;
	return (s32)registered;
}

static const char *name(u32 number)
{
	return number < registered ? governors[number]->name : "";
}

static s32 enable(const struct idlelab_state *states, u32 count)
{
	struct cpuidle_governor *governor = governors[0];
	s32 result = 0;

	guest.kernel = NULL;
	GUARDED;
	if (enabled && governor->disable)
		governor->disable(&driver, &guest.device);
	driver.state_count = (int)count;
	for (u32 i = 0; i < count; i++) {
		struct cpuidle_state *state = &driver.states[i];

		memcpy(state->name, states[i].name, sizeof state->name);
		memcpy(state->desc, states[i].name, sizeof states[i].name);
		state->exit_latency_ns = states[i].exit_latency_ns;
		state->target_residency_ns = states[i].target_residency_ns;
		state->exit_latency = (unsigned int)(states[i].exit_latency_ns / NSEC_PER_USEC);
		state->target_residency =
			(unsigned int)(states[i].target_residency_ns / NSEC_PER_USEC);
		state->flags = states[i].flags;
		state->disabled = states[i].disable & CPUIDLE_STATE_DISABLED_BY_DRIVER;
		guest.device.states_usage[i].disable = states[i].disable;
	}
	guest.device.registered = guest.device.enabled = true;
	if (governor->enable)
		result = governor->enable(&driver, &guest.device);
	GUARDED_END;
	enabled = true;
	return result;
}

static s32 select_state(void)
{
	s32 state;

	GUARDED;
	guest.stop_tick = true;
	state = governors[0]->select(&driver, &guest.device, &guest.stop_tick);
	GUARDED_END;
	return state;
}

static s32 reflect(s32 entered)
{
	if (!governors[0]->reflect)
		return 0;
	GUARDED;
	governors[0]->reflect(&guest.device, entered);
	GUARDED_END;
	return 0;
}

__attribute__((visibility("default"))) const struct idlelab_entry idlelab_entry = {
	.layout = sizeof(struct idlelab_guest),
	.guest = &guest,
	.leave = leave,
	.initialise = initialise,
	.name = name,
	.enable = enable,
	.select = select_state,
	.reflect = reflect,
};
