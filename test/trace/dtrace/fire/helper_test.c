/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks whose frames helpers name (trace/dtrace/helper.c), on a port whose stack has five frames:
 * what the record has, whatever a helper does, and that the clause goes on as without it.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/helper.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES = 5, ROOM = 64, SIZE = 8 * (FRAMES + 1) + ROOM };

static const char value[] = "ldgs arg0 r1; ret r1";
static const char constant[] = "result string; sets \"name\" r1; ret r1";
static const char numbers[] = /* the frame's stack pointer: 0, 16, 32 … */
    "result string; ldgs arg1 r1; pushtv r1; call lltostr r1; ret r1";

static void open_again(void)
{
    target_close(NULL);
    assert_int_equal(target_open(NULL), 0);
}

/* jstack() with these helpers (NULL: no more) in a clause that records its arg0 after it. */
static void with_helpers(const char *one, const char *two, uint32_t frames, uint32_t room)
{
    struct dtrace_image_action *a;

    open_again();
    error_clause();
    clause(target.probe[0], NULL);
    a = action(DTRACE_ACT_JSTACK, one);
    a->arg = frames | (uint64_t)room << 32;
    a->weight = two ? image_object(&target.b, two) : a->object;
    action(DTRACE_ACT_DIFEXPR, value);
    start();
}

/* Fires, and returns the names' bytes of the only record. */
static const char *fired(uint32_t frames)
{
    const uint8_t *data;
    uint64_t pid;

    fire(0, 77);
    take(0);
    assert_int_equal(status().errors, 0);
    assert_int_equal(target.nrecords, 1);
    data = target.records[0].data + 16;
    memcpy(&pid, data, 8);
    assert_int_equal(pid, 42);
    for (uint32_t i = 0; i < frames && i < FRAMES; i++) {
        uint64_t pc;
        memcpy(&pc, data + 8 + 8 * (size_t)i, 8);
        assert_int_equal(pc, 0x1001 + 0x1000 * i);
    }
    assert_int_equal(datum(0, 1), 77);
    return (const char *)data + 8 * ((size_t)frames + 1);
}

static void names_are(const char *want, size_t n)
{
    char room[ROOM] = {0};

    memcpy(room, want, n);
    assert_memory_equal(fired(FRAMES), room, ROOM);
}

#define NAMES(text) names_are(text, sizeof(text))

static void test_names(void **state)
{
    (void)state;
    with_helpers(constant, NULL, FRAMES, ROOM);
    NAMES("name\0name\0name\0name\0name");
    with_helpers(numbers, NULL, FRAMES, ROOM);
    NAMES("0\00016\00032\00048\00064");
    /* arg2 and arg3, how far the program is moved, are those of all frames. */
    with_helpers("result string; ldgs arg2 r1; pushtv r1; call lltostr r1; ret r1", NULL, 3, ROOM);
    assert_memory_equal(fired(3), "256\000256\000256\0", 13);
    with_helpers("result string; ldgs arg3 r1; pushtv r1; call lltostr r1; ret r1", NULL, 3, ROOM);
    assert_memory_equal(fired(3), "512\000512\000512\0", 13);
    /* arg0 is the frame's PC, not the probe's. */
    with_helpers("result string; ldgs arg0 r1; setx 0x3001 r2; cmp r1 r2; be yes; ret r0; "
                 "yes: sets \"third\" r1; ret r1",
                 NULL, FRAMES, ROOM);
    NAMES("\0\0third\0\0");
}

static void test_the_first_that_names_counts(void **state)
{
    (void)state;
    with_helpers("result string; ldgs arg1 r1; setx 16 r2; cmp r1 r2; be yes; "
                 "sets \"\" r1; ret r1; yes: sets \"first\" r1; ret r1",
                 numbers, FRAMES, ROOM);
    NAMES("0\0first\00032\00048\00064");
    with_helpers("result string; setx 8 r1; uldx r1 r1; ret r1", constant, FRAMES, ROOM);
    NAMES("name\0name\0name\0name\0name"); /* a fault of one is not the other's */
}

