/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probes of programs (lib/include/kymo_probe.h): a program says once where its sites are
 * (KYMO_TRACE_USERSITES), and the kernel makes each a branch while user events are wanted. Kernel
 * lock held; all but the set by an interrupt's START or STOP happens in long calls, so a table that
 * is being said is not being switched.
 *
 * The program isn't trusted. Its table is read anew each time, and what is patched is text that
 * only this process has: RAM that goes with its mapping. A site that has become something else
 * meanwhile stays as it is. Other CPUs may pass a site while it changes; where the architecture
 * does not allow that, they wait, for a few sites at a time.
 *
 * Beside loaded_programs.c, for boards whose text is flash. Proved by test/boot, suites probes and
 * probes-multi.
 */
#include "abi/errno.h"
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

struct step {
    struct process *proc;
    uint32_t from, to; /* site numbers */
    bool on;
    void *last; /* where the kernel has it; NULL: none was switched */
    int error;  /* of the last site that could not be switched */
};

static int site_switch(struct step *step, uint32_t number)
{
    struct process *proc = step->proc;
    const uintptr_t where = proc->sites + number * sizeof(struct kymo_probe_site);
    const volatile struct kymo_probe_site *entry =
        vm_user_ptr(proc, where, sizeof(*entry), KYMO_PROT_READ);

    if (!entry) {
        return -EFAULT;
    }
    const uintptr_t site = entry->site, target = entry->on;
    void *at = vm_user_ptr(proc, site, ARCH_SITE_BYTES, KYMO_PROT_EXEC);

    if (!at || !vm_user_ptr(proc, target, 1, KYMO_PROT_EXEC)) {
        return -EFAULT;
    }
    if (!vm_user_ptr(proc, site, ARCH_SITE_BYTES, KYMO_PROT_EXEC | MAPPING_OWNED)) {
        return -ENOTSUP;
    }
    if (!arch_user_site(at, site, target, step->on)) {
        return -EINVAL;
    }
    step->last = at;
    return 0;
}

static void step_do(void *arg)
{
    struct step *step = arg;

    for (uint32_t i = step->from; i < step->to; i++) {
        int error = site_switch(step, i);
        step->error = error ? error : step->error;
    }
    if (step->last) {
        arch_text_sync(step->last, ARCH_SITE_BYTES);
    }
}

/* Returns the error of the last site that could not be switched. The process may end at a window:
 * its slot is free then, or another's. */
static int sites_switch(struct process *proc, bool on)
{
    const int32_t pid = proc->pid;
    struct step step = {.proc = proc, .on = on};

    while (proc->pid == pid && step.to < proc->nsites) {
        step.from = step.to;
        step.to += SITES_A_STEP;
        step.to = step.to < proc->nsites ? step.to : proc->nsites;
        if (ARCH_SITE_LIVE) {
            step_do(&step);
        } else {
            cpu_run_alone(step_do, &step);
        }
        kernel_window();
    }
    return step.error;
}

static void all_switch(bool on)
{
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        struct process *proc = process_in_slot(slot);
        if (proc && proc->nsites) {
            sites_switch(proc, on);
        }
        kernel_window();
    }
}

static void user_sites_nothing(void *unused)
{
    (void)unused;
}

/* Where others execute what is written, twice: see trace_port_sites_sync() in patched.c. */
static bool are_called(void)
{
    if (CONFIG_CPUS == 1 || !ARCH_SITE_LIVE || cpu_online_count() == 1) {
        return false;
    }
    cpu_run_on_all(user_sites_nothing, NULL);
    return true;
}

void user_sites_set(bool wanted)
{
    kernel_assert(kernel_locked());
    all_switch(wanted);
    if (are_called()) {
        all_switch(wanted);
    }
}

static void own_set(struct process *proc, bool on)
{
    sites_switch(proc, on);
    if (are_called()) {
        sites_switch(proc, on);
    }
}

long user_sites_say(struct process *proc, uintptr_t table, size_t count)
{
    kernel_assert(kernel_locked());
    if (count > KYMO_TRACE_SITES_MOST) {
        return -E2BIG;
    }
    if (table % sizeof(uintptr_t) || table + count * sizeof(struct kymo_probe_site) < table) {
        return -EINVAL;
    }
    own_set(proc, false); /* the earlier table's */
    proc->sites = table;
    proc->nsites = (uint16_t)count;
    int error = sites_switch(proc, false); /* they are off: this looks at them */
    if (error) {
        proc->nsites = 0;
    } else if (trace_user_wanted) {
        own_set(proc, true);
    }
    return error;
}
