/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream into memory that says when there was not enough. With glibc's open_memstream() what no
 * memory was left for is missing from the text, and neither ferror() nor fclose() tells. One
 * thread. Proof: test/host/memory_stream_test.c.
 */
#ifndef HOST_MEMORY_STREAM_H
#define HOST_MEMORY_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* fclose() gives the text, to be freed, and its size without the NUL after it, or EOF and NULL if
 * any of it is missing. NULL: no memory. */
FILE *memory_stream(char **text, size_t *size);

#endif
