/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subroutines about strings and numbers, against tables of what they must give; and that the
 * table of subroutines is that of opcodes.def.
 */
#include "test/trace/dtrace/machine/world.h"

#include "trace/dtrace/run.h"
#include "trace/dtrace/subr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *result, *args;
} subrs[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = {#name, result, args},
#include "trace/dtrace/opcodes.def"
};

/* Arguments that may not be left out: those before the first [. */
static unsigned least_of(const char *args)
{
    unsigned n = 0;

    while (*args && *args != '[') {
        n += args[0] != ' ' && args[0] != ',' && (args[1] == ',' || args[1] == '\0');
        args++;
    }
    return n;
}

static void test_table(void **state)
{
    char text[256];

    (void)state;
    for (uint32_t i = 0; i <= DIF_SUBR_MAX; i++) {
        uint32_t at = dtrace_subr_find(i);
        bool runs = dtrace_subrs[at] != NULL;
        unsigned least = runs ? dtrace_subr_least[at] : 0;
        assert_int_equal(runs, subrs[i].result[0] != '\0');
        assert_int_equal(least, least_of(subrs[i].args));
        /* One argument too few. */
        snprintf(text, sizeof(text), "%s%s call %u r1; ret r1", least > 1 ? "pushtv r0;" : "",
                 least > 2 ? "pushtv r0;" : "", i);
        if (least > 0 || !runs) {
            run_faults(text, DIF_FAULT_ILLOP, least > 1 ? least - 1 : 0, 0);
        }
    }
}

/* Calls with arguments: s"text" (a string), n (number). NULL: none. */
static const char *call_text(const char *subr, const char *const *args, const char *result)
{
    static char text[8192];
    char line[2048];

    snprintf(text, sizeof(text), "result %s; flushts;", result);
    for (unsigned i = 0; i < 3 && args[i]; i++) {
        if (args[i][0] == 's') {
            snprintf(line, sizeof(line), "sets \"%s\" r1; pushtr string r0 r1;", args[i] + 1);
        } else {
            snprintf(line, sizeof(line), "setx %s r1; pushtv r1;", args[i]);
        }
        strcat(text, line);
    }
    snprintf(line, sizeof(line), "call %s r2; ret r2", subr);
    return strcat(text, line);
}

struct row {
    const char *subr, *args[3], *want; /* want: s"text", a number, or NULL */
};

static void check_row(const struct row *r)
{
    bool string = !r->want || r->want[0] == 's';
    const char *text = call_text(r->subr, r->args, string ? "string" : "value 8");

    if (!string) {
        uint64_t got = run(text);
        if (got != (uint64_t)strtoll(r->want, NULL, 0)) {
            fail_msg("%s gives %lld, not %s", text, (long long)got, r->want);
        }
        return;
    }
    const char *got = run_string(text);
    if (got && r->want ? strcmp(got, r->want + 1) != 0 : got || r->want) {
        fail_msg("%s gives %s, not %s", text, got ? got : "NULL", r->want ? r->want : "NULL");
    }
}

#define ROWS(name, ...) \
    static void name(void **state) \
    { \
        static const struct row rows[] = {__VA_ARGS__}; \
        (void)state; \
        for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) { \
            check_row(&rows[i]); \
        } \
    }

ROWS(test_strlen, {"strlen", {"s"}, "0"}, {"strlen", {"sabc"}, "3"},
     {"strlen", {"s0123456789012345678901234567890123456789012345678901234567890123456789"}, "64"})

ROWS(test_strjoin, {"strjoin", {"s", "s"}, "s"}, {"strjoin", {"sabc", "sdef"}, "sabcdef"},
     {"strjoin", {"s", "sdef"}, "sdef"}, {"strjoin", {"sabc", "s"}, "sabc"})

