/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `profile`: names and existence of its probes. See profile.h. Tested by
 * test/trace/dtrace/fire/profile_test.c, on the targets by test/dtrace/run.py and test/board's
 * suite d.
 */
#include "trace/dtrace/provider/profile.h"

#include "abi/compiler.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"
#include "trace/dtrace/provider/rate.h"

static const struct dtrace_profile_target *target; /* [I] */
static struct dtrace_profile *profiles;            /* [k] */
static unsigned count;                             /* [k] */

static int profile_enable(uint32_t probe, void *arg)
{
    struct dtrace_profile *p = arg;

    (void)probe;
    p->cpus = 0;
    return target->start(p);
}

static void profile_disable(uint32_t probe, void *arg)
{
    (void)probe;
    target->stop(arg);
}

/* Runs only on the CPUs that a consumer needs: with `-x cpu=N` a tick fires on CPU N. */
static int profile_changed(uint32_t probe, void *arg)
{
    struct dtrace_profile *p = arg;

    for (unsigned cpu = 0; cpu < dtrace_port_cpu_count(); cpu++) {
        bool wanted = dtrace_probe_wanted(dtrace_probe_at(probe), cpu, p->tick);
        if (wanted != (p->cpus >> cpu & 1)) {
            int error = target->run(p, cpu, wanted);
            if (error) {
                return error;
            }
            p->cpus ^= 1ull << cpu;
        }
    }
    return 0;
}

void dtrace_profile_fire(const struct dtrace_profile *p, const uint64_t args[5])
{
    const struct dtrace_probe *probe = dtrace_probe_at(p->probe);

    if (p->tick) {
        dtrace_probe_fire_once(probe, args);
    } else if (!dtrace_probe_skips(probe)) {
        dtrace_probe_fire(probe, args);
    }
}

static void profile_provide(const char *module, const char *function, const char *name);

/* Evolving, except names without meaning; the class is common. */
static const struct dtrace_provider_ops profile_ops = {
    .attributes = {.name = {DTRACE_EVOLVING, DTRACE_UNSTABLE, DTRACE_PRIVATE, DTRACE_EVOLVING,
                            DTRACE_EVOLVING},
                   .data = {DTRACE_EVOLVING, DTRACE_UNSTABLE, DTRACE_PRIVATE, DTRACE_EVOLVING,
                            DTRACE_EVOLVING},
                   .dependency = {DTRACE_COMMON, DTRACE_UNKNOWN, DTRACE_UNKNOWN, DTRACE_COMMON,
                                  DTRACE_COMMON}},
    .provide = profile_provide,
    .enable = profile_enable,
    .disable = profile_disable,
    .changed = profile_changed,
    .own = DTRACE_OWN_CURRENT | DTRACE_OWN_TICK,
};
static const struct dtrace_provider provider = {"profile", &profile_ops};

/* Returns the text after the prefix, or NULL if the text doesn't begin with it. */
static const char *profile_after(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) {
        text++;
        prefix++;
    }
    return *prefix ? NULL : text;
}

/* Returns the interval in ns: of "10ms" 10000000. Returns 0 if it is not a rate. */
static uint64_t interval_of(const char *text)
{
    uint64_t n = 0, ns = 0;

    if (*text < '0' || *text > '9') {
        return 0;
    }
    for (; '0' <= *text && *text <= '9'; text++) {
        n = n * 10 + (unsigned)(*text - '0');
        if (n > INT64_MAX / 10) {
            return 0;
        }
    }
    return dtrace_rate_interval(n, text, &ns) ? ns : 0;
}

/* Adds a probe and its entry, which are never freed, if the name is a rate that has none yet. */
static COLD void profile_create(const char *name)
{
    const char *tick = profile_after(name, "tick-"), *profile = profile_after(name, "profile-");
    uint64_t interval = tick ? interval_of(tick) : profile ? interval_of(profile) : 0;

    for (const struct dtrace_profile *p = profiles; p; p = p->next) {
        const char *rest = profile_after(name, p->name);
        if (rest && *rest == '\0') {
            return; /* exists */
        }
    }
    if (interval < DTRACE_PROFILE_INTERVAL_MIN || interval > INT64_MAX ||
        count >= DTRACE_PROFILE_MOST || __builtin_strlen(name) >= DTRACE_PROFILE_NAME_MOST) {
        return;
    }
    struct dtrace_profile *p = dtrace_probe_room() ? dtrace_port_keep(sizeof(*p)) : NULL;
    if (!p) {
        return;
    }
    p->interval = interval;
    p->tick = tick != NULL;
    for (unsigned i = 0; name[i]; i++) { /* it fits, and memory is zeroed */
        p->name[i] = name[i];
    }
    p->probe = dtrace_probe_add(&provider, "", "", p->name, p);
    p->next = profiles;
    profiles = p;
    count++;
}

static void profile_provide(const char *module, const char *function, const char *name)
{
    if (*module == '\0' && *function == '\0') {
        profile_create(name);
    }
}

void dtrace_profile_register(const struct dtrace_profile_target *of)
{
    /* one after the other */
    static const char usual[] = "profile-97\0profile-199\0profile-499\0profile-997\0profile-1999\0"
                                "profile-4001\0profile-4999\0"
                                "tick-1\0tick-10\0tick-100\0tick-500\0tick-1000\0tick-5000\0";

    target = of;
    dtrace_provider_register(&provider);
    for (const char *name = usual; *name; name += __builtin_strlen(name) + 1) {
        profile_create(name);
    }
}
