/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides by a residency of zero. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int divides_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return (int)(100 / dev->last_residency_ns);
}

static struct cpuidle_governor divides_governor = {
	.name = "divides",
	.select = divides_select,
};

static int __init divides_init(void)
{
	return cpuidle_register_governor(&divides_governor);
}

postcore_initcall(divides_init);
