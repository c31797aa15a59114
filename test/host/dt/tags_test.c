/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every error of lexer, grammar, declarations, macros and pragmas: its tag, and for some its place.
 */
#include "test/host/dt/front.h"

#include <stdio.h>
#include <string.h>

struct row {
    const char *tag, *text;
};

/* Each in a session of its own. */
static void check_rows(const struct row *rows, size_t n)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < n; i++) {
        front_open(NULL);
        const char *tag = tag_of(rows[i].text);
        if (strcmp(tag, rows[i].tag) != 0) {
            const struct dt_error *e = dt_session_error(front.d);
            print_error("%s, not %s%s%s:\n%s\n\n", tag, rows[i].tag, e ? ": " : "",
                        e ? e->text : "", rows[i].text);
            wrong++;
        }
        front_close(NULL);
    }
    assert_int_equal(wrong, 0);
}
#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(*rows))

static const struct row syntax_rows[] = {
    {"ok", "BEGIN{}"},
    {"ok", "BEGIN { trace(1) }"},
    {"ok", "BEGIN { ; ; trace(1);; }"},
    {"ok", "dtrace:::BEGIN,\nEND\n,tick-1sec\n{}"},
    {"ok", "BEGIN /1/ {} END /pid == 1 && (2 / 1) / 2/ {}"},
    {"ok", "BEGIN /1 / 2 / 3/ /* body */ {}"},
    {"ok", "BEGIN /1/* predicate *//{}"},
    {"ok", "BEGIN { x = 4 / /* two */ 2; y = 8/2/2; y /= 2 }"},
    {"ok", "#!/usr/sbin/dtrace -s\nBEGIN{}"},
    {"ok", "/* a */ BEGIN /* b */ { /* c */ } /* d */"},
    {"D_SYNTAX", "BEGIN"},
    {"D_SYNTAX", "BEGIN END{}"},
    {"D_SYNTAX", "BEGIN /1/"},
    {"D_SYNTAX", "BEGIN /1/;"},
    {"D_SYNTAX", "BEGIN // {}"},
    {"D_SYNTAX", "BEGIN /(1/ {}"},
    {"D_SYNTAX", "BEGIN{"},
    {"D_SYNTAX", "BEGIN{}}"},
    {"D_SYNTAX", "BEGIN{(}"},
    {"D_SYNTAX", "BEGIN{trace(1));}"},
    {"D_SYNTAX", "BEGIN{x = a[1]]; }"},
    {"D_SYNTAX", "BEGIN{trace(1);"},
    {"D_SYNTAX", "BEGIN{trace(1) trace(2)}"},
    {"D_SYNTAX", "BEGIN{x = ;}"},
    {"D_SYNTAX", "BEGIN{{trace(1);}}"},
    {"D_SYNTAX", "BEGIN{x = 1 +;}"},
    {"D_SYNTAX", "{ trace(1); }"},
    {"D_SYNTAX", "/1/ { trace(1); }"},
    {"D_SYNTAX", "; BEGIN{}"},
    {"D_SYNTAX", "BEGIN{int x;}"},
    {"D_SYNTAX", "BEGIN{typedef int x;}"},
    {"D_SYNTAX", "BEGIN{self int x;}"},
    {"D_SYNTAX", "typedef int foo; BEGIN{foo x;}"},
    {"D_SYNTAX", "int x = 1;"},
    {"D_SYNTAX", "BEGIN{x = 1.5;}"},
    {"D_SYNTAX", "BEGIN{x = 1e5;}"},
    {"D_SYNTAX", "BEGIN{x = .5;}"},
    {"D_SYNTAX", "nosuch x;"},
    {"D_SYNTAX", "nosuch *x;"},
    {"D_SYNTAX", "BEGIN{x = (nosuch_t)1;}"},
    {"D_SYNTAX", "BEGIN{x = sizeof(nosuch_t *);}"},
    {"D_SYNTAX", "BEGIN{x = offsetof(nosuch_t, a);}"},
    {"D_SYNTAX", "int v; BEGIN{x = offsetof(v, a);}"},
    {"D_SYNTAX", "BEGIN{x = sizeof();}"},
    {"D_SYNTAX", "BEGIN{1abc = 1;}"},
    {"D_SYNTAX", "BEGIN{x = 123$pid;}"},
    {"D_SYNTAX", "BEGIN{x = $-1;}"},
    {"D_SYNTAX", "BEGIN{x = $;}"},
    {"D_SYNTAX", "struct a`b {int x;};"},
    {"D_SYNTAX", "enum a`b {A};"},
    {"D_SYNTAX", "struct s {int;};"},
    {"D_SYNTAX", "struct s {int a};"},
    {"D_SYNTAX", "struct s {typedef int a;};"},
    {"D_SYNTAX", "enum e {};"},
    {"D_SYNTAX", "enum e {A,};"},
    {"D_SYNTAX", "int x"},
    {"D_SYNTAX", "int a[;"},
    {"D_SYNTAX", "int a[1;"},
    {"D_SYNTAX", "inline int i;"},
    {"D_SYNTAX", "inline int i[int] = 1;"},
    {"D_SYNTAX", "BEGIN{while (1) {}}"},
    {"D_SYNTAX", "BEGIN{return 1;}"},
    {"D_SYNTAX", "BEGIN{counter = 1;}"},
    {"D_SYNTAX", "BEGIN{if 1 trace(1);}"},
    {"D_SYNTAX", "BEGIN{if (1) trace(1) else trace(2);}"},
    {"D_SYNTAX", "BEGIN{else trace(2);}"},
    {"D_SYNTAX", "BEGIN{/* no end }"},
    {"D_SYNTAX", "BEGIN{/* a /* b */ }"},
    {"D_SYNTAX", "BEGIN{x = \"no end}"},
    {"D_SYNTAX", "BEGIN{x = self;}"},
    {"D_SYNTAX", "BEGIN{x = `;}"},
    {"D_SYNTAX", "BEGIN{x = \x01;}"},
    {"D_SYNTAX", "struct a{int x;}; struct b{int y;}; translator struct a <struct b q> {x = "
                 "q.y;}"},
    {"D_SYNTAX", "struct a{int x;}; struct b{int y;}; translator struct a {struct b q} {x = "
                 "q.y;};"},
    {"D_SYNTAX", "struct a{int x;}; struct b{int y;}; translator struct a (struct b q) {x = "
                 "q.y;};"},
    {"D_SYNTAX", "struct a{int x;}; struct b{int y;}; translator struct a <struct b q> [x = "
                 "q.y;];"},
    {"D_EMPTY", ""},
    {"D_EMPTY", "/* nothing */\n#pragma D option quiet\n"},
    {"ok", "#pragma D option empty\n"},
};

