/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each bit of a window of retained memory is changed in turn: what lib/retain makes of the window
 * is the same, or it says that something is damaged; damaged is never taken for absent. What has no
 * seal is the only exception: docs/guide/flight.md lists it. A window with a panic, one without,
 * one whose cursors the next boot has saved. EVERY=n takes each n-th bit, from $SEED on; 1: all.
 */
#include "test/trace/retained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/syspage.h"
#include "lib/panic/text.h"
#include "trace/crc32c.h"
#include "trace/loss.h"

#define PER_CPU 3
#define NAMES 4
#define PAGE_BYTES 700
#define NOTES 2

/* What a window comes to. */
struct outcome {
    bool opened;
    uint32_t sum;  /* of the pieces, the panic, the page */
    uint32_t said; /* each kind of damage that was told, one bit */
    struct retain_losses losses;
};

static struct outcome look(void)
{
    struct outcome out = {.opened = open_image()};
    char key[PANIC_KEY], value[PANIC_VALUE];
    struct retain_piece piece;

    if (!out.opened) {
        return out;
    }
    while (retain_next(&found, &piece)) {
        out.sum = retain_crc_more(out.sum, &piece.cpu, sizeof(piece.cpu));
        out.sum = retain_crc_more(out.sum, piece.slots, piece.count * TRACE_SLOT_BYTES);
    }
    for (unsigned n = 0; found.panicked && panic_text(&found.panic, n, key, value); n++) {
        out.sum = retain_crc_more(out.sum, value, strlen(value));
    }
    for (unsigned n = 0; retain_taken_text(&found, n, key, value); n++) {
        out.sum = retain_crc_more(out.sum, value, strlen(value));
    }
    out.sum = retain_crc_more(out.sum, &found.panicked, sizeof(found.panicked));
    out.sum = retain_crc_more(out.sum, &found.header.boots, sizeof(found.header.boots));
    out.said =
        (found.panic_damaged ? 1 : 0) | (found.frozen_damaged ? 2 : 0) | (found.page_good ? 0 : 4);
    out.losses = found.losses;
    return out;
}

/* Anything of it: lost events are only told if they are not what they were. */
static bool tells(const struct outcome *now, const struct outcome *sound)
{
    return !now->opened || (now->said & ~sound->said) != 0 ||
           now->losses.buffers > sound->losses.buffers || now->losses.names > sound->losses.names ||
           now->losses.notes > sound->losses.notes;
}

/* ---- what has no seal -------------------------------------------------------------- */

static bool sealed_buffer[CPUS * PER_CPU];

static bool in(uint32_t at, uint64_t from, uint64_t bytes)
{
    return at >= from && at - from < bytes;
}

/* The slots of a buffer without a seal, its state words, and the kernel's own cursor and counters
 * until the next boot has saved them. */
static bool is_unsealed(uint32_t at, bool frozen)
{
    const struct kymo_retain_ring *ring = &fake.ring;

    for (uint32_t i = 0; i < CPUS * PER_CPU; i++) {
        uint32_t word =
            ring->words + i / PER_CPU * ring->table_step + i % PER_CPU * ring->word_step;

        if ((!sealed_buffer[i] &&
             in(at, ring->buffers + i * (uint64_t)ring->buffer_bytes, ring->buffer_bytes)) ||
            in(at, word, 12)) {
            return true;
        }
    }
    for (unsigned cpu = 0; cpu < CPUS && !frozen; cpu++) {
        if (in(at, ring->cpu[cpu].cursor, 8) ||
            in(at, ring->cpu[cpu].pending, sizeof(((struct kymo_retain_cpu *)0)->pending))) {
            return true;
        }
    }
    return false;
}

/* ---- the windows ------------------------------------------------------------------- */

static void put_panic(void)
{
    struct kymo_retain_panic *panic = (void *)&image[FAKE_PANIC];
    struct kymo_panic *record = (void *)panic->record;

    *record = (struct kymo_panic){.version = KYMO_PANIC_VERSION, .cpu = 1, .time = 1};
    snprintf(record->reason, sizeof(record->reason), "it was late");
    panic->crc = trace_crc(panic->record, sizeof(panic->record));
    panic->magic = KYMO_RETAIN_MAGIC;
}

static void put_names(void)
{
    struct kymo_retain_name *table = (void *)&image[FAKE_NAMES];
    size_t from = offsetof(struct kymo_retain_name, boots);

    for (unsigned i = 0; i < NAMES; i++) {
        table[2 * i] = (struct kymo_retain_name){
            .magic = KYMO_RETAIN_MAGIC, .boots = 1, .pid = (int32_t)i + 1, .ppid = 1};
        snprintf(table[2 * i].name, sizeof(table[2 * i].name), "program-%u", i);
        table[2 * i].crc = trace_crc(&table[2 * i].boots, sizeof(table[2 * i]) - from);
    }
}

static void put_notes(void)
{
    uint8_t *at = &image[FAKE_NOTES];
    size_t from = offsetof(struct kymo_retain_note, boots);

    for (uint32_t i = 0; i < NOTES; i++) {
        struct kymo_retain_note *note = (void *)at;

        memset(note + 1, (int)i + 'a', 40);
        *note = (struct kymo_retain_note){.magic = KYMO_RETAIN_MAGIC,
                                          .boots = 1,
                                          .id = i,
                                          .total = 37,
                                          .bytes = 37,
                                          .data_crc = trace_crc(note + 1, 37)};
        note->crc = trace_crc(&note->boots, sizeof(*note) - from);
        at = (uint8_t *)(note + 1) + 40;
    }
}

