/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes an upper bound of an object's cost: its instructions, the bytes it copies and zeroes,
 * its lookups. bound.c adds the other costs of a clause.
 *
 * Branches go forward only, so one pass from the top of an object finds its longest path. Both
 * files compute how often each part of a probe firing occurs; cost.def has the cost of each part,
 * in the unit of a table of weights: instructions of a machine, or steps. A step is a DIF
 * instruction, or a byte that is read, copied, compared or zeroed for it; a subroutine has the
 * steps of its COST in opcodes.def; any other operation of the port counts as one step. An unknown
 * size counts as all of scratch, which bounds it at run time. A lookup of a dynamic variable walks
 * a chain twice at most, whose length is bounded (hash.h), and compares few keys. Waiting for
 * another CPU in the same chain is not included in any bound.
 *
 * Control context. The image was checked. Tested by test/trace/dtrace/machine/cost_test.c;
 * test/trace/dtrace/random counts actual steps, test/bench/firing.py instructions, to check that no
 * program takes more.
 */
#include "trace/dtrace/code.h"

#include "trace/assert.h"
#include "trace/dtrace/cost.h"
#include "trace/dtrace/dynvar.h"
#include "trace/dtrace/hash.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/subr.h"

enum { DIGITS_MOST = 128 }; /* of a number or an address as text */

enum cost { CONST, DIGITS, NSPEC, STR, STR2, STRSTR, SIZE0, SIZE1, SIZE2 };
static const uint8_t costs[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = cost,
#include "trace/dtrace/opcodes.def"
};

/* The tables of machines are in cost/m4.c and cost/a64.c. */
const struct dtrace_weights dtrace_weights_steps = {
    .unit = "steps",
    .subr_each = 1,
    .of =
        {
#define DTRACE_COST(name, steps, m4, a64, doc) steps,
#include "trace/dtrace/cost.def"
        },
    .subr = {[0 ... DIF_SUBR_MAX] = {0, 1}},
};

/* The cost of each opcode beyond INSN: an enum dtrace_cost_part. */
static const uint8_t op_parts[DIF_OP_MAX + 1] = {
#define DTRACE_OP_COST(op, name) [DIF_OP_##op] = DTRACE_COST_##name,
#include "trace/dtrace/cost.def"
};

dtrace_amount dtrace_amount_product(dtrace_amount a, dtrace_amount b)
{
    dtrace_amount product;

    return __builtin_mul_overflow(a, b, &product) ? DTRACE_AMOUNT_MOST : product;
}

dtrace_amount dtrace_amount_least(uint64_t a, dtrace_amount b)
{
    return a < b ? (dtrace_amount)a : b;
}

void dtrace_cost_more(struct dtrace_cost_sum *s, dtrace_amount cost)
{
    s->cost = dtrace_amount_sum(s->cost, cost);
}

void dtrace_cost_add(struct dtrace_cost_sum *s, enum dtrace_cost_part part, dtrace_amount n)
{
    s->reads |= n && (part == DTRACE_COST_TEXT || part == DTRACE_COST_BLOCK);
    dtrace_cost_more(s, dtrace_amount_product(n, s->weights->of[part]));
}

void dtrace_cost_add_one(struct dtrace_cost_sum *s, enum dtrace_cost_part part)
{
    dtrace_cost_add(s, part, 1);
}

void dtrace_cost_text(struct dtrace_cost_sum *s, dtrace_amount bytes)
{
    dtrace_cost_add(s, DTRACE_COST_TEXT, bytes > 0);
    dtrace_cost_add(s, DTRACE_COST_TEXT_BYTE, bytes);
}

void dtrace_cost_block(struct dtrace_cost_sum *s, dtrace_amount bytes)
{
    dtrace_cost_add_one(s, DTRACE_COST_BLOCK);
    dtrace_cost_add(s, DTRACE_COST_BLOCK_BYTE, bytes);
}

/* State before an instruction, by the worst path to it. */
struct node {
    dtrace_amount cost;
    dtrace_amount keys; /* bytes pushed */
    uint8_t refs;       /* data pushed by reference */
    bool reached, target;
};

