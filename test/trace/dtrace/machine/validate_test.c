/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every rule of the validator, each by an object that breaks it alone; and every value of every
 * field of every opcode against rules written down a second time here.
 */
#include "test/trace/dtrace/machine/world.h"

#include <stdio.h>
#include <string.h>

static struct asm_object o;

static void accepts(const char *text)
{
    uint32_t offset = 0;

    assemble(&o, text);
    const char *reason = dtrace_reason_text(dtrace_validate(&o.object, &offset));
    if (reason) {
        fail_msg("refused: %s at %d: %s", reason, (int)offset, text);
    }
}

/* The object as it is now: why, and where. */
static void refused(const char *reason, uint32_t at)
{
    uint32_t offset = 0;
    const char *got = dtrace_reason_text(dtrace_validate(&o.object, &offset));

    if (!got || !strstr(got, reason) || offset != at) {
        fail_msg("wanted: %s at %d, got: %s at %d", reason, (int)at, got ? got : "accepted",
                 (int)offset);
    }
}

static void refuses(const char *text, const char *reason, uint32_t at)
{
    assemble(&o, text);
    refused(reason, at);
}

static void test_opcodes(void **state)
{
    (void)state;
    refuses("word 0; ret r0", "no such opcode", 0);
    refuses("nop; word 0x50000000; ret r0", "no such opcode", 1);
    refuses("word 0xff000000; ret r0", "no such opcode", 0);
    refuses("word 0x4e000000; ret r0", "translator", 0);
    refuses("word 0x4f000000; ret r0", "translator", 0);
}

static void test_reserved(void **state)
{
    (void)state;
    refuses("word 0x24000001; ret r0", "reserved", 0); /* nop */
    refuses("word 0x24000100; ret r0", "reserved", 0);
    refuses("word 0x24010000; ret r0", "reserved", 0);
    refuses("word 0x32000001; ret r0", "reserved", 0); /* popts */
    refuses("word 0x33000001; ret r0", "reserved", 0); /* flushts */
    refuses("word 0x0d010102; ret r0", "reserved", 0); /* not */
    refuses("word 0x0f010201; ret r0", "reserved", 0); /* cmp */
    refuses("word 0x10010200; ret r0", "reserved", 0); /* tst */
    refuses("word 0x10010001; ret r0", "reserved", 0);
    refuses("word 0x1c010102; ret r0", "reserved", 0); /* ldsb */
    refuses("word 0x3c010102; ret r0", "reserved", 0); /* stb */
    refuses("nop; word 0x23010000", "reserved", 1);    /* ret */
    refuses("nop; word 0x23000100", "reserved", 1);
}

static void test_registers(void **state)
{
    (void)state;
    refuses("add r8 r1 r1; ret r0", "no such register", 0);
    refuses("add r1 r8 r1; ret r0", "no such register", 0);
    refuses("add r1 r1 r8; ret r0", "no such register", 0);
    refuses("add r1 r1 r0; ret r0", "r0 can't be written", 0);
    refuses("ldub r1 r0; ret r0", "r0 can't be written", 0);
    refuses("stb r1 r0; ret r0", "nor stored through", 0);
    refuses("copys r1 r1 r0; ret r0", "nor stored through", 0);
    refuses("allocs r1 r0; ret r0", "r0 can't be written", 0);
    refuses("setx 1 r0; ret r0", "r0 can't be written", 0);
    refuses("sets \"a\" r0; ret r0", "r0 can't be written", 0);
    refuses("ldgs pid r0; ret r0", "r0 can't be written", 0);
    refuses("ldga args r1 r0; ret r0", "r0 can't be written", 0);
    refuses("call rand r0; ret r0", "r0 can't be written", 0);
    refuses("pushtr ctf r8 r1; ret r0", "no such register", 0);
    refuses("pushtv r8; ret r0", "no such register", 0);
    refuses("word 0x31000801; ret r0", "no such register", 0); /* pushtv's r2 */
    refuses("ret r8", "no such register", 0);
    refuses("ret r255", "no such register", 0);
    accepts("stb r0 r1; pushtv r0; pushtr ctf r0 r0; cmp r0 r0; tst r0; ret r0");
}

