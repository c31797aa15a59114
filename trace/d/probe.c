/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of probes, and the provider `dtrace`, whose three probes the machine fires itself.
 * Control lock held, but for d_probe_at().
 */
#include "trace/d/probe.h"

#include "trace/d/consumer.h"
#include "trace/d/ecb.h"
#include "trace/d/port.h"

enum { PROVIDERS_MAX = 32 };

struct d_probe *d_probe_chunks[D_PROBE_CHUNKS];
uint32_t d_probe_count;
static const struct d_provider *providers[PROVIDERS_MAX];
static unsigned provider_count;

void d_provider_register(const struct d_provider *provider)
{
    if (provider_count < PROVIDERS_MAX) {
        providers[provider_count++] = provider;
    }
}

/* Bytes of a name, its NUL included. */
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

static bool same_probe(const struct d_probe *p, const struct d_provider *provider,
                       const char *module, const char *function, const char *name)
{
    return p->provider == provider && same_name(p->module, module) &&
           same_name(p->function, function) && same_name(p->name, name);
}

static struct d_probe *new_probe(void)
{
    struct d_probe **chunk = &d_probe_chunks[d_probe_count / D_PROBE_CHUNK];

    if (d_probe_count == D_PROBE_CHUNK * D_PROBE_CHUNKS) {
        return NULL;
    }
    if (!*chunk) {
        *chunk = d_port_alloc(sizeof(**chunk) * D_PROBE_CHUNK);
    }
    return *chunk ? &(*chunk)[d_probe_count % D_PROBE_CHUNK] : NULL;
}

uint32_t d_probe_add(const struct d_provider *provider, const char *module, const char *function,
                     const char *name, void *arg)
{
    struct d_probe *p = new_probe();

    if (!p) {
        return 0;
    }
    *p = (struct d_probe){.provider = provider,
                          .module = module,
                          .function = function,
                          .name = name,
                          .arg = arg,
                          .id = ++d_probe_count};
    return p->id;
}

static const char *copy_name(char **at, const char *name)
{
    char *copy = *at;

    __builtin_memcpy(copy, name, name_bytes(name));
    *at += name_bytes(name);
    return copy;
}

/* The three names copied into one block; it lives as long as the probe: for ever. */
static bool copy_names(const char *names[3])
{
    char *at = d_port_alloc(name_bytes(names[0]) + name_bytes(names[1]) + name_bytes(names[2]));

    for (unsigned i = 0; at && i < 3; i++) {
        names[i] = copy_name(&at, names[i]);
    }
    return at != NULL;
}

uint32_t d_probe_create(const struct d_provider *provider, const char *module, const char *function,
                        const char *name, void *arg)
{
    for (uint32_t id = 1; id <= d_probe_count; id++) {
        if (same_probe(d_probe_at(id), provider, module, function, name)) {
            return id;
        }
    }
    const char *names[3] = {module, function, name};
    return copy_names(names) ? d_probe_add(provider, names[0], names[1], names[2], arg) : 0;
}

bool d_probe_next(uint32_t after, struct d_probe_names *names)
{
    if (after >= d_probe_count) {
        return false;
    }
    const struct d_probe *p = d_probe_at(after + 1);
    *names = (struct d_probe_names){p->id, p->provider, p->module, p->function, p->name};
    return true;
}

void d_probe_provide(const char *provider, const char *module, const char *function,
                     const char *name)
{
    for (unsigned i = 0; i < provider_count; i++) {
        if (providers[i]->provide && d_glob(provider, providers[i]->name)) {
            providers[i]->provide(module, function, name);
        }
    }
}

/* A thread may skip the probe only if the one predicate that it remembers is all there is. */
static void predicate_update(struct d_probe *p)
{
    const struct d_ecb *only = p->ecbs && !p->ecbs->next ? p->ecbs : NULL;

    __atomic_store_n(&p->predicate_id, only ? only->predicate_id : 0, __ATOMIC_RELEASE);
}

int d_probe_enable(struct d_probe *p, struct d_ecb *ecb)
{
    struct d_ecb **link = &p->ecbs;

    if (p->enabled == 0 && p->provider->enable) {
        int error = p->provider->enable(p->id, p->arg);
        if (error) {
            return error;
        }
    }
    p->enabled++;
    bool first = true;
    for (; *link; link = &(*link)->next) {
        first &= (*link)->consumer != ecb->consumer;
    }
    if (first) {
        ecb->states |= (uint32_t)D_ECB_FIRST << (ecb->states >> D_ECB_ASIDE ? D_ECB_ASIDE : 0);
    }
    ecb->next = NULL;
    __atomic_store_n(&p->predicate_id, 0, __ATOMIC_RELEASE);
    __atomic_store_n(link, ecb, __ATOMIC_RELEASE);
    predicate_update(p);
    int error = p->provider->changed ? p->provider->changed(p->id, p->arg) : 0;
    if (error) {
        d_probe_disable(p, ecb);
    }
    return error;
}

void d_probe_disable(struct d_probe *p, struct d_ecb *ecb)
{
    struct d_ecb **link = &p->ecbs;

    while (*link && *link != ecb) {
        link = &(*link)->next;
    }
    if (!*link) {
        return;
    }
    __atomic_store_n(link, ecb->next, __ATOMIC_RELEASE);
    predicate_update(p);
    if (--p->enabled > 0) {
        if (p->provider->changed) {
            p->provider->changed(p->id, p->arg);
        }
    } else if (p->provider->disable) {
        p->provider->disable(p->id, p->arg);
    }
}

bool d_probe_wanted(const struct d_probe *p, unsigned cpu, bool once)
{
    const struct d_ecb *e = p->ecbs;

    while (e && !(once ? e->consumer->first_cpu == cpu : e->consumer->cpus[cpu].traced)) {
        e = e->next;
    }
    return e != NULL;
}

void d_probes_settle(void)
{
    for (unsigned i = 0; i < provider_count; i++) {
        if (providers[i]->settle) {
            providers[i]->settle();
        }
    }
}

/* Stable in all its names; common to all architectures. */
static const struct d_provider dtrace_provider = {
    .name = "dtrace",
    .argument = d_error_argument,
    .attributes = {.name = {D_STABLE, D_PRIVATE, D_PRIVATE, D_STABLE, D_STABLE},
                   .data = {D_STABLE, D_PRIVATE, D_PRIVATE, D_STABLE, D_STABLE},
                   .class = {D_COMMON, D_UNKNOWN, D_UNKNOWN, D_COMMON, D_COMMON}},
};

void d_machine_init(void)
{
    static bool done;

    if (!done) {
        done = true;
        d_provider_register(&dtrace_provider);
        d_probe_create(&dtrace_provider, "", "", "BEGIN", NULL);
        d_probe_create(&dtrace_provider, "", "", "END", NULL);
        d_probe_create(&dtrace_provider, "", "", "ERROR", NULL);
    }
}
