/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuidle: the driver's states, the CPU's device, and the governor. */
#ifndef IDLELAB_CPUIDLE_H
#define IDLELAB_CPUIDLE_H

#define CPUIDLE_STATE_MAX 10
#define CPUIDLE_NAME_LEN 16
#define CPUIDLE_DESC_LEN 32
/* Up to 4.16; no driver that idlelab knows hides its polling state from governors. */
#define CPUIDLE_DRIVER_STATE_START 1

#define CPUIDLE_STATE_DISABLED_BY_USER BIT(0)
#define CPUIDLE_STATE_DISABLED_BY_DRIVER BIT(1)

#define CPUIDLE_FLAG_NONE 0x00
#define CPUIDLE_FLAG_POLLING BIT(0)
#define CPUIDLE_FLAG_COUPLED BIT(1)
#define CPUIDLE_FLAG_TIMER_STOP BIT(2)
#define CPUIDLE_FLAG_UNUSABLE BIT(3)
#define CPUIDLE_FLAG_OFF BIT(4)
#define CPUIDLE_FLAG_TLB_FLUSHED BIT(5)
#define CPUIDLE_FLAG_RCU_IDLE BIT(6)

struct cpuidle_state {
	char name[CPUIDLE_NAME_LEN];
	char desc[CPUIDLE_DESC_LEN];
	IDLELAB_STATE_TIME exit_latency_ns;	/* src/era.rs */
	IDLELAB_STATE_TIME target_residency_ns;
	unsigned int flags;
	unsigned int exit_latency;	/* us */
	int power_usage;		/* mW, never known */
	unsigned int target_residency;	/* us */
	bool disabled;			/* by the driver; up to 5.10 */
};

/* src/abi.rs has the same layout of this one and the next. */
struct cpuidle_state_usage {
	unsigned long long disable;
	unsigned long long usage;
	u64 time_ns;
	unsigned long long above;
	unsigned long long below;
	unsigned long long rejected;
};

/*
 * The two times that are copied to and fro in each call are not neighbours: copied as one, a CPU
 * that has just written half of it has to wait.
 */
struct cpuidle_device {
	u64 last_residency_ns;
	int last_state_idx;
	unsigned int cpu;
	u64 poll_limit_ns;
	bool poll_time_limit;
	bool registered;
	bool enabled;
	u64 forced_idle_latency_limit_ns;
	ktime_t next_hrtimer;
	struct cpuidle_state_usage states_usage[CPUIDLE_STATE_MAX];
};

struct cpuidle_driver {
	const char *name;
	struct module *owner;
	bool bctimer;
	struct cpuidle_state states[CPUIDLE_STATE_MAX];
	int state_count;
	int safe_state_index;
	struct cpumask *cpumask;
	const char *governor;
};

struct cpuidle_governor {
	char name[CPUIDLE_NAME_LEN];
	struct list_head governor_list;
	unsigned int rating;
	int (*enable)(struct cpuidle_driver *drv, struct cpuidle_device *dev);
	void (*disable)(struct cpuidle_driver *drv, struct cpuidle_device *dev);
	int (*select)(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick);
	void (*reflect)(struct cpuidle_device *dev, int index);
	struct module *owner;		/* up to 4.16 */
};

int cpuidle_register_governor(struct cpuidle_governor *governor);
#define cpuidle_governor_latency_req(cpu) ({ IDLELAB_OWN(cpu); IDLELAB_ASK(latency_limit); })

#define trace_guest_halt_poll_ns_grow(new, old) ((void)(new), (void)(old))
#define trace_guest_halt_poll_ns_shrink(new, old) ((void)(new), (void)(old))

#endif
