/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who lived, in retained memory: what lib/retain makes of the table of names, of rings that have
 * wrapped on some CPUs, and of a table that is damaged. A name that is given was put there, and one
 * that is not given is said to be damaged. Also the events of a state dump. SEED=n repeats a run.
 */
#include "test/trace/retained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"
#include "trace/log.h"

#define TABLE ((struct kymo_retain_name *)(void *)&image[FAKE_NAMES])
#define LONG_TEXT UINT64_C(0xffffff8000001000)

/* As kernel/observe/retain_names.c and kernel/observe/retain.c. */
static void seal_entry(struct kymo_retain_name *name)
{
    size_t from = offsetof(struct kymo_retain_name, boots);

    name->magic = KYMO_RETAIN_MAGIC;
    name->crc = trace_crc((uint8_t *)name + from, sizeof(*name) - from);
}

static void put_name(unsigned i, int32_t pid, int32_t tid, uint64_t ended, uint64_t text,
                     const char *name)
{
    TABLE[i] = (struct kymo_retain_name){.boots = 1,
                                         .pid = pid,
                                         .ppid = 1,
                                         .tid = tid,
                                         .ended = ended,
                                         .text = text,
                                         .text_size = text ? 0x2000 : 0};
    strncpy(TABLE[i].name, name, sizeof(TABLE[i].name) - 1);
    seal_entry(&TABLE[i]);
}

/* A machine that has recorded so much on each CPU, from a time on. */
static void record(const unsigned events[CPUS], uint64_t from)
{
    uint64_t paddr;

    fake_boot(CPUS);
    memset(fake_window + FAKE_NAMES, 0, FAKE_FREE - FAKE_NAMES);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        fake_pass(cpu, from);
    }
    assert_int_equal(command_as(OWNER, KYMO_TRACE_ALLOCRETAINED, 2, 0, &paddr), 0);
    assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
    assert_int_equal(command(_NTO_TRACE_ADDALLCLASSES), 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        struct fake_where back = fake_on(cpu);

        for (unsigned n = 0; n < events[cpu]; n++) {
            trace_user_simple(5, n, n);
            fake_exit();
        }
        fake_back(back);
    }
    stop_the_machine();
}

static void end(void)
{
    command(_NTO_TRACE_STOP);
    command(_NTO_TRACE_DEALLOCBUFFER);
}

static const unsigned wrapped[CPUS] = {10, 5000, 5000};
/* The events of a CPU that has lost one buffer of its two. */
#define LOST_ONE (5 * TRACE_BUFFER_SLOTS / 2)

/* ---- what comes out ---------------------------------------------------------------- */

#define GIVEN_MOST (2 * FAKE_NAMES_MOST)

static struct given {
    unsigned n;
    int cpu; /* whose buffers they were; -1: there were none */
    unsigned buffers;
    uint64_t last;
    struct seen events[GIVEN_MOST];
} given;

static void take_names(const struct retain_piece *piece)
{
    static struct trace_slot slots[TRACE_BUFFER_SLOTS];
    struct scan scan = {0};

    memcpy(slots, piece->slots, piece->count * sizeof(*slots));
    for (uint32_t i = 2; i < piece->count; i++) {
        assert_true(slots[i].header & _NTO_TRACE_PROCESS_INJECTED);
        slots[i].header &= ~(uint32_t)_NTO_TRACE_PROCESS_INJECTED;
    }
    scan_begin(&scan, piece->cpu, slots, piece->count, slots[0].d1, piece->count);
    while (scan_next(&scan)) {
        assert_in_range(given.n, 0, GIVEN_MOST - 1);
        given.last = scan.seen.time;
        if (scan.seen.class != TRACE_CLASS_CONTROL) {
            given.events[given.n++] = scan.seen;
        }
    }
    given.cpu = (int)piece->cpu;
    given.buffers++;
}

/* Their buffers are the first ones of one CPU, and before all others in time. */
static void look_at_all(void)
{
    struct retain_piece piece;
    uint32_t sequence[CPUS] = {0};
    bool others = false;

    memset(&given, 0, sizeof(given));
    given.cpu = -1;
    while (retain_next(&found, &piece)) {
        if (TRACE_GET_EVENT(piece.slots[0].header) != TRACE_CONTROL_BUFFER) {
            continue;
        }
        uint64_t begins = (uint64_t)piece.slots[1].d1 << 32 | piece.slots[0].time;

        assert_true(sequence[piece.cpu] == 0 || piece.slots[0].d1 == sequence[piece.cpu] + 1);
        assert_int_equal(piece.count, piece.slots[0].d2);
        assert_in_range(piece.count, 3, TRACE_BUFFER_SLOTS);
        assert_true(begins > given.last);
        if (piece.slots[2].header & _NTO_TRACE_PROCESS_INJECTED) {
            assert_false(others);
            assert_true(given.cpu == -1 || given.cpu == (int)piece.cpu);
            take_names(&piece);
        } else {
            others = true;
        }
        sequence[piece.cpu] = piece.slots[0].d1;
    }
}

