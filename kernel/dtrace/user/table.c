/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of probes of programs: see user.h. */
#include "kernel/dtrace/user/user.h"

#include "kernel/arch/step.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "kernel/proc/proc.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/port.h"

#define LATELY 10000000000u /* ns */
enum { PROBES_STEP = 128 }; /* probes that are visited between two windows */
enum { FREE_STEP = 32 };    /* places that are changed between two windows */
/* Bounds for a trap's search: more are refused. */
enum { SITE_PLACES = 8, BUCKET_SITES = 16 };

struct user_tables user;
struct user_group user_groups[USER_GROUPS];

/* The provider of probes that belong to no process: no clause is on them (trace/dtrace/enable.c),
 * and the host doesn't show them. */
static const struct dtrace_provider unowned_provider = {"", &user_ops};

static unsigned bucket_of(int32_t pid, uintptr_t address)
{
    return ((unsigned)(address / 4) ^ (unsigned)pid * 61) & user.mask;
}

unsigned user_site_find(int32_t pid, uintptr_t address)
{
    const struct user_site *sites = __atomic_load_n(&user.sites, __ATOMIC_ACQUIRE);
    unsigned i =
        sites ? __atomic_load_n(&user.buckets[bucket_of(pid, address)], __ATOMIC_ACQUIRE) : 0;

    while (i && (sites[i].step.address != address || sites[i].pid != pid)) {
        i = __atomic_load_n(&sites[i].next, __ATOMIC_ACQUIRE);
    }
    return i;
}

/* ---- making ------------------------------------------------------------------------ */

bool user_tables_make(void)
{
    const unsigned most = arch_step_slots();
    unsigned buckets = 1;

    if (user.sites) {
        return true;
    }
    while (buckets < most) {
        buckets *= 2;
    }
    struct user_site *sites = dtrace_port_alloc(most * sizeof(*sites));
    struct user_place *places = dtrace_port_alloc(most * sizeof(*places));
    struct user_probe *probes = dtrace_port_alloc(most * sizeof(*probes));
    uint16_t *heads = dtrace_port_alloc(buckets * sizeof(*heads));

    if (!sites || !places || !probes || !heads) {
        dtrace_port_free(sites, most * sizeof(*sites));
        dtrace_port_free(places, most * sizeof(*places));
        dtrace_port_free(probes, most * sizeof(*probes));
        dtrace_port_free(heads, buckets * sizeof(*heads));
        return false;
    }
    const struct user_free all = {.fresh = 1, .room = (uint16_t)(most - 1)};
    user = (struct user_tables){.places = places,
                                .probes = probes,
                                .buckets = heads,
                                .most = most,
                                .mask = buckets - 1,
                                .free_sites = all,
                                .free_places = all,
                                .free_probes = all};
    __atomic_store_n(&user.sites, sites, __ATOMIC_RELEASE);
    return true;
}

/* next: of the first one that was freed. */
static unsigned free_take(struct user_free *f, uint16_t next)
{
    const unsigned i = f->first ? f->first : f->fresh;

    kernel_assert(f->room > 0 && i < user.most);
    if (f->first) {
        f->first = next;
    } else {
        f->fresh++;
    }
    f->room--;
    return i;
}

static uint16_t free_give(struct user_free *f, unsigned i)
{
    const uint16_t next = f->first;

    f->first = (uint16_t)i;
    f->room++;
    return next;
}

unsigned user_site_add(int32_t pid, const struct arch_step *step)
{
    uint16_t *bucket = &user.buckets[bucket_of(pid, step->address)];
    unsigned others = 0;

    for (unsigned at = *bucket; at; at = user.sites[at].next) {
        others++;
    }
    if (!user.free_sites.room || others == BUCKET_SITES) {
        return 0;
    }
    const unsigned i = free_take(&user.free_sites, user.sites[user.free_sites.first].next);
    struct user_site *site = &user.sites[i];
    *site = (struct user_site){.step = *step, .pid = pid, .next = *bucket};
    site->step.slot = (uint16_t)i;
    arch_step_prepare(&site->step);
    __atomic_store_n(bucket, (uint16_t)i, __ATOMIC_RELEASE);
    return i;
}

bool user_place_add(unsigned site, unsigned probe, const struct kymo_d_user_place *from)
{
    uint16_t *last = &user.sites[site].places;
    unsigned others = 0;

    for (; *last; last = &user.places[*last].at_site) {
        others++;
    }
    if (!user.free_places.room || others == SITE_PLACES) {
        return false;
    }
    const unsigned i = free_take(&user.free_places, user.places[user.free_places.first].at_site);
    user.places[i] = (struct user_place){.site = (uint16_t)site,
                                         .probe = (uint16_t)probe,
                                         .others = user.probes[probe].places,
                                         .offset = from->offset,
                                         .kind = from->kind};
    user.probes[probe].places = (uint16_t)i;
    __atomic_store_n(last, (uint16_t)i, __ATOMIC_RELEASE);
    user_groups[user.probes[probe].group].asked = dtrace_port_timestamp();
    if (user.probes[probe].enabled) {
        user_place_enable(i, true);
    }
    return true;
}

/* The machine's probes are never freed: a free one gets other names. No consumer uses it. */
static void probe_name(const struct user_probe *p, unsigned i)
{
    struct dtrace_probe *probe = dtrace_probe_at(p->id);
    struct user_group *group = &user_groups[p->group];

    probe->provider = p->group ? &group->provider : &unowned_provider;
    probe->module = p->group ? group->module : "";
    probe->function = p->group ? p->function : "";
    probe->name = p->group ? p->name : "free";
    probe->arg = (void *)(uintptr_t)i;
}

