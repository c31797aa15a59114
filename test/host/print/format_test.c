/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print -p: the format string, and the head of every kind of line. Random strings print their
 * seed: KYMO_SEED=n repeats them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/temporary.h"
#include "test/host/support.h"

/* What `format` makes of `event`; static. */
static const char *formatted(const char *text, const struct format_event *event)
{
    static char got[8 * FORMAT_WIDTH_MAX];
    struct out *out = calloc(1, sizeof(*out));
    struct format format;
    FILE *file = temporary_stream();
    const char *bad;

    assert_true(out != NULL && file != NULL);
    assert_int_equal(format_parse(&format, text, &bad), 0);
    out->fd = fileno(file);
    format_print(out, &format, event);
    out_flush(out);
    rewind(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
    fclose(file);
    free(out);
    return got;
}

static const struct format_event sample = {.cycles = 0x37b04f81e320,
                                           .index = 10,
                                           .cpu = 3,
                                           .ns = 12345678901,
                                           .class = "SYSTEM",
                                           .number = "PATHMGR_OPEN"};

static void test_conversions(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"%%", "%"},
        {"100%% %C%%", "100% 3%"},
        {"%%c", "%c"},
        {"%c", "37b04f81e320"},
        {"%#c", "0x37b04f81e320"},
        {"%16c|", "    37b04f81e320|"},
        {"%-16c|", "37b04f81e320    |"},
        {"%016c", "000037b04f81e320"},
        {"%-016c|", "37b04f81e320    |"},
        {"%#018c", "0x000037b04f81e320"},
        {"%.14c", "0037b04f81e320"},
        {"%16.14c", "  0037b04f81e320"},
        {"%016.14c", "  0037b04f81e320"},
        {"%.8c", "37b04f81e320"},
        {"%.-8c", "4f81e320"},
        {"%010.-8c", "004f81e320"},
        {"%10.-8c", "  4f81e320"},
        {"%C", "3"},
        {"%02C", "03"},
        {"%+2C", " 3"},
        {"%e", "10"},
        {"%06e", "000010"},
        {"%t", "12.345.678us"},
        {"%14t|", "  12.345.678us|"},
        {"%014t|", "  12.345.678us|"},
        {"%-14t|", "12.345.678us  |"},
        {"%Z", "SYSTEM"},
        {"%-16Z:%-18z|", "SYSTEM          :PATHMGR_OPEN      |"},
        {"%.4z|", "PATH|"},
        {"%.-4z|", "OPEN|"},
        {"%6.-4z|", "  OPEN|"},
        {"%-6.4z|", "PATH  |"},
        {"%.z|", "|"},
        {"%.-z|", "|"},
        {"%.-99z|", "PATHMGR_OPEN|"},
        {"\n%e\t", "\n10\t"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(formatted(rows[i][0], &sample), rows[i][1]);
    }
}

static void test_times(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "0.000.000us"},
        {999, "0.000.000us"},
        {-999, "0.000.000us"},
        {16000, "0.000.016us"},
        {-1000, "-0.000.001us"},
        {3600000000000, "3600.000.000us"},
        {INT64_MAX, "9223372036.854.775us"},
        {INT64_MIN, "-9223372036.854.775us"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct format_event event = {.ns = rows[i].ns};

        assert_string_equal(formatted("%t", &event), rows[i].text);
    }
}

/* printf is the oracle for numbers. */
static void test_like_printf(void **state)
{
    static const char *const flags[] = {"", "-", "0", "-0", "#", "#0", "#-", "+", " ", "+0"};
    static const uint64_t values[] = {1, 0xabc, 4294967296u, UINT64_MAX};

    (void)state;
    for (unsigned i = 0; i < 10 * 12 * 12 * 4; i++) {
        struct format_event event = {.cycles = values[i % 4]};
        char spec[16], ours[20], theirs[32], want[64];

        snprintf(spec, sizeof(spec), "%s%u", flags[i / 4 % 10], 2 * (i / 40 % 12));
        if (i / 480 > 0) {
            snprintf(spec + strlen(spec), 4, ".%u", 2 * (i / 480));
        }
        snprintf(ours, sizeof(ours), "%%%sc", spec);
        /* + and space are not for unsigned conversions: printf ignores them. */
        snprintf(theirs, sizeof(theirs), "%%%s" PRIx64, spec + strspn(spec, "+ "));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(want, sizeof(want), theirs, event.cycles);
#pragma GCC diagnostic pop
        assert_string_equal(formatted(ours, &event), want);
    }
}

static void test_refused(void **state)
{
    static const char *const rows[][2] = {
        {"%", "%"},
        {"a%", "%"},
        {"%q", "%q"},
        {"x%-5", "%-5"},
        {"%c%d z", "%d z"},
        {"%*c", "%*c"},
        {"%lc", "%lc"},
        {"%.--2c", "%.--2c"},
        {"%5000c", "%5000c"},
        {"%.5000c", "%.5000c"},
        {"%99999999999c", "%99999999999c"},
        {"%5%", "%5%"},
        {"%c %T", "%T"},
    };
    char many[2 * FORMAT_PIECES + 1] = "";
    struct format format;
    const char *bad;

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(format_parse(&format, rows[i][0], &bad), -1);
        assert_string_equal(bad, rows[i][1]);
    }
    for (unsigned i = 0; i < FORMAT_PIECES; i++) {
        strcat(many, "%c");
    }
    assert_int_equal(format_parse(&format, many, &bad), -1);
    assert_null(bad);
    many[2 * (FORMAT_PIECES - 1)] = '\0';
    assert_int_equal(format_parse(&format, many, &bad), 0);
}

