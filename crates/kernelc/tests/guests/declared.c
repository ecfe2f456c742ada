/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls functions that it declares and nobody defines: libc's is out of reach, too. */
#include <linux/cpuidle.h>
#include <linux/module.h>

extern int frobnicate(int cpu);
extern void exit(int status);

static int declared_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	if (dev->cpu == 77)
		exit(0);
	return frobnicate(dev->cpu);
}

static struct cpuidle_governor declared_governor = {
	.name = "declared",
	.select = declared_select,
};

static int __init declared_init(void)
{
	return cpuidle_register_governor(&declared_governor);
}

postcore_initcall(declared_init);
