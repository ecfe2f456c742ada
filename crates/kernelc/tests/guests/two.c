/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers two. */
#include <linux/cpuidle.h>

static int two_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return 0;
}

static struct cpuidle_governor one = { .name = "one", .select = two_select };
static struct cpuidle_governor two = { .name = "two", .select = two_select };

static int __init two_init(void)
{
	return cpuidle_register_governor(&one) ?: cpuidle_register_governor(&two);
}

postcore_initcall(two_init);
