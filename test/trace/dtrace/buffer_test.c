/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Principal buffers against a naive model: a list of the records that should be there. Random
 * records of several shapes, aborts, snaps, in buffers of all small sizes, under each policy; the
 * bytes, their order and every count must agree. Guard bytes stand on both sides of each half.
 */
#include "trace/dtrace/buffer.h"

#include "test/tool/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, MAX_SIZE = 512, SHAPES = 6, MAX_RECORDS = 4096 };

static const struct dtrace_shape table[SHAPES] = {{12, 4}, {16, 4}, {24, 8},
                                                  {20, 4}, {40, 8}, {132, 4}};
static const struct dtrace_shapes shapes = {table, SHAPES};

static size_t dtrace_buffer_copy(const struct dtrace_buffer *b, uint8_t *to)
{
    struct dtrace_parts parts;
    size_t bytes = dtrace_buffer_parts(b, &parts);

    assert_int_equal(parts.bytes[0] + parts.bytes[1], bytes);
    dtrace_parts_copy(to, &parts);
    return bytes;
}

struct record {
    uint32_t epid, serial;
};

struct world {
    struct dtrace_buffer buffer;
    uint8_t *halves[2];
    struct record model[MAX_RECORDS]; /* what should be in the buffer, oldest first */
    size_t n, drops, filled;
};

static uint8_t *guarded(size_t size)
{
    uint8_t *block = malloc(size + 2 * GUARD);

    memset(block, 0xa5, size + 2 * GUARD);
    memset(block + GUARD, 0, size);
    return block;
}

static void check_guards(const uint8_t *block, size_t size)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(block[i], 0xa5);
        assert_int_equal(block[GUARD + size + i], 0xa5);
    }
}

static void start(struct world *w, enum dtrace_policy policy, size_t size, size_t reserve)
{
    memset(w, 0, sizeof(*w));
    w->halves[0] = guarded(size);
    w->halves[1] = guarded(size);
    w->buffer = (struct dtrace_buffer){.active = w->halves[0] + GUARD,
                                       .spare = w->halves[1] + GUARD,
                                       .size = size,
                                       .reserve = reserve,
                                       .policy = policy};
}

static void finish(struct world *w)
{
    check_guards(w->halves[0], w->buffer.size);
    check_guards(w->halves[1], w->buffer.size);
    free(w->halves[0]);
    free(w->halves[1]);
}

static uint8_t content(uint32_t serial, size_t i)
{
    return (uint8_t)(serial * 31 + i * 7 + 1);
}

static void fill(uint8_t *to, uint32_t epid, uint32_t serial)
{
    size_t size = table[epid - 1].size;

    memcpy(to, &epid, 4);
    memcpy(to + 4, &serial, 4);
    for (size_t i = 8; i < size; i++) {
        to[i] = content(serial, i);
    }
}

/* Bytes that these records take, laid out from offset 0. */
static size_t laid_out(const struct record *r, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const struct dtrace_shape *s = &table[r[i].epid - 1];
        at = ((at + s->align - 1) & ~(size_t)(s->align - 1)) + s->size;
    }
    return at;
}

static void check_records(const uint8_t *data, size_t size, const struct record *r, size_t n)
{
    size_t at = 0, seen = 0;

    while (at < size) {
        uint32_t epid, serial;
        memcpy(&epid, data + at, 4);
        if (epid == 0) {
            at += 4;
            continue;
        }
        assert_true(seen < n);
        memcpy(&serial, data + at + 4, 4);
        assert_int_equal(epid, r[seen].epid);
        assert_int_equal(serial, r[seen].serial);
        for (size_t i = 8; i < table[epid - 1].size; i++) {
            assert_int_equal(data[at + i], content(serial, i));
        }
        at += table[epid - 1].size;
        seen++;
    }
    assert_int_equal(at, size);
    assert_int_equal(seen, n);
}

/* One clause: reserves, writes, and commits unless it is aborted. True: it was there for
 * a while. */
static bool record(struct world *w, uint32_t epid, uint32_t serial, bool aborts, bool at_end)
{
    const struct dtrace_shape *s = &table[epid - 1];
    uint8_t *to = dtrace_buffer_reserve(&w->buffer, &shapes, s->size, s->align, at_end);

    if (!to) {
        return false;
    }
    assert_int_equal((size_t)(to - w->buffer.active) % s->align, 0);
    fill(to, epid, serial);
    if (!aborts) {
        dtrace_buffer_commit(&w->buffer, to, s->size);
        w->model[w->n++] = (struct record){epid, serial};
    }
    return true;
}

static uint32_t random_epid(void)
{
    return 1 + random_below(SHAPES);
}