static void put_page(void)
{
    struct kymo_retain_header *header = (void *)image;
    size_t from = offsetof(struct kymo_retain_header, boots);

    memset(&image[FAKE_PAGE], 7, PAGE_BYTES);
    header->page_bytes = PAGE_BYTES;
    header->page_crc = trace_crc(&image[FAKE_PAGE], PAGE_BYTES);
    header->crc = trace_crc(image + from, sizeof(*header) - from);
}

static void make_window(bool panicked, bool frozen)
{
    retained_boot(PER_CPU);
    fake_pass(0, 1 << 20); /* there is time for the names before the first event */
    fake_pass(1, 1 << 20);
    fake_pass(2, 1 << 20);
    while (ring_of(0)->sequence < 6 || look_active_slots(0) < TRACE_BUFFER_SLOTS / 2) {
        retained_make(0);
        retained_make(1);
        fake_exit();
    }
    trace_loss_add(&trace_port_cpu_at(1)->loss, KYMO_DROP_RECURSIVE, TRACE_CLASS_COMM, 17);
    stop_the_machine();
    memset(image + FAKE_PANIC, 0, sizeof(struct kymo_retain_panic));
    memset(image + FAKE_FROZEN, 0, sizeof(struct kymo_retain_frozen));
    memset(image + FAKE_NOTES, 0, FAKE_NOTES_BYTES);
    memset(image + FAKE_NAMES, 0, FAKE_NAMES_MOST * sizeof(struct kymo_retain_name));
    memset(image + FAKE_D, 0, KYMO_RETAIN_D_MOST * sizeof(struct kymo_retain_d));
    put_names();
    put_notes();
    put_page();
    if (panicked) {
        put_panic();
    }
    if (frozen) {
        retained_freeze();
    }
    for (uint32_t i = 0; i < CPUS * PER_CPU; i++) {
        const struct kymo_retain_mark *mark =
            (void *)(image + fake.ring.marks + i * sizeof(struct kymo_retain_mark));
        const struct trace_slot *first =
            (void *)(image + fake.ring.buffers + i * fake.ring.buffer_bytes);

        sealed_buffer[i] = mark->sequence != 0 && mark->sequence == first->d1;
    }
}

/* ---- each bit ---------------------------------------------------------------------- */

static uint64_t every;
static unsigned told, same, unsealed;

static void toggle(uint64_t bit, const struct outcome *sound, bool frozen)
{
    uint8_t *byte = &image[bit / 8];

    *byte ^= (uint8_t)(1u << bit % 8);
    struct outcome now = look();
    *byte ^= (uint8_t)(1u << bit % 8);
    bool is_same = now.opened && now.sum == sound->sum;

    if (tells(&now, sound)) {
        told++;
    } else if (is_same) {
        same++;
    } else if (is_unsealed((uint32_t)(bit / 8), frozen)) {
        unsealed++;
    } else {
        fail_msg("bit %u of byte 0x%x: another outcome, and no word of it", (unsigned)(bit % 8),
                 (unsigned)(bit / 8));
    }
}

static void toggle_window(bool panicked, bool frozen)
{
    make_window(panicked, frozen);
    const struct outcome sound = look();
    uint64_t end = 8 * (uint64_t)(fake.ring.buffers + CPUS * PER_CPU * fake.ring.buffer_bytes);

    assert_true(sound.opened && sound.said == 0);
    assert_int_equal(found.panicked, panicked);
    assert_int_equal(sound.losses.buffers + sound.losses.names + sound.losses.notes, 0);
    told = same = unsealed = 0;
    for (uint64_t bit = random_below((uint32_t)every); bit < end; bit += every) {
        if (bit / 8 == FAKE_PAGE + PAGE_BYTES) {
            bit += 8 * (FAKE_NOTES - FAKE_PAGE - PAGE_BYTES); /* nobody reads there */
        }
        toggle(bit, &sound, frozen);
    }
    printf("%u bits are told, %u have no effect, %u have no seal\n", told, same, unsealed);
    assert_true(told > 0 && same > 0);
    retained_end();
}

/* Each bit of the panic's record, or of the place for it. The magic's alone does no harm. */
static void toggle_panic(bool panicked)
{
    uint32_t at = FAKE_PANIC, bytes = sizeof(struct kymo_retain_panic);

    make_window(panicked, false);
    const struct outcome sound = look();

    for (uint64_t bit = 8 * (uint64_t)at; bit < 8 * ((uint64_t)at + bytes); bit++) {
        image[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct outcome now = look();
        image[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(now.opened);
        if (panicked && bit / 8 < at + sizeof(uint32_t)) {
            assert_int_equal(now.sum, sound.sum);
            continue;
        }
        assert_int_equal(now.said, 1);
        assert_true(tells(&now, &sound) && found.panic_damaged && !found.panicked);
    }
    retained_end();
}

static void test_panic(void **state)
{
    (void)state;
    toggle_panic(true);
    toggle_panic(false);
}

static void test_with_panic(void **state)
{
    (void)state;
    toggle_window(true, false);
}

static void test_without(void **state)
{
    (void)state;
    toggle_window(false, false);
}

static void test_frozen(void **state)
{
    (void)state;
    toggle_window(false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panic),
        cmocka_unit_test(test_with_panic),
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_frozen),
    };
    const char *text = getenv("EVERY");

    every = text ? strtoull(text, NULL, 0) : 997;
    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
