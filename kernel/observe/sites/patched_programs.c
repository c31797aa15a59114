/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probes of programs (lib/include/kymo_probe.h). A program registers the locations of its
 * sites once (KYMO_TRACE_USERSITES). The kernel replaces each by a branch while user events are
 * wanted; the sites of the library and of drivers are a kind of their own, wanted separately.
 * Kernel lock held, in a long call, which may be left at its windows: so registering and switching
 * never overlap. The demand may change outside of such a call (a START or STOP that an interrupt
 * requested); the sites follow at the end of the next one.
 *
 * The program isn't trusted. Its table is read anew each time. The kernel patches only text that is
 * this process's own RAM, and a site whose instruction has changed meanwhile is left alone. Other
 * CPUs may execute a site while it changes. Where the architecture doesn't allow that, they wait,
 * but only for sites that do change.
 *
 * The alternative is loaded_programs.c, for boards whose text is in flash. Tested by test/board,
 * suites probes and probes-multi.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "abi/sys/trace.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/probe.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "kernel/mem/mem.h"
#include "kernel/observe/observe.h"
#include "kernel/observe/trace_dump.h"
#include "kernel/proc/proc.h"
#include "trace/filter.h"

#define SITES_A_STEP 4 /* between two windows */

/* The kinds of sites: a program's own, and those of the library, which its startup block refers
 * to. */
enum site_kind { SITES_OWN, SITES_SYSTEM, SITE_KINDS };

/* [k] the demand for which all sites were switched most recently */
static bool switched[SITE_KINDS];

struct sites_step {
    struct process *proc;
    uintptr_t table;
    uint32_t from, to; /* site numbers */
    bool on;
    bool writes;    /* false: only examines */
    bool again;     /* also writes sites that are as wanted */
    uint32_t wrong; /* when examining: number of sites that are not as wanted */
    void *last;     /* kernel address of the last site that it wrote; NULL: none */
    int error;      /* of the last site that can't be switched */
};

static int site_switch(struct sites_step *step, uint32_t number)
{
    struct process *proc = step->proc;
    const uintptr_t where = step->table + number * sizeof(struct kymo_probe_site);
    const volatile struct kymo_probe_site *entry =
        vm_user_ptr(proc, where, sizeof(*entry), KYMO_PROT_READ);

    if (!entry) {
        return -EFAULT;
    }
    const uintptr_t site = entry->site, target = entry->on;
    void *at = vm_user_ptr(proc, site, ARCH_SITE_BYTES, KYMO_PROT_EXEC | MAPPING_OWNED);

    if (!at) {
        at = vm_user_ptr(proc, site, ARCH_SITE_BYTES, KYMO_PROT_EXEC);
        return at ? -ENOTSUP : -EFAULT;
    }
    if (!vm_user_ptr(proc, target, 1, KYMO_PROT_EXEC)) {
        return -EFAULT;
    }
    const enum arch_user_site is = arch_user_site(at, site, target);
    if (is == ARCH_USER_SITE_OTHER) {
        return -EINVAL;
    }
    const bool wrong = (is == ARCH_USER_SITE_ON) != step->on;
    step->wrong += wrong;
    if (step->writes && (wrong || step->again)) {
        arch_user_site_write(at, site, target, step->on);
        step->last = at;
    }
    return 0;
}

static void sites_step(void *arg)
{
    struct sites_step *step = arg;

    step->wrong = 0;
    step->last = NULL;
    for (uint32_t i = step->from; i < step->to; i++) {
        int error = site_switch(step, i);
        step->error = error ? error : step->error;
    }
    if (step->last) {
        arch_text_sync(step->last, ARCH_SITE_BYTES);
    }
}

/* Returns the number of the process's sites of a kind; *table: their location. on: whether they are
 * wanted, which is passed on to a program that has not registered its sites yet. */
