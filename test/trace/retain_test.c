/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder without a board: a ring in retained memory that is stopped at every point of
 * its story, and what lib/retain finds in an image of it; then the same with damage. What is asked:
 * all events up to the last whole one, in order; no event that nobody made; a loss is told. A
 * failure prints its seed; SEED=n repeats it, ROUNDS=n makes more.
 */
#include "test/trace/retained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/link/crc32c.h"
#include "lib/retain/judge.h"
#include "trace/crc32c.h"
#include "trace/dtrace/log_event.h"
#include "trace/loss.h"
#include "trace/retain.h"

/* Undamaged: everything without a gap up to the last event that was whole. */
static void check_all(unsigned per_cpu, bool in_the_middle)
{
    struct retained_account accounts[CPUS];

    assert_true(open_image());
    retained_account(accounts);
    assert_int_equal(found.losses.buffers, 0);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        const struct retained_account *a = &accounts[cpu];

        assert_int_equal(a->dropped, 0);
        assert_int_equal(a->events, made[cpu] ? a->last - a->first + 1 : a->last);
        assert_in_range(a->last, made[cpu], made[cpu] + in_the_middle);
        if (a->first > 1) { /* at most the oldest buffer is being used again */
            assert_true(a->events * 5 >= (per_cpu - 2) * TRACE_BUFFER_SLOTS / 2);
        }
    }
}

/* ---- stopped between two events, and at every yield point and reading of the clock ---- */

static void any_time(void **state)
{
    (void)state;
    for (unsigned per_cpu = 2; per_cpu <= 5; per_cpu++) {
        retained_boot(per_cpu);
        for (unsigned n = 0; n < 30000; n++) {
            retained_make(random_below(16) ? 1 : random_below(CPUS));
            if (random_below(400) == 0) {
                fake_pass(random_below(CPUS), UINT64_C(0x70000000) << random_below(3));
            }
            if (random_below(1500) == 0 || n < 10) {
                stop_the_machine();
                check_all(per_cpu, false);
            }
        }
        retained_end();
    }
}

static unsigned yields, stop_at, stops;

static void maybe_stop(void)
{
    if (++yields == stop_at) {
        stop_the_machine();
        check_all(3, true);
        stops++;
        stop_at += 1 + random_below(1500);
    }
}

static void maybe_stop_at(const char *where)
{
    (void)where;
    maybe_stop();
}

static void in_the_middle(void **state)
{
    (void)state;
    retained_boot(3);
    fake.yield = maybe_stop_at;
    fake.clock_hook = maybe_stop;
    yields = stops = 0;
    stop_at = 1;
    while (stops < 150) {
        retained_make(random_below(CPUS));
    }
    /* The turn from one buffer to the next: each point of it. */
    for (unsigned i = 0; i < 40; i++) {
        stop_at = UINT32_MAX;
        while (look_active_slots(0) < TRACE_BUFFER_SLOTS - 40) {
            retained_make(0);
        }
        stop_at = yields + 1 + i * 3;
        for (unsigned turned = stops; turned == stops;) {
            retained_make(0);
        }
    }
    fake.yield = NULL;
    fake.clock_hook = NULL;
    retained_end();
}

/* A buffer was begun, nothing is in it, and its CPU's cursor is still where it was: in another of
 * its buffers, or in the kernel's data. Nothing is lost. Anywhere else it can't be: then the buffer
 * is said to be lost. */
static void begun_and_empty(void **state)
{
    uint32_t active = TRACE_WORD(3, TRACE_ACTIVE), buffers;

    (void)state;
    retained_boot(3);
    while (ring_of(0)->sequence < 2 || look_active_slots(0) < TRACE_BUFFER_SLOTS * 3 / 10) {
        retained_make(0);
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(ring_of(0)->sequence, 2);
    assert_int_equal(look_state(0, 2), TRACE_FREE);
    stop_the_machine();
    buffers = fake.ring.buffers;
    memcpy(image + fake.ring.words + 2 * fake.ring.word_step, &active, sizeof(active));
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t at = i % 2 ? FAKE_LIVE + 4 * random_below(FAKE_LIVE_BYTES / 4)
                            : buffers + 16 * random_below(2 * TRACE_BUFFER_SLOTS + 1);
        uint64_t cursor = (uintptr_t)fake_window + at;

        memcpy(image + fake.ring.cpu[0].cursor, &cursor, sizeof(cursor));
        check_all(3, false);
        cursor += (uint64_t)FAKE_WINDOW << random_below(20);
        memcpy(image + fake.ring.cpu[0].cursor, &cursor, sizeof(cursor));
        assert_true(open_image());
        retained_account((struct retained_account[CPUS]){{0}});
        assert_int_equal(found.losses.unknown, 1);
    }
    retained_end();
}

