/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assertions of a port: kernel_assert() (kernel/base/assert.h), and queries that only debug images
 * implement.
 */
#ifndef KERNEL_ARCH_ASSERT_H
#define KERNEL_ARCH_ASSERT_H

#include <stdbool.h>

#include "kernel/base/assert.h"

/* Returns whether this CPU holds the kernel lock; also true before the first CPU is online. Debug
 * images only. Any context. */
bool kernel_holds_lock(void);

#endif
