/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speculations (trace/dtrace/speculate.c) with CPUs that are threads, under a race detector: all of
 * them speculate into, commit and discard the same few, and one cleans, which comes to each CPU
 * between two of its probe firings. An id has one user at a time; no record is in a buffer for two
 * uses of an id; what one CPU has committed is committed on all; each record is committed,
 * discarded, or still where it was recorded.
 *
 * Red if a change of a state is no compare-and-swap, if the cleaner frees what it has not marked,
 * or if it leaves a CPU out. The states publish no plain data, since each CPU alone touches its
 * buffers: if that changes, the race detector reports it. Hence all orders are relaxed.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "test/tool/threads/crosscall.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/speculate.h"

#define CPUS 4
#define TURNS 30000
#define IDS 3      /* fewer than CPUs: they meet */
#define BYTES 4096 /* of a buffer */
#define MARK 0x80u /* speculate.c */
#define STATE(word) ((word)&0x7fu)

struct record {
    struct dtrace_record head;
    uint32_t id, use, number;
};

static const struct dtrace_shape shape = {sizeof(struct record), 4};
static const struct dtrace_shapes shapes = {&shape, 1};
static struct dtrace_buffer buffers[IDS][CPUS];
static struct dtrace_speculation table[IDS] = {
    {.buffers = buffers[0]}, {.buffers = buffers[1]}, {.buffers = buffers[2]}};
static struct dtrace_speculations all = {table, IDS, 0, 0};

static uint32_t used[IDS];   /* [a] the id has a user */
static uint32_t use_of[IDS]; /* [a] its uses so far */
static uint32_t wrong;       /* [a] */
static uint64_t cleaned;     /* by CPU 0: rounds */

static struct side { /* [c] */
    struct dtrace_buffer principal;
    uint8_t memory[IDS + 1][BYTES];
    bool committed[IDS]; /* by this CPU, and not cleaned since */
    uint64_t recorded, dropped, moved, discarded;
} sides[CPUS];

static void expect(bool good)
{
    __atomic_fetch_or(&wrong, !good, __ATOMIC_RELAXED);
}

/* ---- one CPU ----------------------------------------------------------------------- */

static uint32_t use_now(uint32_t index)
{
    return __atomic_load_n(&use_of[index], __ATOMIC_RELAXED);
}

/* Takes out of the principal buffer what was moved there, of any id; how many records. */
static size_t drain(struct side *own)
{
    size_t size;
    const struct record *record = (const void *)dtrace_buffer_swap(&own->principal, &size);
    size_t n = size / sizeof(*record);

    expect(size % sizeof(*record) == 0);
    for (size_t i = 0; i < n; i++) {
        expect(record[i].head.epid == 1 && record[i].use == use_now(record[i].id - 1));
    }
    own->moved += n;
    return n;
}

static void speculate_new(void)
{
    uint32_t id = dtrace_speculation_new(&all);

    if (id) {
        expect(__atomic_exchange_n(&used[id - 1], 1, __ATOMIC_RELAXED) == 0);
    }
}

static void record_to(struct side *own, uint32_t id)
{
    struct dtrace_buffer *to = dtrace_speculation_buffer(&all, id, thread_cpu);
    uint8_t *room = to ? dtrace_buffer_reserve(to, &shapes, shape.size, shape.align, false) : NULL;
    struct record record = {{1, 0, 0}, id, use_now(id - 1), (uint32_t)own->recorded};

    if (room) {
        memcpy(room, &record, sizeof(record));
        dtrace_buffer_commit(to, room, sizeof(record));
        own->recorded++;
    } else {
        own->dropped += to != NULL;
    }
}

static void commit(struct side *own, uint32_t id)
{
    size_t before = buffers[id - 1][thread_cpu].offset / sizeof(struct record);

    expect(dtrace_speculation_commit(&all, id, thread_cpu, &own->principal, &shapes));
    size_t n = drain(own);
    expect(n == 0 || n == before);
    if (n) {
        own->committed[id - 1] = true;
    }
}

static void clean_here(void *unused)
{
    struct side *own = &sides[thread_cpu];

    (void)unused;
    for (unsigned i = 0; i < IDS; i++) {
        uint32_t word = __atomic_load_n(&table[i].state, __ATOMIC_RELAXED);
        if (word & MARK) {
            expect(!own->committed[i] || STATE(word) == DTRACE_SPEC_COMMITTING);
            own->committed[i] = false;
            own->discarded += STATE(word) == DTRACE_SPEC_DISCARDING
                                  ? buffers[i][thread_cpu].offset / sizeof(struct record)
                                  : 0;
        }
    }
    dtrace_speculation_clean_cpu(&all, thread_cpu, &own->principal, &shapes);
    drain(own);
}

static void clean(void)
{
    if (!dtrace_speculation_clean_begin(&all)) {
        return;
    }
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        threads_run_on(cpu, clean_here, NULL);
    }
    for (unsigned i = 0; i < IDS; i++) {
        if (__atomic_load_n(&table[i].state, __ATOMIC_RELAXED) & MARK) {
            __atomic_fetch_add(&use_of[i], 1, __ATOMIC_RELAXED);
            __atomic_store_n(&used[i], 0, __ATOMIC_RELAXED);
        }
    }
    dtrace_speculation_clean_end(&all);
    cleaned++;
}

static void turn(struct side *own, uint32_t random)
{
    uint32_t id = 1 + random % IDS;

    switch (random / IDS % 16) {
    case 0:
    case 1:
        speculate_new();
        break;
    case 2:
        commit(own, id);
        break;
    case 3:
        expect(dtrace_speculation_discard(&all, id));
        break;
    default:
        record_to(own, id);
    }
}

static void *cpu_main(void *number)
{
    uint32_t random = (uint32_t)(uintptr_t)number + 1;

    thread_cpu = (unsigned)(uintptr_t)number;
    for (unsigned i = 0; i < TURNS; i++) {
        random = random * 1664525u + 1013904223u;
        turn(&sides[thread_cpu], random >> 8);
        threads_serve();
        if (thread_cpu == 0 && i % 8 == 0) {
            clean();
        }
    }
    threads_serve_to_the_end(CPUS);
    return NULL;
}

/* ---- all of them ------------------------------------------------------------------- */

static void make(void)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        sides[cpu].principal =
            (struct dtrace_buffer){.size = IDS * BYTES, .policy = DTRACE_POLICY_SWITCH};
        sides[cpu].principal.active = malloc(IDS * BYTES);
        sides[cpu].principal.spare = malloc(IDS * BYTES);
        for (unsigned i = 0; i < IDS; i++) {
            buffers[i][cpu] = (struct dtrace_buffer){
                .active = sides[cpu].memory[i], .size = BYTES, .policy = DTRACE_POLICY_SWITCH};
        }
    }
}

static void all_meet_at_the_same_speculations(void **state)
{
    pthread_t threads[CPUS];
    uint64_t moved = 0, discarded = 0;

    (void)state;
    make();
    for (uintptr_t i = 0; i < CPUS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, cpu_main, (void *)i), 0);
    }
    for (unsigned i = 0; i < CPUS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(wrong, 0);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        struct side *own = &sides[cpu];
        uint64_t left = 0;
        for (unsigned i = 0; i < IDS; i++) {
            left += buffers[i][cpu].offset / sizeof(struct record);
        }
        assert_int_equal(own->moved + own->discarded + left, own->recorded);
        moved += own->moved;
        discarded += own->discarded;
        free(own->principal.active);
        free(own->principal.spare);
    }
    assert_true(moved > 100 && discarded > 100 && cleaned > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_meet_at_the_same_speculations)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
