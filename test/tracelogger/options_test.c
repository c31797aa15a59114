/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger's command line: the same options mean the same however they are written, whatever
 * stands there is taken or refused with a message, and what is taken is within its limits. Random
 * lines; KYMO_SEED=n repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/include/kymo.h"
#include "tracelogger/header.h"
#include "tracelogger/object.h"
#include "tracelogger/option_set.h"
#include "tracelogger/options.h"

#define WORDS 24
#define ROUNDS 100000

static char message[8192];
static size_t message_bytes;
static unsigned cpus = 4;
static uint64_t state;

int said(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int bytes = vsnprintf(message + message_bytes, sizeof(message) - message_bytes, format, list);
    va_end(list);
    message_bytes += (size_t)bytes;
    assert_true(message_bytes < sizeof(message));
    return bytes;
}

unsigned kymo_cpus(void)
{
    return cpus;
}

bool header_has(const char *key, size_t length)
{
    return length == 7 && memcmp(key, "CPU_NUM", 7) == 0;
}

/* tracelogger/object.c's, which talks to the kernel. */
const char *object_name(const char *file)
{
    const char *end = strchr(file, ':');

    return end ? end + 1 : file;
}

static uint32_t random_below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

static const struct row {
    char letter;
    const char *name, *argument;
} rows[] = {
#define OPTION(letter, name, argument, takes, set, help) {letter, name, argument},
#include "tracelogger/options.def"
#undef OPTION
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Arguments that are good for some option, and such as are for none. */
static const char *const arguments[] = {"0",
                                        "1",
                                        "2",
                                        "5",
                                        "8",
                                        "9",
                                        "1024",
                                        "1025",
                                        "65537",
                                        "4294967296",
                                        "99999999999999999999",
                                        "-1",
                                        "",
                                        " 1",
                                        "1 ",
                                        "10k",
                                        "10M",
                                        "10kk",
                                        "0x10",
                                        "a=b",
                                        "a=b=c",
                                        "A_9=x y",
                                        "=b",
                                        "a=",
                                        "a::b=c",
                                        "CPU_NUM=9",
                                        "TRACE_a=b",
                                        "-",
                                        "file",
                                        "link:x",
                                        "\xff=1",
                                        "a=\xff",
                                        "--",
                                        "-c"};
#define ARGUMENTS (sizeof(arguments) / sizeof(arguments[0]))

struct line {
    char text[WORDS][80];
    char *argv[WORDS + 1];
    int argc;
};

static void line_begin(struct line *line)
{
    line->argc = 1;
    strcpy(line->text[0], "tracelogger");
}

static void line_add(struct line *line, const char *before, const char *text)
{
    snprintf(line->text[line->argc++], sizeof(line->text[0]), "%s%s", before, text);
}

static int line_parse(struct line *line, struct options *options)
{
    for (int i = 0; i < line->argc; i++) {
        line->argv[i] = line->text[i];
    }
    line->argv[line->argc] = NULL;
    message_bytes = 0;
    message[0] = '\0';
    int result = options_parse(line->argc, line->argv, options);
    memset(options->args, 0, sizeof(options->args)); /* they differ as the lines do */
    return result;
}

/* One option with its argument in a way of writing it that the round draws. */
static void line_add_option(struct line *line, const struct row *row, const char *argument)
{
    char word[80];
    bool joined = random_below(2) && argument[0];

    if (row->letter) {
        snprintf(word, sizeof(word), "-%c", row->letter);
    } else {
        snprintf(word, sizeof(word), "--%s%s", row->name, row->argument && joined ? "=" : "");
    }
    if (!row->argument) {
        line_add(line, "", word);
    } else if (joined) {
        line_add(line, word, argument);
    } else {
        line_add(line, "", word);
        line_add(line, "", argument);
    }
}

/* -c -w -v as -cwv: what has no argument may stand before another letter in one word. */
static void line_join(struct line *line, const struct row *chosen[], const char *values[],
                      int count)
{
    line_begin(line);
    for (int i = 0; i < count; i++) {
        char *last = line->text[line->argc - 1];
        bool after_flag = i > 0 && chosen[i - 1]->letter && !chosen[i - 1]->argument;

        if (after_flag && chosen[i]->letter && random_below(2)) {
            size_t used = strlen(last);
            snprintf(last + used, 80 - used, "%c", chosen[i]->letter);
            if (chosen[i]->argument) {
                line_add(line, "", values[i]);
            }
        } else {
            line_add_option(line, chosen[i], values[i]);
        }
    }
}

static bool same(const struct options *a, const struct options *b)
{
    struct options one = *a, two = *b;

    if (strcmp(one.file, two.file) != 0 || one.attribute_count != two.attribute_count) {
        return false;
    }
    for (unsigned i = 0; i < one.attribute_count; i++) {
        if (strcmp(one.attributes[i], two.attributes[i]) != 0) {
            return false;
        }
    }
    return one.mode == two.mode && one.daemon == two.daemon && one.everything == two.everything &&
           one.buffers == two.buffers && one.seconds == two.seconds &&
           one.kernel_buffers == two.kernel_buffers && one.flush_seconds == two.flush_seconds &&
           one.idle_ms == two.idle_ms && one.size == two.size && one.wide == two.wide &&
           one.verbose == two.verbose && one.without == two.without && one.format == two.format &&
           one.force == two.force && one.reclaim == two.reclaim;
}

static void within_limits(const struct options *options)
{
    assert_in_range(options->kernel_buffers, 2, KERNEL_BUFFERS_MOST);
    assert_true(options->seconds <= 1000000 && options->flush_seconds <= 1000000);
    assert_true(options->without < 1u << FILTERS);
    assert_true(options->file && options->file[0] && strcmp(options->file, "-") != 0);
    assert_true(options->mode != MODE_RING || options->flush_seconds == 0);
    for (unsigned i = 0; i < options->attribute_count; i++) {
        const char *text = options->attributes[i];
        assert_true(strchr(text, '=') > text && !strstr(text, "::") && !strstr(text, "TRACE_"));
    }
}

/* Two ways to write a random list of options: one meaning, one message. */
static void t_ways_of_writing(void **unused)
{
    (void)unused;
    int taken = 0, refused = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const struct row *chosen[6];
        const char *values[6];
        struct line one, two;
        struct options a, b;
        int count = (int)random_below(6) + 1;

        cpus = 1 + random_below(64);
        for (int i = 0; i < count; i++) {
            chosen[i] = &rows[random_below(ROWS)];
            values[i] = arguments[random_below(ARGUMENTS)];
        }
        line_join(&one, chosen, values, count);
        int first = line_parse(&one, &a);
        assert_true(first == 0 || first == 1 || first == 3);
        assert_true(first == 0 || (message_bytes > 0 && message[message_bytes - 1] == '\n'));
        char before[sizeof(message)];
        strcpy(before, message);
        line_join(&two, chosen, values, count);
        assert_int_equal(line_parse(&two, &b), first);
        assert_string_equal(before, message);
        if (first == 0) {
            assert_true(same(&a, &b));
            within_limits(&a);
        }
        taken += first == 0;
        refused += first == 3;
    }
    assert_true(taken > ROUNDS / 50 && refused > ROUNDS / 50);
}

