/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks, made in probe context: see retained.h. The order of all stores matters, because any of
 * them may be the last one before the machine is reset.
 */
#include "trace/dtrace/retained.h"

#include "abi/retain_mark.h"
#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/port.h"

static inline void retained_in_order(void)
{
    trace_atomic_fence(__ATOMIC_SEQ_CST);
}

/* ---- records ----------------------------------------------------------------------- */

/* Marks the records in [from, until). */
static void mark_records(const struct dtrace_consumer *c, const struct dtrace_kept_cpu *k,
                         const struct dtrace_buffer *b, size_t from, size_t until)
{
    uint32_t epid;

    while (from + sizeof(epid) <= until) {
        __builtin_memcpy(&epid, b->active + from, sizeof(epid));
        if (epid == 0 || epid > c->shapes.count) {
            from += sizeof(epid);
            continue;
        }
        uint32_t size = c->shapes.shape[epid - 1].size;
        trace_assert(size <= until - from);
        k->record_marks[from / c->kept->is.record_least] =
            retain_mark((uint32_t)from, 0, b->active + from, size);
        from += size;
    }
}

/* The cursor's position does not show whether it has wrapped: a large record, or a speculation's,
 * may have moved it beyond its old position. The rest of the previous lap is marked from its sealed
 * end, if that was in the lap, or from the oldest remaining record. */
void dtrace_kept_records(struct dtrace_consumer *c, struct dtrace_consumer_cpu *here)
{
    const struct dtrace_buffer *b = &here->principal;
    struct dtrace_kept_cpu *k = &c->kept->cpu[dtrace_port_cpu()];
    uint16_t laps = (uint16_t)(b->laps - k->laps);
    size_t from = k->live->sealed;

    if (!k->record_marks || (laps == 0 && from == b->offset)) {
        return;
    }
    retained_in_order();
    if (laps) {
        mark_records(c, k, b, laps == 1 && from > b->oldest ? from : b->oldest, b->end);
        from = 0;
    }
    mark_records(c, k, b, from, b->offset);
    retained_in_order();
    k->laps = b->laps;
    k->live->sealed = (uint32_t)b->offset;
    k->live->unsealed = ~(uint32_t)b->offset;
}

/* ---- aggregations ------------------------------------------------------------------ */

struct words { /* of the value */
    uint32_t first, count;
};

static struct words that_change(const struct dtrace_aggregation *a, uint64_t value)
{
    switch (a->kind) {
    case DTRACE_AGG_AVG:
        return (struct words){0, 2};
    case DTRACE_AGG_STDDEV:
        return (struct words){0, 4};
    case DTRACE_AGG_QUANTIZE:
        return (struct words){dtrace_quantize_bucket((int64_t)value), 1};
    case DTRACE_AGG_LQUANTIZE:
        return (struct words){1 + dtrace_lquantize_bucket(a->shape, (int64_t)value), 1};
    case DTRACE_AGG_LLQUANTIZE:
        return (struct words){1 + dtrace_llquantize_bucket(a->shape, (int64_t)value), 1};
    default:
        return (struct words){0, 1};
    }
}

static uint32_t mark_of(uint32_t offset, uint32_t first, const uint64_t *words, uint32_t count)
{
    return retain_mark(offset, first, (const uint8_t *)words, count * 8);
}

void dtrace_kept_update(const struct dtrace_aggregation *a, uint64_t *data, uint64_t value,
                        uint64_t weight)
{
    const struct dtrace_kept_cpu *k = &a->kept->cpu[dtrace_port_cpu()];
    struct kymo_retain_d_live *live = k->live;
    const uint8_t *entry = (const uint8_t *)data - a->value;
    uint32_t offset = (uint32_t)(entry - k->entries);
    uint32_t *mark = &k->entry_marks[offset / a->kept->is.entry_least];
    struct dtrace_aggregation plain = *a;

    plain.kind = (uint16_t)(a->kind & ~DTRACE_AGG_KEPT);
    /* just made; the first half is active until the consumer stops */
    if (offset >= live->entries_sealed) {
        dtrace_agg_init(&plain, data);
        dtrace_agg_update(&plain, data, value, weight);
        retained_in_order();
        *mark = retain_mark(offset, 0, entry, a->size);
        retained_in_order();
        live->entries_sealed += a->size; /* readers ignore an entry until it has its mark */
        return;
    }
    struct words w = that_change(&plain, value);
    uint32_t first = a->value / 8 + w.first;
    __builtin_memcpy(live->undo, data + w.first, w.count * 8);
    live->undo_first = first;
    live->undo_count = w.count;
    retained_in_order();
    live->undo_at = offset + 1;
    retained_in_order();
    uint32_t sum = *mark - mark_of(offset, first, data + w.first, w.count);
    dtrace_agg_update(&plain, data, value, weight);
    retained_in_order();
    *mark = sum + mark_of(offset, first, data + w.first, w.count);
    retained_in_order();
    live->undo_at = 0;
}