ROWS(test_substr, {"substr", {"sabcdef", "0"}, "sabcdef"}, {"substr", {"sabcdef", "2"}, "scdef"},
     {"substr", {"sabcdef", "2", "3"}, "scde"}, {"substr", {"sabcdef", "2", "99"}, "scdef"},
     {"substr", {"sabcdef", "5"}, "sf"}, {"substr", {"sabcdef", "6"}, "s"},
     {"substr", {"sabcdef", "7"}, "s"}, {"substr", {"sabcdef", "2", "0"}, "s"},
     {"substr", {"sabcdef", "-2"}, "sef"}, {"substr", {"sabcdef", "-2", "1"}, "se"},
     {"substr", {"sabcdef", "-6"}, "sabcdef"}, {"substr", {"sabcdef", "-8"}, "sabcdef"},
     {"substr", {"sabcdef", "-8", "4"}, "sab"}, {"substr", {"sabcdef", "-8", "2"}, "s"},
     {"substr", {"sabcdef", "-8", "3"}, "sa"}, {"substr", {"sabcdef", "1", "-1"}, "sbcde"},
     {"substr", {"sabcdef", "0", "-6"}, "s"}, {"substr", {"sabcdef", "0", "-7"}, "s"},
     {"substr", {"sabcdef", "-3", "-1"}, "sde"}, {"substr", {"s", "0"}, "s"},
     {"substr", {"s", "-1"}, "s"}, {"substr", {"sabc", "0x7fffffffffffffff"}, "s"},
     {"substr", {"sabc", "1", "0x7fffffffffffffff"}, "sbc"},
     {"substr", {"sabc", "0x8000000000000000"}, "s"},
     {"substr", {"sabc", "0x8000000000000000", "0x8000000000000000"}, "s"},
     {"substr", {"sabc", "-1", "0x8000000000000000"}, "s"})

ROWS(test_case, {"toupper", {"sabcxyz@[`{09\\xe4"}, "sABCXYZ@[`{09\xe4"},
     {"tolower", {"sABCXYZ@[`{09\\xc4"}, "sabcxyz@[`{09\xc4"}, {"toupper", {"s"}, "s"})

ROWS(test_strchr, {"strchr", {"sabcabc", "0x62"}, "sbcabc"}, {"strchr", {"sabc", "0x7a"}, NULL},
     {"strrchr", {"sabcabc", "0x62"}, "sbc"}, {"strrchr", {"sabc", "0x7a"}, NULL},
     {"strchr", {"sabc", "0"}, "s"}, {"strrchr", {"sabc", "0"}, "s"},
     {"strchr", {"sabc", "0x162"}, "sbc"}, {"strchr", {"s", "0x61"}, NULL})

ROWS(test_strstr, {"strstr", {"sabcabc", "sbc"}, "sbcabc"}, {"strstr", {"sabc", "sbd"}, NULL},
     {"strstr", {"sabc", "s"}, "sabc"}, {"strstr", {"s", "s"}, "s"}, {"strstr", {"s", "sa"}, NULL},
     {"strstr", {"saab", "sab"}, "sab"}, {"strstr", {"sabc", "sabcd"}, NULL},
     {"strstr", {"sabc", "sabc"}, "sabc"})

ROWS(test_index, {"index", {"sabcabc", "sbc"}, "1"}, {"index", {"sabcabc", "sbc", "1"}, "1"},
     {"index", {"sabcabc", "sbc", "2"}, "4"}, {"index", {"sabcabc", "sbc", "5"}, "-1"},
     {"index", {"sabcabc", "sbc", "-9"}, "1"}, {"index", {"sabcabc", "sx"}, "-1"},
     {"index", {"sabc", "s"}, "0"}, {"index", {"sabc", "s", "2"}, "2"},
     {"index", {"sabc", "s", "3"}, "3"}, {"index", {"sabc", "s", "99"}, "3"},
     {"index", {"sabc", "sc", "99"}, "-1"}, {"index", {"sabc", "sc", "0x7fffffffffffffff"}, "-1"},
     {"index", {"sabc", "sc", "0x8000000000000000"}, "2"}, {"index", {"s", "s"}, "0"},
     {"index", {"sabc", "s", "-5"}, "0"}, {"index", {"sab", "sabc"}, "-1"})

