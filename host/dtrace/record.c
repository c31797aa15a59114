/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a record as text: heading, prefix, each action's data, a newline. */
#include "host/dtrace/consume.h"

#include <stdlib.h>
#include <string.h>

/* ---- flowindent -------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *what)
{
    size_t n = strlen(name), m = strlen(what);

    return n >= m && strcmp(name + n - m, what) == 0 && (n == m || name[n - m - 1] == '-');
}

static bool is_entry(const struct epid_info *info)
{
    return ends_with(info->probe.name, "entry");
}

static bool is_return(const struct epid_info *info)
{
    return ends_with(info->probe.name, "return");
}

/* Among several clauses on an entry only the first is an arrow, on a return only the last. */
static void print_flow(struct consumer *c, unsigned cpu, const struct epid_info *info,
                       const struct epid_info *next)
{
    bool call = strcmp(info->probe.provider, "syscall") == 0;
    bool again = c->last_probe == info->probe.id && c->last_entry;
    bool more = next && next->probe.id == info->probe.id;
    char text[512];

    c->indent = c->indent < sizeof(text) ? c->indent : sizeof(text);
    if (is_entry(info) && !again) {
        snprintf(text, sizeof(text), "%*s %s %s", (int)c->indent, "", call ? "=>" : "->",
                 info->probe.function);
        c->indent += 2;
    } else if (is_return(info) && !more) {
        c->indent -= c->indent >= 2 ? 2 : 0;
        snprintf(text, sizeof(text), "%*s %s %s", (int)c->indent, "", call ? "<=" : "<-",
                 info->probe.function);
    } else {
        snprintf(text, sizeof(text), "%*s| %s:%s", (int)c->indent, "", info->probe.function,
                 info->probe.name);
    }
    c->last_probe = info->probe.id;
    c->last_entry = is_entry(info);
    fprintf(c->printer.out, "%3u %-41s ", cpu, text);
}

static void print_heading(struct consumer *c)
{
    if (c->heading_done) {
        return;
    }
    c->heading_done = true;
    if (c->flowindent) {
        fprintf(c->printer.out, "%3s %-41s\n", "CPU", "FUNCTION");
    } else if (!c->printer.style.quiet) {
        fprintf(c->printer.out, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
    }
}

static void print_prefix(struct consumer *c, unsigned cpu, const struct epid_info *info,
                         const struct epid_info *next)
{
    char name[512];

    print_heading(c); /* is over and done with when the first record is quiet */
    if (c->printer.style.quiet && !c->flowindent) {
        return;
    }
    if (c->flowindent) {
        print_flow(c, cpu, info, next);
        return;
    }
    snprintf(name, sizeof(name), "%s:%s", info->probe.function, info->probe.name);
    fprintf(c->printer.out, "%3u %6u %32s ", cpu, info->probe.id, name);
}

/* ---- data -------------------------------------------------------------------------- */

static struct print_value value_of(struct consumer *c, const struct dtrace_recdesc *r,
                                   const uint8_t *record)
{
    return (struct print_value){
        .kind = r->kind,
        .data = record + r->offset,
        .size = r->size,
        .type = dt_session_datum_type(c->session, r->uarg),
        .arg = r->arg,
    };
}

unsigned record_values(struct consumer *c, const struct epid_info *info, uint32_t i,
                       const uint8_t *record, struct print_value *values)
{
    unsigned n = 0;

    for (uint32_t k = i + 1; k < info->desc.nrecs && info->recs[k].format == info->recs[i].format &&
                             info->recs[i].format;
         k++) {
        values[n++] = value_of(c, &info->recs[k], record);
    }
    return n;
}

static void print_printa(struct consumer *c, const struct dt_format *f)
{
    struct aggregation **aggs = calloc(f->naggregations, sizeof(*aggs));

    for (unsigned i = 0; aggs && i < f->naggregations; i++) {
        aggs[i] = consumer_aggregation(c, f->aggregations[i]);
        aggs[i]->printed = true;
    }
    if (!f->parsed) {
        putc('\n', c->printer.out);
    }
    if (aggs) {
        print_aggregations(&c->printer, aggs, f->naggregations, f->parsed);
    }
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

/* Whether the data behind an action of the kind are its values. */
static bool takes_values(uint16_t kind)
{
    return kind == DTRACE_ACT_PRINTF || kind == DTRACE_ACT_LIBACT || kind == DTRACE_ACT_SYSTEM ||
           kind == DTRACE_ACT_FREOPEN || kind == DTRACE_ACT_TRACEMEM_DYNSIZE;
}

static void print_with_values(struct consumer *c, const struct epid_info *info,
                              const struct dtrace_recdesc *r, const uint8_t *record,
                              struct print_value *values, unsigned n)
{
    const struct dt_format *f = dt_session_format(c->session, r->format);

    switch (r->kind) {
    case DTRACE_ACT_PRINTF:
        print_format(&c->printer, f->parsed, values, n);
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
    default:
        print_dump(&c->printer, record + r->offset, record_tracemem_bytes(r, values, n));
    }
}

static void print_alone(struct consumer *c, const struct dtrace_recdesc *r, const uint8_t *record)
{
    const uint8_t *data = record + r->offset;

    switch (r->kind) {
    case DTRACE_ACT_EXIT:
        record_exit(c, data);
        break;
    case DTRACE_ACT_PRINTA:
        print_printa(c, dt_session_format(c->session, r->format));
        break;
    case DTRACE_ACT_TRACEMEM:
        print_dump(&c->printer, data, r->size);
        break;
    case DTRACE_ACT_STACK:
        print_stack(&c->printer, data, r->size / 8);
        break;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        print_ustack(&c->printer, data, (uint32_t)r->arg);
        break;
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        fputs("  ", c->printer.out);
        print_address(&c->printer, r->kind, data, 50);
        break;
    default:
        print_datum(&c->printer, data, r->size, dt_session_datum_type(c->session, r->uarg));
    }
}

/* Prints an action; returns how many of the recs after it were its own. */
static unsigned print_action(struct consumer *c, const struct epid_info *info, uint32_t i,
                             const uint8_t *record, struct print_value *values)
{
    const struct dtrace_recdesc *r = &info->recs[i];
    unsigned n = 0;

    if (takes_values(r->kind)) {
        n = record_values(c, info, i, record, values);
        print_with_values(c, info, r, record, values, n);
    } else {
        print_alone(c, r, record);
    }
    return n;
}

void record_print(struct consumer *c, unsigned cpu, const uint8_t *data,
                  const struct epid_info *info, const struct epid_info *next)
{
    struct print_value *values = calloc(info->desc.nrecs + 1, sizeof(*values));
    print_prefix(c, cpu, info, next);
    for (uint32_t i = 0; values && i < info->desc.nrecs; i++) {
        i += print_action(c, info, i, data, values);
    }
    if (!c->printer.style.quiet) {
        putc('\n', c->printer.out);
    }
    free(values);
}
