/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every opcode of the interpreter: arithmetic against C, branches on every pair of edge values,
 * faults with their instruction and address, the tuple.
 */
#include "test/trace/dtrace/machine/world.h"

#include <stdio.h>
#include <string.h>

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 7,
                                 63,
                                 64,
                                 65,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 INT64_MAX - 1,
                                 INT64_MAX,
                                 (uint64_t)INT64_MIN,
                                 (uint64_t)INT64_MIN + 1,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};
enum { EDGES = sizeof(edges) / sizeof(edges[0]) };

/* What C says; false: a division by zero. */
static bool expected(uint32_t op, uint64_t a, uint64_t b, uint64_t *value)
{
    bool overflows = a == (uint64_t)INT64_MIN && b == UINT64_MAX;

    switch (op) {
    case DIF_OP_or:
        *value = a | b;
        return true;
    case DIF_OP_xor:
        *value = a ^ b;
        return true;
    case DIF_OP_and:
        *value = a & b;
        return true;
    case DIF_OP_sll:
        *value = a << (b % 64);
        return true;
    case DIF_OP_srl:
        *value = a >> (b % 64);
        return true;
    case DIF_OP_sra:
        *value = a >> (b % 64) | (a >> 63 && b % 64 ? ~0ull << (64 - b % 64) : 0);
        return true;
    case DIF_OP_sub:
        *value = a - b;
        return true;
    case DIF_OP_add:
        *value = a + b;
        return true;
    case DIF_OP_mul:
        *value = a * b;
        return true;
    case DIF_OP_sdiv:
        *value = overflows ? a : b ? (uint64_t)((int64_t)a / (int64_t)b) : 0;
        return b != 0;
    case DIF_OP_udiv:
        *value = b ? a / b : 0;
        return b != 0;
    case DIF_OP_srem:
        *value = overflows || !b ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
        return b != 0;
    default:
        *value = b ? a % b : 0;
        return b != 0;
    }
}

static void check_rrr(const char *name, uint32_t op)
{
    char text[128];

    snprintf(text, sizeof(text), "ldgs arg0 r1; ldgs arg1 r2; %s r1 r2 r3; ret r3", name);
    world_load(text, NULL);
    for (unsigned i = 0; i < EDGES * EDGES; i++) {
        uint64_t a = edges[i / EDGES], b = edges[i % EDGES], want;
        world.args[0] = a;
        world.args[1] = b;
        uint64_t got = world_run(0);
        if (expected(op, a, b, &want)) {
            assert_int_equal(world.context.fault.kind, DIF_FAULT_NONE);
            assert_int_equal(got, want);
        } else {
            assert_fault(DIF_FAULT_DIVZERO, 2, 0);
        }
    }
}

static void test_arithmetic(void **state)
{
    static const struct {
        const char *name, *format;
    } ops[] = {
#define DIF_OP(number, name, format, doc) [number] = {#name, #format},
#include "trace/dtrace/opcodes.def"
    };

    (void)state;
    for (uint32_t op = 1; op <= DIF_OP_MAX; op++) {
        if (strcmp(ops[op].format, "RRR") == 0) {
            check_rrr(ops[op].name, op);
        }
    }
    assert_int_equal(run("setx 5 r1; not r1 r2; ret r2"), ~5ull);
    assert_int_equal(run("setx 5 r1; mov r1 r2; ret r2"), 5);
    assert_int_equal(run("mov r0 r2; ret r2"), 0);
    assert_int_equal(run("ret r0"), 0);
    assert_int_equal(run("ret r7"), 0); /* registers begin as 0 */
    assert_int_equal(run("setx 0xfedcba9876543210 r7; nop; ret r7"), 0xfedcba9876543210);
}

static bool taken(uint32_t op, uint64_t a, uint64_t b)
{
    int64_t sa = (int64_t)a, sb = (int64_t)b;

    switch (op) {
    case DIF_OP_ba:
        return true;
    case DIF_OP_be:
        return a == b;
    case DIF_OP_bne:
        return a != b;
    case DIF_OP_bg:
        return sa > sb;
    case DIF_OP_bgu:
        return a > b;
    case DIF_OP_bge:
        return sa >= sb;
    case DIF_OP_bgeu:
        return a >= b;
    case DIF_OP_bl:
        return sa < sb;
    case DIF_OP_blu:
        return a < b;
    case DIF_OP_ble:
        return sa <= sb;
    default:
        return a <= b;
    }
}

static void check_branch(uint32_t op, const char *compare, bool test)
{
    char text[256];

    snprintf(text, sizeof(text),
             "ldgs arg0 r1; ldgs arg1 r2; setx 1 r3; %s; word 0x%x; setx 0 r3; ret r3; nop; ret r3",
             compare, DIF_BRANCH(op, 7));
    world_load(text, NULL);
    for (unsigned i = 0; i < EDGES * EDGES; i++) {
        uint64_t a = edges[i / EDGES], b = test ? 0 : edges[i % EDGES];
        world.args[0] = a;
        world.args[1] = b;
        assert_int_equal(world_run(0), taken(op, a, b));
    }
}

