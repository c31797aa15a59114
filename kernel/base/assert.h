/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assertions of what the kernel relies on: that a lock is held, that a list has its node.
 *
 *   kernel_assert(condition)   debug images: a panic that names the file, the line and the
 *                              condition, unless it holds. Release images: nothing, unevaluated
 *   kernel_debug(statement)    debug images: the statement, which keeps what an assertion asks for
 *
 * A condition has no side effect. A makefile chooses by -DKERNEL_ASSERT_OPS_H: scripts/assert.mk.
 * See docs/design.md; proved by test/kernel/base/assert_test.c.
 */
#ifndef KERNEL_BASE_ASSERT_H
#define KERNEL_BASE_ASSERT_H

#ifndef KERNEL_ASSERT_OPS_H
#define KERNEL_ASSERT_OPS_H "kernel/base/assert_off.h"
#endif
#include KERNEL_ASSERT_OPS_H

#endif
