/* SPDX-License-Identifier: BSD-2-Clause */
/* See retained.h. */
#include "test/unit/retained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"

uint8_t image[FAKE_WINDOW];
struct retain found;
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

void stop_the_machine(void)
{
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
