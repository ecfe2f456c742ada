/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What idlelab and the loaded object share. src/abi.rs has the same layout. */
#ifndef IDLELAB_GUEST_H
#define IDLELAB_GUEST_H

struct idlelab_state {
	s64 exit_latency_ns;
	s64 target_residency_ns;
	u32 flags;
	u32 disable;
	char name[CPUIDLE_NAME_LEN];
};

/* Why a call was left before its end. */
enum idlelab_left {
	IDLELAB_RETURNED = 0,
	IDLELAB_SIGNAL = 1,
	IDLELAB_ENDLESS = 2,
	IDLELAB_BUG = 3,
	IDLELAB_OTHER_CPU = 4,
	IDLELAB_NO_KERNEL = 5,
};

struct idlelab_guest {
	const struct idlelab_calls *calls;
	void *program;
	struct cpuidle_device device;
	/* Counts calls, so that two looks can tell one endless call from many short ones. */
	volatile u64 call;
	/* Set while libc formats what the governor gave it. */
	volatile u8 formatting;
	bool stop_tick;
	s32 left;
	/* Of what left: the signal's number, or the CPU that was asked for. */
	s64 detail;
	const char *file;
	s32 line;
	const char *what;
};

struct idlelab_entry {
	u64 layout;
	struct idlelab_guest *guest;
	struct idlelab_asking *asking;
	void (*leave)(s32 left, s64 detail);
	/* Each gives IDLELAB_LEFT if it was left; `left` tells why. */
	s32 (*initialise)(u32 cpu);
	const char *(*name)(u32 number);
	s32 (*enable)(const struct idlelab_state *states, u32 count);
	s32 (*select)(void);
	s32 (*reflect)(s32 entered);
};

#define IDLELAB_LEFT ((s32)0x80000000)

#endif
