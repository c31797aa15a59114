/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals as D's text has them: a number of ns, us, ms, s, m, h, d or their longer names, or a
 * rate a second: hz, or nothing. Names are of any case. Any context. For the provider profile and
 * the compiler's options.
 */
#ifndef TRACE_DTRACE_PROVIDER_RATE_H
#define TRACE_DTRACE_PROVIDER_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* The interval in ns of n such units, or of n a second (0 for none). False: there is no such unit,
 * or it is too long. */
bool dtrace_rate_interval(uint64_t n, const char *unit, uint64_t *ns);

#endif
