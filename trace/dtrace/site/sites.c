/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The providers whose probes are trace sites: sdt (every entry of trace/events.def) and those of
 * trace/probes.def. A site that D listens on calls trace_port_fire() (trace/fire.c, trace/hook.h),
 * which walks the enabled probes on it. See trace/dtrace/site/sites.h.
 *
 * Enabling: kernel lock. Probe firing: any context, no lock: a list of listeners is changed by one
 * store, and listeners are static, so a CPU at a listener that is removed continues from it. Tested
 * by test/board's suite d.
 */
#include "trace/dtrace/site/sites.h"

#include "abi/compiler.h"
#include "trace/atomic.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"
#include "trace/filter.h"
#include "trace/port.h"
#include "trace/ring.h"

enum { ARGUMENTS = 10, FIRST = 5 };
enum { ONE = 6 }; /* a word of entries that only count: 1 */

#define PROVIDERS(P) P(sdt) P(sched) P(proc) P(msg) P(intr) P(timer) P(lockstat) P(sysinfo) P(user)
#define P(name) PROVIDER_##name,
enum provider { PROVIDERS(P) PROVIDER_COUNT };
#undef P

/* States of a thread that an entry is for, as masks. */
struct states {
    uint32_t to, from;
};

/* Indices into the lists before the entries (host/gen/gen_d_sites.c). */
struct entry {
    uint16_t name : 11;    /* in site_texts[] */
    uint16_t states : 5;   /* in state_pairs[]; ANY_STATE */
    uint16_t function : 7; /* in site_texts[] */
    uint16_t words : 5;    /* in word_lists[]; IDENTITY */
    uint16_t provider : 4;
    uint8_t types; /* in type_lists[]: of args[], numbers from 1 in type_texts[], up to a 0 */
    uint8_t site;
};
enum { IDENTITY = 0, ANY_STATE = 0 };

#include "build/gen/d_sites.inc.h"
enum { ENTRIES = sizeof(entries) / sizeof(*entries) };
_Static_assert(TRACE_EV_COUNT <= UINT8_MAX, "entry.site");

struct listener {
    struct listener *volatile next;   /* [a] */
    const struct dtrace_probe *probe; /* [I] */
    uint16_t entry;                   /* [I] in entries[] */
    bool always;                      /* [I] fires for any states */
    bool straight;                    /* [I] its arguments are the site's, for any states */
};
_Static_assert(ENTRIES <= UINT16_MAX, "listener.entry");
static struct listener listeners[ENTRIES];              /* [k] */
static struct listener *volatile heads[TRACE_EV_COUNT]; /* [a] */
static const uint32_t no_predicate;
const uint32_t *volatile trace_port_skips[TRACE_EV_COUNT] = {
    /* [a] predicate_id of the site's only probe; otherwise 0 */
    [0 ... TRACE_EV_COUNT - 1] = &no_predicate};

static inline const struct entry *entry_of(const struct listener *l)
{
    return &entries[l->entry];
}

static inline bool sites_matches(const struct entry *entry, const uint64_t *words)
{
    const struct states *states = &state_pairs[entry->states];

    return (states->to >> words[4] & 1) && (states->from >> words[5] & 1);
}

static __attribute__((noinline)) void fire_mapped(const struct listener *l, const uint64_t *words)
{
    const uint8_t *w = word_lists[entry_of(l)->words];
    uint64_t args[FIRST];

    if (!l->always && !sites_matches(entry_of(l), words)) {
        return;
    }
    for (unsigned i = 0; i < FIRST; i++) {
        args[i] = w[i] == ONE ? 1 : words[w[i]];
    }
    dtrace_probe_fire(l->probe, args);
}

/* Handles a site inside a clause: in a function that D calls, or on the path of panic(). */
static COLD void fire_nested(unsigned id)
{
    for (const struct listener *l = heads[id]; l; l = l->next) {
        dtrace_probe_nested(l->probe);
    }
}

void trace_port_fire(unsigned id, const uint64_t *words)
{
    uintptr_t irq = dtrace_port_irq_save();
    const struct listener *l = heads[id];

    if (unlikely(trace_port_cpu()->fired != NULL)) {
        fire_nested(id);
        dtrace_port_irq_restore(irq);
        return;
    }
    trace_port_cpu()->fired = words;
    while (l) {
        const struct listener *next = l->next;
        if (dtrace_probe_skips(l->probe)) {
            /* not for this thread */
        } else if (l->straight) {
            dtrace_probe_fire(l->probe, words);
        } else {
            fire_mapped(l, words);
        }
        l = next;
    }
    trace_port_cpu()->fired = NULL;
    dtrace_port_irq_restore(irq);
}

