/* SPDX-License-Identifier: BSD-2-Clause */
/* Code on the path of every probe firing is inlined wherever it is used, unless size counts. */
#ifndef TRACE_DTRACE_HOT_H
#define TRACE_DTRACE_HOT_H

#ifdef __OPTIMIZE_SIZE__
#define DTRACE_HOT __attribute__((noinline))
#else
#define DTRACE_HOT inline __attribute__((always_inline))
#endif

#endif