static void syntax(void **state)
{
    (void)state;
    CHECK(syntax_rows);
}

static const struct row declarations_rows[] = {
    {"ok", "int x; int x; int a[int]; int a[int]; BEGIN{}"},
    {"ok", "int x, *y, z[3], (*f)(int, char *), *g[2]; BEGIN{}"},
    {"ok", "self int x; this int y; self z; this w; static int v; self int a[int]; BEGIN{}"},
    {"ok", "int*x; char *s; string*z; uint64_t*w; BEGIN{}"},
    {"ok", "typedef int foo; struct s {foo foo;}; struct s x; BEGIN{y = x.foo;}"},
    {"ok", "typedef int foo; struct t {int a;}; struct t foo2; self foo bar; BEGIN{}"},
    {"ok", "extern int a[]; extern void f(int, ...); extern void g(void); BEGIN{}"},
    {"ok", "struct s; struct s *p; struct s {struct s *next; int v;}; struct s o; BEGIN{}"},
    {"ok", "int x; BEGIN{x = 1;} int y; END{y = 2;}"},
    {"ok", "BEGIN{x = 1;} int x; self int pid;"},
    {"D_DECL_CLASS", "static self int x;"},
    {"D_DECL_CLASS", "extern typedef int x;"},
    {"D_DECL_CLASS", "self this int x;"},
    {"D_DECL_BADCLASS", "register int x;"},
    {"D_DECL_BADCLASS", "auto int x;"},
    {"D_DECL_SCOPE", "int a`b;"},
    {"D_DECL_SCOPE", "typedef int a`b;"},
    {"D_DECL_SCOPE", "struct s {int a`b;};"},
    {"D_DECL_SCOPE", "enum e {a`b};"},
    {"D_DECL_SCOPE", "inline int a`b = 1;"},
    {"D_DECL_USELESS", "int;"},
    {"D_DECL_USELESS", "extern int;"},
    {"D_DECL_USELESS", "typedef int foo; foo;"},
    {"D_DECL_IDRED", "int x; char x;"},
    {"D_DECL_IDRED", "int x; int x[int];"},
    {"D_DECL_IDRED", "int pid;"},
    {"D_DECL_IDRED", "int trace;"},
    {"D_DECL_IDRED", "typedef int pid;"},
    {"D_DECL_IDRED", "typedef int t; int t;"},
    {"D_DECL_IDRED", "int t; typedef int t;"},
    {"D_DECL_IDRED", "typedef char new; typedef int new;"},
    {"D_DECL_IDRED", "typedef int new; typedef int new;"},
    {"D_DECL_IDRED", "typedef int size_t;"},
    {"D_DECL_IDRED", "enum e {A}; int A;"},
    {"D_DECL_IDRED", "enum e {A}; enum f {A};"},
    {"D_DECL_IDRED", "enum e {pid};"},
    {"D_DECL_IDRED", "int a[int]; int a[string];"},
    {"D_DECL_IDRED", "int a[int]; int a[int, int];"},
    {"D_DECL_IDRED", "int a[int]; char a[int];"},
    {"D_DECL_IDRED", "inline int i = 1; inline int i = 1;"},
    {"D_DECL_IDRED", "inline int i = 1; int i;"},
    {"D_DECL_IDRED", "inline int pid = 1;"},
    {"D_DECL_IDRED", "BEGIN{x = 1;} string x;"},
    {"D_DECL_TYPERED", "struct s {int a;}; struct s {int a;};"},
    {"D_DECL_TYPERED", "struct s {struct s {int a;} b;};"},
    {"D_DECL_TYPERED", "enum s {a}; enum s {b};"},
    {"ok", "struct s {int a;}; union s {int a;}; BEGIN{}"},
    {"D_DECL_COMBO", "int char x;"},
    {"D_DECL_COMBO", "struct s {int a;} struct s x;"},
    {"D_DECL_COMBO", "struct s {int a;}\nint x;"},
    {"D_DECL_CHARATTR", "short char x;"},
    {"D_DECL_CHARATTR", "long char x;"},
    {"D_DECL_CHARATTR", "char long x;"},
    {"D_DECL_VOIDATTR", "unsigned void *x;"},
    {"D_DECL_VOIDATTR", "short void *x;"},
    {"D_DECL_SIGNINT", "struct s {int a;}; unsigned struct s x;"},
    {"D_DECL_SIGNINT", "typedef int foo; signed foo x;"},
    {"D_DECL_SIGNINT", "unsigned float x;"},
    {"D_DECL_LONGINT", "struct s {int a;}; long struct s x;"},
    {"D_DECL_LONGINT", "typedef int foo; long foo x;"},
    {"D_UNKNOWN", "long short x;"},
    {"D_UNKNOWN", "short long x;"},
    {"D_UNKNOWN", "long long long x;"},
    {"D_UNKNOWN", "signed unsigned x;"},
    {"D_UNKNOWN", "long float x;"},
    {"D_UNKNOWN", "enum e {A, A};"},
    {"D_UNKNOWN", "struct s {int a; int a;};"},
    {"D_UNKNOWN", "struct s {int a; struct {int a;};};"},
    {"D_DECL_INCOMPLETE", "struct s {struct s x;};"},
    {"D_DECL_INCOMPLETE", "struct s {struct s x[2];};"},
    {"D_DECL_INCOMPLETE", "struct s x;"},
    {"D_DECL_INCOMPLETE", "struct s {}; struct s x;"},
    {"D_DECL_INCOMPLETE", "enum e x;"},
    {"D_DECL_INCOMPLETE", "struct t; struct s {struct t x;};"},
    {"D_DECL_INCOMPLETE", "struct t; typedef struct t t_t; t_t x;"},
    {"D_DECL_VOIDOBJ", "void x;"},
    {"D_DECL_VOIDOBJ", "void x[3];"},
    {"D_DECL_VOIDOBJ", "inline void x = 1;"},
    {"D_DECL_VOIDOBJ", "struct s {void x;};"},
    {"D_DECL_VOIDOBJ", "struct s {int f();};"},
    {"D_DECL_ARRNULL", "int a[];"},
    {"D_DECL_ARRNULL", "typedef int a[];"},
    {"D_DECL_ARRNULL", "struct s {int a[];};"},
    {"D_DECL_ARRSUB", "int a[-1];"},
    {"D_DECL_ARRSUB", "int a[0];"},
    {"D_DECL_ARRSUB", "int a[pid];"},
    {"D_DECL_ARRSUB", "int a[\"x\"];"},
    {"D_DECL_ARRBIG", "int a[5000000000];"},
    {"D_DECL_ARRBIG", "int a[4294967295][4294967295];"},
    {"D_DECL_LOCASSC", "this int x[int];"},
    {"D_DECL_PARMCLASS", "extern void f(static int x);"},
    {"D_DECL_PARMCLASS", "int f[static int];"},
    {"ok", "extern void f(register int x); BEGIN{}"},
    {"D_DECL_PROTO_NAME", "extern void f(void v);"},
    {"D_DECL_PROTO_VOID", "extern void f(int, void);"},
    {"D_DECL_PROTO_VOID", "extern void f(void, int);"},
    {"D_DECL_PROTO_NAME", "extern void f(int, void v);"},
    {"D_DECL_PROTO_VOID", "extern void f(void, ...);"},
    {"D_DECL_PROTO_TYPE", "int f[void];"},
    {"D_DECL_PROTO_TYPE", "int f[int, void];"},
    {"D_DECL_PROTO_TYPE", "int f[void v];"},
    {"D_DECL_PROTO_VARARGS", "int f[...];"},
    {"D_DECL_PROTO_VARARGS", "int f[int, ...];"},
    {"D_DECL_BFCONST", "struct s {int a:0;};"},
    {"D_DECL_BFCONST", "struct s {int a:-1;};"},
    {"D_DECL_BFCONST", "struct s {int a:pid;};"},
    {"D_DECL_BFSIZE", "struct s {int a:33;};"},
    {"D_DECL_BFSIZE", "struct s {char a:9;};"},
    {"D_DECL_BFTYPE", "struct s {float a:3;};"},
    {"D_DECL_BFTYPE", "struct s {char *a:3;};"},
    {"D_DECL_ENCONST", "enum e {A = pid};"},
    {"D_DECL_ENCONST", "enum e {A = \"a\"};"},
    {"D_DECL_ENOFLOW", "enum e {A = 2147483648};"},
    {"D_DECL_ENOFLOW", "enum e {A = 2147483647, B};"},
    {"ok", "enum e {A = -2147483648, B = 2147483647, C = 0, D = A}; BEGIN{}"},
    {"D_DIV_ZERO", "enum e {A = 1 / 0};"},
    {"D_DIV_ZERO", "int a[1 % 0];"},
    {"D_IDENT_UNDEF", "int a[nosuch];"},
};

