/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts a checked image to ECBs: matches its descriptions to probes, lays out their records.
 * Control context, under the control lock. Sequences that no compiler generates are refused: data
 * recorded before speculate(), or together with commit().
 */
#include "trace/assert.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/limit.h"
#include "trace/dtrace/port.h"

enum { HEADER = sizeof(struct dtrace_record), ENTRY = sizeof(struct dtrace_agg_entry) };

/* Limit for a record, or an aggregation's entry: a larger program is refused. */
enum { RECORD_MAX = 1 << 30 };
/* Limit of the steps that all descriptions may take to find their probes, about 200 million
 * instructions: some fifty times the need of a long script. */
enum { MATCH_MAX = 4 << 20 };

struct maker {
    struct dtrace_consumer *c;
    const struct dtrace_image *image;
    struct dtrace_refusal *why;
    unsigned flags;
};

#define TABLE(m, table, type) DTRACE_IMAGE_TABLE((m)->image, table, type)

static const char *enable_text(const struct maker *m, uint32_t offset)
{
    return TABLE(m, strings, char) + offset;
}

static bool enable_matches(const struct maker *m, const struct dtrace_image_ecb *e,
                           const struct dtrace_probe *p)
{
    if (!*p->provider->name || (m->c->own && !p->provider->ops->own)) {
        return false; /* without a name: unused, free for the next one that its provider creates */
    }
    if (e->probe) {
        return e->probe == p->id;
    }
    return dtrace_probe_matches(p, enable_text(m, e->provider), enable_text(m, e->module),
                                enable_text(m, e->function), enable_text(m, e->name));
}

/* ---- counting ---------------------------------------------------------------------- */

/* Counts the ECBs, actions and aggregations. */
static int count_all(struct maker *m)
{
    const struct dtrace_image_ecb *e = TABLE(m, ecbs, struct dtrace_image_ecb);
    struct dtrace_consumer *c = m->c;

    for (uint32_t i = 0; i < m->image->ecbs.count; i++, e++) {
        const struct dtrace_image_action *actions =
            TABLE(m, actions, struct dtrace_image_action) + e->first_action;
        uint32_t n = 0, naggs = 0;

        if (!e->probe) {
            (c->own ? dtrace_probe_provide_own
                    : dtrace_probe_provide)(enable_text(m, e->provider), enable_text(m, e->module),
                                            enable_text(m, e->function), enable_text(m, e->name));
        }
        for (uint32_t id = 1; id <= dtrace_probe_count; id++) {
            n += enable_matches(m, e, dtrace_probe_at(id));
        }
        for (uint32_t a = 0; a < e->nactions; a++) {
            naggs += DTRACE_ACT_IS_AGG(actions[a].kind);
        }
        if (n == 0 && !(m->flags & DTRACE_CREATE_ZERO_OK)) {
            return dtrace_refuse(m->why,
                                 c->own ? DTRACE_REASON_NEEDS_KERNEL : DTRACE_REASON_NO_PROBE);
        }
        c->necbs += n;
        c->nactions += n * e->nactions;
        c->naggs += n * naggs;
        c->matched += e->flags & DTRACE_ECB_PART ? 0 : n;
        if (c->nactions > DTRACE_ACTIONS_MAX || c->necbs > DTRACE_ACTIONS_MAX ||
            dtrace_glob_work.spent > MATCH_MAX) {
            return dtrace_refuse(m->why, DTRACE_REASON_ENABLING_ACTIONS);
        }
    }
    return 0;
}

/* ---- actions ----------------------------------------------------------------------- */

static const struct dtrace_object *enable_object(const struct maker *m, uint32_t number)
{
    return number ? &m->c->code.objects[number - 1] : NULL;
}

