/* SPDX-License-Identifier: BSD-2-Clause */
/* A line between two ends, in virtual time: bytes come out in order, later, and not
 * all unharmed. */
#ifndef TEST_LIB_LINK_LINE_H
#define TEST_LIB_LINK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_ROOM 8192

/* Chances are per 65536 bytes; 0: never. */
struct line_faults {
    unsigned drop, flip, twice, garbage, stall;
    unsigned most; /* bytes that one fault touches */
};

struct line {
    struct line_faults faults;
    unsigned bytes_per_ms;
    uint32_t stalled_until;
    size_t bytes;
    uint64_t faults_made;
    uint8_t byte[LINE_ROOM];
};

uint32_t random_below(uint32_t n); /* 0..n-1 */
void random_seed(uint64_t seed);

/* Takes what fits; how many of the bytes given that is. */
size_t line_put(struct line *line, uint32_t now, const uint8_t *bytes, size_t count);
/* What comes out in one millisecond. */
size_t line_get(struct line *line, uint32_t now, uint8_t *bytes, size_t most);

#endif