/* More DROPPED slots than a small buffer has: in several pieces then (retained_account()). */
static void losses_come_along(void **state)
{
    enum { PAIRS = (KYMO_TRACE_REASONS - 1) * KYMO_TRACE_CLASSES };
    struct retained_account accounts[CPUS];

    (void)state;
    retained_boot(3);
    retained_make(1);
    trace_loss_add(&trace_port_cpu_at(1)->loss, KYMO_DROP_RECURSIVE, TRACE_CLASS_COMM, 17);
    stop_the_machine();
    assert_true(open_image());
    retained_account(accounts);
    assert_int_equal(accounts[1].dropped, 17);
    assert_int_equal(found.losses.events, 17);
    for (uint32_t i = 0; i < PAIRS; i++) {
        trace_loss_add(&trace_port_cpu_at(1)->loss, 1 + i / KYMO_TRACE_CLASSES,
                       i % KYMO_TRACE_CLASSES, 2);
    }
    stop_the_machine();
    assert_true(open_image());
    retained_account(accounts);
    assert_int_equal(accounts[1].dropped, 17 + 2 * PAIRS);
    assert_int_equal(found.losses.events, 17 + 2 * PAIRS);
    retained_end();
}

/* What the process had taken is given all the same, and it is said which; what a
 * SETRINGMODE gave up is counted as lost, and isn't given. */
static void taken_is_told(void **state)
{
    struct retained_account accounts[CPUS];
    struct kymo_trace_buffer taken;
    char key[RETAIN_TAKEN_KEY], value[RETAIN_TAKEN_VALUE];

    (void)state;
    retained_boot(8);
    while (ring_of(1)->sequence < 6) { /* the first three are sealed by then */
        retained_make(1);
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &taken), 0);
        assert_int_equal(taken.sequence, i + 1);
        if (i < 2) { /* the third is in hand */
            assert_int_equal(command_as(OWNER, KYMO_TRACE_GIVEBUFFER, taken.index, 0, NULL), 0);
        }
    }
    stop_the_machine();
    check_all(8, false);
    assert_true(retain_taken_text(&found, 0, key, value));
    assert_string_equal(key, "RETAINED_TAKEN_1");
    assert_string_equal(value, "CPU 1: buffers up to 3, 3 of them here");
    assert_false(retain_taken_text(&found, 1, key, value));
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0); /* gives up what is READY */
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    uint32_t given_up = made[1];
    retained_make(1);
    stop_the_machine();
    assert_true(open_image());
    retained_account(accounts);
    assert_int_equal(found.losses.buffers, 0);
    assert_int_equal(accounts[1].events + accounts[1].dropped, given_up + 1);
    assert_true(accounts[1].dropped > 0);
    assert_int_equal(found.taken[1].last, 3);
    retained_end();
}

/* ---- damage ------------------------------------------------------------------------ */

static bool in_payload_without_seal(uint32_t offset)
{
    uint32_t number = (offset - fake.ring.buffers) / TRACE_BUFFER_BYTES;
    const struct kymo_retain_mark *mark =
        (const struct kymo_retain_mark *)(const void *)(fake_window + fake.ring.marks) + number;

    if (offset < fake.ring.buffers || number >= CPUS * fake.ring.per_cpu) {
        return false;
    }
    const struct trace_slot *slot = (const void *)(fake_window + offset / 16 * 16);
    const struct trace_slot *first =
        (const void *)(fake_window + fake.ring.buffers + number * TRACE_BUFFER_BYTES);
    return (offset % TRACE_SLOT_BYTES < 2 || offset % TRACE_SLOT_BYTES >= 8) && slot != first &&
           first->d1 != mark->sequence;
}

