/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes an upper bound of the cost that a clause adds to a probe firing: its objects (cost.c),
 * its actions' data, its lookup in the aggregation buffer, its record. The clauses of ERROR, which
 * a fault adds, have bounds of their own. Control context. Tested as cost.c is.
 */
#include "trace/dtrace/cost.h"

#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/code.h"
#include "trace/dtrace/hash.h"
#include "trace/dtrace/helper.h"
#include "trace/dtrace/port.h"

/* Defaults of options missing in the image. */
enum { SCRATCH_DEFAULT = 4 << 20, SPECSIZE_DEFAULT = 32 << 10 };

struct clause {
    const struct dtrace_image *image;
    struct dtrace_cost_limits limits;
    struct dtrace_cost_sum sum;
};

/* Returns an option's value. The largest value, which stands for all above it, means no bound. */
static dtrace_amount option_amount(const struct dtrace_image *image, enum dtrace_option option,
                                   dtrace_amount otherwise)
{
    size_t value = dtrace_image_option_value(image, option, otherwise);

    return value == DTRACE_OPTION_MOST ? DTRACE_AMOUNT_MOST : value;
}

static void cost_of_object(struct clause *c, uint32_t object)
{
    struct dif_object o;

    if (object) {
        dtrace_image_object_at(c->image, object - 1, &o);
        dtrace_cost_more(&c->sum, dtrace_cost_object(&o, &c->limits));
        dtrace_cost_add_one(&c->sum, DTRACE_COST_OBJECT);
    }
}

/* A chain is walked twice at most; the key is hashed, compared with those of the same hash, and its
 * strings are padded; the value is initialised. Storing its keys was counted as actions. The level
 * of llquantize is found by visiting all magnitudes up to the highest; for marks in retained memory
 * it is computed once more. */
static void cost_of_aggregating(struct clause *c, const struct dtrace_image_action *a)
{
    dtrace_amount value = dtrace_agg_value_size(a->kind, a->arg), keys = 0;
    uint32_t found = c->limits.retains ? 2 : 1, align;

    for (uint32_t i = 1; i <= a->nkeys; i++) {
        keys = dtrace_amount_sum(
            keys, dtrace_action_bytes(c->image, a - i, (uint32_t)c->limits.strsize, &align));
    }
    dtrace_cost_add_one(&c->sum, DTRACE_COST_AGG);
    dtrace_cost_add(&c->sum, DTRACE_COST_AGG_CHAIN, 2 * DTRACE_CHAIN_ENTRIES);
    dtrace_cost_add(&c->sum, DTRACE_COST_AGG_KEY,
                    dtrace_amount_product(DTRACE_CHAIN_ALIKE + 2, keys));
    dtrace_cost_add(&c->sum, DTRACE_COST_AGG_BYTE, value);
    if (a->kind == DTRACE_AGG_LQUANTIZE || a->kind == DTRACE_AGG_LLQUANTIZE) {
        dtrace_cost_add(&c->sum, DTRACE_COST_AGG_LEVEL, found);
    }
    if (a->kind == DTRACE_AGG_LLQUANTIZE) {
        dtrace_cost_add(&c->sum, DTRACE_COST_AGG_MAGNITUDE,
                        found * (DTRACE_LLQUANTIZE_HIGH(a->arg) + 1u));
    }
    if (c->limits.retains) {
        dtrace_cost_add_one(&c->sum, DTRACE_COST_KEPT);
        dtrace_cost_add(&c->sum, DTRACE_COST_KEPT_BYTE, dtrace_amount_sum(value, keys));
    }
}

