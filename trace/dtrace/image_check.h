/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal to dtrace_image_check() and dtrace_code_load(). Control context. */
#ifndef TRACE_DTRACE_IMAGE_CHECK_H
#define TRACE_DTRACE_IMAGE_CHECK_H

#include "trace/dtrace/machine.h"

/* Errors in refusals, negated; the numbers that all systems share. */
enum { DTRACE_EPERM = 1, DTRACE_E2BIG = 7, DTRACE_ENOMEM = 12, DTRACE_EINVAL = 22 };

/* Upper bound of an action's record, whatever the program requests; such a record is always
 * dropped. */
enum { DTRACE_ACTION_BYTES_MAX = 1 << 30, DTRACE_STRSIZE_MAX = 1 << 30 };

#define DTRACE_IMAGE_TABLE(image, table, type) \
    ((const type *)(const void *)((const char *)(image) + (image)->table.offset))

/* Stores the reason; returns the error. */
int dtrace_refuse(struct dtrace_refusal *, enum dtrace_reason);

#endif
