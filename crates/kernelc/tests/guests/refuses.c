/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does not want to be enabled. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int refuses_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return 0;
}

static int refuses_enable(struct cpuidle_driver *drv, struct cpuidle_device *dev)
{
	return -EINVAL;
}

static struct cpuidle_governor refuses_governor = {
	.name = "refuses",
	.select = refuses_select,
	.enable = refuses_enable,
};

static int __init refuses_init(void)
{
	return cpuidle_register_governor(&refuses_governor);
}

postcore_initcall(refuses_init);
