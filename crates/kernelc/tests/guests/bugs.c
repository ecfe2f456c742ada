/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Complains, then stops itself. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int bugs_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	WARN_ON(drv->state_count == 3);
	BUG_ON(drv->state_count == 3);
	return 0;
}

static struct cpuidle_governor bugs_governor = {
	.name = "bugs",
	.select = bugs_select,
};

static int __init bugs_init(void)
{
	return cpuidle_register_governor(&bugs_governor);
}

postcore_initcall(bugs_init);
