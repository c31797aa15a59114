/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hints to the compiler about branches and functions, for code where `make bench` shows that they
 * matter. scripts/check-source refuses the raw forms elsewhere.
 *
 *   likely(x), unlikely(x)   the condition is nearly always true, or false
 *   COLD                     a function that is hardly ever called: kept out of its callers and
 *                            away from their code, small rather than fast
 *   ALWAYS_INLINE            a function that takes over its caller's attributes
 */
#ifndef ABI_COMPILER_H
#define ABI_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((noinline, cold))
#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