ROWS(test_rindex, {"rindex", {"sabcabc", "sbc"}, "4"}, {"rindex", {"sabcabc", "sbc", "4"}, "4"},
     {"rindex", {"sabcabc", "sbc", "3"}, "1"}, {"rindex", {"sabcabc", "sbc", "0"}, "-1"},
     {"rindex", {"sabcabc", "sbc", "-1"}, "-1"}, {"rindex", {"sabcabc", "sbc", "99"}, "4"},
     {"rindex", {"sabc", "s"}, "3"}, {"rindex", {"sabc", "s", "1"}, "1"},
     {"rindex", {"sabc", "s", "99"}, "3"}, {"rindex", {"sabc", "s", "-1"}, "0"},
     {"rindex", {"sab", "sabc"}, "-1"}, {"rindex", {"s", "s"}, "0"},
     {"rindex", {"sabc", "sa", "0"}, "0"})

ROWS(test_basename, {"basename", {"s/foo/bar"}, "sbar"}, {"basename", {"s/foo/bar//"}, "sbar"},
     {"basename", {"sbar"}, "sbar"}, {"basename", {"s/"}, "s/"}, {"basename", {"s///"}, "s/"},
     {"basename", {"s"}, "s."}, {"basename", {"s/a"}, "sa"}, {"basename", {"sa/"}, "sa"},
     {"dirname", {"s/foo/bar"}, "s/foo"}, {"dirname", {"s/foo///bar//"}, "s/foo"},
     {"dirname", {"sbar"}, "s."}, {"dirname", {"s/"}, "s/"}, {"dirname", {"s///"}, "s/"},
     {"dirname", {"s"}, "s."}, {"dirname", {"s/a"}, "s/"}, {"dirname", {"s//a"}, "s/"},
     {"dirname", {"sa/"}, "s."}, {"dirname", {"sa/b"}, "sa"}, {"dirname", {"s/a/b/c"}, "s/a/b"})

ROWS(test_cleanpath, {"cleanpath", {"s/foo/bar"}, "s/foo/bar"},
     {"cleanpath", {"s/foo//bar"}, "s/foo/bar"}, {"cleanpath", {"s/foo/./bar"}, "s/foo/bar"},
     {"cleanpath", {"s/foo/../bar"}, "s/bar"}, {"cleanpath", {"s/../bar"}, "s/bar"},
     {"cleanpath", {"s/../../../bar"}, "s/bar"}, {"cleanpath", {"s"}, "s"},
     {"cleanpath", {"s./foo"}, "s./foo"}, {"cleanpath", {"s/foo/."}, "s/foo/."},
     {"cleanpath", {"s/foo/"}, "s/foo/"}, {"cleanpath", {"s/foo/.."}, "s/"},
     {"cleanpath", {"s/foo/bar/.."}, "s/foo/"}, {"cleanpath", {"s/..."}, "s/..."},
     {"cleanpath", {"s/.../x"}, "s/.../x"}, {"cleanpath", {"s/..foo/x"}, "s/..foo/x"},
     {"cleanpath", {"s/.foo/x"}, "s/.foo/x"}, {"cleanpath", {"s////"}, "s/"},
     {"cleanpath", {"s/.././/../"}, "s/"}, {"cleanpath", {"s/.."}, "s/"},
     {"cleanpath", {"sfoo/../bar"}, "s/bar"}, {"cleanpath", {"s/a/b/c/../../d"}, "s/a/d"},
     {"cleanpath", {"s.."}, "s.."}, {"cleanpath", {"s/a/..b"}, "s/a/..b"},
     {"cleanpath", {"s/./a"}, "s/a"})