static void test_branches(void **state)
{
    (void)state;
    accepts("ba 1; ret r0");
    refuses("ba 2; ret r0", "out of the object", 0);
    refuses("ba 0xffffff; ret r0", "out of the object", 0);
    refuses("nop; be 0; ret r0", "backward", 1);
    refuses("nop; be 1; ret r0", "backward", 1);
    for (uint32_t op = DIF_OP_ba; op <= DIF_OP_bleu; op++) {
        assemble(&o, "nop; nop; ret r0");
        o.text[1] = DIF_BRANCH(op, 1);
        refused("backward", 1);
        o.text[1] = DIF_BRANCH(op, 3);
        refused("out of the object", 1);
    }
}

static void test_end(void **state)
{
    (void)state;
    refuses("nop", "not ret", 0);
    refuses("ret r0; nop", "not ret", 1);
    accepts("ret r0; ret r1");
    refuses("", "no instruction", UINT32_MAX);
}

static void test_tables(void **state)
{
    (void)state;
    accepts("word 0x25000001; setx 5 r1; ret r0");
    refuses("setx 5 r1; word 0x25000101; ret r0", "no such integer", 1);
    refuses("word 0x25000001; ret r0", "no such integer", 0);
    refuses("sets \"abc\" r1; word 0x26000501; ret r0", "no such string", 1);
    accepts("sets \"abc\" r1; word 0x26000401; ret r0"); /* the last NUL */
    assemble(&o, "ret r0");
    o.object.strings_size = 0;
    uint32_t offset;
    assert_int_equal(dtrace_validate(&o.object, &offset), DTRACE_REASON_NONE); /* none at all */
    assemble(&o, "sets \"abc\" r1; ret r0");
    o.strings[4] = 'd';
    refused("end with a NUL", UINT32_MAX);
    assemble(&o, "sets \"abc\" r1; ret r0");
    o.strings[0] = 'x';
    refused("begin with an empty one", UINT32_MAX);
    assemble(&o, "ret r0");
    o.object.nints = DIF_OBJECT_MAX / 8;
    refused("the object is too large", UINT32_MAX);
    o.object.nints = 0;
    o.object.nvars = UINT32_MAX;
    refused("the object is too large", UINT32_MAX);
}

static void test_variables(void **state)
{
    (void)state;
    refuses("stgs pid r1; ret r0", "built-in variable can't be stored", 0);
    refuses("stts pid r1; ret r0", "built-in variable can't be stored", 0);
    refuses("stgaa 0x4ff r1; ret r0", "built-in variable can't be stored", 0);
    refuses("ldls pid r1; ret r0", "no built-in variable is loaded so", 0);
    refuses("ldgaa pid r1; ret r0", "no built-in variable is loaded so", 0);
    refuses("ldts 0x100 r1; ret r0", "no built-in variable is loaded so", 0);
    refuses("ldgs args r1; ret r0", "number of an array", 0);
    refuses("ldgs 0xff r1; ret r0", "number of an array", 0);
    refuses("ldgs 0x500 r1; ret r0", "doesn't declare", 0);
    refuses("stgs 0xffff r1; ret r0", "doesn't declare", 0);
    accepts("ldgs 0x4ff r1; ldga 0xff r1 r1; ldta 3 r1 r1; ret r0"); /* faults when it runs */
}