/* Bits, bytes or stretches, of tables (0), of what has a fixed place (1), or of buffers; but what
 * only a seal would notice is left alone where there is none. */
static void damage(uint32_t kind)
{
    static const uint32_t places[][2] = {{0, 0x200}, {FAKE_FROZEN, 0x2800}};
    uint32_t from = fake.ring.words, bytes;
    uint32_t end = fake.ring.buffers + CPUS * fake.ring.per_cpu * TRACE_BUFFER_BYTES;

    if (kind > 1) {
        from = fake.ring.buffers;
    }
    bytes = kind == 0 ? fake.ring.buffers - from : end - from;
    if (kind == 1) {
        from = places[random_below(2)][0];
        bytes = from ? places[1][1] : places[0][1];
    }
    from += random_below(bytes);
    for (uint32_t n = random_below(3) ? 1 : 1 + random_below(3000); n > 0 && from < end; n--) {
        if (!in_payload_without_seal(from)) {
            image[from] ^= (uint8_t)(1u << random_below(8));
        }
        from++;
    }
}

/* What is found was made, and in order (check_slot()); what is not found is said to be missing. */
static void check_damaged(void)
{
    struct retained_account accounts[CPUS];

    if (!open_image()) {
        return; /* the header: nothing is found */
    }
    retained_account(accounts);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        const struct retained_account *a = &accounts[cpu];

        if (found.losses.unknown == 0 && a->events) {
            assert_true(a->last - a->first + 1 <= a->events + a->dropped);
            assert_true(a->last + a->dropped >= made[cpu]);
        }
    }
}

static void damaged(void **state)
{
    unsigned rounds = getenv("ROUNDS") ? (unsigned)atoi(getenv("ROUNDS")) : 4000;

    (void)state;
    retained_boot(5);
    for (unsigned i = 0; i < rounds; i++) {
        if (i % 500 == 0) {
            for (unsigned n = 0; n < 6000 + i; n++) {
                retained_make(random_below(CPUS));
            }
        }
        memcpy(image + FAKE_LIVE, fake_window + FAKE_LIVE, 0x8000);
        memcpy(image + fake.ring.words, fake_window + fake.ring.words,
               FAKE_WINDOW / 2 - fake.ring.words);
        put_header();
        retained_freeze();
        memset(image + FAKE_LIVE, 0, 0x8000); /* another kernel's, zero or not */
        for (unsigned n = 1 + random_below(4), kind = random_below(8); n > 0; n--) {
            damage(kind);
        }
        check_damaged();
    }
    retained_end();
}

/* What is found and what is said to be lost are what was made; or it is said that more is. */
static void check_account(void)
{
    struct retained_account accounts[CPUS];

    assert_true(open_image());
    retained_account(accounts);
    assert_true(found.losses.unknown > 0 || accounts[0].events + accounts[0].dropped == made[0]);
}

/* A bit of a seal is wrong, and its buffer is sound or is not: the seal's counts are believed only
 * if all of it is right. */
static void damaged_seal(void **state)
{
    enum { BITS = 8 * sizeof(struct kymo_retain_mark) };
    unsigned said = 0;

    (void)state;
    retained_boot(5);
    while (ring_of(0)->sequence < 4 || look_active_slots(0) < TRACE_BUFFER_SLOTS * 3 / 4) {
        retained_make(0);
        fake_exit();
    }
    assert_int_equal(retained_sealed(), 3);
    stop_the_machine();
    check_account();
    for (unsigned i = 0; i < 3 * BITS; i++) {
        uint32_t number = i / BITS;
        uint8_t *mark = image + fake.ring.marks + number * sizeof(struct kymo_retain_mark);
        uint8_t *slot = image + fake.ring.buffers + number * TRACE_BUFFER_BYTES +
                        TRACE_BUFFER_SLOTS * 2 / 3 * 16;

        mark[i % BITS / 8] ^= (uint8_t)(1u << i % 8);
        check_account();
        slot[3] ^= 4; /* its CPU: noticed without a seal, too */
        check_account();
        said += found.losses.unknown > 0;
        slot[3] ^= 4;
        mark[i % BITS / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_true(said > BITS);
    retained_end();
}

static void random_memory(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < 0x9000; k++) {
            image[k] = (uint8_t)random_below(256);
        }
        assert_false(open_image());
        memcpy(image, &(uint32_t){KYMO_RETAIN_MAGIC}, 4);
        assert_false(open_image());
    }
}

