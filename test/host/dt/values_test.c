/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants and macro variables: what they are worth, of which type.
 */
#include "test/host/dt/front.h"

#include <string.h>
#include <unistd.h>

/* An inline's body is the constant as it was written. */
static const struct dt_node *node(const char *text)
{
    static unsigned n;

    n++;
    compiles(
        dt_sprintf(front.d, "inline %s node%u = %s;", *text == '"' ? "string" : "long", n, text));
    return global(dt_sprintf(front.d, "node%u", n))->inline_body;
}

static void check(const char *text, uint64_t value, const char *type)
{
    const struct dt_node *n = node(text);

    EQUAL(DT_NODE_INT, n->kind);
    EQUAL(value, n->value);
    SAME(type, dt_type_text(front.d, n->type, NULL));
}

static void integers(void **state)
{
    (void)state;
    check("0", 0, "int");
    check("2147483647", 2147483647, "int");
    check("2147483648", 2147483648, "long");
    check("0x7fffffff", 0x7fffffff, "int");
    check("0xFFFFffff", 0xffffffff, "unsigned int");
    check("037777777777", 0xffffffff, "unsigned int");
    check("0x100000000", 0x100000000, "long");
    check("9223372036854775807", INT64_MAX, "long");
    check("9223372036854775808", (uint64_t)1 << 63, "unsigned long long");
    check("0x8000000000000000", (uint64_t)1 << 63, "unsigned long");
    check("18446744073709551615", UINT64_MAX, "unsigned long long");
    check("1u", 1, "unsigned int");
    check("1U", 1, "unsigned int");
    check("4294967296u", 4294967296, "unsigned long");
    check("1l", 1, "long");
    check("1L", 1, "long");
    check("1ul", 1, "unsigned long");
    check("1lu", 1, "unsigned long");
    check("1ll", 1, "long long");
    check("1ull", 1, "unsigned long long");
    check("0x1ULL", 1, "unsigned long long");
    check("010", 8, "int");
}

static void integers_arm(void **state)
{
    (void)state;
    check("2147483648", 2147483648, "long long");
    check("0xffffffff", 0xffffffff, "unsigned int");
    check("2147483648l", 2147483648, "long long");
    check("0xffffffffl", 0xffffffff, "unsigned long");
    check("4294967296", 4294967296, "long long");
    check("1l", 1, "long");
}

static void characters(void **state)
{
    (void)state;
    check("'a'", 'a', "int");
    check("'ab'", 'a' << 8 | 'b', "int");
    check("'abcd'", 0x61626364, "int");
    check("'abcde'", 0x6162636465, "long");
    check("'abcdefgh'", 0x6162636465666768, "long");
    check("'\\0'", 0, "int");
    check("'\\377'", 255, "int");
    check("'\\xff'", 255, "int");
    check("'\\101\\102'", 0x4142, "int");
    check("'\\n'", 10, "int");
    check("'\\a'", 7, "int");
    check("'\\b'", 8, "int");
    check("'\\t'", 9, "int");
    check("'\\v'", 11, "int");
    check("'\\f'", 12, "int");
    check("'\\r'", 13, "int");
    check("'\\\"'", '"', "int");
    check("'\"'", '"', "int");
    check("'\\\\'", '\\', "int");
    check("'\\?'", '\\' << 8 | '?', "int");
    check("'\\''", '\\' << 8 | '\'', "int");
    check("'\\1234'", 'S' << 8 | '4', "int");
    check("' '", ' ', "int");
    EQUAL(4, value("sizeof('c')"));
}

/* ---- constant expressions ---------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned bits;
    bool is_signed;
} types[] = {{"int", 32, true},
             {"unsigned int", 32, false},
             {"long long", 64, true},
             {"unsigned long long", 64, false}};
static const char *const operators[] = {"+",  "-",  "*", "/", "%",  "&",  "|",  "^",  "<<",
                                        ">>", "==", "<", ">", "<=", ">=", "!=", "&&", "||"};
enum { TYPES = sizeof(types) / sizeof(*types), OPERATORS = sizeof(operators) / sizeof(*operators) };

/* The number that a type makes of these bits. */
static __int128 in_type(unsigned type, __int128 bits)
{
    uint64_t low = (uint64_t)bits;

    if (types[type].bits == 32) {
        return types[type].is_signed ? (__int128)(int32_t)low : (__int128)(uint32_t)low;
    }
    return types[type].is_signed ? (__int128)(int64_t)low : (__int128)low;
}

