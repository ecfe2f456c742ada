/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses 1 if the last state is valid, else 2, and voids it. */
#include <linux/cpuidle.h>

static int voids_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	int state = dev->last_state_idx >= 0 ? 1 : 2;

	dev->last_state_idx = -1;
	return state;
}

static void voids_reflect(struct cpuidle_device *dev, int index)
{
	dev->last_state_idx = index;
}

static struct cpuidle_governor voids_governor = {
	.name = "voids",
	.select = voids_select,
	.reflect = voids_reflect,
};

static int __init voids_init(void)
{
	return cpuidle_register_governor(&voids_governor);
}

postcore_initcall(voids_init);
