/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Integer arithmetic by the kernel's names. */
#ifndef IDLELAB_ARITHMETIC_H
#define IDLELAB_ARITHMETIC_H

#define BITS_PER_LONG ((int)sizeof(long) * 8)
#define BITS_PER_LONG_LONG 64
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK(high, low) ((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define GENMASK_ULL(high, low) ((~0ULL << (low)) & (~0ULL >> (63 - (high))))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The arguments are evaluated once, and compared in their common type. */
#define min(a, b) ({ __auto_type idlelab_a = (a); __auto_type idlelab_b = (b); \
	idlelab_a < idlelab_b ? idlelab_a : idlelab_b; })
#define max(a, b) ({ __auto_type idlelab_a = (a); __auto_type idlelab_b = (b); \
	idlelab_a > idlelab_b ? idlelab_a : idlelab_b; })
#define min_t(type, a, b) ({ type idlelab_a = (a); type idlelab_b = (b); \
	idlelab_a < idlelab_b ? idlelab_a : idlelab_b; })
#define max_t(type, a, b) ({ type idlelab_a = (a); type idlelab_b = (b); \
	idlelab_a > idlelab_b ? idlelab_a : idlelab_b; })
#define umin(a, b) min_t(u64, a, b)
#define umax(a, b) max_t(u64, a, b)
#define min3(a, b, c) ({ __auto_type idlelab_c = (c); __auto_type idlelab_m = min(a, b); \
	idlelab_m < idlelab_c ? idlelab_m : idlelab_c; })
#define max3(a, b, c) ({ __auto_type idlelab_c = (c); __auto_type idlelab_m = max(a, b); \
	idlelab_m > idlelab_c ? idlelab_m : idlelab_c; })
#define clamp(value, low, high) ({ __auto_type idlelab_v = (value); \
	__auto_type idlelab_l = (low); __auto_type idlelab_h = (high); \
	idlelab_v < idlelab_l ? idlelab_l : idlelab_v > idlelab_h ? idlelab_h : idlelab_v; })
#define clamp_t(type, value, low, high) ({ type idlelab_v = (value); type idlelab_l = (low); \
	type idlelab_h = (high); \
	idlelab_v < idlelab_l ? idlelab_l : idlelab_v > idlelab_h ? idlelab_h : idlelab_v; })
#define clamp_val(value, low, high) clamp_t(__typeof__(value), value, low, high)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define abs(value) ({ __auto_type idlelab_v = (value); idlelab_v < 0 ? -idlelab_v : idlelab_v; })
#define abs_diff(a, b) ({ __auto_type idlelab_a = (a); __auto_type idlelab_b = (b); \
	idlelab_a > idlelab_b ? idlelab_a - idlelab_b : idlelab_b - idlelab_a; })
#define swap(a, b) do { __typeof__(a) idlelab_s = (a); (a) = (b); (b) = idlelab_s; } while (0)
#define sign_extend64(value, index) ((s64)((u64)(value) << (63 - (index))) >> (63 - (index)))

#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d) ((u64)(((u64)(n) + (d) - 1) / (d)))
#define DIV_ROUND_CLOSEST(n, d) ({ __auto_type idlelab_n = (n); __auto_type idlelab_d = (d); \
	((__typeof__(idlelab_n))-1 > 0 || (idlelab_n > 0) == (idlelab_d > 0)) \
		? (idlelab_n + idlelab_d / 2) / idlelab_d : (idlelab_n - idlelab_d / 2) / idlelab_d; })
#define DIV_ROUND_CLOSEST_ULL(n, d) ((u64)(((u64)(n) + (d) / 2) / (d)))
#define ALIGN(x, a) (((x) + (__typeof__(x))(a) - 1) & ~((__typeof__(x))(a) - 1))
#define round_up(x, y) ((((x) - 1) | ((__typeof__(x))(y) - 1)) + 1)
#define round_down(x, y) ((x) & ~((__typeof__(x))(y) - 1))
#define roundup(x, y) (((x) + (y) - 1) / (y) * (y))
#define rounddown(x, y) ((x) - (x) % (y))

static inline u64 div_u64(u64 dividend, u32 divisor) { return dividend / divisor; }
static inline s64 div_s64(s64 dividend, s32 divisor) { return dividend / divisor; }
static inline u64 div64_u64(u64 dividend, u64 divisor) { return dividend / divisor; }
static inline s64 div64_s64(s64 dividend, s64 divisor) { return dividend / divisor; }
static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = (u32)(dividend % divisor);
	return dividend / divisor;
}
static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * b) >> shift);
}
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * b) >> shift);
}
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 divisor)
{
	return (u64)((unsigned __int128)a * b / divisor);
}
#define div64_ul(dividend, divisor) div64_u64(dividend, divisor)
#define div64_long(dividend, divisor) div64_s64(dividend, divisor)
/* Divides in place; the value is the remainder. */
#define do_div(n, base) ({ u32 idlelab_base = (base); \
	u32 idlelab_remainder = (u32)((u64)(n) % idlelab_base); \
	(n) = (u64)(n) / idlelab_base; idlelab_remainder; })

static inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline unsigned long __fls(unsigned long x)
{
	return (unsigned long)(BITS_PER_LONG - 1 - __builtin_clzl(x));
}
static inline unsigned long __ffs(unsigned long x) { return (unsigned long)__builtin_ctzl(x); }
static inline int ilog2(u64 x) { return fls64(x) - 1; }
static inline bool is_power_of_2(unsigned long x) { return x && !(x & (x - 1)); }
static inline unsigned int hweight32(u32 x) { return (unsigned int)__builtin_popcount(x); }
static inline unsigned int hweight64(u64 x) { return (unsigned int)__builtin_popcountll(x); }
static inline unsigned int hweight8(u32 x) { return hweight32(x & 0xff); }
static inline unsigned int hweight_long(unsigned long x) { return hweight64(x); }

static inline unsigned long int_sqrt64(u64 x)
{
	u64 root = 0;
	for (u64 bit = 1ULL << 62; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (unsigned long)root;
}
static inline unsigned long int_sqrt(unsigned long x) { return int_sqrt64(x); }

#define atomic_read(v) READ_ONCE((v)->counter)
#define atomic_set(v, value) WRITE_ONCE((v)->counter, value)
#define atomic_add(value, v) ((void)__sync_add_and_fetch(&(v)->counter, value))
#define atomic_sub(value, v) ((void)__sync_sub_and_fetch(&(v)->counter, value))
#define atomic_inc(v) atomic_add(1, v)
#define atomic_dec(v) atomic_sub(1, v)
#define atomic_add_return(value, v) __sync_add_and_fetch(&(v)->counter, value)
#define atomic_inc_return(v) atomic_add_return(1, v)
#define atomic64_read(v) atomic_read(v)
#define atomic64_set(v, value) atomic_set(v, value)
#define atomic64_add(value, v) atomic_add(value, v)
#define atomic64_inc(v) atomic_inc(v)
#define ATOMIC_INIT(value) { (value) }

#endif
