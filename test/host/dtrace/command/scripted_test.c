/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the consumer makes of several CPUs: the order of their records with `temporal` and without,
 * drops as each pass reports them, the end by exit(), by a full buffer, by silence.
 */
#include "test/host/dtrace/command/scripted.h"

#include "host/dtrace/print/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* EPIDs 1 … 6 print their letters. */
#define PROGRAM \
    "BEGIN { printf(\"a\"); } BEGIN { printf(\"b\"); } BEGIN { printf(\"c\"); } " \
    "BEGIN { printf(\"d\"); } BEGIN { printf(\"e\"); } END { printf(\"z\"); }"
enum { A = 1, B, C, D, E, Z, FAULT };

#define RUN(passes, ...) \
    scripted_run(passes, sizeof(passes) / sizeof(*(passes)), "-q", "-x", "switchrate=1000hz", \
                 "-n", PROGRAM, __VA_ARGS__, NULL)
#define OVER \
    { \
        .exited = 1 \
    }

static void test_in_order_of_time(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, D, 40}, {1, A, 10}, {1, C, 30}, {2, B, 20}},
         .taken = {50, 51, 52},
         .status = OVER},
        {.records = {{0, Z, 60}}, .taken = {70, 70, 70}},
    };

    (void)state;
    RUN(passes, "-Z");
    assert_string_equal(scripted.out, "abcdz\n");
    assert_string_equal(scripted.err, "");
}

static void test_same_time_is_order_of_taking(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{2, C, 10}, {0, A, 10}, {1, B, 10}, {1, D, 10}},
         .taken = {50, 51, 52},
         .status = OVER},
        {.records = {{0}}},
    };

    (void)state;
    scripted.begin_cpu = 0;
    RUN(passes, "-Z");
    assert_string_equal(scripted.out, "abdc\n");
}

/* What is newer than the oldest of the snapshots may yet be preceded. */
static void test_newer_waits(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, A, 10}, {0, D, 95}, {2, E, 120}}, .taken = {90, 100, 130}},
        {.records = {{1, B, 91}, {1, C, 94}}, .taken = {200, 200, 200}, .status = OVER},
        {.records = {{2, Z, 300}}, .taken = {400, 400, 400}},
    };

    (void)state;
    RUN(passes, "-Z");
    assert_string_equal(scripted.out, "abcdez\n");
}

static void test_in_order_of_cpus(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, D, 1}, {1, A, 30}, {1, B, 40}, {2, C, 20}},
         .taken = {50, 51, 52},
         .status = OVER},
        {.records = {{0}}},
    };

    (void)state;
    scripted.begin_cpu = 0;
    RUN(passes, "-x", "temporal=no");
    assert_string_equal(scripted.out, "dabc\n");
    scripted.begin_cpu = 1;
    RUN(passes, "-x", "temporal=no");
    assert_string_equal(scripted.out, "abdc\n");
    scripted.begin_cpu = 0;
}

static void test_cpu_of_end_is_last(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, A, 1}}, .status = OVER},
        {.records = {{0, B, 5}, {0, Z, 9}, {1, C, 2}, {2, D, 3}}},
    };

    (void)state;
    scripted.end_cpu = 0;
    RUN(passes, "-x", "temporal=no");
    assert_string_equal(scripted.out, "acdbz\n");
    scripted.end_cpu = 2;
    RUN(passes, "-x", "temporal=no");
    assert_string_equal(scripted.out, "abzcd\n");
}

static void test_ring_waits_for_the_end(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, A, 9}, {1, B, 1}, {2, C, 5}}, .taken = {10, 10, 10}, .status = OVER},
    };

    (void)state;
    scripted.end_cpu = 2;
    RUN(passes, "-x", "bufpolicy=ring");
    assert_string_equal(scripted.out, "abc\n");
}

static void test_drops(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0}}, .drops = {1, 0, 7}},
        {.records = {{0}}, .drops = {0, 2, 0}, .aggregation_drops = {0, 0, 1}},
        {.records = {{0}}, .status = OVER},
        {.records = {{0}}},
    };

    (void)state;
    RUN(passes, "-Z");
    assert_string_equal(scripted.err, "dtrace: 1 drop on CPU 0\n"
                                      "dtrace: bufsize is 4m: -x bufsize=8m drops less\n"
                                      "dtrace: 7 drops on CPU 2\n"
                                      "dtrace: 1 aggregation drop on CPU 2\n"
                                      "dtrace: aggsize is 4m: -x aggsize=8m drops less\n"
                                      "dtrace: 2 drops on CPU 1\n");
}

