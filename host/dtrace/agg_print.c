/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregations as text: the default rows, printa()'s formats, agghist and aggpack.
 */
#include "host/dtrace/graph.h"
#include "host/dtrace/print.h"

#include <stdlib.h>
#include <string.h>

static bool is_distribution(const struct aggregation *a)
{
    return a->info->function >= DTRACE_AGG_QUANTIZE;
}

static unsigned key_count(const struct aggregation *a)
{
    return a->info->nkeys;
}

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

static int key_width(uint32_t size)
{
    return size == 1 ? 3 : size == 2 ? 5 : size == 4 ? 8 : 16;
}

static bool is_number(const struct print_value *v)
{
    return v->kind == DTRACE_ACT_DIFEXPR &&
           (v->size == 1 || v->size == 2 || v->size == 4 || v->size == 8);
}

/* One and two bytes are signed if their type is, larger ones always: like dtrace(1M), except that
 * it prints all small ones unsigned. */
static long long key_number(const struct print_value *v)
{
    const struct dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;
    bool is_signed = v->size >= 4 || (t && (t->kind == DT_TYPE_ENUM || t->is_signed));

    return is_signed ? (long long)datum_signed(v->data, v->size)
                     : (long long)datum_unsigned(v->data, v->size);
}

static void print_text_key(const struct printer *p, const struct print_value *v)
{
    uint32_t text = datum_text(p, v->data, v->size);

    if (text) {
        print_padded_text(p, v->data, text, 50);
    } else {
        print_dump(p, v->data, v->size);
    }
}

void print_narrow_text(const struct printer *p, const uint8_t *data, uint32_t size, int width)
{
    uint32_t text = datum_text(p, data, size);

    if (text) {
        fprintf(p->out, " %*.*s", width, (int)text, (const char *)data);
    } else {
        print_dump(p, data, size);
    }
}

/* A key of a default row. */
static void print_key(const struct printer *p, const struct print_value *v)
{
    switch (v->kind) {
    case DTRACE_ACT_STACK:
        print_stack(p, v->data, v->size / 8);
        return;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        print_ustack(p, v->data, (uint32_t)v->arg);
        return;
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        fputs("  ", p->out);
        print_address(p, v->kind, v->data, 50);
        return;
    default:
        if (is_number(v)) {
            fprintf(p->out, " %*lld", key_width(v->size), key_number(v));
        } else {
            print_text_key(p, v);
        }
    }
}

/* The value of a row that may be missing: a count of 0, an empty distribution. */
static void print_distribution(const struct printer *p, const struct aggregation *a,
                               const struct agg_row *row)
{
    size_t words = graph_buckets(a->info->function, a->info->shape) + 1u;
    uint64_t *empty = row ? NULL : calloc(words, sizeof(*empty));

    if (row || empty) {
        graph_print(a->info->function, a->info->shape, row ? row->value : empty, a->normal,
                    p->style.zoom, p->style.utf8, p->out);
    }
    free(empty);
}

static void print_value(const struct printer *p, const struct aggregation *a,
                        const struct agg_row *row)
{
    if (is_distribution(a)) {
        print_distribution(p, a, row);
    } else if (a->info->function == DTRACE_AGG_COUNT) {
        fprintf(p->out, " %16llu", row ? (unsigned long long)agg_number(a, row, true) : 0);
    } else {
        fprintf(p->out, " %16lld", row ? (long long)agg_number(a, row, true) : 0);
    }
}

static const struct agg_row *any_row(struct agg_row *const *group, unsigned naggs, unsigned *which)
{
    *which = 0;
    while (*which + 1 < naggs && !group[*which]) {
        ++*which;
    }
    return group[*which];
}

static void print_default_row(const struct printer *p, struct aggregation *const *aggs,
                              unsigned naggs, struct agg_row *const *group)
{
    unsigned which;
    const struct agg_row *row = any_row(group, naggs, &which);
    bool newline = true;

    for (unsigned k = 0; k < key_count(aggs[0]); k++) {
        struct print_value v = key_value(aggs[which], row, k);
        print_key(p, &v);
    }
    for (unsigned i = 0; i < naggs; i++) {
        print_value(p, aggs[i], group[i]);
        newline = !is_distribution(aggs[i]);
    }
    if (newline) {
        putc('\n', p->out);
    }
}

/* ---- a format ---------------------------------------------------------------------- */

struct row_format {
    const struct printer *p;
    struct aggregation *const *aggs;
    struct agg_row *const *group;
    unsigned naggs, which, next_key, next_agg;
    const struct agg_row *row;
};

