/* SPDX-License-Identifier: BSD-2-Clause */
/* Included before everything: at the trace's yield points another thread may run, so that two
 * processors, or one, meet in every order. */
#ifndef TEST_TOOL_THREADS_YIELD_H
#define TEST_TOOL_THREADS_YIELD_H

#include <string.h>

int sched_yield(void); /* <sched.h> has names that are the kernel's too */

static inline void threads_yield(const char *where)
{
    (void)where;
    sched_yield();
}
#define TRACE_YIELD_POINT(where) threads_yield(where)

#endif
