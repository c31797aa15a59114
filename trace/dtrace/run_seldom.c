/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter's instructions that few programs have, or that cost much themselves
 * (handlers_seldom.def): compiled for size where that counts. See run.c for the properties of valid
 * instructions. Probe context. Tested as run.c is.
 */
#include "trace/dtrace/run.h"

#include "trace/assert.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/text.h"

/* INT64_MIN / -1 wraps to INT64_MIN, its remainder is 0. */
static uint64_t run_divide(struct dtrace_context *c, uint8_t op, uint64_t a, uint64_t b)
{
    if (b == 0) {
        dtrace_fault(c, DIF_FAULT_DIVZERO, 0);
        return 0;
    }
    switch (op) {
    case DIF_OP_sdiv:
        return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
    case DIF_OP_srem:
        return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
    case DIF_OP_udiv:
        return a / b;
    default:
        return a % b;
    }
}

static void push_key(struct dtrace_context *c, struct dtrace_key key)
{
    trace_assert(c->nkeys <= DIF_TUPLE_REGS);
    if (c->nkeys == DIF_TUPLE_REGS) {
        dtrace_fault(c, DIF_FAULT_TUPOFLOW, 0);
        return;
    }
    c->keys[c->nkeys++] = key;
}

/* A string is measured at once, so that a fault belongs to the push and nothing measures it
 * again. */
static void push_ref(struct dtrace_context *c, uint8_t type, uint64_t value, uint64_t size)
{
    uint64_t limit = c->code->strsize;

    if (c->nkeys < DIF_TUPLE_REGS && type == DIF_TYPE_STRING) {
        limit = size && size < limit ? size : limit;
        size = dtrace_text_length(c, value, (size_t)limit);
    } else if (c->nkeys < DIF_TUPLE_REGS && size > DIF_STATIC_VAR_MAX) {
        dtrace_fault(c, DIF_FAULT_ILLOP, 0);
        return;
    }
    push_key(c, (struct dtrace_key){value, (uint32_t)size, true, type == DIF_TYPE_STRING});
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

static unsigned run_width(const struct dtrace_insn *pc)
{
    return pc->r2 & ~(unsigned)DTRACE_SIGNED;
}

static __attribute__((noinline)) uint64_t run_load(uint64_t value, const struct dtrace_insn *pc)
{
    switch (pc->r2) {
    case DTRACE_SIGNED | 1:
        return (uint64_t)(int8_t)value;
    case DTRACE_SIGNED | 2:
        return (uint64_t)(int16_t)value;
    case DTRACE_SIGNED | 4:
        return (uint64_t)(int32_t)value;
    default:
        return value;
    }
}

/* Computes a signed shift as that of the complement if the sign is set. */
static uint64_t run_shift_right(const struct dtrace_insn *pc, uint64_t a, uint64_t n)
{
    uint64_t sign = pc->op == DIF_OP_sra ? (uint64_t)((int64_t)a >> 63) : 0;

    return ((a ^ sign) >> (n & 63)) ^ sign;
}

enum {
#define OP(name) DIF_OP_##name = DTRACE_RUN_##name,
    DTRACE_RUN_OPS(OP)
#undef OP
};

/* Each opcode has one handler: two, or none, don't compile. */
#define OP(name) HANDLED_##name,
#define AS_NEXT OP
#define ILLEGAL OP
#define GOES OP
#define SELDOM(name, value) OP(name)
#define SELDOM_DOES SELDOM
#define GIVES SELDOM
#define GIVES_SMALL SELDOM
#define MAY_FAULT SELDOM
#define DOES SELDOM
#define TRIES SELDOM
#define BRANCHES SELDOM
#define ENDS SELDOM
enum {
#include "trace/dtrace/handlers.def"
#include "trace/dtrace/handlers_seldom.def"
    HANDLED
};
#define DIF_OP(number, name, format, doc) +(0 * HANDLED_##name + 1)
#undef OP
#define OP(name) +(0 * HANDLED_##name + 1)
_Static_assert(HANDLED == DTRACE_RUN_OPS(OP)
#include "trace/dtrace/opcodes.def"
                   ,
               "handlers of what is no opcode");
#undef OP
#undef AS_NEXT
#undef ILLEGAL
#undef SELDOM
#undef SELDOM_DOES

#define D (*d)
#define ILLEGAL(name) case DIF_OP_##name:
#define AS_NEXT(name) case DIF_OP_##name:
#define SELDOM(name, value) \
    case DIF_OP_##name: \
        given = (value); \
        break;
#define SELDOM_DOES(name, statement) \
    case DIF_OP_##name: \
        statement; \
        return;

void dtrace_run_seldom(struct dtrace_context *c, const struct dtrace_object *o,
                       const struct dtrace_insn *pc, uint64_t r[DIF_REGS])
{
    uint64_t a = r[pc->r1 % DIF_REGS], b = r[pc->r2 % DIF_REGS]; /* fetched even where unused */
    uint64_t *d = &r[pc->rd % DIF_REGS], given;

    switch (pc->op) {
#include "trace/dtrace/handlers_seldom.def"
    default: /* not an opcode */
        dtrace_fault(c, DIF_FAULT_ILLOP, 0);
        return;
    }
    D = given;
}