static void declarations(void **state)
{
    (void)state;
    CHECK(declarations_rows);
}

static void constants(void **state)
{
    static const struct row rows[] = {
        {"D_INT_DIGIT", "BEGIN{x = 08;}"},
        {"D_INT_DIGIT", "BEGIN{x = 0779;}"},
        {"D_INT_OFLOW", "BEGIN{x = 18446744073709551616;}"},
        {"D_INT_OFLOW", "BEGIN{x = 0x10000000000000000;}"},
        {"D_INT_OFLOW", "BEGIN{x = 02000000000000000000000;}"},
        {"ok", "BEGIN{x = 18446744073709551615; y = 01777777777777777777777;}"},
        {"D_CHR_NL", "BEGIN{x = 'a\n';}"},
        {"D_CHR_NL", "BEGIN{x = 'a\\\n';}"},
        {"D_CHR_NULL", "BEGIN{x = '';}"},
        {"D_CHR_OFLOW", "BEGIN{x = '123456789';}"},
        {"ok", "BEGIN{x = '12345678'; y = '\\'';}"},
        {"D_STR_NL", "BEGIN{x = \"a\n\";}"},
        {"D_STR_NL", "BEGIN{x = \"a\\\n\";}"},
        {"ok", "BEGIN{x = \"a\\\\\"; y = \"\\\"\";}"},
        {"D_SYNTAX", "BEGIN{x = \"a\" \"b\";}"},
    };

    (void)state;
    CHECK(rows);
}