struct pass {
    const struct dif_object *object;
    const struct dtrace_cost_limits *limits;
    struct dtrace_cost_sum sum; /* of the path to this instruction, and of its own parts so far */
    struct node *nodes;
    uint64_t value[DIF_REGS]; /* constants, where known */
    uint64_t pushed[DIF_TUPLE_REGS];
    bool known[DIF_REGS], pushed_known[DIF_TUPLE_REGS];
    uint32_t npushed;
    bool lost; /* the pushed data is unknown until it is dropped */
};

static dtrace_amount size_of(const struct pass *p, uint32_t reg, dtrace_amount most)
{
    return p->known[reg] ? dtrace_amount_least(p->value[reg], most) : most;
}

/* Returns the units of a subroutine's COST. */
static dtrace_amount subr_units(const struct pass *p, uint32_t subr)
{
    dtrace_amount strsize = p->limits->strsize;
    bool out = subr == DIF_SUBR_copyout || subr == DIF_SUBR_copyoutstr;
    dtrace_amount most = out ? DTRACE_COPYOUT_MOST : p->limits->scratch;
    uint32_t n = costs[subr] - SIZE0; /* number of the argument that is its size */

    switch (costs[subr]) {
    case DIGITS:
        return DIGITS_MOST;
    case NSPEC:
        return p->limits->nspec;
    case STR:
        return strsize;
    case STR2:
        return 2 * strsize;
    case STRSTR:
        return dtrace_amount_product(strsize, strsize);
    case SIZE0:
    case SIZE1:
    case SIZE2:
        return !p->lost && n < p->npushed && p->pushed_known[n]
                   ? dtrace_amount_least(p->pushed[n], most)
                   : most;
    default:
        return 0;
    }
}

static void cost_subr(struct pass *p, uint32_t subr)
{
    const struct dtrace_weights *w = p->sum.weights;
    dtrace_amount each = (dtrace_amount)w->subr[subr].each * w->subr_each;

    p->sum.reads |= costs[subr] != CONST;
    dtrace_cost_more(&p->sum, dtrace_amount_product(subr_units(p, subr), each));
    dtrace_cost_more(&p->sum, (dtrace_amount)w->subr[subr].once * w->subr_once);
}

/* Returns the bytes of a program's own variable, if storing copies it. */
static dtrace_amount variable_bytes(const struct pass *p, uint32_t id)
{
    const struct dif_object *o = p->object;
    dtrace_amount bytes = 0;

    for (uint32_t i = 0; i < o->nvars; i++) {
        const struct dif_variable *v = &o->vars[i];
        dtrace_amount size = v->type.kind == DIF_TYPE_STRING ? p->limits->strsize : v->type.size;
        if (v->id == id && v->type.ref && size > bytes) {
            bytes = size;
        }
    }
    return bytes;
}

static dtrace_amount push_bytes(const struct pass *p, dif_insn i)
{
    if (DIF_INSN_OP(i) == DIF_OP_pushtv) {
        return 8;
    }
    if (DIF_INSN_PUSH_TYPE(i) != DIF_TYPE_STRING) {
        return size_of(p, DIF_INSN_R2(i), DIF_STATIC_VAR_MAX);
    }
    dtrace_amount size = size_of(p, DIF_INSN_R2(i), p->limits->strsize);
    return size ? size : p->limits->strsize; /* 0: as long as a string may be */
}

/* Adds a lookup of a dynamic variable: its key is zeroed, read, hashed, compared with those of the
 * same hash, and copied if it is new. */
static void cost_look_up(struct dtrace_cost_sum *s, dtrace_amount key, unsigned refs)
{
    dtrace_cost_add_one(s, DTRACE_COST_DYNVAR);
    dtrace_cost_add(s, DTRACE_COST_CHAIN, 2 * DTRACE_CHAIN_DYNAMIC);
    dtrace_cost_add(s, DTRACE_COST_KEY, dtrace_amount_product(DTRACE_CHAIN_ALIKE + 4, key));
    dtrace_cost_add(s, DTRACE_COST_BLOCK, refs);
}

/* A new chunk is taken from the free ones, of which a batch is fetched; zeroed, then filled: with a
 * string, or with a block, which costs less. */
