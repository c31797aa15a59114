/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Included before each file of trace/dtrace in these tests: what it copies, compares and zeroes
 * counts by the byte.
 */
#ifndef TEST_TRACE_DTRACE_RANDOM_COUNTED_H
#define TEST_TRACE_DTRACE_RANDOM_COUNTED_H

#include <stdint.h>
#include <string.h>

extern uint64_t counted; /* basic blocks run, and bytes */

#define __builtin_memcpy(to, from, n) (counted += (n), memcpy(to, from, n))
#define __builtin_memmove(to, from, n) (counted += (n), memmove(to, from, n))
#define __builtin_memset(to, byte, n) (counted += (n), memset(to, byte, n))
#define __builtin_memcmp(a, b, n) (counted += (n), memcmp(a, b, n))

#endif
