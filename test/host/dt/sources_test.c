/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where text comes from: files, the preprocessor, libraries.
 */
#include "test/host/dt/front.h"

#include <string.h>

static struct dt_program *file(const char *path)
{
    struct dt_source s = {
        .file = path, .spec = DT_SPEC_NAME, .argc = front.argc, .argv = front.argv};

    return dt_compile(front.d, &s);
}

static void file_compiles(const char *path)
{
    if (!file(path)) {
        const struct dt_error *e = dt_session_error(front.d);
        fail_msg("%s:%u: [%s] %s", e->file, e->line, e->tag, e->text);
    }
}

static void file_fails(const char *path, const char *tag, const char *in, unsigned line)
{
    assert_null(file(path));
    const struct dt_error *e = dt_session_error(front.d);
    SAME(tag, e->tag);
    EQUAL(line, e->line);
    if (in) {
        SAME(in, e->file);
    }
}

static void set(const char *name, const char *text)
{
    assert_null(dt_option_set(front.d, name, text, DT_FROM_COMMAND));
}

static void files(void **state)
{
    (void)state;
    file_compiles(file_write("a.d", "#!/usr/sbin/dtrace -qs\nBEGIN { x = 1; }"));
    const char *bad = file_write("b.d", "BEGIN {\n  x = ; }\n");
    file_fails(bad, "D_SYNTAX", bad, 2);
    SAME("  x = ; }", dt_session_error(front.d)->source_line);
    file_fails("/nowhere/at/all.d", "", "/nowhere/at/all.d", 0);
    assert_non_null(strstr(dt_session_error(front.d)->text, "/nowhere/at/all.d"));
    file_fails(directory(), "", NULL, 0);
}

