/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates the data kept with a consumer's buffers in retained memory: see retained.h. It is in one
 * block: struct dtrace_kept, the sizes of its records and entries, and for each CPU the data
 * written in probe context. Control context.
 */
#include "abi/errno.h"
#include "trace/assert.h"
#include "trace/dtrace/machine.h"
#include "trace/dtrace/log_event.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/retained.h"

/* For lib/retain/d_events.c, which does not include these headers. */
_Static_assert(DTRACE_LOG_RECORD == 2 && DTRACE_LOG_TAKEN == 3 && DTRACE_LOG_ENTRY == 4 &&
                   DTRACE_LOG_ENTRIES == 5 && DTRACE_LOG_STATUS == 6 &&
                   sizeof(struct dtrace_status) == 104 && sizeof(struct dtrace_snap) == 40 &&
                   sizeof(struct dtrace_record) == 12 && sizeof(struct dtrace_agg_entry) == 16,
               "what lib/retain makes of a window");

static uint32_t retained_make_rounded(size_t bytes)
{
    return (uint32_t)((bytes + 7) & ~(size_t)7);
}

/* ---- sizes ------------------------------------------------------------------------- */

/* ---- the block --------------------------------------------------------------------- */

struct shares { /* bytes */
    uint32_t tables, record_marks, entry_marks, all;
};

static struct shares shares_of(const struct dtrace_consumer *c, const struct kymo_retain_d *is)
{
    struct shares s = {.tables =
                           retained_make_rounded((size_t)(c->necbs + c->naggs) * sizeof(uint32_t))};

    s.record_marks =
        retained_make_rounded((is->record_bytes / is->record_least + 1) * sizeof(uint32_t));
    s.entry_marks =
        retained_make_rounded((2 * is->entry_bytes / is->entry_least + 1) * sizeof(uint32_t));
    s.all =
        retained_make_rounded(sizeof(struct dtrace_kept)) + s.tables +
        c->ncpus * ((uint32_t)sizeof(struct kymo_retain_d_live) + s.record_marks + s.entry_marks);
    return s;
}

/* Fills in everything except locations. */
static struct kymo_retain_d retained_make_begin(const struct dtrace_consumer *c)
{
    const struct dtrace_consumer_cpu *cpu = c->cpus, *last = &c->cpus[c->ncpus - 1];
    uint32_t least_record = UINT32_MAX, least_entry = UINT32_MAX;

    while (cpu < last && !cpu->traced) { /* the CPUs are alike, except those not traced */
        cpu++;
    }
    for (uint32_t i = 0; i < c->necbs; i++) {
        uint32_t size = c->ecbs[i].size;
        least_record = size && size < least_record ? size : least_record;
    }
    for (uint32_t i = 0; i < c->naggs; i++) {
        least_entry = c->aggs[i].size < least_entry ? c->aggs[i].size : least_entry;
    }
    bool ring = cpu->principal.policy == DTRACE_POLICY_RING;
#define AT(member) (uint32_t) offsetof(struct dtrace_consumer_cpu, member)
    return (struct kymo_retain_d){
        .ncpu = c->ncpus,
        .records = c->necbs,
        .aggregations = c->naggs,
        .record_bytes = ring ? (uint32_t)cpu->principal.size : 0,
        .record_least = least_record,
        .entry_bytes = cpu->agg.active ? (uint32_t)(cpu->agg.spare - cpu->agg.active) : 0,
        .entry_least = least_entry,
        .at = {.offset = AT(principal.offset),
               .oldest = AT(principal.oldest),
               .end = AT(principal.end),
               .drops = AT(principal.drops),
               .errors = AT(principal.errors),
               .entries = AT(agg.active),
               .used = AT(agg.used),
               .entry_drops = AT(agg.drops)},
    };
#undef AT
}

static uint8_t *put_cpu(const struct dtrace_consumer *c, uint32_t i, const struct shares *s,
                        uint8_t *at)
{
    const struct dtrace_consumer_cpu *cpu = &c->cpus[i];
    struct dtrace_kept_cpu *k = &c->kept->cpu[i];
    struct kymo_retain_d_cpu *to = &c->kept->is.cpu[i];

    k->live = (void *)at;
    k->live->unsealed = ~k->live->sealed;
    at += sizeof(*k->live);
    to->live = dtrace_port_retained_at(k->live);
    to->cursors = dtrace_port_retained_at(cpu);
    if (cpu->principal.active && c->kept->is.record_bytes) {
        k->record_marks = (void *)at;
        to->records = dtrace_port_retained_at(cpu->principal.active);
        to->record_marks = dtrace_port_retained_at(at);
    }
    at += s->record_marks;
    if (cpu->agg.active) {
        k->entry_marks = (void *)at;
        k->entries = cpu->agg.active;
        to->entries = dtrace_port_retained_at(cpu->agg.active);
        to->entry_marks = dtrace_port_retained_at(at);
    }
    return at + s->entry_marks;
}

