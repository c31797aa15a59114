/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter: a handler per opcode (handlers.def), each of which jumps to the next one's. The
 * jump table is made from opcodes.def, so an opcode without a handler doesn't compile. Instructions
 * were validated (validate.c) and pre-decoded (code.c): registers, labels and indices are in range,
 * the last is `ret`, and branches go forward, so execution terminates. Arithmetic is on 64-bit
 * unsigned words.
 *
 * Probe context. Tested by test/d_machine/run_test.c, and against a naive interpreter by test/d.
 */
#include "trace/dtrace/run.h"

#include "trace/assert.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/text.h"

extern inline uint64_t dtrace_eval(struct dtrace_context *, const struct dtrace_object *);

/* INT64_MIN / -1 wraps to INT64_MIN, its remainder is 0. The divisor isn't 0. */
static uint64_t divide_signed(uint64_t a, uint64_t b)
{
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_signed(uint64_t a, uint64_t b)
{
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

/* A string is measured at once, so that a fault belongs to the push and nothing measures it
 * again. */
static void push_ref(struct dtrace_context *c, uint8_t type, uint64_t value, uint64_t size)
{
    struct dtrace_key *key = &c->keys[c->nkeys];
    uint64_t limit = c->code->strsize;

    if (c->nkeys == DIF_TUPLE_REGS) {
        dtrace_fault(c, DIF_FAULT_TUPOFLOW, 0);
        return;
    }
    if (type == DIF_TYPE_STRING) {
        limit = size && size < limit ? size : limit;
        size = dtrace_text_length(c, value, (size_t)limit);
    } else if (size > DIF_STATIC_VAR_MAX) {
        dtrace_fault(c, DIF_FAULT_ILLOP, 0);
        return;
    }
    *key = (struct dtrace_key){value, (uint32_t)size, true, type == DIF_TYPE_STRING};
    c->nkeys++;
}

static void push_value(struct dtrace_context *c, uint64_t value)
{
    trace_assert(c->nkeys <= DIF_TUPLE_REGS);
    if (c->nkeys == DIF_TUPLE_REGS) {
        dtrace_fault(c, DIF_FAULT_TUPOFLOW, 0);
        return;
    }
    c->keys[c->nkeys++] = (struct dtrace_key){value, 8, false, false};
}

static void run_copy(struct dtrace_context *c, uint64_t from, uint64_t bytes, uint64_t to)
{
    uint8_t *p = bytes ? dtrace_storable(c, to, bytes) : NULL;

    if (p) {
        dtrace_load_block(c, p, from, (size_t)bytes, false);
    }
}

static uint64_t run_allocate(struct dtrace_context *c, uint64_t bytes)
{
    uint8_t *p = dtrace_scratch(c, bytes);

    if (p) {
        __builtin_memset(p, 0, (size_t)bytes);
    }
    return (uintptr_t)p;
}

/* Clears the predicate cache: a predicate that was false may now be true. */
static void store_thread(struct dtrace_context *c, const struct dtrace_dynamic *v, uint64_t value)
{
    dtrace_port_thread_state()->predicate_cache = 0;
    dtrace_dynamic_store(c, v, value);
}

/* width: bytes, and DTRACE_SIGNED. Signed ones are extended by shifts. */
static uint64_t run_load(struct dtrace_context *c,
                         uint64_t (*from)(struct dtrace_context *, uint64_t address,
                                          unsigned bytes),
                         uint64_t address, uint8_t width)
{
    unsigned bytes = width & ~DTRACE_SIGNED;
    uint64_t value = from(c, address, bytes);
    unsigned above = width & DTRACE_SIGNED ? 64 - 8 * bytes : 0;

    return (uint64_t)((int64_t)(value << above) >> above);
}

#define D r[pc->rd]

/* Where size counts, all handlers share the fetch of operands, the store of results, and a switch
 * to the next instruction, whose table is small. Elsewhere each handler fetches and jumps by
 * itself. */
#ifdef __OPTIMIZE_SIZE__
#define A a
#define B b
#define HANDLER(name) \
    op_##name : __attribute__((unused)); \
    case CASE_##name
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
#define SELDOM(name, value) \
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
#define AS_NEXT(name) HANDLER(name) :
#define BRANCHES(name, condition) \
    HANDLER(name) : if (condition) \
    { \
        goto branch; \
    } \
    NEXT;
#define DIVIDES(name, value) \
    HANDLER(name) : if (B == 0) \
    { \
        goto divide_by_zero; \
    } \
    given = (value); \
    goto give;

uint64_t dtrace_run(struct dtrace_context *c, const struct dtrace_object *o)
{
    /* clang-format off */
    static const void *const handlers[DTRACE_RUN_COUNT] = {
        [0] = &&op_illegal, /* not an opcode */
#define DIF_OP(number, name, format, doc) [number] = &&op_##name,
#include "trace/dtrace/opcodes.def"
#define OP(name) [DTRACE_RUN_##name] = &&op_##name,
        DTRACE_RUN_OPS(OP)
#undef OP
    };
    /* clang-format on */
    const struct dtrace_insn *pc = o->text;
    uint64_t r[DIF_REGS];
    uint64_t left = 0, right = 0; /* last compared operands: the flags */
    uint64_t given, a, b;

    (void)handlers, (void)a, (void)b;
    trace_assert(o->ntext > 0 && c->fault.kind == DIF_FAULT_NONE);
    c->nkeys = 0;
    START(r);
    JUMP;

    GO_ON
    {
#include "trace/dtrace/handlers.def"
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
    op_illegal:
        dtrace_fault(c, DIF_FAULT_ILLOP, 0);
        goto fault;
    divide_by_zero:
        dtrace_fault(c, DIF_FAULT_DIVZERO, 0);
    fault:
        c->fault.offset = (uint32_t)(pc - o->text) * sizeof(dif_insn);
        return 0;
    }
}