static void test_drops_that_add_up(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0}}, .status = {.dynamic_drops = 3, .speculations_busy = 1}},
        {.records = {{0}}, .status = {.dynamic_drops = 3, .speculations_busy = 1}},
        {.records = {{0}}, .status = {.dynamic_drops = 4, .speculations_busy = 3, .exited = 1}},
        {.records = {{0}}, .status = {.dynamic_drops = 4, .speculations_busy = 3, .exited = 1}},
    };

    (void)state;
    RUN(passes, "-Z");
    assert_string_equal(scripted.err,
                        "dtrace: 3 dynamic variable drops\n"
                        "dtrace: dynvarsize is 1m: -x dynvarsize=2m drops less\n"
                        "dtrace: 1 failed speculation (available buffer(s) still busy)\n"
                        "dtrace: cleanrate is 101hz: -x cleanrate=202hz drops less\n"
                        "dtrace: 1 dynamic variable drop\n"
                        "dtrace: 2 failed speculations (available buffer(s) still busy)\n");
}

#define ONE_OF_EACH \
    { \
        .exited = 1, .dynamic_drops = 1, .dynamic_rinsing_drops = 1, .dynamic_dirty_drops = 1, \
        .speculative_drops = 1, .speculations_busy = 1, .speculations_unavailable = 1, \
        .stack_string_overflows = 1, .double_errors = 1 \
    }

static void test_every_kind_of_drop(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0}}, .drops = {1}, .aggregation_drops = {1}, .status = ONE_OF_EACH},
        {.records = {{0}}, .status = ONE_OF_EACH},
    };
    static const char *const lines[] = {
        "dtrace: [DTRACEDROP_PRINCIPAL] 1 drop on CPU 0\n",
        "dtrace: [DTRACEDROP_AGGREGATION] 1 aggregation drop on CPU 0\n",
        "dtrace: [DTRACEDROP_DYNAMIC] 1 dynamic variable drop\n",
        "dtrace: [DTRACEDROP_DYNRINSE] 1 dynamic variable drop with non-empty rinsing list\n",
        "dtrace: [DTRACEDROP_DYNDIRTY] 1 dynamic variable drop with non-empty dirty list\n",
        "dtrace: [DTRACEDROP_SPEC] 1 speculative drop\n",
        "dtrace: [DTRACEDROP_SPECBUSY] 1 failed speculation (available buffer(s) still busy)\n",
        "dtrace: [DTRACEDROP_SPECUNAVAIL] 1 failed speculation (no speculative buffer available)\n",
        "dtrace: [DTRACEDROP_STKSTROVERFLOW] 1 jstack()/ustack() string table overflow\n",
        "dtrace: [DTRACEDROP_DBLERROR] 1 error in ERROR probe enabling\n",
        "dtrace: bufsize is 1000: -x bufsize=2000 drops less\n", /* no whole k */
        "dtrace: aggsize is 4m: -x aggsize=8m drops less\n",
        "dtrace: dynvarsize is 1536k: -x dynvarsize=3m drops less\n",
        "dtrace: specsize is 512: -x specsize=1k drops less\n",
        "dtrace: nspec is 3: -x nspec=6 drops less\n",
        "dtrace: cleanrate is 60s: -x cleanrate=1hz drops less\n", /* once for all three */
        "dtrace: jstackstrsize is 512: -x jstackstrsize=1k drops less\n",
    };

    (void)state;
    RUN(passes, "-x", "droptags", "-x", "bufsize=1000", "-x", "dynvarsize=1536k", "-x",
        "specsize=512", "-x", "nspec=3", "-x", "cleanrate=60s");
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        if (!strstr(scripted.err, lines[i])) {
            print_error("no %sin:\n%s", lines[i], scripted.err);
        }
        assert_non_null(strstr(scripted.err, lines[i]));
        bytes += strlen(lines[i]);
    }
    assert_int_equal(strlen(scripted.err), bytes);
}

/* At first, when it is over, and at the end. */
static void test_aggregations_seldom(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, A, 10}}, .taken = {50, 51, 52}},
        {.records = {{0, B, 60}}, .taken = {70, 70, 70}},
        {.records = {{0, C, 80}}, .taken = {90, 90, 90}},
        {.records = {{0, D, 100}}, .taken = {110, 110, 110}, .status = OVER},
        {.records = {{0, Z, 120}}, .taken = {130, 130, 130}},
    };

    (void)state;
    scripted.aggregations = 0;
    RUN(passes, "-x", "aggrate=1h");
    assert_string_equal(scripted.out, "abcdz\n");
    assert_int_equal(scripted.aggregations, 3);
    scripted.aggregations = 0;
    RUN(passes, "-Z");
    assert_int_equal(scripted.aggregations, 5);
}

