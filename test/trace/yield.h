/* SPDX-License-Identifier: BSD-2-Clause */
/* Included before everything: the trace's yield points call the test. */
#ifndef TEST_TRACE_YIELD_H
#define TEST_TRACE_YIELD_H

void fake_yield(const char *where);
#define TRACE_YIELD_POINT(where) fake_yield(where)

#endif
