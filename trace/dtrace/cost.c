/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes an upper bound of a clause's cost: its objects' steps, the bytes it copies and zeroes,
 * its lookup in the aggregation buffer; and the bytes of its record. The clauses of ERROR, which a
 * fault adds, have costs of their own.
 *
 * Branches go forward only, so one pass from the top of an object finds its longest path. A step is
 * an instruction, or a byte that is read, copied, compared or zeroed for it; a subroutine has the
 * steps of its COST in opcodes.def. An unknown size counts as all of scratch, which bounds it at
 * run time. A lookup of a dynamic variable walks a chain twice at most, whose length is bounded
 * (hash.h), and compares few keys. Any other operation of the port counts as one step; so does
 * waiting for another CPU in the same chain.
 *
 * Control context. The image was checked. Tested by test/d_machine/cost_test.c; test/d_random
 * counts actual steps to show that no program takes more.
 */
#include "trace/dtrace/code.h"

#include "trace/assert.h"
#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/dynvar.h"
#include "trace/dtrace/hash.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/subr.h"

enum {
    DIGITS_MOST = 128, /* of a number or an address as text */
    CLAUSE = 8,        /* entering a clause, finding room for its record, committing it */
    FOLD = 160,        /* folding a value into its aggregation: llquantize finds it twice */
    /* defaults of options missing in the image */
    SCRATCH_DEFAULT = 4 << 20,
    SPECSIZE_DEFAULT = 32 << 10,
};

