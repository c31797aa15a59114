/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assertions of what the trace relies on: that a buffer is in a state, that interrupts are masked.
 *
 *   trace_assert(condition)   debug builds: trace_port_failed(), unless it holds. Else nothing,
 *                             unevaluated
 *
 * A condition has no side effect. A makefile chooses by -DTRACE_ASSERT_OPS_H: scripts/assert.mk.
 * See docs/design.md; proved by test/trace/assert_test.c.
 */
#ifndef TRACE_ASSERT_H
#define TRACE_ASSERT_H

#ifndef TRACE_ASSERT_OPS_H
#define TRACE_ASSERT_OPS_H "trace/assert_off.h"
#endif
#include TRACE_ASSERT_OPS_H

#endif
