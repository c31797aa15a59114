/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values and aggregations as JSON, for --json. A struct is an object, in which the members of an
 * anonymous struct stand as its own; an array of characters is a string; pointers and enumerators
 * are numbers.
 */
#include "host/dtrace/print/print.h"

#include <stdlib.h>
#include <string.h>

void json_hex(FILE *out, const uint8_t *data, uint32_t size)
{
    putc('"', out);
    for (uint32_t i = 0; i < size; i++) {
        fprintf(out, "%02x", data[i]);
    }
    putc('"', out);
}

static void put_members(FILE *out, const struct dt_type *t, const uint8_t *data, bool *any)
{
    for (unsigned i = 0; i < t->nmembers; i++) {
        const struct dt_member *m = &t->members[i];
        const struct dt_type *type = dt_type_resolve(m->type);
        const uint8_t *at = data + m->bit_offset / 8;

        if (!m->name) {
            put_members(out, type, at, any);
            continue;
        }
        fputs(*any ? "," : "", out);
        *any = true;
        json_put(out, m->name);
        putc(':', out);
        if (!datum_is_bit_field(type)) {
            json_value(out, at, (uint32_t)type->size, type);
            continue;
        }
        uint64_t value = datum_bit_field(type, data, m->bit_offset);
        unsigned unused = 64 - type->bits;
        if (type->is_signed) {
            fprintf(out, "%lld", (long long)((int64_t)(value << unused) >> unused));
        } else {
            fprintf(out, "%llu", (unsigned long long)value);
        }
    }
}

void json_value(FILE *out, const uint8_t *data, uint32_t size, const struct dt_type *type)
{
    const struct dt_type *t = type ? dt_type_resolve(type) : NULL;
    bool is_signed = !t || t->kind == DT_TYPE_ENUM || (t->kind == DT_TYPE_INTEGER && t->is_signed);
    bool any = false;

    if (t && dt_type_is_string_like(t) && t->kind != DT_TYPE_POINTER) {
        json_put_bytes(out, (const char *)data, strnlen((const char *)data, size));
    } else if (t && dt_type_is_struct(t) && t->size == size) {
        putc('{', out);
        put_members(out, t, data, &any);
        putc('}', out);
    } else if (t && t->kind == DT_TYPE_ARRAY && t->size == size) {
        const struct dt_type *element = dt_type_resolve(t->to);
        putc('[', out);
        for (uint64_t i = 0; i < t->count; i++) {
            fputs(i ? "," : "", out);
            json_value(out, data + i * element->size, (uint32_t)element->size, element);
        }
        putc(']', out);
    } else if (!datum_is_number(size)) {
        json_hex(out, data, size);
    } else if (is_signed) {
        fprintf(out, "%lld", (long long)datum_signed(data, size));
    } else {
        fprintf(out, "%llu", (unsigned long long)datum_unsigned(data, size));
    }
}

/* ---- recorded values ---------------------------------------------------------------- */

/* names: what helpers called the frames, with an @ in front if beside their symbols; NULL: none. */
static void dtrace_json_print_frames(const struct printer *p, const uint8_t *data, uint32_t n,
                                     address_owner owner, struct stack_names *names)
{
    char text[512];

    putc('[', p->out);
    for (uint32_t i = 0; !stack_ends(data, i, n); i++) {
        const char *name = names ? stack_name_next(names) : "";

        fputs(i ? "," : "", p->out);
        if (!*name || *name == '@') {
            symbol_text(p, datum_unsigned(data + 8 * i, 8), owner, text, sizeof(text));
            json_put(p->out, text);
        }
        if (*name) {
            fputs(*name == '@' ? "," : "", p->out);
            json_put(p->out, name);
        }
    }
    putc(']', p->out);
}