ROWS(test_pidname, {"pidname", {"42"}, "sanswer"}, {"pidname", {"1"}, "skymo"},
     {"pidname", {"2"}, "s"}, {"pidname", {"-1"}, "s"}, {"pidname", {"0x10000002a"}, "sanswer"})
ROWS(test_lltostr, {"lltostr", {"0"}, "s0"}, {"lltostr", {"12345"}, "s12345"},
     {"lltostr", {"-12345"}, "s-12345"},
     {"lltostr", {"0x8000000000000000"}, "s-9223372036854775808"},
     {"lltostr", {"255", "16"}, "s0xff"}, {"lltostr", {"0", "16"}, "s0x0"},
     {"lltostr", {"-1", "16"}, "s0xffffffffffffffff"}, {"lltostr", {"8", "8"}, "s010"},
     {"lltostr", {"0", "8"}, "s0"}, {"lltostr", {"-1", "8"}, "s01777777777777777777777"},
     {"lltostr", {"5", "2"}, "s101"}, {"lltostr", {"0", "2"}, "s0"},
     {"lltostr", {"35", "36"}, "sz"}, {"lltostr", {"-1", "36"}, "s3w5e11264sgsf"},
     {"lltostr", {"-5", "10"}, "s-5"})

static void test_lltostr_faults(void **state)
{
    static const char *const bases[] = {"0", "1", "37", "-1", "0x100000010"};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        const char *args[3] = {"5", bases[i], NULL};
        run_faults(call_text("lltostr", args, "string"), DIF_FAULT_ILLOP, 5, 0);
        const char *args2[3] = {"s5", bases[i], NULL};
        run_faults(call_text("strtoll", args2, "value 8"), DIF_FAULT_ILLOP, 5, 0);
    }
    world_strsize(80);
    const char *args[3] = {"-1", "2", NULL};
    assert_int_equal(strlen(run_string(call_text("lltostr", args, "string"))), 64);
}

ROWS(test_strtoll, {"strtoll", {"s123"}, "123"}, {"strtoll", {"s-123"}, "-123"},
     {"strtoll", {"s+7"}, "7"}, {"strtoll", {"s \\t 42x"}, "42"}, {"strtoll", {"s"}, "0"},
     {"strtoll", {"sx"}, "0"}, {"strtoll", {"s-"}, "0"}, {"strtoll", {"s0x1f", "16"}, "31"},
     {"strtoll", {"s0X1F", "16"}, "31"}, {"strtoll", {"s1f", "16"}, "31"},
     {"strtoll", {"s-0x10", "16"}, "-16"}, {"strtoll", {"s0x", "16"}, "0"},
     {"strtoll", {"s0xg", "16"}, "0"}, {"strtoll", {"s0x1f"}, "0"},
     {"strtoll", {"s778", "8"}, "63"}, {"strtoll", {"s102", "2"}, "2"},
     {"strtoll", {"szZ", "36"}, "1295"},
     {"strtoll", {"s9223372036854775807"}, "0x7fffffffffffffff"},
     {"strtoll", {"s18446744073709551617"}, "1"}, {"strtoll", {"s1 2"}, "1"},
     {"strtoll", {"s- 1"}, "0"}, {"strtoll", {"s9", "9"}, "0"})

ROWS(test_swap, {"htons", {"0x1234"}, "0x3412"}, {"ntohs", {"0xff1234"}, "0x3412"},
     {"htonl", {"0x12345678"}, "0x78563412"}, {"ntohl", {"0xffffffff12345678"}, "0x78563412"},
     {"htonll", {"0x0123456789abcdef"}, "-1167088121787636991"},
     {"ntohll", {"0x01"}, "0x0100000000000000"})

