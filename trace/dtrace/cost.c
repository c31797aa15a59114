/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes an upper bound of a clause's cost: its objects' instructions, the bytes it copies and
 * zeroes, its lookup in the aggregation buffer; and the bytes of its record. The clauses of ERROR,
 * which a fault adds, have costs of their own.
 *
 * Branches go forward only, so one pass from the top of an object finds its longest path. This file
 * says how often there is each part of a probe firing, cost.def what the part costs, in the unit of
 * a table of weights: instructions of a machine, or steps. A step is a DIF instruction, or a byte
 * that is read, copied, compared or zeroed for it; a subroutine has the steps of its COST in
 * opcodes.def; any other operation of the port counts as one step. An unknown size counts as all of
 * scratch, which bounds it at run time. A lookup of a dynamic variable walks a chain twice at most,
 * whose length is bounded (hash.h), and compares few keys. Waiting for another CPU in the same
 * chain is in no bound.
 *
 * Control context. The image was checked. Tested by test/d_machine/cost_test.c; test/d_random
 * counts actual steps, test/bench/firing.py instructions, to show that no program takes more.
 */
#include "trace/dtrace/code.h"

#include "trace/assert.h"
#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/cost.h"
#include "trace/dtrace/dynvar.h"
#include "trace/dtrace/hash.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/subr.h"

enum {
    DIGITS_MOST = 128, /* of a number or an address as text */
    FRAMES_OWN = 24,   /* of the machine and of interrupts, which unwinding passes by */
    /* defaults of options missing in the image */
    SCRATCH_DEFAULT = 4 << 20,
    SPECSIZE_DEFAULT = 32 << 10,
};

enum cost { CONST, DIGITS, NSPEC, STR, STR2, STRSTR, SIZE0, SIZE1, SIZE2 };
static const uint8_t costs[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = cost,
#include "trace/dtrace/opcodes.def"
};

/* The units of a machine's instructions are added in dtrace_weights. */
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

/* Of each opcode, what it costs beyond INSN: an enum dtrace_cost_part. */
static const uint8_t op_parts[DIF_OP_MAX + 1] = {
#define DTRACE_OP_COST(op, name) [DIF_OP_##op] = DTRACE_COST_##name,
#include "trace/dtrace/cost.def"
};

/* Saturates: a sum of bounds never falls below the true cost. */
static uint64_t cost_plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t cost_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the cost of so many of this part. */
static uint64_t cost_parts(const struct dtrace_weights *w, enum dtrace_cost_part part, uint64_t n)
{
    return n >> 48 ? UINT64_MAX : n * w->of[part];
}

/* State before an instruction, by the worst path to it. */
struct node {
    uint64_t cost;
    uint64_t keys; /* bytes pushed */
    uint8_t refs;  /* data pushed by reference */
    bool reached, target;
};

struct pass {
    const struct dif_object *object;
    const struct dtrace_cost_limits *limits;
    const struct dtrace_weights *weights;
    struct node *nodes;
    uint64_t value[DIF_REGS]; /* constants, where known */
    uint64_t pushed[DIF_TUPLE_REGS];
    bool known[DIF_REGS], pushed_known[DIF_TUPLE_REGS];
    uint32_t npushed;
    bool lost; /* the pushed data is unknown until it is dropped */
};

static uint64_t size_of(const struct pass *p, uint32_t reg, uint64_t most)
{
    return p->known[reg] ? cost_least(p->value[reg], most) : most;
}

static uint64_t cost_has(const struct pass *p, enum dtrace_cost_part part, uint64_t n)
{
    return cost_parts(p->weights, part, n);
}

/* Of parts that read memory by blocks: such a read may fault after some tries. */
static uint64_t cost_reads(const struct pass *p, enum dtrace_cost_part part, uint64_t n)
{
    *p->limits->reads |= n > 0;
    return cost_parts(p->weights, part, n);
}

