/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/top: frames from lines, whatever the lines are; sums beside a naive account of random
 * threads; tables that fit the terminal and hold nothing that it would obey.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/top/top.h"
#include "test/host/support.h"
#include "test/tool/random.h"

static void test_lines(void **state)
{
    static const char *const unknown[] = {
        "",           "X 1 2", "T",   "T x",        "C 0 1 2 3",   "C 0 1 2 name",
        "R 1 2 name", "S 1 2", "I 0", "P",          "Everything",  "C",
        "C 1",        "T  1",  "E ",  "C 0 1 2 3x", "R - - - name"};
    struct top_frame frame = {0};

    (void)state;
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_int_equal(top_frame_line(&frame, unknown[i]), TOP_UNKNOWN);
    }
    assert_int_equal(frame.nrows, 0);
    assert_int_equal(top_frame_line(&frame, "T 1000"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "E"), TOP_WHOLE);
    assert_int_equal(top_frame_span(&frame), 0); /* nothing came before */
    assert_int_equal(top_frame_line(&frame, "T 3000"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "C 1 5 2 700 a name of 3 9"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "C 0 5 2 50 a name of 3 9"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "C 3 1 4 1234 kymo"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "R 5 2 3 a name of 3 9"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "S 6 1 9 other"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "I 1 17"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "E"), TOP_WHOLE);
    assert_int_equal(top_frame_span(&frame), 2000);
    assert_int_equal(frame.ncpu, 4);
    assert_int_equal(frame.nrows, 3);
    assert_int_equal(frame.idle_ns[3], 1234);
    assert_int_equal(frame.interrupts, 17);
    top_frame_sort(&frame, TOP_BY_CPU);
    assert_int_equal(frame.rows[1].pid, 5);
    assert_int_equal(frame.rows[1].cpu_ns, 750);
    assert_int_equal(frame.rows[1].runs, 3);
    assert_string_equal(frame.rows[1].name, "a name of 3 9");
    top_frame_sort(&frame, TOP_BY_SENT);
    assert_int_equal(frame.rows[0].pid, 6);
    assert_int_equal(top_frame_line(&frame, "T 4000"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "E"), TOP_MORE); /* no CPU's samples */
    assert_int_equal(top_frame_line(&frame, "T 5000"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "P 0 20"), TOP_MORE);
    assert_int_equal(top_frame_line(&frame, "E"), TOP_WHOLE);
    assert_int_equal(top_frame_span(&frame), 2000);
    top_frame_free(&frame);
}

/* Random lines, with numbers of all sizes and names of all bytes. */
static void test_anything(void **state)
{
    struct top_frame frame = {0};
    char line[600];

    (void)state;
    for (unsigned round = 0; round < 200000; round++) {
        unsigned n = random_below(sizeof(line) - 1);

        n = round % 3 == 0 ? n : n % 40;
        for (unsigned i = 0; i < n; i++) {
            static const char often[] = "TCRSIPE 0123456789- ";

            line[i] = random_below(8) == 0 ? (char)(1 + random_below(255))
                                           : often[random_below(sizeof(often) - 1)];
        }
        line[n] = '\0';
        top_frame_line(&frame, line);
    }
    top_frame_free(&frame);
}

static void test_sums(void **state)
{
    enum { PIDS = 40, TIDS = 5, LINES = 3000 };
    static uint64_t cpu[PIDS][TIDS], runs[PIDS][TIDS], sent[PIDS][TIDS];
    struct top_frame frame = {0};
    char line[100];
    unsigned rows = 0;

    (void)state;
    top_frame_line(&frame, "T 5");
    for (unsigned i = 0; i < LINES; i++) {
        unsigned pid = 2 + random_below(PIDS - 2), tid = 1 + random_below(TIDS - 1);
        unsigned amount = random_below(1000000), kind = random_below(3);
        uint64_t *sum = kind == 0 ? &cpu[pid][tid] : kind == 1 ? &runs[pid][tid] : &sent[pid][tid];

        *sum += amount;
        if (kind == 0) {
            snprintf(line, sizeof(line), "C %u %u %u %u p%u", random_below(4), pid, tid, amount,
                     pid);
        } else {
            snprintf(line, sizeof(line), "%c %u %u %u p%u", kind == 1 ? 'R' : 'S', pid, tid, amount,
                     pid);
        }
        assert_int_equal(top_frame_line(&frame, line), TOP_MORE);
    }
    assert_int_equal(top_frame_line(&frame, "E"), TOP_WHOLE);
    for (unsigned sort = TOP_BY_CPU; sort <= TOP_BY_NAME; sort++) {
        top_frame_sort(&frame, (enum top_sort)sort);
        for (unsigned i = 0; i < frame.nrows; i++) {
            const struct top_row *row = &frame.rows[i];

            assert_int_equal(row->cpu_ns, cpu[row->pid][row->tid]);
            assert_int_equal(row->runs, runs[row->pid][row->tid]);
            assert_int_equal(row->sent, sent[row->pid][row->tid]);
            assert_true(sort != TOP_BY_RUNS || i == 0 || row[-1].runs >= row->runs);
        }
    }
    for (unsigned i = 0; i < PIDS * TIDS; i++) {
        rows += cpu[i / TIDS][i % TIDS] + runs[i / TIDS][i % TIDS] + sent[i / TIDS][i % TIDS] > 0;
    }
    assert_int_equal(frame.nrows, rows);
    top_frame_free(&frame);
}