static void test_others(void **state)
{
    (void)state;
    fake.random = 0x12345678fedcba98;
    assert_int_equal(run("call rand r1; ret r1"), 0xfffffffffedcba98);
    fake.random = 0xffffffff00000001;
    assert_int_equal(run("call rand r1; ret r1"), 1);
    assert_int_equal(run("call speculation r1; call speculation r1; ret r1"), 2);
    assert_int_equal(run("setx 42 r1; pushtv r1; call progenyof r1; ret r1"), 1);
    assert_int_equal(run("setx 2 r1; pushtv r1; call progenyof r1; ret r1"), 0);
    assert_int_equal(run("setx 0x100000001 r1; pushtv r1; call progenyof r1; ret r1"), 1);
    assert_int_equal(run("setx 42 r1; pushtv r1; setx 3 r1; pushtv r1; setx 7 r1; pushtv r1;"
                         "call lwpinfo r1; ret r1"),
                     0x307);
    assert_int_equal(run("setx 41 r1; pushtv r1; setx 3 r1; pushtv r1; setx 7 r1; pushtv r1;"
                         "call lwpinfo r1; ret r1"),
                     0);
}

/* strtok(), a call after the other in one clause; s: with what string to begin. */
static const char *tokens(const char *s, const char *separators)
{
    static char all[256];
    char text[1024];

    snprintf(text, sizeof(text),
             "result string; sets \"%s\" r1; pushtr string r0 r1; sets \"%s\" r2;"
             "pushtr string r0 r2; call strtok r3; ret r3",
             s, separators);
    char more[256];
    snprintf(
        more, sizeof(more),
        "result string; pushtv r0; sets \"%s\" r2; pushtr string r0 r2; call strtok r3; ret r3",
        separators);
    world_load(text, more, NULL);
    all[0] = '\0';
    for (unsigned i = 0; i < 20; i++) {
        uint64_t token = i == 0 ? world_run(0) : world_go_on(1);
        char word[65];
        assert_int_equal(world.context.fault.kind, DIF_FAULT_NONE);
        if (!token) {
            world_go_on(1); /* there is no state any more */
            assert_fault(DIF_FAULT_BADADDR, 3, 0);
            return all;
        }
        word[dtrace_load_string(&world.context, word, token, 64, false)] = '\0';
        strcat(strcat(all, word), "|");
    }
    fail_msg("it doesn't end");
    return NULL;
}

static void test_strtok(void **state)
{
    (void)state;
    assert_string_equal(tokens("a,b,c", ","), "a|b|c|");
    assert_string_equal(tokens(",,a,;b;;", ",;"), "a|b|");
    assert_string_equal(tokens("abc", ","), "abc|");
    assert_string_equal(tokens("", ","), "");
    assert_string_equal(tokens(",,,", ","), "");
    assert_string_equal(tokens("a b", ""), "a b|");
    assert_string_equal(tokens("a\\xffb", "\\xff"), "a|b|");
    /* No state, no separator. */
    run_faults("pushtv r0; sets \",\" r1; pushtr string r0 r1; call strtok r1; ret r1",
               DIF_FAULT_BADADDR, 3, 0);
    run_faults("sets \"a\" r1; pushtr string r0 r1; pushtv r0; call strtok r1; ret r1",
               DIF_FAULT_BADADDR, 3, 0);
    /* The state is the clause's. */
    world_load("sets \"a,b\" r1; pushtr string r0 r1; sets \",\" r1; pushtr string r0 r1;"
               "call strtok r1; ret r1",
               "pushtv r0; sets \",\" r1; pushtr string r0 r1; call strtok r1; ret r1", NULL);
    world_run(0);
    world_run(1);
    assert_fault(DIF_FAULT_BADADDR, 3, 0);
    /* A string of strsize bytes ends there. */
    world_strsize(4);
    assert_string_equal(tokens("ab,cdef", ","), "ab|c|");
}

