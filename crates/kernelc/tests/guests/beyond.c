/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses a state that there is not. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int beyond_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return drv->state_count;
}

static struct cpuidle_governor beyond_governor = {
	.name = "beyond",
	.select = beyond_select,
};

static int __init beyond_init(void)
{
	return cpuidle_register_governor(&beyond_governor);
}

postcore_initcall(beyond_init);
