/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --json: one object a line for each record and each aggregation, for programs. Integers are
 * numbers, strings strings, other bytes hexadecimal text.
 *
 *   {"cpu":0,"id":1,"epid":1,"time":123,"probe":"dtrace:::BEGIN","data":[{"value":1}]}
 *   {"aggregation":"a","function":"count","rows":[{"key":["x"],"value":3}]}
 */
#include "host/dtrace/consume.h"
#include "host/dtrace/json.h"

#include <stdlib.h>
#include <string.h>

static void put_frames(struct consumer *c, const uint8_t *data, uint32_t n, address_owner owner)
{
    char text[512];

    putc('[', c->printer.out);
    for (uint32_t i = 0; !stack_ends(data, i, n); i++) {
        symbol_text(&c->printer, datum_unsigned(data + 8 * i, 8), owner, text, sizeof(text));
        fputs(i ? "," : "", c->printer.out);
        json_text(c->printer.out, text);
    }
    putc(']', c->printer.out);
}

static void put_address(struct consumer *c, uint16_t kind, const uint8_t *data)
{
    bool user = kind == DTRACE_ACT_USYM || kind == DTRACE_ACT_UMOD || kind == DTRACE_ACT_UADDR;
    bool module = kind == DTRACE_ACT_UMOD || kind == DTRACE_ACT_MOD;
    uint64_t address = datum_unsigned(data + (user ? 8 : 0), 8);
    address_owner owner = user ? (address_owner)datum_unsigned(data, 8) : OF_KERNEL;
    char text[512];

    (module ? module_text : symbol_text)(&c->printer, address, owner, text, sizeof(text));
    json_text(c->printer.out, text);
}

void datum_json(struct consumer *c, const struct dtrace_recdesc *r, const uint8_t *base)
{
    const uint8_t *data = base + r->offset;

    switch (r->kind) {
    case DTRACE_ACT_STACK:
        put_frames(c, data, r->size / 8, OF_KERNEL);
        break;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        put_frames(c, data + 8, (uint32_t)r->arg, (address_owner)datum_unsigned(data, 8));
        break;
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        put_address(c, r->kind, data);
        break;
    default:
        json_value(c->printer.out, data, r->size, dt_session_datum_type(c->session, r->uarg));
    }
}

static const char *place_name(const struct dtrace_recdesc *r)
{
    switch (r->kind) {
    case DTRACE_ACT_TRACEMEM:
    case DTRACE_ACT_TRACEMEM_DYNSIZE:
        return "tracemem";
    case DTRACE_ACT_STACK:
        return "stack";
    case DTRACE_ACT_USTACK:
        return "ustack";
    case DTRACE_ACT_JSTACK:
        return "jstack";
    case DTRACE_ACT_SYM:
        return "sym";
    case DTRACE_ACT_MOD:
        return "mod";
    case DTRACE_ACT_USYM:
        return "usym";
    case DTRACE_ACT_UMOD:
        return "umod";
    case DTRACE_ACT_UADDR:
        return "uaddr";
    default:
        return "trace";
    }
}

static const char *action_name(const struct dtrace_recdesc *r)
{
    static const char *const libacts[] = {"",      "clear",  "normalize", "denormalize",
                                          "trunc", "setopt", "ftruncate", "print"};

    switch (r->kind) {
    case DTRACE_ACT_EXIT:
        return "exit";
    case DTRACE_ACT_PRINTF:
        return "printf";
    case DTRACE_ACT_PRINTA:
        return "printa";
    case DTRACE_ACT_SYSTEM:
        return "system";
    case DTRACE_ACT_FREOPEN:
        return "freopen";
    case DTRACE_ACT_LIBACT:
        return r->arg < sizeof(libacts) / sizeof(*libacts) ? libacts[r->arg] : "";
    default:
        return place_name(r);
    }
}

/* printf's result as text beside its values. */
static void put_printf(struct consumer *c, const struct dt_format *f, struct print_value *values,
                       unsigned n)
{
    struct printer p = c->printer;
    char *text = NULL;
    size_t size = 0;

    p.out = open_memstream(&text, &size);
    if (p.out) {
        print_format(&p, f->parsed, values, n);
        fclose(p.out);
        fputs(",\"text\":", c->printer.out);
        json_bytes(c->printer.out, text, size);
    }
    free(text);
}

