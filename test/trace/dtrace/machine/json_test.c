/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json(): what it finds and what it refuses, against a table; every prefix of a text, which must
 * never give more than the whole one; damaged texts.
 */
#include "test/trace/dtrace/machine/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *escaped(const char *text)
{
    static char to[2][4096];
    static unsigned turn;
    char *out = to[turn ^= 1], *all = out;

    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            *out++ = '\\';
        }
        if (*text == '\n' || *text == '\t') {
            *out++ = '\\';
            *out++ = *text == '\n' ? 'n' : 't';
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
    return all;
}

static const char *json(const char *text, const char *path)
{
    static char line[12000];

    snprintf(line, sizeof(line),
             "result string; sets \"%s\" r1; pushtr string r0 r1; sets \"%s\" r1;"
             "pushtr string r0 r1; call json r2; ret r2",
             escaped(text), escaped(path));
    return run_string(line);
}

static const char book[] =
    "{ \"title\": \"D\", \"pages\": 317, \"price\": -12.5e+3, \"empty\": \"\",\n"
    "\t\"tags\": [ \"a\", 2, [ 3, 4 ], { \"deep\": [ true, false, null ] } ],"
    "\"quote\": \"say \\\"hi\\\" \\u00e4 \\\\\", \"brackets\": \"]}[{\","
    "\"author\": { \"first\": \"Ada\", \"title\": \"Lady\", \"\": 7, \"0\": 8 }, \"end\": 1 }";

static void test_finds(void **state)
{
    static const char *const table[][2] = {
        {"title", "D"},
        {"pages", "317"},
        {"price", "-12.5e+3"},
        {"empty", ""},
        {"tags[0]", "a"},
        {"tags.1", "2"},
        {"tags[2]", "[ 3, 4 ]"},
        {"tags[2][1]", "4"},
        {"tags.2.0", "3"},
        {"tags[3]", "{ \"deep\": [ true, false, null ] }"},
        {"tags[3].deep[0]", "true"},
        {"tags[3].deep[1]", "false"},
        {"tags[3].deep[2]", "null"},
        {"tags[4]", NULL},
        {"tags[2][2]", NULL},
        {"tags[x]", NULL},
        {"tags[]", NULL},
        {"tags", "[ \"a\", 2, [ 3, 4 ], { \"deep\": [ true, false, null ] } ]"},
        {"quote", "say \\\"hi\\\" \\u00e4 \\\\"},
        {"brackets", "]}[{"},
        {"author.first", "Ada"},
        {"author.title", "Lady"},
        {"author.", "7"},
        {"author.0", "8"},
        {"author[0]", "8"},
        {"author.last", NULL},
        {"title.x", NULL},
        {"title[0]", NULL},
        {"end", "1"},
        {"nothing", NULL},
        {"", NULL},
        {"Title", NULL},
        {"titl", NULL},
        {"titles", NULL},
    };

    (void)state;
    world_strsize(512);
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *got = json(book, table[i][0]), *want = table[i][1];
        if (got && want ? strcmp(got, want) != 0 : got || want) {
            fail_msg("%s: %s, not %s", table[i][0], got ? got : "NULL", want ? want : "NULL");
        }
    }
}

static void test_small(void **state)
{
    static const char *const table[][3] = {
        {"[1,2]", "[1]", "2"},
        {"[1,2]", "1", "2"},
        {"[ 1 , 2 ]", "[0]", "1"},
        {"  [1]", "[0]", "1"},
        {"[]", "[0]", NULL},
        {"[ ]", "[0]", NULL},
        {"{}", "a", NULL},
        {"1", "a", NULL},
        {"\"a\"", "a", NULL},
        {"", "a", NULL},
        {"{\"a\":0x10}", "a", NULL}, /* no hexadecimal */
        {"{\"a\":1.}", "a", NULL},
        {"{\"a\":.5}", "a", NULL},
        {"{\"a\":1e}", "a", NULL},
        {"{\"a\":-}", "a", NULL},
        {"{\"a\":+1}", "a", NULL},
        {"{\"a\":1E-5}", "a", "1E-5"},
        {"{\"a\":12ab}", "a", NULL},
        {"{\"a\":truer}", "a", NULL},
        {"{\"a\":truefalse}", "a", NULL},
        {"{\"a\":tru}", "a", NULL},
        {"{\"a\":nul", "a", NULL},
        {"{\"a\":\"x", "a", NULL},
        {"{\"a\":\"x\n\"}", "a", NULL}, /* a control character */
        {"{\"a\":\"\\q\"}", "a", NULL},
        {"{\"a\":\"\\u12g4\"}", "a", NULL},
        {"{\"a\":\"\\u12F4\"}", "a", "\\u12F4"},
        {"{\"a\" 1}", "a", NULL},
        {"{a:1}", "a", NULL},
        {"{\"a\":1 \"b\":2}", "b", NULL},
        {"{\"a\":{\"x\":[1,2},\"b\":2}", "b", NULL}, /* brackets that don't close */
        {"{\"a\":[1,2]", "a", NULL},                 /* nothing follows it */
        {"{\"a\":[1,2] ", "a", "[1,2]"},
        {"{\"a\":{\"b\":{\"c\":[[[5]]]}}}", "a.b.c[0][0][0]", "5"},
        {"[[[[1]]],2]", "[1]", "2"},
        {"[{\"a\":\"]\"},2]", "[1]", "2"},
        {"{\"a\":1,\"a\":2}", "a", "1"},
        {"{\"a\":1}trailing", "a", "1"},
        {"[1,,2]", "[1]", NULL},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *got = json(table[i][0], table[i][1]), *want = table[i][2];
        if (got && want ? strcmp(got, want) != 0 : got || want) {
            fail_msg("%s: %s, not %s", table[i][0], got ? got : "NULL", want ? want : "NULL");
        }
    }
}

/* A text that is cut off, by strsize or by its end, gives nothing, or what the whole gives. */
static void test_cut(void **state)
{
    char part[sizeof(book)];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        for (uint32_t n = 1; n < sizeof(book); n++) {
            world_strsize(i ? n : 512);
            snprintf(part, sizeof(part), "%.*s", i ? 600 : (int)n, book);
            const char *got = json(part, "end");
            assert_true(!got || strcmp(got, "1") == 0);
            got = json(part, "tags[1]");
            assert_true(!got || strcmp(got, "2") == 0);
        }
    }
    world_strsize(sizeof(book) - 1);
    assert_string_equal(json(book, "end"), "1");
}

/* Bytes changed at random: it ends, and reads no further than it may (ASan). */
static void test_damage(void **state)
{
    unsigned seed = 12345;
    char text[sizeof(book)];

    (void)state;
    world_strsize(512);
    for (unsigned i = 0; i < 3000; i++) {
        memcpy(text, book, sizeof(book));
        for (unsigned k = 0; k < 1 + i % 4; k++) {
            static const char bytes[] = "{}[]\",:\\u0e-.t \001";
            seed = seed * 1103515245 + 12345;
            text[(seed >> 8) % (sizeof(book) - 1)] = bytes[(seed >> 20) % (sizeof(bytes) - 1)];
        }
        char *control = strchr(text, '\001');
        if (control) {
            *control = '\t';
        }
        json(text, "end");
        json(text, "tags[3].deep[2]");
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {T(test_finds), T(test_small), T(test_cut), T(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