/* ---- what describes D's records ---------------------------------------------------- */

#define NOTES_AREA (&image[FAKE_NOTES])
#define IDS 4

static uint8_t note_bytes[DTRACE_LOG_NOTES_MAX];
static struct {
    uint32_t total;
    unsigned seed; /* of its bytes */
} wanted[IDS];

static uint8_t note_byte(unsigned seed, uint32_t i)
{
    return (uint8_t)((i + seed) * SALT >> 24);
}

/* As kernel/observe/retain.c. bytes 0: no room for them. */
static uint32_t put_note(uint32_t at, uint32_t id, uint32_t total, uint32_t bytes, unsigned seed)
{
    struct kymo_retain_note *note = (struct kymo_retain_note *)(void *)(NOTES_AREA + at);
    size_t from = offsetof(struct kymo_retain_note, boots);

    for (uint32_t i = 0; i < bytes; i++) {
        ((uint8_t *)(note + 1))[i] = note_byte(seed, i);
    }
    *note = (struct kymo_retain_note){
        .magic = KYMO_RETAIN_MAGIC,
        .boots = 1,
        .id = id,
        .total = total,
        .bytes = bytes,
        .data_crc = trace_crc(note + 1, bytes),
    };
    note->crc = trace_crc((uint8_t *)note + from, sizeof(*note) - from);
    wanted[id].total = bytes;
    wanted[id].seed = seed;
    return at + (uint32_t)sizeof(*note) + ((bytes + 7) & ~7u);
}

static void check_notes_event(const struct trace_slot *slot, uint32_t count, uint32_t have[IDS])
{
    const uint8_t *data = note_bytes;
    uint32_t id = slot[0].d1, total = slot[0].d2, from = slot[1].d1;
    uint32_t n = total - from < KYMO_RETAIN_NOTES_PART ? total - from : KYMO_RETAIN_NOTES_PART;

    for (uint32_t i = 0; i < count; i++) {
        memcpy(&note_bytes[i * 8], &slot[i].d1, 8);
    }
    assert_in_range(id, 0, IDS - 1);
    assert_int_equal(total, wanted[id].total);
    assert_int_equal(from, have[id]);
    assert_int_equal(count, (12 + n + 7) / 8);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(data[12 + i], note_byte(wanted[id].seed, from + i));
    }
    have[id] += n;
}

/* A buffer with them: what a kernel could have written. */
static void check_notes_buffer(const struct retain_piece *piece, uint32_t have[IDS])
{
    const struct trace_slot *slots = piece->slots;
    uint64_t time = 0;

    assert_int_equal(slots[0].d2, piece->count);
    assert_int_equal(retain_plausible(slots, piece->count, piece->cpu, slots[0].d1, &time),
                     piece->count);
    for (uint32_t i = 2, n; i < piece->count; i += n) {
        assert_int_equal(TRACE_GET_STRUCT(slots[i].header), TRACE_STRUCT_CB);
        assert_int_equal(TRACE_GET_EVENT(slots[i].header), DTRACE_LOG_NOTES);
        for (n = 1; TRACE_GET_STRUCT(slots[i + n - 1].header) != TRACE_STRUCT_CE; n++) {
            assert_true(i + n < piece->count);
        }
        check_notes_event(&slots[i], n, have);
    }
}