static void descriptions(void **state)
{
    static const struct row rows[] = {
        {"D_PDESC_INVAL", "a:b:c:d:e{}"},
        {"D_PDESC_ZERO", "a:b:c:d{}"},
        {"D_PDESC_ZERO", "in*{}"},
        {"D_PDESC_ZERO", "profile::tick-1sec{}"},
        {"D_PDESC_ZERO", "BEGIN, nosuch{}"},
        {"ok", "nosuch{}\n#pragma D option zdefs\n"},
        {"D_PDESC_INVAL", "0{}"},
        {"D_PDESC_INVAL", "77{}"},
        {"D_PDESC_INVAL", "99999999999{}"},
        {"D_PDESC_INVAL", "pid$nosuch:::entry{}"},
        {"ok", "1{} BE*{} BE?IN{} [AB]EGIN{} :::BEGIN{} dtrace:::{} d*:::[!E]*{} 1,END{}"},
        {"ok", "profile:::tick-1sec{}"},
    };

    (void)state;
    CHECK(rows);
}

static void pragmas(void **state)
{
    static const struct row rows[] = {
        {"D_PRAGCTL_INVAL", "#define X\nBEGIN{}"},
        {"D_PRAGCTL_INVAL", "#include <x>\nBEGIN{}"},
        {"D_PRAGCTL_INVAL", "BEGIN{\n #if 1\n}"},
        {"ok", "#\n#ident \"x\"\n#pragma other x\n#pragma D ident x\nBEGIN{}"},
        {"D_PRAGMA_INVAL", "#pragma D nosuch\nBEGIN{}"},
        {"D_PRAGMA_INVAL", "#pragma D attributes a/b/c x\nint x;"},
        {"D_PRAGMA_INVAL", "#pragma D attributes Stable/Stable x\nint x;"},
        {"D_PRAGMA_INVAL", "#pragma D attributes Stable/Stable/Common provider x y\nint x;"},
        {"D_PRAGMA_INVAL", "#pragma D binding \"7.7\" x\nint x;"},
        {"D_PRAGMA_INVAL", "#pragma D depends_on nosuch x\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D\nBEGIN{}"},
        {"D_PRAGMA_MALFORM", "#pragma D attributes Stable/Stable/Common\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D attributes Stable/Stable/Common x y\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D binding 1.0 x\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D binding \"1.0\"\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D depends_on provider\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D option\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D option nspec=24 * 44\nint x;"},
        {"D_PRAGMA_MALFORM", "#pragma D option quiet flowindent\nint x;"},
        {"D_PRAGMA_MALFORM", "#line x\nint x;"},
        {"D_PRAGMA_OPTSET", "#pragma D option quiet=please\nint x;"},
        {"D_PRAGMA_OPTSET", "#pragma D option nosuch\nint x;"},
        {"D_PRAGMA_OPTSET", "#pragma D option QUIET\nint x;"},
        {"D_PRAGMA_OPTSET", "BEGIN{}\n#pragma D option nosuch\n"},
        {"D_PRAGMA_DEPEND", "#pragma D depends_on library foo.d\nint x;"},
        {"D_PRAGMA_DEPEND", "#pragma D depends_on provider foo\nint x;"},
        {"D_PRAGMA_DEPEND", "#pragma D depends_on module foo\nint x;"},
        {"ok", "#pragma D depends_on provider dtrace\nint x;"},
        {"D_PRAGMA_UNUSED", "#pragma D attributes Stable/Stable/Common nosuch\nint x;"},
        {"D_PRAGMA_UNUSED", "#pragma D binding \"1.0\" nosuch\nint x;"},
        {"ok", "#pragma D attributes Stable/Stable/Common x\n#pragma D binding \"1.0\" x\nint x;"},
        {"ok", "#pragma D attributes Stable/Stable/Common x\nBEGIN{x = 1;}"},
        {"ok", "int x;\n#pragma D attributes Stable/Stable/Common x\n"},
        {"ok", "#pragma D attributes Private/Private/ISA provider dtrace args\nint x;"},
        {"D_PRAGERR", "#pragma D error this is bad\nint x;"},
        {"D_PRAGERR", "#error x\nint x;"},
    };

    (void)state;
    CHECK(rows);
}