/* Those too that nothing makes on this machine. */
static void test_every_fault(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, FAULT, 1, {A, 1, 4, DIF_FAULT_BADALIGN, 0x1001}},
                     {0, FAULT, 2, {A, 1, 4, DIF_FAULT_BADSTACK, 0x30}},
                     {0, FAULT, 3, {A, 2, 8, DIF_FAULT_KPRIV, 7}},
                     {0, FAULT, 4, {A, 0, 0, DIF_FAULT_UPRIV, 7}},
                     {0, FAULT, 5, {A, 1, 0, DIF_FAULT_TUPOFLOW, 7}},
                     {0, FAULT, 6, {A, 1, (uint64_t)-1, DIF_FAULT_UNKNOWN, 7}},
                     {0, FAULT, 7, {A, 1, 12, 10, 7}}},
         .taken = {50, 51, 52},
         .status = OVER},
        {.records = {{0}}},
    };
    static const char before[] = "dtrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): ";
    static const char *const texts[] = {
        "invalid alignment (0x1001) in action #1 at DIF offset 4\n",
        "bad stack (0x30) in action #1 at DIF offset 4\n",
        "invalid kernel access in action #2 at DIF offset 8\n",
        "invalid user access in predicate at DIF offset 0\n",
        "tuple stack overflow in action #1 at DIF offset 0\n",
        "unknown fault in action #1\n",
        "unknown fault in action #1 at DIF offset 12\n",
    };

    (void)state;
    RUN(passes, "-Z");
    const char *at = scripted.err;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_memory_equal(at, before, strlen(before));
        at += strlen(before);
        assert_memory_equal(at, texts[i], strlen(texts[i]));
        at += strlen(texts[i]);
    }
    assert_string_equal(at, "");
}

static void test_silence(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, A, 10}}, .taken = {20, 20, 20}},
        {.records = {{0}}, .error = -ESHUTDOWN},
    };

    (void)state;
    RUN(passes, "-Z");
    assert_string_equal(scripted.out, "a");
    assert_string_equal(scripted.err,
                        "dtrace: processing aborted: Abort due to systemic unresponsiveness\n");
    assert_int_equal(scripted.status, 1);
}

static void test_full_buffer_ends_it(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0, A, 9}, {1, B, 1}}, .status = {.filled = 1}},
    };

    (void)state;
    scripted.end_cpu = 2;
    RUN(passes, "-x", "bufpolicy=fill");
    assert_string_equal(scripted.out, "ab\n");
    assert_int_equal(scripted.status, 0);
}

static void test_dropped_exit(void **state)
{
    static const struct scripted_pass passes[] = {
        {.records = {{0}}, .status = {.exited = 1, .exit_dropped = 1, .exit_status = 5}},
    };

    (void)state;
    RUN(passes, "-Z");
    assert_int_equal(scripted.status, 5);
}

/* ---- flowindent -------------------------------------------------------------------- */

#define LINE(text, data) "  0 " text data "\n"
#define HEADING "CPU FUNCTION                                 \n"

/* One of each clause, in order. */
static const struct scripted_pass flow[] = {
    {.records = {{0, A, 1}, {0, B, 2}, {0, C, 3}, {0, D, 4}, {0, E, 5}, {0, Z, 6}},
     .taken = {10, 10, 10},
     .status = OVER},
    {.records = {{0}}},
};

/* An entry is an arrow and indents what follows; its other clauses don't. So does a
 * return, last. */
static void test_flow(void **state)
{
    static const struct scripted_probe probes[] = {
        {0, "", "", ""},
        {1001, "fbt", "foo", "entry"},
        {1002, "fbt", "bar", "entry"},
        {1002, "fbt", "bar", "entry"},
        {1003, "fbt", "bar", "return"},
        {1003, "fbt", "bar", "return"},
        {1004, "fbt", "foo", "return"},
    };
    const char *const wanted = HEADING /* */
        LINE(" -> foo                                   ", "a")
            LINE("   -> bar                                 ", "b")
                LINE("    | bar:entry                           ", "c")
                    LINE("    | bar:return                          ", "d")
                        LINE("   <- bar                                 ", "e")
                            LINE(" <- foo                                   ", "z") "\n";

    (void)state;
    scripted.probes = probes;
    scripted_run(flow, 2, "-F", "-n", PROGRAM, NULL);
    assert_string_equal(scripted.out, wanted);
    scripted_run(flow, 2, "-F", "-x", "temporal=no", "-n", PROGRAM, NULL);
    assert_string_equal(scripted.out, wanted);
    scripted.probes = NULL;
}

