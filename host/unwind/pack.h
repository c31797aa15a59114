/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts an unwind table together (abi/unwind.h). Tested by test/kernel/observe/unwind_test.c. */
#ifndef HOST_UNWIND_PACK_H
#define HOST_UNWIND_PACK_H

#include <stddef.h>
#include <stdint.h>

struct unwind_rule {
    uint32_t cfa, places;
};
/* From `at` on, in halfwords from the beginning of the text, a rule applies. */
struct unwind_row {
    uint32_t at, rule;
};

/* Returns the words, for free(), or NULL: no memory. The rows are sorted. */
uint32_t *unwind_pack(const struct unwind_rule *rules, size_t nrules, const struct unwind_row *rows,
                      size_t nrows, uint32_t text_bytes, size_t *nwords);

#endif
