/* SPDX-License-Identifier: BSD-2-Clause */
/* See line.h. */
#include "test/lib/link/line.h"

#include <string.h>

static uint64_t state = 1;

void random_seed(uint64_t seed)
{
    state = seed * 0x9e3779b97f4a7c15u + 1;
}

uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(((state >> 32) * n) >> 32);
}

static bool chance(const struct line *line, unsigned per_64k)
{
    (void)line;
    return per_64k > 0 && random_below(65536) < per_64k;
}

static void add(struct line *line, uint8_t byte)
{
    if (line->bytes < LINE_ROOM) {
        line->byte[line->bytes++] = byte;
    }
}

static size_t how_many(struct line *line)
{
    line->faults_made++;
    return 1 + random_below(line->faults.most ? line->faults.most : 1);
}

static void add_garbage(struct line *line)
{
    for (size_t n = how_many(line); n > 0; n--) {
        add(line, (uint8_t)random_below(256));
    }
}

static void add_twice(struct line *line)
{
    size_t n = how_many(line);

    n = n < line->bytes ? n : line->bytes;
    for (size_t from = line->bytes - n; n > 0; n--) {
        add(line, line->byte[from++]);
    }
}

/* Room is kept for what faults add. */
size_t line_put(struct line *line, uint32_t now, const uint8_t *bytes, size_t count)
{
    size_t taken = 0;

    while (taken < count && line->bytes < LINE_ROOM / 2) {
        uint8_t byte = bytes[taken++];

        if (chance(line, line->faults.drop)) {
            taken += how_many(line) - 1;
            continue;
        }
        if (chance(line, line->faults.flip)) {
            line->faults_made++;
            byte = (uint8_t)(byte ^ (1 + random_below(255)));
        }
        add(line, byte);
        if (chance(line, line->faults.twice)) {
            add_twice(line);
        }
        if (chance(line, line->faults.garbage)) {
            add_garbage(line);
        }
        if (chance(line, line->faults.stall)) {
            line->stalled_until = now + random_below(700);
            line->faults_made++;
        }
    }
    return taken < count ? taken : count;
}

size_t line_get(struct line *line, uint32_t now, uint8_t *bytes, size_t most)
{
    size_t count = line->bytes < most ? line->bytes : most;

    count = count < line->bytes_per_ms ? count : line->bytes_per_ms;
    if ((int32_t)(line->stalled_until - now) > 0) {
        return 0;
    }
    memcpy(bytes, line->byte, count);
    line->bytes -= count;
    memmove(line->byte, line->byte + count, line->bytes);
    return count;
}
