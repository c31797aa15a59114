/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `profile` of `self`: profile-N[suffix] fires on every CPU, tick-N[suffix] on one. A
 * rate that nobody has used yet is created when a description names it exactly. arg0 is an address
 * in this process, arg1 is 0: `self` is traced from inside.
 */
#include "host/d/option_value.h"
#include "host/self/self.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVAL_MIN = 200000, NAME_MOST = 64 }; /* ns, bytes */

struct profile {
    struct profile *next; /* [I] all of them; they live as long as the process */
    uint64_t interval;    /* ns */
    bool tick;
    uint32_t probe;
    char name[NAME_MOST];
    struct self_timer *timers[SELF_CPUS_MAX]; /* NULL: not enabled there */
};

unsigned self_tick_cpu;
static struct profile *profiles; /* [k] */

/* "10ms" is 10000000 ns; 0: not a rate, or too fast. */
static uint64_t interval_of(const char *text)
{
    uint64_t ns = 0;

    if (*text < '0' || *text > '9' || !d_value_rate(text, &ns) || ns > INT64_MAX) {
        return 0;
    }
    return ns < INTERVAL_MIN ? 0 : ns;
}

static void profile_fire(void *arg)
{
    const struct profile *p = arg;

    d_fire(p->probe, (uintptr_t)profile_fire, 0, 0, 0, 0);
}

static void profile_disable(uint32_t probe, void *arg)
{
    struct profile *p = arg;

    (void)probe;
    for (unsigned cpu = 0; cpu < SELF_CPUS_MAX; cpu++) {
        if (p->timers[cpu]) {
            self_timer_stop(p->timers[cpu]);
            p->timers[cpu] = NULL;
        }
    }
}

static int profile_enable(uint32_t probe, void *arg)
{
    struct profile *p = arg;
    unsigned first = p->tick ? self_tick_cpu : 0;
    unsigned last = p->tick ? self_tick_cpu : d_port_cpu_count() - 1;

    for (unsigned cpu = first; cpu <= last; cpu++) {
        p->timers[cpu] = self_timer_start(cpu, p->interval, profile_fire, p);
        if (!p->timers[cpu]) {
            profile_disable(probe, p);
            return -ENOMEM;
        }
    }
    return 0;
}

static void profile_provide(const char *module, const char *function, const char *name);

static const char *argument_type(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    (void)arg;
    (void)n;
    return NULL;
}

/* Evolving, for all but what has no meaning; the class is common. */
static const struct d_provider profile_provider = {
    .name = "profile",
    .attributes = {.name = {D_EVOLVING, D_UNSTABLE, D_PRIVATE, D_EVOLVING, D_EVOLVING},
                   .data = {D_EVOLVING, D_UNSTABLE, D_PRIVATE, D_EVOLVING, D_EVOLVING},
                   .class = {D_COMMON, D_UNKNOWN, D_UNKNOWN, D_COMMON, D_COMMON}},
    .provide = profile_provide,
    .enable = profile_enable,
    .disable = profile_disable,
    .argument_type = argument_type,
};

static bool is_known(const char *name)
{
    const struct profile *p = profiles;

    while (p && strcmp(p->name, name) != 0) {
        p = p->next;
    }
    return p != NULL;
}

static void create(const char *name)
{
    bool tick = strncmp(name, "tick-", 5) == 0;
    bool profile = strncmp(name, "profile-", 8) == 0;
    uint64_t interval = tick ? interval_of(name + 5) : profile ? interval_of(name + 8) : 0;
    struct profile *p =
        interval && strlen(name) < NAME_MOST && !is_known(name) ? calloc(1, sizeof(*p)) : NULL;

    if (p) {
        snprintf(p->name, sizeof(p->name), "%s", name);
        p->next = profiles;
        profiles = p;
        p->interval = interval;
        p->tick = tick;
        p->probe = d_probe_create(&profile_provider, "", "", name, p);
    }
}

static void profile_provide(const char *module, const char *function, const char *name)
{
    if (*module == '\0' && *function == '\0') {
        create(name);
    }
}

void self_profile_init(void)
{
    static const char *const usual[] = {
        "profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
        "profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
        "tick-500",     "tick-1000",    "tick-5000",
    };

    d_provider_register(&profile_provider);
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        create(usual[i]);
    }
}
