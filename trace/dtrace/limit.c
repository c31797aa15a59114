/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of a program's cost: see limit.h. The bound of each clause is computed by cost.c. */
#include "trace/dtrace/limit.h"

#include "trace/dtrace/port.h"
#include "trace/slot.h"

#define LIMIT_WINDOW 32 /* ECBs that are visited between two windows */

uint32_t dtrace_max_cost; /* [k] */

uint32_t dtrace_max_cost_lower(uint32_t cost)
{
    if (cost && (dtrace_max_cost == 0 || cost < dtrace_max_cost)) {
        dtrace_max_cost = cost;
    }
    return dtrace_max_cost;
}

/* ---- the text of a refusal --------------------------------------------------------- */

struct dtrace_line dtrace_line_begin(struct dtrace_refusal *why)
{
    return (struct dtrace_line){why->text, why->text + sizeof(why->text) - 1};
}

void dtrace_line_add(struct dtrace_line *l, const char *text)
{
    while (*text && l->at < l->end) {
        *l->at++ = *text++;
    }
    *l->at = '\0';
}

void dtrace_line_number(struct dtrace_line *l, dtrace_amount n)
{
    char digits[21], *at = &digits[20];

    *at = '\0';
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    dtrace_line_add(l, at);
}

static void limit_describe(const struct dtrace_ecb *e, dtrace_amount most,
                           struct dtrace_refusal *why)
{
    const struct dtrace_probe *p = e->probe;
    const char *const names[] = {p->provider->name, p->module, p->function, p->name};
    struct dtrace_line line = dtrace_line_begin(why);

    dtrace_line_add(&line, "clause ");
    dtrace_line_number(&line, e->clause + 1);
    if (most == DTRACE_AMOUNT_MOST) { /* a sum that saturated */
        dtrace_line_add(&line, ": a firing has no bound");
    } else {
        dtrace_line_add(&line, ": a firing takes up to ");
        dtrace_line_number(&line, most);
        dtrace_line_add(&line, " ");
        dtrace_line_add(&line, DTRACE_PORT_WEIGHTS.unit);
    }
    dtrace_line_add(&line, ", dtrace_max_cost is ");
    dtrace_line_number(&line, dtrace_max_cost);
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        dtrace_line_add(&line, i ? ":" : ": ");
        dtrace_line_add(&line, names[i]);
    }
}

/* ---- faults ----------------------------------------------------------------------- */

dtrace_amount dtrace_error_bound(const struct dtrace_image *image, const struct dtrace_bounding *by)
{
    const struct dtrace_image_ecb *e = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);
    const char *strings = DTRACE_IMAGE_TABLE(image, strings, char);
    struct dtrace_bounding plain = *by;
    dtrace_amount sum = 0;

    plain.error = 0;
    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        bool is = e[i].probe ? e[i].probe == DTRACE_PROBE_ERROR
                             : dtrace_glob(strings + e[i].provider, "dtrace") &&
                                   dtrace_glob(strings + e[i].module, "") &&
                                   dtrace_glob(strings + e[i].function, "") &&
                                   dtrace_glob(strings + e[i].name, "ERROR");
        sum = dtrace_amount_sum(sum, is ? dtrace_ecb_bound(image, i, &plain) : 0);
    }
    return sum;
}

/* ---- the sums ---------------------------------------------------------------------- */

/* Returns whether the probe can fire for several consumers: BEGIN, END and ERROR fire for one
 * alone. */
static bool limit_is_shared(const struct dtrace_probe *probe)
{
    return probe->id > DTRACE_PROBE_ERROR;
}

/* Sums up the costs that existing consumers already add to a firing of each probe, whether they run
 * or not. They were created within the limit, or before there was one. */
