/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/fbt: each class of instruction of both CPUs, functions made for a reason to leave something
 * out, and random code, of which every probe found must keep the rules. SEED=<n> repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/fbt/scan.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define AT 0x1000u

struct golden {
    uint32_t insn; /* Thumb: the first half word is the lower one */
    enum fbt_kind kind;
    unsigned length;
    uint64_t target; /* 0: none */
};

static const struct golden a64[] = {
    {0xd65f03c0, FBT_RETURN, 4, 0},       /* ret */
    {0xd65f0200, FBT_RETURN, 4, 0},       /* ret x16 */
    {0xa9be7bfd, FBT_PLAIN, 4, 0},        /* stp x29, x30, [sp, #-32]! */
    {0xd503201f, FBT_PLAIN, 4, 0},        /* nop */
    {0xd538d080, FBT_PLAIN, 4, 0},        /* mrs x0, tpidr_el1 */
    {0x14000002, FBT_BRANCH, 4, AT + 8},  /* b */
    {0x17ffffff, FBT_BRANCH, 4, AT - 4},  /* b */
    {0x94000004, FBT_CALL, 4, AT + 16},   /* bl */
    {0xd63f0000, FBT_CALL, 4, 0},         /* blr x0 */
    {0xd61f0000, FBT_INDIRECT, 4, 0},     /* br x0 */
    {0x54000040, FBT_SHIFTED, 4, AT + 8}, /* b.eq */
    {0xb4000040, FBT_SHIFTED, 4, AT + 8}, /* cbz x0 */
    {0x35ffffe1, FBT_SHIFTED, 4, AT - 4}, /* cbnz w1 */
    {0x36000040, FBT_BRANCH, 4, AT + 8},  /* tbz w0, #0 */
    {0xb7ffffe0, FBT_BRANCH, 4, AT - 4},  /* tbnz x0, #63 */
    {0x90000000, FBT_SHIFTED, 4, 0},      /* adrp */
    {0x10000000, FBT_SHIFTED, 4, 0},      /* adr */
    {0x58000040, FBT_RELATIVE, 4, 0},     /* ldr x0, literal */
    {0x98000040, FBT_RELATIVE, 4, 0},     /* ldrsw x0, literal */
    {0xd4000001, FBT_STOP, 4, 0},         /* svc */
    {0xd69f03e0, FBT_STOP, 4, 0},         /* eret */
    {0x00000000, FBT_STOP, 4, 0},         /* udf */
};

