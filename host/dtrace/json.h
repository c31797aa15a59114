/* SPDX-License-Identifier: BSD-2-Clause */
/* Values as JSON. Internal to host/dtrace. */
#ifndef HOST_DTRACE_JSON_H
#define HOST_DTRACE_JSON_H

#include "host/dt/dt.h"

/* Bytes as text: those that are no printable ASCII as \u00XX. */
void json_bytes(FILE *, const char *text, size_t n);
void json_text(FILE *, const char *text);
/* Data without a better form: hexadecimal digits as text. */
void json_hex(FILE *, const uint8_t *data, uint32_t size);
/* A number; text; an object of a struct's members, an array. type NULL: by size. */
void json_value(FILE *, const uint8_t *data, uint32_t size, const struct dt_type *);

#endif
