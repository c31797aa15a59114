/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types: sizes and layouts of both models, D's bit-fields, texts, when two are the same.
 */
#include "test/host/dt/front.h"

#include <string.h>

static uint64_t size_of(const char *name)
{
    return dt_type_resolve(type(name))->size;
}

/* The byte where a member begins. */
static uint64_t at(const char *name, const char *member)
{
    uint64_t bits = 0;

    assert_non_null(dt_type_member(type(name), member, &bits));
    return bits / 8;
}

static const struct {
    const char *name;
    unsigned size;
    bool is_signed;
} integers[] = {
    {"char", 1, true},
    {"signed char", 1, true},
    {"unsigned char", 1, false},
    {"short", 2, true},
    {"unsigned short", 2, false},
    {"int", 4, true},
    {"unsigned", 4, false},
    {"unsigned int", 4, false},
    {"long", 8, true},
    {"long int", 8, true},
    {"unsigned long", 8, false},
    {"long long", 8, true},
    {"long long unsigned int", 8, false},
    {"_Bool", 1, false},
    {"int8_t", 1, true},
    {"uint8_t", 1, false},
    {"int16_t", 2, true},
    {"uint16_t", 2, false},
    {"int32_t", 4, true},
    {"uint32_t", 4, false},
    {"int64_t", 8, true},
    {"uint64_t", 8, false},
    {"intptr_t", 8, true},
    {"uintptr_t", 8, false},
    {"ptrdiff_t", 8, true},
    {"size_t", 8, false},
    {"ssize_t", 8, true},
    {"uchar_t", 1, false},
    {"ushort_t", 2, false},
    {"uint_t", 4, false},
    {"ulong_t", 8, false},
    {"u_longlong_t", 8, false},
    {"id_t", 4, true},
    {"pid_t", 4, true},
};

static void basics_lp64(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++) {
        const struct dt_type *t = dt_type_resolve(type(integers[i].name));
        EQUAL(DT_TYPE_INTEGER, t->kind);
        EQUAL(integers[i].size, t->size);
        EQUAL(integers[i].size * 8, t->bits);
        EQUAL(integers[i].is_signed, t->is_signed);
    }
    EQUAL(8, size_of("void *"));
    EQUAL(8, size_of("double"));
    EQUAL(16, size_of("long double"));
    EQUAL(256, size_of("string"));
    assert_null(dt_option_set(front.d, "strsize", "64", DT_FROM_COMMAND));
    EQUAL(64, size_of("string"));
    assert_null(dt_type_lookup(front.d, NULL, "uid_t"));
    compiles("BEGIN{}"); /* loads the library */
    EQUAL(4, size_of("uid_t"));
    EQUAL(4, size_of("gid_t"));
    assert_null(dt_type_lookup(front.d, NULL, "nosuch"));
    assert_null(dt_type_lookup(front.d, NULL, "long short"));
    assert_null(dt_type_lookup(front.d, NULL, "int int"));
    assert_null(dt_type_lookup(front.d, NULL, "struct"));
    assert_null(dt_type_lookup(front.d, NULL, ""));
    assert_null(dt_type_lookup(front.d, NULL, "*"));
}

static void basics_arm(void **state)
{
    (void)state;
    EQUAL(4, size_of("long"));
    EQUAL(8, size_of("long long"));
    EQUAL(4, size_of("size_t"));
    EQUAL(4, size_of("void *"));
    EQUAL(8, size_of("int64_t"));
    EQUAL(false, dt_type_resolve(type("char"))->is_signed);
    EQUAL(true, dt_type_resolve(type("int8_t"))->is_signed);
    compiles("struct s { char c; long long l; void *p; char d; };");
    EQUAL(8, at("struct s", "l"));
    EQUAL(16, at("struct s", "p"));
    EQUAL(24, size_of("struct s"));
    EQUAL(4, value("sizeof(5000000000 ? 1 : 2L)"));
    EQUAL(8, value("sizeof(5000000000)"));
}

