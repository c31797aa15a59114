/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message on a probe of cpc, or a counter, that the target doesn't have. Proved by
 * test/board/counters.py.
 */
#include "host/remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The events that the target counts: it lists a probe of each. */
struct events {
    char text[256];
    const char *name; /* of the probe that was asked for */
    bool found;
};

static bool add_event(void *arg, const struct dt_probe_info *info)
{
    static const char usual[] = KYMO_D_COUNT_LISTED;
    struct events *e = arg;
    size_t n = strlen(info->name), rest = sizeof(usual) - 1, used = strlen(e->text);

    if (n > rest && strcmp(info->name + n - rest, usual) == 0) {
        n -= rest;
        snprintf(e->text + used, sizeof(e->text) - used, "%s%.*s", used ? ", " : "", (int)n,
                 info->name);
        e->found |= strncmp(e->name, info->name, n) == 0 && e->name[n] == '-';
    }
    return true;
}

const char *remote_cpc_why_none(struct remote *r, const char *const fields[4])
{
    static char text[400];
    struct events events = {.name = fields[3]};

    if (!(r->info.features & KYMO_D_FEATURE_COUNTS_PROBES)) {
        return ": this machine has no counters of events, or their overflow doesn't interrupt";
    }
    r->source.each(r, "cpc", "", "", "", 0, add_event, &events);
    if (events.found) {
        snprintf(text, sizeof(text),
                 ": it is EVENT-MODE-COUNT, with MODE user, kernel or all, COUNT from %u to "
                 "4294967295",
                 KYMO_D_COUNT_LEAST);
    } else {
        snprintf(text, sizeof(text),
                 ": this machine doesn't count these events, or the counter reads 0; it counts %s",
                 events.text);
    }
    return text;
}

const char *remote_lacks(struct target *t, const char *variable)
{
    static const struct {
        const char *variable, *why;
        unsigned feature;
    } table[] = {
        {"cycles", "this machine has no counter of cycles, or it reads 0",
         KYMO_D_FEATURE_COUNTS_CYCLES},
        {"instructions", "this machine has no counter of instructions, or it reads 0",
         KYMO_D_FEATURE_COUNTS_INSTRUCTIONS},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(variable, table[i].variable) == 0) {
            return ((struct remote *)t)->info.features & table[i].feature ? NULL : table[i].why;
        }
    }
    return NULL;
}
