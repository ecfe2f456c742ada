/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Since 5.13: every residency is above -1. */
#include <linux/cpuidle.h>
#include <linux/tick.h>

static int signed_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	ktime_t delta_tick;

	tick_nohz_get_sleep_length(&delta_tick);
	return drv->states[1].target_residency_ns > delta_tick ? 1 : 2;
}

static struct cpuidle_governor signed_governor = {
	.name = "signed",
	.select = signed_select,
};

static int __init signed_init(void)
{
	return cpuidle_register_governor(&signed_governor);
}

postcore_initcall(signed_init);
