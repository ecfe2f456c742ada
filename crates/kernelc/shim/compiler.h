/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes and hints. */
#ifndef IDLELAB_COMPILER_H
#define IDLELAB_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define barrier() __asm__ __volatile__("" ::: "memory")
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define smp_mb() __sync_synchronize()
#define smp_rmb() __sync_synchronize()
#define smp_wmb() __sync_synchronize()
#define cpu_relax() barrier()

#undef inline
#define __init
#define __initdata
#define __exit
#define __ro_after_init
#define __read_mostly
#define __cpuidle
#define noinstr
#define asmlinkage
#define __user
#define __force
#define __iomem
#define __must_check __attribute__((warn_unused_result))
#define __maybe_unused __attribute__((unused))
#define __always_unused __attribute__((unused))
#define __used __attribute__((used))
#define __packed __attribute__((packed))
#define __aligned(n) __attribute__((aligned(n)))
#define ____cacheline_aligned __attribute__((aligned(64)))
#define ____cacheline_aligned_in_smp ____cacheline_aligned
#define __pure __attribute__((pure))
#undef __attribute_const__
#define __attribute_const__ __attribute__((const))
#define __printf(a, b) __attribute__((format(printf, a, b)))
#undef noinline
#define noinline __attribute__((noinline))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define fallthrough __attribute__((fallthrough))
#define typeof __typeof__
#define typeof_member(type, member) __typeof__(((type *)0)->member)

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), "BUILD_BUG_ON(" #condition ")")
#define static_assert(...) _Static_assert(__VA_ARGS__, "static_assert")

/* A configuration option that nobody sets is off. */
#define IDLELAB_SECOND(first, second, ...) second
#define IDLELAB_IS_SET(probe) IDLELAB_SECOND(probe 1, 0, 0)
#define IDLELAB_PROBE_1 0,
#define IDLELAB_JOIN(value) IDLELAB_PROBE_##value
#define IDLELAB_ENABLED(option) IDLELAB_IS_SET(IDLELAB_JOIN(option))
#define IS_ENABLED(option) IDLELAB_ENABLED(option)
#define IS_BUILTIN(option) IDLELAB_ENABLED(option)
#define CONFIG_HZ IDLELAB_HZ
#define CONFIG_SMP 1
#define CONFIG_CPU_IDLE 1
#define CONFIG_NO_HZ_COMMON 1
#define CONFIG_NO_HZ_IDLE 1

#endif
