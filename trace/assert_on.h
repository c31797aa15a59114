/* SPDX-License-Identifier: BSD-2-Clause */
/* Assertions of debug builds and of tests: see trace/assert.h, which includes this. */
#ifndef TRACE_ASSERT_ON_H
#define TRACE_ASSERT_ON_H

#include "abi/compiler.h"

/* Supplied by the port: ends the system, or a test's step. Any context. */
void trace_port_failed(const char *file, unsigned line, const char *condition)
    __attribute__((noreturn));

#define trace_assert(condition) \
    (unlikely(!(condition)) ? trace_port_failed(__FILE__, __LINE__, #condition) : (void)0)

#endif
