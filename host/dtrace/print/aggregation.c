/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregations as text: the default rows, printa()'s formats, agghist.
 */
#include "host/dtrace/print/print.h"
#include "host/kymo.h"

#include <stdlib.h>

static bool is_distribution(const struct aggregation *a)
{
    return a->info->function >= DTRACE_AGG_QUANTIZE;
}

/* ---- keys --------------------------------------------------------------------------- */

static struct print_value key_value(const struct aggregation *a, const struct agg_row *row,
                                    unsigned k)
{
    const struct dtrace_recdesc *r = &a->recs[k];

    return (struct print_value){
        .kind = r->kind,
        .data = row->data + r->offset,
        .size = r->size,
        .type = k < a->info->nkeys ? a->info->keys[k] : NULL,
        .arg = r->arg,
    };
}

static bool key_is_number(const struct print_value *v)
{
    return v->kind == DTRACE_ACT_DIFEXPR && datum_is_number(v->size);
}

/* One and two bytes are signed if their type is, larger ones always: like dtrace(1M), except that
 * it prints all small ones unsigned. */
static long long print_key_value(const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;
    bool is_signed = v->size >= 4 || (t && (t->kind == DT_TYPE_ENUM || t->is_signed));

    return is_signed ? (long long)datum_signed(v->data, v->size)
                     : (long long)datum_unsigned(v->data, v->size);
}

/* ---- default rows ------------------------------------------------------------------- */

static void print_key(const struct printer *p, const struct print_value *v)
{
    uint32_t text;

    if (print_place(p, v, "  ", 50)) {
        return;
    }
    if (key_is_number(v)) {
        fprintf(p->out, " %*lld", datum_width(v->size), print_key_value(v));
    } else if ((text = datum_text(p, v->data, v->size)) != 0) {
        print_padded_text(p, v->data, text, 50);
    } else {
        print_dump(p, v->data, v->size);
    }
}

/* Prints a row's distribution; a missing row's is empty. */
static void print_distribution(const struct printer *p, const struct aggregation *a,
                               const struct agg_row *row)
{
    size_t words = bucket_count(a->info->function, a->info->shape) + 1u;
    uint64_t *empty = row ? NULL : kymo_memory(calloc(words, sizeof(*empty)));

    graph_print(p, a, row ? row->value : empty);
    free(empty);
}

/* The rows of one key: of each aggregation that a printa() joins, its row or NULL. */
struct row_group {
    struct aggregation *const *aggs;
    struct agg_row *const *rows;
    unsigned naggs;
    const struct aggregation *with_keys; /* an aggregation that has a row */
    const struct agg_row *keys;          /* that row */
};

static void print_default_row(const struct printer *p, const struct row_group *g)
{
    for (unsigned k = 0; k < g->aggs[0]->info->nkeys; k++) {
        struct print_value v = key_value(g->with_keys, g->keys, k);
        print_key(p, &v);
    }
    for (unsigned i = 0; i < g->naggs; i++) {
        const struct aggregation *a = g->aggs[i];
        int64_t number = g->rows[i] && !is_distribution(a) ? agg_number(a, g->rows[i], true) : 0;
        if (is_distribution(a)) {
            print_distribution(p, a, g->rows[i]);
        } else if (a->info->function == DTRACE_AGG_COUNT) {
            fprintf(p->out, " %16llu", (unsigned long long)number);
        } else {
            fprintf(p->out, " %16lld", (long long)number);
        }
    }
    if (!is_distribution(g->aggs[g->naggs - 1])) {
        putc('\n', p->out);
    }
}

/* ---- a format ----------------------------------------------------------------------- */

static bool next_key(const struct row_group *g, unsigned *next, struct print_value *v)
{
    if (*next >= g->with_keys->info->nkeys) {
        return false;
    }
    *v = key_value(g->with_keys, g->keys, (*next)++);
    return true;
}

/* `*` takes a key. */
static int print_row_width(const struct row_group *g, unsigned *next, bool wanted, int otherwise)
{
    struct print_value v;

    return wanted && next_key(g, next, &v) ? (int)print_key_value(&v) : otherwise;
}

