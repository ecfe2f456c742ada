/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Never comes back. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static int loops_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	while (!READ_ONCE(*stop_tick) || READ_ONCE(dev->cpu) < 1000)
		;
	return 0;
}

static struct cpuidle_governor loops_governor = {
	.name = "loops",
	.select = loops_select,
};

static int __init loops_init(void)
{
	return cpuidle_register_governor(&loops_governor);
}

postcore_initcall(loops_init);