static void test_branches(void **state)
{
    (void)state;
    for (uint32_t op = DIF_OP_ba; op <= DIF_OP_bleu; op++) {
        check_branch(op, "cmp r1 r2", false);
        check_branch(op, "tst r1", true);
    }
    /* Before any comparison both sides are 0. */
    assert_int_equal(run("be l; setx 1 r1; l: ret r1"), 0);
}

static int sign(const char *a, const char *b)
{
    char text[512];
    const char *const branches[] = {"bl", "be", "bg"};
    int result = 9;

    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof(text),
                 "%s%s%s r1; %s%s%s r2; scmp r1 r2; setx 1 r3; %s l; setx 0 r3; l: ret r3",
                 a ? "sets \"" : "setx ", a ? a : "0", a ? "\"" : "", b ? "sets \"" : "setx ",
                 b ? b : "0", b ? "\"" : "", branches[i]);
        if (run(text)) {
            assert_int_equal(result, 9);
            result = i - 1;
        }
    }
    return result;
}

static void test_scmp(void **state)
{
    (void)state;
    assert_int_equal(sign("abc", "abc"), 0);
    assert_int_equal(sign("abc", "abd"), -1);
    assert_int_equal(sign("abd", "abc"), 1);
    assert_int_equal(sign("ab", "abc"), -1);
    assert_int_equal(sign("", "a"), -1);
    assert_int_equal(sign("\\xff", "a"), 1); /* bytes are unsigned */
    assert_int_equal(sign(NULL, ""), 0);
    assert_int_equal(sign("", NULL), 0);
    assert_int_equal(sign(NULL, NULL), 0);
    assert_int_equal(sign(NULL, "a"), -1);
    assert_int_equal(sign("a", NULL), 1);
    world_strsize(3);
    assert_int_equal(sign("abcd", "abce"), 0); /* no further than strsize */
    assert_int_equal(sign("abd", "abc"), 1);
    world_strsize(64);
    run_faults("sets \"a\" r1; setx 64 r2; scmp r1 r2; ret r0", DIF_FAULT_BADADDR, 2, 64);
    run_faults("setx 0x123456 r1; scmp r1 r0; ret r0", DIF_FAULT_BADADDR, 1, 0x123456);
}

static void test_loads(void **state)
{
    static const uint8_t memory[8] = {0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    static const struct {
        const char *name;
        uint64_t value;
    } loads[] = {
        {"ldsb", 0xffffffffffffff88},
        {"ldsh", 0xffffffffffff9988},
        {"ldsw", 0xffffffffbbaa9988},
        {"ldub", 0x88},
        {"lduh", 0x9988},
        {"lduw", 0xbbaa9988},
        {"ldx", 0xffeeddccbbaa9988},
    };
    char text[128];

    (void)state;
    for (unsigned i = 0; i < 21; i++) {
        const char *const prefix[] = {"", "u", "r"};
        bool user = i / 7 == 1, own = i / 7 == 2;
        snprintf(text, sizeof(text), "ldgs arg0 r1; %s%s r1 r2; ret r2", prefix[i / 7],
                 loads[i % 7].name);
        world_load(text, NULL);
        world.args[0] = (uintptr_t)memory;
        world_run(0); /* not mapped yet */
        assert_fault(own ? DIF_FAULT_KPRIV : DIF_FAULT_BADADDR, 1, (uintptr_t)memory);
        fake_map(memory, sizeof(memory), !user, user);
        uint64_t got = world_run(0);
        if (own) {
            assert_fault(DIF_FAULT_KPRIV, 1, (uintptr_t)memory);
        } else {
            assert_int_equal(world.context.fault.kind, DIF_FAULT_NONE);
            assert_int_equal(got, loads[i % 7].value);
        }
        fake.nmaps = 0;
    }
    assert_int_equal(run("sets \"\\x88\\x99\\xaa\\xbb\" r1; rlduw r1 r2; ret r2"), 0xbbaa9988);
    assert_int_equal(run("sets \"\\x88\\x99\\xaa\\xbb\" r1; rldsh r1 r2; ret r2"),
                     0xffffffffffff9988);
}

static void test_stores(void **state)
{
    static const char *const stores[] = {"stb", "sth", "stw", "stx"};
    char text[256];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t mask = i == 3 ? UINT64_MAX : (1ull << (8 << i)) - 1;
        snprintf(text, sizeof(text),
                 "setx 8 r1; allocs r1 r2; not r0 r3; stx r3 r2; setx 0x1122334455667788 r3; "
                 "%s r3 r2; ldx r2 r4; ret r4",
                 stores[i]);
        assert_int_equal(run(text), (0x1122334455667788 & mask) | ~mask);
        snprintf(text, sizeof(text), "setx 0x5000 r1; %s r0 r1; ret r0", stores[i]);
        run_faults(text, DIF_FAULT_BADADDR, 1, 0x5000);
    }
}

