/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the place of the shim's: a question is a plain call of a function in direct.c. */
#ifndef IDLELAB_ASK_H
#define IDLELAB_ASK_H

s64 direct_sleep_length(s64 *delta_tick);
s64 direct_latency_limit(void);
bool direct_tick_stopped(void);
bool direct_take_got_tick(void);
u64 direct_clock(void);
u32 direct_io_waiters(void);
u32 direct_utilisation(void);
u32 direct_load(void);
#define IDLELAB_ASK(call, ...) direct_##call(__VA_ARGS__)

#endif
