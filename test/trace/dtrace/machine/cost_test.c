/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The static bound: the longest path, found a second time by trying all; what strings, copies and
 * subroutines count; the bytes of a record.
 */
#include "test/trace/dtrace/machine/world.h"

#include "trace/dtrace/code.h"
#include "trace/dtrace/cost.h"

#include <stdio.h>
#include <string.h>

static bool reads;
static const struct dtrace_cost_limits limits = {.weights = &dtrace_weights_steps,
                                                 .strsize = 100,
                                                 .scratch = 1000,
                                                 .element = 50,
                                                 .nspec = 3,
                                                 .reads = &reads};

static uint64_t steps(const char *text)
{
    static struct asm_object o;

    assemble(&o, text);
    return dtrace_cost_object(&o.object, &limits);
}

/* Sums and products stay at the largest amount, which is no bound; nothing times it is nothing. */
static void test_amounts(void **state)
{
    const dtrace_amount most = DTRACE_AMOUNT_MOST;
    struct dtrace_cost_sum sum = {.weights = &dtrace_weights_steps, .cost = most - 1};

    (void)state;
    assert_int_equal(dtrace_amount_sum(most - 1, 1), most);
    assert_int_equal(dtrace_amount_sum(most, most), most);
    assert_int_equal(dtrace_amount_product(most / 2, 2), most - 1);
    assert_int_equal(dtrace_amount_product(most / 2 + 1, 2), most);
    assert_int_equal(dtrace_amount_product(0, most), 0);
    assert_int_equal(dtrace_amount_least(UINT64_MAX, 7), 7);
    assert_int_equal(dtrace_amount_least(6, 7), 6);
    dtrace_cost_add(&sum, DTRACE_COST_ZERO, 1);
    assert_int_equal(sum.cost, most);
    dtrace_cost_add(&sum, DTRACE_COST_ZERO, 1);
    assert_int_equal(sum.cost, most);
}

static void test_paths(void **state)
{
    (void)state;
    assert_int_equal(steps("ret r0"), 1);
    assert_int_equal(steps("nop; nop; ret r0"), 3);
    assert_int_equal(steps("be l; nop; nop; l: ret r0"), 4);
    assert_int_equal(steps("ba l; nop; nop; l: ret r0"), 2); /* nobody gets there */
    assert_int_equal(steps("be l; ret r0; nop; l: nop; nop; ret r0"), 4);
    assert_int_equal(steps("be l; nop; nop; nop; ret r0; l: ret r0"), 5);
    assert_int_equal(steps("nop"), UINT64_MAX); /* isn't valid */
    assert_int_equal(steps("word 0; ret r0"), UINT64_MAX);
}

/* The longest path from here on, by trying all; every instruction is one step. */
static uint64_t longest(const struct dif_object *o, uint32_t at)
{
    uint32_t op = DIF_INSN_OP(o->text[at]), label = DIF_INSN_LABEL(o->text[at]);
    uint64_t a, b;

    if (op == DIF_OP_ret) {
        return 1;
    }
    if (op == DIF_OP_ba) {
        return 1 + longest(o, label);
    }
    a = 1 + longest(o, at + 1);
    b = op == DIF_OP_nop ? 0 : 1 + longest(o, label);
    return a > b ? a : b;
}

static void test_random_paths(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        static dif_insn text[24];
        struct dif_object o = {.text = text, .ntext = 24, .strings = "", .result = {.size = 8}};
        for (uint32_t at = 0; at < 23; at++) {
            static const uint8_t ops[] = {DIF_OP_nop, DIF_OP_nop, DIF_OP_be, DIF_OP_ba, DIF_OP_ret};
            seed = seed * 1103515245 + 12345;
            uint32_t op = ops[(seed >> 16) % 5], label = at + 1 + (seed >> 8) % (23 - at);
            text[at] =
                op == DIF_OP_be || op == DIF_OP_ba ? DIF_BRANCH(op, label) : DIF_RRR(op, 0, 0, 0);
        }
        text[23] = DIF_RRR(DIF_OP_ret, 0, 0, 0);
        assert_int_equal(dtrace_cost_object(&o, &limits), longest(&o, 0));
    }
}

