/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By the name delta_next of kernels up to 5.12: every residency is below -1, which is unsigned. */
#include <linux/cpuidle.h>
#include <linux/tick.h>

static int unsigned_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	ktime_t delta_next;

	tick_nohz_get_sleep_length(&delta_next);
	return drv->states[1].target_residency_ns > delta_next ? 1 : 2;
}

static struct cpuidle_governor unsigned_governor = {
	.name = "unsigned",
	.select = unsigned_select,
};

static int __init unsigned_init(void)
{
	return cpuidle_register_governor(&unsigned_governor);
}

postcore_initcall(unsigned_init);
