/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to idlelab, which stands for the kernel. src/abi.rs has the same layout. */
#ifndef IDLELAB_ASK_H
#define IDLELAB_ASK_H

/* What the governor may ask. The first argument is `kernel` of struct idlelab_asking. */
struct idlelab_calls {
	s64 (*sleep_length)(void *kernel, s64 *delta_tick);
	s64 (*latency_limit)(void *kernel);
	bool (*tick_stopped)(void *kernel);
	bool (*take_got_tick)(void *kernel);
	u64 (*clock)(void *kernel);
	u32 (*io_waiters)(void *kernel);
	u32 (*utilisation)(void *kernel);
	u32 (*load)(void *kernel);
	void (*say)(void *program, const char *text);
};

struct idlelab_asking {
	const struct idlelab_calls *calls;
	void *kernel;
	/* Set while idlelab's own code runs: leave as soon as it is done. */
	volatile u8 expired;
};

extern struct idlelab_asking idlelab_asking;
_Noreturn void idlelab_expired(void) __attribute__((cold));

#define IDLELAB_ASK(call, ...) ({ \
	__auto_type idlelab_answer = \
		idlelab_asking.calls->call(idlelab_asking.kernel, ##__VA_ARGS__); \
	if (unlikely(idlelab_asking.expired)) \
		idlelab_expired(); \
	idlelab_answer; \
})

#endif
