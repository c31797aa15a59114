/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing events of one's own into the trace, with the names of QNX's helpers. They need no ability
 * and cost one kernel call; with tracing off the event goes nowhere. Codes 0..1023.
 * Return 0, or -1 and errno (EINVAL: code above 1023, or more than KYMO_TRACE_USER_COMBINE_MAX
 * bytes).
 */
#ifndef LIB_SYS_TRACELOG_H
#define LIB_SYS_TRACELOG_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/abi/sys/trace.h"

int trace_logi(unsigned code, unsigned d1, unsigned d2);
int trace_logb(unsigned code, const void *data, size_t bytes); /* padded with 0 to words */
int trace_logs(unsigned code, const char *text);               /* cut to the longest allowed */
int trace_logf(unsigned code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
