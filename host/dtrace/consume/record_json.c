/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --json: an object a line for each record and each aggregation. Integers are numbers, strings
 * strings, other bytes hexadecimal text.
 *
 *   {"cpu":0,"id":1,"epid":1,"time":123,"probe":"dtrace:::BEGIN","data":[{"value":1}]}
 *   {"aggregation":"a","function":"count","rows":[{"key":["x"],"value":3}]}
 */
#include "host/dtrace/consume/consume.h"
#include "host/kymo.h"

#include <stdlib.h>
#include <string.h>

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

/* Prints an action; returns how many of the recs after it were its own. */
static unsigned put_action(struct consumer *c, const struct epid_info *info, uint32_t i,
                           const uint8_t *record, struct print_value *values)
{
    const struct dtrace_recdesc *r = &info->recs[i];
    const struct dt_format *f = dt_session_format(c->session, r->format);
    unsigned n = record_values(c, info, i, record, values);
    FILE *out = c->printer.out;
    size_t size;

    fprintf(out, "%s{\"action\":\"%s\"", i ? "," : "", action_name(r));
    if (r->kind == DTRACE_ACT_TRACEMEM || r->kind == DTRACE_ACT_TRACEMEM_DYNSIZE) {
        fputs(",\"value\":", out);
        json_hex(out, record + r->offset, record_tracemem_bytes(r, values, n));
    } else if (r->size) {
        fputs(",\"value\":", out);
        json_datum(&c->printer, r, record);
    } else if (r->kind == DTRACE_ACT_PRINTA) {
        fputs(",\"aggregations\":[", out);
        for (unsigned k = 0; k < f->naggregations; k++) {
            fputs(k ? "," : "", out);
            json_put(out, consumer_aggregation(c, f->aggregations[k])->info->name);
        }
        putc(']', out);
    }
    for (unsigned k = 0; k < n; k++) {
        fputs(k ? "," : ",\"values\":[", out);
        json_datum(&c->printer, &info->recs[i + 1 + k], record);
    }
    fputs(n ? "]" : "", out);
    char *text = r->kind == DTRACE_ACT_PRINTF ? libact_format(c, f, values, n, &size) : NULL;
    if (text) {
        fputs(",\"text\":", out);
        json_put_bytes(out, text, size);
    }
    free(text);
    putc('}', out);
    if (r->kind == DTRACE_ACT_EXIT) {
        record_exit(c, record + r->offset);
    }
    return n;
}

/* After the record's object the actions besides printing are taken; printa() prints an object for
 * each aggregation. */
void record_json(struct consumer *c, unsigned cpu, const uint8_t *data,
                 const struct epid_info *info)
{
    struct dtrace_record head;

    memcpy(&head, data, sizeof(head));
    struct print_value *values = kymo_memory(calloc(info->desc.nrecs + 1, sizeof(*values)));
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
        const struct dtrace_recdesc *r = &info->recs[i];
        const struct dt_format *f = dt_session_format(c->session, r->format);
        unsigned n = record_values(c, info, i, data, values);

        if (r->kind == DTRACE_ACT_LIBACT && r->arg != DTRACE_LIBACT_PRINT) {
            libact_do(c, info, f, values, n);
        } else if (r->kind == DTRACE_ACT_SYSTEM) {
            libact_system(c, f, values, n);
        } else if (r->kind == DTRACE_ACT_FREOPEN) {
            libact_freopen(c, info, f, values, n);
        }
        for (unsigned k = 0; r->kind == DTRACE_ACT_PRINTA && k < f->naggregations; k++) {
            struct aggregation *a = consumer_aggregation(c, f->aggregations[k]);
            a->printed = true;
            json_aggregation(&c->printer, a);
        }
        i += n;
    }
    free(values);
}
