/* SPDX-License-Identifier: BSD-2-Clause */
/* Enabling and disabling of probes of programs: see user.h. */
#include "kernel/dtrace/user/user.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/step.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "kernel/proc/proc.h"

enum {
    WRITE_STEP = 16,
    LOOK_STEP = 128,
    PLACES_STEP = 64
}; /* sites written, sites examined, places marked between two windows */

static bool unsettled; /* [k] some site differs from what is wanted */

void *user_text(const struct user_site *site, uint32_t flags)
{
    struct process *proc = process_any(site->pid);

    return proc ? vm_user_ptr(proc, site->step.address, site->step.bytes + ARCH_STEP_AFTER,
                              flags | MAPPING_OWNED)
                : NULL;
}

void user_place_enable(unsigned i, bool on)
{
    struct user_place *place = &user.places[i];
    struct user_site *site = &user.sites[place->site];

    if (place->enabled != on) {
        place->enabled = on;
        site->wanted = (uint16_t)(site->wanted + (on ? 1 : -1));
        unsettled = true;
    }
}

static void user_set(void *arg, bool on)
{
    struct user_probe *p = &user.probes[(uintptr_t)arg];
    unsigned n = 0;

    kernel_assert(kernel_locked());
    p->enabled = on && p->group;
    for (unsigned i = p->group ? p->places : 0; i; i = user.places[i].others) {
        user_place_enable(i, on);
        if (++n % PLACES_STEP == 0) {
            kernel_window();
        }
    }
}

/* DtraceControl() knows the consumer that enables the probe. Another one may have created it. */
static int user_changed(uint32_t id, void *arg)
{
    const struct process *asker = arch_cpu()->current ? arch_cpu()->current->proc : NULL;
    const struct user_probe *p = &user.probes[(uintptr_t)arg];

    (void)id;
    if (asker && !process_able(asker, ABILITY_DTRACE_KERNEL)) {
        const struct process *proc = process_find(user_groups[p->group].pid);
        if (proc && proc != asker && proc->ppid != asker->pid) {
            return -EPERM;
        }
    }
    return 0;
}

static int user_enable(uint32_t id, void *arg)
{
    (void)id;
    user_set(arg, true);
    return 0;
}

static void user_disable(uint32_t id, void *arg)
{
    (void)id;
    user_set(arg, false);
}

/* ---- writing text ------------------------------------------------------------------ */

struct settling {
    unsigned next; /* site number */
    unsigned count;
    struct user_site *wrong[WRITE_STEP];
    void *at[WRITE_STEP]; /* NULL: no longer text of the process, or another instruction */
};

/* Runs alone (cpu_run_alone()). */
static void settle_write(void *arg)
{
    const struct settling *s = arg;
    void *last = NULL;

    for (unsigned i = 0; i < s->count; i++) {
        if (s->at[i]) {
            arch_step_write(s->at[i], &s->wrong[i]->step, s->wrong[i]->wanted > 0);
            last = s->at[i];
        }
    }
    if (last) {
        arch_text_sync(last, sizeof(uint32_t));
    }
}

/* Text that the process has changed itself is left alone. A trap is also removed from a block that
 * the process may not execute at present, because it may again later. */
static void settle_step(struct settling *s)
{
    const unsigned until = s->next + LOOK_STEP < user.most ? s->next + LOOK_STEP : user.most;

    for (s->count = 0; s->next < until && s->count < WRITE_STEP; s->next++) {
        struct user_site *site = &user.sites[s->next];
        if (site->pid && site->on != (site->wanted > 0)) {
            void *at = user_text(site, site->wanted ? KYMO_PROT_EXEC : 0);
            s->wrong[s->count] = site;
            s->at[s->count++] = at && arch_step_is_there(at, &site->step, site->on) ? at : NULL;
            site->on = site->wanted > 0;
        }
    }
    if (s->count) {
        cpu_run_alone(settle_write, s);
    }
}

void user_settle(void)
{
    struct settling s = {.next = 1};

    kernel_assert(kernel_locked());
    while (unsettled && s.next < user.most) {
        settle_step(&s);
        kernel_window();
    }
    unsettled = false;
}

/* ---- the provider ------------------------------------------------------------------ */

static uint64_t user_argument(uint32_t id, void *arg, unsigned n)
{
    const struct cpu *cpu = arch_cpu();
    const struct user_probe *p = &user.probes[(uintptr_t)arg];
    const bool entry = p->places && (user.places[p->places].kind == KYMO_D_USER_ENTRY ||
                                     user.places[p->places].kind == KYMO_D_USER_OFFSET);

    (void)id;
    return cpu->trace.fired && cpu->current && entry ? arch_step_argument(cpu->current, n) : 0;
}

#define USER_ATTRIBUTES \
    { \
        .name = {DTRACE_EVOLVING, DTRACE_PRIVATE, DTRACE_PRIVATE, DTRACE_EVOLVING, \
                 DTRACE_PRIVATE}, \
        .data = {DTRACE_EVOLVING, DTRACE_PRIVATE, DTRACE_PRIVATE, DTRACE_EVOLVING, \
                 DTRACE_PRIVATE}, \
        .dependency = {DTRACE_ISA, DTRACE_UNKNOWN, DTRACE_UNKNOWN, DTRACE_ISA, DTRACE_UNKNOWN}, \
    }

const struct dtrace_provider_ops user_ops = {.attributes = USER_ATTRIBUTES,
                                             .enable = user_enable,
                                             .disable = user_disable,
                                             .changed = user_changed,
                                             .settle = user_settle,
                                             .argument = user_argument};
const struct dtrace_provider_ops user_own_ops = {.attributes = USER_ATTRIBUTES,
                                                 .enable = user_enable,
                                                 .disable = user_disable,
                                                 .changed = user_changed,
                                                 .argument = user_argument,
                                                 .own = DTRACE_OWN_CURRENT};
