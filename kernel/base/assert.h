/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assertions of conditions that the kernel relies on, for example that a lock is held or that a
 * node is in a list.
 *
 *   kernel_assert(condition)   debug images: panics with the file, the line and the condition
 *                              unless the condition holds. Release images: not evaluated
 *   kernel_debug(statement)    debug images: executes the statement, which keeps data that
 *                              assertions need
 *
 * A condition has no side effect. A makefile chooses by -DKERNEL_ASSERT_OPS_H: scripts/assert.mk.
 * See docs/inside/design.md; proved by test/kernel/base/assert_test.c.
 */
#ifndef KERNEL_BASE_ASSERT_H
#define KERNEL_BASE_ASSERT_H

#ifndef KERNEL_ASSERT_OPS_H
#define KERNEL_ASSERT_OPS_H "kernel/base/assert_off.h"
#endif
#include KERNEL_ASSERT_OPS_H

#endif