static void limit_sum_others(struct dtrace_limit *l)
{
    dtrace_amount *sums = l->sums.at;

    for (const struct dtrace_consumer *c = dtrace_consumers; c; c = c->next) {
        for (uint32_t i = 0; i < c->necbs; i++) {
            const struct dtrace_ecb *e = &c->ecbs[i];
            dtrace_amount *sum = &sums[e->probe->id - 1];
            *sum = dtrace_amount_sum(*sum, limit_is_shared(e->probe) ? e->cost : 0);
            if (i % LIMIT_WINDOW == 0) {
                dtrace_window();
            }
        }
    }
}

int dtrace_limit_begin(struct dtrace_limit *l, const struct dtrace_consumer *c,
                       const struct dtrace_image *image, struct dtrace_refusal *why)
{
    *l = (struct dtrace_limit){.consumer = c, .image = image};
    if (dtrace_max_cost == 0) {
        return 0;
    }
    l->by = (struct dtrace_bounding){
        .weights = &DTRACE_PORT_WEIGHTS, .strsize = c->code.strsize, .logs = c->logs};
    l->by.error = dtrace_error_bound(image, &l->by);
    if (!dtrace_block_make(&l->sums, dtrace_probe_count * sizeof(dtrace_amount))) {
        return dtrace_refuse(why, DTRACE_REASON_NO_SPACE);
    }
    limit_sum_others(l);
    return 0;
}

int dtrace_limit_add(struct dtrace_limit *l, uint32_t clause, uint32_t from, uint32_t to,
                     struct dtrace_refusal *why)
{
    dtrace_amount *sums = l->sums.at;

    if (!sums || from == to) {
        return 0;
    }
    struct dtrace_bounding plain = l->by;
    plain.error = 0;
    dtrace_amount own = dtrace_ecb_bound(l->image, clause, &plain);
    for (uint32_t i = from; i < to; i++) {
        struct dtrace_ecb *e = &l->consumer->ecbs[i];
        dtrace_amount *sum = &sums[e->probe->id - 1];
        bool faults = e->probe->id != DTRACE_PROBE_ERROR;
        dtrace_amount more = dtrace_amount_sum(own, faults ? l->by.error : 0);
        *sum = dtrace_amount_sum(*sum, more);
        e->cost = (uint32_t)dtrace_amount_least(UINT32_MAX, more);
        dtrace_amount most = dtrace_firing_bound(&DTRACE_PORT_WEIGHTS, *sum);
        if (most > dtrace_max_cost || most == DTRACE_AMOUNT_MOST) {
            int error = dtrace_refuse(why, DTRACE_REASON_MAX_COST);
            limit_describe(e, most, why);
            return error;
        }
    }
    return 0;
}

void dtrace_limit_end(struct dtrace_limit *l)
{
    dtrace_block_free(&l->sums);
}

/* ---- the log ----------------------------------------------------------------------- */

/* Bytes of an event that has the most slots; the number of words before a record and before an
 * entry. */
enum { EVENT_BYTES = 8 * TRACE_EVENT_SLOTS_MOST, RECORD_WORDS = 2, ENTRY_WORDS = 4 };

int dtrace_limit_logged(const struct dtrace_ecb *e, struct dtrace_refusal *why)
{
    const uint32_t word = sizeof(uint32_t);
    dtrace_amount most = e->size ? dtrace_amount_sum(e->size, RECORD_WORDS * word) : 0;

    for (uint32_t i = 0; i < e->nactions; i++) {
        const struct dtrace_aggregation *agg = e->actions[i].agg;
        dtrace_amount bytes = agg ? dtrace_amount_sum(agg->size, ENTRY_WORDS * word) : 0;
        most = bytes > most ? bytes : most;
    }
    if (most <= EVENT_BYTES) {
        return 0;
    }
    int error = dtrace_refuse(why, DTRACE_REASON_LOG_EVENT);
    struct dtrace_line line = dtrace_line_begin(why);
    dtrace_line_add(&line, "clause ");
    dtrace_line_number(&line, e->clause + 1);
    dtrace_line_add(&line, ": an event of ");
    dtrace_line_number(&line, most);
    dtrace_line_add(&line, " bytes, the log has room for ");
    dtrace_line_number(&line, EVENT_BYTES);
    return error;
}