/* Returns the units of a subroutine's COST. */
static uint64_t subr_units(const struct pass *p, uint32_t subr)
{
    uint64_t strsize = p->limits->strsize;
    bool out = subr == DIF_SUBR_copyout || subr == DIF_SUBR_copyoutstr;
    uint64_t most = out ? DTRACE_COPYOUT_MOST : p->limits->scratch;
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
        return strsize * strsize;
    case SIZE0:
    case SIZE1:
    case SIZE2:
        return !p->lost && n < p->npushed && p->pushed_known[n] ? cost_least(p->pushed[n], most)
                                                                : most;
    default:
        return 0;
    }
}

static uint64_t cost_subr(const struct pass *p, uint32_t subr)
{
    const struct dtrace_weights *w = p->weights;
    *p->limits->reads |= costs[subr] != CONST;
    uint64_t n = subr_units(p, subr), each = (uint64_t)w->subr[subr].each * w->subr_each;

    return n >> 48 ? UINT64_MAX : n * each + (uint64_t)w->subr[subr].once * w->subr_once;
}

/* Returns the bytes of a program's own variable, if storing copies it. */
static uint64_t variable_bytes(const struct pass *p, uint32_t id)
{
    const struct dif_object *o = p->object;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < o->nvars; i++) {
        const struct dif_variable *v = &o->vars[i];
        uint64_t size = v->type.kind == DIF_TYPE_STRING ? p->limits->strsize : v->type.size;
        if (v->id == id && v->type.ref && size > bytes) {
            bytes = size;
        }
    }
    return bytes;
}

static uint64_t push_bytes(const struct pass *p, dif_insn i)
{
    if (DIF_INSN_OP(i) == DIF_OP_pushtv) {
        return 8;
    }
    if (DIF_INSN_PUSH_TYPE(i) != DIF_TYPE_STRING) {
        return size_of(p, DIF_INSN_R2(i), DIF_STATIC_VAR_MAX);
    }
    uint64_t size = size_of(p, DIF_INSN_R2(i), p->limits->strsize);
    return size ? size : p->limits->strsize; /* 0: as long as a string may be */
}

/* A lookup of a dynamic variable: its key is zeroed, read, hashed, compared with those of the same
 * hash, and copied if it is new. */
static uint64_t cost_look_up(const struct pass *p, uint64_t key, unsigned refs)
{
    uint64_t parts = cost_plus(cost_reads(p, DTRACE_COST_BLOCK, refs),
                               cost_has(p, DTRACE_COST_KEY, (DTRACE_CHAIN_ALIKE + 4) * key));

    return cost_plus(parts, cost_has(p, DTRACE_COST_DYNVAR, 1) +
                                cost_has(p, DTRACE_COST_CHAIN, 2 * DTRACE_CHAIN_DYNAMIC));
}

/* A variable's data is a string or a block, which costs less, read to where it is copied. */
static uint64_t cost_copied(const struct pass *p, uint64_t bytes)
{
    return bytes ? cost_reads(p, DTRACE_COST_TEXT, 1) +
                       cost_has(p, DTRACE_COST_TEXT_BYTE, bytes)
                 : 0;
}

/* A new one is taken from the free chunks, of which a batch is fetched; zeroed, then filled. */
static uint64_t store_dynamic(const struct pass *p, uint32_t id, uint64_t key, unsigned refs)
{
    uint64_t bytes = variable_bytes(p, id);
    uint64_t made = cost_has(p, DTRACE_COST_DYNVAR_NEW, 1) +
                    cost_has(p, DTRACE_COST_BATCH, DTRACE_DYNVAR_BATCH) +
                    cost_has(p, DTRACE_COST_ZERO, bytes);

    return cost_plus(cost_look_up(p, key, refs), cost_plus(made, cost_copied(p, bytes)));
}