static void store_dynamic(struct pass *p, uint32_t id, dtrace_amount key, unsigned refs)
{
    dtrace_amount bytes = variable_bytes(p, id);

    cost_look_up(&p->sum, key, refs);
    dtrace_cost_add_one(&p->sum, DTRACE_COST_DYNVAR_NEW);
    dtrace_cost_add(&p->sum, DTRACE_COST_BATCH, DTRACE_DYNVAR_BATCH);
    dtrace_cost_add(&p->sum, DTRACE_COST_ZERO, bytes);
    dtrace_cost_text(&p->sum, bytes);
}

/* Adds the beginning of unwinding, which first skips the kernel's frames if the user's are
 * requested. */
static void cost_depth(struct dtrace_cost_sum *s, bool user, uint32_t frames)
{
    dtrace_cost_add_one(s, DTRACE_COST_STACK);
    dtrace_cost_add(s, user ? DTRACE_COST_DEPTH_USER : DTRACE_COST_DEPTH, frames);
    dtrace_cost_add(s, DTRACE_COST_FRAME_ENTRY, user ? DTRACE_FRAMES_OWN : 0);
}

/* Adds measuring a built-in string, or counting frames. */
static __attribute__((noinline)) void cost_builtin(struct pass *p, uint32_t id)
{
    if (DIF_VAR_arg0 <= id && id <= DIF_VAR_arg4) {
        return;
    }
    dtrace_cost_add_one(&p->sum,
                        id < DIF_VAR_OTHER_USER ? DTRACE_COST_BUILTIN : DTRACE_COST_SELDOM);
    switch (id) {
#define STRING(name, text) case DIF_VAR_##name:
#include "trace/dtrace/builtins.def"
        dtrace_cost_add(&p->sum, DTRACE_COST_NAME, p->limits->strsize);
        break;
    case DIF_VAR_stackdepth:
    case DIF_VAR_ustackdepth:
        cost_depth(&p->sum, id == DIF_VAR_ustackdepth, DTRACE_PORT_DEPTH_MOST);
        break;
    case DIF_VAR_caller:
        cost_depth(&p->sum, false, 2 + DTRACE_FRAMES_OWN);
        break;
    case DIF_VAR_ucaller:
        cost_depth(&p->sum, true, 2);
    }
}

/* Adds the cost of an instruction beyond its opcode's. */
static __attribute__((noinline)) void cost_sized(struct pass *p, dif_insn i,
                                                 const struct node *node)
{
    dtrace_amount most = dtrace_amount_sum(
        p->limits->scratch, dtrace_amount_sum(DIF_STATIC_VAR_MAX, p->limits->element));
    struct dtrace_cost_sum *s = &p->sum;

    switch (DIF_INSN_OP(i)) {
    case DIF_OP_scmp:
        dtrace_cost_add(s, DTRACE_COST_TEXT, 2);
        dtrace_cost_add(s, DTRACE_COST_TEXT_COMPARE, p->limits->strsize);
        break;
    case DIF_OP_pushtr:
        dtrace_cost_text(s, DIF_INSN_PUSH_TYPE(i) == DIF_TYPE_STRING ? push_bytes(p, i) : 0);
        break;
    case DIF_OP_call:
        cost_subr(p, DIF_INSN_INDEX(i));
        break;
    case DIF_OP_allocs:
        dtrace_cost_add(s, DTRACE_COST_ZERO, size_of(p, DIF_INSN_R1(i), p->limits->scratch));
        break;
    case DIF_OP_copys:
        dtrace_cost_block(s, size_of(p, DIF_INSN_R2(i), most));
        break;
    case DIF_OP_ldgs:
        cost_builtin(p, DIF_INSN_INDEX(i));
        break;
    case DIF_OP_stgs:
    case DIF_OP_stls:
        dtrace_cost_text(s, variable_bytes(p, DIF_INSN_INDEX(i)));
        break;
    case DIF_OP_ldts:
        cost_look_up(s, 0, 0);
        break;
    case DIF_OP_stts:
        store_dynamic(p, DIF_INSN_INDEX(i), 0, 0);
        break;
    case DIF_OP_ldgaa:
    case DIF_OP_ldtaa:
        cost_look_up(s, node->keys, node->refs);
        break;
    case DIF_OP_stgaa:
    case DIF_OP_sttaa:
        store_dynamic(p, DIF_INSN_INDEX(i), node->keys, node->refs);
    }
}

