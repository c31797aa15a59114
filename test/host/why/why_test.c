/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo why on captures with a planted cause: an inversion, a message that a server leaves waiting,
 * a chain that an interrupt begins, threads that seem to wait for each other, a loss.
 */
#include <stdlib.h>

#include "host/why/why.h"
#include "test/host/support.h"
#include "trace/slot.h"

#define STEP 10 /* cycles between two events; a cycle is 1000 ns */
#define NS(events) ((int64_t)(events)*STEP * 1000)

struct planted {
    struct mk *mk;
    struct kev_capture *capture;
    struct timeline *timeline;
};

static void put(struct planted *planted, unsigned class, unsigned number, uint32_t a, uint32_t b)
{
    mk_event(planted->mk, 0, STEP, class, number, (uint32_t[]){a, b}, 2);
}

/* In the wide form, as threads' events are with priorities. */
static void state(struct planted *planted, unsigned number, uint32_t pid, uint32_t tid,
                  uint32_t priority)
{
    mk_event(planted->mk, 0, STEP, TRACE_CLASS_PR_TH, number | TRACE_EVENT_64,
             (uint32_t[]){pid, tid, priority, 1}, 4);
}

static void interrupt(struct planted *planted, uint32_t number)
{
    put(planted, TRACE_CLASS_INT, 1, number, 0);
    put(planted, TRACE_CLASS_INT, 2, number, 0);
}

