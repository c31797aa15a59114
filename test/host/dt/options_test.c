/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options: every kind's syntax, where each may be set, defaults, pragmas.
 */
#include "test/host/dt/front.h"

#include <stdio.h>
#include <string.h>

static const char bad_name[] = "Invalid option name";
static const char bad_value[] = "Invalid value for specified option";

static const char *set(const char *name, const char *text)
{
    const char *why = dt_option_set(front.d, name, text, DT_FROM_COMMAND);

    return why ? why : "ok";
}

static uint64_t after(const char *name, const char *text)
{
    if (strcmp(set(name, text), "ok") != 0) {
        fail_msg("%s=%s is refused", name, text);
    }
    return dtrace_option(front.d, name);
}

static void sizes(void **state)
{
    (void)state;
    EQUAL(0, after("bufsize", "0"));
    EQUAL(64, after("bufsize", "64"));
    EQUAL(4096, after("bufsize", "4k"));
    EQUAL(4096, after("bufsize", "4K"));
    EQUAL(3 << 20, after("aggsize", "3m"));
    EQUAL((uint64_t)2 << 30, after("specsize", "2g"));
    EQUAL((uint64_t)100 << 40, after("bufsize", "100T"));
    EQUAL(16 << 10, after("strsize", "0x10k"));
    EQUAL(8, after("strsize", "010"));
    EQUAL(UINT64_MAX, after("bufsize", "18446744073709551615"));
    EQUAL(1, after("bufsize", NULL));
    static const char *const bad[] = {"1b",
                                      "-1",
                                      "",
                                      "k",
                                      "4kk",
                                      "4 k",
                                      "4.5k",
                                      "x",
                                      "on",
                                      "4kb",
                                      "+4",
                                      " 4",
                                      "18446744073709551616",
                                      "99999999t"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        SAME(bad_value, set("bufsize", bad[i]));
    }
    EQUAL(1, dtrace_option(front.d, "bufsize"));
}

static void rates(void **state)
{
    (void)state;
    EQUAL(1000000000, after("switchrate", "1"));
    EQUAL(100000000, after("switchrate", "10"));
    EQUAL(100000000, after("switchrate", "10hz"));
    EQUAL(100000000, after("switchrate", "10HZ"));
    EQUAL(7, after("switchrate", "7ns"));
    EQUAL(7, after("switchrate", "7nsec"));
    EQUAL(7000, after("aggrate", "7us"));
    EQUAL(7000, after("aggrate", "7usec"));
    EQUAL(7000000, after("cleanrate", "7ms"));
    EQUAL(7000000, after("cleanrate", "7msec"));
    EQUAL(7000000000, after("statusrate", "7s"));
    EQUAL(7000000000, after("statusrate", "7Sec"));
    EQUAL(60000000000, after("aggrate", "1m"));
    EQUAL(60000000000, after("aggrate", "1min"));
    EQUAL(3600000000000, after("aggrate", "1h"));
    EQUAL(3600000000000, after("aggrate", "1hour"));
    EQUAL(86400000000000, after("aggrate", "1d"));
    EQUAL(86400000000000, after("aggrate", "1day"));
    EQUAL(0, after("switchrate", "0"));
    EQUAL(200000, after("cleanrate", "5000hz"));
    static const char *const bad[] = {"", "hz", "1x", "-1", "1 s", "1.5s", "s1", "99999999999999d"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        SAME(bad_value, set("switchrate", bad[i]));
    }
}

static void check_note(const char *name, const char *text, uint64_t ns, const char *expected)
{
    static char notes[256];
    FILE *f = fmemopen(notes, sizeof(notes), "w");

    front_open(NULL);
    EQUAL(ns, after(name, text));
    assert_non_null(f);
    dt_option_notes(front.d, f);
    fputc('\0', f);
    fclose(f);
    SAME(expected, notes);
    front_close(NULL);
}

/* Two rates are limited, and it is said. */
static void limits(void **state)
{
    (void)state;
    check_note("cleanrate", "5000", 200000, "");
    check_note("cleanrate", "5001hz", 200000, "dtrace: cleaning rate reduced to 5000 hz\n");
    check_note("cleanrate", "1ns", 200000, "dtrace: cleaning rate reduced to 5000 hz\n");
    check_note("cleanrate", "0", 200000, "dtrace: cleaning rate reduced to 5000 hz\n");
    check_note("cleanrate", "1min", 60000000000, "");
    check_note("cleanrate", "1h", 60000000000,
               "dtrace: cleaning rate increased to once every 60 seconds\n");
    check_note("statusrate", "10s", 10000000000, "");
    check_note("statusrate", "1min", 10000000000,
               "dtrace: status rate increased to once every 10 seconds\n");
    check_note("switchrate", "1h", 3600000000000, "");
}