/* What -P, -m, -f, -n say of a text without colons. */
static void specs(void **state)
{
    static const struct {
        enum dt_spec spec;
        const char *text, *tag;
    } rows[] = {
        {DT_SPEC_PROVIDER, "dtrace", "ok"},
        {DT_SPEC_PROVIDER, "BEGIN", "D_PDESC_ZERO"},
        {DT_SPEC_PROVIDER, "dtrace:x", "D_PDESC_INVAL"},
        {DT_SPEC_MODULE, "dtrace:", "ok"},
        {DT_SPEC_FUNCTION, "dtrace::", "ok"},
        {DT_SPEC_FUNCTION, "a:b:c:d", "D_PDESC_INVAL"},
        {DT_SPEC_NAME, "BEGIN", "ok"},
        {DT_SPEC_NAME, "dtrace:::BEGIN { trace(1) }", "ok"},
        {DT_SPEC_ID, "1", "ok"},
        {DT_SPEC_ID, "1 /pid == 1/ { trace(1) }", "ok"},
        {DT_SPEC_ID, "9", "D_PDESC_INVAL"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct dt_source s = {.text = rows[i].text, .spec = rows[i].spec, .is_description = true};
        bool ok = dt_compile(front.d, &s) != NULL;
        SAME(rows[i].tag, ok ? "ok" : dt_session_error(front.d)->tag);
    }
}

static void clause_texts(void **state)
{
    (void)state;
    compiles("BEGIN,  /* x */ dtrace:::END /1/ {}\n/* y */ 1{}");
    EQUAL(2, dt_session_clauses(front.d));
    SAME("BEGIN,  /* x */ dtrace:::END", dt_session_clause(front.d, 0)->description);
    SAME("1", dt_session_clause(front.d, 1)->description);
    EQUAL(2, dt_session_clause(front.d, 1)->line);
}

/* ---- the preprocessor -------------------------------------------------------------- */

static void preprocessor_works(void **state)
{
    (void)state;
    set("cpp", NULL);
    set("define", "SIX=6");
    set("define", "FLAG");
    file_write("head.h", "#define FIVE 5\nenum { HEAD = FIVE };\n");
    file_compiles(file_write("a.d", "#!/usr/sbin/dtrace -Cs\n"
                                    "#pragma D option quiet\n"
                                    "#include \"head.h\"\n"
                                    "#ifdef FLAG\n"
                                    "enum { SUM = FIVE + SIX };\n"
                                    "#endif\n"
                                    "#if __SUNW_D != 1 || !defined(__SUNW_D_VERSION)\n"
                                    "#error wrong\n"
                                    "#endif\n"
                                    "extern int sym; BEGIN { self->x = $pid; y = `sym; }\n"));
    EQUAL(11, global("SUM")->value);
    EQUAL(5, global("HEAD")->value);
    EQUAL(1, dtrace_option(front.d, "quiet"));
}

static void preprocessor_places(void **state)
{
    (void)state;
    set("cpp", NULL);
    const char *head = file_write("head.h", "\n\nint bad bad;\n");
    const char *a = file_write("a.d", "#!/usr/sbin/dtrace -Cs\n#define X nosuch\n\nBEGIN {\n"
                                      "    trace(X);\n}\n");
    file_fails(a, "D_IDENT_UNDEF", a, 5);
    file_fails(file_write("b.d", "#include \"head.h\"\nBEGIN{}\n"), "D_SYNTAX", head, 3);
    const char *c = file_write("c.d", "#include \"nowhere.h\"\nBEGIN{}\n");
    file_fails(c, "", NULL, 0);
    SAME("Preprocessor failed to process input program", dt_session_error(front.d)->text);
    set("cpppath", "/nowhere/cpp");
    file_fails(a, "", NULL, 0);
    struct dt_source s = {.text = "BEGIN { x = nosuch; }", .spec = DT_SPEC_NAME};
    set("cpppath", "cpp");
    assert_null(dt_compile(front.d, &s));
    SAME("D_IDENT_UNDEF", dt_session_error(front.d)->tag);
    assert_null(dt_session_error(front.d)->file);
    EQUAL(1, dt_session_error(front.d)->line);
}

static void preprocessor_options(void **state)
{
    (void)state;
    set("cpp", NULL);
    set("define", "A=1");
    set("undef", "A");
    set("undef", "__linux");
    set("incdir", directory());
    set("stdc", "a");
    file_write("inc.h", "enum { INC = 3 };\n");
    file_compiles(file_write("a.d", "#include <inc.h>\n"
                                    "#ifdef A\n#error A\n#endif\n"
                                    "#ifdef __linux\n#error linux\n#endif\n"
                                    "#ifndef __STDC__\n#error stdc\n#endif\n"
                                    "BEGIN {}\n"));
    EQUAL(3, global("INC")->value);
}

/* ---- libraries --------------------------------------------------------------------- */

static void libraries(void **state)
{
    (void)state;
    file_write("a.d", "#pragma D depends_on library z.d\ninline int a = z + 1;\n");
    file_write("m.d", "#pragma D depends_on library a.d\n#pragma D depends_on provider dtrace\n"
                      "struct lib { int x; };\ninline int m = a + 1;\n");
    file_write("z.d", "inline int z = 40;\n#pragma D attributes Private/Private/ISA z\n");
    file_write("none.d", "#pragma D depends_on provider nosuch\nnonsense here;\n");
    file_write("after.d", "#pragma D depends_on library none.d\nmore nonsense;\n");
    file_write("other.txt", "no library");
    set("libdir", directory());
    set("libdir", "/nowhere");
    compiles("struct lib l; BEGIN { trace(m); l.x = uid; }");
    EQUAL(DTRACE_PRIVATE, global("z")->attributes.name);
    SAME("D_IDENT_UNDEF", tag_of("BEGIN { trace(none); }"));
}

static void bad_library(const char *name, const char *text, const char *tag)
{
    front_open(NULL);
    const char *path = file_write(name, text);
    set("libdir", directory());
    SAME(tag, tag_of("BEGIN{}"));
    SAME(path, dt_session_error(front.d)->file);
    front_close(NULL);
}

static void bad_libraries(void **state)
{
    (void)state;
    bad_library("a.d", "int x\n", "D_SYNTAX");
    bad_library("a.d", "BEGIN { trace(1); }\n", "D_SYNTAX");
    bad_library("a.d", "#pragma D depends_on library b.d\n", "D_PRAGMA_DEPEND");
    bad_library("a.d", "#pragma D depends_on library a.d\n", "D_PRAGMA_DEPEND");
    bad_library("a.d", "#pragma D option nosuch\n", "D_PRAGMA_OPTSET");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, front_open, front_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files),
        TEST(specs),
        TEST(clause_texts),
        TEST(preprocessor_works),
        TEST(preprocessor_places),
        TEST(preprocessor_options),
        TEST(libraries),
        cmocka_unit_test(bad_libraries),
    };

    return cmocka_run_group_tests_name("d_front sources", tests, NULL, NULL);
}
