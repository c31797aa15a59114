/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of d_image_check() and d_code_load(). Control context.
 */
#ifndef TRACE_D_IMAGE_CHECK_H
#define TRACE_D_IMAGE_CHECK_H

#include "trace/d/machine.h"

/* Errors as refusals give them, negated; the numbers that all systems share. */
enum { D_EPERM = 1, D_E2BIG = 7, D_ENOMEM = 12, D_EINVAL = 22 };

/* An action records at most this much, whatever it asks for; such a record is always dropped. */
enum { D_ACTION_BYTES_MAX = 1 << 30, D_STRSIZE_MAX = 1 << 30 };

#define D_IMAGE_TABLE(image, table, type) \
    ((const type *)(const void *)((const char *)(image) + (image)->table.offset))

/* Says why; returns the error. */
int d_refuse(struct d_refusal *, enum d_reason);
/* Whether `object` (+ 1; 0: none) exists and is a value. */
bool d_image_value_object(const struct d_image *, uint32_t object, bool required);
int d_image_check_actions(const struct d_image *, const struct d_image_ecb *, struct d_refusal *);

#endif