/* from: the state after the instruction. */
static void cost_reach(struct node *to, const struct node *from)
{
    to->reached = true;
    to->cost = from->cost > to->cost ? from->cost : to->cost;
    to->keys = from->keys > to->keys ? from->keys : to->keys;
    to->refs = from->refs > to->refs ? from->refs : to->refs;
}

/* Updates the known constants after the instruction. */
static void cost_learn(struct pass *p, dif_insn i)
{
    switch (DIF_INSN_OP(i)) {
    case DIF_OP_setx:
        p->value[DIF_INSN_RD(i)] = p->object->ints[DIF_INSN_INDEX(i)];
        p->known[DIF_INSN_RD(i)] = true;
        break;
    case DIF_OP_pushtr:
    case DIF_OP_pushtv:
        if (p->npushed < DIF_TUPLE_REGS) {
            p->pushed[p->npushed] = p->value[DIF_INSN_RD(i)];
            p->pushed_known[p->npushed++] = p->known[DIF_INSN_RD(i)];
        }
        break;
    case DIF_OP_popts:
        p->npushed -= p->npushed > 0;
        break;
    case DIF_OP_flushts:
        p->npushed = 0;
        p->lost = false;
        break;
    default:
        if (dtrace_format_writes(dtrace_formats[DIF_INSN_OP(i)])) {
            p->known[DIF_INSN_RD(i)] = false;
        }
    }
}

static dtrace_amount cost_one(struct pass *p, uint32_t at)
{
    const struct node *node = &p->nodes[at];
    dif_insn i = p->object->text[at];
    uint8_t op = DIF_INSN_OP(i);
    struct node after = *node;

    if (node->target) { /* values are unknown where paths meet */
        for (unsigned reg = 1; reg < DIF_REGS; reg++) {
            p->known[reg] = false;
        }
        p->lost = true;
    }
    p->sum.cost = node->cost;
    dtrace_cost_add_one(&p->sum, DTRACE_COST_INSN);
    dtrace_cost_add_one(&p->sum, op_parts[op]);
    cost_sized(p, i, node);
    after.cost = p->sum.cost;
    if (op == DIF_OP_pushtr || op == DIF_OP_pushtv) {
        after.keys = dtrace_amount_sum(after.keys, push_bytes(p, i));
        after.refs += op == DIF_OP_pushtr && after.refs < DIF_TUPLE_REGS;
    } else if (op == DIF_OP_flushts) {
        after.keys = after.refs = 0;
    }
    cost_learn(p, i);
    if (dtrace_formats[op] == DIF_FORMAT_BRANCH) {
        trace_assert(DIF_INSN_LABEL(i) > at && DIF_INSN_LABEL(i) < p->object->ntext);
        cost_reach(&p->nodes[DIF_INSN_LABEL(i)], &after);
        p->nodes[DIF_INSN_LABEL(i)].target = true;
    }
    if (op != DIF_OP_ba && op != DIF_OP_ret) {
        cost_reach(&p->nodes[at + 1], &after);
    }
    return after.cost;
}

dtrace_amount dtrace_cost_object(const struct dif_object *o,
                                 const struct dtrace_cost_limits *limits)
{
    struct pass p = {
        .object = o, .limits = limits, .sum = {.weights = limits->weights}, .known = {true}};
    size_t bytes = o->ntext * sizeof(*p.nodes);
    dtrace_amount most = 0;
    uint32_t offset;

    p.nodes = dtrace_validate(o, &offset) ? NULL : dtrace_port_alloc(bytes);
    if (!p.nodes) {
        return DTRACE_AMOUNT_MOST;
    }
    p.nodes[0].reached = true;
    for (uint32_t at = 0; at < o->ntext; at++) {
        dtrace_amount cost = p.nodes[at].reached ? cost_one(&p, at) : 0;
        most = cost > most ? cost : most;
    }
    dtrace_port_free(p.nodes, bytes);
    *limits->reads |= p.sum.reads;
    return most;
}