/* CPU 1 of a machine did not start: it is neither counted nor busy. */
static void test_gap(void **state)
{
    const struct top_style style = {.target = "unix:raw"};
    struct top_frame frame = {0};
    char line[100], *text = NULL;
    size_t bytes;

    (void)state;
    top_frame_line(&frame, "T 1000000000");
    top_frame_line(&frame, "E");
    top_frame_line(&frame, "T 2000000000");
    for (unsigned cpu = 0; cpu < 4; cpu += 1 + (cpu == 0)) {
        snprintf(line, sizeof(line), "C %u 1 %u 1000000000 kymo", cpu, cpu + 1);
        assert_int_equal(top_frame_line(&frame, line), TOP_MORE);
    }
    assert_int_equal(top_frame_line(&frame, "E"), TOP_WHOLE);
    FILE *to = open_memstream(&text, &bytes);
    top_show(to, &frame, &style);
    fclose(to);
    assert_non_null(strstr(text, "3 CPUs, 0.0 % busy"));
    free(text);
    top_frame_free(&frame);
}

static void test_table(void **state)
{
    struct top_frame frame = {0};
    char line[200], *text = NULL;
    size_t bytes;

    (void)state;
    top_frame_line(&frame, "T 1000000000");
    top_frame_line(&frame, "E");
    top_frame_line(&frame, "T 2000000000");
    for (unsigned pid = 2; pid < 100; pid++) {
        snprintf(line, sizeof(line), "C 0 %u 1 %u \033]0;x\a\177\xff%s", pid, pid * 1000,
                 "a name that is longer than what fits in a narrow terminal");
        top_frame_line(&frame, line);
    }
    top_frame_line(&frame, "E");
    for (unsigned lines = 1; lines < 40; lines += 3) {
        for (unsigned columns = 1; columns < 100; columns += 7) {
            struct top_style style = {.target = "unix:\033[2J",
                                      .notice = lines % 2 ? "a message\n" : NULL,
                                      .lines = lines,
                                      .columns = columns};
            unsigned shown = 0;
            FILE *to = open_memstream(&text, &bytes);

            top_show(to, &frame, &style);
            fclose(to);
            for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
                size_t n = (size_t)(end - at);

                assert_true(n >= 3 && memcmp(end - 3, "\033[K", 3) == 0);
                assert_true(n - 3 <= columns);
                for (size_t i = 0; i < n - 3; i++) {
                    assert_true(at[i] >= ' ' && at[i] < 0x7f);
                }
                shown++;
            }
            assert_true(shown <= (lines > 5 ? lines : 5));
            free(text);
        }
    }
    top_frame_free(&frame);
}

/* As test/host/export/names.py has it for the commands that read a capture. */
static void test_names(void **state)
{
    static const struct {
        const char *name, *shown, *json;
    } rows[] = {{"\xc3\xa9\xe4\xb8\xad", "\xc3\xa9\xe4\xb8\xad", "\"\xc3\xa9\xe4\xb8\xad\""},
                {"a\xe9z", "a\\351z", "\"a\\\\351z\""},
                {"a\xe4\xb8", "a\\344\\270", "\"a\\\\344\\\\270\""},
                {"a\302\233z", "a\\302\\233z", "\"a\\\\302\\\\233z\""},
                {"<&\"'>", "<&\"'>", "\"<&\\\"'>\""}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct top_frame frame = {0};
        struct top_style style = {.target = "self"};
        char line[100], *text = NULL;
        size_t bytes;
        FILE *to = open_memstream(&text, &bytes);

        top_frame_line(&frame, "T 1000000000");
        top_frame_line(&frame, "E");
        top_frame_line(&frame, "T 2000000000");
        snprintf(line, sizeof(line), "C 0 7 1 1000 %s", rows[i].name);
        top_frame_line(&frame, line);
        top_frame_line(&frame, "E");
        top_show(to, &frame, &style);
        top_show_json(to, &frame, &style);
        fclose(to);
        assert_non_null(strstr(text, rows[i].shown));
        assert_non_null(strstr(text, rows[i].json));
        free(text);
        top_frame_free(&frame);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines), cmocka_unit_test(test_anything), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_gap),   cmocka_unit_test(test_table),    cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
