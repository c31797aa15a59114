/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <kymo_log.h>: log text of every type of argument. What a reader that has this program's ELF file
 * must print is printed here, too, as "LOG <text>": test/board/logtext.py compares.
 */
#include <errno.h>
#include <float.h>
#include <kymo_log.h>
#include <kymo_probe.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/board/programs/check.h"

/* Logs, and prints the text that the log should have. */
#define BOTH(...) \
    do { \
        KYMO_LOG(KYMO_LOG_INFO, __VA_ARGS__); \
        printf("LOG " __VA_ARGS__); \
        putchar('\n'); \
    } while (0)

static void numbers(void)
{
    long l = LONG_MIN;
    unsigned long ul = ULONG_MAX;
    short h = -2;
    unsigned char c = 200;
    _Bool yes = 1;

    BOTH("nothing at all");
    BOTH("%% and %d", INT_MIN);
    BOTH("%d|%5d|%-5d|%05d|%+d|% d", 1, 2, 3, 4, 5, 6);
    BOTH("%u %x %#X %o", UINT_MAX, 0xabcdefu, 0x12u, 8u);
    BOTH("%ld %lu %lx", l, ul, ul);
    BOTH("%hd %hhu %d %c", h, c, yes, 'k');
    BOTH("%*d|%-*d|%.*d", 6, 7, 6, 8, 4, 9);
    BOTH("%d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
}

/* What printf() of a small C library can't print is compared with a text. */
#define SAYS(text, ...) \
    do { \
        KYMO_LOG(KYMO_LOG_INFO, __VA_ARGS__); \
        printf("LOG %s\n", text); \
    } while (0)

static void wide(void)
{
    float f = 0.5f;
    double d = -1234.0625;

    SAYS("-9223372036854775807 18446744073709551615", "%lld %llu", -LLONG_MAX, ULLONG_MAX);
    SAYS("0.500000 -1234.06 -1.234062e+03", "%f %.2f %e", f, d, d);
    SAYS("1 1099511627776 2.5 x", "%d %lld %g %s", 1, 1LL << 40, 2.5, "x");
}

static void strings(void)
{
    static char longest[400];
    char name[] = "array";
    const char *none = NULL;

    memset(longest, 'a', sizeof(longest) - 1);
    BOTH("%s and %s", "literal", name);
    BOTH("[%10s][%-10s][%.3s]", "right", "left", "cut off");
    BOTH("%s%s%s", "", "x", "");
    KYMO_LOG(KYMO_LOG_INFO, "%s", none);
    puts("LOG (null)");
    KYMO_LOG(KYMO_LOG_INFO, "%s %d", longest, 5);
    printf("LOG %.236s... 5\n", longest);
    KYMO_LOG(KYMO_LOG_INFO, "%s", longest);
    printf("LOG %.244s...\n", longest);
}

static unsigned evaluated;

static unsigned evaluate(void)
{
    return ++evaluated;
}

static void levels(void)
{
    KYMO_LOG(KYMO_LOG_CRITICAL, "one");
    puts("LOG critical: one");
    KYMO_LOG(KYMO_LOG_ERROR, "two");
    puts("LOG error: two");
    KYMO_LOG(KYMO_LOG_DEBUG, "three %u", evaluate());
    puts("LOG debug: three 1");
    kymo_log_level = KYMO_LOG_WARNING;
    KYMO_LOG(KYMO_LOG_NOTICE, "never %u", evaluate());
    KYMO_LOG(KYMO_LOG_WARNING, "four");
    puts("LOG warning: four");
    kymo_log_level = KYMO_LOG_DEBUG;
    EXPECT_EQ(evaluated, 1);
}

static void offs(void)
{
    kymo_log_level = 0;
    KYMO_LOG(KYMO_LOG_CRITICAL, "never %u", evaluate());
    kymo_log_level = KYMO_LOG_DEBUG;
    EXPECT_EQ(evaluated, 1);
    EXPECT_EQ(kymo_user_wanted, 1);
}

/* Static probes are log text without levels. */
static void probes(void)
{
    static char name[] = "a name";
    unsigned long most = ULONG_MAX;
    unsigned high = UINT_MAX;
    int low = INT_MIN;

    KYMO_PROBE(t_log, none);
    puts("LOG t_log:::none");
    KYMO_PROBE(t_log, two__words, low, high);
    printf("LOG t_log:::two-words low=%d high=%u\n", low, high);
    KYMO_PROBE(t_log, six, evaluated, most, (signed char)-3, name, 'k', -5L);
    printf("LOG t_log:::six evaluated=%u most=%lu (signed char)-3=-3 name=%p 'k'=107 -5L=-5\n",
           evaluated, most, (void *)name);
    if (KYMO_PROBE_ENABLED()) {
        puts("LOG t_log:::enabled 7=7");
    }
    KYMO_PROBE(t_log, enabled, 7);
}

static const struct check tests[] = {
    {"numbers", numbers}, {"probes", probes}, {"wide", wide},
    {"strings", strings}, {"levels", levels}, {"off", offs},
};

int main(void)
{
    int status = check_run("log", tests, COUNT(tests));

    fflush(stdout);
    return status;
}