/* A built-in string is measured, frames are counted. */
static uint64_t cost_builtin(const struct pass *p, uint32_t id)
{
    uint64_t cost = cost_has(p, DTRACE_COST_BUILTIN, 1), begins = cost_has(p, DTRACE_COST_STACK, 1);

    switch (id) {
    case DIF_VAR_arg0:
    case DIF_VAR_arg1:
    case DIF_VAR_arg2:
    case DIF_VAR_arg3:
    case DIF_VAR_arg4:
        return 0;
    case DIF_VAR_probeprov:
    case DIF_VAR_probemod:
    case DIF_VAR_probefunc:
    case DIF_VAR_probename:
    case DIF_VAR_execname:
    case DIF_VAR_execargs:
    case DIF_VAR_zonename:
    case DIF_VAR_jailname:
        return cost_plus(cost, cost_has(p, DTRACE_COST_NAME, p->limits->strsize));
    case DIF_VAR_stackdepth:
        return cost + begins + cost_has(p, DTRACE_COST_DEPTH, DTRACE_PORT_DEPTH_MOST);
    case DIF_VAR_ustackdepth:
        return cost + begins + cost_has(p, DTRACE_COST_DEPTH_USER, DTRACE_PORT_DEPTH_MOST) +
               cost_has(p, DTRACE_COST_FRAME_ENTRY, FRAMES_OWN);
    case DIF_VAR_caller:
        return cost + begins + cost_has(p, DTRACE_COST_DEPTH, 2 + FRAMES_OWN);
    case DIF_VAR_ucaller:
        return cost + begins + cost_has(p, DTRACE_COST_DEPTH_USER, 2) +
               cost_has(p, DTRACE_COST_FRAME_ENTRY, FRAMES_OWN);
    default:
        return id < DIF_VAR_OTHER_USER ? cost : cost_has(p, DTRACE_COST_SELDOM, 1);
    }
}

/* Returns what an instruction costs beyond its opcode. */
static uint64_t cost_sized(const struct pass *p, dif_insn i, const struct node *node)
{
    uint64_t most = p->limits->scratch + DIF_STATIC_VAR_MAX + p->limits->element;
    uint64_t strsize = p->limits->strsize;

    switch (DIF_INSN_OP(i)) {
    case DIF_OP_scmp:
        return cost_reads(p, DTRACE_COST_TEXT, 2) + cost_has(p, DTRACE_COST_TEXT_COMPARE, strsize);
    case DIF_OP_pushtr:
        return DIF_INSN_PUSH_TYPE(i) == DIF_TYPE_STRING
                   ? cost_reads(p, DTRACE_COST_TEXT, 1) +
                         cost_has(p, DTRACE_COST_TEXT_BYTE, push_bytes(p, i))
                   : 0;
    case DIF_OP_call:
        return cost_subr(p, DIF_INSN_INDEX(i));
    case DIF_OP_allocs:
        return cost_has(p, DTRACE_COST_ZERO, size_of(p, DIF_INSN_R1(i), p->limits->scratch));
    case DIF_OP_copys:
        return cost_plus(cost_reads(p, DTRACE_COST_BLOCK, 1),
                         cost_has(p, DTRACE_COST_BLOCK_BYTE, size_of(p, DIF_INSN_R2(i), most)));
    case DIF_OP_ldgs:
        return cost_builtin(p, DIF_INSN_INDEX(i));
    case DIF_OP_stgs:
    case DIF_OP_stls:
        return cost_copied(p, variable_bytes(p, DIF_INSN_INDEX(i)));
    case DIF_OP_ldts:
        return cost_look_up(p, 0, 0);
    case DIF_OP_stts:
        return store_dynamic(p, DIF_INSN_INDEX(i), 0, 0);
    case DIF_OP_ldgaa:
    case DIF_OP_ldtaa:
        return cost_look_up(p, node->keys, node->refs);
    case DIF_OP_stgaa:
    case DIF_OP_sttaa:
        return store_dynamic(p, DIF_INSN_INDEX(i), node->keys, node->refs);
    default:
        return 0;
    }
}

/* from: the state behind the instruction. */
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

