/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a record as text: the heading, the prefix, each action's data, a newline. */
#include "host/dtrace/consume/consume.h"
#include "host/kymo.h"

#include <stdlib.h>
#include <string.h>

/* True for `what` as the name's whole, or as its last word after a dash. */
static bool record_ends_with(const char *name, const char *what)
{
    size_t n = strlen(name), m = strlen(what);

    return n >= m && strcmp(name + n - m, what) == 0 && (n == m || name[n - m - 1] == '-');
}

/* The heading comes before the first record, and never if that one is quiet. flowindent: among
 * several clauses on an entry only the first is an arrow, on a return only the last. */
static void print_prefix(struct consumer *c, unsigned cpu, const struct epid_info *info,
                         const struct epid_info *next)
{
    const struct dt_probe_info *probe = &info->probe;
    bool first = !c->heading_done, call = strcmp(probe->provider, "syscall") == 0;
    bool entry = record_ends_with(probe->name, "entry");
    bool again = c->last_probe == probe->id && c->last_entry;
    bool more = next && next->probe.id == probe->id;
    FILE *out = c->printer.out;
    char text[512];

    c->heading_done = true;
    if (!c->flowindent) {
        if (!c->printer.style.quiet) {
            if (first) {
                fprintf(out, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
            }
            snprintf(text, sizeof(text), "%s:%s", probe->function, probe->name);
            fprintf(out, "%3u %6u %32s ", cpu, probe->id, text);
        }
        return;
    }
    if (first) {
        fprintf(out, "%3s %-41s\n", "CPU", "FUNCTION");
    }
    c->indent = c->indent < sizeof(text) ? c->indent : sizeof(text);
    if (entry && !again) {
        snprintf(text, sizeof(text), "%*s %s %s", (int)c->indent, "", call ? "=>" : "->",
                 probe->function);
        c->indent += 2;
    } else if (record_ends_with(probe->name, "return") && !more) {
        c->indent -= c->indent >= 2 ? 2 : 0;
        snprintf(text, sizeof(text), "%*s %s %s", (int)c->indent, "", call ? "<=" : "<-",
                 probe->function);
    } else {
        snprintf(text, sizeof(text), "%*s| %s:%s", (int)c->indent, "", probe->function,
                 probe->name);
    }
    c->last_probe = probe->id;
    c->last_entry = entry;
    fprintf(out, "%3u %-41s ", cpu, text);
}

/* ---- data -------------------------------------------------------------------------- */

unsigned record_values(struct consumer *c, const struct epid_info *info, uint32_t i,
                       const uint8_t *record, struct print_value *values)
{
    unsigned n = 0;

    for (uint32_t k = i + 1; k < info->desc.nrecs && info->recs[k].format == info->recs[i].format &&
                             info->recs[i].format;
         k++) {
        const struct dtrace_recdesc *r = &info->recs[k];
        values[n++] = (struct print_value){
            .kind = r->kind,
            .data = record + r->offset,
            .size = r->size,
            .type = dt_session_datum_type(c->session, r->uarg),
            .arg = r->arg,
        };
    }
    return n;
}

static void print_printa(struct consumer *c, const struct dt_format *f)
{
    struct aggregation **aggs = kymo_memory(calloc(f->naggregations + 1u, sizeof(*aggs)));

    for (unsigned i = 0; i < f->naggregations; i++) {
        aggs[i] = consumer_aggregation(c, f->aggregations[i]);
        aggs[i]->printed = true;
    }
    if (!f->parsed) {
        putc('\n', c->printer.out);
    }
    print_aggregations(&c->printer, aggs, f->naggregations, f->parsed);
    free(aggs);
}

void record_exit(struct consumer *c, const uint8_t *data)
{
    c->status = (int)datum_signed(data, 4) & 0xff;
    c->status_set = true;
}

uint32_t record_tracemem_bytes(const struct dtrace_recdesc *r, const struct print_value *values,
                               unsigned n)
{
    uint32_t size = r->size;

    if (r->kind == DTRACE_ACT_TRACEMEM_DYNSIZE && n) {
        int64_t wanted = datum_signed(values[0].data, values[0].size);
        size = wanted > 0 && wanted < size ? (uint32_t)wanted : size;
    }
    return size;
}

/* Prints an action; returns how many of the recs after it were its own. */
static unsigned print_action(struct consumer *c, const struct epid_info *info, uint32_t i,
                             const uint8_t *record, struct print_value *values)
{
    const struct printer *p = &c->printer;
    const struct dtrace_recdesc *r = &info->recs[i];
    const struct dt_format *f = dt_session_format(c->session, r->format);
    const uint8_t *data = record + r->offset;
    struct print_value value = {.kind = r->kind, .data = data, .size = r->size, .arg = r->arg};
    bool takes_values = r->kind == DTRACE_ACT_PRINTF || r->kind == DTRACE_ACT_LIBACT ||
                        r->kind == DTRACE_ACT_SYSTEM || r->kind == DTRACE_ACT_FREOPEN ||
                        r->kind == DTRACE_ACT_TRACEMEM_DYNSIZE;
    unsigned n = takes_values ? record_values(c, info, i, record, values) : 0;

    switch (r->kind) {
    case DTRACE_ACT_EXIT:
        record_exit(c, data);
        break;
    case DTRACE_ACT_PRINTF:
        print_format(p, f->parsed, values, n);
        break;
    case DTRACE_ACT_PRINTA:
        print_printa(c, f);
        break;
    case DTRACE_ACT_LIBACT:
        libact_do(c, info, f, values, n);
        break;
    case DTRACE_ACT_SYSTEM:
        libact_system(c, f, values, n);
        break;
    case DTRACE_ACT_FREOPEN:
        libact_freopen(c, info, f, values, n);
        break;
    case DTRACE_ACT_TRACEMEM:
    case DTRACE_ACT_TRACEMEM_DYNSIZE:
        print_dump(p, data, record_tracemem_bytes(r, values, n));
        break;
    default:
        if (!print_place(p, &value, "  ", 50)) {
            print_datum(p, data, r->size);
        }
    }
    return n;
}

void record_print(struct consumer *c, unsigned cpu, const uint8_t *data,
                  const struct epid_info *info, const struct epid_info *next)
{
    struct print_value *values = kymo_memory(calloc(info->desc.nrecs + 1, sizeof(*values)));

    print_prefix(c, cpu, info, next);
    for (uint32_t i = 0; i < info->desc.nrecs; i++) {
        i += print_action(c, info, i, data, values);
    }
    if (!c->printer.style.quiet) {
        putc('\n', c->printer.out);
    }
    free(values);
}
