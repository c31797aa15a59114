/* SPDX-License-Identifier: BSD-2-Clause */
/* See retained.h. */
#include "test/unit/retained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"

uint8_t image[FAKE_WINDOW];
struct retain found;
unsigned marks_seen;
static uint32_t random_state;

uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

void put_header(void)
{
    struct kymo_retain_header *header = (struct kymo_retain_header *)(void *)image;
    size_t from = offsetof(struct kymo_retain_header, boots);

    *header = (struct kymo_retain_header){
        .magic = KYMO_RETAIN_MAGIC,
        .version = KYMO_RETAIN_VERSION,
        .bytes = sizeof(*header),
        .boots = 1,
        .word_bits = 64,
        .base = (uintptr_t)fake_window,
        .window = FAKE_WINDOW,
        .ring = fake.ring,
    };
    header->crc = trace_crc(image + from, sizeof(*header) - from);
}

/* What a mark vouches for has left the caches, and the mark itself has: else the machine that stops
 * without writing them back has neither. The mark of a buffer that is in use again vouches for
 * nothing. */
static void check_cleaned(void)
{
    const struct kymo_retain_ring *ring = &fake.ring;

    for (uint32_t i = 0; i < ring->ncpu * ring->per_cpu; i++) {
        const uint32_t *word =
            (const void *)(fake_window + ring->words + i / ring->per_cpu * ring->table_step +
                           i % ring->per_cpu * ring->word_step);
        size_t at = ring->marks + i * sizeof(struct kymo_retain_mark);
        const struct kymo_retain_mark *mark = (const void *)(fake_window + at);

        if (mark->sequence != 0) {
            assert_memory_equal(fake_ram + at, mark, sizeof(*mark));
            marks_seen++;
        }
        if (mark->sequence != 0 && *word == TRACE_WORD(mark->sequence, TRACE_READY)) {
            size_t data = ring->buffers + (size_t)i * ring->buffer_bytes;
            assert_memory_equal(fake_ram + data, fake_window + data,
                                mark->slots * TRACE_SLOT_BYTES);
        }
    }
}

void stop_the_machine(void)
{
    check_cleaned();
    memcpy(image, fake_window, sizeof(image));
    put_header();
}

bool open_image(void)
{
    static struct retain_memory memory;

    memory = (struct retain_memory){image, sizeof(image)};
    return retain_open(&found, retain_memory_read, &memory) == 0;
}

void random_seed(void)
{
    random_state = getenv("SEED") ? (uint32_t)strtoul(getenv("SEED"), NULL, 0) : 20261121;
    random_state |= random_state == 0;
    printf("SEED=%u\n", (unsigned)random_state);
}
