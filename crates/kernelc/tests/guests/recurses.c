/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls itself until the stack is used up. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static noinline int deeper(volatile int *depth)
{
	volatile int room[64] = { *depth + 1 };

	return deeper(room) + room[0];
}

static int recurses_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	volatile int depth = 0;

	return deeper(&depth);
}

static struct cpuidle_governor recurses_governor = {
	.name = "recurses",
	.select = recurses_select,
};

static int __init recurses_init(void)
{
	return cpuidle_register_governor(&recurses_governor);
}

postcore_initcall(recurses_init);
