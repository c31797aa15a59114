/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when the ACTIVE buffer is full: every policy and overrun policy, with every number
 * of other buffers FREE, READY and BUSY, against rules written down once (expected()); and what
 * becomes of the account when the buffer that told of a loss is lost itself.
 */
#include "test/trace/look.h"

#include <string.h>

#include "trace/hook.h"
#include "trace/loss.h"

#define USER TRACE_CLASS_USER
#define FULL (TRACE_BUFFER_SLOTS - 2) /* events that fill a buffer */

static uint32_t number; /* of the next event */

static void insert(unsigned n)
{
    for (unsigned i = 0; i < n; i++, number++) {
        assert_int_equal(trace_user_simple(7, number, ~number), 0);
    }
}

enum policy { OVERWRITE, SKIP, FILL, RING };
static const uint32_t mode_of[] = {_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_SETLINEARMODE,
                                   KYMO_TRACE_SETFILLMODE, _NTO_TRACE_SETRINGMODE};

/* The buffers beside the full ACTIVE one. */
struct others {
    unsigned n_free, ready, busy;
};

static struct trace_slot kept[8][TRACE_BUFFER_SLOTS]; /* BUSY buffers' contents, by index */

static void keep_busy(void)
{
    for (unsigned i = 0; i < ring_of(0)->count; i++) {
        if (look_state(0, i) == TRACE_BUSY) {
            memcpy(kept[i], look_slots(0, i), sizeof(kept[i]));
        }
    }
}

static void check_busy(unsigned busy)
{
    assert_int_equal(look_count(0, TRACE_BUSY), busy);
    for (unsigned i = 0; i < ring_of(0)->count; i++) {
        if (look_state(0, i) == TRACE_BUSY) {
            assert_memory_equal(kept[i], look_slots(0, i), sizeof(kept[i]));
        }
    }
}

/* Buffer k (from 1) holds 10*k events, the last one is full. Taking needs STOP under some
 * policies, so all of the policies get there by stops. */
static void arrange(enum policy policy, const struct others *others)
{
    unsigned n = others->n_free + others->ready + others->busy;
    struct kymo_trace_buffer b[8];

    fake_boot(1);
    number = 0;
    start_tracing(n + 1, mode_of[policy]);
    assert_int_equal(command(policy == SKIP ? _NTO_TRACE_SKIPBUFFER : _NTO_TRACE_OVERWRITEBUFFER),
                     0);
    for (unsigned k = 1; k <= n; k++) {
        insert(10 * k);
        assert_int_equal(command(_NTO_TRACE_STOP), 0);
        assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    for (unsigned k = 0; k < others->n_free + others->busy; k++) {
        assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b[k]), 0);
        assert_int_equal(b[k].sequence, k + 1);
        assert_int_equal(b[k].slots, 2 + 10 * (k + 1));
    }
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(FULL); /* ACTIVE */
    for (unsigned k = 0; k < others->n_free; k++) {
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b[k].index), 0);
    }
    assert_int_equal(look_active_slots(0), TRACE_BUFFER_SLOTS);
    assert_int_equal(look_count(0, TRACE_FREE), others->n_free);
    assert_int_equal(look_count(0, TRACE_READY), others->ready);
    keep_busy();
}

/* What one more event does. */
struct expected {
    bool recorded;          /* in the next buffer */
    unsigned reason;        /* of what is lost, 0: nothing */
    unsigned lost;          /* events */
    unsigned recycled;      /* events */
    unsigned n_free, ready; /* buffers then */
};

static struct expected expected(enum policy policy, const struct others *o)
{
    /* The oldest READY one, which is the full one itself if no other is. */
    unsigned oldest = o->ready ? 10 * (o->n_free + o->busy + 1) : FULL;

    if (o->n_free) {
        return (struct expected){true, 0, 0, 0, o->n_free - 1, o->ready + 1};
    }
    switch (policy) {
    case OVERWRITE:
        return (struct expected){true, KYMO_DROP_OVERWRITTEN, oldest, 0, 0, o->ready};
    case RING:
        return (struct expected){true, 0, 0, oldest, 0, o->ready};
    case SKIP:
        return (struct expected){false, KYMO_DROP_NOBUFFER, 1, 0, 0, o->ready + 1};
    default:
        return (struct expected){false, KYMO_DROP_FILLED, 1, 0, 0, o->ready + 1};
    }
}

