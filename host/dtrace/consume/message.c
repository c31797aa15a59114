/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The consumer's messages on standard error: drops by their kind, the option that helps against
 * them, and faults. Tested by test/host/dtrace/command.
 */
#include "host/dt/registers.h"
#include "host/dtrace/consume/consume.h"

#include <inttypes.h>
#include <string.h>

bool message_size(char text[SIZE_TEXT], uint64_t size)
{
    static const char units[] = "kmgtpe";
    unsigned unit = 0;

    while (unit < 6 && size && (size & 0x3ff) == 0) {
        size >>= 10;
        unit++;
    }
    snprintf(text, SIZE_TEXT, "%" PRIu64 "%.*s", size, unit != 0, &units[unit - (unit != 0)]);
    return unit != 0;
}

/* ---- which option helps ------------------------------------------------------------ */

enum unit { BYTES, COUNT, RATE };

/* Names the option that helps, once for each option: the drops themselves are reported each
 * time. */
static void advise_once(struct consumer *c, const char *tag)
{
    const struct dtrace_sizes *got = &c->sizes;
    const struct {
        const char *tag, *option;
        enum unit unit;
        uint64_t size; /* that the target gave; 0: the option's value counts */
    } rows[] = {
        {"DTRACEDROP_PRINCIPAL", "bufsize", BYTES, got->bufsize},
        {"DTRACEDROP_AGGREGATION", "aggsize", BYTES, got->aggsize},
        {"DTRACEDROP_DYNAMIC", "dynvarsize", BYTES, got->dynvarsize},
        {"DTRACEDROP_SPEC", "specsize", BYTES, got->specsize},
        {"DTRACEDROP_SPECUNAVAIL", "nspec", COUNT, 0},
        {"DTRACEDROP_STKSTROVERFLOW", "jstackstrsize", BYTES, 0},
        {"DTRACEDROP_DYNRINSE", "cleanrate", RATE, 0},
        {"DTRACEDROP_DYNDIRTY", "cleanrate", RATE, 0},
        {"DTRACEDROP_SPECBUSY", "cleanrate", RATE, 0},
    };
    char is[SIZE_TEXT], more[SIZE_TEXT];
    unsigned i = 0, n = sizeof(rows) / sizeof(*rows);

    while (i < n && strcmp(rows[i].tag, tag) != 0) {
        i++;
    }
    unsigned bit = i == n ? 0 : rows[i].unit == RATE ? 1u << 31 : 1u << i;
    if (!bit || c->options_named & bit) {
        return;
    }
    c->options_named |= bit;
    uint64_t now = rows[i].size ? rows[i].size : dtrace_option(c->session, rows[i].option);
    uint64_t hz = now ? (1000000000u + now / 2) / now : 0; /* of a rate: ns between two */
    if (rows[i].unit == BYTES) {
        message_size(is, now);
        message_size(more, now * 2);
    } else if (rows[i].unit == COUNT) {
        snprintf(is, sizeof(is), "%" PRIu64, now);
        snprintf(more, sizeof(more), "%" PRIu64, now * 2);
    } else if (hz > 0) {
        snprintf(is, sizeof(is), "%" PRIu64 "hz", hz);
        snprintf(more, sizeof(more), "%" PRIu64 "hz", hz * 2);
    } else {
        snprintf(is, sizeof(is), "%" PRIu64 "s", now / 1000000000u);
        snprintf(more, sizeof(more), "1hz");
    }
    fprintf(stderr, "dtrace: %s is %s: -x %s=%s drops less\n", rows[i].option, is, rows[i].option,
            more);
}

void message_drops(struct consumer *c, uint64_t n, const char *what, const char *tag, int cpu)
{
    const char *bar = strchr(what, '|');

    if (n == 0) {
        return;
    }
    c->drops += n;
    consumer_flush(c);
    fputs("dtrace: ", stderr);
    if (c->drop_tags) {
        fprintf(stderr, "[%s] ", tag);
    }
    fprintf(stderr, "%" PRIu64 " %.*s%s%s", n, (int)(bar - what), what, n == 1 ? "" : "s", bar + 1);
    if (cpu >= 0) {
        fprintf(stderr, " on CPU %d", cpu);
    }
    putc('\n', stderr);
    advise_once(c, tag);
}