static void test_flow_of_calls(void **state)
{
    static const struct scripted_probe probes[] = {
        {0, "", "", ""},
        {1001, "syscall", "read", "entry"},
        {1002, "sdt", "f", "probe"},
        {1003, "proc", "f", "lwp-entry"},
        {1004, "proc", "f", "lwp-return"},
        {1005, "syscall", "read", "return"},
        {1006, "fbt", "alone", "return"},
    };

    (void)state;
    scripted.probes = probes;
    scripted_run(flow, 2, "-F", "-n", PROGRAM, NULL);
    assert_string_equal(
        scripted.out,
        HEADING /* */
            LINE(" => read                                  ", "a")
                LINE("  | f:probe                               ", "b")
                    LINE("   -> f                                   ", "c")
                        LINE("   <- f                                   ", "d")
                            LINE(" <= read                                  ", "e")
                                LINE(" <- alone                                 ", "z") "\n");
    scripted.probes = NULL;
}

static void test_prefix(void **state)
{
    static const struct scripted_probe probes[] = {
        {0, "", "", ""},
        {123456, "fbt", "function", "name"},
        {1002, "fbt", "a_function_with_a_name_of_many_letters", "entry"},
    };
    static const struct scripted_pass passes[] = {
        {.records = {{2, A, 1}, {1, B, 2}}, .taken = {10, 10, 10}, .status = OVER},
        {.records = {{0}}},
    };

    (void)state;
    scripted.probes = probes;
    scripted_run(passes, 2, "-n", PROGRAM, NULL);
    assert_string_equal(scripted.out,
                        "CPU     ID                    FUNCTION:NAME\n"
                        "  2 123456                    function:name a\n"
                        "  1   1002 a_function_with_a_name_of_many_letters:entry b\n\n");
    scripted.probes = NULL;
}

/* ---- conversions ------------------------------------------------------------------- */

/* A width that is an argument may be negative: against the C library. */
enum { MOST = 20 }; /* columns; more is cut to that */

static const char letters[] = "diuxXos";
#define LETTERS (sizeof(letters) - 1)

/* As C prints it, with a width within MOST. */
static void as_c(char *to, size_t room, unsigned flags, char letter, int width, int precision,
                 const void *value)
{
    static const char marks[] = "#0-+ ";
    char format[20] = "%";
    size_t n = 1;

    for (unsigned i = 0; i < 5; i++) {
        if (flags >> i & 1 && (letter != 's' || marks[i] == '-')) {
            format[n++] = marks[i];
        }
    }
    snprintf(format + n, sizeof(format) - n, "*.*%s%c", letter == 's' ? "" : "ll", letter);
    width = width > MOST ? MOST : width < -MOST ? -MOST : width;
    if (letter == 's') {
        snprintf(to, room, format, width, precision, (const char *)value);
    } else {
        snprintf(to, room, format, width, precision, *(const long long *)value);
    }
}

static void test_widths(void **state)
{
    static const int widths[] = {0,     1,        -1,        2,         7,          -7,       MOST,
                                 -MOST, MOST + 1, -MOST - 1, INT32_MAX, -INT32_MAX, INT32_MIN};
    static const long long values[] = {0, 5, -5, 123456789, INT64_MIN};
    char *got = NULL, wanted[256];
    size_t bytes;
    FILE *out = open_memstream(&got, &bytes);
    struct printer printer = {.out = out, .width_most = MOST, .pointer_bytes = 8};

    (void)state;
    assert_non_null(out);
    for (unsigned i = 0; i < 32 * LETTERS * 13 * 4 * 5; i++) {
        unsigned flags = i % 32;
        char letter = letters[i / 32 % LETTERS];
        int width = widths[i / 32 / LETTERS % 13], precision = (int)(i / 416 / LETTERS % 4) * 3 - 1;
        const void *data =
            letter == 's' ? (const void *)"abcdefgh" : &values[i / 1664 / LETTERS % 5];
        struct dt_conversion conversion = {.flags = flags | DT_CONV_DYNWIDTH, .name = {letter}};
        struct print_value value = {DTRACE_ACT_DIFEXPR, data, 8, NULL, 0};

        rewind(out);
        print_conversion(&printer, &conversion, width, precision, &value);
        putc('\0', out);
        fflush(out);
        as_c(wanted, sizeof(wanted), flags, letter, width, precision, data);
        if (strcmp(got, wanted) != 0) {
            fail_msg("%%%c flags %u width %d precision %d: '%s', not '%s'", letter, flags, width,
                     precision, got, wanted);
        }
    }
    fclose(out);
    free(got);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(test_in_order_of_time),
        T(test_same_time_is_order_of_taking),
        T(test_newer_waits),
        T(test_in_order_of_cpus),
        T(test_cpu_of_end_is_last),
        T(test_ring_waits_for_the_end),
        T(test_drops),
        T(test_drops_that_add_up),
        T(test_every_kind_of_drop),
        T(test_every_fault),
        T(test_aggregations_seldom),
        T(test_silence),
        T(test_full_buffer_ends_it),
        T(test_dropped_exit),
        T(test_flow),
        T(test_flow_of_calls),
        T(test_prefix),
        T(test_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