static COLD const char *sites_argument_type(uint32_t probe, void *arg, unsigned n)
{
    const struct listener *l = arg;
    const uint8_t *type = &type_lists[entry_of(l)->types];

    (void)probe;
    for (; n > 0 && *type; n--) {
        type++;
    }
    return *type ? &site_texts[type_texts[*type - 1]] : NULL;
}

/* Only sdt has arguments beyond the fifth: they are the site's. */
static uint64_t sites_argument(uint32_t probe, void *arg, unsigned n)
{
    const uint64_t *words = trace_port_cpu()->fired;

    return n < ARGUMENTS && sites_argument_type(probe, arg, n) ? words[n] : 0;
}

static void set_skip(unsigned site)
{
    const struct listener *l = heads[site];

    trace_port_skips[site] = l && !l->next ? &l->probe->predicate_id : &no_predicate;
}

/*
 * Some probes fire in the cold part of another site, which must be on for them: those of a switch
 * of threads in that of their states, those of a received message in that of the call's return. The
 * provider syscall needs the latter, too; so requests are counted.
 */
static uint16_t wanted[TRACE_EV_COUNT]; /* [k] number of listeners, and of sites that need it */

COLD void dtrace_site_want(unsigned site, bool on)
{
    wanted[site] = (uint16_t)(on ? wanted[site] + 1 : wanted[site] - 1);
    trace_site_probe(site, wanted[site] != 0);
    if (site == TRACE_EV_cpu_switch) {
        dtrace_site_want(TRACE_EV_thread_state, on);
    } else if (site == TRACE_EV_msg_receive) {
        dtrace_site_want(TRACE_EV_kercall_exit, on);
    }
}

/* Keeps the table's order, so that a probe firing at a listener that is removed and inserted again
 * continues correctly. */
static COLD int sites_enable(uint32_t probe, void *arg)
{
    struct listener *l = arg;
    struct listener *volatile *link = &heads[entry_of(l)->site];

    (void)probe;
    while (*link && *link < l) {
        link = &(*link)->next;
    }
    trace_atomic_store(&l->next, *link, __ATOMIC_RELEASE);
    trace_atomic_store(link, l, __ATOMIC_RELEASE);
    set_skip(entry_of(l)->site);
    dtrace_site_want(entry_of(l)->site, true);
    return 0;
}

static COLD void sites_disable(uint32_t probe, void *arg)
{
    struct listener *l = arg;
    struct listener *volatile *link = &heads[entry_of(l)->site];

    (void)probe;
    while (*link != l) {
        link = &(*link)->next;
    }
    trace_atomic_store(link, l->next, __ATOMIC_RELEASE);
    set_skip(entry_of(l)->site);
    dtrace_site_want(entry_of(l)->site, false);
}

static const struct dtrace_provider_ops sites_ops = {.attributes = DTRACE_KERNEL_ATTRIBUTES,
                                                     .enable = sites_enable,
                                                     .disable = sites_disable,
                                                     .settle = trace_sites_settle,
                                                     .argument = sites_argument,
                                                     .argument_type = sites_argument_type};
#define P(name) {#name, &sites_ops},
static const struct dtrace_provider site_providers[PROVIDER_COUNT] = {PROVIDERS(P)};
#undef P

static COLD void listener_make(struct listener *l, const struct entry *entry,
                               const struct dtrace_provider *provider)
{
    l->entry = (uint16_t)(entry - entries);
    l->always = entry->states == ANY_STATE;
    l->straight = l->always && entry->words == IDENTITY;
    l->probe = dtrace_probe_at(dtrace_probe_add(provider, "kernel", &site_texts[entry->function],
                                                &site_texts[entry->name], l));
}

/* The events of the log are sdt's probes. */
bool dtrace_sites_event(const struct dtrace_probe *probe, unsigned *site, unsigned *number)
{
    const struct listener *l = probe->arg;

    if (probe->provider != &site_providers[PROVIDER_sdt]) {
        return false;
    }
    *site = entry_of(l)->site;
    *number = (unsigned)__builtin_ctz(state_pairs[entry_of(l)->states].to);
    return true;
}

COLD void dtrace_sites_init(void)
{
    for (unsigned p = 0; p < PROVIDER_COUNT; p++) {
        dtrace_provider_register(&site_providers[p]);
        for (unsigned i = 0; i < ENTRIES; i++) {
            if (entries[i].provider == p) {
                listener_make(&listeners[i], &entries[i], &site_providers[p]);
            }
        }
    }
}