/* Event i has these words, and the text after them. */
static void check_event(unsigned i, uint32_t header, unsigned n, const uint32_t *words,
                        const char *text)
{
    const struct seen *e = &given.events[i];

    assert_int_equal(e->header & ~TRACE_CPU_MASK, header);
    assert_memory_equal(e->words, words, n * sizeof(*words));
    assert_string_equal((const char *)&e->words[n], text);
}

#define CREATE (TRACE_CLASS_PR_TH << TRACE_CLASS_SHIFT | 192)
#define THREAD_NAME (TRACE_CLASS_PR_TH << TRACE_CLASS_SHIFT | 320)
#define MAPNAME (TRACE_CLASS_SYSTEM << TRACE_CLASS_SHIFT | 8)

static void put_some(void)
{
    put_name(0, 1, 0, 0, 0, "kymo");
    put_name(1, 18, 0, 0, 0x1000, "init");
    put_name(2, 19, 0, UINT64_MAX, LONG_TEXT, "died-late");
    put_name(3, 20, 0, 1, 0x1000, "died-early");
    put_name(16, 1, 2, 0, 0, "idle");
    put_name(17, 18, 1, 0, 0, "");
    put_name(18, 18, 3, UINT64_MAX, 0, "worker");
    put_name(19, 7, 3, 0, 0, "another boot's");
    TABLE[19].boots = 2;
    seal_entry(&TABLE[19]);
}

static void check_some(void)
{
    assert_int_equal(given.cpu, 1);
    assert_int_equal(given.n, 7);
    check_event(0, CREATE, 2, (const uint32_t[]){1, 1}, "kymo");
    check_event(1, CREATE, 2, (const uint32_t[]){1, 18}, "init");
    check_event(2, MAPNAME, 3, (const uint32_t[]){18, 0x1000, 0x2000}, "init");
    check_event(3, CREATE, 2, (const uint32_t[]){1, 19}, "died-late");
    check_event(4, MAPNAME | TRACE_EVENT_64, 5,
                (const uint32_t[]){19, 0x1000, 0xffffff80, 0x2000, 0}, "died-late");
    check_event(5, THREAD_NAME, 2, (const uint32_t[]){1, 2}, "idle");
    check_event(6, THREAD_NAME, 2, (const uint32_t[]){18, 3}, "worker");
}

/* Who lived when the window begins, before all else, on the first CPU that has wrapped. */
static void who_lived_comes_first(void **state)
{
    static const uint64_t begins[] = {1000, UINT64_C(0x100000000) - 3000,
                                      UINT64_C(0x100000000) + 10, UINT64_C(0x700000000)};

    (void)state;
    for (unsigned i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
        record(wrapped, begins[i]);
        put_some();
        assert_true(open_image());
        look_at_all();
        check_some();
        assert_int_equal(found.losses.names, 1); /* another boot's */
        retain_rewind(&found);                   /* as the tracelogger does */
        look_at_all();
        check_some();
        assert_int_equal(found.losses.names, 1);
        end();
    }
}

static void a_whole_recording_has_them_itself(void **state)
{
    (void)state;
    record((const unsigned[]){10, 20, 30}, 1000);
    put_some();
    assert_true(open_image());
    look_at_all();
    assert_int_equal(given.cpu, -1);
    end();
}

