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
    {0xd61f0200, FBT_INDIRECT, 4, 0},     /* br x16 */
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
    {0xa001, FBT_SHIFTED, 2, 0},      /* adr r0 */
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

static const struct {
    uint8_t bytes[12];
    enum fbt_kind kind;
    unsigned length;
    uint64_t target;
} x86[] = {
    {{0xc3}, FBT_RETURN, 1, 0},
    {{0xf3, 0xc3}, FBT_RETURN, 2, 0},                              /* rep ret */
    {{0x55}, FBT_PLAIN, 1, 0},                                     /* push rbp */
    {{0x41, 0x57}, FBT_PLAIN, 2, 0},                               /* push r15 */
    {{0x48, 0x83, 0xec, 0x18}, FBT_PLAIN, 4, 0},                   /* sub $24, rsp */
    {{0x48, 0x8b, 0x44, 0x24, 0x08}, FBT_PLAIN, 5, 0},             /* mov 8(rsp), rax */
    {{0x48, 0x8b, 0x05, 1, 0, 0, 0}, FBT_SHIFTED, 7, 0},           /* mov 1(rip), rax */
    {{0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, FBT_PLAIN, 9, 0}, /* mov gs:0, rax */
    {{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, FBT_PLAIN, 10, 0},      /* movabs */
    {{0x66, 0xb8, 1, 2}, FBT_PLAIN, 4, 0},                         /* mov $513, ax */
    {{0xf7, 0xc7, 1, 0, 0, 0}, FBT_PLAIN, 6, 0},                   /* test $1, edi */
    {{0xf7, 0xdf}, FBT_PLAIN, 2, 0},                               /* neg edi */
    {{0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0}, FBT_PLAIN, 8, 0},       /* nop */
    {{0xf3, 0x0f, 0x1e, 0xfa}, FBT_PLAIN, 4, 0},                   /* endbr64 */
    {{0xe8, 0xfb, 0xff, 0xff, 0xff}, FBT_CALL, 5, AT},             /* call . */
    {{0xe9, 3, 0, 0, 0}, FBT_BRANCH, 5, AT + 8},                   /* jmp */
    {{0xeb, 0xfe}, FBT_BRANCH, 2, AT},                             /* jmp . */
    {{0x74, 0x06}, FBT_SHIFTED, 2, AT + 8},                        /* je */
    {{0x0f, 0x85, 2, 0, 0, 0}, FBT_SHIFTED, 6, AT + 8},            /* jne */
    {{0xe3, 0x06}, FBT_BRANCH, 2, AT + 8},                         /* jrcxz */
    {{0xff, 0xe0}, FBT_INDIRECT, 2, 0},                            /* jmp *rax */
    {{0xff, 0x24, 0xc5, 0, 0, 0, 0}, FBT_INDIRECT, 7, 0},          /* jmp *0(, rax, 8) */
    {{0xff, 0xd0}, FBT_CALL, 2, 0},                                /* call *rax */
    {{0x0f, 0x0b}, FBT_STOP, 2, 0},                                /* ud2 */
    {{0xcc}, FBT_STOP, 1, 0},                                      /* int3 */
    {{0xc5, 0xf8, 0x77}, FBT_STOP, 1, 0},                          /* vzeroupper: unknown */
    {{0x0f, 0x38, 0xf0, 0x07}, FBT_STOP, 1, 0},                    /* movbe: unknown */
};

static void t_golden_x86(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(x86); i++) {
        struct fbt_insn got = fbt_x86_decode(x86[i].bytes, sizeof(x86[i].bytes), AT);
        struct fbt_insn cut = fbt_x86_decode(x86[i].bytes, x86[i].length - 1, AT);
        if (got.kind != x86[i].kind || got.length != x86[i].length ||
            got.has_target != (x86[i].target != 0) ||
            (x86[i].target && got.target != x86[i].target)) {
            fail_msg("x86-64, case %zu: kind %d, length %d, target %llx", i, (int)got.kind,
                     got.length, (unsigned long long)got.target);
        }
        assert_true(cut.kind == FBT_STOP && cut.length == 1);
    }
}

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

/* ---- functions --------------------------------------------------------------------- */

enum { HALVES_MAX = 64 };

/* With `npads` pads after the function, and another function where its code ends. */
static struct fbt_function scan_with(size_t npads, const uint16_t *code, size_t halves,
                                     bool is_thumb)
{
    uint8_t marks[2 * HALVES_MAX + 1] = {0};
    struct fbt_pad pads[4] = {{0x1900, false}, {0x1400, false}, {0x1100, false}, {AT - 4, false}};
    struct fbt_text t = {
        (const uint8_t *)code, AT, halves * 2, is_thumb, marks, pads, npads, false};
    struct fbt_function f = {.name = "f", .at = AT, .size = halves * 2 - 2 * is_thumb};

    fbt_text_mark(&t);
    fbt_mark(&t, AT + f.size, FBT_MARK_START);
    fbt_scan(&t, &f);
    size_t used = 0;
    for (size_t i = 0; i < npads; i++) {
        used += pads[i].used;
    }
    size_t wanted = f.pad != 0;
    for (unsigned i = 0; i < f.nreturns; i++) {
        wanted += f.returns[i].pad != 0;
    }
    assert_int_equal(used, wanted);
    return f;
}
#define SCAN_WITH(npads, ...) \
    scan_with(npads, (const uint16_t[]){__VA_ARGS__, 0xbf00}, \
              COUNT(((const uint16_t[]){__VA_ARGS__})) + 1, true)

static struct fbt_function scan(const uint16_t *code, size_t halves, bool is_thumb)
{
    uint8_t marks[2 * HALVES_MAX + 1] = {0};
    struct fbt_text t = {(const uint8_t *)code, AT, halves * 2, is_thumb, marks, NULL, 0, false};
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
    /* movs r0, #0; bx lr: room for one wide branch */
    f = SCAN(true, 0x2000, 0x4770);
    assert_int_equal(f.entry, 0);
    assert_int_equal(f.nreturns, 1);
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

static void t_pads(void **state)
{
    (void)state;
    /* movs r0, #0; bx lr: each by its pad, the lowest first */
    struct fbt_function f = SCAN_WITH(4, 0x2000, 0x4770);
    assert_int_equal(f.entry, 2);
    assert_int_equal(f.pad, AT - 4);
    assert_int_equal(f.nreturns, 1);
    assert_int_equal(f.returns[0].pad, 0x1100);
    assert_int_equal(f.returns[0].length, 2);
    /* 0x1900 is too far for both; one pad is enough for the entry only */
    f = SCAN_WITH(1, 0x2000, 0x4770);
    assert_int_equal(f.entry, 0);
    assert_int_equal(f.nreturns, 1);
    assert_int_equal(f.returns[0].pad, 0);
    f = SCAN_WITH(2, 0x2000, 0x4770);
    assert_int_equal(f.entry, 2);
    assert_int_equal(f.nreturns, 0);
    /* push {r4, lr}; mov r4, r0; cbz r0 to the first pop; nop; pop; pop {r4, pc}: the first needs a
     * pad; the second has none left, and then none has */
    f = SCAN_WITH(2, 0xb510, 0x4604, 0xb108, 0xbf00, 0x4620, 0xbd10, 0xbd10);
    assert_int_equal(f.entry, 4);
    assert_int_equal(f.nreturns, 0);
    f = SCAN_WITH(3, 0xb510, 0x4604, 0xb108, 0xbf00, 0x4620, 0xbd10, 0xbd10);
    assert_int_equal(f.nreturns, 2);
    assert_int_not_equal(f.returns[0].pad, f.returns[1].pad);
    /* it eq; bxeq lr; then it eq; popeq.w {r4, pc}, which needs none */
    f = SCAN_WITH(2, 0xb510, 0x4604, 0xbf08, 0x4770, 0xbf08, 0xe8bd, 0x8010, 0x4620, 0xbd10);
    assert_int_equal(f.nreturns, 3);
    assert_int_equal(f.returns[0].pad, 0x1400);
    assert_int_equal(f.returns[1].pad, 0);
    assert_int_equal(f.returns[1].length, 4);
    /* cbz r0 first; b.n first; it first: which can't be moved */
    f = SCAN_WITH(2, 0xb108, 0xbf00, 0x4770, 0x4770);
    assert_int_equal(f.entry, 2);
    f = SCAN_WITH(2, 0xe7fe, 0xbf00);
    assert_int_equal(f.entry, 0); /* it jumps to itself */
    f = SCAN_WITH(2, 0xbf08, 0x2000, 0x4770);
    assert_int_equal(f.entry, 0);
}

/* The NOP after the last return makes room for a wide branch, where nothing jumps to it and no
 * code follows. */
static void t_filling(void **state)
{
    (void)state;
    /* push {r4, lr}; mov r4, r0; cbz r0 to the pop; mov r0, r4; pop {r4, pc} */
    struct fbt_function f = SCAN(true, 0xb510, 0x4604, 0xb100, 0x4620, 0xbd10);
    assert_int_equal(f.nreturns, 0);
    f = SCAN(true, 0xb510, 0x4604, 0xb100, 0x4620, 0xbd10, 0xbf00);
    assert_int_equal(f.nreturns, 1);
    assert_int_equal(f.returns[0].at, AT + 8);
    assert_int_equal(f.returns[0].insn, AT + 8);
    assert_int_equal(f.returns[0].length, 2);
    assert_int_equal(f.returns[0].pad, 0);
    /* After the filling there is code; the filling is jumped to; the return is conditional. */
    f = SCAN(true, 0xb510, 0x4604, 0xb100, 0x4620, 0xbd10, 0xbf00, 0x4620);
    assert_int_equal(f.nreturns, 0);
    f = SCAN(true, 0xb510, 0xb108, 0xb108, 0x4620, 0xbd10, 0xbf00);
    assert_int_equal(f.nreturns, 0);
    f = SCAN(true, 0xb510, 0x4604, 0xbf08, 0x4770, 0xbf00);
    assert_int_equal(f.nreturns, 0);
}

static void t_tail_calls(void **state)
{
    (void)state;
    /* mov r4, r0; mov r0, r4; b.n to what lies after */
    struct fbt_function f = SCAN_WITH(3, 0x4604, 0x4620, 0xe7ff);
    assert_int_equal(f.nreturns, 1);
    assert_true(f.returns[0].tail);
    assert_int_equal(f.returns[0].length, 2);
    /* the same, but after it is no function's start */
    f = SCAN_WITH(3, 0x4604, 0x4620, 0xe000);
    assert_int_equal(f.nreturns, 0);
    /* bx r3 alone is one, two may be a computed goto */
    f = SCAN_WITH(3, 0xb510, 0x4604, 0xbf00, 0x4718);
    assert_int_equal(f.nreturns, 1);
    assert_true(f.returns[0].tail);
    f = SCAN_WITH(3, 0xb510, 0x4604, 0xbf00, 0x4718, 0x4718);
    assert_int_equal(f.nreturns, 0);
    /* A64: nop; br x16. nop; br x0 */
    f = SCAN(false, 0x201f, 0xd503, 0x0200, 0xd61f);
    assert_int_equal(f.nreturns, 1);
    assert_true(f.returns[0].tail);
    f = SCAN(false, 0x201f, 0xd503, 0x0000, 0xd61f);
    assert_int_equal(f.nreturns, 0);
}

/* ---- random code ------------------------------------------------------------------- */

/* Each is used once, and near enough for 16 bits. */
static void check_pads(const struct fbt_function *f, const struct fbt_text *t)
{
    for (size_t i = 0; i < t->npads; i++) {
        unsigned users = f->pad == t->pads[i].at;
        for (unsigned r = 0; r < f->nreturns; r++) {
            int64_t hop = (int64_t)(f->returns[r].pad - f->returns[r].at) - 4;
            bool mine = f->returns[r].pad == t->pads[i].at;
            assert_true(!mine || (hop >= -2048 && hop <= 2046));
            users += mine;
        }
        assert_int_equal(users, t->pads[i].used);
    }
}

static void check_rules(const struct fbt_function *f, const struct fbt_text *t)
{
    uint64_t end = f->at + f->entry;

    assert_true(!f->pad || f->entry == 2);
    for (uint64_t at = f->at + 2; at < end; at += 2) {
        struct fbt_insn first = fbt_decode_at(t, f->at);
        assert_false(at == f->at + first.length && fbt_marked(t, at, FBT_MARK_TARGET));
    }
    for (unsigned i = 0; i < f->nreturns; i++) {
        const struct fbt_return *r = &f->returns[i];
        struct fbt_insn insn = fbt_decode_at(t, r->insn);
        assert_true(r->tail ? insn.kind == FBT_BRANCH || insn.may_call : insn.kind == FBT_RETURN);
        assert_int_equal(r->at + r->length, r->insn + insn.length);
        assert_true(r->at >= end && r->length >= 2 && r->length <= (r->pad ? 2 : 6));
        assert_true(r->pad || r->length >= 4 || fbt_is_nop(t, r->at + 2));
        assert_true(r->at == r->insn || !fbt_marked(t, r->insn, FBT_MARK_TARGET));
        end = r->at + r->length;
    }
    check_pads(f, t);
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
        uint8_t marks[2 * HALVES_MAX + 1] = {0};
        bool is_thumb = run % 2;
        for (unsigned i = 0; i < HALVES_MAX; i++) {
            code[i] = (uint16_t)random();
            if (random() % 8 == 0) {
                code[i] = is_thumb ? (random() % 2 ? 0xbd10 : 0x4770) : 0x201f;
            }
        }
        struct fbt_pad pads[] = {{AT - 4, false}, {AT - 0x7f0, false}, {AT + 0x100, false}};
        struct fbt_text t = {(const uint8_t *)code,      AT,   sizeof(code), is_thumb, marks, pads,
                             is_thumb ? COUNT(pads) : 0, false};
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_golden), cmocka_unit_test(t_golden_x86), cmocka_unit_test(t_functions),
        cmocka_unit_test(t_pads),   cmocka_unit_test(t_filling),    cmocka_unit_test(t_tail_calls),
        cmocka_unit_test(t_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