static void test_copys(void **state)
{
    (void)state;
    assert_string_equal(run_string("setx 8 r1; allocs r1 r2; sets \"hello\" r3; setx 3 r4;"
                                   "copys r3 r4 r2; result string; ret r2"),
                        "hel");
    assert_int_equal(run("copys r0 r0 r1; ret r0"), 0); /* nothing is nowhere */
    run_faults("setx 8 r1; allocs r1 r2; sets \"hello\" r3; setx 9 r4; copys r3 r4 r2; ret r0",
               DIF_FAULT_BADADDR, 4, (uintptr_t)fake_scratch);
    run_faults("setx 8 r1; allocs r1 r2; setx 64 r3; copys r3 r1 r2; ret r0", DIF_FAULT_BADADDR, 3,
               64);
    world_load("ldgs arg0 r3; setx 8 r1; allocs r1 r2; setx 0xffffffffffffffff r4;"
               "copys r3 r4 r2; ret r0",
               NULL);
    world_run(0);
    assert_fault(DIF_FAULT_BADADDR, 4, (uintptr_t)fake_scratch);
}

static void test_allocs(void **state)
{
    (void)state;
    assert_int_equal(run("setx 24 r1; allocs r1 r2; ldx r2 r3; ret r3"), 0); /* of zeros */
    assert_int_equal(run("setx 3 r1; allocs r1 r2; allocs r1 r3; sub r3 r2 r3; ret r3"), 8);
    assert_int_equal(run("allocs r0 r2; allocs r0 r3; sub r3 r2 r3; ret r3"), 0);
    run_faults("setx 4097 r1; allocs r1 r2; ret r2", DIF_FAULT_NOSCRATCH, 1, 0);
    run_faults("setx 0xffffffffffffffff r1; allocs r1 r2; ret r2", DIF_FAULT_NOSCRATCH, 1, 0);
    run_faults("setx 4090 r1; allocs r1 r2; setx 8 r1; allocs r1 r2; ret r2", DIF_FAULT_NOSCRATCH,
               3, 0);
    assert_int_not_equal(run("setx 4096 r1; allocs r1 r2; ret r2"), 0);
    world_scratch(0);
    run_faults("setx 1 r1; allocs r1 r2; ret r2", DIF_FAULT_NOSCRATCH, 1, 0);
    world_scratch(WORLD_SCRATCH);
}

static void push_n(char *text, unsigned n, const char *push, const char *then)
{
    text[0] = '\0';
    for (unsigned i = 0; i < n; i++) {
        strcat(text, push);
        strcat(text, ";");
    }
    strcat(text, then);
}

static void test_tuple(void **state)
{
    char text[512];

    (void)state;
    push_n(text, 8, "pushtv r0", "ret r0");
    assert_int_equal(run(text), 0);
    push_n(text, 9, "pushtv r0", "ret r0");
    run_faults(text, DIF_FAULT_TUPOFLOW, 8, 0);
    push_n(text, 9, "pushtr ctf r0 r0", "ret r0");
    run_faults(text, DIF_FAULT_TUPOFLOW, 8, 0);
    push_n(text, 8, "pushtv r0", "popts; pushtv r0; flushts; pushtv r0; ret r0");
    assert_int_equal(run(text), 0);
    push_n(text, 9, "popts", "pushtv r0; ret r0"); /* below nothing there is nothing */
    assert_int_equal(run(text), 0);
    assert_int_equal(world.context.nkeys, 1);
    /* What one object pushed is not there for the next. */
    world_load("pushtv r0; ret r0", "call strlen r1; ret r1", NULL);
    world_run(0);
    world_go_on(1);
    assert_fault(DIF_FAULT_ILLOP, 0, 0);
}

static void test_push(void **state)
{
    (void)state;
    run("sets \"hello\" r1; pushtr string r0 r1; ret r0");
    assert_int_equal(world.context.keys[0].size, 5);
    assert_true(world.context.keys[0].ref && world.context.keys[0].string);
    run("sets \"hello\" r1; setx 3 r2; pushtr string r2 r1; ret r0");
    assert_int_equal(world.context.keys[0].size, 3);
    world_strsize(4);
    run("sets \"hello\" r1; setx 9 r2; pushtr string r2 r1; ret r0");
    assert_int_equal(world.context.keys[0].size, 4);
    run("setx 9 r2; pushtr ctf r2 r0; ret r0"); /* not read yet */
    assert_int_equal(world.context.keys[0].size, 9);
    assert_false(world.context.keys[0].string);
    run_faults("pushtr string r0 r0; ret r0", DIF_FAULT_BADADDR, 0, 0);
    run_faults("setx 0x4001 r2; pushtr ctf r2 r0; ret r0", DIF_FAULT_ILLOP, 1, 0);
    run_faults("not r0 r2; pushtr ctf r2 r0; ret r0", DIF_FAULT_ILLOP, 1, 0);
}

