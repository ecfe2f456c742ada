/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers nothing. */
#include <linux/cpuidle.h>
