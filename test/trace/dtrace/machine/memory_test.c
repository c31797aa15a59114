/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads and stores: own memory without a peek, other memory only if it is mapped, aligned and not
 * toxic; blocks and strings fault at their first bad byte, wherever it is, and read no further.
 */
#include "test/trace/dtrace/machine/world.h"

#include "trace/dtrace/text.h"

#include <string.h>

enum { SIZE = 96 };
static uint8_t memory[SIZE] __attribute__((aligned(32)));

static int open_memory(void **state)
{
    world_open(state);
    for (unsigned i = 0; i < SIZE; i++) {
        memory[i] = (uint8_t)(i + 1);
    }
    world_load("sets \"a constant\" r1; ret r1", NULL);
    world_clause();
    return 0;
}

static void again(void)
{
    fake.nmaps = 0;
    fake.peeks = 0;
    world_clause();
}

static void faults(enum dif_fault kind, uint64_t address)
{
    assert_int_equal(world.context.fault.kind, kind);
    assert_int_equal(world.context.fault.address, address);
}

static void test_own(void **state)
{
    struct dtrace_context *c = &world.context;
    uint64_t constant = world_run(0);

    (void)state;
    assert_int_equal(dtrace_load(c, constant, 1), 'a');
    assert_int_equal(dtrace_load_own(c, constant + 1, 1), ' ');
    uint8_t *p = dtrace_scratch(c, 8);
    memset(p, 7, 8);
    assert_int_equal(dtrace_load(c, (uintptr_t)p, 8), 0x0707070707070707);
    assert_int_equal(fake.peeks, 0);
    assert_ptr_equal(dtrace_own(c, (uintptr_t)p, 8), p);
    assert_null(dtrace_own(c, (uintptr_t)p, 9)); /* what isn't taken isn't ours */
    assert_null(dtrace_own(c, (uintptr_t)p - 1, 1));
    assert_null(dtrace_own(c, (uintptr_t)p + 8, 1));
    assert_null(dtrace_own(c, (uintptr_t)p, SIZE_MAX));
    assert_null(dtrace_own(c, 0, 1));
    dtrace_load(c, (uintptr_t)p + 8, 1);
    faults(DIF_FAULT_BADADDR, (uintptr_t)p + 8);
}

static void test_alignment(void **state)
{
    struct dtrace_context *c = &world.context;
    uint8_t *p = dtrace_scratch(c, 32);

    (void)state;
    fake_map(memory, SIZE, true, true);
    for (unsigned align = 0; align < 2; align++) {
        fake.align = (int)align;
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
            for (unsigned at = 0; at < 9; at++) {
                uint64_t all[] = {(uintptr_t)memory + at, (uintptr_t)p + at};
                bool bad = align && at % bytes;
                for (unsigned i = 0; i < 4; i++) {
                    c->fault.kind = DIF_FAULT_NONE;
                    if (i < 2) {
                        dtrace_load(c, all[i], bytes);
                    } else if (i == 2) {
                        dtrace_load_user(c, all[0], bytes);
                    } else {
                        dtrace_load_own(c, all[1], bytes);
                    }
                    assert_int_equal(c->fault.kind, bad ? DIF_FAULT_BADALIGN : DIF_FAULT_NONE);
                    assert_true(!bad || c->fault.address == all[i == 2 ? 0 : i == 3 ? 1 : i]);
                }
            }
        }
    }
}

static void test_user_and_kernel(void **state)
{
    struct dtrace_context *c = &world.context;

    (void)state;
    fake_map(memory, 8, true, false);
    fake_map(memory + 8, 8, false, true);
    assert_int_equal(dtrace_load(c, (uintptr_t)memory, 1), 1);
    assert_int_equal(dtrace_load_user(c, (uintptr_t)memory + 8, 1), 9);
    assert_int_equal(c->fault.kind, DIF_FAULT_NONE);
    assert_int_equal(dtrace_load_user(c, (uintptr_t)memory, 1), 0);
    faults(DIF_FAULT_BADADDR, (uintptr_t)memory);
    c->fault.kind = DIF_FAULT_NONE;
    assert_int_equal(dtrace_load(c, (uintptr_t)memory + 8, 1), 0);
    faults(DIF_FAULT_BADADDR, (uintptr_t)memory + 8);
    /* Our own memory is not the process's. */
    c->fault.kind = DIF_FAULT_NONE;
    uint8_t *p = dtrace_scratch(c, 8);
    dtrace_load_user(c, (uintptr_t)p, 1);
    faults(DIF_FAULT_BADADDR, (uintptr_t)p);
}

