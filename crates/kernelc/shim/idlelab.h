/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel as a cpuidle governor sees it, in user space.
 *
 * This file is included before the first line of the governor's own file, so that all of its
 * <linux/...> headers may be empty. It is written from what governors use, for idlelab; it is no
 * kernel header and holds no text of one.
 */
#ifndef IDLELAB_H
#define IDLELAB_H

/* Calls within the loaded object need no indirection. */
#pragma GCC visibility push(hidden)

#include "types.h"
#include "compiler.h"
#include "report.h"
#include "arithmetic.h"
#include "memory.h"
#include "ask.h"
#include "percpu.h"
#include "time.h"
#include "sched.h"
#include "cpuidle.h"
#include "module.h"

#endif