static void layouts(void **state)
{
    (void)state;
    compiles("struct a { char c; int i; short s; };"
             "struct b { char c; struct a a[2]; char d; };"
             "union u { char c; struct a a; char d[13]; };"
             "struct n { char c; struct { char d; union { long e; char f; }; } g; };"
             "struct an { char c; struct { int d; char e; }; union { long f; char g; }; };"
             "enum e { A, B = 5, C };"
             "struct p { char c; char *p; void (*f)(int); enum e e; float g; double h; };"
             "struct arrays { char c[3]; int a[2][3]; string s; };");
    EQUAL(4, at("struct a", "i"));
    EQUAL(8, at("struct a", "s"));
    EQUAL(12, size_of("struct a"));
    EQUAL(4, at("struct b", "a"));
    EQUAL(28, at("struct b", "d"));
    EQUAL(32, size_of("struct b"));
    EQUAL(16, size_of("union u"));
    EQUAL(0, at("union u", "d"));
    EQUAL(24, size_of("struct n"));
    EQUAL(8, at("struct n", "g"));
    EQUAL(4, at("struct an", "d"));
    EQUAL(8, at("struct an", "e"));
    EQUAL(16, at("struct an", "f"));
    EQUAL(16, at("struct an", "g"));
    EQUAL(24, size_of("struct an"));
    EQUAL(4, size_of("enum e"));
    EQUAL(8, at("struct p", "p"));
    EQUAL(16, at("struct p", "f"));
    EQUAL(24, at("struct p", "e"));
    EQUAL(28, at("struct p", "g"));
    EQUAL(32, at("struct p", "h"));
    EQUAL(40, size_of("struct p"));
    EQUAL(4, at("struct arrays", "a"));
    EQUAL(28, at("struct arrays", "s"));
    EQUAL(284, size_of("struct arrays"));
    EQUAL(0, global("A")->value);
    EQUAL(5, global("B")->value);
    EQUAL(6, global("C")->value);
    EQUAL(3, dt_type_resolve(type("enum e"))->nenumerators);
}

/* The rules of the classic engine, which are not C's. */
static void bit_fields(void **state)
{
    uint64_t bits;

    (void)state;
    compiles("struct a { int x:12; int y:10; int z:3; };"
             "struct b { int x:20; int y:3; int z:12; };"
             "struct c { char x:2; short y:12; long z:32; };"
             "struct d { int x:9; }; struct e { int x:3; int y; char z; };"
             "struct f { char c; int :3; int x:17; }; struct g { unsigned int x:32; };"
             "union u { int x:3; int y:20; };"
             "struct h { char c; struct a a; };");
    EQUAL(5, size_of("struct a"));
    EQUAL(2, at("struct a", "y"));
    EQUAL(4, at("struct a", "z"));
    EQUAL(6, size_of("struct b"));
    EQUAL(3, at("struct b", "y"));
    EQUAL(4, at("struct b", "z"));
    EQUAL(8, size_of("struct c"));
    EQUAL(2, at("struct c", "y"));
    EQUAL(4, at("struct c", "z"));
    EQUAL(2, size_of("struct d"));
    EQUAL(4, at("struct e", "y"));
    EQUAL(9, size_of("struct e"));
    EQUAL(4, at("struct f", "x"));
    EQUAL(7, size_of("struct f"));
    EQUAL(4, size_of("struct g"));
    EQUAL(3, size_of("union u"));
    EQUAL(2, at("struct h", "a"));
    const struct dt_member *m = dt_type_member(type("struct a"), "x", &bits);
    EQUAL(12, dt_type_resolve(m->type)->bits);
    EQUAL(4, dt_type_resolve(m->type)->size);
    EQUAL(true, dt_type_resolve(m->type)->is_signed);
    assert_null(dt_type_member(type("struct a"), "nosuch", &bits));
    assert_null(dt_type_member(type("int"), "x", &bits));
}

static void texts(void **state)
{
    static const struct {
        const char *declaration, *without, *with;
    } rows[] = {
        {"int v", "int", "int v"},
        {"unsigned v", "unsigned int", "unsigned int v"},
        {"signed v", "signed int", "signed int v"},
        {"long int unsigned v", "unsigned long", "unsigned long v"},
        {"long long v", "long long", "long long v"},
        {"short int v", "short", "short v"},
        {"char *v", "char *", "char *v"},
        {"const char *v", "const char *", "const char *v"},
        {"char *const v", "char *const", "char *const v"},
        {"int v[3]", "int [3]", "int v[3]"},
        {"int v[3][4]", "int [3][4]", "int v[3][4]"},
        {"int *v[3]", "int *[3]", "int *v[3]"},
        {"int (*v)[3]", "int (*)[3]", "int (*v)[3]"},
        {"int (*v)()", "int (*)()", "int (*v)()"},
        {"int (*v)(char *, int x)", "int (*)()", "int (*v)(char *, int)"},
        {"int (*v)(int, ...)", "int (*)()", "int (*v)(int, ...)"},
        {"char *(*(*v)[2])(void)", "char *(*(*)[2])()", "char *(*(*v)[2])()"},
        {"struct s *v", "struct s *", "struct s *v"},
        {"struct s { int x; } v", "struct s", "struct s v"},
        {"union { int x; } v", "union", "union v"},
        {"enum e { A } v", "enum e", "enum e v"},
        {"uint64_t v", "uint64_t", "uint64_t v"},
        {"string v", "string", "string v"},
        {"int v[int, string]", "int", "int v"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        front_open(NULL);
        compiles(dt_sprintf(front.d, "%s;", rows[i].declaration));
        const struct dt_type *t = global("v")->type;
        SAME(rows[i].without, dt_type_text(front.d, t, NULL));
        SAME(rows[i].with, dt_type_text(front.d, t, "v"));
        assert_ptr_equal(dt_type_text(front.d, t, NULL), dt_type_text(front.d, t, NULL));
        front_close(NULL);
    }
}

/* A text names the type it was made from. */
static void texts_name_types(void **state)
{
    static const char *const names[] = {"int",        "unsigned long *", "const char *",
                                        "int [3]",    "struct s *",      "struct s",
                                        "signed int", "uint64_t **",     "string"};

    (void)state;
    compiles("struct s { int x; };");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        SAME(names[i], dt_type_text(front.d, type(names[i]), NULL));
    }
    assert_ptr_equal(dt_type_resolve(type("D`struct s")), dt_type_resolve(type("struct D`s")));
}