static uint32_t sites_of(struct process *proc, enum site_kind kind, bool on, uintptr_t *table)
{
    if (kind == SITES_OWN) {
        *table = proc->sites;
        return proc->nsites;
    }
    struct kymo_startup *startup =
        vm_user_ptr(proc, proc->startup, sizeof(*startup), KYMO_PROT_WRITE);
    if (!startup) {
        return 0;
    }
    __atomic_store_n(&startup->system_probes, on, __ATOMIC_SEQ_CST);
    const uint32_t n = __atomic_load_n(&startup->nsites, __ATOMIC_SEQ_CST);
    *table = (uintptr_t) * (const struct kymo_probe_site *volatile *)&startup->sites;
    return n <= KYMO_TRACE_SITES_MOST && *table % sizeof(uintptr_t) == 0 ? n : 0;
}

/* Returns the error of the last site that can't be switched. The process may end at a window: then
 * its slot is free, or has another process. */
static int sites_switch(struct process *proc, enum site_kind kind, bool on, bool again)
{
    const int32_t pid = proc->pid;
    struct sites_step step = {.proc = proc, .on = on, .again = again};
    const uint32_t n = sites_of(proc, kind, on, &step.table);

    while (proc->pid == pid && !proc->dying && step.to < n) {
        step.from = step.to;
        step.to += SITES_A_STEP;
        step.to = step.to < n ? step.to : n;
        step.writes = ARCH_SITE_LIVE;
        sites_step(&step);
        if (!ARCH_SITE_LIVE && step.wrong) {
            step.writes = true;
            cpu_run_alone(sites_step, &step);
        }
        kernel_window();
    }
    return step.error;
}

static void user_sites_nothing(void *unused)
{
    (void)unused;
}

/* Switches the sites of process proc, or of all processes if it is NULL. */
static void user_sites_pass(struct process *proc, enum site_kind kind, bool on, bool again)
{
    if (proc) {
        sites_switch(proc, kind, on, again);
        return;
    }
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        struct process *other = process_in_slot(slot);
        if (other && (kind == SITES_SYSTEM || other->nsites)) {
            sites_switch(other, kind, on, again);
        }
        kernel_window();
    }
}

/* Calls CPUs that may execute a site while it changes, and then writes everything once more: an
 * emulator may have kept an earlier translation (trace_port_sites_sync() in patched.c says
 * more). */
static void user_sites_switch(struct process *proc, enum site_kind kind, bool on)
{
    user_sites_pass(proc, kind, on, false);
    if (CONFIG_CPUS > 1 && ARCH_SITE_LIVE && cpu_online_count() > 1) {
        cpu_run_on_all(user_sites_nothing, NULL);
        user_sites_pass(proc, kind, on, true);
    }
}

void user_sites_follow(void)
{
    static const bool *const wanted[SITE_KINDS] = {&trace_user_wanted, &trace_system_wanted};

    kernel_assert(kernel_locked());
    for (enum site_kind kind = SITES_OWN; kind < SITE_KINDS; kind++) {
        if (switched[kind] != *wanted[kind]) {
            switched[kind] = *wanted[kind];
            user_sites_switch(NULL, kind, switched[kind]);
        }
    }
}

long user_sites_register(struct process *proc, uintptr_t table, size_t count)
{
    kernel_assert(kernel_locked());
    if (count == KYMO_TRACE_SITES_SYSTEM) {
        if (switched[SITES_SYSTEM]) {
            user_sites_switch(proc, SITES_SYSTEM, true);
        }
        return 0;
    }
    if (count > KYMO_TRACE_SITES_MOST) {
        return -E2BIG;
    }
    if (table % sizeof(uintptr_t) || table + count * sizeof(struct kymo_probe_site) < table) {
        return -EINVAL;
    }
    user_sites_switch(proc, SITES_OWN, false); /* those of the previous table */
    proc->sites = table;
    proc->nsites = (uint16_t)count;
    /* they are off: this only examines them */
    int error = sites_switch(proc, SITES_OWN, false, false);
    if (error) {
        proc->nsites = 0;
    } else if (switched[SITES_OWN]) {
        user_sites_switch(proc, SITES_OWN, true);
    }
    return error;
}
