/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --json: an aggregation as one object.
 */
#include "host/dtrace/consume.h"
#include "host/dtrace/graph.h"
#include "host/dtrace/json.h"

#include <stdlib.h>

static const char *function_name(enum dtrace_action_kind kind)
{
    static const char *const names[] = {"count",  "min",      "max",       "avg",       "sum",
                                        "stddev", "quantize", "lquantize", "llquantize"};

    return names[kind - DTRACE_AGG_COUNT];
}

static void put_distribution(struct consumer *c, const struct aggregation *a,
                             const struct agg_row *row)
{
    enum dtrace_action_kind kind = a->info->function;
    const int64_t *counts = graph_counts(kind, row->value);
    bool any = false;
    char label[32];

    putc('[', c->printer.out);
    for (unsigned i = 0; i < graph_buckets(kind, a->info->shape); i++) {
        if (counts[i] == 0) {
            continue;
        }
        graph_label(kind, a->info->shape, i, label, sizeof(label));
        fprintf(c->printer.out, "%s{\"bucket\":\"%s\",\"count\":%lld}", any ? "," : "", label,
                (long long)agg_divide(counts[i], a->normal));
        any = true;
    }
    putc(']', c->printer.out);
}

static void put_aggregate(struct consumer *c, const struct aggregation *a,
                          const struct agg_row *row)
{
    if (a->info->function >= DTRACE_AGG_QUANTIZE) {
        put_distribution(c, a, row);
    } else if (a->info->function == DTRACE_AGG_COUNT) {
        fprintf(c->printer.out, "%llu", (unsigned long long)agg_number(a, row, true));
    } else {
        fprintf(c->printer.out, "%lld", (long long)agg_number(a, row, true));
    }
}

/* -x aggpercpu: what each CPU had to do with it; those that had nothing are left out. */
static void put_shares(struct consumer *c, const struct aggregation *a, const struct agg_row *row)
{
    bool any = false;

    fputs(",\"cpus\":{", c->printer.out);
    for (unsigned cpu = 0; cpu < a->ncpus; cpu++) {
        struct agg_row one = {.value = row->cpus[cpu]};
        if (one.value) {
            fprintf(c->printer.out, "%s\"%u\":", any ? "," : "", cpu);
            put_aggregate(c, a, &one);
            any = true;
        }
    }
    putc('}', c->printer.out);
}

static void put_row(struct consumer *c, const struct aggregation *a, const struct agg_row *row)
{
    fputs("{\"key\":[", c->printer.out);
    for (unsigned k = 0; k < a->info->nkeys; k++) {
        const struct dtrace_recdesc *r = &a->recs[k];
        fputs(k ? "," : "", c->printer.out);
        if (r->kind == DTRACE_ACT_DIFEXPR) {
            json_value(c->printer.out, row->data + r->offset, r->size, a->info->keys[k]);
        } else {
            datum_json(c, r, row->data);
        }
    }
    fputs("],\"value\":", c->printer.out);
    put_aggregate(c, a, row);
    if (row->cpus) {
        put_shares(c, a, row);
    }
    putc('}', c->printer.out);
}

void aggregation_json(struct consumer *c, struct aggregation *a)
{
    size_t n;
    struct agg_row **rows = agg_join(&a, 1, &c->printer.style, &n);

    fputs("{\"aggregation\":", c->printer.out);
    json_text(c->printer.out, a->info->name);
    fprintf(c->printer.out, ",\"function\":\"%s\",\"rows\":[", function_name(a->info->function));
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", c->printer.out);
        put_row(c, a, rows[i]);
    }
    fputs("]}\n", c->printer.out);
    free(rows);
}