static void print_agg_conversion(struct row_format *f, const struct dt_conversion *c, int width,
                                 int precision)
{
    const struct aggregation *a = f->aggs[f->next_agg];
    const struct agg_row *row = f->group[f->next_agg];

    if (f->next_agg + 1 < f->naggs) {
        f->next_agg++;
    }
    if (is_distribution(a)) {
        print_distribution(f->p, a, row);
        return;
    }
    int64_t number = row ? agg_number(a, row, true) : 0;
    struct print_value v = {
        .kind = DTRACE_ACT_DIFEXPR,
        .data = (const uint8_t *)&number,
        .size = 8,
        .type =
            dt_type_basic(f->p->session,
                          a->info->function == DTRACE_AGG_COUNT ? DT_BASIC_UINT64 : DT_BASIC_INT64),
    };
    print_conversion(f->p, c, width, precision, &v);
}

static bool next_key(struct row_format *f, struct print_value *v)
{
    if (f->next_key >= key_count(f->aggs[f->which])) {
        return false;
    }
    *v = key_value(f->aggs[f->which], f->row, f->next_key++);
    return true;
}

/* `*` takes a key. */
static int dynamic(struct row_format *f, bool wanted, int otherwise)
{
    struct print_value v;

    return wanted && next_key(f, &v) ? (int)key_number(&v) : otherwise;
}

static void print_format_row(struct row_format *f, const struct dt_printf *format)
{
    struct print_value v;

    for (unsigned i = 0; i < format->n; i++) {
        const struct dt_conversion *c = &format->conversions[i];
        fwrite(c->before, 1, c->before_size, f->p->out);
        if (!c->name[0]) {
            continue;
        }
        int width = dynamic(f, c->flags & DT_CONV_DYNWIDTH, c->width);
        int precision = dynamic(f, c->flags & DT_CONV_DYNPREC, c->precision);
        if (c->flags & DT_CONV_AGG) {
            print_agg_conversion(f, c, width, precision);
        } else if (next_key(f, &v)) {
            print_conversion(f->p, c, width, precision, &v);
        }
    }
}

/* ---- agghist: rows as bars of one graph -------------------------------------------- */

static bool can_hist(const struct aggregation *a)
{
    enum dtrace_action_kind kind = a->info->function;

    return kind == DTRACE_AGG_COUNT || kind == DTRACE_AGG_SUM || kind == DTRACE_AGG_AVG ||
           kind == DTRACE_AGG_STDDEV;
}

static int hist_key_width(const struct aggregation *a, unsigned k)
{
    uint32_t size = a->recs[k].size;

    return size == 1 || size == 2 || size == 4 || size == 8 ? key_width(size) : 16;
}

static void print_hist_keys(const struct printer *p, const struct aggregation *a,
                            const struct agg_row *row)
{
    for (unsigned k = 0; k < key_count(a); k++) {
        struct print_value v = key_value(a, row, k);
        int width = hist_key_width(a, k);
        if (is_number(&v)) {
            fprintf(p->out, " %*lld", width, key_number(&v));
        } else {
            print_narrow_text(p, v.data, v.size, width);
        }
    }
}

static void print_hist(const struct printer *p, const struct aggregation *a,
                       struct agg_row *const *rows, size_t n)
{
    int64_t *counts = calloc(n + 1, sizeof(*counts));
    int width = 0;

    for (size_t i = 0; counts && i < n; i++) {
        counts[i] = agg_number(a, rows[i], false);
    }
    for (unsigned k = 0; k < key_count(a); k++) {
        width += hist_key_width(a, k) + 1;
    }
    fprintf(p->out, "\n%*s %41s %-9s\n", width, "key", "------------- Distribution -------------",
            "count");
    struct graph_scale scale = graph_scale_of(counts, (unsigned)n, p->style.zoom, p->style.utf8);
    for (size_t i = 0; counts && i < n; i++) {
        print_hist_keys(p, a, rows[i]);
        putc(' ', p->out);
        graph_bar(&scale, counts[i], p->out);
        fprintf(p->out, " %-9lld\n", (long long)agg_number(a, rows[i], true));
    }
    free(counts);
}

static bool can_pack(const struct aggregation *a)
{
    return a->info->function == DTRACE_AGG_QUANTIZE || a->info->function == DTRACE_AGG_LQUANTIZE;
}

/* ---- all of it --------------------------------------------------------------------- */

void print_aggregations(const struct printer *p, struct aggregation *const *aggs, unsigned naggs,
                        const struct dt_printf *format)
{
    size_t n;
    struct agg_row **groups = agg_join(aggs, naggs, &p->style, &n);

    if (!format && naggs == 1 && n && p->style.pack && can_pack(aggs[0])) {
        print_pack(p, aggs[0], groups, n);
    } else if (!format && naggs == 1 && n && p->style.hist && can_hist(aggs[0])) {
        print_hist(p, aggs[0], groups, n);
    } else {
        for (size_t i = 0; i < n; i++) {
            struct agg_row *const *group = &groups[i * naggs];
            struct row_format f = {p, aggs, group, naggs, 0, 0, 0, NULL};
            f.row = any_row(group, naggs, &f.which);
            if (format) {
                print_format_row(&f, format);
            } else {
                print_default_row(p, aggs, naggs, group);
            }
        }
    }
    free(groups);
}
