/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assertions of conditions that the trace relies on, for example that a buffer is in a given state
 * or that interrupts are masked.
 *
 *   trace_assert(condition)   debug builds: calls trace_port_failed() unless the condition holds.
 *                             Release builds: not evaluated
 *
 * A condition has no side effect. A makefile chooses by -DTRACE_ASSERT_OPS_H: scripts/assert.mk.
 * See docs/inside/design.md; proved by test/trace/assert_test.c.
 */
#ifndef TRACE_ASSERT_H
#define TRACE_ASSERT_H

#ifndef TRACE_ASSERT_OPS_H
#define TRACE_ASSERT_OPS_H "trace/assert_off.h"
#endif
#include TRACE_ASSERT_OPS_H

#endif
