/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files that a target or a capture has chosen. Such a name is made here and nowhere else.
 * Proved by test/host/name_test.c, test/host/link/store_test.c and test/host/extract/check.
 */
#ifndef HOST_NAME_H
#define HOST_NAME_H

#include <stddef.h>

#define KYMO_NAME_MOST 256 /* with its NUL */
#define KYMO_TAG_MOST 128
#define KYMO_SUFFIX_MOST 16 /* ".kev"; a longer one is cut */

/* Writes the last part of a path of `bytes` bytes, NUL-terminated. It ends in ".kev", which is
 * added if need be, so that it is no part (output_part.h), no index, and nothing that another
 * program looks for. What could hide or mislead, and what Windows has no files for, is replaced. A
 * name that has nothing left is "trace.kev". */
void kymo_plain_name(const char *name, size_t bytes, char plain[KYMO_NAME_MOST]);

/* "trace.kev" and "x" give "trace-x.kev". A long name is cut in front of the tag, which has fewer
 * than KYMO_TAG_MOST bytes. */
void kymo_tagged_name(const char *plain, const char *tag, char tagged[KYMO_NAME_MOST]);

#endif