void message_status(struct consumer *c, const struct dtrace_status *s)
{
    const struct {
        uint64_t now, before;
        const char *what, *tag;
    } kinds[] = {
        {s->dynamic_drops, c->last.dynamic_drops, "dynamic variable drop|", "DTRACEDROP_DYNAMIC"},
        {s->dynamic_rinsing_drops, c->last.dynamic_rinsing_drops,
         "dynamic variable drop| with non-empty rinsing list", "DTRACEDROP_DYNRINSE"},
        {s->dynamic_dirty_drops, c->last.dynamic_dirty_drops,
         "dynamic variable drop| with non-empty dirty list", "DTRACEDROP_DYNDIRTY"},
        {s->speculative_drops, c->last.speculative_drops, "speculative drop|", "DTRACEDROP_SPEC"},
        {s->speculations_busy, c->last.speculations_busy,
         "failed speculation| (available buffer(s) still busy)", "DTRACEDROP_SPECBUSY"},
        {s->speculations_unavailable, c->last.speculations_unavailable,
         "failed speculation| (no speculative buffer available)", "DTRACEDROP_SPECUNAVAIL"},
        {s->stack_string_overflows, c->last.stack_string_overflows,
         "jstack()/ustack() string table overflow|", "DTRACEDROP_STKSTROVERFLOW"},
        {s->double_errors, c->last.double_errors, "error| in ERROR probe enabling",
         "DTRACEDROP_DBLERROR"},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        message_drops(c, kinds[i].now - kinds[i].before, kinds[i].what, kinds[i].tag, -1);
    }
    c->last = *s;
}

/* Decodes an illegal operation's value: which register is not there. */
static void fault_register(const struct consumer *c, uint64_t value)
{
    const uint32_t array = (uint32_t)(value >> 32), index = (uint32_t)value;
    char name[DT_REGISTER_NAME];

    if (array == DIF_VAR_uregs &&
        dt_register_name(c->target->ops->model(c->target)->machine, index, name)) {
        fprintf(stderr, " (uregs[%s])", name);
    } else if (array == DIF_VAR_uregs || array == DIF_VAR_regs) {
        fprintf(stderr, " (%s[%" PRId32 "])", array == DIF_VAR_regs ? "regs" : "uregs",
                (int32_t)index);
    }
}

void message_fault(struct consumer *c, const uint8_t *record, const struct epid_info *info)
{
    static const char *const faults[] = {
        "unknown fault",         "invalid address",
        "invalid alignment",     "illegal operation",
        "divide-by-zero",        "out of scratch space",
        "invalid kernel access", "invalid user access",
        "tuple stack overflow",  "bad stack",
    };
    uint64_t arg[6] = {0}; /* of ERROR: arg1 to arg5 */

    for (uint32_t i = 0; i < info->desc.nrecs && i < 5; i++) {
        memcpy(&arg[i + 1], record + info->recs[i].offset, sizeof(arg[0]));
    }
    const struct epid_info *at = consumer_epid(c, (uint32_t)arg[1]);
    c->faults++;
    uint64_t fault = arg[4] < sizeof(faults) / sizeof(*faults) ? arg[4] : 0;
    consumer_flush(c);
    fprintf(stderr, "dtrace: error on enabled probe ID %u (ID %u: %s:%s:%s:%s): %s",
            (unsigned)arg[1], at ? at->probe.id : 0, at ? at->probe.provider : "",
            at ? at->probe.module : "", at ? at->probe.function : "", at ? at->probe.name : "",
            faults[fault]);
    if (fault == DIF_FAULT_BADADDR || fault == DIF_FAULT_BADALIGN || fault == DIF_FAULT_BADSTACK) {
        fprintf(stderr, " (0x%" PRIx64 ")", arg[5]);
    } else if (fault == DIF_FAULT_ILLOP) {
        fault_register(c, arg[5]);
    }
    if (arg[2]) {
        fprintf(stderr, " in action #%" PRIu64, arg[2]);
    } else {
        fputs(" in predicate", stderr);
    }
    if ((int64_t)arg[3] >= 0) {
        fprintf(stderr, " at DIF offset %" PRIu64, arg[3]);
    }
    putc('\n', stderr);
}