static void test_costs(void **state)
{
    static const struct {
        const char *text;
        uint64_t steps;
    } table[] = {
        {"scmp r1 r2; ret r0", 2 + 100},
        {"pushtr string r0 r1; ret r0", 2 + 100},
        {"setx 7 r2; pushtr string r2 r1; ret r0", 3 + 7},
        {"pushtr string r0 r1; call strlen r1; ret r0", 3 + 100 + 100},
        {"call rand r1; ret r0", 2},
        {"pushtv r1; pushtv r1; call strjoin r1; ret r0", 4 + 200},
        {"pushtv r1; pushtv r1; call strstr r1; ret r0", 4 + 10000},
        {"setx 64 r1; pushtv r1; call alloca r1; ret r0", 4 + 64},
        {"setx 64000 r1; pushtv r1; call alloca r1; ret r0", 4 + 1000}, /* would fault */
        {"ldgs arg0 r1; pushtv r1; call alloca r1; ret r0", 4 + 1000},
        {"ldgs timestamp r1; pushtv r1; call alloca r1; ret r0", 4 + 1000},
        {"call speculation r1; ret r0", 2 + 3},
        {"pushtv r1; call lltostr r1; ret r0", 3 + 128},
        {"setx 5 r1; pushtv r2; pushtv r1; call copyin r1; ret r0", 5 + 5},
        {"setx 5 r1; pushtv r1; pushtv r2; call copyin r1; ret r0", 5 + 1000},
        {"setx 5 r1; pushtv r2; pushtv r2; pushtv r1; call bcopy r1; ret r0", 6 + 5},
        {"setx 5 r1; pushtv r2; pushtv r1; pushtv r2; call copyinto r1; ret r0", 6 + 5},
        {"pushtv r2; pushtv r2; pushtv r2; call copyout r1; ret r0", 5 + 65536},
        /* Where paths meet a constant isn't one; nor what was pushed before. */
        {"setx 5 r1; be l; setx 6 r1; l: pushtv r1; call alloca r1; ret r0", 6 + 1000},
        {"setx 5 r1; pushtv r1; be l; nop; l: call alloca r1; ret r0", 6 + 1000},
        {"setx 5 r1; pushtv r1; be l; nop; l: setx 6 r2; pushtv r2; call alloca r1; ret r0",
         8 + 1000},
        {"be l; nop; l: flushts; setx 6 r2; pushtv r2; call alloca r1; ret r0", 7 + 6},
        {"setx 5 r1; mov r2 r1; pushtv r1; call alloca r1; ret r0", 5 + 1000},
        {"setx 9 r1; pushtv r0; popts; pushtv r1; call alloca r1; ret r0", 6 + 9},
        {"setx 48 r1; allocs r1 r2; ret r0", 3 + 48},
        {"allocs r1 r2; ret r0", 2 + 1000},
        {"setx 48 r1; copys r2 r1 r3; ret r0", 3 + 48},
        {"copys r2 r1 r3; ret r0", 2 + 16384 + 1000 + 50},
        {"var s global scalar string; stgs s r1; ldgs s r1; ret r0", 3 + 100},
        {"var s local scalar ref 24; stls s r1; ldls s r1; ret r0", 3 + 24},
        {"var s thread scalar value 8; stts s r1; ldts s r1; ret r0", 3 + 2 * 32 + 16},
        {"var s thread scalar ref 24; stts s r1; ret r0", 2 + 32 + 16 + 2 * 24},
        {"ldgs probename r1; ret r0", 2 + 100},
        {"ldgs ustackdepth r1; ldgs caller r1; ret r0", 3 + 128 + 98},
        {"var a global array value 8; pushtv r1; pushtv r1; ldgaa a r1; ret r0", 4 + 32 + 8 * 16},
        {"var a global array value 8; pushtr string r0 r1; stgaa a r1; ret r0",
         3 + 100 + 32 + 8 * 100 + 16},
        {"var a global array string; pushtv r1; stgaa a r1; ret r0", 3 + 32 + 8 * 8 + 16 + 2 * 100},
        {"var a global array value 8; pushtv r1; be l; flushts; l: ldgaa a r1; ret r0",
         5 + 32 + 8 * 8},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        uint64_t got = steps(table[i].text);
        if (got != table[i].steps) {
            fail_msg("%s: %llu, not %llu", table[i].text, (unsigned long long)got,
                     (unsigned long long)table[i].steps);
        }
    }
}

enum { AGG = 2 * 48 + 160 }; /* an aggregation's chain, and its function */

static struct dtrace_cost cost_of(uint32_t ecb)
{
    struct dtrace_image *image = image_end(&world.image);
    struct dtrace_refusal refusal;

    assert_int_equal(dtrace_image_check(image, world.image.size, &refusal), 0);
    return dtrace_ecb_cost(image, ecb, 100);
}

