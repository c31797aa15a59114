/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of a row of CSV, each with the comma before it; tables.c says how they are written.
 */
#ifndef HOST_FLEET_VALUES_H
#define HOST_FLEET_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "host/export/export.h"
#include "host/print/out.h"

void fleet_int_put(struct out *out, int64_t value);
/* A value that is `unknown` is written as an unknown one. */
void fleet_maybe_put(struct out *out, int64_t value, int64_t unknown);
/* A text of the capture; NULL is unknown. */
void fleet_text_put(struct out *out, const char *text);
/* Bytes within quotes, without comma: quotes are doubled. */
void fleet_quoted_put(struct out *out, const char *text, size_t length);

#endif
