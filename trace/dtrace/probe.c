/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of probes, and the provider `dtrace`, whose three probes the machine fires itself.
 * Control lock held, except dtrace_probe_at().
 */
#include "trace/dtrace/probe.h"

#include "abi/compiler.h"
#include "trace/atomic.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/ecb.h"
#include "trace/dtrace/port.h"

enum { PROVIDERS_MAX = 32 };

struct dtrace_probe *dtrace_probe_chunks[DTRACE_PROBE_CHUNKS];
uint32_t dtrace_probe_count;
static const struct dtrace_provider *providers[PROVIDERS_MAX];
static unsigned provider_count;

void dtrace_provider_register(const struct dtrace_provider *provider)
{
    if (provider_count < PROVIDERS_MAX) {
        providers[provider_count++] = provider;
    }
}

/* Returns the size of a name in bytes, its NUL included. */
static size_t name_bytes(const char *s)
{
    size_t n = 0;

    while (s[n++]) {
    }
    return n;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *a == *b; a++) {
        b++;
    }
    return *a == *b;
}

bool dtrace_probe_room(void)
{
    struct dtrace_probe **chunk = &dtrace_probe_chunks[dtrace_probe_count / DTRACE_PROBE_CHUNK];

    if (dtrace_probe_count == DTRACE_PROBE_CHUNK * DTRACE_PROBE_CHUNKS) {
        return false;
    }
    if (!*chunk) {
        *chunk = dtrace_port_keep(sizeof(**chunk) * DTRACE_PROBE_CHUNK);
    }
    return *chunk != NULL;
}

uint32_t dtrace_probe_add(const struct dtrace_provider *provider, const char *module,
                          const char *function, const char *name, void *arg)
{
    if (!dtrace_probe_room()) {
        return 0;
    }
    struct dtrace_probe *p = &dtrace_probe_chunks[dtrace_probe_count / DTRACE_PROBE_CHUNK]
                                                 [dtrace_probe_count % DTRACE_PROBE_CHUNK];
    *p = (struct dtrace_probe){.provider = provider,
                               .module = module,
                               .function = function,
                               .name = name,
                               .arg = arg,
                               .id = ++dtrace_probe_count};
    return p->id;
}

COLD uint32_t dtrace_probe_create(const struct dtrace_provider *provider, const char *module,
                                  const char *function, const char *name, void *arg)
{
    const char *names[3] = {module, function, name};

    for (uint32_t id = 1; id <= dtrace_probe_count; id++) {
        const struct dtrace_probe *p = dtrace_probe_at(id);
        if (p->provider == provider && same_name(p->module, module) &&
            same_name(p->function, function) && same_name(p->name, name)) {
            return id;
        }
    }
    size_t bytes[3], all = 0;
    for (unsigned i = 0; i < 3; i++) {
        bytes[i] = name_bytes(names[i]);
        all += bytes[i];
    }
    /* copies the names into one block, which lives as long as the probe: forever */
    char *copy = dtrace_probe_room() ? dtrace_port_keep(all) : NULL;
    for (unsigned i = 0; copy && i < 3; i++) {
        names[i] = __builtin_memcpy(copy, names[i], bytes[i]);
        copy += bytes[i];
    }
    return copy ? dtrace_probe_add(provider, names[0], names[1], names[2], arg) : 0;
}

bool dtrace_probe_matches(const struct dtrace_probe *p, const char *provider, const char *module,
                          const char *function, const char *name)
{
    return dtrace_glob(provider, p->provider->name) && dtrace_glob(module, p->module) &&
           dtrace_glob(function, p->function) && dtrace_glob(name, p->name);
}

static void probe_provide(bool own, const char *provider, const char *const names[3])
{
    for (unsigned i = 0; i < provider_count; i++) {
        const struct dtrace_provider *p = providers[i];
        if (p->ops->provide && (p->ops->own || !own) && dtrace_glob(provider, p->name)) {
            p->ops->provide(names[0], names[1], names[2]);
        }
    }
}

void dtrace_probe_provide(const char *provider, const char *module, const char *function,
                          const char *name)
{
    probe_provide(false, provider, (const char *const[]){module, function, name});
}

void dtrace_probe_provide_own(const char *provider, const char *module, const char *function,
                              const char *name)
{
    probe_provide(true, provider, (const char *const[]){module, function, name});
}