/* Whole ones only: how many bytes of each. After its CPU's last buffer in order and in time. */
static void check_notes(uint32_t have[IDS])
{
    struct retain_piece piece;
    uint32_t sequence[CPUS] = {0};
    uint64_t time[CPUS] = {0};

    memset(have, 0, IDS * sizeof(*have));
    while (retain_next(&found, &piece)) {
        if (TRACE_GET_EVENT(piece.slots[0].header) != TRACE_CONTROL_BUFFER) {
            continue;
        }
        uint64_t begins = (uint64_t)piece.slots[1].d1 << 32 | piece.slots[1].time;

        assert_true(piece.slots[0].d1 > sequence[piece.cpu]);
        assert_true(begins > time[piece.cpu]);
        sequence[piece.cpu] = piece.slots[0].d1;
        time[piece.cpu] = begins;
        if (piece.count > 2 && TRACE_GET_CLASS(piece.slots[2].header) == TRACE_CLASS_D) {
            check_notes_buffer(&piece, have);
        }
    }
    for (unsigned id = 0; id < IDS; id++) {
        assert_true(have[id] == 0 || have[id] == wanted[id].total);
    }
}

static uint32_t put_some_notes(void)
{
    uint32_t at = 0;

    memset(wanted, 0, sizeof(wanted));
    at = put_note(at, 0, 1, 1, 2);
    at = put_note(at, 1, 20 * KYMO_RETAIN_NOTES_PART, 20 * KYMO_RETAIN_NOTES_PART, 3);
    at = put_note(at, 2, 16501, 16501, 4);
    memset(NOTES_AREA + at, 0, sizeof(struct kymo_retain_note));
    return at;
}

static void notes_come_along(void **state)
{
    uint32_t have[IDS], at;

    (void)state;
    retained_boot(4);
    for (unsigned n = 0; n < 3000; n++) {
        retained_make(random_below(CPUS));
        if (n % 500 == 0) {
            /* A new high word is near. */
            fake_pass(0, UINT64_C(0x100000000) - (uint32_t)fake.clock[0] - random_below(60));
        }
        if (n % 100) {
            continue;
        }
        stop_the_machine();
        at = put_some_notes();
        assert_true(open_image());
        for (unsigned twice = 0; twice < 2; twice++) { /* as the tracelogger does */
            check_notes(have);
            assert_int_equal(found.losses.notes, 0);
            for (unsigned id = 0; id < IDS; id++) {
                assert_int_equal(have[id], wanted[id].total);
            }
            retain_rewind(&found);
        }
        put_note(at, 3, 100000, 0, 0); /* no room: said */
        check_notes(have);
        assert_int_equal(found.losses.notes, 1);
    }
    retained_end();
}

static void damaged_notes(void **state)
{
    uint32_t have[IDS], all;

    (void)state;
    retained_boot(2);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        retained_make(cpu);
    }
    for (unsigned i = 0; i < 2000; i++) {
        stop_the_machine();
        all = put_some_notes();
        for (uint32_t n = random_below(3) ? 1 : random_below(900), at = random_below(all); n; n--) {
            NOTES_AREA[at++] ^= (uint8_t)(1u << random_below(8));
        }
        assert_true(open_image());
        check_notes(have);
        for (unsigned id = 0; id < IDS; id++) {
            assert_true(have[id] == wanted[id].total || found.losses.notes > 0);
        }
    }
    /* Anything, then heads that are right and say anything. */
    for (unsigned i = 0; i < 300; i++) {
        stop_the_machine();
        for (uint32_t k = 0; k < FAKE_NOTES_BYTES; k++) {
            NOTES_AREA[k] = (uint8_t)random_below(256);
        }
        assert_true(open_image());
        check_notes(have);
        uint32_t at = random_below(2) ? 0 : put_some_notes(), huge = UINT32_MAX >> random_below(20);
        put_note(at, 3, huge, 8, 5);
        struct kymo_retain_note *note = (struct kymo_retain_note *)(void *)(NOTES_AREA + at);
        note->bytes = random_below(2) ? huge : huge & ~7u;
        note->crc =
            trace_crc(&note->boots, sizeof(*note) - offsetof(struct kymo_retain_note, boots));
        wanted[3].total = 0;
        retain_rewind(&found);
        check_notes(have);
        assert_true(found.losses.notes > 0);
    }
    memset(NOTES_AREA, 0, FAKE_NOTES_BYTES);
    retained_end();
}

/* ---- why it died ------------------------------------------------------------------- */