static void sameness(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"int", "int", true},
        {"int", "signed int", true},
        {"int", "unsigned int", false},
        {"int", "int32_t", true},
        {"long", "long long", false},
        {"long", "int64_t", true},
        {"char", "signed char", false},
        {"const int", "volatile int", true},
        {"int *", "const int *", true},
        {"int *", "unsigned int *", false},
        {"int [3]", "int [3]", true},
        {"int [3]", "int [4]", false},
        {"struct s", "struct s", true},
        {"struct s", "struct t", false},
        {"struct s", "union s", false},
        {"struct s *", "s_t *", true},
        {"fp_t", "fp2_t", true},
        {"fp_t", "fp3_t", false},
        {"string", "char *", false},
        {"string", "string", true},
        {"struct later *", "later_p", true},
        {"enum e", "int", false},
    };

    (void)state;
    compiles("struct later; typedef struct later *later_p; struct later { int x; };"
             "struct s { int x; }; struct t { int x; }; union s { int x; }; typedef struct s s_t;"
             "typedef int (*fp_t)(char *); typedef int (*fp2_t)(char *c);"
             "typedef int (*fp3_t)(int); enum e { A };");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (dt_type_same(type(rows[i].a), type(rows[i].b)) != rows[i].same) {
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        }
    }
}

static void declared_names(void **state)
{
    (void)state;
    compiles("int x; self string s; this char c; int a[int, string]; self int b[uint64_t];"
             "typedef struct { int q; } t_t; t_t t; extern int e;");
    EQUAL(DT_IDENT_SCALAR, global("x")->kind);
    EQUAL(DT_IDENT_WRITE | DT_IDENT_DECLARED, global("x")->flags);
    EQUAL(DT_IDENT_ARRAY, global("a")->kind);
    EQUAL(2, global("a")->signature.nargs);
    EQUAL(true, global("a")->signature.fixed);
    SAME("string", dt_type_text(front.d, global("a")->signature.args[1], NULL));
    struct dt_ident *s = dt_ident_lookup(front.d->threads, "s");
    EQUAL(DT_IDENT_THREAD | DT_IDENT_WRITE | DT_IDENT_DECLARED, s->flags);
    struct dt_ident *c = dt_ident_lookup(front.d->locals, "c");
    EQUAL(DT_IDENT_LOCAL | DT_IDENT_WRITE | DT_IDENT_DECLARED, c->flags);
    assert_true(global("x")->number >= 0x500);
    assert_true(s->number != c->number && c->number != global("x")->number);
    SAME("t_t", dt_type_text(front.d, global("t")->type, NULL));
    uint64_t address = 1;
    const struct dt_type *e = NULL;
    assert_true(dt_symbol_lookup(front.d, "", "e", &address, &e));
    EQUAL(0, address);
    SAME("int", dt_type_text(front.d, e, NULL));
    assert_false(dt_symbol_lookup(front.d, "", "x", &address, &e));
}

static void uses_in_expressions(void **state)
{
    (void)state;
    compiles("typedef struct { char c; int i[4]; } t;"
             "typedef char text[10];");
    EQUAL(20, value("sizeof(t)"));
    EQUAL(4, value("offsetof(t, i)"));
    EQUAL(8, value("sizeof(t *)"));
    EQUAL(10, value("sizeof(text)"));
    EQUAL(40, value("sizeof(int [10])"));
    EQUAL(8, value("sizeof(int (*)[10])"));
    EQUAL(-1, value("(char)255"));
    EQUAL(255, value("(unsigned char)-1"));
    EQUAL(3, value("(int)(char)3"));
    compiles("int a[sizeof(t)]; int b[sizeof(int [2]) + (int)1];");
    EQUAL(20, dt_type_resolve(global("a")->type)->count);
    EQUAL(9, dt_type_resolve(global("b")->type)->count);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, front_open, front_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(basics_lp64),
        cmocka_unit_test_setup_teardown(basics_arm, front_open_arm, front_close),
        TEST(layouts),
        TEST(bit_fields),
        cmocka_unit_test(texts),
        TEST(texts_name_types),
        TEST(sameness),
        TEST(declared_names),
        TEST(uses_in_expressions),
    };

    return cmocka_run_group_tests_name("d_front types", tests, NULL, NULL);
}