static void check_account(const struct expected *e, uint64_t made)
{
    struct kymo_trace_loss loss = loss_of(0);

    assert_int_equal(loss.made, made);
    assert_int_equal(loss.lost[USER], e->lost);
    assert_int_equal(loss.recycled, e->recycled);
    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        assert_int_equal(loss.lost_reason[reason], reason == e->reason ? e->lost : 0);
        assert_int_equal(loss.pending[reason][USER],
                         reason == e->reason && !e->recorded ? e->lost : 0);
    }
    assert_int_equal(loss.buffers_overwritten, e->lost == 1 ? 0 : e->reason || e->recycled);
}

/* The new buffer: BUFFER, TIME, DROPPED if something was lost, the event. */
static void check_new(const struct expected *e, unsigned busy)
{
    unsigned i = ring_of(0)->active;
    const struct trace_slot *slot = look_slots(0, i);

    assert_int_equal(slot[0].d1, e->n_free + e->ready + busy + (e->lost || e->recycled) + 1);
    if (e->reason) {
        assert_int_equal(slot[2].header, 0x00000408);
        assert_int_equal(slot[2].d1, e->reason << 8 | USER);
        assert_int_equal(slot[2].d2, e->lost);
        slot++;
    }
    assert_int_equal(slot[2].header, 0x00001807);
    assert_int_equal(slot[2].d1, number - 1);
    assert_int_equal(look_active_slots(0), e->reason ? 4 : 3);
}

static void one_more(enum policy policy, const struct others *o)
{
    struct expected e = expected(policy, o);

    arrange(policy, o);
    insert(1);
    check_busy(o->busy);
    check_account(&e, number);
    assert_int_equal(look_count(0, TRACE_FREE), e.n_free);
    assert_int_equal(look_count(0, TRACE_READY), e.ready);
    assert_int_equal(look_count(0, TRACE_ACTIVE), e.recorded);
    if (e.recorded && o->n_free == 0) {
        check_new(&e, o->busy);
    }
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    assert_int_equal(fake.blocks, 0);
}

static void every_policy_with_every_arrangement(void **state)
{
    unsigned arrangements = 0;

    (void)state;
    for (unsigned n = 1; n <= 5; n++) {
        for (unsigned n_free = 0; n_free <= n; n_free++) {
            for (unsigned ready = 0; n_free + ready <= n; ready++) {
                struct others o = {n_free, ready, n - n_free - ready};

                for (enum policy policy = OVERWRITE; policy <= RING; policy++) {
                    one_more(policy, &o);
                    arrangements++;
                }
            }
        }
    }
    assert_int_equal(arrangements, 4 * (3 + 6 + 10 + 15 + 21));
}

/* ---- skip: from no buffer to one again --------------------------------------------- */

static void skip_tells_in_the_next_buffer(void **state)
{
    struct kymo_trace_buffer b;
    struct tally tally = {.last = 0};
    const struct trace_slot *slot;

    (void)state;
    arrange(SKIP, &(struct others){0, 1, 1});
    insert(4);
    trace_comm_snd_message(1, 2);
    trace_proc_create_name(1, 2, "an event of several slots counts as one");
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), 0);
    insert(1); /* still none */
    assert_int_equal(loss_of(0).pending[KYMO_DROP_NOBUFFER][USER], 5);
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    insert(1);
    slot = look_slots(0, b.index);
    assert_int_equal(slot[0].d1, 4);
    assert_int_equal(slot[2].d1, KYMO_DROP_NOBUFFER << 8 | TRACE_CLASS_PR_TH);
    assert_int_equal(slot[2].d2, 1);
    assert_int_equal(slot[3].d1, KYMO_DROP_NOBUFFER << 8 | USER);
    assert_int_equal(slot[3].d2, 5);
    assert_int_equal(slot[4].d1, KYMO_DROP_NOBUFFER << 8 | TRACE_CLASS_COMM);
    assert_int_equal(slot[4].d2, 1);
    assert_int_equal(slot[5].d1, number - 1);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 2);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* The overrun policy may change while it runs. */
