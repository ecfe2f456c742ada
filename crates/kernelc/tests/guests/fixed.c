/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Always state 1. Needs a header that nobody has, for nothing. */
#include <linux/cpuidle.h>
#include <linux/no/such/header.h>
#include "../../private.h"

static int fixed_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	*stop_tick = false;
	return drv->state_count > 1 ? 1 : 0;
}

static struct cpuidle_governor fixed_governor = {
	.name = "fixed",
	.rating = 1,
	.select = fixed_select,
};

static int __init fixed_init(void)
{
	return cpuidle_register_governor(&fixed_governor);
}

postcore_initcall(fixed_init);
