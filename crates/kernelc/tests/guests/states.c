/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks all that it is told, and stops at what is wrong. */
#include <linux/cpuidle.h>
#include <linux/tick.h>
#include <linux/sched/clock.h>

static ktime_t delta;

static int states_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	BUG_ON(!*stop_tick);
	BUG_ON(drv->state_count != 3);
	BUG_ON(!(drv->states[0].flags & CPUIDLE_FLAG_POLLING));
	BUG_ON(drv->states[2].flags != 0);
	BUG_ON(drv->states[2].exit_latency_ns != 133000);
	BUG_ON(drv->states[2].exit_latency != 133);
	BUG_ON(drv->states[2].target_residency_ns != 600000);
	BUG_ON(drv->states[2].target_residency != 600);
	BUG_ON(strcmp(drv->states[2].name, "C6"));
	BUG_ON(dev->states_usage[1].disable != CPUIDLE_STATE_DISABLED_BY_USER);
	BUG_ON(dev->states_usage[2].disable);
	BUG_ON(dev->cpu != 5 || smp_processor_id() != 5);
	BUG_ON(HZ != 250 || TICK_NSEC != 4000000);
	BUG_ON(cpuidle_governor_latency_req(dev->cpu) != 150000);
	BUG_ON(tick_nohz_get_sleep_length(&delta) != -7);
	BUG_ON(delta != 1234567890123LL);
	BUG_ON(!tick_nohz_tick_stopped());
	BUG_ON(nr_iowait_cpu(dev->cpu) != 3);
	BUG_ON(sched_cpu_util(dev->cpu) != 611);
	BUG_ON((char)-1 < 0);
	dev->last_state_idx = -1;
	return 2;
}

static void states_reflect(struct cpuidle_device *dev, int index)
{
	BUG_ON(index != 2);
	BUG_ON(dev->last_state_idx != -1);
	BUG_ON(dev->last_residency_ns != 41000);
	BUG_ON(local_clock() != 77);
	BUG_ON(!tick_nohz_idle_got_tick());
	BUG_ON(tick_nohz_idle_got_tick());
	dev->last_state_idx = index;
	dev->poll_limit_ns = 999;
}

static struct cpuidle_governor states_governor = {
	.name = "states",
	.select = states_select,
	.reflect = states_reflect,
};

static int __init states_init(void)
{
	return cpuidle_register_governor(&states_governor);
}

postcore_initcall(states_init);
