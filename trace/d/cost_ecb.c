/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The most that a clause can cost: its objects' steps and the bytes that it copies, and the bytes
 * of its record. The image was checked. Control context. Tested by test/d_machine/cost_test.c.
 */
#include "trace/d/cost.h"
#include "trace/d/image_check.h"

enum { SCRATCH_DEFAULT = 4 << 20 }; /* bufsize, if the image doesn't say */

static uint64_t object_steps(const struct d_image *image, uint32_t object,
                             const struct d_cost_limits *limits)
{
    struct dif_object o;

    if (object == 0) {
        return 0;
    }
    d_image_object_at(image, object - 1, &o);
    return d_cost_object(&o, limits);
}

/* Where the next aggregating action is, at or behind `from`. */
static uint32_t next_aggregating(const struct d_image_action *all, uint32_t n, uint32_t from)
{
    while (from < n && !D_ACT_IS_AGG(all[from].kind)) {
        from++;
    }
    return from;
}

/* Even without data these make a record: the consumer acts on it. */
static bool always_records(uint16_t kind)
{
    return kind == D_ACT_PRINTF || kind == D_ACT_PRINTA || kind == D_ACT_LIBACT ||
           kind == D_ACT_SYSTEM || kind == D_ACT_FREOPEN || kind == D_ACT_SPECULATE;
}

struct d_cost d_ecb_cost(const struct d_image *image, uint32_t ecb, uint32_t strsize)
{
    const struct d_image_ecb *e = &D_IMAGE_TABLE(image, ecbs, struct d_image_ecb)[ecb];
    const struct d_image_action *all =
        D_IMAGE_TABLE(image, actions, struct d_image_action) + e->first_action;
    const struct d_cost_limits limits = {
        strsize, d_image_option_value(image, D_OPT_BUFSIZE, SCRATCH_DEFAULT)};
    uint64_t steps = object_steps(image, e->predicate, &limits), record = sizeof(struct d_record);
    bool records = e->nactions == 0;
    uint32_t next = next_aggregating(all, e->nactions, 0);

    for (uint32_t n = 0; n < e->nactions; n++) {
        uint32_t align, bytes = d_action_bytes(image, &all[n], strsize, &align);
        bool key;
        if (n > next) {
            next = next_aggregating(all, e->nactions, n);
        }
        key = next < e->nactions && n + all[next].nkeys >= next && n != next;
        steps = d_cost_plus(steps, object_steps(image, all[n].object, &limits));
        steps = d_cost_plus(steps, object_steps(image, all[n].weight, &limits));
        steps = d_cost_plus(steps, bytes + 1ull);
        if (!key && !D_ACT_IS_AGG(all[n].kind)) {
            records |= bytes > 0 || always_records(all[n].kind);
            record = bytes ? ((record + align - 1) & ~(align - 1ull)) + bytes : record;
        }
    }
    record = records ? record : 0;
    return (struct d_cost){steps, record > UINT32_MAX ? UINT32_MAX : (uint32_t)record};
}