static const struct golden thumb[] = {
    {0x4770, FBT_RETURN, 2, 0},       /* bx lr */
    {0xbd10, FBT_RETURN, 2, 0},       /* pop {r4, pc} */
    {0x81f0e8bd, FBT_RETURN, 4, 0},   /* ldmia.w sp!, {r4-r8, pc} */
    {0xfb04f85d, FBT_RETURN, 4, 0},   /* ldr.w pc, [sp], #4 */
    {0x46f7, FBT_RETURN, 2, 0},       /* mov pc, lr */
    {0xb510, FBT_PLAIN, 2, 0},        /* push {r4, lr} */
    {0x41f0e92d, FBT_PLAIN, 4, 0},    /* stmdb sp!, {r4-r8, lr} */
    {0x41f0e8bd, FBT_PLAIN, 4, 0},    /* ldmia.w sp!, {r4-r8, lr} */
    {0x4605, FBT_PLAIN, 2, 0},        /* mov r5, r0 */
    {0x8000f3af, FBT_PLAIN, 4, 0},    /* nop.w */
    {0x8310f3ef, FBT_PLAIN, 4, 0},    /* mrs r3, primask */
    {0x4708, FBT_INDIRECT, 2, 0},     /* bx r1 */
    {0x4788, FBT_CALL, 2, 0},         /* blx r1 */
    {0x4687, FBT_INDIRECT, 2, 0},     /* mov pc, r0 */
    {0xf000f8df, FBT_INDIRECT, 4, 0}, /* ldr.w pc, literal */
    {0x4478, FBT_RELATIVE, 2, 0},     /* add r0, pc */
    {0x4b01, FBT_SHIFTED, 2, 0},      /* ldr r3, literal */
    {0x3004f8df, FBT_RELATIVE, 4, 0}, /* ldr.w r3, literal */
    {0x2300e9df, FBT_RELATIVE, 4, 0}, /* ldrd r2, r3, literal */
    {0xa001, FBT_RELATIVE, 2, 0},     /* adr r0 */
    {0x0004f20f, FBT_RELATIVE, 4, 0}, /* adr.w r0 */
    {0xb110, FBT_BRANCH, 2, AT + 8},  /* cbz r0 */
    {0xb910, FBT_BRANCH, 2, AT + 8},  /* cbnz r0 */
    {0xd0fe, FBT_BRANCH, 2, AT},      /* beq . */
    {0xe7fe, FBT_BRANCH, 2, AT},      /* b . */
    {0xbffef7ff, FBT_BRANCH, 4, AT},  /* b.w . */
    {0xaffef43f, FBT_BRANCH, 4, AT},  /* beq.w . */
    {0xfffef7ff, FBT_CALL, 4, AT},    /* bl . */
    {0xf000e8df, FBT_TABLE, 4, 0},    /* tbb [pc, r0] */
    {0xf010e8df, FBT_TABLE, 4, 0},    /* tbh [pc, r0, lsl #1] */
    {0xbf08, FBT_IT, 2, 0},           /* it eq */
    {0xbf00, FBT_PLAIN, 2, 0},        /* nop */
    {0xbe00, FBT_STOP, 2, 0},         /* bkpt */
    {0xde00, FBT_STOP, 2, 0},         /* udf */
    {0xdf00, FBT_STOP, 2, 0},         /* svc */
};

static void check_golden(const struct golden *g, bool is_thumb)
{
    uint8_t bytes[4];

    memcpy(bytes, &g->insn, sizeof(bytes));
    struct fbt_insn i = is_thumb ? fbt_thumb_decode(bytes, 4, AT) : fbt_a64_decode(bytes, 4, AT);
    if (i.kind != g->kind || i.length != g->length || i.has_target != (g->target != 0) ||
        (g->target && i.target != g->target)) {
        fail_msg("%s %08x: kind %d, length %d, target %llx", is_thumb ? "Thumb" : "A64",
                 (unsigned)g->insn, (int)i.kind, i.length, (unsigned long long)i.target);
    }
}

static void t_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(a64); i++) {
        check_golden(&a64[i], false);
    }
    for (size_t i = 0; i < COUNT(thumb); i++) {
        check_golden(&thumb[i], true);
    }
}

/* ---- functions ---------------------------------------------------------------------------------
 */

enum { HALVES_MAX = 64 };

static struct fbt_function scan(const uint16_t *code, size_t halves, bool is_thumb)
{
    uint8_t marks[HALVES_MAX + 1] = {0};
    struct fbt_text t = {(const uint8_t *)code, AT, halves * 2, is_thumb, marks};
    struct fbt_function f = {.name = "f", .at = AT, .size = halves * 2};

    fbt_text_mark(&t);
    fbt_scan(&t, &f);
    return f;
}
#define SCAN(is_thumb, ...) \
    scan((const uint16_t[]){__VA_ARGS__}, COUNT(((const uint16_t[]){__VA_ARGS__})), is_thumb)