static uint32_t enable_align_up(uint32_t n, uint32_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* The memory was zeroed; setting single fields makes smaller code than whole structs. */
static void enable_describe(struct dtrace_recdesc *rec, const struct dtrace_image_action *from,
                            uint32_t offset, uint32_t bytes, uint32_t align)
{
    rec->kind = from->kind;
    rec->alignment = (uint16_t)align;
    rec->size = bytes;
    rec->offset = offset;
    rec->format = from->format;
    rec->arg = from->arg;
    rec->uarg = from->uarg;
}

static void make_action(const struct maker *m, const struct dtrace_image_action *from,
                        struct dtrace_action *to, uint32_t *offset)
{
    uint32_t align = 1, bytes = dtrace_action_bytes(m->image, from, m->c->code.strsize, &align);
    uint16_t kind = from->kind;

    to->kind = kind;
    to->object = enable_object(m, from->object);
    to->weight = enable_object(m, from->weight);
    to->arg = from->arg;
    to->described = bytes || dtrace_action_described(kind);
    to->is_block = kind == DTRACE_ACT_TRACEMEM || kind == DTRACE_ACT_TRACEMEM_DYNSIZE;
    if (to->object && kind == DTRACE_ACT_DIFEXPR) {
        to->is_statement = bytes == 0;
        to->is_string = to->object->result.kind == DIF_TYPE_STRING;
        to->is_block = to->object->result.ref && !to->is_string;
        to->is_plain = bytes && !to->object->result.ref;
    }
    if (bytes) {
        *offset = enable_align_up(*offset, align);
    }
    enable_describe(&to->rec, from, *offset, bytes, align);
    *offset += *offset > RECORD_MAX ? 0 : bytes; /* any too-large value suffices */
}

/* Moves the keys to the action's own aggregation. */
static __attribute__((noinline)) bool
make_aggregation(const struct maker *m, const struct dtrace_image_action *from,
                 struct dtrace_action *to, struct dtrace_action *keys,
                 struct dtrace_aggregation *agg, uint32_t epid)
{
    const struct dtrace_image_action *key = from - from->nkeys;
    uint32_t value = dtrace_agg_value_size(from->kind, from->arg);
    uint32_t offset = ENTRY;

    for (uint32_t i = 0; i < from->nkeys; i++) {
        make_action(m, &key[i], &keys[i], &offset);
    }
    offset = enable_align_up(offset, 8);
    agg->id = (uint32_t)(agg - m->c->aggs) + 1;
    agg->epid = epid;
    agg->variable = (uint32_t)from->uarg;
    agg->kind = from->kind;
    agg->nkeys = from->nkeys;
    agg->value = offset;
    agg->size = offset + value;
    agg->shape = from->arg;
    agg->keys = keys;
    enable_describe(&agg->rec, from, offset, value, 8);
    to->kind = from->kind;
    to->object = enable_object(m, from->object);
    to->weight = enable_object(m, from->weight);
    to->agg = agg;
    return offset <= RECORD_MAX;
}

/* The parts of the tables that are already in use. */
struct used {
    uint32_t ecbs, actions, aggs;
};

/* Keys are at the end of the ECB's actions, so that the others are adjacent. Returns false if it is
 * too large. */
static bool make_actions(const struct maker *m, const struct dtrace_image_ecb *from,
                         struct dtrace_ecb *e, struct used *used, uint32_t *offset)
{
    bool fits = true;
    const struct dtrace_image_action *a =
        TABLE(m, actions, struct dtrace_image_action) + from->first_action;
    struct dtrace_action *keys = &m->c->actions[used->actions + from->nactions];

    e->actions = &m->c->actions[used->actions];
    for (uint32_t i = 0; i < from->nactions; i++) {
        struct dtrace_action *to = &e->actions[e->nactions];
        if (dtrace_action_is_key(a, i, from->nactions)) {
            continue;
        }
        if (DTRACE_ACT_IS_AGG(a[i].kind)) {
            keys -= a[i].nkeys;
            fits &= make_aggregation(m, &a[i], to, keys, &m->c->aggs[used->aggs++], e->epid);
        } else {
            make_action(m, &a[i], to, offset);
        }
        e->nactions++;
    }
    used->actions += from->nactions;
    return fits && *offset <= RECORD_MAX;
}

/* ---- ECBs -------------------------------------------------------------------------- */

/* Returns whether the action only groups the following actions, its values: it has no number of its
 * own. */
static bool only_groups(const struct dtrace_ecb *e, uint32_t i)
{
    const struct dtrace_action *a = &e->actions[i];
    uint32_t values = 0;

    while (values < 2 && i + values + 1 < e->nactions && a->rec.format &&
           a[values + 1].rec.format == a->rec.format) {
        values++;
    }
    switch (a->kind) {
    case DTRACE_ACT_PRINTF:
    case DTRACE_ACT_SYSTEM:
    case DTRACE_ACT_FREOPEN:
        return values > 0;
    case DTRACE_ACT_LIBACT:
        return values > (a->arg != DTRACE_LIBACT_PRINT);
    default:
        return false;
    }
}

/* offset: after the last datum. A clause without actions records that it fired; one with actions
 * only if one of them records. An order that no compiler generates is refused. */
static enum dtrace_reason note_actions(struct dtrace_ecb *e, uint32_t offset)
{
    bool commits = false, data = false, speculates = false;

    e->align = 4;
    for (uint32_t i = 0; i < e->nactions; i++) {
        const struct dtrace_action *a = &e->actions[i];
        if (a->kind == DTRACE_ACT_STOP && !DTRACE_PORT_STOPS) {
            return DTRACE_REASON_STOP;
        }
        if (a->kind == DTRACE_ACT_SPECULATE) {
            if (data || speculates) {
                return DTRACE_REASON_LATE_SPECULATE;
            }
            speculates = true;
        }
        commits |= a->kind == DTRACE_ACT_COMMIT;
        e->exits |= a->kind == DTRACE_ACT_EXIT;
        data |= a->described;
        if (commits && (data || speculates)) {
            return DTRACE_REASON_COMMIT_DATA;
        }
        if (a->rec.size && a->rec.alignment == 8) {
            e->align = 8;
        }
    }
    bool records = data || speculates || e->nactions == 0;
    e->speculates = speculates;
    e->size = records ? enable_align_up(offset, 4) : 0;
    e->reserves = records && !speculates;
    return DTRACE_REASON_NONE;
}

static int make_ecb(const struct maker *m, const struct dtrace_image_ecb *from,
                    struct dtrace_probe *probe, struct used *used)
{
    static uint32_t last_predicate_id;
    struct dtrace_ecb *e = &m->c->ecbs[used->ecbs++];
    uint32_t offset = HEADER;

    e->probe = probe;
    e->consumer = m->c;
    if (probe->id == DTRACE_PROBE_ERROR && !m->c->error) {
        m->c->error = e;
    }
    e->predicate = enable_object(m, from->predicate);
    e->epid = used->ecbs;
    e->clause = from->clause;
    e->states = probe->id == DTRACE_PROBE_BEGIN   ? 1u << DTRACE_STATE_WARMUP
                : probe->id == DTRACE_PROBE_END   ? 1u << DTRACE_STATE_COOLDOWN
                : probe->id == DTRACE_PROBE_ERROR ? UINT16_MAX & ~DTRACE_ECB_BARE /* in any state */
                                                  : 1u << DTRACE_STATE_ACTIVE;
    e->states |= from->nactions == 0 && !e->predicate ? DTRACE_ECB_BARE : 0;
    e->states <<= (m->c->logs | m->c->retains | (m->c->own != 0)) ? DTRACE_ECB_ASIDE : 0;
    if (e->predicate && e->predicate->flags & DTRACE_OBJECT_CACHEABLE) {
        e->predicate_id = ++last_predicate_id ? last_predicate_id : ++last_predicate_id;
    }
    if (!make_actions(m, from, e, used, &offset)) {
        return dtrace_refuse(m->why, DTRACE_REASON_RECORD_SIZE);
    }
    enum dtrace_reason wrong = note_actions(e, offset);
    /* Each value and each key has a number of its own. The classic compiler records the number of
     * an aggregation's variable like a first key. */
    for (uint32_t i = 0, number = 1; i < e->nactions; i++) {
        struct dtrace_action *a = &e->actions[i];
        a->number = number + (a->agg != NULL);
        number += a->agg ? a->agg->nkeys + 2 : !only_groups(e, i);
    }
    e->path = e->nactions == 1 && e->actions[0].agg ? DTRACE_PATH_AGGREGATES : DTRACE_PATH_ALL;
    m->c->shape_table[e->epid - 1] = (struct dtrace_shape){e->size, e->align};
    if (wrong) {
        return dtrace_refuse(m->why, wrong);
    }
    return m->c->logs ? dtrace_limit_logged(e, m->why) : 0;
}

static int enable_make_all(struct dtrace_consumer *c, const struct dtrace_image *image,
                           unsigned flags, struct dtrace_refusal *why)
{
    struct maker m = {c, image, why, flags};
    const struct dtrace_image_ecb *from = TABLE(&m, ecbs, struct dtrace_image_ecb);
    struct used used = {0};
    struct dtrace_limit limit;
    int error = count_all(&m);

    if (error) {
        return error;
    }
    size_t ecbs = sizeof(struct dtrace_ecb) * c->necbs;
    size_t actions = sizeof(struct dtrace_action) * c->nactions;
    size_t aggs = sizeof(struct dtrace_aggregation) * c->naggs;
    size_t shapes = sizeof(struct dtrace_shape) * c->necbs;
    if (!dtrace_block_make(&c->ecb_block, ecbs + actions + aggs + shapes + 1)) {
        return dtrace_refuse(why, DTRACE_REASON_NO_SPACE);
    }
    c->ecbs = c->ecb_block.at;
    c->actions = (void *)((char *)c->ecbs + ecbs);
    c->aggs = (void *)((char *)c->actions + actions);
    c->shape_table = (void *)((char *)c->aggs + aggs);
    c->shapes = (struct dtrace_shapes){c->shape_table, c->necbs};
    error = dtrace_limit_begin(&limit, c, image, why);
    for (uint32_t i = 0; i < image->ecbs.count && !error; i++) {
        uint32_t first = used.ecbs;
        for (uint32_t id = 1; id <= dtrace_probe_count && !error && used.ecbs < c->necbs; id++) {
            if (enable_matches(&m, &from[i], dtrace_probe_at(id))) {
                error = make_ecb(&m, &from[i], dtrace_probe_at(id), &used);
            }
        }
        error = error ? error : dtrace_limit_add(&limit, i, first, used.ecbs, why);
    }
    dtrace_limit_end(&limit);
    trace_assert(used.ecbs <= c->necbs && used.actions <= c->nactions && used.aggs <= c->naggs);
    return error;
}

int dtrace_ecbs_make(struct dtrace_consumer *c, const struct dtrace_image *image, unsigned flags,
                     struct dtrace_refusal *why)
{
    dtrace_glob_work = (struct dtrace_glob_work){0, MATCH_MAX};
    int error = enable_make_all(c, image, flags, why);
    bool too_long = dtrace_glob_work.spent > MATCH_MAX;

    dtrace_glob_work.most = UINT32_MAX;
    return too_long ? dtrace_refuse(why, DTRACE_REASON_MATCHING) : error;
}