/* Words of any characters: never more than a message. */
static void t_any_words(void **unused)
{
    static const char alphabet[] = "-=:nscrdEkbDSFwAfapuvxMPR019kM_aT\xff ";

    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        struct line line;
        struct options options;

        line_begin(&line);
        for (uint32_t i = random_below(5); i > 0; i--) {
            char word[12] = "";

            for (uint32_t j = random_below(sizeof(word)); j > 0; j--) {
                word[strlen(word)] = alphabet[random_below(sizeof(alphabet) - 1)];
            }
            line_add(&line, random_below(3) ? "-" : "", word);
        }
        int result = line_parse(&line, &options);
        assert_true(result == 0 || result == 1 || result == 3);
        if (result == 0) {
            within_limits(&options);
        } else {
            assert_true(message_bytes > 0);
        }
    }
}

/* What -n and -k come to when nobody says. */
static void t_defaults(void **unused)
{
    static const struct {
        const char *a, *b;
        unsigned cpus, buffers, kernel_buffers;
    } cases[] = {
        {"-v", "-v", 1, 32, 32},   {"-v", "-v", 4, 32, 8},    {"-s1", "-v", 4, 0, 8},
        {"-s1", "-n7", 4, 7, 8},   {"-r", "-v", 4, 0, 8},     {"-d1", "-v", 4, 0, 8},
        {"-d1", "-n3", 4, 3, 8},   {"-d0", "-v", 4, 32, 8},   {"-c", "-v", 4, 0, 8},
        {"-b64", "-v", 4, 32, 24}, {"-b1", "-k2", 64, 32, 3}, {"-b0", "-k2", 1, 32, 2},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct line line;
        struct options options;

        cpus = cases[i].cpus;
        line_begin(&line);
        line_add(&line, "", cases[i].a);
        line_add(&line, "", cases[i].b);
        assert_int_equal(line_parse(&line, &options), 0);
        assert_int_equal(options.buffers, cases[i].buffers);
        assert_int_equal(options.idle_ms, 100);
        assert_int_equal(options.kernel_buffers, cases[i].kernel_buffers);
    }
}

