/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies more than there is. */
#include <linux/cpuidle.h>

static char from[16], to[16];

static int copies_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	memcpy(to, from, drv->state_count * 100000000UL);
	return to[3];
}

static struct cpuidle_governor copies_governor = {
	.name = "copies",
	.select = copies_select,
};

static int __init copies_init(void)
{
	return cpuidle_register_governor(&copies_governor);
}

postcore_initcall(copies_init);