/* Adds the cost of storing an action's datum of this many bytes, besides its object. */
static void cost_of_datum(struct clause *c, const struct dtrace_image_action *a,
                          dtrace_amount bytes)
{
    dtrace_amount frames = (uint32_t)a->arg;
    bool kernel = a->kind == DTRACE_ACT_STACK;
    struct dif_object o = {.result = {.ref = false}};

    if (kernel || a->kind == DTRACE_ACT_USTACK || a->kind == DTRACE_ACT_JSTACK) {
        dtrace_cost_add_one(&c->sum, DTRACE_COST_STACK);
        dtrace_cost_add(&c->sum, kernel ? DTRACE_COST_FRAME : DTRACE_COST_FRAME_USER, frames);
        dtrace_cost_add(&c->sum, kernel ? DTRACE_COST_FRAME : DTRACE_COST_FRAME_ENTRY,
                        DTRACE_FRAMES_OWN);
    } else if (bytes && a->object) {
        dtrace_image_object_at(c->image, a->object - 1, &o);
    }
    if (o.result.kind == DIF_TYPE_STRING) {
        dtrace_cost_text(&c->sum, bytes);
    } else if (a->kind == DTRACE_ACT_TRACEMEM || a->kind == DTRACE_ACT_TRACEMEM_DYNSIZE ||
               o.result.ref) {
        dtrace_cost_block(&c->sum, bytes);
    } else {
        dtrace_cost_add(&c->sum, DTRACE_COST_DATUM, bytes);
    }
}

/* Each frame may run all helpers, whose strings are copied. */
static void cost_of_helpers(struct clause *c, const struct dtrace_image_action *a)
{
    const dtrace_amount frames =
        (uint32_t)a->arg < DTRACE_HELPER_FRAMES ? (uint32_t)a->arg : DTRACE_HELPER_FRAMES;
    struct clause one = *c;

    one.sum.cost = 0;
    one.limits.scratch = DTRACE_HELPER_SCRATCH;
    for (uint32_t n = a->object; n && n <= a->weight; n++) {
        cost_of_object(&one, n);
        dtrace_cost_text(&one.sum, a->arg >> 32);
    }
    dtrace_cost_more(&c->sum, dtrace_amount_product(frames, one.sum.cost));
}

/* Adds the cost of an action, except that of aggregating. A commit moves a whole buffer. */
static void cost_of_action(struct clause *c, const struct dtrace_image_action *a,
                           dtrace_amount bytes)
{
    dtrace_amount moved = option_amount(c->image, DTRACE_OPT_SPECSIZE, SPECSIZE_DEFAULT);

    if (DTRACE_PORT_HELPERS && dtrace_helper_kind(a->kind)) {
        cost_of_helpers(c, a);
    } else {
        cost_of_object(c, a->object);
        cost_of_object(c, a->weight);
    }
    dtrace_cost_add_one(&c->sum, DTRACE_COST_ACTION);
    cost_of_datum(c, a, bytes);
    if (DTRACE_ACT_IS_SPEC(a->kind)) {
        dtrace_cost_add_one(&c->sum, DTRACE_COST_SPECULATE);
    }
    if (a->kind == DTRACE_ACT_COMMIT) {
        dtrace_cost_add(&c->sum, DTRACE_COST_COMMIT, moved);
        dtrace_cost_add(&c->sum, DTRACE_COST_COMMIT_LOG,
                        c->limits.logs || c->limits.retains ? moved : 0);
    }
    if (a->kind == DTRACE_ACT_CHILL) { /* it takes time: no number of instructions bounds it */
        dtrace_cost_add(&c->sum, DTRACE_COST_CHILL, DTRACE_AMOUNT_MOST);
    }
}

