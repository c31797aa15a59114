/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter: a handler per opcode, each of which jumps to the next one's. Its jump table is
 * made from opcodes.def, so an opcode without a handler doesn't compile. Instructions were
 * validated (validate.c) and pre-decoded (code.c): registers, labels and indices are in range, the
 * last is `ret`, and branches go forward, so it ends. Arithmetic is that of 64-bit unsigned words.
 *
 * Of a firing. Tested by test/d_machine/run_test.c, and against a naive interpreter by test/d.
 */
#include "trace/d/run.h"

#include "trace/d/port.h"
#include "trace/d/text.h"
#include "trace/d/variable.h"

/* INT64_MIN / -1 wraps to INT64_MIN, its remainder is 0. The divisor isn't 0. */
static uint64_t divide_signed(uint64_t a, uint64_t b)
{
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_signed(uint64_t a, uint64_t b)
{
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

/* A string is measured at once: so its fault is the push's, and no one measures it again. */
static void push_ref(struct d_context *c, uint8_t type, uint64_t value, uint64_t size)
{
    struct d_key *key = &c->keys[c->nkeys];
    uint64_t limit = c->code->strsize;

    if (c->nkeys == DIF_TUPLE_REGS) {
        d_fault(c, DIF_FAULT_TUPOFLOW, 0);
        return;
    }
    if (type == DIF_TYPE_STRING) {
        limit = size && size < limit ? size : limit;
        size = d_text_length(c, value, (size_t)limit);
    } else if (size > DIF_STATIC_VAR_MAX) {
        d_fault(c, DIF_FAULT_ILLOP, 0);
        return;
    }
    *key = (struct d_key){value, (uint32_t)size, true, type == DIF_TYPE_STRING};
    c->nkeys++;
}

static void push_value(struct d_context *c, uint64_t value)
{
    if (c->nkeys == DIF_TUPLE_REGS) {
        d_fault(c, DIF_FAULT_TUPOFLOW, 0);
        return;
    }
    c->keys[c->nkeys++] = (struct d_key){value, 8, false, false};
}

static void copy(struct d_context *c, uint64_t from, uint64_t bytes, uint64_t to)
{
    uint8_t *p = bytes ? d_storable(c, to, bytes) : NULL;

    if (p) {
        d_load_block(c, p, from, (size_t)bytes, false);
    }
}

static uint64_t allocate(struct d_context *c, uint64_t bytes)
{
    uint8_t *p = d_scratch(c, bytes);

    if (p) {
        __builtin_memset(p, 0, (size_t)bytes);
    }
    return (uintptr_t)p;
}

/* A predicate that was false may now be true. */
static void store_thread(struct d_context *c, const struct d_dynamic *v, uint64_t value)
{
    *d_port_predicate_cache() = 0;
    d_dynamic_store(c, v, value);
}

/* width: bytes, and D_SIGNED. Signed ones are extended by shifts. */
static uint64_t load(struct d_context *c,
                     uint64_t (*from)(struct d_context *, uint64_t address, unsigned bytes),
                     uint64_t address, uint8_t width)
{
    unsigned bytes = width & ~D_SIGNED;
    uint64_t value = from(c, address, bytes);
    unsigned above = width & D_SIGNED ? 64 - 8 * bytes : 0;

    return (uint64_t)((int64_t)(value << above) >> above);
}

#define A r[pc->r1]
#define B r[pc->r2]
#define D r[pc->rd]
#define NEXT goto *handlers[(++pc)->op]

/* Where size counts, what gives a value goes one way to its register. */
#ifdef __OPTIMIZE_SIZE__
#define GIVE(value) \
    given = (value); \
    goto give
#define GIVE_HERE \
    give: \
    D = given; \
    NEXT;
#else
#define GIVE(value) \
    D = (value); \
    NEXT
#define GIVE_HERE
#endif

#define GIVES(name, value) op_##name : GIVE(value);
#define MAY_FAULT(name, value) \
    op_##name : given = (value); \
    goto give_if_ok;
#define DOES(name, statement) \
    op_##name : statement; \
    goto next_if_ok;
#define DIVIDES(name, value) \
    op_##name : if (B == 0) \
    { \
        goto divide_by_zero; \
    } \
    GIVE(value);
#define BRANCHES(name, condition) \
    op_##name : if (condition) \
    { \
        goto branch; \
    } \
    NEXT;

uint64_t d_run(struct d_context *c, const struct d_object *o)
{
    /* clang-format off */
    static const void *const handlers[D_RUN_COUNT] = {
        [0] = &&illegal, /* is no opcode */
#define DIF_OP(number, name, format, doc) [number] = &&op_##name,
#include "trace/d/opcodes.def"
#define OP(name) [D_RUN_##name] = &&op_##name,
        D_RUN_OPS(OP)
#undef OP
    };
    /* clang-format on */
    const struct d_insn *pc = o->text;
    uint64_t r[DIF_REGS] = {0};
    uint64_t left = 0, right = 0; /* what was compared last: the flags */
    uint64_t given;

    c->nkeys = 0;
    goto *handlers[pc->op];

    GIVE_HERE
    GIVES(or, A | B)
    GIVES(xor, A ^ B)
    GIVES(and, A & B)
    GIVES(sll, A << (B & 63))
    GIVES(srl, A >> (B & 63))
    GIVES(sra, (uint64_t)((int64_t)A >> (B & 63)))
    GIVES(sub, A - B)
    GIVES(add, A + B)
    GIVES(mul, A * B)
    GIVES(not, ~A)
    GIVES(mov, A)
    GIVES(setx, o->ints[pc->index])
    GIVES(sets, (uintptr_t)o->strings + pc->index)
    DIVIDES(sdiv, divide_signed(A, B))
    DIVIDES(udiv, A / B)
    DIVIDES(srem, remainder_signed(A, B))
    DIVIDES(urem, A % B)

op_cmp:
    left = A;
    right = B;
    NEXT;
op_tst:
    left = A;
    right = 0;
    NEXT;
op_scmp:
    left = (uint64_t)(int64_t)d_text_compare(c, A, B, c->code->strsize);
    right = 0;
    goto next_if_ok;
op_ba:
branch:
    pc = o->text + pc->index;
    goto *handlers[pc->op];
    BRANCHES(be, left == right)
    BRANCHES(bne, left != right)
    BRANCHES(bg, (int64_t)left > (int64_t)right)
    BRANCHES(bgu, left > right)
    BRANCHES(bge, (int64_t)left >= (int64_t)right)
    BRANCHES(bgeu, left >= right)
    BRANCHES(bl, (int64_t)left < (int64_t)right)
    BRANCHES(blu, left < right)
    BRANCHES(ble, (int64_t)left <= (int64_t)right)
    BRANCHES(bleu, left <= right)

    /* Loads and stores have in r2 what they are: enum d_width. */
op_ldsb:
op_ldsh:
op_ldsw:
op_ldub:
op_lduh:
op_lduw:
    MAY_FAULT(ldx, load(c, d_load, A, pc->r2))
op_uldsb:
op_uldsh:
op_uldsw:
op_uldub:
op_ulduh:
op_ulduw:
    MAY_FAULT(uldx, load(c, d_load_user, A, pc->r2))
op_rldsb:
op_rldsh:
op_rldsw:
op_rldub:
op_rlduh:
op_rlduw:
    MAY_FAULT(rldx, load(c, d_load_own, A, pc->r2))
op_stb:
op_sth:
op_stw:
    DOES(stx, d_store(c, D, A, pc->r2))
    DOES(copys, copy(c, A, B, D))
    MAY_FAULT(allocs, allocate(c, A))

    MAY_FAULT(ldga, d_builtin_array(c, pc->r1, B))
    MAY_FAULT(ldgs, d_builtin(c, pc->index))
    GIVES(ldgs_arg, c->args[pc->index])
    GIVES(ldgs_value, c->globals[pc->index])
    GIVES(ldls_value, c->locals[pc->index])
    GIVES(ldgs_ref, d_static_address(&c->code->globals[pc->index], (uint8_t *)c->globals))
    GIVES(ldls_ref, d_static_address(&c->code->locals[pc->index], (uint8_t *)c->locals))
    DOES(stgs_ref, d_static_store(c, &c->code->globals[pc->index], (uint8_t *)c->globals, D))
    DOES(stls_ref, d_static_store(c, &c->code->locals[pc->index], (uint8_t *)c->locals, D))
op_stgs_value:
    c->globals[pc->index] = D;
    NEXT;
op_stls_value:
    c->locals[pc->index] = D;
    NEXT;
op_ldgaa:
op_ldtaa:
    MAY_FAULT(ldts, d_dynamic_value(c, &c->code->dynamics[pc->index]))
    DOES(stgaa, d_dynamic_store(c, &c->code->dynamics[pc->index], D))
op_sttaa:
    DOES(stts, store_thread(c, &c->code->dynamics[pc->index], D))

    DOES(pushtr, push_ref(c, pc->r1, D, B))
    DOES(pushtv, push_value(c, D))
    MAY_FAULT(call, d_subr(c, pc->index))
op_popts:
    c->nkeys -= c->nkeys > 0;
    NEXT;
op_flushts:
    c->nkeys = 0;
    NEXT;
op_nop:
    NEXT;
give_if_ok:
    D = given;
next_if_ok:
    if (c->fault.kind == DIF_FAULT_NONE) {
        NEXT;
    }
    goto fault;
op_ret:
    return D;

    /* Refused when loaded, or made into something else; a thread has no built-in array. */
op_ldta:
op_stgs:
op_ldls:
op_stls:
op_xlate:
op_xlarg:
illegal:
    d_fault(c, DIF_FAULT_ILLOP, 0);
    goto fault;
divide_by_zero:
    d_fault(c, DIF_FAULT_DIVZERO, 0);
fault:
    c->fault.offset = (uint32_t)(pc - o->text) * sizeof(dif_insn);
    return 0;
}
