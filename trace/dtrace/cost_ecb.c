/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The most that a clause can cost: its objects' steps, the bytes that it copies and zeroes, its
 * look into the aggregation buffer; and the bytes of its record. What a fault adds, the clauses of
 * ERROR, have costs of their own. The image was checked. Control context. Tested by
 * test/d_machine/cost_test.c, and against what runs by test/d_random.
 */
#include "trace/dtrace/cost.h"

#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/chain.h"
#include "trace/dtrace/image_check.h"

/* If the image doesn't say. */
enum { SCRATCH_DEFAULT = 4 << 20, SPECSIZE_DEFAULT = 32 << 10 };
enum { FOLD = 160 }; /* of a value into its aggregation: llquantize looks for its magnitude twice */

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

/* The largest element that some associative array or thread has. */
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

/* Even without data these make a record: the consumer acts on it. */
static bool always_records(uint16_t kind)
{
    return kind == DTRACE_ACT_PRINTF || kind == DTRACE_ACT_PRINTA || kind == DTRACE_ACT_LIBACT ||
           kind == DTRACE_ACT_SYSTEM || kind == DTRACE_ACT_FREOPEN || kind == DTRACE_ACT_SPECULATE;
}

/* Whether the action is a key of an aggregation behind it. */
static bool is_key(const struct dtrace_image_action *all, uint32_t n, uint32_t nactions)
{
    uint32_t next = n + 1;

    while (next < nactions && !DTRACE_ACT_IS_AGG(all[next].kind)) {
        next++;
    }
    return next < nactions && !DTRACE_ACT_IS_AGG(all[n].kind) && next - n <= all[next].nkeys;
}

/* A chain is walked twice at most; the key is hashed, compared with those of the same hash, and its
 * strings are filled up; the value is begun. Its keys were stored as actions. */
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
    } else if (!is_key(c->all, n, c->nactions)) {
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