static uint64_t cost_one(struct pass *p, uint32_t at)
{
    const struct node *node = &p->nodes[at];
    dif_insn i = p->object->text[at];
    uint8_t op = DIF_INSN_OP(i);
    struct node behind = *node;

    if (node->target) { /* nothing is known where paths meet */
        for (unsigned reg = 1; reg < DIF_REGS; reg++) {
            p->known[reg] = false;
        }
        p->lost = true;
    }
    uint64_t own = cost_has(p, DTRACE_COST_INSN, 1) + cost_has(p, op_parts[op], 1);
    behind.cost = cost_plus(node->cost, cost_plus(own, cost_sized(p, i, node)));
    if (op == DIF_OP_pushtr || op == DIF_OP_pushtv) {
        behind.keys += push_bytes(p, i);
        behind.refs += op == DIF_OP_pushtr && behind.refs < DIF_TUPLE_REGS;
    } else if (op == DIF_OP_flushts) {
        behind.keys = behind.refs = 0;
    }
    cost_learn(p, i);
    if (dtrace_formats[op] == DIF_FORMAT_BRANCH) {
        trace_assert(DIF_INSN_LABEL(i) > at && DIF_INSN_LABEL(i) < p->object->ntext);
        cost_reach(&p->nodes[DIF_INSN_LABEL(i)], &behind);
        p->nodes[DIF_INSN_LABEL(i)].target = true;
    }
    if (op != DIF_OP_ba && op != DIF_OP_ret) {
        cost_reach(&p->nodes[at + 1], &behind);
    }
    return behind.cost;
}

uint64_t dtrace_cost_object(const struct dif_object *o, const struct dtrace_cost_limits *limits)
{
    struct pass p = {
        .object = o, .limits = limits, .weights = limits->weights, .known = {true}};
    size_t bytes = o->ntext * sizeof(*p.nodes);
    uint64_t most = 0;
    uint32_t offset;

    p.nodes = dtrace_validate(o, &offset) ? NULL : dtrace_port_alloc(bytes);
    if (!p.nodes) {
        return UINT64_MAX;
    }
    p.nodes[0].reached = true;
    for (uint32_t at = 0; at < o->ntext; at++) {
        uint64_t cost = p.nodes[at].reached ? cost_one(&p, at) : 0;
        most = cost > most ? cost : most;
    }
    dtrace_port_free(p.nodes, bytes);
    return most;
}

/* ---- a clause ---------------------------------------------------------------------- */

static uint64_t cost_of_object(const struct dtrace_image *image, uint32_t object,
                               const struct dtrace_cost_limits *limits)
{
    struct dif_object o;

    if (object == 0) {
        return 0;
    }
    dtrace_image_object_at(image, object - 1, &o);
    return cost_plus(dtrace_cost_object(&o, limits),
                     cost_parts(limits->weights, DTRACE_COST_OBJECT, 1));
}

/* llquantize passes all magnitudes up to the highest. */
static uint64_t cost_of_level(const struct dtrace_weights *w, const struct dtrace_image_action *a)
{
    bool by_magnitude = a->kind == DTRACE_AGG_LLQUANTIZE;
    uint64_t magnitudes = by_magnitude ? DTRACE_LLQUANTIZE_HIGH(a->arg) + 1u : 0;

    return by_magnitude || a->kind == DTRACE_AGG_LQUANTIZE
               ? cost_parts(w, DTRACE_COST_AGG_LEVEL, 1) +
                     cost_parts(w, DTRACE_COST_AGG_MAGNITUDE, magnitudes)
               : 0;
}

/* A chain is walked twice at most; the key is hashed, compared with those of the same hash, and its
 * strings are padded; the value is initialised. Storing its keys was counted as actions. */
static uint64_t cost_of_aggregating(const struct dtrace_image *image,
                                    const struct dtrace_image_action *a,
                                    const struct dtrace_cost_limits *limits)
{
    const struct dtrace_weights *w = limits->weights;
    uint64_t value = dtrace_agg_value_size(a->kind, a->arg), keys = 0;
    uint64_t cost = cost_parts(w, DTRACE_COST_AGG, 1) + cost_of_level(w, a) +
                    cost_parts(w, DTRACE_COST_AGG_CHAIN, 2 * DTRACE_CHAIN_ENTRIES) +
                    cost_parts(w, DTRACE_COST_AGG_BYTE, value);
    uint32_t align;

    for (uint32_t i = 1; i <= a->nkeys; i++) {
        keys += dtrace_action_bytes(image, a - i, (uint32_t)limits->strsize, &align);
    }
    if (limits->retains) { /* the level is found twice more, by what has changed and by the mark */
        cost += cost_parts(w, DTRACE_COST_KEPT, 1) + 2 * cost_of_level(w, a) +
                cost_parts(w, DTRACE_COST_KEPT_BYTE, value + keys);
    }
    return cost_plus(cost, cost_parts(w, DTRACE_COST_AGG_KEY, (DTRACE_CHAIN_ALIKE + 2) * keys));
}