static void fill(void)
{
    char name[KYMO_RETAIN_NAME_MAX];

    for (unsigned i = 0; i < FAKE_NAMES_MOST; i++) {
        snprintf(name, sizeof(name), "%03u-%.*s", i, (int)(i % 44),
                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        put_name(i, (int32_t)i + 1, 0, 0, i % 2 ? 0x1000 : 0, name);
    }
}

/* Each name that is given was put there; how many. */
static unsigned check_filled(void)
{
    unsigned names = 0;

    for (unsigned i = 0; i < given.n; i++) {
        const struct seen *e = &given.events[i];
        const uint32_t *words = e->words;
        bool created = (e->header & ~TRACE_CPU_MASK) == CREATE;
        uint32_t pid = created ? words[1] : words[0];

        assert_true(created || (e->header & ~TRACE_CPU_MASK) == MAPNAME);
        assert_in_range(pid, 1, FAKE_NAMES_MOST);
        const char *text = (const char *)&words[created ? 2 : 3];
        assert_int_equal(atoi(text), pid - 1);
        assert_int_equal(strlen(text), 4 + (pid - 1) % 44);
        names += created;
    }
    return names;
}

/* More than one buffer holds: all names are given if a CPU has lost enough buffers, or else as many
 * as fit, and the others are counted. */
static void a_full_table(void **state)
{
    static const unsigned events[][CPUS] = {
        {10, 5000, 5000}, {10, LOST_ONE, 5000}, {10, LOST_ONE, 10}};
    static const int cpu[] = {1, 2, 1};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        record(events[i], 1000);
        fill();
        assert_true(open_image());
        look_at_all();
        unsigned names = check_filled();
        assert_int_equal(names + found.losses.names, FAKE_NAMES_MOST);
        assert_int_equal(given.cpu, cpu[i]);
        if (i < 2) {
            assert_int_equal(names, FAKE_NAMES_MOST);
            assert_in_range(given.buffers, 2, 2 + FAKE_NAMES_MOST * 10 / (TRACE_BUFFER_SLOTS - 20));
        } else {
            assert_int_equal(given.buffers, 1);
            assert_in_range(names, TRACE_BUFFER_SLOTS / 16, FAKE_NAMES_MOST - 1);
        }
        end();
    }
}

/* Entries that are not free: a magic that is neither 0 nor right is a damaged one. */
static unsigned magics(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < FAKE_NAMES_MOST; i++) {
        n += TABLE[i].magic != 0;
    }
    return n;
}

static void damaged(void **state)
{
    unsigned rounds = getenv("ROUNDS") ? (unsigned)atoi(getenv("ROUNDS")) : 400;

    (void)state;
    record(wrapped, 1000);
    for (unsigned i = 0; i < rounds; i++) {
        uint32_t bytes = FAKE_NAMES_MOST * sizeof(struct kymo_retain_name);
        uint32_t at = random_below(bytes);

        fill();
        for (uint32_t n = random_below(3) ? 1 : random_below(bytes); n && at < bytes; n--) {
            image[FAKE_NAMES + at++] ^= (uint8_t)(1u << random_below(8));
        }
        assert_true(open_image());
        look_at_all();
        assert_int_equal(check_filled() + found.losses.names, magics());
    }
    /* Right CRCs, and anything else. */
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned k = 0; k < FAKE_NAMES_MOST; k++) {
            for (unsigned b = 0; b < sizeof(*TABLE); b++) {
                ((uint8_t *)&TABLE[k])[b] = (uint8_t)random_below(256);
            }
            TABLE[k].boots = 1;
            seal_entry(&TABLE[k]);
        }
        assert_true(open_image());
        look_at_all();
    }
    end();
}

/* ---- a state dump ------------------------------------------------------------------- */

/* Its events are sound in the classes that it has, and in no other. */
static void dumps_come_along(void **state)
{
    const uint32_t words[2] = {1, 2};
    const struct trace_words event = {words, 2, NULL, 0};
    struct retain_piece piece;
    unsigned marked = 0;

    (void)state;
    retained_boot(2);
    TRACE_DUMP(proc_create_name, 1, 2, "a process");
    TRACE_DUMP(thread_create, 2, 1);
    trace_dump_thread_state(1, 2, 1, 10, 1);
    TRACE_DUMP(mapname, 2, 0x1000, 0x100, "a process");
    stop_the_machine();
    assert_true(open_image());
    assert_int_equal(found.losses.buffers, 0);
    while (retain_next(&found, &piece)) {
        for (uint32_t i = 0; i < piece.count; i++) {
            bool begin = TRACE_GET_STRUCT(piece.slots[i].header) <= TRACE_STRUCT_CB;

            marked += begin && piece.slots[i].header & TRACE_STATE_DUMP;
        }
    }
    assert_int_equal(marked, 4);
    trace_log_words(TRACE_CLASS_USER, 1 | TRACE_STATE_DUMP, &event);
    trace_log_words(TRACE_CLASS_USER, 1, &event);
    stop_the_machine();
    assert_true(open_image());
    while (retain_next(&found, &piece)) {
        for (uint32_t i = 0; i < piece.count; i++) {
            assert_int_not_equal(TRACE_GET_CLASS(piece.slots[i].header), TRACE_CLASS_USER);
        }
    }
    assert_true(found.losses.unknown > 0);
    retained_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lived_comes_first),
        cmocka_unit_test(a_whole_recording_has_them_itself),
        cmocka_unit_test(a_full_table),
        cmocka_unit_test(damaged),
        cmocka_unit_test(dumps_come_along),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