enum cost { CONST, DIGITS, NSPEC, STR, STR2, STRSTR, SIZE0, SIZE1, SIZE2 };
static const uint8_t costs[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = cost,
#include "trace/dtrace/opcodes.def"
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

/* State before an instruction, by the worst path to it. */
struct node {
    uint64_t steps;
    uint64_t keys; /* bytes pushed */
    bool reached, target;
};

struct pass {
    const struct dif_object *object;
    const struct dtrace_cost_limits *limits;
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

static uint64_t subr_steps(const struct pass *p, uint32_t subr)
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
static uint64_t cost_look_up(uint64_t key)
{
    return (uint64_t)2 * DTRACE_CHAIN_DYNAMIC + (DTRACE_CHAIN_ALIKE + 4) * key;
}

/* A new one is taken from the free chunks, of which a batch is fetched; zeroed, then filled. */
static uint64_t store_dynamic(const struct pass *p, uint32_t id, uint64_t key)
{
    return cost_look_up(key) + DTRACE_DYNVAR_BATCH + 2 * variable_bytes(p, id);
}

/* A built-in string is measured, frames are counted. */
static uint64_t builtin_steps(const struct pass *p, uint32_t id)
{
    switch (id) {
    case DIF_VAR_probeprov:
    case DIF_VAR_probemod:
    case DIF_VAR_probefunc:
    case DIF_VAR_probename:
    case DIF_VAR_execname:
    case DIF_VAR_execargs:
    case DIF_VAR_zonename:
    case DIF_VAR_jailname:
        return p->limits->strsize;
    case DIF_VAR_stackdepth:
    case DIF_VAR_ustackdepth:
    case DIF_VAR_caller:
    case DIF_VAR_ucaller:
        return DTRACE_PORT_DEPTH_MOST;
    default:
        return 0;
    }
}

/* Returns the steps of an instruction beyond its own. */
static uint64_t extra_steps(const struct pass *p, dif_insn i, const struct node *node)
{
    uint64_t most = p->limits->scratch + DIF_STATIC_VAR_MAX + p->limits->element;

    switch (DIF_INSN_OP(i)) {
    case DIF_OP_scmp:
        return p->limits->strsize;
    case DIF_OP_pushtr:
        return DIF_INSN_PUSH_TYPE(i) == DIF_TYPE_STRING ? push_bytes(p, i) : 0;
    case DIF_OP_call:
        return subr_steps(p, DIF_INSN_INDEX(i));
    case DIF_OP_allocs:
        return size_of(p, DIF_INSN_R1(i), p->limits->scratch);
    case DIF_OP_copys:
        return size_of(p, DIF_INSN_R2(i), most);
    case DIF_OP_ldgs:
        return builtin_steps(p, DIF_INSN_INDEX(i));
    case DIF_OP_stgs:
    case DIF_OP_stls:
        return variable_bytes(p, DIF_INSN_INDEX(i));
    case DIF_OP_ldts:
        return cost_look_up(0);
    case DIF_OP_stts:
        return store_dynamic(p, DIF_INSN_INDEX(i), 0);
    case DIF_OP_ldgaa:
    case DIF_OP_ldtaa:
        return cost_look_up(node->keys);
    case DIF_OP_stgaa:
    case DIF_OP_sttaa:
        return store_dynamic(p, DIF_INSN_INDEX(i), node->keys);
    default:
        return 0;
    }
}

static void cost_reach(struct node *to, uint64_t steps, uint64_t keys)
{
    to->reached = true;
    to->steps = steps > to->steps ? steps : to->steps;
    to->keys = keys > to->keys ? keys : to->keys;
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
    uint64_t keys = node->keys;

    if (node->target) { /* nothing is known where paths meet */
        for (unsigned reg = 1; reg < DIF_REGS; reg++) {
            p->known[reg] = false;
        }
        p->lost = true;
    }
    uint64_t steps = cost_plus(node->steps, cost_plus(1, extra_steps(p, i, node)));
    if (DIF_INSN_OP(i) == DIF_OP_pushtr || DIF_INSN_OP(i) == DIF_OP_pushtv) {
        keys += push_bytes(p, i);
    } else if (DIF_INSN_OP(i) == DIF_OP_flushts) {
        keys = 0;
    }
    cost_learn(p, i);
    if (dtrace_formats[DIF_INSN_OP(i)] == DIF_FORMAT_BRANCH) {
        trace_assert(DIF_INSN_LABEL(i) > at && DIF_INSN_LABEL(i) < p->object->ntext);
        cost_reach(&p->nodes[DIF_INSN_LABEL(i)], steps, keys);
        p->nodes[DIF_INSN_LABEL(i)].target = true;
    }
    if (DIF_INSN_OP(i) != DIF_OP_ba && DIF_INSN_OP(i) != DIF_OP_ret) {
        cost_reach(&p->nodes[at + 1], steps, keys);
    }
    return steps;
}

uint64_t dtrace_cost_object(const struct dif_object *o, const struct dtrace_cost_limits *limits)
{
    struct pass p = {.object = o, .limits = limits, .known = {true}};
    size_t bytes = o->ntext * sizeof(*p.nodes);
    uint64_t most = 0;
    uint32_t offset;

    p.nodes = dtrace_validate(o, &offset) ? NULL : dtrace_port_alloc(bytes);
    if (!p.nodes) {
        return UINT64_MAX;
    }
    p.nodes[0].reached = true;
    for (uint32_t at = 0; at < o->ntext; at++) {
        uint64_t steps = p.nodes[at].reached ? cost_one(&p, at) : 0;
        most = steps > most ? steps : most;
    }
    dtrace_port_free(p.nodes, bytes);
    return most;
}

/* ---- a clause ---------------------------------------------------------------------- */

static uint64_t object_steps(const struct dtrace_image *image, uint32_t object,
                             const struct dtrace_cost_limits *limits)
{
    struct dif_object o;

    if (object == 0) {
        return 0;
    }
    dtrace_image_object_at(image, object - 1, &o);
    return dtrace_cost_object(&o, limits);
}

/* A chain is walked twice at most; the key is hashed, compared with those of the same hash, and its
 * strings are padded; the value is initialised. Storing its keys was counted as actions. */
static uint64_t aggregating_steps(const struct dtrace_image *image,
                                  const struct dtrace_image_action *a, uint32_t strsize)
{
    uint64_t steps = 2 * DTRACE_CHAIN_ENTRIES + dtrace_agg_value_size(a->kind, a->arg) + FOLD;
    uint32_t align;

    for (uint32_t i = 1; i <= a->nkeys; i++) {
        steps +=
            (uint64_t)(DTRACE_CHAIN_ALIKE + 2) * dtrace_action_bytes(image, a - i, strsize, &align);
    }
    return steps;
}

struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *image, uint32_t ecb, uint32_t strsize)
{
    const struct dtrace_image_ecb *e =
        &DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb)[ecb];
    const struct dtrace_image_action *all =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action) + e->first_action;
    const struct dif_variable *v = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable);
    struct dtrace_cost_limits limits = {
        .strsize = strsize,
        .scratch = dtrace_image_option_value(image, DTRACE_OPT_BUFSIZE, SCRATCH_DEFAULT),
        .element = 8,
        .nspec = dtrace_image_option_value(image, DTRACE_OPT_NSPEC, 1)};

    for (uint32_t i = 0; i < image->variables.count; i++) {
        uint64_t size = v[i].type.kind == DIF_TYPE_STRING ? strsize : v[i].type.size;
        limits.element = v[i].type.ref && size > limits.element ? size : limits.element;
    }
    uint64_t steps = object_steps(image, e->predicate, &limits);
    uint64_t record = sizeof(struct dtrace_record);
    bool records = e->nactions == 0;

    for (uint32_t n = 0; n < e->nactions; n++) {
        const struct dtrace_image_action *a = &all[n];
        uint32_t align, bytes = dtrace_action_bytes(image, a, strsize, &align);

        steps = cost_plus(steps, object_steps(image, a->object, &limits));
        steps = cost_plus(steps, object_steps(image, a->weight, &limits));
        steps = cost_plus(steps, bytes + 1ull);
        if (a->kind == DTRACE_ACT_COMMIT) { /* the records of a whole buffer are moved */
            steps = cost_plus(
                steps, dtrace_image_option_value(image, DTRACE_OPT_SPECSIZE, SPECSIZE_DEFAULT));
        }
        if (DTRACE_ACT_IS_AGG(a->kind)) {
            steps = cost_plus(steps, aggregating_steps(image, a, strsize));
        } else if (!dtrace_action_is_key(all, n, e->nactions)) {
            records |= bytes || dtrace_action_described(a->kind) || a->kind == DTRACE_ACT_SPECULATE;
            record = bytes ? ((record + align - 1) & ~(align - 1ull)) + bytes : record;
        }
    }
    record = records ? record : 0;
    return (struct dtrace_cost){steps, record > UINT32_MAX ? UINT32_MAX : (uint32_t)record};
}

uint64_t dtrace_ecb_bound(const struct dtrace_image *image, uint32_t ecb, uint32_t strsize,
                          uint64_t error)
{
    struct dtrace_cost cost = dtrace_ecb_cost(image, ecb, strsize);

    return cost_plus(cost_plus(cost.steps, (uint64_t)cost.record + CLAUSE), error);
}
