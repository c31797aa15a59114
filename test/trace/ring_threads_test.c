/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One CPU's ring (trace/ring.c) with its writer and the process that takes buffers on two threads,
 * under a race detector. The writer fills buffers with plain stores, as events are written, and the
 * taker reads them with plain loads: only the ring's own atomics order the two. Every buffer that
 * is taken holds what was written for its sequence and nothing else; every sequence is taken or
 * overwritten, once. At each yield point the thread lets the other one run.
 *
 * Red if a RELEASE in ring.c or ring_writer.h is made RELAXED where data is published: READY
 * (close), FREE (give).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "trace/ring.h"

#define BUFFERS 4
#define WORDS 32 /* of a buffer */
#define TURNS 30000

unsigned trace_host_cpu, trace_host_irq_depth;
uint32_t trace_host_remembered;

static struct trace_ring ring;
static uint32_t memory[BUFFERS][WORDS];
static uint64_t tables[64];
static uint64_t overwritten, taken, missed;
static uint32_t last_taken; /* a sequence */
static uint32_t over;       /* [a] the writer has ended */
static uint32_t wrong;      /* [a] */

static void expect(bool good)
{
    __atomic_fetch_or(&wrong, !good, __ATOMIC_RELAXED);
}

/* All words of a buffer are its sequence. */
static void fill(uint32_t index, uint32_t sequence)
{
    for (unsigned i = 0; i < WORDS; i++) {
        memory[index][i] = sequence;
    }
    ring.buffers[index].used = sequence;
}

static void *writer(void *reuse)
{
    uint32_t index;

    for (unsigned i = 0; i < TURNS; i++) {
        enum trace_found found = trace_ring_obtain(&ring, *(bool *)reuse, &index);

        while (found == TRACE_FOUND_NOTHING) {
            missed++;
            threads_yield("full");
            found = trace_ring_obtain(&ring, *(bool *)reuse, &index);
        }
        overwritten += found == TRACE_FOUND_READY;
        trace_ring_begin(&ring, index);
        fill(index, ring.sequence);
        trace_ring_close(&ring);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* What the taker finds: its sequence, and that it comes after all that it had before. */
static void look(uint32_t index)
{
    uint32_t sequence = TRACE_WORD_SEQUENCE(ring.buffers[index].word);

    expect(sequence > last_taken && ring.buffers[index].used == sequence);
    last_taken = sequence;
    for (unsigned i = 0; i < WORDS; i++) {
        expect(memory[index][i] == sequence);
    }
    taken++;
}

static void *taker(void *unused)
{
    bool last_look = false;

    while (!last_look) {
        last_look = __atomic_load_n(&over, __ATOMIC_ACQUIRE) != 0;
        for (uint32_t i = trace_ring_take(&ring); i != TRACE_NONE; i = trace_ring_take(&ring)) {
            look(i);
            expect(trace_ring_give(&ring, i) == 0);
        }
        threads_yield("nothing to take");
    }
    return unused;
}

static void run(bool reuse)
{
    pthread_t threads[2];

    memset(tables, 0, sizeof(tables));
    assert_true(trace_ring_table_bytes(BUFFERS) <= sizeof(tables));
    overwritten = taken = missed = 0;
    last_taken = over = wrong = 0;
    trace_ring_init(&ring, (uint8_t *)memory, BUFFERS, sizeof(memory[0]), tables);
    assert_int_equal(pthread_create(&threads[0], NULL, writer, &reuse), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, taker, NULL), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(taken + overwritten, TURNS);
}

static void a_buffer_is_taken_as_it_was_written(void **state)
{
    (void)state;
    run(false);
    assert_int_equal(overwritten, 0);
}

/* The taker has one buffer in hand at most, so there is always one that is FREE or READY (I8). */
static void the_oldest_is_used_again_or_taken(void **state)
{
    (void)state;
    run(true);
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_is_taken_as_it_was_written),
        cmocka_unit_test(the_oldest_is_used_again_or_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