static void skip_and_overwrite_in_turn(void **state)
{
    (void)state;
    arrange(OVERWRITE, &(struct others){0, 2, 0});
    assert_int_equal(command(_NTO_TRACE_SKIPBUFFER), 0);
    insert(3);
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_NOBUFFER], 3);
    assert_int_equal(command(_NTO_TRACE_OVERWRITEBUFFER), 0);
    insert(1);
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_OVERWRITTEN], 10);
    assert_int_equal(look_active_slots(0), 2 + 2 + 1);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* ---- a loss can't be lost ---------------------------------------------------------- */

static void what_a_lost_buffer_told_is_told_again(void **state)
{
    struct tally tally = {.last = 0};
    struct kymo_trace_loss loss;

    (void)state;
    fake_boot(1);
    number = 0;
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    insert(20 * FULL); /* nobody takes */
    trace_comm_snd_message(1, 2);
    insert(20 * FULL);
    loss = loss_of(0);
    assert_int_equal(loss.lost[TRACE_CLASS_COMM], 1);
    assert_int_equal(loss.made, 40 * FULL + 1);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    loss = loss_of(0);
    assert_int_equal(take_all(&tally), 2);
    assert_int_equal(tally.events[USER] + loss.lost[USER], 40 * FULL);
    assert_int_equal(tally.dropped[KYMO_DROP_OVERWRITTEN][USER] +
                         loss.pending[KYMO_DROP_OVERWRITTEN][USER],
                     loss.lost[USER]);
    assert_int_equal(tally.dropped[KYMO_DROP_OVERWRITTEN][TRACE_CLASS_COMM], 1);
    assert_int_equal(loss_of(0).made, 40 * FULL + 1);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* More than a DROPPED slot can tell: the rest is told in the next buffers, or stays pending. */
static void more_losses_than_32_bits_hold(void **state)
{
    struct trace_loss *account;
    struct tally tally = {.last = 0};
    uint64_t all = 0;

    (void)state;
    fake_boot(1);
    start_tracing(3, _NTO_TRACE_SETLINEARMODE);
    account = &trace_port_cpu_at(0)->loss;
    for (unsigned i = 0; i < 3; i++) {
        trace_loss_add(account, KYMO_DROP_FILLED, USER, UINT32_MAX - i);
        all += UINT32_MAX - i;
    }
    trace_loss_add(account, KYMO_DROP_TOOBIG, TRACE_CLASS_COMM, 1);
    assert_int_equal(loss_of(0).lost[USER], all);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_FILLED][USER], all);
    for (unsigned i = 0; i < 3; i++) { /* two slots in each: one for each reason and class */
        insert(1);
        assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
        assert_int_equal(loss_of(0).lost[USER], all);
    }
    assert_int_equal(take_all(&tally), 3);
    assert_int_equal(tally.dropped[KYMO_DROP_FILLED][USER], all);
    assert_int_equal(tally.dropped[KYMO_DROP_TOOBIG][TRACE_CLASS_COMM], 1);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_FILLED][USER], 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* A ring keeps the newest; what it loses for another reason stays told, however old. */
static void a_ring_keeps_the_newest(void **state)
{
    struct tally tally = {.last = 0};
    struct kymo_trace_buffer b;
    struct scan scan;

    (void)state;
    fake_boot(1);
    number = 0;
    start_tracing(3, _NTO_TRACE_SETRINGMODE);
    trace_loss_add(&trace_port_cpu_at(0)->loss, KYMO_DROP_RECURSIVE, USER, 5);
    insert(100 * FULL);
    assert_false(fake_exit_wanted(0)); /* nothing may be taken, nobody is told */
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), -EBUSY);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), -ECANCELED);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(loss_of(0).lost[USER], 5);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), 0);
    scan = (struct scan){.last_time = 0};
    scan_begin(&scan, 0, look_slots(0, b.index), b.slots, b.sequence, b.slots);
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    assert_int_equal(take_all(&tally), 2);
    assert_int_equal(tally.dropped[KYMO_DROP_RECURSIVE][USER], 5);
    assert_int_equal(loss_of(0).made, 100 * FULL + 5);
    assert_in_range(loss_of(0).recycled, 97 * FULL, 98 * FULL);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* Fill: all of the space, then nothing more, on each CPU for itself. */
