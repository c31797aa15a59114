/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of one ring's buffers, against a model that is a list of states and nothing more:
 * every sequence of seven operations on rings of one to four buffers, and long random ones on
 * larger rings. What happens when two CPUs do this at once: interleave_test.c.
 */
#include "test/trace/look.h"

#include <stdlib.h>
#include <string.h>

#include "test/tool/random.h"

#define COUNT_MAX 9
#define BUFFER 64

struct model {
    unsigned count;
    unsigned state[COUNT_MAX];
    uint32_t sequence[COUNT_MAX]; /* of ACTIVE, READY and BUSY ones */
    uint32_t last;
    unsigned overwritten;
};

/* A ring and its tables as one thing, so that it can be copied: they point into each other. */
struct world {
    struct trace_ring ring;
    uint64_t tables[COUNT_MAX * 16];
    struct model model;
};

static uint8_t memory[COUNT_MAX * BUFFER];

static unsigned model_count(const struct model *m, unsigned state)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->count; i++) {
        n += m->state[i] == state;
    }
    return n;
}

/* The READY one with the lowest sequence; count: none. */
static unsigned model_oldest(const struct model *m)
{
    unsigned oldest = m->count;

    for (unsigned i = 0; i < m->count; i++) {
        if (m->state[i] == TRACE_READY &&
            (oldest == m->count || m->sequence[i] < m->sequence[oldest])) {
            oldest = i;
        }
    }
    return oldest;
}

static void world_init(struct world *w, unsigned count)
{
    memset(w, 0, sizeof(*w));
    assert_true(trace_ring_table_bytes(count) <= sizeof(w->tables));
    assert_int_equal(trace_ring_table_bytes(count) % 8, 0);
    w->ring.overwrite = true;
    w->ring.policy = TRACE_FILL;
    trace_ring_init(&w->ring, memory, count, BUFFER, w->tables);
    assert_true(w->ring.overwrite && w->ring.policy == TRACE_FILL); /* they stay */
    w->model.count = count;
}

/* A copy whose pointers point into itself. */
static void world_copy(struct world *to, const struct world *from)
{
    ptrdiff_t away = (char *)to->tables - (const char *)from->tables;

    *to = *from;
    to->ring.buffers = (void *)((char *)from->ring.buffers + away);
    to->ring.free_queue = (void *)((char *)from->ring.free_queue + away);
    to->ring.by_sequence = (void *)((char *)from->ring.by_sequence + away);
}

static void check(const struct world *w)
{
    const struct model *m = &w->model;

    for (unsigned i = 0; i < m->count; i++) {
        uint32_t word = w->ring.buffers[i].word;

        assert_int_equal(TRACE_WORD_STATE(word), m->state[i]);
        if (m->state[i] != TRACE_FREE) {
            assert_int_equal(TRACE_WORD_SEQUENCE(word), m->sequence[i]);
        }
        assert_ptr_equal(trace_ring_data(&w->ring, i), memory + i * BUFFER);
    }
    assert_int_equal(trace_ring_free(&w->ring), model_count(m, TRACE_FREE));
    assert_int_equal(w->ring.sequence, m->last);
    assert_int_equal(w->ring.overwritten, m->overwritten);
    assert_int_equal(w->ring.active == TRACE_NONE, model_count(m, TRACE_ACTIVE) == 0);
}

/* ---- operations: false if it makes no sense now ------------------------------------ */

static bool op_begin(struct world *w, bool reuse)
{
    struct model *m = &w->model;
    unsigned oldest = model_oldest(m);
    uint32_t index = TRACE_NONE;

    if (model_count(m, TRACE_ACTIVE)) {
        return false;
    }
    enum trace_found found = trace_ring_obtain(&w->ring, reuse, &index);
    if (model_count(m, TRACE_FREE)) {
        assert_int_equal(found, TRACE_FOUND_FREE);
        assert_true(index < m->count);
        assert_int_equal(m->state[index], TRACE_FREE);
    } else if (reuse && oldest < m->count) {
        assert_int_equal(found, TRACE_FOUND_READY);
        assert_int_equal(index, oldest);
        m->overwritten++;
    } else {
        assert_int_equal(found, TRACE_FOUND_NOTHING);
        return true;
    }
    trace_ring_begin(&w->ring, index);
    assert_int_equal(w->ring.active, index);
    m->state[index] = TRACE_ACTIVE;
    m->sequence[index] = ++m->last;
    return true;
}

static bool op_close(struct world *w)
{
    struct model *m = &w->model;

    for (unsigned i = 0; i < m->count; i++) {
        if (m->state[i] == TRACE_ACTIVE) {
            trace_ring_close(&w->ring);
            m->state[i] = TRACE_READY;
            assert_int_equal(trace_ring_index(&w->ring, m->last), i);
            assert_int_equal(w->ring.closed_sequence, m->last);
            return true;
        }
    }
    return false;
}

