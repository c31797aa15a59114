/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the kernel's classes from programs (trace/class_event.c): what everyone may insert,
 * what takes the ability, what nobody may; one word of each slot compared; filters; lengths.
 */
#include "test/trace/look.h"

#include <string.h>

#define SYSTEM TRACE_CLASS_SYSTEM
#define KYMO_CALL TRACE_CLASS_KYMO_CALL
#define MOST (KYMO_TRACE_USER_COMBINE_MAX / 4)

static const struct row {
    unsigned class, number;
} rows[] = {
#define EVENT(name, CLASS, number, ...) {TRACE_CLASS_##CLASS, number},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const unsigned external[] = {
#define EVENT(name, CLASS, number, EXT, ...) _NTO_TRACE_##EXT,
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
};

/* What ADDEVENT takes: a mask in PROCESS and THREAD, an interrupt's number in INT. */
static uint32_t event_of(unsigned i)
{
    switch (external[i]) {
    case _NTO_TRACE_PROCESS:
        return 1u << (rows[i].number / 64 - 1);
    case _NTO_TRACE_THREAD:
        return 1u << rows[i].number;
    default:
        return rows[i].number;
    }
}

static void check_event(unsigned class, unsigned number, const uint32_t *words, unsigned nwords)
{
    const struct seen *e = the_event();

    assert_int_equal(e->class, class);
    assert_int_equal(e->number, number);
    assert_int_equal(e->nwords, nwords);
    assert_memory_equal(e->words, words, nwords * sizeof(words[0]));
}

static void places(void **state)
{
    static const unsigned numbers[] = {_NTO_TRACE_SYS_ADDRESS, _NTO_TRACE_SYS_FUNC_ENTER,
                                       _NTO_TRACE_SYS_FUNC_EXIT};

    (void)state;
    start_one();
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(trace_class_simple(false, SYSTEM, numbers[i], 0x8000cafe, i), 0);
        check_event(SYSTEM, numbers[i], (const uint32_t[]){0x8000cafe, i}, 2);
        /* 64 bits wanted, 32 enough: the short form */
        assert_int_equal(trace_class_simple(false, SYSTEM, numbers[i] | 512, 0xcafe, 7), 0);
        check_event(SYSTEM, numbers[i], (const uint32_t[]){0xcafe, 7}, 2);
        /* what is above 32 bits counts only if it is said to */
        assert_int_equal(trace_class_simple(false, SYSTEM, numbers[i], 0x900000001, 2), 0);
        check_event(SYSTEM, numbers[i], (const uint32_t[]){1, 2}, 2);
    }
    end_tracing();
}

static void places_of_64_bits(void **state)
{
    const uint64_t a = 0xffffff8012345678, b = 0x700000009;

    (void)state;
    start_one();
    for (unsigned number = _NTO_TRACE_SYS_FUNC_ENTER; number <= _NTO_TRACE_SYS_FUNC_EXIT;
         number++) {
        assert_int_equal(trace_class_simple(false, SYSTEM, number | 512, a, b), 0);
        check_event(SYSTEM, number | 512, (const uint32_t[]){0x12345678, 0xffffff80, 9, 7}, 4);
    }
    assert_int_equal(trace_class_simple(false, SYSTEM, _NTO_TRACE_SYS_ADDRESS | 512, a, 3), 0);
    check_event(SYSTEM, _NTO_TRACE_SYS_ADDRESS | 512,
                (const uint32_t[]){0x12345678, 0xffffff80, 3, 0}, 4);
    end_tracing();
}

/* Every length of text up to too long; the padding is zeros, not the caller's memory. */
static void lines_of_a_log(void **state)
{
    (void)state;
    start_one();
    for (unsigned len = 0; len <= 4 * (MOST - 2); len++) {
        uint32_t words[MOST + 1], want[2 + 32] = {77, 3};
        unsigned cut = len < 127 ? len : 127;
        memset(words, 0, sizeof(words));
        words[0] = 77;
        words[1] = 3;
        memset(words + 2, 'x', len);
        memset(want + 2, 'x', cut);
        assert_int_equal(
            trace_class_combine(false, SYSTEM, _NTO_TRACE_SYS_SLOG, words, 2 + (len + 3) / 4), 0);
        check_event(SYSTEM, _NTO_TRACE_SYS_SLOG, want, 2 + 2 * (cut / 8 + 1));
    }
    end_tracing();
}

/* The kernel's own events: only with the ability, and then as given, in both forms. */
static void the_kernels_events(void **state)
{
    (void)state;
    start_one();
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned class = rows[i].class, number = rows[i].number;
        bool ours = class == SYSTEM && number >= _NTO_TRACE_SYS_ADDRESS;
        if (!ours) {
            assert_int_equal(trace_class_simple(false, class, number, 1, 2), -EPERM);
            assert_int_equal(
                trace_class_combine(false, class, number, (const uint32_t[]){1, 2, 3}, 3), -EPERM);
            assert_int_equal(trace_class_simple(true, class, number, 0x111111111, 2), 0);
            check_event(class, number, (const uint32_t[]){0x11111111, 2}, 2);
            assert_int_equal(
                trace_class_combine(true, class, number, (const uint32_t[]){1, 2, 3}, 3), 0);
            check_event(class, number, (const uint32_t[]){1, 2, 3, 0}, 4);
        } else {
            assert_int_equal(trace_class_combine(true, class, number, (const uint32_t[]){1, 2}, 2),
                             0);
            the_event();
            assert_int_equal(trace_class_simple(true, class, number, 1, 2), 0);
            the_event();
        }
    }
    end_tracing();
}