static void fill_uses_all_and_stops(void **state)
{
    struct tally tally = {.last = 0};
    struct kymo_trace_buffer b;

    (void)state;
    fake_boot(2);
    number = 0;
    start_tracing(2, KYMO_TRACE_SETFILLMODE);
    insert(2 * FULL);
    assert_int_equal(loss_of(0).lost[USER], 0);
    assert_int_equal(fake.raised[0], 0);
    insert(1);
    assert_true(fake_exit_wanted(0));
    fake_exit();
    assert_int_equal(fake.raised[0], 1);
    insert(9);
    fake_on(1);
    insert(3);
    fake_back((struct fake_where){0, 0});
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_FILLED], 10);
    assert_int_equal(loss_of(1).lost_reason[KYMO_DROP_FILLED], 0);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), -EBUSY);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 3);
    assert_int_equal(tally.events[USER], 2 * FULL + 3);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_FILLED][USER], 10);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0); /* there is space again */
    insert(1);
    assert_int_equal(look_active_slots(0), 4);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_FILLED][USER], 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* The first event that does not fit ends it, although smaller ones would. */
static void fill_ends_at_the_first_misfit(void **state)
{
    uint32_t words[20] = {0};

    (void)state;
    fake_boot(1);
    start_tracing(2, KYMO_TRACE_SETFILLMODE);
    insert(2 * FULL - 5);
    assert_int_equal(trace_user_combine(3, words, 20), 0);
    insert(1);
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_FILLED], 2);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* ---- what QUERYLOSS says would have been enough ------------------------------------ */

static void ready_most_tells_the_demand(void **state)
{
    struct kymo_trace_buffer b;

    (void)state;
    fake_boot(1);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    insert(3 * FULL + 1);
    assert_int_equal(loss_of(0).ready_most, 3);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), 0);
    insert(3 * FULL); /* one fits, two more overwrite: six would have been */
    assert_in_range(loss_of(0).ready_most, 6, 7);
    assert_int_equal(command(_NTO_TRACE_SKIPBUFFER), 0);
    insert(FULL + 10);
    assert_in_range(loss_of(0).ready_most, 7, 9);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* Of `missed` slots that found no buffer: so many buffers more as have that many slots, those for
 * BUFFER and TIME counted or not. */
static void demand_of_what_is_missed(void **state)
{
    static const unsigned steps[] = {1, 1, 2, 500, 518, 1, 1, 1, 1, 1, 1020, 1, 1, 2, 5000};
    unsigned missed = 0;

    (void)state;
    fake_boot(1);
    start_tracing(3, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_SKIPBUFFER), 0);
    insert(3 * FULL);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        insert(steps[i]);
        missed += steps[i];
        assert_in_range(loss_of(0).ready_most,
                        3 + (missed + TRACE_BUFFER_SLOTS - 1) / TRACE_BUFFER_SLOTS,
                        3 + (missed + FULL - 1) / FULL);
    }
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_with_every_arrangement),
        cmocka_unit_test(skip_tells_in_the_next_buffer),
        cmocka_unit_test(skip_and_overwrite_in_turn),
        cmocka_unit_test(what_a_lost_buffer_told_is_told_again),
        cmocka_unit_test(more_losses_than_32_bits_hold),
        cmocka_unit_test(a_ring_keeps_the_newest),
        cmocka_unit_test(fill_uses_all_and_stops),
        cmocka_unit_test(fill_ends_at_the_first_misfit),
        cmocka_unit_test(ready_most_tells_the_demand),
        cmocka_unit_test(demand_of_what_is_missed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