static struct planted planted_new(void)
{
    return (struct planted){
        .mk = mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"})};
}

static void planted_read(struct planted *planted)
{
    mk_flush_all(planted->mk);
    mk_end(planted->mk);
    mk_keep(planted->mk);
    planted->capture = kev_capture_new();
    assert_int_equal(
        kev_capture_open_memory(planted->capture, planted->mk->bytes, planted->mk->len, "planted"),
        KEV_COMPLETE);
    planted->timeline = timeline_new(planted->capture, NULL, NULL);
    assert_non_null(planted->timeline);
}

static void planted_free(struct planted *planted)
{
    timeline_free(planted->timeline);
    kev_capture_free(planted->capture);
    mk_free(planted->mk);
}

static uint32_t thread(const struct planted *planted, int32_t pid, int32_t tid)
{
    for (uint32_t i = 0; i < planted->timeline->nthreads; i++) {
        if (planted->timeline->threads[i].pid == pid && planted->timeline->threads[i].tid == tid) {
            return i;
        }
    }
    fail_msg("no thread %d:%d", pid, tid);
    return TIMELINE_NONE;
}

/* The first span of a thread in this state. */
static const struct timeline_span *span(const struct planted *planted, uint32_t of, unsigned in)
{
    for (uint32_t n = 0; n < planted->timeline->threads[of].count; n++) {
        const struct timeline_span *found = timeline_span(planted->timeline, of, n);

        if (found->state == in) {
            return found;
        }
    }
    fail_msg("no span in state %u", in);
    return NULL;
}

static unsigned state_of(const struct why *why, unsigned part)
{
    assert_true(part < why->nparts);
    return why->timeline->spans[why->parts[part].span].state;
}

/* Parts of depth 0 fill the interval; those of a deeper one fill the wait before them. */
static void path_check(const struct why *why)
{
    int64_t at[WHY_DEPTH + 1] = {why->from};

    for (uint32_t i = 0; i < why->nparts; i++) {
        const struct why_part *part = &why->parts[i];

        assert_true(part->from < part->to && part->depth < WHY_DEPTH);
        assert_true(i == 0 || part->depth <= why->parts[i - 1].depth + 1);
        assert_int_equal(part->from, at[part->depth]);
        at[part->depth] = part->to;
        at[part->depth + 1] = part->from;
    }
    assert_int_equal(at[0], why->to);
}

#define LOW 5
#define MIDDLE 10
#define HIGH 20

/* LOW holds the semaphore that HIGH waits for, while MIDDLE runs. */
static void inversion_named(void **unused)
{
    struct planted planted = planted_new();
    struct why why;
    uint32_t low, middle, high;

    (void)unused;
    state(&planted, STATE_READY, 7, 1, HIGH);
    state(&planted, STATE_RUNNING, 7, LOW, LOW);
    state(&planted, STATE_NANOSLEEP, 7, 2, MIDDLE);
    state(&planted, STATE_READY, 7, LOW, LOW);
    state(&planted, STATE_RUNNING, 7, 1, HIGH);
    put(&planted, TRACE_CLASS_KER_CALL, 85, 0x1234, 0);
    state(&planted, STATE_SEM, 7, 1, HIGH);
    state(&planted, STATE_RUNNING, 7, LOW, LOW);
    interrupt(&planted, 27);
    state(&planted, STATE_READY, 7, 2, MIDDLE);
    state(&planted, STATE_READY, 7, LOW, LOW);
    state(&planted, STATE_RUNNING, 7, 2, MIDDLE);
    state(&planted, STATE_NANOSLEEP, 7, 2, MIDDLE);
    state(&planted, STATE_RUNNING, 7, LOW, LOW);
    put(&planted, TRACE_CLASS_KER_CALL, 84, 0x1234, 0);
    state(&planted, STATE_READY, 7, 1, HIGH);
    state(&planted, STATE_READY, 7, LOW, LOW);
    state(&planted, STATE_RUNNING, 7, 1, HIGH);
    put(&planted, TRACE_CLASS_USER, 1, 1, 1);
    planted_read(&planted);
    low = thread(&planted, 7, LOW);
    middle = thread(&planted, 7, 2);
    high = thread(&planted, 7, 1);
    assert_true(why_path(&why, planted.timeline, high, span(&planted, high, STATE_SEM)->from,
                         span(&planted, high, STATE_SEM)->to));
    path_check(&why);
    assert_int_equal(why.nparts, 4);
    assert_int_equal(state_of(&why, 0), STATE_SEM);
    assert_int_equal(planted.timeline->spans[why.parts[0].span].object, 0x1234);
    assert_int_equal(state_of(&why, 1), STATE_RUNNING);
    assert_int_equal(state_of(&why, 2), STATE_READY);
    assert_int_equal(state_of(&why, 3), STATE_RUNNING);
    assert_int_equal(why.parts[2].thread, low);
    assert_int_equal(why.ninversions, 1);
    assert_int_equal(why.inversions[0].victim, high);
    assert_int_equal(why.inversions[0].holder, low);
    assert_int_equal(why.inversions[0].middle, middle);
    assert_int_equal(why.inversions[0].middle_priority, MIDDLE);
    assert_true(why.inversions[0].ns >= NS(2));
    why_free(&why);
    planted_free(&planted);
}

/* An interrupt wakes a driver, which answers a client: the chain goes back to the interrupt. */
static void chain_from_interrupt(void **unused)
{
    struct planted planted = planted_new();
    struct why why;
    uint32_t client, driver;

    (void)unused;
    state(&planted, STATE_RUNNING, 9, 1, 10);
    state(&planted, STATE_RECEIVE, 8, 1, 10);
    put(&planted, TRACE_CLASS_COMM, 0, 0x77, 8);
    state(&planted, STATE_REPLY, 9, 1, 10);
    put(&planted, TRACE_CLASS_COMM, 2, 0x77, 8);
    state(&planted, STATE_READY, 8, 1, 10);
    state(&planted, STATE_RUNNING, 8, 1, 10);
    state(&planted, STATE_INTR, 8, 1, 10);
    state(&planted, STATE_RUNNING, 1, 1, 0);
    interrupt(&planted, 40);
    state(&planted, STATE_READY, 8, 1, 10);
    state(&planted, STATE_READY, 1, 1, 0);
    state(&planted, STATE_RUNNING, 8, 1, 10);
    put(&planted, TRACE_CLASS_COMM, 10, 1, 9);
    state(&planted, STATE_READY, 9, 1, 10);
    state(&planted, STATE_RECEIVE, 8, 1, 10);
    state(&planted, STATE_RUNNING, 9, 1, 10);
    put(&planted, TRACE_CLASS_USER, 1, 1, 1);
    planted_read(&planted);
    client = thread(&planted, 9, 1);
    driver = thread(&planted, 8, 1);
    assert_int_equal(planted.timeline->nmessages, 1);
    assert_int_equal(planted.timeline->messages[0].server, driver);
    assert_true(why_path(&why, planted.timeline, client, planted.timeline->messages[0].sent,
                         planted.timeline->to));
    path_check(&why);
    assert_int_equal(state_of(&why, 1), STATE_REPLY);
    assert_int_equal(why.parts[1].depth, 0);
    assert_int_equal(why.parts[2].thread, driver);
    assert_int_equal(why.parts[2].depth, 1);
    assert_int_equal(why.nchain, 2);
    assert_int_equal(why.chain[0].thread, client);
    assert_int_equal(why.chain[0].by, driver);
    assert_int_equal(why.chain[1].cause, TIMELINE_CAUSE_INTERRUPT);
    assert_int_equal(why.chain[1].by, 40);
    assert_int_equal(why.ninversions, 0);
    why_free(&why);
    planted_free(&planted);
}

/* Each of two threads holds what the other one waits for: the path says so, and goes round once. */
static void circle_ends(void **unused)
{
    struct planted planted = planted_new();
    struct why why;
    uint32_t first;

    (void)unused;
    state(&planted, STATE_READY, 7, 2, 10);
    state(&planted, STATE_RUNNING, 7, 1, 10);
    put(&planted, TRACE_CLASS_KER_CALL, 80, 0x1000, 2);
    state(&planted, STATE_MUTEX, 7, 1, 10);
    state(&planted, STATE_RUNNING, 7, 2, 10);
    put(&planted, TRACE_CLASS_KER_CALL, 80, 0x2000, 1);
    state(&planted, STATE_MUTEX, 7, 2, 10);
    state(&planted, STATE_RUNNING, 1, 1, 0);
    put(&planted, TRACE_CLASS_USER, 1, 1, 1);
    planted_read(&planted);
    first = thread(&planted, 7, 1);
    assert_true(why_path(&why, planted.timeline, first, span(&planted, first, STATE_MUTEX)->from,
                         planted.timeline->to));
    path_check(&why);
    assert_int_equal(why.nparts, 3); /* both waits, and between them the other thread ran */
    assert_true(!why.parts[0].circle && why.parts[2].circle && why.parts[2].cut);
    assert_true(why.parts[why.nparts - 1].cut);
    why_free(&why);
    planted_free(&planted);
}

/* What a thread waited for is not followed over a loss: that stretch is unknown. */
static void loss_said(void **unused)
{
    struct planted planted = planted_new();
    struct why why;
    uint32_t client;
    unsigned unknown = 0;

    (void)unused;
    state(&planted, STATE_RUNNING, 9, 1, 10);
    put(&planted, TRACE_CLASS_KER_CALL, 85, 0x1234, 0);
    state(&planted, STATE_SEM, 9, 1, 10);
    state(&planted, STATE_RUNNING, 1, 1, 0);
    mk_flush(planted.mk, 0);
    state(&planted, STATE_RUNNING, 9, 1, 10);
    mk_lose_buffer(planted.mk, 0);
    state(&planted, STATE_RUNNING, 1, 1, 0);
    state(&planted, STATE_READY, 9, 1, 10);
    state(&planted, STATE_RUNNING, 9, 1, 10);
    put(&planted, TRACE_CLASS_USER, 1, 1, 1);
    planted_read(&planted);
    assert_int_equal(planted.timeline->outcome, KEV_LOSSY);
    client = thread(&planted, 9, 1);
    assert_true(why_path(&why, planted.timeline, client, planted.timeline->threads[client].from,
                         planted.timeline->to));
    path_check(&why);
    for (uint32_t i = 0; i < why.nparts; i++) {
        unknown += state_of(&why, i) == TIMELINE_UNKNOWN;
        assert_int_equal(why.parts[i].depth, 0);
    }
    assert_int_equal(unknown, 1);
    why_free(&why);
    planted_free(&planted);
}

#define CPUS 12 /* more are idle than why_ran() gives */

/* A thread waits for its CPU while all others are idle: who ran instead is said before those. */
static void idle_ones_last(void **unused)
{
    struct planted planted = {.mk = mk_new(&(struct mk_options){
                                  .ncpu = CPUS, .checked = true, .filters = "all classes"})};
    struct why_ran ran[WHY_RAN];
    const struct timeline_span *wait;
    unsigned n;

    (void)unused;
    for (unsigned cpu = 1; cpu < CPUS; cpu++) {
        mk_event(planted.mk, cpu, STEP, TRACE_CLASS_PR_TH, STATE_RUNNING | TRACE_EVENT_64,
                 (uint32_t[]){1, cpu + 1, 0, 1}, 4);
        mk_event(planted.mk, cpu, 100 * STEP, TRACE_CLASS_USER, 5, (uint32_t[]){1, 2}, 2);
    }
    state(&planted, STATE_RUNNING, 7, 2, MIDDLE);
    state(&planted, STATE_READY, 7, 1, MIDDLE);
    for (unsigned i = 0; i < 10; i++) {
        state(&planted, STATE_RUNNING, 7, 2 + i % 2, MIDDLE);
    }
    state(&planted, STATE_RUNNING, 7, 1, MIDDLE);
    planted_read(&planted);
    wait = span(&planted, thread(&planted, 7, 1), STATE_READY);
    n = why_ran(planted.timeline, thread(&planted, 7, 1), wait->from, wait->to, ran);
    assert_int_equal(n, WHY_RAN);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(ran[i].idle, i >= 2);
        assert_int_equal(planted.timeline->threads[ran[i].thread].pid, i < 2 ? 7 : 1);
    }
    planted_free(&planted);
}