static void kernel_calls(void **state)
{
    (void)state;
    start_one();
    assert_int_equal(trace_class_simple(false, TRACE_CLASS_KER_CALL, 11, 1, 2), -EPERM);
    assert_int_equal(trace_class_simple(true, TRACE_CLASS_KER_CALL, 3 * 128, 1, 2), -ENOTSUP);
    assert_int_equal(trace_class_simple(true, TRACE_CLASS_KER_CALL, 11 + 128, 1, 2), 0);
    check_event(TRACE_CLASS_KER_CALL, 11 + 128, (const uint32_t[]){1, 2}, 2);
    assert_int_equal(trace_class_simple(true, TRACE_CLASS_KER_CALL, 11 | 512, 1, 2), 0);
    check_event(TRACE_CLASS_KER_CALL, 11 | 512, (const uint32_t[]){1, 0, 2, 0}, 4);
    /* Kymo's own have a class of their own, and no call is in both. */
    for (unsigned kind = 0; kind < 3; kind++) {
        assert_int_equal(trace_class_simple(false, KYMO_CALL, 108 + 128 * kind, 1, 2), -EPERM);
        assert_int_equal(trace_class_simple(true, KYMO_CALL, 108 + 128 * kind, 1, 2), 0);
        check_event(KYMO_CALL, 108 + 128 * kind, (const uint32_t[]){1, 2}, 2);
        assert_int_equal(trace_class_simple(true, KYMO_CALL, 99 + 128 * kind, 1, 2), -ENOTSUP);
        assert_int_equal(trace_class_simple(true, TRACE_CLASS_KER_CALL, 100 + 128 * kind, 1, 2),
                         -ENOTSUP);
    }
    assert_int_equal(trace_class_simple(true, KYMO_CALL, 3 * 128 + 108, 1, 2), -ENOTSUP);
    end_tracing();
}

static void refused(void **state)
{
    static const unsigned none[][2] = {{TRACE_CLASS_EMPTY, 0},
                                       {TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME},
                                       {TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED},
                                       {TRACE_CLASS_D, 1},
                                       {TRACE_CLASS_PR_TH, 7},
                                       {TRACE_CLASS_PR_TH, 1024 + 1},
                                       {SYSTEM, 1},
                                       {SYSTEM, 511},
                                       {TRACE_CLASS_COMM, 8},
                                       {16, 1},
                                       {0xffffffff, 0xffffffff}};
    static const uint32_t words[MOST + 1];

    (void)state;
    start_one();
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_int_equal(trace_class_simple(true, none[i][0], none[i][1], 1, 2), -ENOTSUP);
        assert_int_equal(trace_class_combine(true, none[i][0], none[i][1], words, 2), -ENOTSUP);
        assert_int_equal(trace_class_simple(false, none[i][0], none[i][1], 1, 2), -ENOTSUP);
    }
    assert_int_equal(trace_class_combine(true, SYSTEM, 12, words, MOST + 1), -EINVAL);
    assert_int_equal(trace_class_combine(false, TRACE_CLASS_USER, 5, words, MOST + 1), -EINVAL);
    assert_int_equal(trace_class_simple(false, TRACE_CLASS_USER, 1024, 1, 2), -EINVAL);
    assert_int_equal(trace_class_combine(false, SYSTEM, 12, words, 1), -EPERM); /* no line */
    assert_int_equal(loss_of(0).made, 0);
    end_tracing();
}

/* Each event has its own bit: MSG_ERROR isn't gated by REPLY's, as the original's is. */
static void filters(void **state)
{
    (void)state;
    start_one();
    for (unsigned i = 0; i < ROWS; i++) {
        uint64_t before = loss_of(0).made;
        assert_int_equal(command(_NTO_TRACE_DELALLCLASSES), 0);
        assert_int_equal(command_as(OWNER, _NTO_TRACE_ADDEVENT, external[i], event_of(i), NULL), 0);
        for (unsigned j = 0; j < ROWS; j++) {
            long result = trace_class_combine(true, rows[j].class, rows[j].number,
                                              (const uint32_t[]){1, 2}, 2);
            assert_int_equal(result, 0);
        }
        assert_int_equal(loss_of(0).made - before, 1);
        take_all(&(struct tally){.times = 0});
    }
    end_tracing();
}

static void user_events(void **state)
{
    (void)state;
    start_one();
    assert_int_equal(trace_class_simple(false, TRACE_CLASS_USER, 1023, 8, 9), 0);
    check_event(TRACE_CLASS_USER, 1023, (const uint32_t[]){8, 9}, 2);
    assert_int_equal(
        trace_class_combine(false, TRACE_CLASS_USER, 600, (const uint32_t[]){1, 2, 3}, 3), 0);
    check_event(TRACE_CLASS_USER, 600, (const uint32_t[]){1, 2, 3, 0}, 4);
    end_tracing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),         cmocka_unit_test(places_of_64_bits),
        cmocka_unit_test(lines_of_a_log), cmocka_unit_test(the_kernels_events),
        cmocka_unit_test(kernel_calls),   cmocka_unit_test(refused),
        cmocka_unit_test(filters),        cmocka_unit_test(user_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
