/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter: a handler per opcode (handlers.def), each of which jumps to the next one's. All
 * other opcodes share a handler, which calls run_seldom.c. Instructions were validated (validate.c)
 * and pre-decoded (code.c): registers, labels and indices are in range, the last is `ret`, and
 * branches go forward, so execution terminates. Arithmetic is on 64-bit unsigned words.
 *
 * Probe context. Tested by test/trace/dtrace/machine/run_test.c, and against a naive interpreter by
 * test/dtrace.
 */
#include "trace/dtrace/run.h"

#include "trace/assert.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/text.h"

extern inline uint64_t dtrace_eval(struct dtrace_context *, const struct dtrace_object *);

#define D r[pc->rd]

/* Where size counts, all handlers share the fetch of operands, the store of results, and a switch
 * to the next instruction, whose table is small. Elsewhere each handler fetches and jumps by
 * itself. */
#ifdef __OPTIMIZE_SIZE__
#define A a
#define B b
#define HANDLER(name) case CASE_##name
#define NEXT goto next
#define GO_ON \
    next: \
    pc++; \
    again: \
    a = r[pc->r1 % DIF_REGS]; \
    b = r[pc->r2 % DIF_REGS]; \
    switch (pc->op)
#define JUMP goto again
#define GIVE(value) \
    given = (value); \
    goto give
#define OTHERS default:
#define TABLE
#define START(r) __builtin_memset(r, 0, sizeof(r)) /* operands are fetched even where unused */
#else
#define A r[pc->r1]
#define B r[pc->r2]
#define HANDLER(name) op_##name
#define NEXT goto *handlers[(++pc)->op]
#define GO_ON
#define JUMP goto *handlers[pc->op]
#define GIVE(value) \
    D = (value); \
    NEXT
/* clang-format off */
#define OTHERS op_others:
#define ENTRY(name) [CASE_##name] = &&op_##name,
#define TABLE \
    _Pragma("GCC diagnostic push") \
    _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
    static const void *const handlers[DTRACE_RUN_COUNT] = { \
        [0 ... DTRACE_RUN_COUNT - 1] = &&op_others, \
        DTRACE_RUN_OFTEN(ENTRY) \
    }; \
    _Pragma("GCC diagnostic pop")
/* clang-format on */
#define START(r) \
    r[0] = 0; \
    if (!(o->flags & DTRACE_OBJECT_WRITTEN)) { \
        r[1] = r[2] = r[3] = r[4] = r[5] = r[6] = r[7] = 0; \
    }
_Static_assert(DIF_REGS == 8, "START()");
#endif

enum {
#define DIF_OP(number, name, format, doc) CASE_##name = (number),
#include "trace/dtrace/opcodes.def"
#define OP(name) CASE_##name = DTRACE_RUN_##name,
    DTRACE_RUN_OPS(OP)
#undef OP
};

#define GIVES(name, value) HANDLER(name) : GIVE(value);
#define GIVES_SMALL(name, value) \
    HANDLER(name) : given = (value); \
    goto give;
#define MAY_FAULT(name, value) \
    HANDLER(name) : given = (value); \
    goto give_if_ok;
#define DOES(name, statement) \
    HANDLER(name) : statement; \
    NEXT;
#define TRIES(name, statement) \
    HANDLER(name) : statement; \
    goto next_if_ok;
#define GOES(name) \
    HANDLER(name) : branch : trace_assert(pc->index > pc - o->text && pc->index < o->ntext); \
    pc = o->text + pc->index; \
    JUMP;
#define ENDS(name, value) HANDLER(name) : return value;
#define BRANCHES(name, condition) \
    HANDLER(name) : if (condition) \
    { \
        goto branch; \
    } \
    NEXT;

uint64_t dtrace_run(struct dtrace_context *c, const struct dtrace_object *o)
{
    TABLE
    const struct dtrace_insn *pc = o->text;
    uint64_t r[DIF_REGS];
    uint64_t left = 0, right = 0; /* last compared operands: the flags */
    uint64_t given, a, b;

    (void)a, (void)b;
    trace_assert(o->ntext > 0 && c->fault.kind == DIF_FAULT_NONE);
    c->nkeys = 0;
    START(r);
    JUMP;

    GO_ON
    {
#include "trace/dtrace/handlers.def"
        OTHERS
        dtrace_run_seldom(c, o, pc, r);
        goto next_if_ok;
    give_if_ok:
        if (c->fault.kind != DIF_FAULT_NONE) {
            goto fault;
        }
    give:
        __attribute__((unused));
        D = given;
        NEXT;
    next_if_ok:
        if (c->fault.kind == DIF_FAULT_NONE) {
            NEXT;
        }
        goto fault;
    fault:
        c->fault.offset = (uint32_t)(pc - o->text) * sizeof(dif_insn);
        return 0;
    }
}