/* Results that don't fit. */
static void test_strsize(void **state)
{
    (void)state;
    world_strsize(8);
    const char *fits[3] = {"sabcd", "sefg", NULL}, *none[3] = {"sabcd", "sefgh", NULL};
    assert_string_equal(run_string(call_text("strjoin", fits, "string")), "abcdefg");
    run_faults(call_text("strjoin", none, "string"), DIF_FAULT_NOSCRATCH, 5, 0);
    const char *eight[3] = {"sabcdefgh", NULL};
    assert_string_equal(run_string(call_text("toupper", eight, "string")), "ABCDEFG");
    const char *all[3] = {"sabcdefghi", "0", NULL};
    assert_string_equal(run_string(call_text("substr", all, "string")), "abcdefgh");
    const char *path[3] = {"s/abcdefghi", NULL};
    assert_string_equal(run_string(call_text("basename", path, "string")), "abcdefg");
    assert_string_equal(run_string(call_text("cleanpath", path, "string")), "/ab");
    for (uint32_t size = 1; size < 8; size++) {
        world_strsize(size);
        static const char *const ones[] = {"toupper", "basename", "dirname", "cleanpath"};
        for (unsigned i = 0; i < 4; i++) {
            assert_true(strlen(run_string(call_text(ones[i], path, "string"))) <= size);
        }
        const char *number[3] = {"123456", NULL};
        assert_int_equal(strlen(run_string(call_text("lltostr", number, "string"))),
                         size < 6 ? size : 6);
    }
}

/* No scratch for a result. */
static void test_no_scratch(void **state)
{
    static const struct row rows[] = {
        {"strjoin", {"sabc", "sdef"}, 0}, {"substr", {"sabcdef", "0"}, 0},
        {"toupper", {"sabc"}, 0},         {"basename", {"s/abc"}, 0},
        {"dirname", {"s/abc/d"}, 0},      {"cleanpath", {"sab"}, 0},
        {"lltostr", {"123456"}, 0},       {"strtok", {"sabc", "s,"}, 0}};

    (void)state;
    world_scratch(3);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        world_load(call_text(rows[i].subr, rows[i].args, "string"), NULL);
        world_run(0);
        assert_int_equal(world.context.fault.kind, DIF_FAULT_NOSCRATCH);
    }
    world_scratch(WORLD_SCRATCH);
}

/* NULL and bad addresses as strings, pushed as strings or as pointers. */
static void test_bad_strings(void **state)
{
    static const char *const one[] = {"strlen",  "basename", "dirname", "cleanpath",
                                      "toupper", "tolower",  "strtoll", NULL};
    static const char *const two[] = {"strjoin", "strstr", "index", "rindex", "json", NULL};
    char text[256];

    (void)state;
    for (unsigned i = 0; one[i]; i++) {
        snprintf(text, sizeof(text), "setx 0x5000 r1; pushtv r1; call %s r2; ret r2", one[i]);
        run_faults(text, DIF_FAULT_BADADDR, 2, 0x5000);
        snprintf(text, sizeof(text), "pushtr string r0 r0; call %s r2; ret r2", one[i]);
        run_faults(text, DIF_FAULT_BADADDR, 0, 0);
    }
    for (unsigned i = 0; two[i]; i++) {
        snprintf(text, sizeof(text),
                 "setx 0x5000 r1; sets \"a\" r3; pushtv r1; pushtv r3;"
                 "call %s r2; ret r2",
                 two[i]);
        run_faults(text, DIF_FAULT_BADADDR, 4, 0x5000);
        snprintf(text, sizeof(text),
                 "setx 0x5000 r1; sets \"a\" r3; pushtv r3; pushtv r1;"
                 "call %s r2; ret r2",
                 two[i]);
        run_faults(text, DIF_FAULT_BADADDR, 4, 0x5000);
    }
    run_faults("pushtv r0; pushtv r0; call strchr r1; ret r1", DIF_FAULT_BADADDR, 2, 0);
    run_faults("pushtv r0; pushtv r0; call strrchr r1; ret r1", DIF_FAULT_BADADDR, 2, 0);
    run_faults("pushtv r0; pushtv r0; call substr r1; ret r1", DIF_FAULT_BADADDR, 2, 0);
}

