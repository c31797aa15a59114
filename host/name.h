/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of files that a target has chosen. */
#ifndef HOST_NAME_H
#define HOST_NAME_H

#include <stddef.h>

#define KYMO_NAME_MOST 256 /* with its NUL */
#define KYMO_TAG_MOST 128
#define KYMO_SUFFIX_MOST 16 /* ".kev"; a longer one is cut */

/* The last part of `bytes` of a name, NUL-terminated; what could hide or mislead is replaced; a
 * name that has nothing left is "trace.kev". */
void kymo_plain_name(const char *name, size_t bytes, char plain[KYMO_NAME_MOST]);

/* "trace.kev" and "x" give "trace-x.kev". A long name is cut in front of the tag, which has fewer
 * than KYMO_TAG_MOST bytes. */
void kymo_tagged_name(const char *plain, const char *tag, char tagged[KYMO_NAME_MOST]);

#endif
