/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer and a taker of one ring at the same time, in every order in which their steps can fall:
 * both run as coroutines that may be switched at each TRACE_YIELD_POINT, and all schedules are
 * tried. Every buffer carries its sequence number, so that a torn, lost or doubled one shows.
 *
 * What the steps' order can't show, that a processor itself reorders them, is left to acquire and
 * release in trace/ring.c, and to the boots on real threads (test/board, mode "multi").
 */
#include "test/trace/look.h"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "test/trace/yield.h"

#define COUNT_MAX 3
#define SEQUENCES 32
#define STEPS_MAX 64

enum who { WRITER, TAKER, NOBODY };

static struct {
    ucontext_t back, context[2];
    char stack[2][256 * 1024];
    bool done[2];
    enum who running;
    unsigned char choice[STEPS_MAX]; /* the schedule: who goes on at each step with a choice */
    unsigned steps, planned;
    const char *wrong;
} run;

static struct trace_ring ring;
static uint64_t tables[COUNT_MAX * 16];
static uint32_t memory[COUNT_MAX][2];
static unsigned rounds_written, rounds_taken;
static bool reuse;
static enum { RECORDED = 1, TAKEN, OVERWRITTEN } fate[SEQUENCES];
static unsigned skipped;

/* No cmocka assertion in a coroutine: it would jump out of its stack. */
static void expect(bool good, const char *what)
{
    if (!good && !run.wrong) {
        run.wrong = what;
    }
}

static void switch_point(const char *where)
{
    (void)where;
    if (run.running != NOBODY) {
        swapcontext(&run.context[run.running], &run.back);
    }
}

/* ---- the two sides ----------------------------------------------------------------- */

static void write_round(void)
{
    uint32_t index = TRACE_NONE, before;

    switch (trace_ring_obtain(&ring, reuse, &index)) {
    case TRACE_FOUND_NOTHING:
        skipped++;
        return;
    case TRACE_FOUND_READY:
        before = TRACE_WORD_SEQUENCE(ring.buffers[index].word);
        expect(before < SEQUENCES && fate[before] == RECORDED, "overwrites what was not there");
        fate[before] = OVERWRITTEN;
        break;
    case TRACE_FOUND_FREE:
        break;
    }
    trace_ring_begin(&ring, index);
    memory[index][0] = ring.sequence;
    switch_point("half written");
    memory[index][1] = ~ring.sequence;
    fate[ring.sequence] = RECORDED;
    trace_ring_close(&ring);
}

static void writer(void)
{
    for (unsigned i = 0; i < rounds_written; i++) {
        write_round();
    }
    run.done[WRITER] = true;
    swapcontext(&run.context[WRITER], &run.back);
}

static void taker(void)
{
    uint32_t last = 0;

    for (unsigned i = 0; i < rounds_taken; i++) {
        uint32_t index = trace_ring_take(&ring);

        if (index == TRACE_NONE) {
            continue;
        }
        uint32_t sequence = TRACE_WORD_SEQUENCE(ring.buffers[index].word);
        expect(sequence < SEQUENCES && fate[sequence] == RECORDED, "takes what was not there");
        expect(sequence > last, "takes in order");
        fate[sequence] = TAKEN;
        last = sequence;
        expect(memory[index][0] == sequence && memory[index][1] == ~sequence, "takes a torn one");
        switch_point("busy");
        expect(memory[index][0] == sequence && memory[index][1] == ~sequence, "BUSY was written");
        expect(trace_ring_give(&ring, index) == 0, "gives back what it took");
    }
    run.done[TAKER] = true;
    swapcontext(&run.context[TAKER], &run.back);
}

/* ---- schedules --------------------------------------------------------------------- */

static void start(enum who who, void (*body)(void))
{
    getcontext(&run.context[who]);
    run.context[who].uc_stack.ss_sp = run.stack[who];
    run.context[who].uc_stack.ss_size = sizeof(run.stack[who]);
    run.context[who].uc_link = NULL;
    makecontext(&run.context[who], body, 0);
    run.done[who] = false;
}

