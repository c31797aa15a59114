/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files that a target has chosen. */
#ifndef HOST_NAME_H
#define HOST_NAME_H

#include <stddef.h>

#define KYMO_NAME_MOST 256

/* The last part of `bytes` of a name, NUL-terminated; what could hide or mislead is replaced; a
 * name that has nothing left is "trace.kev". */
void kymo_plain_name(const char *name, size_t bytes, char plain[KYMO_NAME_MOST]);

#endif