static void test_nowhere(void **state)
{
    static const uint64_t addresses[] = {
        0, 1, 64, 4095, 0x4000, INT64_MIN, UINT64_MAX - 7, UINT64_MAX - 3, UINT64_MAX};
    struct dtrace_context *c = &world.context;

    (void)state;
    for (unsigned i = 0; i < 2 * sizeof(addresses) / sizeof(addresses[0]); i++) {
        uint64_t address = addresses[i / 2];
        c->fault.kind = DIF_FAULT_NONE;
        assert_int_equal(i % 2 ? dtrace_load(c, address, 8) : dtrace_load_user(c, address, 8), 0);
        faults(DIF_FAULT_BADADDR, address);
    }
}

/* The first fault of a clause stands. */
static void test_first(void **state)
{
    struct dtrace_context *c = &world.context;

    (void)state;
    dtrace_load(c, 16, 1);
    dtrace_load(c, 32, 1);
    dtrace_fault(c, DIF_FAULT_ILLOP, 0);
    faults(DIF_FAULT_BADADDR, 16);
}

/* With `good` bytes mapped from `start` on, the rest missing or toxic. */
static void check_block(unsigned start, unsigned bytes, unsigned good, bool toxic, bool user)
{
    struct dtrace_context *c = &world.context;
    uint8_t to[SIZE];
    bool whole = good >= bytes;

    again();
    fake_map(memory, start + good, !user, user);
    if (toxic) {
        fake_map(memory, SIZE, !user, user);
        fake_toxic(memory + start + good, SIZE - start - good);
    }
    memset(to, 0, sizeof(to));
    assert_int_equal(dtrace_load_block(c, to, (uintptr_t)memory + start, bytes, user), whole);
    assert_memory_equal(to, memory + start, whole ? bytes : good);
    if (!whole) {
        faults(DIF_FAULT_BADADDR, (uintptr_t)memory + start + good);
    } else {
        assert_int_equal(c->fault.kind, DIF_FAULT_NONE);
    }
    assert_int_equal(fake.toxic_read, 0);
}

static void test_blocks(void **state)
{
    (void)state;
    for (unsigned start = 0; start < 20; start++) {
        for (unsigned bytes = 0; bytes <= 50; bytes++) {
            for (unsigned good = 0; good <= bytes; good++) {
                check_block(start, bytes, good, (start + bytes) % 2, good % 2);
            }
        }
    }
    again();
    assert_true(dtrace_load_block(&world.context, NULL, 0, 0, false)); /* nothing can't fault */
}

/* From our own memory into what follows it, which is another's. */
static void test_block_leaves(void **state)
{
    struct dtrace_context *c = &world.context;
    uint8_t *p = dtrace_scratch(c, 24);
    uint8_t to[40];

    (void)state;
    memset(p, 3, 24);
    assert_false(dtrace_load_block(c, to, (uintptr_t)p, 25, false));
    faults(DIF_FAULT_BADADDR, (uintptr_t)p + 24);
    c->fault.kind = DIF_FAULT_NONE;
    fake_map(p + 24, 100, true, false);
    assert_true(dtrace_load_block(c, to, (uintptr_t)p, 40, false));
    assert_memory_equal(to, p, 40);
}

/* A string in other memory: with a NUL at `end`, good bytes, a limit. */
static void check_string(unsigned start, unsigned end, unsigned good, unsigned limit, bool user)
{
    struct dtrace_context *c = &world.context;
    char to[SIZE];
    unsigned want = end < limit ? end : limit;
    bool fault = good < (end < limit ? end + 1 : limit);

    again();
    memset(memory, 'x', SIZE);
    memory[start + end] = 0;
    fake_map(memory, start + good, !user, user);
    memset(to, 1, sizeof(to));
    size_t n = dtrace_load_string(c, to, (uintptr_t)memory + start, limit, user);
    assert_int_equal(n, fault ? good : want);
    assert_memory_equal(to, memory + start, n);
    assert_int_equal(to[limit], 1);
    if (fault) {
        faults(DIF_FAULT_BADADDR, (uintptr_t)memory + start + good);
        assert_int_equal(to[n], 1);
    } else {
        assert_int_equal(c->fault.kind, DIF_FAULT_NONE);
        assert_int_equal(to[n], end < limit ? 0 : 1);
    }
    if (!user) {
        c->fault.kind = DIF_FAULT_NONE;
        assert_int_equal(dtrace_text_length(c, (uintptr_t)memory + start, limit), n);
        assert_int_equal(c->fault.kind, fault ? DIF_FAULT_BADADDR : DIF_FAULT_NONE);
    }
}

