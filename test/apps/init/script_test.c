/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/init/line.c and options.c: each word, option and mistake of a start script's line, and lines
 * at random. Built with ASan and UBSan; each line is a heap block of its exact size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "apps/init/script.h"

#define ROUNDS 300000
#define OWN_ABILITIES 0x7u

uint32_t kymo_abilities(void)
{
    return OWN_ABILITIES;
}

static char *text; /* words of the last line point into it */
static struct line line;

static const char *parse(const char *from)
{
    free(text);
    text = strdup(from);
    assert_non_null(text);
    return line_parse(text, &line);
}

static int forget(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static void words_are(unsigned n, const char *a, const char *b, const char *c)
{
    const char *const want[] = {a, b, c};

    assert_int_equal(line.nwords, n);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(line.words[i], want[i]);
    }
    assert_null(line.words[n]);
}

static void test_words(void **state)
{
    (void)state;
    assert_null(parse("  prog\tone   two \r"));
    words_are(3, "prog", "one", "two");
    assert_false(line.background || line.bracketed);
    assert_null(parse("prog \"two words\" \"\""));
    words_are(3, "prog", "two words", "");
    assert_null(parse("prog a & "));
    words_are(2, "prog", "a", NULL);
    assert_true(line.background);
    assert_null(parse("prog \"&\""));
    words_are(2, "prog", "&", NULL);
    assert_false(line.background);
    assert_null(parse(""));
    words_are(0, NULL, NULL, NULL);
}

static void test_comments(void **state)
{
    (void)state;
    assert_null(parse("# [nothing = of this \""));
    words_are(0, NULL, NULL, NULL);
    assert_null(parse("prog a #b & \""));
    words_are(2, "prog", "a", NULL);
    assert_null(parse("prog a#b"));
    words_are(2, "prog", "a#b", NULL);
    assert_null(parse("prog \"a #b\" # c"));
    words_are(2, "prog", "a #b", NULL);
}

static void test_options(void **state)
{
    (void)state;
    assert_null(parse("[pri=12 policy=fifo heap=64k stack=0x1000 runmask=3 name=x] prog a"));
    words_are(2, "prog", "a", NULL);
    assert_true(line.bracketed);
    assert_int_equal(line.attr.priority, 12);
    assert_int_equal(line.attr.policy, SCHED_FIFO);
    assert_int_equal(line.attr.heap_size, 65536);
    assert_int_equal(line.attr.stack_size, 4096);
    assert_int_equal(line.attr.runmask, 3);
    assert_string_equal(line.name, "x");
    assert_null(parse("[] prog"));
    assert_false(line.may_fail);
    assert_null(parse("[status=any] prog &"));
    assert_true(line.may_fail && line.background);
    assert_null(parse("[status=any status=0] prog"));
    assert_false(line.may_fail);
    assert_int_equal(line.server, SERVER_IF_NAMED);
    assert_null(parse("[server=yes] prog &"));
    assert_int_equal(line.server, SERVER_YES);
    assert_null(parse("[server=yes server=no] prog &"));
    assert_int_equal(line.server, SERVER_NO);
    assert_string_equal(parse("[server=maybe] prog &"), "server is yes or no");
    assert_string_equal(parse("[server=] prog &"), "server is yes or no");
    assert_null(parse("[heap=4095m] prog"));
    assert_int_equal(line.attr.heap_size, 4095u << 20);
    assert_null(parse("[ability=all] prog")); /* never more than init's own */
    assert_int_equal(line.attr.ability, OWN_ABILITIES);
    assert_null(parse("[ability=trace,host] prog"));
    assert_int_equal(line.attr.ability, (ABILITY_TRACE | ABILITY_HOST) & OWN_ABILITIES);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *line, *error;
    } rows[] = {
        {"prog \"open", "\" without its end"},
        {"prog & more", "something after &"},
        {"&", "no program"},
        {"[pri=1]", "no program"},
        {"[pri=1 prog", "[ without ]"},
        {"[pri] prog", "an option is key=value"},
        {"[colour=red] prog",
         "no such option (pri policy heap stack ability runmask name status server limit group)"},
        {"[status=1] prog", "status is 0 or any"},
        {"[status=] prog", "status is 0 or any"},
        {"[pri=0] prog", "pri is 1 to 255"},
        {"[pri=256] prog", "pri is 1 to 255"},
        {"[pri=-1] prog", "pri is 1 to 255"},
        {"[pri=1x] prog", "pri is 1 to 255"},
        {"[pri=] prog", "pri is 1 to 255"},
        {"[policy=fair] prog", "policy is fifo, rr or other"},
        {"[heap=4096m] prog", "bad heap size"},
        {"[heap=18446744073709551615k] prog", "bad heap size"},
        {"[heap=k] prog", "bad heap size"},
        {"[stack=1kk] prog", "bad stack size"},
        {"[runmask=all] prog", "bad runmask"},
        {"[ability=trace,flying] prog", "no such ability"},
        {"[name=] prog", "name is empty"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *error = parse(rows[i].line);

        assert_non_null(error);
        assert_string_equal(error, rows[i].error);
    }
}

static void test_too_many_words(void **state)
{
    char many[2 * LINE_WORDS + 1] = "";

    (void)state;
    for (int i = 0; i < LINE_WORDS - 1; i++) {
        strcat(many, "a ");
    }
    assert_null(parse(many));
    assert_int_equal(line.nwords, LINE_WORDS - 1);
    strcat(many, "a");
    assert_string_equal(parse(many), "too many words");
}

static void test_numbers(void **state)
{
    uint32_t value;

    (void)state;
    assert_true(script_number("255", 255, &value) && value == 255);
    assert_false(script_number("256", 255, &value));
    assert_false(script_number("", 255, &value));
    assert_false(script_number(" 1", 255, &value));
    assert_false(script_number("x", 255, &value));
    assert_false(script_number("4194304k", UINT32_MAX, &value));
}

/* Nothing outside is touched, and words stay inside the line. SEED=n repeats. */
static void test_random(void **state)
{
    static const char letters[] = "ab \t\"#&[]=,0k";
    const char *seed = getenv("SEED");

    (void)state;
    srand(seed ? (unsigned)atoi(seed) : 1);
    for (int round = 0; round < ROUNDS; round++) {
        char from[24] = "";
        int len = rand() % (int)sizeof(from);

        for (int i = 0; i < len; i++) {
            from[i] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        }
        from[len ? len - 1 : 0] = '\0';
        parse(from);
        for (int i = 0; i < line.nwords; i++) {
            assert_true(line.words[i] >= text && line.words[i] <= text + strlen(from));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),   cmocka_unit_test(test_comments),
        cmocka_unit_test(test_options), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_too_many_words),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