static void put_panic(const char *reason, uint32_t cpu, uint64_t time)
{
    struct kymo_retain_panic *panic = (struct kymo_retain_panic *)(void *)&image[FAKE_PANIC];
    struct kymo_panic *record = (struct kymo_panic *)(void *)panic->record;

    memset(panic, 0, sizeof(*panic));
    record->cpu = cpu;
    record->time = time;
    snprintf(record->reason, sizeof(record->reason), "%s", reason);
    panic->crc = trace_crc(panic->record, sizeof(panic->record));
    panic->magic = KYMO_RETAIN_MAGIC;
}

/* The last piece of its CPU; its text as SYSTEM/SLOG has it. */
static void check_crash(const char *reason, uint32_t cpu, uint64_t time)
{
    struct retain_piece piece;
    char text[2048] = "";
    bool seen = false;

    put_panic(reason, cpu, time);
    assert_true(open_image());
    assert_true(found.panicked);
    while (retain_next(&found, &piece)) {
        uint64_t last = (uint64_t)piece.slots[1].d1 << 32 | piece.slots[piece.count - 1].time;

        if (piece.count < 2 || TRACE_GET_CLASS(piece.slots[2].header) != TRACE_CLASS_SYSTEM) {
            continue;
        }
        seen = true;
        assert_int_equal(piece.cpu, cpu);
        assert_int_equal(piece.slots[0].d2, piece.count);
        assert_true(last >= time);
        for (uint32_t i = 3; i < piece.count; i++) {
            memcpy(text + (i - 3) * 8, &piece.slots[i].d1, 8);
        }
    }
    assert_true(seen);
    assert_int_equal(strncmp(text, reason, 127), 0);
}

static void the_crash_is_an_event(void **state)
{
    char long_text[191];

    (void)state;
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    retained_boot(2);
    stop_the_machine();
    check_crash("", 0, 1);
    retained_make(2);
    stop_the_machine();
    check_crash("it was late", 2, 0);
    check_crash("it was late", 2, fake.clock[2] + 100);
    check_crash("at the end of a wrap", 1, 0x4fffffffeull);
    check_crash(long_text, 2, UINT64_C(1) << 40);
    retained_end();
}

static void the_same_crc(void **state)
{
    (void)state;
    assert_int_equal(trace_crc("123456789", 9), 0xe3069283);
    for (unsigned i = 0; i < 1000; i++) {
        image[i] = (uint8_t)random_below(256);
        for (unsigned odd = 0; odd < 8 && odd <= i; odd++) {
            assert_int_equal(trace_crc(image + odd, i - odd),
                             ~crc32c_add(CRC32C_START, image + odd, i - odd));
        }
    }
}

static void refusals(void **state)
{
    uint64_t paddr;

    (void)state;
    fake_boot(2);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 1, 0, &paddr), -EINVAL);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 1025, 0, &paddr), -EINVAL);
    if (2000 * TRACE_BUFFER_BYTES > FAKE_WINDOW) {
        assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 1000, 0, &paddr), -ENOMEM);
    }
    assert_int_equal(fake.ring.per_cpu, 0);
    fake.retained_error = -EBUSY;
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 2, 0, &paddr), -EBUSY);
    assert_int_equal(command_as(OWNER, _NTO_TRACE_ALLOCBUFFER, 2, 0, &paddr), 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    fake.retained_error = 0;
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 2, 0, &paddr), 0);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 2, 0, &paddr), -EEXIST);
    assert_int_equal(command_as((void *)0x2000, KYMO_TRACE_ALLOCRETAINED, 2, 0, &paddr), -EEXIST);
    retained_end();
}

/* Of all that came before: each time that a machine stopped its marks were looked at. */
static void marks_were_cleaned(void **state)
{
    (void)state;
    assert_true(marks_seen > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_crc),          cmocka_unit_test(refusals),
        cmocka_unit_test(begun_and_empty),       cmocka_unit_test(any_time),
        cmocka_unit_test(in_the_middle),         cmocka_unit_test(losses_come_along),
        cmocka_unit_test(taken_is_told),         cmocka_unit_test(damaged),
        cmocka_unit_test(damaged_seal),          cmocka_unit_test(random_memory),
        cmocka_unit_test(the_crash_is_an_event), cmocka_unit_test(notes_come_along),
        cmocka_unit_test(damaged_notes),         cmocka_unit_test(marks_were_cleaned),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