/* Nothing is silently left undone: of two that can't both be done there is a word. */
static void t_together(void **unused)
{
    static const char *const bad[][4] = {
        {"--recover", "--discard", "-v", "leave out --discard"},
        {"--recover", "--save=x", "-v", "two commands"},
        {"--discard", "--remove=x", "-v", "two commands"},
        {"--recover", "--retain", "-v", "record nothing"},
        {"--discard", "-r", "-v", "record nothing"},
        {"--save=x", "-d1", "-v", "record nothing"},
        {"--recover", "-xa.dif", "-v", "record nothing"},
        {"--retain", "-P", "-v", "leave out -P and -R"},
        {"--retain", "-R", "-v", "leave out -P and -R"},
        {"-P", "-S1M", "-fmemory:ktrace.buffers", "give -f another name"},
        {"-c", "--format", "-v", "-f block:NAME"},
        {"-c", "--reclaim", "-fmemory:block:", "needs -S"},
        {"--reclaim", "-S1M", "-fmemory:x", "-f block:NAME"},
        {"--force", "-c", "-fblock:x", "--force has an effect only"},
        {"--idle=5", "-r", "-v", "leave out --idle or -r"},
        {"--retain", "--idle=0", "-v", "leave out --idle or -r"},
    };
    static const char *const good[][3] = {
        {"--retain", "-k4", "-fblock:x"},   {"--retain", "-d1", "-xa.dif"},
        {"--recover", "-S1M", "-M"},        {"--recover", "--format", "-fblock:x"},
        {"--save=x", "--remove=x", "-fx"},  {"-P", "-R", "-fmemory:x"},
        {"--reclaim", "-S1M", "-fblock:x"}, {"--force", "--format", "-fblock:x"},
        {"--idle=0", "-d1", "-D1"},         {"--idle", "1000000", "-c"},
    };
    struct options options;
    struct line line;

    (void)unused;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        line_begin(&line);
        for (int j = 0; j < 3; j++) {
            line_add(&line, "", bad[i][j]);
        }
        assert_int_equal(line_parse(&line, &options), 3);
        assert_non_null(strstr(message, bad[i][3]));
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        line_begin(&line);
        for (int j = 0; j < 3; j++) {
            line_add(&line, "", good[i][j]);
        }
        line_add(&line, "", "-S1M");
        assert_int_equal(line_parse(&line, &options), 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_ways_of_writing),
        cmocka_unit_test(t_any_words),
        cmocka_unit_test(t_defaults),
        cmocka_unit_test(t_together),
    };
    const char *seed = getenv("KYMO_SEED");

    state = seed ? strtoull(seed, NULL, 0) : (uint64_t)getpid();
    fprintf(stderr, "KYMO_SEED=%llu\n", (unsigned long long)state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