/* Adds the cost of a clause. Returns the size of its record in bytes. */
static dtrace_amount cost_of_clause(struct clause *c, const struct dtrace_image_ecb *e)
{
    const struct dtrace_image_action *all =
        DTRACE_IMAGE_TABLE(c->image, actions, struct dtrace_image_action) + e->first_action;
    dtrace_amount record = sizeof(struct dtrace_record);
    bool records = e->nactions == 0;

    cost_of_object(c, e->predicate);
    for (uint32_t n = 0; n < e->nactions; n++) {
        const struct dtrace_image_action *a = &all[n];
        uint32_t align,
            bytes = dtrace_action_bytes(c->image, a, (uint32_t)c->limits.strsize, &align);

        cost_of_action(c, a, bytes);
        if (DTRACE_ACT_IS_AGG(a->kind)) {
            cost_of_aggregating(c, a);
        } else if (!dtrace_action_is_key(all, n, e->nactions)) {
            records |= bytes || dtrace_action_described(a->kind) || a->kind == DTRACE_ACT_SPECULATE;
            record = dtrace_amount_sum(record, bytes ? -record % align + bytes : 0);
        }
    }
    dtrace_cost_add(&c->sum, DTRACE_COST_FAULT_READ, c->sum.reads);
    return records ? record : 0;
}

/* Computes a clause's cost, in *c. Returns the size of its record in bytes. */
static dtrace_amount cost_of_ecb(struct clause *c, const struct dtrace_image *image, uint32_t ecb,
                                 const struct dtrace_bounding *by)
{
    const struct dif_variable *v = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable);

    *c = (struct clause){.image = image, .sum = {.weights = by->weights}};
    c->limits = (struct dtrace_cost_limits){
        .weights = by->weights,
        .strsize = by->strsize,
        .scratch = option_amount(image, DTRACE_OPT_BUFSIZE, SCRATCH_DEFAULT),
        .element = 8,
        .nspec = option_amount(image, DTRACE_OPT_NSPEC, 1),
        .logs = by->logs,
        .retains = dtrace_image_option_value(image, DTRACE_OPT_RETAIN, 0) != 0,
        .reads = &c->sum.reads};
    for (uint32_t i = 0; i < image->variables.count; i++) {
        dtrace_amount size = v[i].type.kind == DIF_TYPE_STRING ? by->strsize : v[i].type.size;
        c->limits.element = v[i].type.ref && size > c->limits.element ? size : c->limits.element;
    }
    return cost_of_clause(c, &DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb)[ecb]);
}

struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *image, uint32_t ecb, uint32_t strsize)
{
    const struct dtrace_bounding by = {.weights = &dtrace_weights_steps, .strsize = strsize};
    struct clause c;
    dtrace_amount record = cost_of_ecb(&c, image, ecb, &by);

    return (struct dtrace_cost){c.sum.cost, (uint32_t)dtrace_amount_least(UINT32_MAX, record)};
}

dtrace_amount dtrace_ecb_bound(const struct dtrace_image *image, uint32_t ecb,
                               const struct dtrace_bounding *by)
{
    struct clause c;
    dtrace_amount record = cost_of_ecb(&c, image, ecb, by);

    dtrace_cost_add_one(&c.sum, DTRACE_COST_CLAUSE);
    dtrace_cost_add_one(&c.sum, DTRACE_COST_FAULT);
    dtrace_cost_add(&c.sum, DTRACE_COST_RECORD, record);
    if (by->logs) {
        dtrace_cost_add_one(&c.sum, DTRACE_COST_LOG);
        dtrace_cost_add(&c.sum, DTRACE_COST_LOG_BYTE, record);
    }
    if (c.limits.retains) { /* in a ring, a whole lap may be marked once more */
        dtrace_cost_add_one(&c.sum, DTRACE_COST_KEPT);
        dtrace_cost_add(&c.sum, DTRACE_COST_KEPT_BYTE, c.limits.scratch);
    }
    dtrace_cost_more(&c.sum, by->error);
    return c.sum.cost;
}

dtrace_amount dtrace_firing_bound(const struct dtrace_weights *w, dtrace_amount clauses)
{
    struct dtrace_cost_sum sum = {.weights = w, .cost = clauses};

    dtrace_cost_add_one(&sum, DTRACE_COST_FIRE);
    return sum.cost;
}

const char *dtrace_weights_unit(const struct dtrace_weights *w)
{
    return w->unit;
}
