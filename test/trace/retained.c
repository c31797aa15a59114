/* SPDX-License-Identifier: BSD-2-Clause */
/* See retained.h. */
#include "test/trace/retained.h"

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
        .areas = FAKE_AREAS,
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

/* ---- what is recorded -------------------------------------------------------------- */

uint32_t made[CPUS];

void retained_freeze(void)
{
    struct kymo_retain_frozen *frozen = (struct kymo_retain_frozen *)(void *)&image[FAKE_FROZEN];

    memset(frozen, 0, sizeof(*frozen));
    for (unsigned i = 0; i < fake.ring.ncpu; i++) {
        memcpy(&frozen->cpu[i].cursor, &image[fake.ring.cpu[i].cursor], 8);
        memcpy(frozen->cpu[i].pending, &image[fake.ring.cpu[i].pending],
               sizeof(frozen->cpu[i].pending));
    }
    frozen->boots = 1;
    frozen->crc = trace_crc(frozen->cpu, sizeof(frozen->cpu));
    frozen->magic = KYMO_RETAIN_MAGIC;
}

#define LONG (TRACE_BUFFER_SLOTS < 256 ? 8 : 60) /* words of a long event, at most, but one */

/* Number n of a CPU: as one slot or several, its words all hang on n. */
static void event(unsigned cpu, uint32_t n)
{
    uint32_t words[64];
    unsigned count = n % 7 == 3 ? 2 + n % LONG : 2;

    for (unsigned i = 0; i < count; i++) {
        words[i] = n + i * SALT;
    }
    if (count == 2) {
        trace_user_simple(EVENT + cpu, words[0], words[1]);
    } else {
        trace_user_combine(EVENT + cpu, words, count);
    }
}

void retained_make(unsigned cpu)
{
    struct fake_where back = fake_on(cpu);

    event(cpu, made[cpu] + 1);
    made[cpu]++;
    if (random_below(4) == 0) {
        fake_exit();
    }
    fake_back(back);
}

void retained_boot(unsigned per_cpu)
{
    uint64_t paddr;

    fake_boot(CPUS);
    memset(made, 0, sizeof(made));
    memset(fake_window + FAKE_FREE, 0xa5, FAKE_WINDOW - FAKE_FREE);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, per_cpu, 0, &paddr), 0);
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
}

void retained_end(void)
{
    command(_NTO_TRACE_STOP);
    command(_NTO_TRACE_DEALLOCBUFFER);
    assert_int_equal(fake.blocks, 0);
    assert_int_equal(fake.ring.per_cpu, 0);
}

unsigned retained_sealed(void)
{
    const struct kymo_retain_mark *marks = (const void *)(fake_window + fake.ring.marks);
    unsigned n = 0;

    for (unsigned i = 0; i < fake.ring.per_cpu; i++) {
        n += marks[i].sequence != 0 &&
             ring_of(0)->buffers[i].word == TRACE_WORD(marks[i].sequence, TRACE_READY);
    }
    return n;
}

static void check_word(struct retained_account *a, unsigned cpu, const struct trace_slot *slot,
                       bool begin)
{
    uint32_t n = begin ? slot->d1 : a->open;
    unsigned count = n % 7 == 3 ? 2 + n % LONG : 2;
    uint32_t at = begin ? 0 : a->words;

    if (begin) {
        assert_in_range(n, 1, made[cpu] + 1);
        assert_true(n > a->last);
        a->first = a->first ? a->first : n;
        a->last = n;
        a->events++;
        a->open = n;
    }
    assert_int_equal(slot->d1, n + at * SALT);
    assert_int_equal(slot->d2, at + 1 < count ? n + (at + 1) * SALT : 0);
    a->words = at + 2;
}

static void check_slot(struct retained_account *a, unsigned cpu, const struct trace_slot *slot)
{
    uint32_t structure = TRACE_GET_STRUCT(slot->header);
    unsigned class = TRACE_GET_CLASS(slot->header), number = TRACE_GET_EVENT(slot->header);

    assert_int_equal(TRACE_GET_CPU(slot->header), cpu);
    if (class == TRACE_CLASS_CONTROL && number == TRACE_CONTROL_DROPPED) {
        a->dropped += slot->d2;
    } else if (class == TRACE_CLASS_USER) {
        bool begin = structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB;

        assert_int_equal(number, EVENT + cpu);
        check_word(a, cpu, slot, begin);
    } else {
        assert_int_equal(class, TRACE_CLASS_CONTROL);
    }
}

void retained_account(struct retained_account accounts[CPUS])
{
    struct retain_piece piece;
    uint64_t before = 0;
    bool merged = true;

    memset(accounts, 0, CPUS * sizeof(*accounts));
    while (retain_next(&found, &piece)) {
        if (TRACE_GET_EVENT(piece.slots[0].header) == TRACE_CONTROL_BUFFER) {
            uint64_t begins = (uint64_t)piece.slots[1].d1 << 32 | piece.slots[0].time;

            merged &= begins >= before;
            before = begins;
        }
        assert_in_range(piece.cpu, 0, CPUS - 1);
        assert_in_range(piece.count, 1, TRACE_BUFFER_SLOTS);
        for (uint32_t i = 0; i < piece.count; i++) {
            check_slot(&accounts[piece.cpu], piece.cpu, &piece.slots[i]);
        }
    }
    /* Where a buffer is damaged, its time may be, by which the CPUs are merged. */
    assert_true(merged || found.losses.buffers);
}

void random_seed(void)
{
    random_state = getenv("SEED") ? (uint32_t)strtoul(getenv("SEED"), NULL, 0) : 20261121;
    random_state |= random_state == 0;
    printf("SEED=%u\n", (unsigned)random_state);
    fflush(stdout);
}
