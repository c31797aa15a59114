/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortens texts: names of fbt's table, reasons of D's refusals. Tested by test/host/fbt/places.py,
 * which reads the names again, by test/trace/dtrace/machine/reason_test.c, and by test/board's
 * suite fbt. */
#ifndef HOST_GEN_SHORT_TEXTS_H
#define HOST_GEN_SHORT_TEXTS_H

#include <stddef.h>

/* trace/dtrace/short_text.h describes the form. */
enum { SHORT_TEXT_DEPTH = 8 };

struct short_texts {
    unsigned char codes[512]; /* the table of codes */
    size_t ncodes;            /* bytes of it */
    unsigned char *bytes;     /* for free() */
    size_t n;
};

/* Neighbours that begin alike are best. `most`: bytes that a text may have, with its NUL. On
 * failure says why and exits. */
void short_texts_make(struct short_texts *, const char *const *texts, size_t n, size_t most);

#endif