/* Nothing after a fault is done; the next clause begins without it. */
static void test_fault(void **state)
{
    (void)state;
    world_load("var x global scalar value 8; setx 1 r1; stgs x r1; ldub r0 r2; setx 2 r1;"
               "stgs x r1; ret r1",
               "var x global scalar value 8; ldgs x r1; ret r1", NULL);
    assert_int_equal(world_run(0), 0);
    assert_fault(DIF_FAULT_BADADDR, 2, 0);
    assert_int_equal(world_run(1), 1);
    run_faults("ldta args r0 r1; ret r1", DIF_FAULT_ILLOP, 0, 0);
    run_faults("nop; call 1 r1; ret r1", DIF_FAULT_ILLOP, 1, 0);
}

/* As long as an object can be: labels reach its end. */
static void test_long(void **state)
{
    static char text[ASM_TEXT * 8];

    (void)state;
    strcpy(text, "ba end");
    for (unsigned i = 0; i < ASM_TEXT - 3; i++) {
        strcat(text, ";nop");
    }
    strcat(text, ";setx 1 r1;end: ret r1");
    assert_int_equal(run(text), 0);
}

/* The short way gives the same, and is only taken where it may be. */
static void test_eval(void **state)
{
    static const struct {
        const char *text;
        bool short_way;
        uint64_t value;
    } table[] = {
        {"ldgs arg0 r1; ret r1", true, 10},       {"ldgs arg4 r7; ret r7", true, 14},
        {"ldgs arg5 r1; ret r1", false, 1005},    {"ldgs arg0 r1; ret r2", false, 0},
        {"ldgs arg0 r1; nop; ret r1", false, 10}, {"ldgs id r1; ret r1", false, 17},
        {"ldgs arg0 r1; ret r0", false, 0},       {"ret r0", false, 0},
        {"setx 5 r1; ret r1", false, 5},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        world_load(table[i].text, NULL);
        const struct dtrace_object *o = &world.code.objects[0];
        assert_int_equal(!!(o->flags & DTRACE_OBJECT_ARG), table[i].short_way);
        assert_int_equal(world_run(0), table[i].value);
        assert_int_equal(dtrace_eval(&world.context, o), table[i].value);
        bool builtin =
            strstr(table[i].text, "id r1; ret r1") || strstr(table[i].text, "arg5 r1; ret");
        assert_int_equal(!!(o->flags & DTRACE_OBJECT_BUILTIN), builtin);
    }
}

/* Loading makes `mov` before a return into the return: only if it is of the same register, and
 * whoever comes to the return otherwise has its value. */
static void test_ends(void **state)
{
    (void)state;
    assert_int_equal(run("setx 7 r1; setx 8 r2; mov r1 r2; ret r2"), 7);
    assert_int_equal(run("setx 7 r1; setx 8 r2; mov r1 r2; ret r1"), 7);
    assert_int_equal(run("setx 7 r1; setx 8 r2; mov r1 r3; ret r2"), 8);
    assert_int_equal(run("setx 7 r1; setx 8 r2; mov r1 r2; ba l; setx 9 r2; l: ret r2"), 7);
    assert_int_equal(run("setx 7 r1; setx 8 r2; mov r1 r3; ba l; setx 9 r2; l: ret r2"), 8);
    assert_int_equal(run("setx 7 r1; mov r1 r2; mov r2 r3; mov r3 r4; ret r4"), 7);
    assert_int_equal(run("setx 7 r1; mov r1 r2; ba l; nop; l: mov r0 r2; ret r2"), 0);
    assert_int_equal(run("setx 7 r1; cmp r1 r0; bne l; setx 9 r1; mov r0 r1; l: ret r1"), 7);
    assert_int_equal(run("setx 7 r1; cmp r1 r0; bne l; ba l; l: mov r1 r2; ret r2"), 7);
    assert_int_equal(run("ldgs arg0 r1; mov r1 r2; ret r2"), run("ldgs arg0 r1; ret r1"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        T(test_arithmetic), T(test_branches), T(test_scmp),  T(test_loads), T(test_stores),
        T(test_copys),      T(test_allocs),   T(test_tuple), T(test_push),  T(test_fault),
        T(test_long),       T(test_eval),     T(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
