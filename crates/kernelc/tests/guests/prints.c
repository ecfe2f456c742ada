/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has a string printed that is nowhere. */
#include <linux/cpuidle.h>

static const char *volatile wild = (const char *)8;

static int prints_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	pr_warn("%s\n", wild);
	return 0;
}

static struct cpuidle_governor prints_governor = {
	.name = "prints",
	.select = prints_select,
};

static int __init prints_init(void)
{
	return cpuidle_register_governor(&prints_governor);
}

postcore_initcall(prints_init);