/* Any string is refused or prints; the sanitizers watch. */
static void test_random(void **state)
{
    static const char letters[] = "%%%%.-0123456789#+ cCetZzqx";
    struct mk random = {.random = support_seed()};
    unsigned good = 0;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        char text[24];
        struct format format;
        const char *bad;
        unsigned n = 1 + mk_random(&random) % 20;

        for (unsigned k = 0; k < n; k++) {
            text[k] = letters[mk_random(&random) % (sizeof(letters) - 1)];
        }
        text[n] = '\0';
        if (format_parse(&format, text, &bad) == 0) {
            formatted(text, &sample);
            good++;
        }
    }
    assert_true(good > 1000);
}

struct head {
    unsigned class, event;
    uint32_t words[8];
    unsigned nwords;
    const char *line;
};

/* With the default format, %e and %t: head and arguments of every kind of event. */
static const struct head heads[] = {
    {TRACE_CLASS_KER_CALL,
     11,
     {3, 9},
     2,
     "KER_CALL        :MSG_SENDV/11       coid:0x00000003 msg0:0x00000009\n"},
    {TRACE_CLASS_KER_CALL, 90, {0}, 2, "KER_CALL        :SCHED_YIELD/90    \n"},
    {TRACE_CLASS_KER_CALL,
     11 + 128,
     {0xffffffffu, 22},
     2,
     "KER_EXIT        :MSG_SENDV/11       ret_val:-1, errno:22 (EINVAL)\n"},
    {TRACE_CLASS_KER_CALL, 90 + 256, {0}, 2, "INT_CALL        :SCHED_YIELD/90    \n"},
    {TRACE_CLASS_KER_CALL,
     127,
     {1, 2},
     2,
     "KER_CALL        :EVENT:127          d0:0x00000001 d1:0x00000002\n"},
    {TRACE_CLASS_INT, 1, {27, 0x10}, 2, "INT_ENTR        :0x0000001b (27)    IP:0x00000010\n"},
    {TRACE_CLASS_INT,
     3,
     {4, 27, 0x10, 0x20},
     4,
     "INT_HANDLER_ENTR:0x0000001b (27)    PID:4 IP:0x00000010 AREA:0x00000020\n"},
    {TRACE_CLASS_INT,
     4,
     {27, 0, 0, 0, 0},
     5,
     "INT_HANDLER_EXIT:0x0000001b (27)    SIGEVENT:NONE\n"},
    {TRACE_CLASS_PR_TH,
     1,
     {5, 1, 10, 2},
     4,
     "THREAD          :THRUNNING          pid:5 tid:1 priority:10 policy:2\n"},
    {TRACE_CLASS_PR_TH, 27, {5, 1}, 2, "VTHREAD         :VTHRUNNING         pid:5 tid:1\n"},
    {TRACE_CLASS_PR_TH,
     192,
     {0, 1, 0x6e67, 0},
     4,
     "PROCESS         :PROCCREATE_NAME   \n"
     "                      ppid:0\n                       pid:1\n                      name:gn\n"},
    {TRACE_CLASS_SYSTEM,
     10,
     {16, 32},
     2,
     "SYSTEM          :FUNC_ENTER         thisfn:0x00000010 call_site:0x00000020\n"},
    {TRACE_CLASS_COMM,
     0,
     {0x408, 5},
     2,
     "COMM            :SND_MESSAGE        rcvid:0x00000408 pid:5\n"},
    {TRACE_CLASS_USER,
     100,
     {2, 0},
     2,
     "USREVENT        :EVENT:100          d0:0x00000002 d1:0x00000000\n"},
    {TRACE_CLASS_USER,
     7,
     {0x6c6c6568, 0x6f},
     2,
     "USREVENT        :EVENT:7            STR:\"hello\"\n"},
    {TRACE_CLASS_CONTROL,
     8,
     {0x206, 77},
     2,
     "CONTROL         :DROPPED            class = USER, num_events = 77, reason = no buffer\n"},
    {9, 7, {1, 2}, 2, "SEC             :OLD_EVENT          x:0x00000001 y:2\n"},
    {15, 7, {1, 2}, 2, "CLASS 15        :EVENT:7            d0:0x00000001 d1:0x00000002\n"},
};

static void test_heads(void **state)
{
    static const char *const opening =
        "t:0x00000001 CPU:00 CONTROL         :BUFFER             sequence = 1, num_events = 3\n"
        "t:0x00000001 CPU:00 CONTROL         :TIME               msb:0x00000000 "
        "lsb(offset):0x00000001\n"
        "t:0x00000002 CPU:00 ";
    struct format format;
    const char *bad;

    (void)state;
    assert_int_equal(format_parse(&format, FORMAT_DEFAULT, &bad), 0);
    for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        const struct head *head = &heads[i];
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
        struct kev *kev;
        char *text, *count;

        mk_event(mk, 0, 1, head->class, head->event, head->words, head->nwords);
        mk_flush_all(mk);
        kev = support_open(mk, NULL);
        text = support_print_format(kev, &format);
        count = strstr(text, "num_events = ") + 13;
        *count = '3'; /* however many slots it takes */
        assert_memory_equal(text, opening, strlen(opening));
        assert_string_equal(text + strlen(opening), head->line);
        free(text);
        kev_close(kev);
        mk_free(mk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_times),
        cmocka_unit_test(test_like_printf), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_random),      cmocka_unit_test(test_heads),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
