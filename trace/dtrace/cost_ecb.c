/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Upper bound of a clause's cost: its objects' steps, the bytes it copies and zeroes, its lookup in
 * the aggregation buffer; and the bytes of its record. The clauses of ERROR, which a fault adds,
 * have costs of their own. The image was checked. Control context. Tested by
 * test/d_machine/cost_test.c, and against actual runs by test/d_random.
 */
#include "trace/dtrace/cost.h"

#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/chain.h"
#include "trace/dtrace/image_check.h"

/* Defaults for options missing in the image. */
enum { SCRATCH_DEFAULT = 4 << 20, SPECSIZE_DEFAULT = 32 << 10 };
enum {
    FOLD = 160
}; /* folding a value into its aggregation: llquantize searches its magnitude
                        twice */

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

/* Returns the largest element of any associative array or thread-local variable. */
static uint64_t largest_element(const struct dtrace_image *image, uint32_t strsize)
{
    const struct dif_variable *v = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable);
    uint64_t largest = 8;

    for (uint32_t i = 0; i < image->variables.count; i++) {
        uint64_t size = v[i].type.kind == DIF_TYPE_STRING ? strsize : v[i].type.size;
        largest = v[i].type.ref && size > largest ? size : largest;
    }
    return largest;
}

/* These make a record even without data: the consumer acts on it. */
static bool always_records(uint16_t kind)
{
    return kind == DTRACE_ACT_PRINTF || kind == DTRACE_ACT_PRINTA || kind == DTRACE_ACT_LIBACT ||
           kind == DTRACE_ACT_SYSTEM || kind == DTRACE_ACT_FREOPEN || kind == DTRACE_ACT_SPECULATE;
}

/* Returns whether the action is a key of a later aggregation. */
static bool cost_ecb_is_key(const struct dtrace_image_action *all, uint32_t n, uint32_t nactions)
{
    uint32_t next = n + 1;

    while (next < nactions && !DTRACE_ACT_IS_AGG(all[next].kind)) {
        next++;
    }
    return next < nactions && !DTRACE_ACT_IS_AGG(all[n].kind) && next - n <= all[next].nkeys;
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

struct clause {
    const struct dtrace_image *image;
    const struct dtrace_image_action *all;
    uint32_t nactions, strsize;
    struct dtrace_cost_limits limits;
    uint64_t steps, record;
    bool records;
};

static void add_action(struct clause *c, uint32_t n)
{
    const struct dtrace_image_action *a = &c->all[n];
    uint32_t align, bytes = dtrace_action_bytes(c->image, a, c->strsize, &align);

    c->steps = dtrace_cost_plus(c->steps, object_steps(c->image, a->object, &c->limits));
    c->steps = dtrace_cost_plus(c->steps, object_steps(c->image, a->weight, &c->limits));
    c->steps = dtrace_cost_plus(c->steps, bytes + 1ull);
    if (a->kind == DTRACE_ACT_COMMIT) { /* the records of a whole buffer are moved */
        c->steps = dtrace_cost_plus(
            c->steps, dtrace_image_option_value(c->image, DTRACE_OPT_SPECSIZE, SPECSIZE_DEFAULT));
    }
    if (DTRACE_ACT_IS_AGG(a->kind)) {
        c->steps = dtrace_cost_plus(c->steps, aggregating_steps(c->image, a, c->strsize));
    } else if (!cost_ecb_is_key(c->all, n, c->nactions)) {
        c->records |= bytes > 0 || always_records(a->kind);
        c->record = bytes ? ((c->record + align - 1) & ~(align - 1ull)) + bytes : c->record;
    }
}

struct dtrace_cost dtrace_ecb_cost(const struct dtrace_image *image, uint32_t ecb, uint32_t strsize)
{
    const struct dtrace_image_ecb *e =
        &DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb)[ecb];
    struct clause c = {
        .image = image,
        .all = DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action) + e->first_action,
        .nactions = e->nactions,
        .strsize = strsize,
        .limits = {strsize, dtrace_image_option_value(image, DTRACE_OPT_BUFSIZE, SCRATCH_DEFAULT),
                   largest_element(image, strsize),
                   dtrace_image_option_value(image, DTRACE_OPT_NSPEC, 1)},
        .record = sizeof(struct dtrace_record),
        .records = e->nactions == 0,
    };

    c.steps = object_steps(image, e->predicate, &c.limits);
    for (uint32_t n = 0; n < e->nactions; n++) {
        add_action(&c, n);
    }
    c.record = c.records ? c.record : 0;
    return (struct dtrace_cost){c.steps, c.record > UINT32_MAX ? UINT32_MAX : (uint32_t)c.record};
}