/* Each instruction only on what was declared for it. */
static void test_use(void **state)
{
    static const char *const declared[] = {"global scalar", "global array", "thread scalar",
                                           "thread array", "local scalar"};
    static const char *const uses[][2] = {{"ldgs", "stgs"},
                                          {"ldgaa", "stgaa"},
                                          {"ldts", "stts"},
                                          {"ldtaa", "sttaa"},
                                          {"ldls", "stls"}};
    char text[128];

    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        unsigned d = i / 10, u = i / 2 % 5;
        snprintf(text, sizeof(text), "var x %s value 8; %s x r1; ret r1", declared[d],
                 uses[u][i % 2]);
        if (d == u) {
            accepts(text);
        } else {
            refuses(text, "doesn't declare", 0);
        }
    }
}

static void test_calls(void **state)
{
    (void)state;
    accepts("call 57 r1; call 1 r1; ret r1");
    refuses("call 58 r1; ret r1", "no such subroutine", 0);
    refuses("call 0xffff r1; ret r1", "no such subroutine", 0);
    refuses("call strlen r8; ret r1", "no such register", 0);
}

static void test_pushes(void **state)
{
    (void)state;
    accepts("pushtr string r1 r2; pushtr ctf r1 r2; pushtv r1; ret r0");
    refuses("word 0x30020000; ret r0", "unknown type", 0);
    refuses("word 0x30ff0000; ret r0", "unknown type", 0);
    refuses("word 0x31010000; ret r0", "only a C value", 0);
}

static void with_result(struct dif_type t, const char *reason)
{
    uint32_t offset;

    assemble(&o, "ret r0");
    o.object.result = t;
    if (reason) {
        refused(reason, UINT32_MAX);
    } else {
        assert_int_equal(dtrace_validate(&o.object, &offset), DTRACE_REASON_NONE);
    }
}

static void test_result(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 20; size++) {
        bool ok = size == 0 || size == 1 || size == 2 || size == 4 || size == 8;
        with_result((struct dif_type){.size = size}, ok ? NULL : "isn't 0, 1, 2, 4 or 8");
    }
    with_result((struct dif_type){.size = 16}, "isn't 0, 1, 2, 4 or 8");
    with_result((struct dif_type){.ref = 1, .size = 17}, NULL);
    with_result((struct dif_type){.ref = 1}, "no size by reference");
    with_result((struct dif_type){.ref = 2, .size = 1}, "unknown kind");
    with_result((struct dif_type){.pad = 1}, "unknown kind");
    with_result((struct dif_type){.kind = 2}, "unknown kind");
    with_result((struct dif_type){.kind = DIF_TYPE_STRING, .ref = 1}, NULL);
    with_result((struct dif_type){.kind = DIF_TYPE_STRING}, "string by value");
}

static void with_variable(struct dif_variable v, const char *reason)
{
    uint32_t offset;

    assemble(&o, "ret r0");
    o.vars[0] = v;
    o.object.nvars = 1;
    if (reason) {
        refused(reason, UINT32_MAX);
    } else {
        assert_int_equal(dtrace_validate(&o.object, &offset), DTRACE_REASON_NONE);
    }
}

static void test_declarations(void **state)
{
    const struct dif_variable good = {.id = 0x500, .kind = DIF_KIND_SCALAR, .type = {.size = 8}};
    struct dif_variable v = good;

    (void)state;
    with_variable(v, NULL);
    v.scope = 3;
    with_variable(v, "unknown scope");
    v = good, v.kind = 2;
    with_variable(v, "a variable of unknown kind");
    v = good, v.flags = 4;
    with_variable(v, "a variable of unknown kind");
    v = good, v.name = 1;
    with_variable(v, "name is not in the strings");
    v = good, v.type.kind = 9;
    with_variable(v, "unknown kind of type");
    v = good, v.type = (struct dif_type){.kind = DIF_TYPE_STRING};
    with_variable(v, "string by value");
    v = good, v.type = (struct dif_type){.ref = 1};
    with_variable(v, "no size");
    v = good, v.kind = DIF_KIND_ARRAY, v.scope = DIF_SCOPE_LOCAL;
    with_variable(v, "clause-local associative");
    v = good, v.type = (struct dif_type){.ref = 1, .size = DIF_STATIC_VAR_MAX};
    with_variable(v, NULL);
    v.type.size++;
    with_variable(v, "a variable is too large");
    v.kind = DIF_KIND_ARRAY;
    with_variable(v, NULL);
    v.type.size = DIF_ELEMENT_MAX;
    with_variable(v, NULL);
    v.type.size++;
    with_variable(v, "a variable is too large");
}

