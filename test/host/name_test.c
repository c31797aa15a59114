/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of files that a target or a capture has chosen (host/name.c): none of them is a path, a
 * part, an index, a hidden file, an option, a device of Windows, or what another program looks for.
 */
#include <ctype.h>
#include <string.h>

#include "host/name.h"
#include "test/host/support.h"

static const struct {
    const char *name, *plain;
} name_rows[] = {
    {"trace.kev", "trace.kev"},
    {"a/b/trace.kev", "trace.kev"},
    {"Trace-2.1.kev", "Trace-2.1.kev"},
    /* no path, nothing hidden, no option */
    {"../up.kev", "up.kev"},
    {"..", "_..kev"},
    {".", "_.kev"},
    {"", "trace.kev"},
    {"a/", "trace.kev"},
    {".bashrc", "_bashrc.kev"},
    {".kev", "_kev.kev"},
    {"-rf", "_rf.kev"},
    {"..\\up.kev", "_._up.kev"},
    {"C:\\x.kev", "C__x.kev"},
    /* what means something to kymo */
    {"x.kymo-ABCDEF.part", "x.kymo-ABCDEF.part.kev"},
    {"x.kev.kymo-ABCDEF.part", "x.kev.kymo-ABCDEF.part.kev"},
    {"x.kev.ABCDEF.part", "x.kev.ABCDEF.part.kev"},
    {"x.kev.PART", "x.kev.PART.kev"},
    {"x.part.ABCDEF", "x.part.ABCDEF.kev"},
    {"collect.jsonl", "collect.jsonl.kev"},
    {"_kymo", "_kymo.kev"},
    {".staging-1", "_staging-1.kev"},
    /* or to another program */
    {"Makefile", "Makefile.kev"},
    {"x.lnk", "x.lnk.kev"},
    {"x.KEV", "x.kev"},
    /* characters */
    {"a\x1b[2Jb.kev", "a_[2Jb.kev"},
    {"a b\n\r\t\x7f\x80\xff.kev", "a_b______.kev"},
    {"a<b>c:d\"e|f?g*h.kev", "a_b_c_d_e_f_g_h.kev"},
    {"x.kev ", "x.kev_.kev"},
    {"x.kev.", "x.kev..kev"},
    /* Windows's devices, whatever follows the first dot */
    {"con", "_con.kev"},
    {"CON.kev", "_CON.kev"},
    {"Aux.x.kev", "_Aux.x.kev"},
    {"nul", "_nul.kev"},
    {"prn.kev", "_prn.kev"},
    {"com1.kev", "_com1.kev"},
    {"LPT9", "_LPT9.kev"},
    {"com10.kev", "com10.kev"},
    {"console.kev", "console.kev"},
};
#define NAME_ROWS (sizeof(name_rows) / sizeof(name_rows[0]))

static void test_rows(void **state)
{
    char plain[KYMO_NAME_MOST];

    (void)state;
    for (size_t i = 0; i < NAME_ROWS; i++) {
        kymo_plain_name(name_rows[i].name, strlen(name_rows[i].name), plain);
        assert_string_equal(plain, name_rows[i].plain);
    }
    kymo_plain_name("a\0b", 3, plain);
    assert_string_equal(plain, "a_b.kev");
}

static void name_judge(const char *name)
{
    size_t n = strlen(name);

    assert_true(n > 4 && n < KYMO_NAME_MOST && strcmp(name + n - 4, ".kev") == 0);
    assert_true(name[0] != '.' && name[0] != '-');
    for (size_t i = 0; i < n; i++) {
        assert_true(isgraph((unsigned char)name[i]) && strchr("/\\<>:\"|?*", name[i]) == NULL);
    }
}

/* With a tag, too, and of any length; the part of the longest one is a name of a file. */
static void test_random(void **state)
{
    static const char *const pieces[] = {"/", "..", ".part", ".kymo-ABCDEF",  ".kev", "con",  "x",
                                         "-", "\n", "\\",    "collect.jsonl", "\xff", "_kymo"};
    uint64_t random = support_seed();
    char name[2000], plain[KYMO_NAME_MOST], tagged[KYMO_NAME_MOST];

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        size_t n = 0;

        for (unsigned i = 0; i < round % 60; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            n += (size_t)sprintf(name + n, "%s",
                                 pieces[(random >> 40) % (sizeof(pieces) / sizeof(pieces[0]))]);
        }
        kymo_plain_name(name, n, plain);
        name_judge(plain);
        kymo_tagged_name(plain, "20260102T030405Z-2", tagged);
        name_judge(tagged);
    }
    memset(name, 'x', sizeof(name));
    kymo_plain_name(name, sizeof(name), plain);
    assert_int_equal(strlen(plain), KYMO_NAME_MOST - 1);
    name_judge(plain);
    memcpy(name + 1000, "/con.kev", 8);
    kymo_plain_name(name, 1008, plain); /* the last part counts, however long the path is */
    assert_string_equal(plain, "_con.kev");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