static void flags_and_numbers(void **state)
{
    static const char *const on[] = {"1",       "yes",  "YES",  "enable", "enabled",
                                     "Enabled", "true", "TRUE", "on",     "set"};
    static const char *const off[] = {"0", "no", "disable", "disabled", "false", "OFF", "unset"};
    static const char *const bad[] = {"please", "",     "-1", "1k",
                                      "y",      "yes ", "0x", "18446744073709551616"};

    (void)state;
    for (size_t i = 0; i < sizeof(on) / sizeof(*on); i++) {
        EQUAL(1, after("quiet", on[i]));
    }
    for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++) {
        EQUAL(0, after("quiet", off[i]));
        EQUAL(1, after("quiet", NULL));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        SAME(bad_value, set("quiet", bad[i]));
        SAME(bad_value, set("nspec", bad[i]));
    }
    EQUAL(24, after("nspec", "24"));
    EQUAL(24, after("nspec", "0x18"));
    EQUAL(3, after("cpu", "3"));
}

static void words(void **state)
{
    (void)state;
    EQUAL(DTRACE_POLICY_SWITCH, after("bufpolicy", "switch"));
    EQUAL(DTRACE_POLICY_FILL, after("bufpolicy", "fill"));
    EQUAL(DTRACE_POLICY_RING, after("bufpolicy", "ring"));
    EQUAL(DTRACE_RESIZE_MANUAL, after("bufresize", "manual"));
    EQUAL(DTRACE_RESIZE_AUTO, after("bufresize", "auto"));
    SAME(bad_value, set("bufpolicy", "rings"));
    SAME(bad_value, set("bufpolicy", NULL));
    SAME(bad_value, set("bufresize", "1"));
    SAME("ok", set("encoding", "utf8"));
    SAME("utf8", front.d->options.texts[DT_O_encoding]);
    SAME("ok", set("encoding", "ascii"));
    SAME(bad_value, set("encoding", "latin1"));
    SAME("ok", set("stdc", "a"));
    SAME(bad_value, set("stdc", "x"));
    SAME(bad_value, set("stdc", "as"));
    SAME("ok", set("amin", "Stable/Evolving/Common"));
    SAME(bad_value, set("amin", "Stable/Evolving"));
    SAME(bad_value, set("amin", "x/Evolving/Common"));
    SAME("ok", set("linkmode", "dynamic"));
    SAME("ok", set("linktype", "dof"));
    SAME("ok", set("evaltime", "main"));
    SAME("ok", set("zdefs", NULL));
    SAME(bad_value, set("zdefs", "1"));
    SAME("ok", set("libdir", "/nowhere"));
    SAME("/nowhere", front.d->options.texts[DT_O_libdir]);
    SAME(bad_value, set("libdir", NULL));
    SAME(bad_name, set("nosuch", "1"));
    SAME(bad_name, set("", NULL));
    EQUAL(DT_OPTION_UNSET, dtrace_option(front.d, "nosuch"));
}

static void versions(void **state)
{
    static const char *const bad[] = {"1",        "1.", "2.0", "1.14", "1.0.1",
                                      "1.13.0.0", "x",  "",    "1.x"};

    (void)state;
    EQUAL(0x010d00, dt_session_version(front.d));
    EQUAL(0x010000, after("version", "1.0"));
    EQUAL(0x010000, dt_session_version(front.d));
    EQUAL(0x010602, after("version", "1.6.2"));
    EQUAL(0x010d00, after("version", "1.13"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        SAME(bad_value, set("version", bad[i]));
    }
    SAME(bad_value, set("version", NULL));
}

static void defaults(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"bufsize", 4 << 20},
        {"aggsize", 4 << 20},
        {"specsize", 32 << 10},
        {"nspec", 1},
        {"dynvarsize", 1 << 20},
        {"strsize", 256},
        {"bufpolicy", 0},
        {"bufresize", 0},
        {"cpu", DT_OPTION_UNSET},
        {"switchrate", 1000000000},
        {"aggrate", DT_OPTION_UNSET}, /* as often as records: printa() shows what is so then */
        {"statusrate", 1000000000},
        {"cleanrate", 9900990},
        {"stackframes", 20},
        {"ustackframes", 20},
        {"jstackframes", 50},
        {"jstackstrsize", 512},
        {"destructive", 0},
        {"temporal", 1},
        {"quiet", 0},
        {"flowindent", 0},
        {"rawbytes", 0},
        {"stackindent", 14},
        {"aggsortkey", 0},
        {"zdefs", 0},
        {"defaultargs", 0},
        {"errtags", 0},
        {"droptags", 0},
        {"maxinsns", DT_OPTION_UNSET},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        EQUAL(rows[i].value, dtrace_option(front.d, rows[i].name));
    }
}