/* inet: an address in the strings, by its bytes. */
static void check_inet(const char *subr, const char *family, const char *bytes, const char *want)
{
    char text[512];

    snprintf(
        text, sizeof(text), "result string; %s%s%s sets \"%s\" r1; pushtv r1; call %s r2; ret r2",
        family ? "setx " : "", family ? family : "", family ? " r1; pushtv r1;" : "", bytes, subr);
    const char *got = run_string(text);
    if (strcmp(got, want) != 0) {
        fail_msg("%s(%s) gives %s, not %s", subr, bytes, got, want);
    }
}

static void test_inet(void **state)
{
#define Z2 "\\x00\\x00"
#define Z8 Z2 Z2 Z2 Z2
    static const char *const six[][2] = {
        {Z8 Z8, "::"},
        {Z8 Z2 Z2 Z2 "\\x00\\x01", "::1"},
        {Z8 Z2 Z2 Z2 "\\x00\\x02", "::0.0.0.2"},
        {"\\xfe\\x80" Z2 Z2 Z2 "\\x02\\x14\\x4f\\xff\\xfe\\x3b\\x76\\xc8",
         "fe80::214:4fff:fe3b:76c8"},
        {"\\x10\\x80" Z2 Z2 Z2 "\\x00\\x08\\x08\\x00\\x20\\x0c\\x41\\x7a", "1080::8:800:200c:417a"},
        {Z8 Z2 "\\xff\\xff\\xc0\\xa8\\x01\\x02", "::ffff:192.168.1.2"},
        {Z8 Z2 Z2 "\\x01\\x02\\x03\\x04", "::1.2.3.4"},
        {"\\x00\\x01\\x00\\x02\\x00\\x03\\x00\\x04\\x00\\x05\\x00\\x06\\x00\\x07\\x00\\x08",
         "1:2:3:4:5:6:7:8"},
        {"\\x00\\x01" Z2 Z2 "\\x00\\x04" Z2 Z2 Z2 "\\x00\\x08", "1:0:0:4::8"},
        {"\\x00\\x01\\x00\\x02\\x00\\x03\\x00\\x04\\x00\\x05\\x00\\x06" Z2 Z2, "1:2:3:4:5:6::"},
        {"\\xff\\x02" Z2 Z2 Z2 Z2 Z2 Z2 "\\x00\\xfb", "ff02::fb"},
    };

    (void)state;
    check_inet("inet_ntoa", NULL, "\\x7f\\x00\\x00\\x01", "127.0.0.1");
    check_inet("inet_ntoa", NULL, "\\xff\\xfe\\x0a\\x64", "255.254.10.100");
    check_inet("inet_ntop", "2", "\\x7f\\x00\\x00\\x01", "127.0.0.1");
    for (unsigned i = 0; i < sizeof(six) / sizeof(six[0]); i++) {
        check_inet("inet_ntoa6", NULL, six[i][0], six[i][1]);
        check_inet("inet_ntop", i % 2 ? "26" : "10", six[i][0], six[i][1]);
    }
    run_faults("pushtv r0; pushtv r0; call inet_ntop r1; ret r1", DIF_FAULT_ILLOP, 2, 0);
    run_faults("setx 2 r1; pushtv r1; pushtv r0; call inet_ntop r1; ret r1", DIF_FAULT_BADADDR, 3,
               0);
    run_faults("pushtv r0; call inet_ntoa6 r1; ret r1", DIF_FAULT_BADADDR, 1, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        T(test_table),       T(test_strlen),   T(test_strjoin),   T(test_substr),
        T(test_case),        T(test_strchr),   T(test_strstr),    T(test_index),
        T(test_rindex),      T(test_basename), T(test_cleanpath), T(test_lltostr),
        T(test_pidname),     T(test_strtoll),  T(test_swap),      T(test_lltostr_faults),
        T(test_others),      T(test_strtok),   T(test_strsize),   T(test_no_scratch),
        T(test_bad_strings), T(test_inet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