static void print_format_row(const struct printer *p, const struct row_group *g,
                             const struct dt_printf *format)
{
    unsigned key = 0, agg = 0; /* the next ones; the last aggregation is repeated */

    for (unsigned i = 0; i < format->n; i++) {
        const struct dt_conversion *c = &format->conversions[i];
        const struct aggregation *a = g->aggs[agg];
        const struct agg_row *row = g->rows[agg];
        struct print_value v;

        fwrite(c->before, 1, c->before_size, p->out);
        if (!c->name[0]) {
            continue;
        }
        int width = print_row_width(g, &key, c->flags & DT_CONV_DYNWIDTH, c->width);
        int precision = print_row_width(g, &key, c->flags & DT_CONV_DYNPREC, c->precision);
        if (!(c->flags & DT_CONV_AGG)) {
            if (next_key(g, &key, &v)) {
                print_conversion(p, c, width, precision, &v);
            }
            continue;
        }
        agg += agg + 1 < g->naggs;
        if (is_distribution(a)) {
            print_distribution(p, a, row);
            continue;
        }
        int64_t number = row ? agg_number(a, row, true) : 0;
        v = (struct print_value){
            .kind = DTRACE_ACT_DIFEXPR,
            .data = (const uint8_t *)&number,
            .size = 8,
            .type =
                dt_type_basic(p->session, a->info->function == DTRACE_AGG_COUNT ? DT_BASIC_UINT64
                                                                                : DT_BASIC_INT64),
        };
        print_conversion(p, c, width, precision, &v);
    }
}

/* ---- agghist: rows as bars of one graph --------------------------------------------- */

static void print_hist(const struct printer *p, const struct aggregation *a,
                       struct agg_row *const *rows, size_t n)
{
    int64_t *counts = kymo_memory(calloc(n + 1, sizeof(*counts)));
    int width = 0;

    for (size_t i = 0; i < n; i++) {
        counts[i] = agg_number(a, rows[i], false);
    }
    for (unsigned k = 0; k < a->info->nkeys; k++) {
        width += datum_width(a->recs[k].size) + 1;
    }
    fprintf(p->out, "\n%*s %41s %-9s\n", width, "key", "------------- Distribution -------------",
            "count");
    struct graph_scale scale = graph_scale_of(counts, (unsigned)n, p->style.zoom, p->style.utf8);
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < a->info->nkeys; k++) {
            struct print_value v = key_value(a, rows[i], k);
            if (key_is_number(&v)) {
                fprintf(p->out, " %*lld", datum_width(v.size), print_key_value(&v));
            } else {
                print_narrow_text(p, v.data, v.size, datum_width(v.size));
            }
        }
        putc(' ', p->out);
        graph_bar(&scale, counts[i], p->out);
        fprintf(p->out, " %-9lld\n", (long long)agg_number(a, rows[i], true));
    }
    free(counts);
}

/* ---- all rows ----------------------------------------------------------------------- */

void print_aggregations(const struct printer *p, struct aggregation *const *aggs, unsigned naggs,
                        const struct dt_printf *format)
{
    enum dtrace_action_kind kind = aggs[0]->info->function;
    size_t n;
    struct agg_row **rows = agg_join(aggs, naggs, &p->style, &n);
    bool graph = !format && naggs == 1 && n;
    bool can_pack = kind == DTRACE_AGG_QUANTIZE || kind == DTRACE_AGG_LQUANTIZE;
    bool can_hist = kind == DTRACE_AGG_COUNT || kind == DTRACE_AGG_SUM || kind == DTRACE_AGG_AVG ||
                    kind == DTRACE_AGG_STDDEV;

    if (graph && p->style.pack && can_pack) {
        print_pack(p, aggs[0], rows, n);
    } else if (graph && p->style.hist && can_hist) {
        print_hist(p, aggs[0], rows, n);
    } else {
        for (size_t i = 0; i < n; i++) {
            struct row_group g = {.aggs = aggs, .rows = &rows[i * naggs], .naggs = naggs};
            unsigned which = 0;
            while (which + 1 < naggs && !g.rows[which]) {
                which++;
            }
            g.with_keys = aggs[which];
            g.keys = g.rows[which];
            if (format) {
                print_format_row(p, &g, format);
            } else {
                print_default_row(p, &g);
            }
        }
    }
    free(rows);
}
