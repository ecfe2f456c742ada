/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For a governor that was taken out of its folder; the header beside it goes before this one. */
#ifndef IDLELAB_GOV_H
#define IDLELAB_GOV_H

/* 15 us since 6.6. */
#define RESIDENCY_THRESHOLD_NS (15 * NSEC_PER_USEC)
/* Two ticks since 7.1. */
#define SAFE_TIMER_RANGE_NS (2 * TICK_NSEC)

#endif