/* a op b with all the bits that it needs. False: it has no value. */
static bool compute(const char *op, unsigned bits, __int128 a, __int128 b, __int128 *value)
{
    switch (op[0]) {
    case '+':
        *value = a + b;
        return true;
    case '-':
        *value = a - b;
        return true;
    case '*':
        *value = (__int128)((unsigned __int128)a * (unsigned __int128)b);
        return true;
    case '/':
        *value = b ? a / b : 0;
        return b != 0;
    case '%':
        *value = b ? a % b : 0;
        return b != 0;
    case '^':
        *value = a ^ b;
        return true;
    case '&':
        *value = op[1] ? a && b : a & b;
        return true;
    case '|':
        *value = op[1] ? a || b : a | b;
        return true;
    case '=':
        *value = a == b;
        return true;
    case '!':
        *value = a != b;
        return true;
    }
    if (op[0] == op[1]) { /* << and >>: by less than the bits of what is shifted */
        if (b < 0 || b >= bits) {
            return false;
        }
        *value = op[0] == '<' ? (__int128)((unsigned __int128)a << b) : a >> b;
        return true;
    }
    *value = op[0] == '<' ? a < b || (op[1] && a == b) : a > b || (op[1] && a == b);
    return true;
}

/* Each operator on each pair of values at which a type's range begins, ends or changes its sign, in
 * each type: computed in 64 bits, with the sign of the type. */
static void expressions(void **state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     31,
                                     63,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     INT64_MAX,
                                     (uint64_t)1 << 63,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    enum { EDGES = sizeof(edges) / sizeof(*edges) };
    unsigned checked = 0;

    (void)state;
    for (unsigned type = 0; type < TYPES; type++) {
        for (unsigned i = 0; i < EDGES * EDGES * OPERATORS; i++) {
            __int128 a = in_type(type, edges[i % EDGES]),
                     b = in_type(type, edges[i / EDGES % EDGES]);
            const char *op = operators[i / EDGES / EDGES];
            bool compares = op[1] == '=' || (op[0] != op[1] && strchr("<>", op[0])) ||
                            strchr("&|", op[1] ? op[0] : 'x');
            __int128 wanted;

            if (compute(op, types[type].bits, a, b, &wanted)) {
                const char *name = types[type].name;
                unsigned wide = types[type].is_signed ? 2 : 3;
                const char *text = dt_sprintf(
                    front.d, "((%s)%#llx %s (%s)%#llx) == (%s)%#llx", name, (unsigned long long)a,
                    op, name, (unsigned long long)b, compares ? "int" : types[wide].name,
                    (unsigned long long)in_type(wide, wanted));
                if (value(text) != 1) {
                    fail_msg("not true: %s", text);
                }
                checked++;
            }
        }
    }
    assert_true(checked > 8000);
}

