/* SPDX-License-Identifier: BSD-2-Clause */
/* Assertions of release builds: see trace/assert.h, which includes this. The condition is compiled,
 * so that it stays correct and the names in it count as used, but never evaluated. */
#ifndef TRACE_ASSERT_OFF_H
#define TRACE_ASSERT_OFF_H

#define trace_assert(condition) ((void)sizeof((condition) ? 1 : 0))

#endif