static void functions_and_translators(void **state)
{
    static const struct row rows[] = {
        {"D_FUNC_IDENT", "BEGIN{tick-1();}"},
        {"D_FUNC_IDENT", "BEGIN{x = (1)();}"},
        {"D_FUNC_UNDEF", "BEGIN{nosuch();}"},
        {"D_FUNC_UNDEF", "int x; BEGIN{x();}"},
        {"D_FUNC_UNDEF", "#pragma D option version=1.0\nBEGIN{x = strtok(\"a\", \"b\");}"},
        {"ok", "#pragma D option version=1.0\nint strtok; BEGIN{strtok = 1;}"},
        {"D_UNKNOWN", "struct s {int a;}; BEGIN{x = offsetof(struct s, b);}"},
        {"D_OFFSETOF_TYPE", "BEGIN{x = offsetof(struct nosuch, a);}"},
        {"D_OFFSETOF_TYPE", "BEGIN{x = offsetof(int, a);}"},
        {"D_XLATE_SOU", "struct b{int y;}; translator int <struct b q> {x = q.y;};"},
        {"D_XLATE_SOU", "struct b{int y;}; translator struct a <struct b q> {x = q.y;};"},
        {"D_XLATE_MEMB",
         "struct a{int x;}; struct b{int y;}; translator struct a <struct b q> {z = q.y;};"},
        {"D_XLATE_REDECL", "struct a{int x;}; struct b{int y;}; translator struct a <struct b q> "
                           "{x = q.y;}; translator struct a <struct b q> {x = q.y;};"},
        {"ok", "struct a{int x;}; struct b{int y;}; translator struct a <struct b *q> {x = "
               "q->y;}; translator struct a <struct b q> {}; BEGIN{}"},
        {"ok", "inline int f[int a, int b] = a + b; BEGIN{trace(f[1, 2]);}"},
        {"ok", "typedef int a; inline int f[int a] = a; BEGIN{trace(f[1]);}"},
        {"D_IDENT_UNDEF", "inline int f = f;"},
        {"D_IDENT_UNDEF", "inline int f[int a] = f[a];"},
        {"D_OP_INCOMPAT", "inline int f = \"a\";"},
        {"D_DECL_BADCLASS", "inline static int f = 1;"},
    };

    (void)state;
    CHECK(rows);
}

