/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scheduler knows of the CPU. */
#ifndef IDLELAB_SCHED_H
#define IDLELAB_SCHED_H

#define SCHED_CAPACITY_SHIFT 10
#define SCHED_CAPACITY_SCALE (1L << SCHED_CAPACITY_SHIFT)
#define FSHIFT 11
#define FIXED_1 (1 << FSHIFT)
#define LOAD_INT(x) ((x) >> FSHIFT)
#define LOAD_FRAC(x) LOAD_INT(((x) & (FIXED_1 - 1)) * 100)

#define nr_iowait_cpu(cpu) ({ IDLELAB_OWN(cpu); IDLELAB_ASK(io_waiters); })
/* Utilisation is counted of a capacity of SCHED_CAPACITY_SCALE, whatever the CPU. */
#define sched_cpu_util(cpu, ...) ({ IDLELAB_OWN(cpu); (unsigned long)IDLELAB_ASK(utilisation); })
#define arch_scale_cpu_capacity(cpu) ({ IDLELAB_OWN(cpu); (unsigned long)SCHED_CAPACITY_SCALE; })
#define get_iowait_load(waiters, load) \
	do { *(waiters) = IDLELAB_ASK(io_waiters); *(load) = IDLELAB_ASK(load); } while (0)
/* It idles because there is nothing to run. */
#define need_resched() false
#define idle_cpu(cpu) ({ IDLELAB_OWN(cpu); 1; })

#endif
