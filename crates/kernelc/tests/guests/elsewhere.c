/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at data of another CPU. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static DEFINE_PER_CPU(int, calls);

static int elsewhere_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	return per_cpu(calls, dev->cpu + 1);
}

static struct cpuidle_governor elsewhere_governor = {
	.name = "elsewhere",
	.select = elsewhere_select,
};

static int __init elsewhere_init(void)
{
	return cpuidle_register_governor(&elsewhere_governor);
}

postcore_initcall(elsewhere_init);
