/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls through a pointer that nobody has set. */
#include <linux/cpuidle.h>

static int (*volatile choose)(void);

static int nowhere_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return choose();
}

static struct cpuidle_governor nowhere_governor = {
	.name = "nowhere",
	.select = nowhere_select,
};

static int __init nowhere_init(void)
{
	return cpuidle_register_governor(&nowhere_governor);
}

postcore_initcall(nowhere_init);
