/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-CPU data. idlelab loads the whole object once for each CPU, so that every variable of it is
 * that CPU's own, static ones too. What belongs to another CPU is not here, and is refused.
 */
#ifndef IDLELAB_PERCPU_H
#define IDLELAB_PERCPU_H

extern unsigned int idlelab_cpu;
_Noreturn void idlelab_other_cpu(const char *file, int line, long cpu) __attribute__((cold));

#define IDLELAB_OWN(cpu) do { \
	unsigned int idlelab_asked = (unsigned int)(cpu); \
	if (unlikely(idlelab_asked != idlelab_cpu)) \
		idlelab_other_cpu(__FILE__, __LINE__, (int)idlelab_asked); \
} while (0)

#define __percpu
#define DEFINE_PER_CPU(type, name) __typeof__(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name) DEFINE_PER_CPU(type, name) ____cacheline_aligned
#define DEFINE_PER_CPU_SHARED_ALIGNED(type, name) DEFINE_PER_CPU_ALIGNED(type, name)
#define DEFINE_PER_CPU_READ_MOSTLY(type, name) DEFINE_PER_CPU(type, name)
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define this_cpu_ptr(pointer) (pointer)
#define raw_cpu_ptr(pointer) (pointer)
#define per_cpu_ptr(pointer, cpu) ({ IDLELAB_OWN(cpu); (pointer); })
#define per_cpu(variable, cpu) (*({ IDLELAB_OWN(cpu); &(variable); }))
#define get_cpu_var(variable) (variable)
#define put_cpu_var(variable) ((void)(variable))
#define get_cpu_ptr(pointer) (pointer)
#define put_cpu_ptr(pointer) ((void)(pointer))
#define this_cpu_read(variable) (variable)
#define this_cpu_write(variable, value) ((void)((variable) = (value)))
#define this_cpu_add(variable, value) ((void)((variable) += (value)))
#define this_cpu_sub(variable, value) ((void)((variable) -= (value)))
#define this_cpu_inc(variable) this_cpu_add(variable, 1)
#define this_cpu_dec(variable) this_cpu_sub(variable, 1)
#define __this_cpu_read(variable) this_cpu_read(variable)
#define __this_cpu_write(variable, value) this_cpu_write(variable, value)
#define __this_cpu_add(variable, value) this_cpu_add(variable, value)
#define __this_cpu_inc(variable) this_cpu_inc(variable)

#define smp_processor_id() (idlelab_cpu)
#define raw_smp_processor_id() (idlelab_cpu)
#define get_cpu() (idlelab_cpu)
#define put_cpu() do { } while (0)
#define preempt_disable() do { } while (0)
#define preempt_enable() do { } while (0)
#define IDLELAB_FOR_OWN(cpu) for (int idlelab_once = ((cpu) = idlelab_cpu, 1); idlelab_once; idlelab_once = 0)
#define for_each_possible_cpu(cpu) IDLELAB_FOR_OWN(cpu)
#define for_each_present_cpu(cpu) IDLELAB_FOR_OWN(cpu)
#define for_each_online_cpu(cpu) IDLELAB_FOR_OWN(cpu)

#endif