/* What storing an action's datum of so many bytes costs beside its object. */
static uint64_t cost_of_datum(const struct dtrace_image *image, const struct dtrace_image_action *a,
                              const struct dtrace_cost_limits *limits, uint64_t bytes)
{
    const struct dtrace_weights *w = limits->weights;
    uint64_t cost = cost_parts(w, DTRACE_COST_DATUM, bytes), frames = a->arg & UINT32_MAX;
    struct dif_object o;

    if (a->kind == DTRACE_ACT_STACK) {
        return cost + cost_parts(w, DTRACE_COST_STACK, 1) +
               cost_parts(w, DTRACE_COST_FRAME, frames + FRAMES_OWN);
    }
    if (a->kind == DTRACE_ACT_USTACK || a->kind == DTRACE_ACT_JSTACK) {
        return cost + cost_parts(w, DTRACE_COST_STACK, 1) +
               cost_parts(w, DTRACE_COST_FRAME_USER, frames) +
               cost_parts(w, DTRACE_COST_FRAME_ENTRY, FRAMES_OWN);
    }
    if (bytes == 0 || a->object == 0) {
        return 0;
    }
    dtrace_image_object_at(image, a->object - 1, &o);
    bool text = o.result.kind == DIF_TYPE_STRING;
    bool block = a->kind == DTRACE_ACT_TRACEMEM || a->kind == DTRACE_ACT_TRACEMEM_DYNSIZE;
    if (!text && !block && !o.result.ref) {
        return cost;
    }
    *limits->reads = true;
    return text ? cost_parts(w, DTRACE_COST_TEXT, 1) + cost_parts(w, DTRACE_COST_TEXT_BYTE, bytes)
                : cost_parts(w, DTRACE_COST_BLOCK, 1) +
                      cost_parts(w, DTRACE_COST_BLOCK_BYTE, bytes);
}

/* What an action does to its speculation. */
static uint64_t cost_of_speculation(const struct dtrace_image *image,
                                    const struct dtrace_image_action *a,
                                    const struct dtrace_cost_limits *limits)
{
    const struct dtrace_weights *w = limits->weights;
    uint64_t bytes = dtrace_image_option_value(image, DTRACE_OPT_SPECSIZE, SPECSIZE_DEFAULT);
    uint64_t cost = DTRACE_ACT_IS_SPEC(a->kind) ? cost_parts(w, DTRACE_COST_SPECULATE, 1) : 0;

    if (a->kind != DTRACE_ACT_COMMIT) {
        return cost;
    }
    if (limits->logs || limits->retains) {
        cost = cost_plus(cost, cost_parts(w, DTRACE_COST_COMMIT_LOG, bytes));
    }
    return cost_plus(cost, cost_parts(w, DTRACE_COST_COMMIT, bytes)); /* a whole buffer is moved */
}

/* An action without what it aggregates. */
static uint64_t cost_of_action(const struct dtrace_image *image,
                               const struct dtrace_image_action *a,
                               const struct dtrace_cost_limits *limits, uint64_t bytes)
{
    uint64_t cost = cost_plus(cost_of_object(image, a->object, limits),
                              cost_of_object(image, a->weight, limits));

    if (a->kind == DTRACE_ACT_CHILL && limits->weights != &dtrace_weights_steps) {
        return UINT64_MAX; /* it takes a time, not instructions */
    }
    cost = cost_plus(cost, cost_of_datum(image, a, limits, bytes));
    cost = cost_plus(cost, cost_of_speculation(image, a, limits));
    return cost_plus(cost, cost_parts(limits->weights, DTRACE_COST_ACTION, 1));
}