/* A message that nobody receives, until the client is killed: the killer is no server. */
static void message_to_nobody(void **unused)
{
    struct planted planted = planted_new();
    const struct timeline_span *wait;
    struct why why;

    (void)unused;
    state(&planted, STATE_RUNNING, 5, 1, 20);
    put(&planted, TRACE_CLASS_COMM, 0, 0x10001, 7);
    state(&planted, STATE_SEND, 5, 1, 20);
    state(&planted, STATE_RUNNING, 9, 1, 10);
    state(&planted, STATE_READY, 5, 1, 20);
    state(&planted, STATE_RUNNING, 5, 1, 20);
    put(&planted, TRACE_CLASS_USER, 1, 0, 0);
    planted_read(&planted);
    wait = timeline_span(planted.timeline, 0, 1);
    assert_int_equal(wait->state, STATE_SEND);
    assert_int_equal(why_holder(planted.timeline, wait), TIMELINE_NONE);
    assert_int_equal(why_waited_for(planted.timeline, wait), TIMELINE_NONE);
    assert_int_equal(why_waker(planted.timeline, wait), 1);
    assert_int_equal(planted.timeline->messages[0].flags, TIMELINE_ABORTED);
    assert_true(why_path(&why, planted.timeline, 0, wait->from, wait->to));
    assert_int_equal(why.nparts, 1); /* it is not followed into what the killer did */
    why_free(&why);
    planted_free(&planted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inversion_named), cmocka_unit_test(chain_from_interrupt),
        cmocka_unit_test(circle_ends),     cmocka_unit_test(loss_said),
        cmocka_unit_test(idle_ones_last),  cmocka_unit_test(message_to_nobody),
    };

    return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