static void t_functions(void **state)
{
    (void)state;
    /* push {r4, lr}; mov r4, r0; nop; mov r0, r4; pop {r4, pc} */
    struct fbt_function f = SCAN(true, 0xb510, 0x4604, 0xbf00, 0x4620, 0xbd10);
    assert_int_equal(f.entry, 4);
    assert_int_equal(f.nreturns, 1);
    assert_int_equal(f.returns[0].at, AT + 6);
    assert_int_equal(f.returns[0].insn, AT + 8);
    assert_int_equal(f.returns[0].length, 4);
    /* cbz r0 to the instruction before the pop; to the pop: then no branch may lie across it */
    f = SCAN(true, 0xb510, 0x4604, 0xb100, 0xbf00, 0x4620, 0xbd10);
    assert_int_equal(f.nreturns, 1);
    f = SCAN(true, 0xb510, 0x4604, 0xb108, 0xbf00, 0x4620, 0xbd10);
    assert_int_equal(f.nreturns, 0);
    /* a branch to the second instruction; to the first */
    f = SCAN(true, 0xb510, 0x4604, 0xd0fd, 0x4620, 0xbd10);
    assert_int_equal(f.entry, 0);
    f = SCAN(true, 0x4604, 0x4605, 0xd0fc, 0x4620, 0x4770);
    assert_int_equal(f.entry, 0);
    /* movs r0, #0; bx lr: the entry only, they overlap */
    f = SCAN(true, 0x2000, 0x4770);
    assert_int_equal(f.entry, 4);
    assert_int_equal(f.nreturns, 0);
    /* it eq; bxeq lr */
    f = SCAN(true, 0xb510, 0x4604, 0xbf08, 0x4770, 0x4620, 0xbd10);
    assert_int_equal(f.nreturns, 0);
    /* A64: nop; ret. Then cbnz to the start. */
    f = SCAN(false, 0x201f, 0xd503, 0x03c0, 0xd65f);
    assert_int_equal(f.entry, 4);
    assert_int_equal(f.nreturns, 1);
    f = SCAN(false, 0x201f, 0xd503, 0xffe0, 0xb5ff, 0x03c0, 0xd65f);
    assert_int_equal(f.entry, 0);
    assert_int_equal(f.nreturns, 1);
}

/* ---- random code -------------------------------------------------------------------------------
 */

static void check_rules(const struct fbt_function *f, const struct fbt_text *t)
{
    uint64_t end = f->at + f->entry;

    for (uint64_t at = f->at + 2; at < end; at += 2) {
        struct fbt_insn first = fbt_decode_at(t, f->at);
        assert_false(at == f->at + first.length && fbt_marked(t, at, FBT_MARK_TARGET));
    }
    for (unsigned i = 0; i < f->nreturns; i++) {
        const struct fbt_return *r = &f->returns[i];
        struct fbt_insn insn = fbt_decode_at(t, r->insn);
        assert_int_equal(insn.kind, FBT_RETURN);
        assert_int_equal(r->at + r->length, r->insn + insn.length);
        assert_true(r->at >= end && r->length >= 4 && r->length <= 6);
        assert_true(r->at == r->insn || !fbt_marked(t, r->insn, FBT_MARK_TARGET));
        end = r->at + r->length;
    }
}

static void t_random(void **state)
{
    const char *text = getenv("SEED");
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 1, found = 0;

    (void)state;
    print_message("SEED=%u\n", seed);
    srandom(seed);
    for (unsigned run = 0; run < 200000; run++) {
        uint16_t code[HALVES_MAX];
        uint8_t marks[HALVES_MAX + 1] = {0};
        bool is_thumb = run % 2;
        for (unsigned i = 0; i < HALVES_MAX; i++) {
            code[i] = (uint16_t)random();
            if (random() % 8 == 0) {
                code[i] = is_thumb ? (random() % 2 ? 0xbd10 : 0x4770) : 0x201f;
            }
        }
        struct fbt_text t = {(const uint8_t *)code, AT, sizeof(code), is_thumb, marks};
        struct fbt_function f = {.name = "f", .at = AT, .size = sizeof(code)};
        fbt_text_mark(&t);
        fbt_scan(&t, &f);
        check_rules(&f, &t);
        found += (f.entry > 0) + f.nreturns;
    }
    assert_true(found > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(t_golden), cmocka_unit_test(t_functions),
                                       cmocka_unit_test(t_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