static void test_builtins_declared(void **state)
{
    struct dif_variable v = {.id = DIF_VAR_pid, .kind = DIF_KIND_SCALAR, .type = {.size = 4}};

    (void)state;
    v.flags = DIF_FLAG_REF;
    with_variable(v, NULL);
    v.flags = DIF_FLAG_MOD;
    with_variable(v, "built-in variable is declared as something else");
    v.flags = 0, v.scope = DIF_SCOPE_LOCAL;
    with_variable(v, "built-in variable is declared as something else");
    v.scope = DIF_SCOPE_GLOBAL, v.kind = DIF_KIND_ARRAY;
    with_variable(v, "built-in variable is declared as something else");
    v.id = DIF_VAR_args;
    with_variable(v, NULL);
    v.kind = DIF_KIND_SCALAR;
    with_variable(v, "built-in variable is declared as something else");
}

/* ---- every value of every field ---------------------------------------------------- */

static const char *const formats[256] = {
#define DIF_OP(number, name, format, doc) [number] = #format,
#include "trace/dtrace/opcodes.def"
};

/* Which of x (must be 0), r (a register), w (one that is written), t (ctf or string), c (ctf),
 * - (anything) the bytes r1, r2, rd are. */
static const char *bytes_of(const char *format)
{
    static const char *const table[][2] = {{"RRR", "rrw"}, {"RR", "rxw"},    {"CMP", "rrx"},
                                           {"TST", "rxx"}, {"LOAD", "rxw"},  {"STORE", "rxw"},
                                           {"RET", "xxr"}, {"NONE", "xxx"},  {"COPY", "rrw"},
                                           {"LDA", "-rw"}, {"PUSHR", "trr"}, {"PUSHV", "crr"}};

    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i][0], format) == 0) {
            return table[i][1];
        }
    }
    return NULL; /* has an index: tested above */
}

static bool byte_ok(char kind, uint32_t value)
{
    switch (kind) {
    case 'x':
    case 'c':
        return value == 0;
    case 'r':
        return value < 8;
    case 'w':
        return 0 < value && value < 8;
    case 't':
        return value < 2;
    default:
        return true;
    }
}

static void test_every_field(void **state)
{
    uint32_t offset, checked = 0;

    (void)state;
    for (uint32_t op = 0; op < 256; op++) {
        const char *bytes = formats[op] ? bytes_of(formats[op]) : NULL;
        for (uint32_t i = 0; i < 3 * 256; i++) {
            uint32_t shift = 16 - 8 * (i / 256), value = i % 256;
            uint32_t others[3] = {0, 1, 1};
            if (bytes && !byte_ok(bytes[1], 1)) {
                others[1] = 0;
            }
            if (bytes && !byte_ok(bytes[2], 1)) {
                others[2] = 0;
            }
            others[i / 256] = value;
            assemble(&o, "nop; ret r0");
            o.text[0] = op << 24 | others[0] << 16 | others[1] << 8 | others[2];
            assert_int_equal(o.text[0] >> shift & 255, value);
            bool accepted = dtrace_validate(&o.object, &offset) == DTRACE_REASON_NONE;
            if (bytes) {
                assert_int_equal(accepted, byte_ok(bytes[i / 256], value));
                checked++;
            } else if (!formats[op] || strcmp(formats[op], "XLATE") == 0) {
                assert_false(accepted);
                checked++;
            }
        }
    }
    assert_true(checked > 3 * 256 * 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcodes),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_use),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_pushes),
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_builtins_declared),
        cmocka_unit_test(test_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
