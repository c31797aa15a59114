/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks that the plugin count.c looks for: no-ops with a number, 0 to 15. */
#ifndef TEST_BENCH_MARK_H
#define TEST_BENCH_MARK_H

#if defined(__arm__)
#define MARK(n) __asm__ volatile("dbg %0" ::"i"(n) : "memory")
#elif defined(__x86_64__)
#define MARK(n) __asm__ volatile(".byte 0x0f, 0x1f, 0x40, %c0" ::"i"(0x70 + (n)) : "memory")
#else
#define MARK(n) __asm__ volatile("hint %0" ::"i"(0x70 + (n)) : "memory")
#endif
#define OPEN(interval) MARK(2 * (interval))
#define CLOSE(interval) MARK(2 * (interval) + 1)

#endif