/* Whatever fails gives no name, and neither an error nor an end of the clause. */
static void test_faults(void **state)
{
    static const char *const faults[] = {
        "result string; setx 8 r1; uldx r1 r1; ret r1",                   /* unmapped */
        "result string; setx 8 r1; ret r1",                               /* a bad string */
        "result string; ldgs arg0 r1; ret r1",                            /* a bad string */
        "result string; setx 5 r1; udiv r1 r0 r1; sets \"x\" r1; ret r1", /* by 0 */
        "result string; setx 8 r1; pushtv r1; call copyinstr r1; ret r1",
        "result string; setx 8 r1; setx 99999 r2; pushtv r1; pushtv r2; call copyin r1; ret r1",
        "result string; setx -1 r1; pushtv r1; call copyinstr r1; ret r1",
        "result string; setx 1 r1; uldx r1 r1; ret r1", /* misaligned, or unmapped */
        "result string; ret r0",
    };
    static const char none[ROOM];

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        with_helpers(faults[i], NULL, FRAMES, ROOM);
        assert_memory_equal(fired(FRAMES), none, ROOM);
        assert_int_equal(status().stack_string_overflows, 0);
    }
}

/* The kernel's memory is none of a helper's, also for a user who may read it. */
static void test_memory(void **state)
{
    static char kernel[16] = "kernel's", process[16] = "process's";
    static const char none[ROOM];
    char text[160];

    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        const char *const there = own ? process : kernel;
        static const char *const ways[] = {
            "result string; setx %#lx r1; ret r1",
            "result string; setx %#lx r1; ldx r1 r1; sets \"x\" r1; ret r1",
            "result string; setx %#lx r1; pushtr string r0 r1; call strlen r1; sets \"x\" r1; "
            "ret r1",
            "result string; setx %#lx r1; pushtv r1; call copyinstr r1; ret r1",
        };
        for (unsigned i = 0; i < 4; i++) {
            snprintf(text, sizeof(text), ways[i], (unsigned long)there);
            with_helpers(text, NULL, 1, ROOM);
            fake_map(kernel, sizeof(kernel), true, false);
            fake_map(process, sizeof(process), false, true);
            const char *got = fired(1);
            if (own && i == 3) {
                assert_string_equal(got, process);
            } else {
                assert_memory_equal(got, none, ROOM);
            }
        }
    }
}