/* ---- where each may be set --------------------------------------------------------- */

static void only_on_the_command_line(void **state)
{
    static const char *const names[] = {"cpphdrs",  "cpppath=/x", "define=x",  "incdir=x",
                                        "undef=x",  "ldpath=x",   "modpath=x", "stdc=a",
                                        "setenv=x", "unsetenv=x"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        SAME("D_PRAGMA_OPTSET",
             tag_of(dt_sprintf(front.d, "#pragma D option %s\nBEGIN{}", names[i])));
    }
    SAME("ok", set("define", "x"));
    SAME("ok", set("cpphdrs", NULL));
}

static void in_a_script(void **state)
{
    static const char *const names[] = {
        "nolibs",      "zdefs",           "argref",
        "defaultargs", "errtags",         "pspec",
        "cpp",         "version=1.5",     "encoding=utf8",
        "quiet",       "flowindent",      "bufsize=4k",
        "strsize=100", "nspec=3",         "bufpolicy=ring",
        "destructive", "switchrate=10hz", "cpu=0",
        "temporal",    "aggsortkey",      "stackframes=5",
        "quiet=YES",   "droptags",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        front_open(NULL);
        compiles(dt_sprintf(front.d, "#pragma D option %s\nBEGIN{}", names[i]));
        front_close(NULL);
    }
}

/* They count wherever they stand; the last one wins. */
static void pragmas_anywhere(void **state)
{
    (void)state;
    compiles("BEGIN {\n#pragma D option strsize=77\n trace(1); }\n#pragma D option nspec=9\n");
    EQUAL(77, dtrace_option(front.d, "strsize"));
    EQUAL(9, dtrace_option(front.d, "nspec"));
    compiles("nosuch:::x {}\n  #\tpragma  D   option   zdefs  \n");
    compiles("int s[2];\n#pragma D option nspec=4\nBEGIN{}\n#pragma D option nspec=5\n");
    EQUAL(5, dtrace_option(front.d, "nspec"));
    compiles("/*\n#pragma D option nspec=6\n*/ BEGIN { x = \"#pragma D option nspec=7\"; }");
    EQUAL(5, dtrace_option(front.d, "nspec"));
    compiles("string t; enum { SIZE = sizeof(t) }; BEGIN{}\n#pragma D option strsize=33\n");
    EQUAL(33, global("SIZE")->value);
}

static void by_setopt(void **state)
{
    (void)state;
    assert_null(dt_option_set(front.d, "quiet", "1", DT_FROM_SETOPT));
    assert_null(dt_option_set(front.d, "switchrate", "5hz", DT_FROM_SETOPT));
    SAME("Operation illegal when tracing is active",
         dt_option_set(front.d, "bufsize", "4k", DT_FROM_SETOPT));
    SAME("Operation illegal when tracing is active",
         dt_option_set(front.d, "zdefs", "1", DT_FROM_SETOPT));
    SAME(bad_name, dt_option_set(front.d, "nosuch", "1", DT_FROM_SETOPT));
    SAME(bad_value, dt_option_set(front.d, "quiet", "please", DT_FROM_SETOPT));
}

/* pspec: a word is a probe description even if it is a type's name. */
static void pspec(void **state)
{
    (void)state;
    SAME("D_SYNTAX", tag_of("size_t* { }"));
    compiles("#pragma D option pspec\n#pragma D option zdefs\nsize_t* { }");
    compiles("int x; BEGIN{}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, front_open, front_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sizes),
        TEST(rates),
        cmocka_unit_test(limits),
        TEST(flags_and_numbers),
        TEST(words),
        TEST(versions),
        TEST(defaults),
        TEST(only_on_the_command_line),
        cmocka_unit_test(in_a_script),
        TEST(pragmas_anywhere),
        TEST(by_setopt),
        TEST(pspec),
    };

    return cmocka_run_group_tests_name("d_front options", tests, NULL, NULL);
}