/* ---- the aggregations' own update -------------------------------------------------- */

/* count() has no value; without an object it would be counted without an update. */
static const struct dtrace_insn first_argument;
static const struct dtrace_object a_value = {.text = &first_argument, .flags = DTRACE_OBJECT_ARG};

static void keep_aggregations(struct dtrace_consumer *c)
{
    for (uint32_t i = 0; i < c->naggs; i++) {
        c->aggs[i].kind |= DTRACE_AGG_KEPT;
        c->aggs[i].kept = c->kept;
    }
    for (uint32_t i = 0; i < c->nactions; i++) {
        if (c->actions[i].agg && !c->actions[i].object) {
            c->actions[i].object = &a_value;
        }
    }
}

/* ---- its life ---------------------------------------------------------------------- */

bool dtrace_block_make_kept(const struct dtrace_consumer *c, struct dtrace_block *b, size_t bytes)
{
    if (!c->retains) {
        return dtrace_block_make(b, bytes);
    }
    b->at = dtrace_port_retain(bytes);
    b->bytes = b->at ? bytes : 0;
    return b->at != NULL;
}

int dtrace_kept_begin(struct dtrace_consumer *c, const struct dtrace_image *image,
                      struct dtrace_refusal *why)
{
    c->retains = dtrace_image_option_value(image, DTRACE_OPT_RETAIN, 0) != 0;
    int error = c->retains ? dtrace_port_retaining() : 0;

    return !error            ? 0
           : error == -EBUSY ? dtrace_refuse(why, DTRACE_REASON_RETAIN_TAKEN)
                             : dtrace_refuse(why, DTRACE_REASON_RETAIN_NONE);
}

int dtrace_kept_make(struct dtrace_consumer *c, struct dtrace_refusal *why)
{
    bool records = false; /* meaningful ones: every program has those of faults */
    struct dtrace_block block;

    if (!c->retains) {
        return 0;
    }
    for (uint32_t i = 0; i < c->necbs; i++) {
        records |= c->ecbs[i].size && c->ecbs[i].clause != DTRACE_CLAUSE_FAULT;
    }
    struct kymo_retain_d is = retained_make_begin(c);
    if (records && is.record_bytes == 0) {
        return dtrace_refuse(why, DTRACE_REASON_RETAIN_POLICY);
    }
    struct shares s = shares_of(c, &is);
    if (c->ncpus > KYMO_RETAIN_CPUS || !dtrace_block_make_kept(c, &block, s.all)) {
        return dtrace_refuse(why, DTRACE_REASON_RETAIN_SPACE);
    }
    c->kept = block.at;
    c->kept->block = block;
    c->kept->is = is;
    uint8_t *at = (uint8_t *)block.at + retained_make_rounded(sizeof(*c->kept));
    uint32_t *sizes = (void *)at;
    for (uint32_t i = 0; i < c->necbs; i++) {
        *sizes++ = c->ecbs[i].size;
    }
    for (uint32_t i = 0; i < c->naggs; i++) {
        *sizes++ = c->aggs[i].size;
    }
    c->kept->is.tables = dtrace_port_retained_at(at);
    at += s.tables;
    for (uint32_t i = 0; i < c->ncpus; i++) {
        if (c->cpus[i].traced) {
            at = put_cpu(c, i, &s, at);
        }
    }
    trace_assert(at <= (uint8_t *)block.at + s.all);
    keep_aggregations(c);
    int error = dtrace_port_retained_put(&c->kept->is);
    return error ? dtrace_refuse(why, DTRACE_REASON_RETAIN_SPACE) : 0;
}

void dtrace_kept_free(struct dtrace_consumer *c)
{
    if (!c->kept) {
        return;
    }
    struct dtrace_block block = c->kept->block, notes = c->kept->notes;

    dtrace_port_retained_drop(&c->kept->is);
    c->kept = NULL;
    dtrace_block_free(&notes);
    dtrace_block_free(&block);
}

void dtrace_copy_long(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;

    while (bytes > 0) {
        size_t n = bytes < DTRACE_COPY_STEP ? bytes : DTRACE_COPY_STEP;
        __builtin_memcpy(out, in, n);
        out += n;
        in += n;
        bytes -= n;
        dtrace_window();
    }
}

int dtrace_kept_notes(struct dtrace_consumer *c, const void *bytes, uint32_t n)
{
    struct dtrace_kept *kept = c->kept;
    struct dtrace_block made;

    if (!dtrace_block_make_kept(c, &made, n)) {
        return -ENOSPC;
    }
    dtrace_copy_long(made.at, bytes, n);
    kept->is.notes = dtrace_port_retained_at(made.at);
    kept->is.notes_bytes = n;
    int error = dtrace_port_retained_put(&kept->is);
    dtrace_block_free(&kept->notes);
    kept->notes = made;
    return error;
}