static void test_strings(void **state)
{
    (void)state;
    for (unsigned start = 0; start < 18; start++) {
        for (unsigned end = 0; end < 36; end++) {
            for (unsigned good = 0; good < 40; good += 1 + start % 3) {
                check_string(start, end, good, 20, end % 2);
                check_string(start, end, good, 33, end % 2);
                check_string(start, end, good, 0, false);
            }
        }
    }
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static void test_compare(void **state)
{
    struct dtrace_context *c = &world.context;
    char *a = (char *)memory, *b = (char *)memory + 48;

    (void)state;
    fake_map(memory, SIZE, true, false);
    for (unsigned limit = 0; limit < 30; limit++) {
        for (unsigned differs = 0; differs < 30; differs++) {
            memset(memory, 'm', SIZE);
            a[29] = b[29] = 0;
            b[differs] = 'n';
            int want = sign(strncmp(a, b, limit));
            c->fault.kind = DIF_FAULT_NONE;
            assert_int_equal(sign(dtrace_text_compare(c, (uintptr_t)a, (uintptr_t)b, limit)), want);
            assert_int_equal(sign(dtrace_text_compare(c, (uintptr_t)b, (uintptr_t)a, limit)),
                             -want);
            assert_int_equal(c->fault.kind, DIF_FAULT_NONE);
        }
    }
    assert_int_equal(dtrace_text_compare(c, (uintptr_t)a, (uintptr_t)a, 30), 0);
}

static void test_writer(void **state)
{
    struct dtrace_context *c = &world.context;
    struct dtrace_writer w;

    (void)state;
    for (unsigned room = 0; room < 24; room++) {
        for (unsigned n = 0; n < 24; n++) {
            world_scratch(room); /* ASan guards it */
            again();
            dtrace_writer_open(&w, c, 16);
            for (unsigned i = 0; i < n; i++) {
                dtrace_writer_put(&w, (uint8_t)('a' + i));
            }
            unsigned length = n < 16 ? n : 16;
            const char *s = (const char *)(uintptr_t)dtrace_writer_close(&w);
            if (length < room) {
                assert_int_equal(strlen(s), length);
                assert_memory_equal(s, "abcdefghijklmnop", length);
                assert_int_equal(c->scratch_used, length + 1);
            } else {
                assert_null(s);
                faults(DIF_FAULT_NOSCRATCH, 0);
                assert_int_equal(c->scratch_used, 0);
            }
        }
    }
    world_scratch(WORLD_SCRATCH);
}

static void test_scratch(void **state)
{
    struct dtrace_context *c = &world.context;

    (void)state;
    world_scratch(20);
    again();
    uint8_t *p = dtrace_scratch(c, 3);
    assert_ptr_equal(p, fake_scratch);
    assert_ptr_equal(dtrace_scratch(c, 0), p + 8);
    assert_ptr_equal(dtrace_scratch(c, 5), p + 8);
    assert_ptr_equal(dtrace_scratch(c, 4), p + 16);
    assert_null(dtrace_scratch(c, 0)); /* 24 is behind the end */
    faults(DIF_FAULT_NOSCRATCH, 0);
    again();
    assert_null(dtrace_scratch(c, 21));
    assert_null(dtrace_scratch(c, UINT64_MAX));
    assert_non_null(dtrace_scratch(c, 20));
    world_scratch(WORLD_SCRATCH);
}

static void test_storable(void **state)
{
    struct dtrace_context *c = &world.context;

    (void)state;
    uint8_t *p = dtrace_scratch(c, 16);
    for (int at = -8; at < 24; at++) {
        for (unsigned bytes = 1; bytes <= 16; bytes++) {
            bool inside = at >= 0 && at + (int)bytes <= 16;
            uint64_t address = (uintptr_t)p + (uint64_t)(int64_t)at;
            c->fault.kind = DIF_FAULT_NONE;
            assert_ptr_equal(dtrace_storable(c, address, bytes), inside ? p + at : NULL);
            assert_int_equal(c->fault.kind, inside ? DIF_FAULT_NONE : DIF_FAULT_BADADDR);
            c->fault.kind = DIF_FAULT_NONE;
            assert_ptr_equal(dtrace_storable_scratch(c, address, bytes), inside ? p + at : NULL);
        }
    }
    assert_null(dtrace_storable(c, (uintptr_t)p, UINT64_MAX));
    assert_null(dtrace_storable(c, (uintptr_t)p + 8, UINT64_MAX - 4));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_memory, world_close)
    const struct CMUnitTest tests[] = {
        T(test_own),     T(test_alignment), T(test_user_and_kernel), T(test_nowhere),
        T(test_first),   T(test_blocks),    T(test_block_leaves),    T(test_strings),
        T(test_compare), T(test_writer),    T(test_scratch),         T(test_storable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