unsigned user_probe_add(unsigned group, const char *function, const char *name)
{
    if (!user.free_probes.room || (!user.free_probes.first && !dtrace_probe_room())) {
        return 0;
    }
    const unsigned i = free_take(&user.free_probes, user.probes[user.free_probes.first].places);
    struct user_probe *p = &user.probes[i];
    p->id = p->id ? p->id : dtrace_probe_add(&unowned_provider, "", "", "free", NULL);
    p->group = (uint16_t)group;
    p->places = 0;
    memcpy(p->function, function, strlen(function) + 1);
    memcpy(p->name, name, strlen(name) + 1);
    probe_name(p, i);
    return i;
}

static void pid_text(char text[USER_PID_TEXT], int32_t pid)
{
    char digits[USER_PID_TEXT];
    unsigned n = 0;

    memcpy(text, "pid", 3);
    text += 3;
    do {
        digits[n++] = (char)('0' + pid % 10);
        pid /= 10;
    } while (pid);
    while (n) {
        *text++ = digits[--n];
    }
    *text = '\0';
}

bool user_group_room(int32_t pid, bool own)
{
    bool room = false;

    for (unsigned i = 1; i < USER_GROUPS; i++) {
        const struct user_group *g = &user_groups[i];
        room |= !g->pid || (g->pid == pid && g->own == own);
    }
    return room;
}

unsigned user_group_of(const struct process *proc, bool own)
{
    unsigned free = 0;

    for (unsigned i = USER_GROUPS - 1; i > 0; i--) {
        const struct user_group *g = &user_groups[i];
        if (g->pid == proc->pid && g->own == own) {
            return i;
        }
        free = g->pid ? free : i;
    }
    if (free) {
        struct user_group *g = &user_groups[free];
        *g = (struct user_group){.own = own, .asked = dtrace_port_timestamp()};
        pid_text(g->name, proc->pid);
        memcpy(g->module, proc->name, sizeof(g->module));
        g->provider = (struct dtrace_provider){g->name, own ? &user_own_ops : &user_ops};
        g->pid = proc->pid;
    }
    return free;
}

/* ---- freeing -------------------------------------------------------------------------
 *
 * First all is unlinked, then it is waited for CPUs that stand at something unlinked, then it is
 * free. */

static void site_unlink(unsigned i)
{
    const struct user_site *site = &user.sites[i];
    uint16_t *link = &user.buckets[bucket_of(site->pid, site->step.address)];

    kernel_assert(!site->wanted && !site->on);
    while (*link != i) {
        link = &user.sites[*link].next;
    }
    __atomic_store_n(link, site->next, __ATOMIC_RELEASE);
}

static void place_unlink(unsigned i)
{
    struct user_site *site = &user.sites[user.places[i].site];
    uint16_t *link = &site->places;

    while (*link != i) {
        link = &user.places[*link].at_site;
    }
    __atomic_store_n(link, user.places[i].at_site, __ATOMIC_RELEASE);
    if (!site->places) {
        site_unlink(user.places[i].site);
    }
}

static void probe_unlink(unsigned i)
{
    unsigned n = 0;

    for (unsigned place = user.probes[i].places; place; place = user.places[place].others) {
        place_unlink(place);
        if (++n % FREE_STEP == 0) {
            kernel_window();
        }
    }
}

static void probe_free(unsigned i)
{
    struct user_probe *p = &user.probes[i];
    unsigned n = 0;

    for (unsigned place = p->places, next; place; place = next) {
        struct user_site *site = &user.sites[user.places[place].site];
        if (site->pid && !site->places) {
            site->pid = 0;
            site->next = free_give(&user.free_sites, user.places[place].site);
        }
        next = user.places[place].others;
        user.places[place].at_site = free_give(&user.free_places, place);
        if (++n % FREE_STEP == 0) {
            p->places = (uint16_t)next;
            kernel_window();
        }
    }
    p->group = 0;
    p->places = free_give(&user.free_probes, i);
    probe_name(p, i);
}

static void each_probe(unsigned group, void (*fn)(unsigned probe))
{
    /* downwards: so the lowest number is used first */
    for (unsigned i = user.most - 1; i > 0; i--) {
        if (user.probes[i].group == group) {
            fn(i);
            kernel_window();
        } else if (i % PROBES_STEP == 0) {
            kernel_window();
        }
    }
}

static void table_nothing(void *unused)
{
    (void)unused;
}

static void group_free(unsigned group)
{
    each_probe(group, probe_unlink);
    cpu_run_on_all(table_nothing, NULL);
    each_probe(group, probe_free);
    user_groups[group].pid = 0;
}

/* Marks the groups with a clause of any consumer, running or not. */
static void groups_mark(void)
{
    for (unsigned i = 1; i < USER_GROUPS; i++) {
        user_groups[i].used = false;
    }
    for (const struct dtrace_consumer *c = dtrace_consumers; c; c = c->next) {
        for (uint32_t e = 0; c->ecb_block.at && e < c->necbs; e++) {
            const struct dtrace_probe *probe = c->ecbs[e].probe;
            if (probe->provider->ops == &user_ops || probe->provider->ops == &user_own_ops) {
                user_groups[user.probes[(uintptr_t)probe->arg].group].used = true;
            }
            if (e % 64 == 63) {
                kernel_window();
            }
        }
    }
}

void user_groups_free(bool only_gone)
{
    groups_mark();
    for (unsigned i = 1; i < USER_GROUPS; i++) {
        const struct user_group *g = &user_groups[i];
        const bool lately = dtrace_port_timestamp() - g->asked < LATELY;
        if (g->pid && !g->used && (!process_find(g->pid) || !(only_gone || lately))) {
            group_free(i);
        }
    }
}