static void test_switch(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        struct world w;
        size_t drops = 0;
        start(&w, DTRACE_POLICY_SWITCH, 8 * (1 + random_below(MAX_SIZE / 8)), 0);
        for (uint32_t serial = 1; serial < 300; serial++) {
            uint32_t epid = random_epid();
            struct record next = {epid, serial};
            w.model[w.n] = next;
            bool fits = laid_out(w.model, w.n + 1) <= w.buffer.size;
            assert_int_equal(record(&w, epid, serial, random_below(8) == 0, false), fits);
            drops += !fits;
            assert_int_equal(w.buffer.drops, drops);
            if (random_below(20) == 0) {
                size_t size;
                const uint8_t *read = dtrace_buffer_swap(&w.buffer, &size);
                check_records(read, size, w.model, w.n);
                w.n = 0;
            }
        }
        finish(&w);
    }
}

static void test_fill(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        struct world w;
        size_t size = 8 * (1 + random_below(MAX_SIZE / 8)), filled = 0, drops = 0;
        bool full = false;
        size_t reserve = random_below((uint32_t)size);
        uint8_t copy[MAX_SIZE];
        start(&w, DTRACE_POLICY_FILL, size, reserve);
        for (uint32_t serial = 1; serial < 100; serial++) {
            uint32_t epid = random_epid();
            struct record next = {epid, serial};
            w.model[w.n] = next;
            bool never = table[epid - 1].size > size - reserve;
            bool fits = !full && laid_out(w.model, w.n + 1) <= size - reserve;
            assert_int_equal(record(&w, epid, serial, false, false), fits);
            drops += never;
            filled += !never && !fits;
            full |= !never && !fits;
            assert_int_equal(w.buffer.full, full);
            assert_int_equal(w.buffer.drops, drops);
            assert_int_equal(w.buffer.filled_drops, filled);
        }
        w.model[w.n] = (struct record){1, 1000}; /* END may use what was kept for it */
        bool fits = laid_out(w.model, w.n + 1) <= size;
        assert_int_equal(record(&w, 1, 1000, false, true), fits);
        check_records(copy, dtrace_buffer_copy(&w.buffer, copy), w.model, w.n);
        finish(&w);
    }
}

/* The newest records whose bytes can be there at once; how many depends on where the lap began. */
static void check_ring(struct world *w, uint32_t largest)
{
    uint8_t copy[2 * MAX_SIZE];
    size_t size = dtrace_buffer_copy(&w->buffer, copy), kept = 0;

    for (size_t at = 0; at < size;) {
        uint32_t epid;
        memcpy(&epid, copy + at, 4);
        kept += epid != 0;
        at += epid ? table[epid - 1].size : 4;
    }
    assert_true(kept <= w->n);
    check_records(copy, size, w->model + w->n - kept, kept);
    /* Nothing was forgotten that could stay: only what one record and the lap's rest may cost. */
    if (kept < w->n) {
        size_t bytes = size + 2 * (largest + 8u);
        assert_true(bytes + table[w->model[w->n - kept - 1].epid - 1].size > w->buffer.size);
    }
}

static void test_ring(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        struct world w;
        start(&w, DTRACE_POLICY_RING, 8 * (1 + random_below(MAX_SIZE / 8)), 0);
        size_t drops = 0;
        for (uint32_t serial = 1; serial < 600; serial++) {
            uint32_t epid = random_epid();
            bool fits = table[epid - 1].size <= w.buffer.size;
            assert_int_equal(record(&w, epid, serial, false, false), fits);
            drops += !fits;
            assert_int_equal(w.buffer.drops, drops);
            check_ring(&w, 132);
        }
        finish(&w);
    }
}

/* Records of one size: exactly as many of the newest as fit. */
static void test_ring_exact(void **state)
{
    (void)state;
    for (size_t size = 16; size <= MAX_SIZE; size += 8) {
        struct world w;
        uint8_t copy[MAX_SIZE];
        start(&w, DTRACE_POLICY_RING, size, 0);
        for (uint32_t serial = 1; serial < 200; serial++) {
            assert_true(record(&w, 2, serial, false, false));
            size_t fit = size / 16, kept = w.n < fit ? w.n : fit;
            check_records(copy, dtrace_buffer_copy(&w.buffer, copy), w.model + w.n - kept, kept);
        }
        finish(&w);
    }
}

static void test_scratch(void **state)
{
    (void)state;
    for (size_t after = 0; after < 200; after++) {
        struct world w;
        size_t size;
        start(&w, DTRACE_POLICY_SWITCH, 128, 0);
        uint8_t *scratch = dtrace_buffer_scratch(&w.buffer, after, &size);
        assert_true(size == 0 || (size_t)(scratch - w.buffer.active) >= after);
        assert_true(size == 0 || (size_t)(scratch - w.buffer.active) + size == 128);
        w.buffer.policy = DTRACE_POLICY_RING;
        assert_ptr_equal(dtrace_buffer_scratch(&w.buffer, after, &size), w.buffer.spare);
        assert_int_equal(size, 128);
        finish(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch),  cmocka_unit_test(test_fill),
        cmocka_unit_test(test_ring),    cmocka_unit_test(test_ring_exact),
        cmocka_unit_test(test_scratch),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