static bool op_take(struct world *w)
{
    struct model *m = &w->model;
    unsigned oldest = model_oldest(m);
    uint32_t index = trace_ring_take(&w->ring);

    if (oldest == m->count) {
        assert_int_equal(index, TRACE_NONE);
    } else {
        assert_int_equal(index, oldest);
        m->state[index] = TRACE_BUSY;
    }
    return true;
}

/* Any index: what isn't BUSY is refused. */
static bool op_give(struct world *w, unsigned index)
{
    struct model *m = &w->model;
    bool busy = index < m->count && m->state[index] == TRACE_BUSY;

    assert_int_equal(trace_ring_give(&w->ring, index), busy ? 0 : -EINVAL);
    if (busy) {
        m->state[index] = TRACE_FREE;
    }
    return busy;
}

/* All that isn't BUSY is given up, as trace_log_clear() does it. */
static bool op_clear(struct world *w)
{
    struct model *m = &w->model;
    bool any = false;

    op_close(w);
    for (unsigned i = 0; i < m->count; i++) {
        if (m->state[i] == TRACE_READY) {
            trace_ring_discard(&w->ring, i);
            m->state[i] = TRACE_FREE;
            any = true;
        }
    }
    return any;
}

/* Operations by number; from OPS on: giving back each buffer. */
#define OPS 5
static bool operate(struct world *w, unsigned op)
{
    switch (op) {
    case 0:
        return op_begin(w, false);
    case 1:
        return op_begin(w, true);
    case 2:
        return op_close(w);
    case 3:
        return op_take(w);
    case 4:
        return op_clear(w);
    default:
        return op_give(w, op - OPS);
    }
}

/* ---- tests ------------------------------------------------------------------------- */

static unsigned sequences;

static void explore(const struct world *from, unsigned depth)
{
    struct world w;

    if (depth == 0) {
        sequences++;
        return;
    }
    for (unsigned op = 0; op < OPS + from->model.count; op++) {
        world_copy(&w, from);
        if (operate(&w, op)) {
            check(&w);
            explore(&w, depth - 1);
        }
    }
}

static void every_sequence_of_operations(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 4; count++) {
        struct world w;

        world_init(&w, count);
        check(&w);
        sequences = 0;
        explore(&w, 7);
        assert_true(sequences > 1000);
    }
}

static void long_random_sequences(void **state)
{
    (void)state;
    random_start();
    for (unsigned count = 1; count <= COUNT_MAX; count++) {
        struct world w;
        unsigned done[OPS + 1] = {0};

        world_init(&w, count);
        for (unsigned i = 0; i < 30000; i++) {
            unsigned op = random_below(OPS + count);

            if (op == 4 && random_below(30)) {
                continue; /* else there is seldom more than one READY */
            }
            if (operate(&w, op)) {
                done[op < OPS ? op : OPS]++;
            }
            check(&w);
        }
        for (unsigned op = 0; op <= OPS; op++) {
            assert_true(done[op] > 10);
        }
    }
}

/* Buffers that were taken, or come and go, long enough for every index to go round. */
static void sequences_go_on_for_ever(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3);
    for (unsigned i = 0; i < 100000; i++) {
        assert_true(op_begin(&w, true));
        assert_true(op_close(&w));
        if (i % 7 == 0) {
            assert_true(op_take(&w));
        }
        if (i % 11 == 0) {
            op_give(&w, 0);
            op_give(&w, 1);
            op_give(&w, 2);
        }
    }
    check(&w);
    assert_int_equal(w.model.last, 100000);
}

static void give_refuses_what_is_not_busy(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 2);
    assert_int_equal(trace_ring_give(&w.ring, 0), -EINVAL); /* FREE */
    op_begin(&w, false);
    assert_int_equal(trace_ring_give(&w.ring, w.ring.active), -EINVAL); /* ACTIVE */
    op_close(&w);
    assert_int_equal(trace_ring_give(&w.ring, 0), -EINVAL); /* READY */
    assert_int_equal(trace_ring_give(&w.ring, 2), -EINVAL);
    assert_int_equal(trace_ring_give(&w.ring, TRACE_NONE), -EINVAL);
    check(&w);
}

/* Each READY one is looked at once, however long the ring has been overwriting. */
static unsigned looked_at;

static void count_looks(const char *where)
{
    looked_at += strcmp(where, "overwrite") == 0;
}

static void overwriting_costs_the_same(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 4);
    fake.yield = count_looks;
    for (unsigned n = 0; n < 1000; n++) {
        looked_at = 0;
        op_begin(&w, true);
        op_close(&w);
        assert_int_equal(looked_at, n < 4 ? 0 : 1);
    }
    fake.yield = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence_of_operations),
        cmocka_unit_test(long_random_sequences),
        cmocka_unit_test(sequences_go_on_for_ever),
        cmocka_unit_test(give_refuses_what_is_not_busy),
        cmocka_unit_test(overwriting_costs_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