static void statements(void **state)
{
    static const struct row rows[] = {
        {"ok", "BEGIN{if (1) {trace(1);} else if (2) trace(2); else {trace(3)} trace(4)}"},
        {"ok", "BEGIN{if (1) trace(1); else trace(2)}"},
        {"ok", "BEGIN{if (1) if (2) trace(1); else trace(2); trace(3)}"},
        {"ok", "BEGIN{if (1) {if (2) trace(1)} else {} if (3) {}}"},
        {"ok", "BEGIN{if (1) trace(1)}"},
    };

    (void)state;
    CHECK(rows);
}

/* ---- places ------------------------------------------------------------------------ */

static void places(void **state)
{
    (void)state;
    fails_at("BEGIN\n{\n    trace(1 +* );\n}", "D_SYNTAX", 3, 16);
    fails_at("int x;\n  char x;", "D_DECL_IDRED", 2, 8);
    fails_at("BEGIN { x = 1; }\nEND { y = nosuch; }", "D_IDENT_UNDEF", 2, 11);
    fails_at("/* a\n b */ BEGIN { x = 08; }", "D_INT_DIGIT", 2, 19);
    fails_at("#pragma D option quiet\n\n#pragma D option nosuch\n", "D_PRAGMA_OPTSET", 3, 1);
    fails_at("BEGIN {\n  trace(\"a\n); }", "D_STR_NL", 2, 9);
    fails_at("BEGIN {\n  trace(1);\n", "D_SYNTAX", 3, 1);
    fails_at("BEGIN\n  ,nosuch {}", "D_PDESC_ZERO", 2, 4);
    fails_at("# 70 \"other.d\"\nBEGIN { x = y; }", "D_IDENT_UNDEF", 70, 13);
    SAME("other.d", dt_session_error(front.d)->file);
    SAME("BEGIN { x = y; }", dt_session_error(front.d)->source_line);
    fails_at("int a;\n\tint *a;", "D_DECL_IDRED", 2, 7);
    SAME("\tint *a;", dt_session_error(front.d)->source_line);
}

