/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals in D's notation: a number of ns, us, ms, s, m, h, d or their longer names, or a rate
 * per second: hz, or no unit. Case is ignored. Any context. For the provider profile and the
 * compiler's options.
 */
#ifndef TRACE_DTRACE_PROVIDER_RATE_H
#define TRACE_DTRACE_PROVIDER_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the interval in ns of n such units, or of a rate n (0: none). Returns false if there is
 * no such unit, or the interval is too long. */
bool dtrace_rate_interval(uint64_t n, const char *unit, uint64_t *ns);

#endif