/* Who goes on: as planned, after that the writer; noted, if there was a choice. */
static enum who choose(void)
{
    if (run.done[WRITER] || run.done[TAKER]) {
        return run.done[WRITER] ? TAKER : WRITER;
    }
    assert_true(run.steps < STEPS_MAX);
    if (run.steps >= run.planned) {
        run.choice[run.steps] = WRITER;
    }
    return run.choice[run.steps++];
}

static void run_schedule(unsigned count)
{
    memset(fate, 0, sizeof(fate));
    memset(tables, 0, sizeof(tables));
    skipped = 0;
    ring = (struct trace_ring){.policy = TRACE_LINEAR};
    trace_ring_init(&ring, (uint8_t *)memory, count, sizeof(memory[0]), tables);
    start(WRITER, writer);
    start(TAKER, taker);
    run.steps = 0;
    while (!run.done[WRITER] || !run.done[TAKER]) {
        run.running = choose();
        swapcontext(&run.back, &run.context[run.running]);
    }
    run.running = NOBODY;
}

/* The next schedule in order: the last choice that was WRITER becomes TAKER. False: none left. */
static bool next_schedule(void)
{
    while (run.steps > 0 && run.choice[run.steps - 1] == TAKER) {
        run.steps--;
    }
    if (run.steps == 0) {
        return false;
    }
    run.choice[run.steps - 1] = TAKER;
    run.planned = run.steps;
    return true;
}

/* Every sequence number has one fate, and what is still READY can be taken. */
static void check_end(unsigned count)
{
    unsigned recorded = 0, overwritten = 0;
    uint32_t index;

    assert_null(run.wrong);
    assert_int_equal(ring.sequence + skipped, rounds_written);
    for (uint32_t s = 1; s <= ring.sequence; s++) {
        assert_int_not_equal(fate[s], 0);
        recorded += fate[s] == RECORDED;
        overwritten += fate[s] == OVERWRITTEN;
    }
    assert_int_equal(ring.overwritten, overwritten);
    assert_int_equal(trace_ring_free(&ring), count - recorded);
    while ((index = trace_ring_take(&ring)) != TRACE_NONE) {
        assert_int_equal(fate[TRACE_WORD_SEQUENCE(ring.buffers[index].word)], RECORDED);
        assert_int_equal(trace_ring_give(&ring, index), 0);
        recorded--;
    }
    assert_int_equal(recorded, 0);
    assert_int_equal(trace_ring_free(&ring), count);
}

static unsigned long all_schedules(unsigned count, bool overwrite, unsigned written, unsigned taken)
{
    unsigned long n = 0;

    rounds_written = written;
    rounds_taken = taken;
    reuse = overwrite;
    run.planned = 0;
    run.wrong = NULL;
    fake.yield = switch_point;
    run.running = NOBODY;
    do {
        run_schedule(count);
        check_end(count);
        n++;
    } while (next_schedule());
    fake.yield = NULL;
    return n;
}

static void overwriting_while_it_is_taken(void **state)
{
    unsigned long n = 0;

    (void)state;
    for (unsigned count = 1; count <= COUNT_MAX; count++) {
        n += all_schedules(count, true, 5, 1);
        n += all_schedules(count, true, 4, 2);
        n += all_schedules(count, true, 3, 2);
    }
    printf("%lu schedules\n", n);
    assert_true(n > 5000);
}

static void skipping_while_it_is_taken(void **state)
{
    unsigned long n = 0;

    (void)state;
    for (unsigned count = 1; count <= COUNT_MAX; count++) {
        n += all_schedules(count, false, 4, 2);
        n += all_schedules(count, false, 3, 3);
    }
    printf("%lu schedules\n", n);
    assert_true(n > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overwriting_while_it_is_taken),
        cmocka_unit_test(skipping_while_it_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