static void of_descriptions(void **state)
{
    (void)state;
    assert_non_null(description("BEGIN"));
    assert_non_null(description("BEGIN,END"));
    assert_non_null(description("BEGIN { trace(1) }"));
    assert_non_null(description("int x; BEGIN { x = 1 }"));
    assert_null(description("BEGIN /1/"));
    assert_null(description("nosuch"));
    SAME("D_PDESC_ZERO", dt_session_error(front.d)->tag);
    assert_null(dt_session_error(front.d)->file);
}

/* What would nest the compiler's own recursion too deeply is an error, not a crash. */
static void deep(void **state)
{
    enum { DEPTH = 20000 };
    static char text[4 * DEPTH + 64];
    static const struct {
        const char *head, *part, *tail;
    } rows[] = {
        {"BEGIN { x = ", "(", "1; }"},
        {"BEGIN { x = ", "-", "1; }"},
        {"BEGIN { x = 1", "+1", "; }"},
        {"int ", "*", "x;"},
        {"int x", "[1]", ";"},
        {"struct a { ", "struct{", "int a;};"},
        {"BEGIN { ", "if(1)", "trace(1); }"},
        {"BEGIN { x = ", "1?2:", "3; }"},
        {"BEGIN { x = y", ".a", "; }"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t n = strlen(rows[i].part), at = (size_t)sprintf(text, "%s", rows[i].head);
        for (unsigned k = 0; k < DEPTH && at + n + 16 < sizeof(text); k++, at += n) {
            memcpy(text + at, rows[i].part, n);
        }
        strcpy(text + at, rows[i].tail);
        SAME("D_SYNTAX", tag_of(text));
    }
}

/* Inlines and translators count as deep as what will stand in their place. */
static void deep_inlines(void **state)
{
    static const char *const parts[] = {"a%u + a%u", "f%u[1] + f%u[2]",
                                        "xlate<struct s>(a%u).x + xlate<struct s>(a%u).x"};
    static char sum[2 * 400 + 1];

    (void)state;
    memset(sum, 0, sizeof(sum));
    for (unsigned i = 0; i < 400; i++) {
        memcpy(sum + i * 2, "+1", 2);
    }
    for (unsigned kind = 0; kind < 3; kind++) {
        front_open(NULL);
        compiles("inline int a0 = 1; inline int f0[int a] = a; struct s { int x; };"
                 "translator struct s <int i> { x = i + 1; };");
        const char *tag = "ok";
        for (unsigned i = 1; i < 5 && strcmp(tag, "ok") == 0; i++) {
            const char *value = dt_sprintf(front.d, parts[kind], i - 1, i - 1);
            tag = tag_of(dt_sprintf(front.d, "inline int a%u = %s%s; inline int f%u[int a] = %s%s;",
                                    i, value, sum, i, value, sum));
        }
        SAME("D_SYNTAX", tag);
        front_close(NULL);
    }
}

/* After an error the session compiles on. */
static void session_goes_on(void **state)
{
    (void)state;
    SAME("D_SYNTAX", tag_of("BEGIN {"));
    assert_non_null(dt_session_error(front.d));
    compiles("BEGIN { trace(1); }");
    assert_null(dt_session_error(front.d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax),
        cmocka_unit_test(declarations),
        cmocka_unit_test(constants),
        cmocka_unit_test(descriptions),
        cmocka_unit_test(pragmas),
        cmocka_unit_test(functions_and_translators),
        cmocka_unit_test(statements),
        cmocka_unit_test_setup_teardown(places, front_open, front_close),
        cmocka_unit_test_setup_teardown(of_descriptions, front_open, front_close),
        cmocka_unit_test_setup_teardown(deep, front_open, front_close),
        cmocka_unit_test(deep_inlines),
        cmocka_unit_test_setup_teardown(session_goes_on, front_open, front_close),
    };

    return cmocka_run_group_tests_name("d_front tags", tests, NULL, NULL);
}
