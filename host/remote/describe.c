/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of records follows from the program that was sent. So a target's description is right
 * only if it equals the one derived here, and code that prints a record need not check it again.
 */
#include "host/remote/remote.h"
#include "trace/dtrace/action.h"
#include "trace/dtrace/image.h"

#include <string.h>

struct layout {
    const struct dtrace_image *image;
    uint32_t strsize;
    const struct dtrace_recdesc *recs; /* as the target says */
    uint32_t n, nrecs;                 /* compared, of so many */
    uint64_t offset;
    bool fits, records, aggregates;
};

static uint64_t align_up(uint64_t n, uint32_t align)
{
    return (n + align - 1) & ~(uint64_t)(align - 1);
}

static void remote_describe_compare_layout(struct layout *l, const struct dtrace_recdesc *wanted)
{
    l->fits = l->fits && l->n < l->nrecs && memcmp(&l->recs[l->n], wanted, sizeof(*wanted)) == 0;
    l->n++;
}

static bool is_described(uint16_t kind)
{
    return kind == DTRACE_ACT_PRINTF || kind == DTRACE_ACT_PRINTA || kind == DTRACE_ACT_LIBACT ||
           kind == DTRACE_ACT_SYSTEM || kind == DTRACE_ACT_FREOPEN;
}

/* always: a key, which is described even if it holds nothing. */
static void add_action(struct layout *l, const struct dtrace_image_action *a, bool always)
{
    uint32_t align = 1, bytes = dtrace_action_bytes(l->image, a, l->strsize, &align);

    if (bytes) {
        l->offset = align_up(l->offset, align);
    }
    if (bytes || always || is_described(a->kind)) {
        struct dtrace_recdesc wanted = {a->kind,   (uint16_t)align, bytes,  (uint32_t)l->offset,
                                        a->format, a->arg,          a->uarg};
        remote_describe_compare_layout(l, &wanted);
        l->records = true;
    }
    l->records |= a->kind == DTRACE_ACT_SPECULATE;
    l->offset += bytes;
}

/* Returns true if the action is a key of an aggregating action that follows. */
static bool is_key(const struct dtrace_image_action *a, uint32_t i, uint32_t n)
{
    for (uint32_t k = i + 1; k < n; k++) {
        if (DTRACE_ACT_IS_AGG(a[k].kind)) {
            return k - i <= a[k].nkeys;
        }
    }
    return false;
}

static struct layout remote_describe_begin_layout(const struct dtrace_image *image,
                                                  const struct dtrace_recdesc *recs, uint32_t nrecs,
                                                  size_t head)
{
    return (struct layout){
        .image = image,
        .strsize = (uint32_t)dtrace_image_option_value(image, DTRACE_OPT_STRSIZE, 256),
        .recs = recs,
        .nrecs = nrecs,
        .offset = head,
        .fits = true,
    };
}

static struct layout lay_out(const struct dtrace_image *image, const struct dtrace_image_ecb *e,
                             const struct dtrace_recdesc *recs, uint32_t nrecs)
{
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action) + e->first_action;
    struct layout l =
        remote_describe_begin_layout(image, recs, nrecs, sizeof(struct dtrace_record));

    l.records = e->nactions == 0;
    for (uint32_t i = 0; i < e->nactions; i++) {
        l.aggregates |= DTRACE_ACT_IS_AGG(a[i].kind);
        if (!DTRACE_ACT_IS_AGG(a[i].kind) && !is_key(a, i, e->nactions)) {
            add_action(&l, &a[i], false);
        }
    }
    return l;
}

static bool ecb_fits(const struct dtrace_image *image, const struct dtrace_image_ecb *e,
                     const struct dtrace_epid_desc *desc, const struct dtrace_recdesc *recs)
{
    struct layout l = lay_out(image, e, recs, desc->nrecs);

    return l.fits && l.n == desc->nrecs && desc->size == (l.records ? align_up(l.offset, 4) : 0);
}

struct remote_uses remote_image_uses(const struct dtrace_image *image)
{
    const struct dtrace_image_ecb *e = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    struct remote_uses uses = {0};

    for (uint32_t i = 0; i < image->actions.count; i++) {
        uses.addresses |= a[i].kind == DTRACE_ACT_USTACK || a[i].kind == DTRACE_ACT_JSTACK ||
                          a[i].kind == DTRACE_ACT_USYM || a[i].kind == DTRACE_ACT_UMOD ||
                          a[i].kind == DTRACE_ACT_UADDR;
    }

    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        struct layout l = lay_out(image, &e[i], NULL, 0);
        uses.records |= l.records && e[i].clause != DTRACE_CLAUSE_FAULT;
        uses.aggregates |= l.aggregates;
        uses.most_actions = e[i].nactions > uses.most_actions ? e[i].nactions : uses.most_actions;
    }
    return uses;
}

bool remote_epid_fits(const struct dtrace_image *image, const struct dtrace_epid_desc *desc,
                      const struct dtrace_recdesc *recs)
{
    const struct dtrace_image_ecb *e = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);

    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        if (e[i].clause == desc->clause && ecb_fits(image, &e[i], desc, recs)) {
            return true;
        }
    }
    return false;
}

static bool agg_fits(const struct dtrace_image *image, const struct dtrace_image_action *a,
                     const struct dtrace_agg_desc *desc, const struct dtrace_recdesc *recs)
{
    struct layout l =
        remote_describe_begin_layout(image, recs, desc->nrecs, sizeof(struct dtrace_agg_entry));
    uint32_t value = dtrace_agg_value_size(a->kind, a->arg);

    for (uint32_t i = 0; i < a->nkeys; i++) {
        add_action(&l, a - a->nkeys + i, true);
    }
    l.offset = align_up(l.offset, 8);
    struct dtrace_recdesc wanted = {a->kind,   8,      value,  (uint32_t)l.offset,
                                    a->format, a->arg, a->uarg};
    remote_describe_compare_layout(&l, &wanted);
    return l.fits && l.n == desc->nrecs && desc->size == l.offset + value;
}

bool remote_agg_fits(const struct dtrace_image *image, const struct dtrace_agg_desc *desc,
                     const struct dtrace_recdesc *recs)
{
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);

    for (uint32_t i = 0; i < image->actions.count; i++) {
        if (DTRACE_ACT_IS_AGG(a[i].kind) && (uint32_t)a[i].uarg == desc->variable &&
            agg_fits(image, &a[i], desc, recs)) {
            return true;
        }
    }
    return false;
}
