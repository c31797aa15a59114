/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the texts of trace/dtrace/reasons.def stored short (trace/dtrace/short_text.h). The build
 * writes it to build/gen/d_reasons.inc.h, which trace/dtrace/reason.c includes. Proved by
 * test/trace/dtrace/machine/reason_test.c.
 */
#include <stdio.h>
#include <string.h>

#include "host/gen/short_texts.h"

static const char *const d_reasons_texts[] = {
#define DTRACE_REASON(name, error, text) text,
#include "trace/dtrace/reasons.def"
};
enum { REASONS = sizeof(d_reasons_texts) / sizeof(*d_reasons_texts), TEXT_MOST = 256 };

static void d_reasons_print_bytes(const char *name, const unsigned char *bytes, size_t n)
{
    printf("static const uint8_t %s[] = {", name);
    for (size_t i = 0; i < n; i++) {
        printf("%s%u,", i % 16 ? " " : "\n    ", bytes[i]);
    }
    printf("\n};\n");
}

int main(void)
{
    struct short_texts s;
    size_t longest = 0;

    for (unsigned i = 0; i < REASONS; i++) {
        longest = strlen(d_reasons_texts[i]) > longest ? strlen(d_reasons_texts[i]) : longest;
    }
    short_texts_make(&s, d_reasons_texts, REASONS, TEXT_MOST);
    printf("/* SPDX-License-Identifier: BSD-2-Clause */\n"
           "/* Generated from trace/dtrace/reasons.def by host/gen/gen_d_reasons.c: change the\n"
           " * table. Included by trace/dtrace/reason.c only. */\n");
    printf("enum { REASONS = %d, TEXT_MOST = %zu };\n", REASONS, longest + 1);
    d_reasons_print_bytes("texts", s.bytes, s.n);
    d_reasons_print_bytes("codes", s.codes, s.ncodes);
    return fflush(stdout) == 0 ? 0 : 1;
}
