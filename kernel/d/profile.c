/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `profile`: profile-N[suffix] fires on every CPU, tick-N[suffix] on one. A rate that
 * nobody has used yet is made when a description names it exactly, up to RATES_MOST of them: they
 * stay. The kernel has no tick: a timer runs on each CPU only while the probe is enabled. It fires
 * at the kernel's exit: arg0 is 0, for the kernel is never interrupted in its work; arg1 is where
 * the program goes on, 0 when idle.
 *
 * Kernel lock. Tested by test/boot's suites d and life.
 */
#include "kernel/abi/errno.h"
#include "kernel/cpu.h"
#include "kernel/d/d.h"
#include "kernel/process.h"
#include "kernel/string.h"
#include "trace/d/port.h"

enum { INTERVAL_MIN = 200000, DEBT_MOST = 1000000, NAME_MOST = 24, RATES_MOST = 256 };
/* ns, ns, bytes, probes */

struct profile;
struct profile_cpu {
    struct timer_node node;
    struct profile *profile;
    uint64_t at; /* [k] cycles: when it was to fire */
};
struct profile {
    struct profile *next;      /* [k] all of them */
    uint64_t interval, cycles; /* [I] of the timer: ns, and the same in cycles */
    uint32_t probe;            /* [I] */
    bool tick;                 /* [I] one CPU only */
    char name[NAME_MOST];      /* [I] */
    struct profile_cpu *cpus;  /* [k] NULL: not enabled */
};

static struct profile *profiles;         /* [k] */
static unsigned rates;                   /* [k] how many those are */
static uint64_t paid_until[CONFIG_CPUS]; /* [c] cycles */

/* Whether firings may take this CPU now. They may take half of its time, however slow the clauses
 * are: so much that was not yet paid for by leaving it alone may add up. */
static bool may_fire(uint64_t now, uint64_t *when)
{
    uint64_t paid = paid_until[d_port_cpu()], most = clock_ns_to_cycles(DEBT_MOST);

    *when = paid > most ? paid - most : 0;
    return *when <= now;
}

static void pay(uint64_t from, uint64_t to)
{
    uint64_t *paid = &paid_until[d_port_cpu()];

    *paid = (*paid > from ? *paid : from) + 2 * (to - from);
}

static void fire_now(const struct profile_cpu *here)
{
    const struct thread *t = arch_cpu()->current;
    const uint64_t words[] = {0, t ? arch_context_ip(t) : 0, 0, 0, 0};
    uintptr_t irq = arch_irq_save();

    arch_cpu()->fired = words;
    d_fire(here->profile->probe, words[0], words[1], 0, 0, 0);
    arch_cpu()->fired = NULL;
    arch_irq_restore(irq);
}

static void fire(struct timer_node *node)
{
    struct profile_cpu *here = (struct profile_cpu *)node;
    uint64_t now = arch_cycles(), when;

    if (!may_fire(now, &when)) {
        timer_node_start(node, when);
        return;
    }
    fire_now(here);
    uint64_t then = arch_cycles();
    pay(now, then);
    do {
        here->at += here->profile->cycles;
    } while (here->at <= then);
    timer_node_start(node, here->at);
}

static void disable(uint32_t probe, void *arg)
{
    struct profile *p = arg;
    unsigned count = arch_cpu_count();

    (void)probe;
    for (unsigned n = 0; n < count; n++) {
        timer_node_stop(&p->cpus[n].node);
    }
    d_port_free(p->cpus, count * sizeof(*p->cpus));
    p->cpus = NULL;
}

static int enable(uint32_t probe, void *arg)
{
    struct profile *p = arg;
    unsigned count = arch_cpu_count();

    (void)probe;
    p->cpus = d_port_alloc(count * sizeof(*p->cpus));
    if (!p->cpus) {
        return -ENOMEM;
    }
    for (unsigned n = 0; n < count; n++) {
        struct profile_cpu *there = &p->cpus[n];
        there->profile = p;
        timer_node_init(&there->node, fire);
        if (cpus[n].online && (!p->tick || n == 0)) {
            there->at = arch_cycles() + p->cycles;
            timer_node_start_on(&there->node, &cpus[n], there->at);
        }
    }
    return 0;
}

/* Units are of any case, as in dtrace(1M). */
static bool is_unit(const char *text, const char *unit)
{
    while (*text && (*text | 0x20) == *unit) {
        text++;
        unit++;
    }
    return *text == '\0' && *unit == '\0';
}

/* "10ms" is 10000000 ns; a number alone is a rate a second. 0: none, or too fast. */
static uint64_t interval_of(const char *text)
{
    static const struct {
        const char *suffix;
        uint64_t ns;
    } units[] = {{"ns", 1},
                 {"nsec", 1},
                 {"us", 1000},
                 {"usec", 1000},
                 {"ms", 1000000},
                 {"msec", 1000000},
                 {"s", 1000000000},
                 {"sec", 1000000000},
                 {"m", 60000000000},
                 {"min", 60000000000},
                 {"h", 3600000000000},
                 {"hour", 3600000000000},
                 {"d", 86400000000000},
                 {"day", 86400000000000}};
    uint64_t n = 0, rest;

    if (*text < '0' || *text > '9') {
        return 0;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        n = n * 10 + (unsigned)(*text - '0');
        if (n > INT64_MAX / 100) {
            return 0;
        }
    }
    if (n == 0) {
        return 0;
    }
    if (*text == '\0' || is_unit(text, "hz")) {
        return clock_divide(1000000000, n, &rest);
    }
    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (is_unit(text, units[i].suffix)) {
            return n <= INT64_MAX / units[i].ns ? n * units[i].ns : 0;
        }
    }
    return 0;
}

static void provide(const char *module, const char *function, const char *name);
static const char *argument_type(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    (void)arg;
    return n < 2 ? "uintptr_t" : NULL;
}

static const struct d_provider provider = {
    .name = "profile",
    .attributes = {.name = {D_EVOLVING, D_UNSTABLE, D_PRIVATE, D_EVOLVING, D_EVOLVING},
                   .data = {D_EVOLVING, D_UNSTABLE, D_PRIVATE, D_EVOLVING, D_EVOLVING},
                   .class = {D_COMMON, D_UNKNOWN, D_UNKNOWN, D_COMMON, D_COMMON}},
    .provide = provide,
    .enable = enable,
    .disable = disable,
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

/* It lives for ever, as its probe does. */
static void create(const char *name)
{
    bool tick = strncmp(name, "tick-", 5) == 0;
    bool profile = strncmp(name, "profile-", 8) == 0;
    uint64_t interval = tick ? interval_of(name + 5) : profile ? interval_of(name + 8) : 0;
    struct profile *p = NULL;

    if (interval >= INTERVAL_MIN && strlen(name) < NAME_MOST && rates < RATES_MOST &&
        !is_known(name)) {
        p = d_port_alloc(sizeof(*p));
    }
    if (p) {
        memcpy(p->name, name, strlen(name) + 1);
        p->next = profiles;
        profiles = p;
        rates++;
        p->interval = interval;
        p->cycles = clock_ns_to_cycles(interval);
        p->tick = tick;
        p->probe = d_probe_create(&provider, "", "", p->name, p);
    }
}

static void provide(const char *module, const char *function, const char *name)
{
    if (*module == '\0' && *function == '\0') {
        create(name);
    }
}

void d_profile_init(void)
{
    static const char *const usual[] = {
        "profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
        "profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
        "tick-500",     "tick-1000",    "tick-5000",
    };

    d_provider_register(&provider);
    for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        create(usual[i]);
    }
}
