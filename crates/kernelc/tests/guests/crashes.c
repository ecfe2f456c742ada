/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes to address 0 from its third call on. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int calls;

static int crashes_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	if (++calls == 3)
		*(volatile int *)0 = 1;
	return 1;
}

static struct cpuidle_governor crashes_governor = {
	.name = "crashes",
	.select = crashes_select,
};

static int __init crashes_init(void)
{
	return cpuidle_register_governor(&crashes_governor);
}

postcore_initcall(crashes_init);
