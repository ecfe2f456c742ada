/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does not compile. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int wrong_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return dev->no_such_member;
}

static struct cpuidle_governor wrong_governor = {
	.name = "wrong",
	.select = wrong_select,
};

static int __init wrong_init(void)
{
	return cpuidle_register_governor(&wrong_governor);
}

postcore_initcall(wrong_init);