/* A clause of the user reads its own memory after a stack as before it. */
static void test_the_clause_is_as_before(void **state)
{
    static uint64_t word = 0x1234;
    char text[96];

    (void)state;
    open_again();
    fake_map(&word, sizeof(word), true, false);
    clause(target.probe[0],
           "var p global scalar value 8; setx 16 r1; pushtv r1; call alloca r2; ldgs arg0 r3;"
           "stx r3 r2; stgs p r2; setx 1 r1; ret r1");
    struct dtrace_image_action *a = action(DTRACE_ACT_USTACK, numbers);
    a->arg = FRAMES | (uint64_t)ROOM << 32;
    a->weight = a->object;
    action(DTRACE_ACT_DIFEXPR, "var p global scalar value 8; ldgs p r1; ldx r1 r2; ret r2");
    action(DTRACE_ACT_DIFEXPR, value);
    snprintf(text, sizeof(text), "setx %#lx r1; ldx r1 r1; ret r1", (unsigned long)&word);
    action(DTRACE_ACT_DIFEXPR, text);
    start();
    fire(0, 99);
    take(0);
    assert_int_equal(status().errors, 0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(datum(0, 1), 99);
    assert_int_equal(datum(0, 2), 99);
    assert_int_equal(datum(0, 3), 0x1234);
}

/* Names that find no room are counted, once a stack; those before them stay. */
static void test_overflow(void **state)
{
    static const struct {
        uint32_t room;
        const char *want;
        unsigned lost;
    } rows[] = {
        {1, "\0", 1},
        {4, "\0\0\0", 1},
        {5, "name", 1},
        {9, "name\0\0\0\0", 1},
        {24, "name\0name\0name\0name\0\0\0\0", 1},
        {25, "name\0name\0name\0name\0name", 0},
        {26, "name\0name\0name\0name\0name\0", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        with_helpers(constant, NULL, FRAMES, rows[i].room);
        assert_memory_equal(fired(FRAMES), rows[i].want, rows[i].room);
        assert_int_equal(status().stack_string_overflows, rows[i].lost);
    }
}

/* A helper has its scratch for each frame anew, and not more than it needs. */
static void test_scratch(void **state)
{
    static char memory[2 * DTRACE_HELPER_SCRATCH];
    static const char none[ROOM];
    char text[160];

    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        snprintf(text, sizeof(text),
                 "result string; setx %#lx r1; setx %d r2; pushtv r1; pushtv r2; call copyin r1; "
                 "sets \"fits\" r1; ret r1",
                 (unsigned long)memory, DTRACE_HELPER_SCRATCH + (int)more);
        open_again();
        image_option(&target.b, DTRACE_OPT_BUFSIZE, 1 << 15);
        clause(target.probe[0], NULL);
        struct dtrace_image_action *a = action(DTRACE_ACT_JSTACK, text);
        a->arg = FRAMES | (uint64_t)ROOM << 32;
        a->weight = a->object;
        action(DTRACE_ACT_DIFEXPR, value);
        start();
        fake_map(memory, sizeof(memory), false, true);
        const char *got = fired(FRAMES);
        if (more) {
            assert_memory_equal(got, none, ROOM);
        } else {
            assert_memory_equal(got, "fits\0fits\0fits\0fits\0fits", 25);
        }
    }
}

/* Where the record leaves no scratch, or a few bytes, a helper that needs some gives no name. */
static void test_no_scratch(void **state)
{
    unsigned none = 0, all = 0;

    (void)state;
    for (uint32_t bytes = 64; bytes <= 512; bytes += 8) {
        open_again();
        image_option(&target.b, DTRACE_OPT_BUFSIZE, bytes);
        clause(target.probe[0], NULL);
        struct dtrace_image_action *a = action(DTRACE_ACT_JSTACK, numbers);
        a->arg = FRAMES | (uint64_t)ROOM << 32;
        a->weight = a->object;
        start();
        fire(0, 77);
        take(0);
        assert_int_equal(status().errors, 0);
        if (target.nrecords == 1) {
            const char *names = (const char *)target.records[0].data + 16 + 8 * (FRAMES + 1);
            const bool has = memcmp(names, "0\00016\00032\00048\00064", 14) == 0;
            assert_true(has || names[0] == '\0');
            none += !has;
            all += has;
        }
    }
    assert_true(none > 0 && all > 0);
}

/* As a key each stack with its names is one of its own. */
static void test_key(void **state)
{
    uint64_t key[FRAMES + 1] = {42, 0x1001, 0x2001};
    char entry[8 * 3 + ROOM] = {0};

    (void)state;
    open_again();
    clause(target.probe[0], NULL);
    struct dtrace_image_action *a = action(DTRACE_ACT_JSTACK, numbers);
    a->arg = 2 | (uint64_t)ROOM << 32;
    a->weight = a->object;
    action(DTRACE_AGG_COUNT, NULL)->nkeys = 1;
    start();
    for (unsigned i = 0; i < 3; i++) {
        fire(0, i);
    }
    memcpy(entry, key, 24);
    memcpy(entry + 24, "0\00016", 5);
    const uint64_t *count = aggregated(0, 1, entry, sizeof(entry));
    assert_non_null(count);
    assert_int_equal(*count, 3);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, target_open, target_close)
    static const struct CMUnitTest tests[] = {
        T(test_names),      T(test_the_first_that_names_counts), T(test_faults),  T(test_memory),
        T(test_overflow),   T(test_the_clause_is_as_before),     T(test_scratch), T(test_key),
        T(test_no_scratch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