static void put_names(struct consumer *c, const struct dt_format *f)
{
    fputs(",\"aggregations\":[", c->printer.out);
    for (unsigned k = 0; k < f->naggregations; k++) {
        fputs(k ? "," : "", c->printer.out);
        json_text(c->printer.out, consumer_aggregation(c, f->aggregations[k])->info->name);
    }
    putc(']', c->printer.out);
}

static unsigned put_action(struct consumer *c, const struct epid_info *info, uint32_t i,
                           const uint8_t *record, struct print_value *values)
{
    const struct dtrace_recdesc *r = &info->recs[i];
    const struct dt_format *f = dt_session_format(c->session, r->format);
    unsigned n = record_values(c, info, i, record, values);

    fprintf(c->printer.out, "%s{\"action\":\"%s\"", i ? "," : "", action_name(r));
    if (r->kind == DTRACE_ACT_TRACEMEM || r->kind == DTRACE_ACT_TRACEMEM_DYNSIZE) {
        fputs(",\"value\":", c->printer.out);
        json_hex(c->printer.out, record + r->offset, record_tracemem_bytes(r, values, n));
    } else if (r->size) {
        fputs(",\"value\":", c->printer.out);
        datum_json(c, r, record);
    } else if (r->kind == DTRACE_ACT_PRINTA) {
        put_names(c, f);
    }
    for (unsigned k = 0; k < n; k++) {
        fputs(k ? "," : ",\"values\":[", c->printer.out);
        datum_json(c, &info->recs[i + 1 + k], record);
    }
    fputs(n ? "]" : "", c->printer.out);
    if (r->kind == DTRACE_ACT_PRINTF) {
        put_printf(c, f, values, n);
    }
    putc('}', c->printer.out);
    if (r->kind == DTRACE_ACT_EXIT) {
        record_exit(c, record + r->offset);
    }
    return n;
}

/* The consumer's actions besides printing take place in JSON too; printa's entries are objects. */
static void side_effects(struct consumer *c, const struct epid_info *info, uint32_t i,
                         struct print_value *values, unsigned n)
{
    const struct dtrace_recdesc *r = &info->recs[i];
    const struct dt_format *f = dt_session_format(c->session, r->format);

    if (r->kind == DTRACE_ACT_LIBACT && r->arg != DTRACE_LIBACT_PRINT) {
        libact_do(c, info, f, values, n);
    } else if (r->kind == DTRACE_ACT_SYSTEM) {
        libact_system(c, f, values, n);
    } else if (r->kind == DTRACE_ACT_FREOPEN) {
        libact_freopen(c, info, f, values, n);
    } else if (r->kind == DTRACE_ACT_PRINTA) {
        for (unsigned k = 0; k < f->naggregations; k++) {
            struct aggregation *a = consumer_aggregation(c, f->aggregations[k]);
            a->printed = true;
            aggregation_json(c, a);
        }
    }
}

void record_json(struct consumer *c, unsigned cpu, const uint8_t *data,
                 const struct epid_info *info)
{
    struct dtrace_record head;

    memcpy(&head, data, sizeof(head));
    struct print_value *values = calloc(info->desc.nrecs + 1, sizeof(*values));
    if (!values) {
        return;
    }
    fprintf(c->printer.out,
            "{\"cpu\":%u,\"id\":%u,\"epid\":%u,\"time\":%llu,\"probe\":\"%s:%s:%s:%s\",\"data\":[",
            cpu, info->probe.id, head.epid,
            (unsigned long long)((uint64_t)head.time_high << 32 | head.time_low),
            info->probe.provider, info->probe.module, info->probe.function, info->probe.name);
    for (uint32_t i = 0; i < info->desc.nrecs; i++) {
        i += put_action(c, info, i, data, values);
    }
    fputs("]}\n", c->printer.out);
    for (uint32_t i = 0; i < info->desc.nrecs; i++) {
        unsigned n = record_values(c, info, i, data, values);

        side_effects(c, info, i, values, n);
        i += n;
    }
    free(values);
}
