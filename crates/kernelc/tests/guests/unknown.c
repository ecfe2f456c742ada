/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls a function that no kernel has. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int unknown_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return frobnicate(dev->cpu);
}

static struct cpuidle_governor unknown_governor = {
	.name = "unknown",
	.select = unknown_select,
};

static int __init unknown_init(void)
{
	return cpuidle_register_governor(&unknown_governor);
}

postcore_initcall(unknown_init);