static struct dtrace_cost cost_of_ecb(const struct dtrace_image *image, uint32_t ecb,
                                      const struct dtrace_bounding *by)
{
    const struct dtrace_image_ecb *e =
        &DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb)[ecb];
    const struct dtrace_image_action *all =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action) + e->first_action;
    const struct dif_variable *v = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable);
    bool reads = false;
    struct dtrace_cost_limits limits = {
        .weights = by->weights,
        .reads = &reads,
        .strsize = by->strsize,
        .scratch = dtrace_image_option_value(image, DTRACE_OPT_BUFSIZE, SCRATCH_DEFAULT),
        .element = 8,
        .nspec = dtrace_image_option_value(image, DTRACE_OPT_NSPEC, 1),
        .logs = by->logs,
        .retains = dtrace_image_option_value(image, DTRACE_OPT_RETAIN, 0) != 0};

    for (uint32_t i = 0; i < image->variables.count; i++) {
        uint64_t size = v[i].type.kind == DIF_TYPE_STRING ? by->strsize : v[i].type.size;
        limits.element = v[i].type.ref && size > limits.element ? size : limits.element;
    }
    uint64_t cost = cost_of_object(image, e->predicate, &limits);
    uint64_t record = sizeof(struct dtrace_record);
    bool records = e->nactions == 0;

    for (uint32_t n = 0; n < e->nactions; n++) {
        const struct dtrace_image_action *a = &all[n];
        uint32_t align, bytes = dtrace_action_bytes(image, a, by->strsize, &align);

        cost = cost_plus(cost, cost_of_action(image, a, &limits, bytes));
        if (DTRACE_ACT_IS_AGG(a->kind)) {
            cost = cost_plus(cost, cost_of_aggregating(image, a, &limits));
        } else if (!dtrace_action_is_key(all, n, e->nactions)) {
            records |= bytes || dtrace_action_described(a->kind) || a->kind == DTRACE_ACT_SPECULATE;
            record = bytes ? ((record + align - 1) & ~(align - 1ull)) + bytes : record;
        }
    }
    record = records ? record : 0;
    cost = cost_plus(cost, cost_parts(by->weights, DTRACE_COST_FAULT_READ, reads));
    return (struct dtrace_cost){cost, record > UINT32_MAX ? UINT32_MAX : (uint32_t)record};
}

struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *image, uint32_t ecb, uint32_t strsize)
{
    return cost_of_ecb(
        image, ecb, &(struct dtrace_bounding){.weights = &dtrace_weights_steps, .strsize = strsize});
}

uint64_t dtrace_ecb_bound(const struct dtrace_image *image, uint32_t ecb,
                          const struct dtrace_bounding *by)
{
    const struct dtrace_weights *w = by->weights;
    struct dtrace_cost cost = cost_of_ecb(image, ecb, by);
    uint64_t record = cost.record;
    uint64_t around = cost_parts(w, DTRACE_COST_CLAUSE, 1) + cost_parts(w, DTRACE_COST_FAULT, 1) +
                      cost_parts(w, DTRACE_COST_RECORD, record);

    if (by->logs) {
        around += cost_parts(w, DTRACE_COST_LOG, 1) + cost_parts(w, DTRACE_COST_LOG_BYTE, record);
    }
    if (dtrace_image_option_value(image, DTRACE_OPT_RETAIN, 0)) { /* a lap is marked once more */
        uint64_t lap = dtrace_image_option_value(image, DTRACE_OPT_BUFSIZE, SCRATCH_DEFAULT);
        around += cost_parts(w, DTRACE_COST_KEPT, 1);
        around = cost_plus(around, cost_parts(w, DTRACE_COST_KEPT_BYTE, lap));
    }
    return cost_plus(cost_plus(cost.steps, around), by->error);
}

uint64_t dtrace_firing_bound(const struct dtrace_weights *w, uint64_t clauses)
{
    return cost_plus(clauses, cost_parts(w, DTRACE_COST_FIRE, 1));
}
