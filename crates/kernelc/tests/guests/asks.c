/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Never comes back, and asks the kernel all the time. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int asks_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	while (!tick_nohz_tick_stopped())
		;
	return 0;
}

static struct cpuidle_governor asks_governor = {
	.name = "asks",
	.select = asks_select,
};

static int __init asks_init(void)
{
	return cpuidle_register_governor(&asks_governor);
}

postcore_initcall(asks_init);