/* A thread may skip the probe only if the predicate that it has cached is the probe's only one. */
static void predicate_update(struct dtrace_probe *p)
{
    const struct dtrace_ecb *only = p->ecbs && !p->ecbs->next ? p->ecbs : NULL;

    trace_atomic_store(&p->predicate_id, only ? only->predicate_id : 0, __ATOMIC_RELEASE);
}

#define CHAIN_STEP 128u /* ECBs between two windows */

/* Returns the link to ecb, or the last one, after which it belongs. *first: no ECB before it
 * belongs to its consumer. The chain doesn't change in a window, because changes need control
 * context. */
static struct dtrace_ecb **chain_find(struct dtrace_probe *p, const struct dtrace_ecb *ecb,
                                      bool *first)
{
    struct dtrace_ecb **link = &p->ecbs;

    *first = true;
    for (unsigned n = 1; *link && *link != ecb; link = &(*link)->next, n++) {
        *first &= (*link)->consumer != ecb->consumer;
        if (n % CHAIN_STEP == 0) {
            dtrace_window();
        }
    }
    return link;
}

int dtrace_probe_enable(struct dtrace_probe *p, struct dtrace_ecb *ecb)
{
    bool first;

    if (p->enabled == 0 && p->provider->ops->enable) {
        int error = p->provider->ops->enable(p->id, p->arg);
        if (error) {
            return error;
        }
    }
    p->enabled++;
    struct dtrace_ecb **link = chain_find(p, ecb, &first);
    if (first) {
        ecb->states |= (uint32_t)DTRACE_ECB_FIRST
                       << (ecb->states >> DTRACE_ECB_ASIDE ? DTRACE_ECB_ASIDE : 0);
    }
    ecb->next = NULL;
    trace_atomic_store(&p->predicate_id, 0, __ATOMIC_RELEASE);
    trace_atomic_store(link, ecb, __ATOMIC_RELEASE);
    predicate_update(p);
    int error = p->provider->ops->changed ? p->provider->ops->changed(p->id, p->arg) : 0;
    if (error) {
        dtrace_probe_disable(p, ecb);
    }
    return error;
}

void dtrace_probe_disable(struct dtrace_probe *p, struct dtrace_ecb *ecb)
{
    bool first;
    struct dtrace_ecb **link = chain_find(p, ecb, &first);

    if (!*link) {
        return;
    }
    trace_assert(p->enabled > 0);
    trace_atomic_store(link, ecb->next, __ATOMIC_RELEASE);
    predicate_update(p);
    if (--p->enabled > 0) {
        if (p->provider->ops->changed) {
            p->provider->ops->changed(p->id, p->arg);
        }
    } else if (p->provider->ops->disable) {
        p->provider->ops->disable(p->id, p->arg);
    }
}

bool dtrace_probe_wanted(const struct dtrace_probe *p, unsigned cpu, bool once)
{
    const struct dtrace_ecb *e = p->ecbs;

    while (e && !(once ? e->consumer->first_cpu == cpu : e->consumer->cpus[cpu].traced)) {
        e = e->next;
    }
    return e != NULL;
}

void dtrace_probes_settle(void)
{
    for (unsigned i = 0; i < provider_count; i++) {
        if (providers[i]->ops->settle) {
            providers[i]->ops->settle();
        }
    }
}

/* Stable in all its names; common to all architectures. */
static const struct dtrace_provider_ops dtrace_ops = {
    .argument = dtrace_error_argument,
    .own = DTRACE_OWN_CURRENT | DTRACE_OWN_ANY,
    .attributes = {.name = {DTRACE_STABLE, DTRACE_PRIVATE, DTRACE_PRIVATE, DTRACE_STABLE,
                            DTRACE_STABLE},
                   .data = {DTRACE_STABLE, DTRACE_PRIVATE, DTRACE_PRIVATE, DTRACE_STABLE,
                            DTRACE_STABLE},
                   .dependency = {DTRACE_COMMON, DTRACE_UNKNOWN, DTRACE_UNKNOWN, DTRACE_COMMON,
                                  DTRACE_COMMON}},
};
static const struct dtrace_provider dtrace_provider = {"dtrace", &dtrace_ops};

void dtrace_machine_init(void)
{
    static bool done;

    if (!done) {
        done = true;
        dtrace_provider_register(&dtrace_provider);
        dtrace_probe_create(&dtrace_provider, "", "", "BEGIN", NULL);
        dtrace_probe_create(&dtrace_provider, "", "", "END", NULL);
        dtrace_probe_create(&dtrace_provider, "", "", "ERROR", NULL);
    }
}
