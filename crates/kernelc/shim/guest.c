/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side of idlelab in the loaded object: it keeps what the governor registers, calls it, and
 * gets out of a call that crashed or does not end.
 */
#if defined(__clang__) && !defined(__x86_64__)
#include <setjmp.h>
#endif
#include <stdarg.h>
#include <stdio.h>

#include "idlelab.h"
#include "guest.h"

static struct idlelab_guest guest;
struct idlelab_asking idlelab_asking;
static struct cpuidle_driver driver = { .name = "idlelab", .bctimer = false };
static struct cpuidle_governor *governors[4];
static u32 registered;
static bool enabled;
unsigned int idlelab_cpu;

/*
 * Begins a call of the governor's code. The way out leads past frames of C only: idlelab's signal
 * handler takes it where it finds this object's own code interrupted, never its own.
 * The compiler's setjmp keeps three words, libc's all registers, which costs more than many a call.
 */
#if defined(__clang__) && !defined(__x86_64__)
static jmp_buf way_out;
#define WAY_OUT _setjmp(way_out)
#define TAKE_WAY_OUT() _longjmp(way_out, 1)
#else
static void *way_out[5];
#define WAY_OUT __builtin_setjmp(way_out)
#define TAKE_WAY_OUT() __builtin_longjmp(way_out, 1)
#endif
#define GUARDED \
	guest.call++; \
	if (WAY_OUT) \
		return IDLELAB_LEFT

static noinline _Noreturn void leave(s32 left, s64 detail)
{
	idlelab_asking.expired = 0;
	guest.formatting = 0;
	guest.left = left;
	guest.detail = detail;
	TAKE_WAY_OUT();
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

_Noreturn void idlelab_expired(void)
{
	leave(IDLELAB_ENDLESS, 0);
}

/* In initcalls and in enable there is no kernel: nobody can answer. */
static _Noreturn void unanswered(const char *question)
{
	guest.what = question;
	leave(IDLELAB_NO_KERNEL, 0);
}

static s64 no_sleep_length(void *kernel, s64 *delta) { unanswered("the sleep length"); }
static s64 no_latency_limit(void *kernel) { unanswered("the latency limit"); }
static bool no_tick_stopped(void *kernel) { unanswered("the state of the tick"); }
static bool no_got_tick(void *kernel) { unanswered("the last tick"); }
static u32 no_io_waiters(void *kernel) { unanswered("tasks waiting for IO"); }
static u32 no_utilisation(void *kernel) { unanswered("the CPU's utilisation"); }
static u32 no_load(void *kernel) { unanswered("the CPU's load"); }
/* Whoever only notes when it was enabled may: time begins there. */
static u64 no_clock(void *kernel) { return 0; }

static const struct idlelab_calls nobody = {
	.sleep_length = no_sleep_length,
	.latency_limit = no_latency_limit,
	.tick_stopped = no_tick_stopped,
	.take_got_tick = no_got_tick,
	.clock = no_clock,
	.io_waiters = no_io_waiters,
	.utilisation = no_utilisation,
	.load = no_load,
};

void idlelab_say(const char *format, ...)
{
	char text[512];
	va_list arguments;

	guest.formatting = 1;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	guest.formatting = 0;
	guest.calls->say(guest.program, text);
	if (unlikely(idlelab_asking.expired))
		leave(IDLELAB_ENDLESS, 0);
}

/*
 * What the governor, or the compiler in its name, calls of libc. Here, so that a crash in it is seen
 * to be the governor's. The barriers keep the compiler from making calls of these loops again.
 */
void *memset(void *to, int byte, size_t size)
{
	for (u8 *at = to, *end = at + size; at < end; at++) {
		*at = (u8)byte;
		barrier();
	}
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	u8 *target = to;
	const u8 *source = from;

	if (target <= source) {
		for (size_t i = 0; i < size; i++) {
			target[i] = source[i];
			barrier();
		}
	} else {
		while (size--) {
			target[size] = source[size];
			barrier();
		}
	}
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	return memmove(to, from, size);
}

int memcmp(const void *a, const void *b, size_t size)
{
	const u8 *left = a, *right = b;

	for (; size && *left == *right; left++, right++, size--)
		barrier();
	return size ? *left - *right : 0;
}

size_t strlen(const char *text)
{
	size_t length = 0;

	for (; text[length]; length++)
		barrier();
	return length;
}

int strncmp(const char *a, const char *b, size_t size)
{
	for (; size && *a && *a == *b; a++, b++, size--)
		barrier();
	return size ? (u8)*a - (u8)*b : 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

int idlelab_snprintf(char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	guest.formatting = 1;
	va_start(arguments, format);
	length = vsnprintf(to, size, format, arguments);
	va_end(arguments);
	guest.formatting = 0;
	return length;
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
	idlelab_asking.calls = &nobody;
	GUARDED;
	for (const idlelab_initcall *call = __start_idlelab_initcalls;
	     call < __stop_idlelab_initcalls; call++)
		(*call)();
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

	idlelab_asking.calls = &nobody;
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
	enabled = true;
	idlelab_asking.calls = guest.calls;
	return result;
}

static s32 select_state(void)
{
	s32 state;

	GUARDED;
	guest.stop_tick = true;
	state = governors[0]->select(&driver, &guest.device, &guest.stop_tick);
	return state;
}

static s32 reflect(s32 entered)
{
	if (!governors[0]->reflect)
		return 0;
	GUARDED;
	governors[0]->reflect(&guest.device, entered);
	return 0;
}

__attribute__((visibility("default"))) const struct idlelab_entry idlelab_entry = {
	.layout = sizeof(struct idlelab_guest),
	.guest = &guest,
	.asking = &idlelab_asking,
	.leave = leave,
	.initialise = initialise,
	.name = name,
	.enable = enable,
	.select = select_state,
	.reflect = reflect,
};