void json_datum(const struct printer *p, const struct dtrace_recdesc *r, const uint8_t *base)
{
    const uint8_t *data = base + r->offset;
    struct stack_names names;
    char text[512];

    switch (r->kind) {
    case DTRACE_ACT_STACK:
        dtrace_json_print_frames(p, data, r->size / 8, OF_KERNEL, NULL);
        break;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        stack_names_open(&names, data, r->size, (uint32_t)r->arg);
        dtrace_json_print_frames(p, data + 8, (uint32_t)r->arg,
                                 (address_owner)datum_unsigned(data, 8), &names);
        break;
    case DTRACE_ACT_SYM:
        symbol_text(p, datum_unsigned(data, 8), OF_KERNEL, text, sizeof(text));
        json_put(p->out, text);
        break;
    case DTRACE_ACT_MOD:
        module_text(p, datum_unsigned(data, 8), OF_KERNEL, text, sizeof(text));
        json_put(p->out, text);
        break;
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UADDR:
        symbol_text(p, datum_unsigned(data + 8, 8), (address_owner)datum_unsigned(data, 8), text,
                    sizeof(text));
        json_put(p->out, text);
        break;
    case DTRACE_ACT_UMOD:
        module_text(p, datum_unsigned(data + 8, 8), (address_owner)datum_unsigned(data, 8), text,
                    sizeof(text));
        json_put(p->out, text);
        break;
    default:
        json_value(p->out, data, r->size, dt_session_datum_type(p->session, r->uarg));
    }
}

/* ---- aggregations ------------------------------------------------------------------- */

static void put_aggregate(const struct printer *p, const struct aggregation *a,
                          const struct agg_row *row)
{
    enum dtrace_action_kind kind = a->info->function;
    const char *comma = "";
    char label[32];

    if (kind == DTRACE_AGG_COUNT) {
        fprintf(p->out, "%llu", (unsigned long long)agg_number(a, row, true));
        return;
    }
    if (kind < DTRACE_AGG_QUANTIZE) {
        fprintf(p->out, "%lld", (long long)agg_number(a, row, true));
        return;
    }
    const int64_t *counts = bucket_counts(kind, row->value);
    putc('[', p->out);
    for (unsigned i = 0; i < bucket_count(kind, a->info->shape); i++) {
        if (counts[i] != 0) {
            bucket_label(kind, a->info->shape, i, label, sizeof(label));
            fprintf(p->out, "%s{\"bucket\":\"%s\",\"count\":%lld}", comma, label,
                    (long long)agg_divide(counts[i], a->normal));
            comma = ",";
        }
    }
    putc(']', p->out);
}

void json_aggregation(const struct printer *p, struct aggregation *a)
{
    static const char *const functions[] = {"count",  "min",      "max",       "avg",       "sum",
                                            "stddev", "quantize", "lquantize", "llquantize"};
    size_t n;
    struct agg_row **rows = agg_join(&a, 1, &p->style, &n);

    fputs("{\"aggregation\":", p->out);
    json_put(p->out, a->info->name);
    fprintf(p->out, ",\"function\":\"%s\",\"rows\":[",
            functions[a->info->function - DTRACE_AGG_COUNT]);
    for (size_t i = 0; i < n; i++) {
        const struct agg_row *row = rows[i];
        const char *comma = "";

        fputs(i ? ",{\"key\":[" : "{\"key\":[", p->out);
        for (unsigned k = 0; k < a->info->nkeys; k++) {
            const struct dtrace_recdesc *r = &a->recs[k];
            fputs(k ? "," : "", p->out);
            if (r->kind == DTRACE_ACT_DIFEXPR) {
                json_value(p->out, row->data + r->offset, r->size, a->info->keys[k]);
            } else {
                json_datum(p, r, row->data);
            }
        }
        fputs("],\"value\":", p->out);
        put_aggregate(p, a, row);
        /* -x aggpercpu: the share of each CPU that has one. */
        fputs(row->cpus ? ",\"cpus\":{" : "", p->out);
        for (unsigned cpu = 0; row->cpus && cpu < a->ncpus; cpu++) {
            struct agg_row one = {.value = row->cpus[cpu]};
            if (one.value) {
                fprintf(p->out, "%s\"%u\":", comma, cpu);
                put_aggregate(p, a, &one);
                comma = ",";
            }
        }
        fputs(row->cpus ? "}}" : "}", p->out);
    }
    fputs("]}\n", p->out);
    free(rows);
}
