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

/* A sum of parts. */
struct sum {
    const struct dtrace_weights *weights;
    uint64_t cost;
    bool reads; /* it has a read of a block, which may fault after some tries */
};

/* Adds so many of this part. */
static __attribute__((noinline)) void cost_add(struct sum *s, enum dtrace_cost_part part,
                                               uint64_t n)
{
    uint32_t each = s->weights->of[part];

    s->reads |= n && (part == DTRACE_COST_TEXT || part == DTRACE_COST_BLOCK);
    s->cost = cost_plus(s->cost, n >> 48 && each ? UINT64_MAX : n * each);
}

static __attribute__((noinline)) void cost_add_one(struct sum *s, enum dtrace_cost_part part)
{
    cost_add(s, part, 1);
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
    struct sum sum; /* of the path to this instruction, and of its own parts so far */
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

static void cost_subr(struct pass *p, uint32_t subr)
{
    const struct dtrace_weights *w = p->sum.weights;
    uint64_t n = subr_units(p, subr), each = (uint64_t)w->subr[subr].each * w->subr_each;

    p->sum.reads |= costs[subr] != CONST;
    n = n >> 48 ? UINT64_MAX : n * each + (uint32_t)w->subr[subr].once * w->subr_once;
    p->sum.cost = cost_plus(p->sum.cost, n);
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
static void cost_look_up(struct sum *s, uint64_t key, unsigned refs)
{
    cost_add_one(s, DTRACE_COST_DYNVAR);
    cost_add(s, DTRACE_COST_CHAIN, 2 * DTRACE_CHAIN_DYNAMIC);
    cost_add(s, DTRACE_COST_KEY, (DTRACE_CHAIN_ALIKE + 4) * key);
    cost_add(s, DTRACE_COST_BLOCK, refs);
}

static void cost_text(struct sum *s, uint64_t bytes)
{
    cost_add(s, DTRACE_COST_TEXT, bytes > 0);
    cost_add(s, DTRACE_COST_TEXT_BYTE, bytes);
}

static void cost_block(struct sum *s, uint64_t bytes)
{
    cost_add_one(s, DTRACE_COST_BLOCK);
    cost_add(s, DTRACE_COST_BLOCK_BYTE, bytes);
}

/* A new one is taken from the free chunks, of which a batch is fetched; zeroed, then filled: with a
 * string, or a block, which costs less. */
static void store_dynamic(struct pass *p, uint32_t id, uint64_t key, unsigned refs)
{
    uint64_t bytes = variable_bytes(p, id);

    cost_look_up(&p->sum, key, refs);
    cost_add_one(&p->sum, DTRACE_COST_DYNVAR_NEW);
    cost_add(&p->sum, DTRACE_COST_BATCH, DTRACE_DYNVAR_BATCH);
    cost_add(&p->sum, DTRACE_COST_ZERO, bytes);
    cost_text(&p->sum, bytes);
}

/* Unwinding begins, after it has passed by the kernel's frames if the user's are wanted. */
static void cost_depth(struct sum *s, bool user, uint32_t frames)
{
    cost_add_one(s, DTRACE_COST_STACK);
    cost_add(s, user ? DTRACE_COST_DEPTH_USER : DTRACE_COST_DEPTH, frames);
    cost_add(s, DTRACE_COST_FRAME_ENTRY, user ? FRAMES_OWN : 0);
}

/* A built-in string is measured, frames are counted. */
static void cost_builtin(struct pass *p, uint32_t id)
{
    if (DIF_VAR_arg0 <= id && id <= DIF_VAR_arg4) {
        return;
    }
    cost_add_one(&p->sum, id < DIF_VAR_OTHER_USER ? DTRACE_COST_BUILTIN : DTRACE_COST_SELDOM);
    switch (id) {
    case DIF_VAR_probeprov:
    case DIF_VAR_probemod:
    case DIF_VAR_probefunc:
    case DIF_VAR_probename:
    case DIF_VAR_execname:
    case DIF_VAR_execargs:
    case DIF_VAR_zonename:
    case DIF_VAR_jailname:
        cost_add(&p->sum, DTRACE_COST_NAME, p->limits->strsize);
        break;
    case DIF_VAR_stackdepth:
    case DIF_VAR_ustackdepth:
        cost_depth(&p->sum, id == DIF_VAR_ustackdepth, DTRACE_PORT_DEPTH_MOST);
        break;
    case DIF_VAR_caller:
        cost_depth(&p->sum, false, 2 + FRAMES_OWN);
        break;
    case DIF_VAR_ucaller:
        cost_depth(&p->sum, true, 2);
    }
}

/* Adds what an instruction costs beyond its opcode. */
static void cost_sized(struct pass *p, dif_insn i, const struct node *node)
{
    uint64_t most = p->limits->scratch + DIF_STATIC_VAR_MAX + p->limits->element;
    struct sum *s = &p->sum;

    switch (DIF_INSN_OP(i)) {
    case DIF_OP_scmp:
        cost_add(s, DTRACE_COST_TEXT, 2);
        cost_add(s, DTRACE_COST_TEXT_COMPARE, p->limits->strsize);
        break;
    case DIF_OP_pushtr:
        cost_text(s, DIF_INSN_PUSH_TYPE(i) == DIF_TYPE_STRING ? push_bytes(p, i) : 0);
        break;
    case DIF_OP_call:
        cost_subr(p, DIF_INSN_INDEX(i));
        break;
    case DIF_OP_allocs:
        cost_add(s, DTRACE_COST_ZERO, size_of(p, DIF_INSN_R1(i), p->limits->scratch));
        break;
    case DIF_OP_copys:
        cost_block(s, size_of(p, DIF_INSN_R2(i), most));
        break;
    case DIF_OP_ldgs:
        cost_builtin(p, DIF_INSN_INDEX(i));
        break;
    case DIF_OP_stgs:
    case DIF_OP_stls:
        cost_text(s, variable_bytes(p, DIF_INSN_INDEX(i)));
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
    p->sum.cost = node->cost;
    cost_add_one(&p->sum, DTRACE_COST_INSN);
    cost_add_one(&p->sum, op_parts[op]);
    cost_sized(p, i, node);
    behind.cost = p->sum.cost;
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
        .object = o, .limits = limits, .sum = {.weights = limits->weights}, .known = {true}};
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
    *limits->reads |= p.sum.reads;
    return most;
}

/* ---- a clause ---------------------------------------------------------------------- */

struct clause {
    const struct dtrace_image *image;
    struct dtrace_cost_limits limits;
    struct sum sum;
};

static void cost_of_object(struct clause *c, uint32_t object)
{
    struct dif_object o;

    if (object) {
        dtrace_image_object_at(c->image, object - 1, &o);
        c->sum.cost = cost_plus(c->sum.cost, dtrace_cost_object(&o, &c->limits));
        cost_add_one(&c->sum, DTRACE_COST_OBJECT);
    }
}

/* A chain is walked twice at most; the key is hashed, compared with those of the same hash, and its
 * strings are padded; the value is initialised. Storing its keys was counted as actions. The level
 * of llquantize is found by passing all magnitudes up to the highest; for marks in retained memory
 * it is found once more. */
static void cost_of_aggregating(struct clause *c, const struct dtrace_image_action *a)
{
    uint64_t value = dtrace_agg_value_size(a->kind, a->arg), keys = 0;
    uint32_t found = c->limits.retains ? 2 : 1, align;

    for (uint32_t i = 1; i <= a->nkeys; i++) {
        keys += dtrace_action_bytes(c->image, a - i, (uint32_t)c->limits.strsize, &align);
    }
    cost_add_one(&c->sum, DTRACE_COST_AGG);
    cost_add(&c->sum, DTRACE_COST_AGG_CHAIN, 2 * DTRACE_CHAIN_ENTRIES);
    cost_add(&c->sum, DTRACE_COST_AGG_KEY, (DTRACE_CHAIN_ALIKE + 2) * keys);
    cost_add(&c->sum, DTRACE_COST_AGG_BYTE, value);
    if (a->kind == DTRACE_AGG_LQUANTIZE || a->kind == DTRACE_AGG_LLQUANTIZE) {
        cost_add(&c->sum, DTRACE_COST_AGG_LEVEL, found);
    }
    if (a->kind == DTRACE_AGG_LLQUANTIZE) {
        cost_add(&c->sum, DTRACE_COST_AGG_MAGNITUDE,
                 found * (DTRACE_LLQUANTIZE_HIGH(a->arg) + 1u));
    }
    if (c->limits.retains) {
        cost_add_one(&c->sum, DTRACE_COST_KEPT);
        cost_add(&c->sum, DTRACE_COST_KEPT_BYTE, value + keys);
    }
}

/* What storing an action's datum of so many bytes costs beside its object. */
static void cost_of_datum(struct clause *c, const struct dtrace_image_action *a, uint64_t bytes)
{
    uint64_t frames = a->arg & UINT32_MAX;
    bool kernel = a->kind == DTRACE_ACT_STACK;
    struct dif_object o = {.result = {.ref = false}};

    if (kernel || a->kind == DTRACE_ACT_USTACK || a->kind == DTRACE_ACT_JSTACK) {
        cost_add_one(&c->sum, DTRACE_COST_STACK);
        cost_add(&c->sum, kernel ? DTRACE_COST_FRAME : DTRACE_COST_FRAME_USER, frames);
        cost_add(&c->sum, kernel ? DTRACE_COST_FRAME : DTRACE_COST_FRAME_ENTRY, FRAMES_OWN);
    } else if (bytes && a->object) {
        dtrace_image_object_at(c->image, a->object - 1, &o);
    }
    if (o.result.kind == DIF_TYPE_STRING) {
        cost_text(&c->sum, bytes);
    } else if (a->kind == DTRACE_ACT_TRACEMEM || a->kind == DTRACE_ACT_TRACEMEM_DYNSIZE ||
               o.result.ref) {
        cost_block(&c->sum, bytes);
    } else {
        cost_add(&c->sum, DTRACE_COST_DATUM, bytes);
    }
}

/* An action without what it aggregates. A commit moves a whole buffer. */
static void cost_of_action(struct clause *c, const struct dtrace_image_action *a, uint64_t bytes)
{
    uint64_t moved = dtrace_image_option_value(c->image, DTRACE_OPT_SPECSIZE, SPECSIZE_DEFAULT);

    cost_of_object(c, a->object);
    cost_of_object(c, a->weight);
    cost_add_one(&c->sum, DTRACE_COST_ACTION);
    cost_of_datum(c, a, bytes);
    if (DTRACE_ACT_IS_SPEC(a->kind)) {
        cost_add_one(&c->sum, DTRACE_COST_SPECULATE);
    }
    if (a->kind == DTRACE_ACT_COMMIT) {
        cost_add(&c->sum, DTRACE_COST_COMMIT, moved);
        cost_add(&c->sum, DTRACE_COST_COMMIT_LOG,
                 c->limits.logs || c->limits.retains ? moved : 0);
    }
    if (a->kind == DTRACE_ACT_CHILL) { /* it takes a time: no instructions bound it */
        cost_add(&c->sum, DTRACE_COST_CHILL, UINT64_MAX);
    }
}

/* Returns the bytes of its record. */
static uint64_t cost_of_clause(struct clause *c, const struct dtrace_image_ecb *e)
{
    const struct dtrace_image_action *all =
        DTRACE_IMAGE_TABLE(c->image, actions, struct dtrace_image_action) + e->first_action;
    uint64_t record = sizeof(struct dtrace_record);
    bool records = e->nactions == 0;

    cost_of_object(c, e->predicate);
    for (uint32_t n = 0; n < e->nactions; n++) {
        const struct dtrace_image_action *a = &all[n];
        uint32_t align, bytes =
                            dtrace_action_bytes(c->image, a, (uint32_t)c->limits.strsize, &align);

        cost_of_action(c, a, bytes);
        if (DTRACE_ACT_IS_AGG(a->kind)) {
            cost_of_aggregating(c, a);
        } else if (!dtrace_action_is_key(all, n, e->nactions)) {
            records |= bytes || dtrace_action_described(a->kind) || a->kind == DTRACE_ACT_SPECULATE;
            record = bytes ? ((record + align - 1) & ~(align - 1ull)) + bytes : record;
        }
    }
    cost_add(&c->sum, DTRACE_COST_FAULT_READ, c->sum.reads);
    return records ? record : 0;
}

/* Computes a clause's cost, in *c, and returns the bytes of its record. */
static uint64_t cost_of_ecb(struct clause *c, const struct dtrace_image *image, uint32_t ecb,
                            const struct dtrace_bounding *by)
{
    const struct dif_variable *v = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable);

    *c = (struct clause){.image = image, .sum = {.weights = by->weights}};
    c->limits = (struct dtrace_cost_limits){
        .weights = by->weights,
        .strsize = by->strsize,
        .scratch = dtrace_image_option_value(image, DTRACE_OPT_BUFSIZE, SCRATCH_DEFAULT),
        .element = 8,
        .nspec = dtrace_image_option_value(image, DTRACE_OPT_NSPEC, 1),
        .logs = by->logs,
        .retains = dtrace_image_option_value(image, DTRACE_OPT_RETAIN, 0) != 0,
        .reads = &c->sum.reads};
    for (uint32_t i = 0; i < image->variables.count; i++) {
        uint64_t size = v[i].type.kind == DIF_TYPE_STRING ? by->strsize : v[i].type.size;
        c->limits.element =
            v[i].type.ref && size > c->limits.element ? size : c->limits.element;
    }
    return cost_of_clause(c, &DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb)[ecb]);
}

struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *image, uint32_t ecb, uint32_t strsize)
{
    const struct dtrace_bounding by = {.weights = &dtrace_weights_steps, .strsize = strsize};
    struct clause c;
    uint64_t record = cost_of_ecb(&c, image, ecb, &by);

    return (struct dtrace_cost){c.sum.cost, record > UINT32_MAX ? UINT32_MAX : (uint32_t)record};
}

uint64_t dtrace_ecb_bound(const struct dtrace_image *image, uint32_t ecb,
                          const struct dtrace_bounding *by)
{
    struct clause c;
    uint64_t record = cost_of_ecb(&c, image, ecb, by);

    cost_add_one(&c.sum, DTRACE_COST_CLAUSE);
    cost_add_one(&c.sum, DTRACE_COST_FAULT);
    cost_add(&c.sum, DTRACE_COST_RECORD, record);
    if (by->logs) {
        cost_add_one(&c.sum, DTRACE_COST_LOG);
        cost_add(&c.sum, DTRACE_COST_LOG_BYTE, record);
    }
    if (c.limits.retains) { /* of a ring, a whole lap may be marked once more */
        cost_add_one(&c.sum, DTRACE_COST_KEPT);
        cost_add(&c.sum, DTRACE_COST_KEPT_BYTE, c.limits.scratch);
    }
    return cost_plus(c.sum.cost, by->error);
}

uint64_t dtrace_firing_bound(const struct dtrace_weights *w, uint64_t clauses)
{
    return cost_plus(clauses, w->of[DTRACE_COST_FIRE]);
}