static void test_clauses(void **state)
{
    struct image_builder *b = &world.image;

    (void)state;
    image_begin(b);
    uint32_t three = image_object(b, "nop; nop; ret r0");
    uint32_t text = image_object(b, "result string; sets \"a\" r1; ret r1");
    uint32_t byte = image_object(b, "result value 1; ret r0");
    uint32_t nothing = image_object(b, "result value 0; ret r0");
    image_ecb(b, 0);     /* 0: { } */
    image_ecb(b, three); /* 1: a value after a predicate */
    image_action(b, DTRACE_ACT_DIFEXPR, three);
    image_ecb(b, 0); /* 2: exit */
    image_action(b, DTRACE_ACT_EXIT, byte);
    image_ecb(b, 0); /* 3: a byte, a value at 16, a string */
    image_action(b, DTRACE_ACT_DIFEXPR, byte);
    image_action(b, DTRACE_ACT_DIFEXPR, three);
    image_action(b, DTRACE_ACT_DIFEXPR, text);
    image_ecb(b, 0); /* 4: an aggregation alone */
    image_action(b, DTRACE_ACT_DIFEXPR, text);
    image_action(b, DTRACE_ACT_DIFEXPR, three);
    image_action(b, DTRACE_AGG_SUM, three)->nkeys = 2;
    image_ecb(b, 0); /* 5: only an assignment */
    image_action(b, DTRACE_ACT_DIFEXPR, nothing);
    image_ecb(b, 0); /* 6: a key is no datum, what is before it is */
    image_action(b, DTRACE_ACT_DIFEXPR, text);
    image_action(b, DTRACE_ACT_DIFEXPR, three);
    image_action(b, DTRACE_AGG_SUM, three)->nkeys = 1;
    image_action(b, DTRACE_ACT_DIFEXPR, byte);
    image_ecb(b, 0); /* 7: printf without arguments */
    image_action(b, DTRACE_ACT_PRINTF, 0);
    image_ecb(b, 0); /* 8: commit */
    image_action(b, DTRACE_ACT_COMMIT, three);
    image_option(b, DTRACE_OPT_SPECSIZE, 2048);
    static const struct dtrace_cost want[] = {
        {0, 12},
        {3 + 3 + 9, 24},
        {1 + 5, 16},
        {1 + 2 + 3 + 2 + 9 + 101, 12 + 1 + 3 + 8 + 100},
        {2 + 101 + 3 + 9 + 3 + 1 + AGG + 8 + 6 * 108, 0},
        {1 + 1, 0},
        {2 + 101 + 3 + 9 + 3 + 1 + AGG + 8 + 6 * 8 + 1 + 2, 12 + 100 + 1},
        {1, 12},
        {3 + 1 + 2048, 0},
    };
    for (uint32_t e = 0; e < sizeof(want) / sizeof(want[0]); e++) {
        struct dtrace_cost got = cost_of(e);
        if (got.steps != want[e].steps || got.record != want[e].record) {
            fail_msg("clause %u: %llu steps, %u bytes", e, (unsigned long long)got.steps,
                     got.record);
        }
    }
}

/* Scratch is bufsize; sums saturate. */
static void test_limits(void **state)
{
    struct image_builder *b = &world.image;

    (void)state;
    image_begin(b);
    image_option(b, DTRACE_OPT_BUFSIZE, 512);
    uint32_t object = image_object(b, "result value 0; allocs r1 r2; ret r0");
    image_ecb(b, 0);
    image_action(b, DTRACE_ACT_DIFEXPR, object);
    assert_int_equal(cost_of(0).steps, 2 + 512 + 1);
    b->options[0].value = UINT64_MAX;
    assert_int_equal(cost_of(0).steps, UINT64_MAX);
    image_begin(b);
    object = image_object(b, "ret r0");
    image_ecb(b, 0);
    for (unsigned i = 0; i < 8; i++) {
        image_action(b, DTRACE_ACT_TRACEMEM, object)->arg = UINT64_MAX;
    }
    assert_int_equal(cost_of(0).record, UINT32_MAX);
}

/* What a subroutine's bytes are is its argument of type size_t. */
static void test_sizes(void **state)
{
    static const struct {
        const char *args, *cost;
    } subrs[] = {
#define DIF_SUBR(number, name, result, args, cost, doc) {args, #cost},
#include "trace/dtrace/opcodes.def"
    };
    unsigned sized = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(subrs) / sizeof(*subrs); i++) {
        if (strncmp(subrs[i].cost, "SIZE", 4) != 0) {
            continue;
        }
        const char *size = strstr(subrs[i].args, "size_t");
        assert_non_null(size);
        unsigned before = 0;
        for (const char *at = subrs[i].args; at < size; at++) {
            before += *at == ',';
        }
        assert_int_equal(before, subrs[i].cost[4] - '0');
        sized++;
    }
    assert_true(sized > 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        T(test_paths),  T(test_random_paths), T(test_costs),   T(test_clauses),
        T(test_limits), T(test_sizes),        T(test_amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
