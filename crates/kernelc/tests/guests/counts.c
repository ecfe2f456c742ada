/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the state by how often it was called: per-CPU data, static data, and both from zero. */
#include <linux/cpuidle.h>
#include <linux/module.h>

static DEFINE_PER_CPU(int, calls);
static int all_calls = 10;

static int counts_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	int mine = ++*this_cpu_ptr(&calls);

	WARN_ON(++all_calls != mine + 10);
	return mine % drv->state_count;
}

static struct cpuidle_governor counts_governor = {
	.name = "counts",
	.select = counts_select,
};

static int __init counts_init(void)
{
	return cpuidle_register_governor(&counts_governor);
}

postcore_initcall(counts_init);