static void strings(void **state)
{
    static const struct {
        const char *text, *meaning;
    } rows[] = {
        {"\"\"", ""},
        {"\"abc\"", "abc"},
        {"\"a\\nb\\tc\\\"d\\\\e\"", "a\nb\tc\"d\\e"},
        {"\"\\x41\\102\\1034\"", "ABC4"},
        {"\"\\q\\'%\"", "\\q\\'%"},
        {"\"// /* no comment */ # @ $1 `\"", "// /* no comment */ # @ $1 `"},
        {"\"\\0 cut\"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct dt_node *n = node(rows[i].text);
        EQUAL(DT_NODE_STRING, n->kind);
        SAME(rows[i].meaning, n->text);
    }
    EQUAL(3, value("sizeof(\"hi\")"));
}

static void names(void **state)
{
    (void)state;
    EQUAL(0, value("NULL"));
    compiles("enum { A, B = 7, C };");
    EQUAL(8, value("C"));
    EQUAL(1, value("DTRACEFLT_BADADDR"));
    EQUAL(2, value("DTRACEFLT_BADALIGN"));
    EQUAL(3, value("DTRACEFLT_ILLOP"));
    EQUAL(4, value("DTRACEFLT_DIVZERO"));
    EQUAL(5, value("DTRACEFLT_NOSCRATCH"));
    EQUAL(6, value("DTRACEFLT_KPRIV"));
    EQUAL(7, value("DTRACEFLT_UPRIV"));
    EQUAL(8, value("DTRACEFLT_TUPOFLOW"));
    EQUAL(9, value("DTRACEFLT_BADSTACK"));
    EQUAL(0, value("DTRACEFLT_UNKNOWN"));
}

static void without_libraries(void **state)
{
    (void)state;
    assert_null(dt_option_set(front.d, "nolibs", NULL, DT_FROM_COMMAND));
    SAME("D_IDENT_UNDEF", tag_of("BEGIN { x = DTRACEFLT_BADADDR; }"));
    SAME("D_SYNTAX", tag_of("uid_t x;"));
    EQUAL(0, value("NULL"));
    compiles("pid_t x; BEGIN { x = 1; }");
}

/* ---- macro variables --------------------------------------------------------------- */

static void arguments(void **state)
{
    static const char *const given[] = {"12", "0x10", "-5", "abc", "a b", "\"q\"", ""};

    (void)state;
    for (int i = 0; i < 7; i++) {
        front.argv[front.argc++] = given[i];
    }
    assert_null(dt_option_set(front.d, "argref", NULL, DT_FROM_COMMAND));
    check("$1", 12, "int");
    check("$2", 16, "int");
    check("$3", (uint64_t)-5, "int");
    compiles("int abc; BEGIN { x = $4; }");
    compiles("inline string s5 = $5; inline string s6 = $6; inline string s4 = $$4;"
             "inline string s1 = $$1; inline string s0 = $0; inline string s7 = $$7;");
    SAME("a b", global("s5")->inline_body->text);
    SAME("q", global("s6")->inline_body->text);
    SAME("abc", global("s4")->inline_body->text);
    SAME("12", global("s1")->inline_body->text);
    SAME("test.d", global("s0")->inline_body->text);
    SAME("", global("s7")->inline_body->text);
    check("$7", 0, "int");
    SAME("D_MACRO_UNDEF", tag_of("BEGIN { x = $8; }"));
    SAME("D_MACRO_UNDEF", tag_of("BEGIN { x = $$8; }"));
    SAME("D_MACRO_UNDEF", tag_of("BEGIN { x = $99999999999; }"));
}

static void unused_arguments(void **state)
{
    (void)state;
    front.argv[1] = "1";
    front.argv[2] = "BEGIN";
    front.argc = 3;
    SAME("D_MACRO_UNUSED", tag_of("BEGIN { x = 1; }"));
    SAME("D_MACRO_UNUSED", tag_of("BEGIN { x = $1; }"));
    compiles("BEGIN { x = $1; y = $$2; }");
    compiles("BEGIN { x = $1; } $2 {}");
    compiles("BEGIN { x = $1; } dtrace:::$2 {}");
    compiles("BEGIN { x = $1; } dtrace:::$$2 {}");
    compiles("#pragma D option argref\nBEGIN {}");
}

static void default_arguments(void **state)
{
    (void)state;
    compiles("#pragma D option defaultargs\nBEGIN {}");
    check("$1", 0, "int");
    SAME("", node("\"\"")->text);
    compiles("inline string s = $$3;");
    SAME("", global("s")->inline_body->text);
    front.argv[1] = "unused";
    front.argc = 2;
    compiles("BEGIN {}");
}

static void of_the_process(void **state)
{
    (void)state;
    check("$pid", (uint64_t)getpid(), "int");
    check("$ppid", (uint64_t)getppid(), "int");
    check("$uid", getuid(), "int");
    check("$euid", geteuid(), "int");
    check("$gid", getgid(), "int");
    check("$egid", getegid(), "int");
    check("$pgid", (uint64_t)getpgid(0), "int");
    check("$sid", (uint64_t)getsid(0), "int");
    check("$target", 0, "int");
    dt_session_targets(front.d, &(const int32_t){4711}, 1);
    check("$target", 4711, "int");
    SAME("4711", ((void)compiles("inline string t = $$target;"), global("t")->inline_body->text));
    SAME("D_MACRO_UNDEF", tag_of("BEGIN { x = $nosuch; }"));
    compiles("#pragma D option zdefs\npid$target:::entry {}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, front_open, front_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(integers),
        cmocka_unit_test_setup_teardown(integers_arm, front_open_arm, front_close),
        TEST(characters),
        TEST(expressions),
        TEST(strings),
        TEST(names),
        TEST(without_libraries),
        TEST(arguments),
        TEST(unused_arguments),
        TEST(default_arguments),
        TEST(of_the_process),
    };

    return cmocka_run_group_tests_name("d_front values", tests, NULL, NULL);
}
